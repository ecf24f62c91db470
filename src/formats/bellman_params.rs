//! bellman's parameter files (`.params` of Zcash and Filecoin). There is no header: six points of the verifying key
//! (`formats::vk`), then the sections ic, h, l, a, b_g1 and b_g2, each a big-endian u32 count and that many
//! uncompressed points. Identities are left out of a and b, so which variables they are about is not in the file. Files
//! from a multi-party set-up have its transcript behind b_g2; whatever stands there is ignored.

use std::io::Write;

pub use super::points::{PointChecks, ReadOptions, Section};
use super::points::{PointForm, PointStream};
use super::source::Source;
use super::vk::{FIXED_BYTES, VerifyingKey};
use crate::error::{Error, Result, Status};
use crate::math::curve::Affine;
use crate::math::encoding::{EncodedField, write_uncompressed};
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::g1::G1Affine;
use crate::math::g2::G2Affine;

const NAMES: [&str; 6] = ["ic", "h", "l", "a", "b_g1", "b_g2"];

/// What a parameter file holds. No point is infinity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// The verifying key, with the section ic.
    pub vk: VerifyingKey,
    /// tau^i (tau^d - 1) / delta for i below d - 1.
    pub h: Vec<G1Affine>,
    /// (beta A_j + alpha B_j + C_j) / delta for every auxiliary variable.
    pub l: Vec<G1Affine>,
    /// A_j for the inputs, then for the dense auxiliary variables.
    pub a: Vec<G1Affine>,
    /// B_j for the dense inputs, then for the dense auxiliary variables.
    pub b_g1: Vec<G1Affine>,
    /// The same in the second group.
    pub b_g2: Vec<G2Affine>,
}

/// The sections ic, h, l, a, b_g1 and b_g2, with every count checked against the size of the file; reads only the
/// counts. `Format` where the file is too short.
pub fn sections(source: &Source<'_>) -> Result<[Section; 6]> {
    find_sections(source).map_err(|e| e.at("bellman params"))
}

fn find_sections(source: &Source<'_>) -> Result<[Section; 6]> {
    let mut offset = FIXED_BYTES as u64;
    let mut next = |name: &'static str| {
        let find = if name == "b_g2" { Section::find::<Fp2> } else { Section::find::<Fp> };
        let section = find(source, name, offset, PointForm::Uncompressed, false)?;
        offset = section.end();
        Ok(section)
    };
    let [ic, h, l, a, b_g1, b_g2] = NAMES.map(&mut next);
    Ok([ic?, h?, l?, a?, b_g1?, b_g2?])
}

/// Reads a whole file, in batches of a few MiB that the threads of the calling pool decode and check together.
/// `Format` names section, point and offset, or tells of a digest that differs; `NoMemory` where the points do not fit
/// the memory; `Cancelled` where the progress function asked for it.
pub fn read(source: &Source<'_>, options: &ReadOptions<'_>) -> Result<Params> {
    read_all(source, options, options.blake2b.is_some()).map_err(|e| e.at("bellman params")).map(|(params, _)| params)
}

/// The same, with the BLAKE2b-512 digest of the whole file, for `ReadOptions::blake2b` when it is read again.
pub fn read_with_digest(source: &Source<'_>, options: &ReadOptions<'_>) -> Result<(Params, [u8; 64])> {
    let (params, digest) = read_all(source, options, true).map_err(|e| e.at("bellman params"))?;
    digest.map(|digest| (params, digest)).ok_or_else(|| Error::internal("a file that is hashed has no digest"))
}

fn read_all(source: &Source<'_>, options: &ReadOptions<'_>, hash: bool) -> Result<(Params, Option<[u8; 64]>)> {
    let [ic, h, l, a, b_g1, b_g2] = find_sections(source)?;
    let mut stream = PointStream::new(source, options, hash, b_g2.end())?;
    let mut vk = VerifyingKey::from_fixed(stream.bytes(FIXED_BYTES)?, options.checks)?;
    vk.ic = stream.section(&ic)?;
    let params = Params {
        vk,
        h: stream.section(&h)?,
        l: stream.section(&l)?,
        a: stream.section(&a)?,
        b_g1: stream.section(&b_g1)?,
        b_g2: stream.section(&b_g2)?,
    };
    let digest = stream.finish()?;
    Ok((params, digest))
}

/// Writes a file without a transcript. `Invalid` where a section has more points than its count can tell, `Io` where
/// the writer fails. Infinity is written as such, which no reader takes.
pub fn write(params: &Params, mut out: impl Write) -> Result<()> {
    let io = |error: std::io::Error| Error::new(Status::Io, format!("bellman params: writing: {error}"));
    let sections = [&params.vk.ic, &params.h, &params.l, &params.a, &params.b_g1];
    for (name, len) in NAMES.iter().zip(sections.iter().map(|points| points.len()).chain([params.b_g2.len()])) {
        if u32::try_from(len).is_err() {
            return Err(Error::invalid(format!("bellman params: section {name}: {len} points are more than 2^32 - 1")));
        }
    }
    out.write_all(&params.vk.to_bytes()).map_err(io)?;
    for points in &sections[1..] {
        write_section(points, &mut out).map_err(io)?;
    }
    write_section(&params.b_g2, &mut out).map_err(io)?;
    out.flush().map_err(io)
}

fn write_section<F: EncodedField>(points: &[Affine<F>], out: &mut impl Write) -> std::io::Result<()> {
    out.write_all(&(points.len() as u32).to_be_bytes())?;
    let mut buffer = Vec::new();
    for chunk in points.chunks(4096) {
        buffer.resize(chunk.len() * 2 * F::BYTES, 0);
        for (point, encoding) in chunk.iter().zip(buffer.chunks_exact_mut(2 * F::BYTES)) {
            write_uncompressed(point, encoding);
        }
        out.write_all(&buffer)?;
    }
    Ok(())
}
