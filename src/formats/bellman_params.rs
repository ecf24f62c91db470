//! bellman's parameter files (`.params` of Zcash and Filecoin). There is no header: six points of the verifying key
//! (`formats::vk`), then the sections ic, h, l, a, b_g1 and b_g2, each a big-endian u32 count and that many
//! uncompressed points. Identities are left out of a and b, so which variables they are about is not in the file. Files
//! from a multi-party set-up have its transcript behind b_g2; whatever stands there is ignored.

use std::io::Write;

use super::source::Source;
pub use super::vk::PointChecks;
use super::vk::{FIXED_BYTES, INFINITY_TEXT, SUBGROUP_TEXT, VerifyingKey, decode};
use crate::error::{Error, Result, Status, reserve};
use crate::math::curve::Affine;
use crate::math::encoding::{EncodedField, write_uncompressed};
use crate::math::g1::G1Affine;
use crate::math::g2::G2Affine;
use crate::math::subgroup;
use crate::par;

/// How much of the file is read, then decoded in parallel, at once: a multiple of both point sizes.
const BATCH_BYTES: usize = 12 << 20;
/// Points that are tested for their subgroup at once; between batches a caller can cancel.
const SUBGROUP_BATCH: usize = 1 << 20;
/// Bytes of a section's count.
const COUNT_BYTES: u64 = 4;
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

/// How a file is read.
#[derive(Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// How much is checked of every point.
    pub checks: PointChecks,
    /// The BLAKE2b-512 digest that the whole file must have.
    pub blake2b: Option<&'a [u8; 64]>,
    /// Called on the calling thread with the bytes done and in all; false stops the reading.
    pub progress: Option<&'a dyn Fn(u64, u64) -> bool>,
}

/// Where a section stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// ic, h, l, a, b_g1 or b_g2.
    pub name: &'static str,
    /// The number of points.
    pub count: u64,
    /// Bytes of a point.
    pub point_bytes: u64,
    /// Offset of the first point; the count stands before it.
    pub offset: u64,
}

impl Section {
    fn point_error(&self, index: usize, why: &str) -> Error {
        let offset = self.offset + index as u64 * self.point_bytes;
        Error::format(format!("section {}, point {index} (offset {offset}): {why}", self.name))
    }
}

/// The sections ic, h, l, a, b_g1 and b_g2, with every count checked against the size of the file; reads only the
/// counts. `Format` where the file is too short.
pub fn sections(source: &Source<'_>) -> Result<[Section; 6]> {
    find_sections(source).map_err(|e| e.at("bellman params"))
}

fn find_sections(source: &Source<'_>) -> Result<[Section; 6]> {
    let len = source.len();
    let mut offset = FIXED_BYTES as u64;
    let mut sections = [Section { name: "", count: 0, point_bytes: 0, offset: 0 }; 6];
    for (section, name) in sections.iter_mut().zip(NAMES) {
        if len < offset + COUNT_BYTES {
            let text = format!("section {name}: no count at offset {offset}, there are only {len} bytes");
            return Err(Error::format(text));
        }
        let mut count = [0; COUNT_BYTES as usize];
        source.read_exact_at(offset, &mut count).map_err(|e| e.at(format!("section {name}")))?;
        let count = u64::from(u32::from_be_bytes(count));
        let point_bytes = if name == "b_g2" { G2Affine::UNCOMPRESSED_BYTES } else { G1Affine::UNCOMPRESSED_BYTES };
        offset += COUNT_BYTES;
        *section = Section { name, count, point_bytes: point_bytes as u64, offset };
        let (needed, left) = (count * section.point_bytes, len - offset);
        if needed > left {
            return Err(Error::format(format!(
                "section {name}: {count} points need {needed} bytes at offset {offset}, only {left} are left"
            )));
        }
        offset += needed;
    }
    Ok(sections)
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
    let end = b_g2.offset + b_g2.count * b_g2.point_bytes;
    let hasher = hash.then(blake2b_simd::State::new);
    let total = if hasher.is_some() { source.len() } else { end };
    let mut stream = Stream { source, options, hasher, buffer: Vec::new(), position: 0, total };
    stream.report()?;
    stream.fill(FIXED_BYTES)?;
    let mut vk = VerifyingKey::from_fixed(&stream.buffer, options.checks)?;
    stream.hash();
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

/// The file from its first byte to its last, each read once: what is hashed is what is decoded.
struct Stream<'a> {
    source: &'a Source<'a>,
    options: &'a ReadOptions<'a>,
    hasher: Option<blake2b_simd::State>,
    buffer: Vec<u8>,
    position: u64,
    total: u64,
}

impl Stream<'_> {
    /// Reads the next `len` bytes, at most `BATCH_BYTES`, into the buffer.
    fn fill(&mut self, len: usize) -> Result<()> {
        self.buffer.resize(len, 0);
        self.source.read_exact_at(self.position, &mut self.buffer)?;
        self.position += len as u64;
        Ok(())
    }

    fn hash(&mut self) {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&self.buffer);
        }
    }

    fn report(&self) -> Result<()> {
        match self.options.progress {
            Some(progress) if !progress(self.position, self.total) => {
                Err(Error::new(Status::Cancelled, "reading was cancelled"))
            }
            _ => Ok(()),
        }
    }

    fn section<F: EncodedField>(&mut self, section: &Section) -> Result<Vec<Affine<F>>> {
        self.fill(COUNT_BYTES as usize)?;
        self.hash();
        // The points of a file that changes meanwhile would not be those that the counts were checked for.
        if self.buffer != (section.count as u32).to_be_bytes() {
            return Err(Error::new(
                Status::Io,
                format!("section {}: the file changed while it was read", section.name),
            ));
        }
        let (count, checks) = (section.count as usize, self.options.checks);
        let mut points = Vec::new();
        reserve(&mut points, count, "points").map_err(|e| e.at(format!("section {}", section.name)))?;
        points.resize(count, Affine::INFINITY);
        let per_batch = BATCH_BYTES / (2 * F::BYTES);
        for (batch_index, batch) in points.chunks_mut(per_batch).enumerate() {
            self.fill(batch.len() * 2 * F::BYTES)?;
            let (hasher, buffer) = (&mut self.hasher, &self.buffer);
            let ((), failed) = par::join(
                || {
                    if let Some(hasher) = hasher {
                        hasher.update(buffer);
                    }
                },
                || decode_batch(buffer, checks, batch),
            );
            if let Some((index, why)) = failed {
                return Err(section.point_error(batch_index * per_batch + index, &why));
            }
            self.report()?;
        }
        self.check_subgroup(section, &points)?;
        Ok(points)
    }

    /// After the whole section is read: the batch test costs less a point the more points it gets.
    fn check_subgroup<F: EncodedField>(&self, section: &Section, points: &[Affine<F>]) -> Result<()> {
        if self.options.checks != PointChecks::Subgroup {
            return Ok(());
        }
        for (batch_index, batch) in points.chunks(SUBGROUP_BATCH).enumerate() {
            if let Some(index) = subgroup::find_outside_subgroup(batch)? {
                return Err(section.point_error(batch_index * SUBGROUP_BATCH + index, SUBGROUP_TEXT));
            }
            self.report()?;
        }
        Ok(())
    }

    /// Hashes what follows the last section, if anything is hashed, and compares the digest with the one wanted.
    fn finish(mut self) -> Result<Option<[u8; 64]>> {
        while self.position < self.total {
            self.fill((self.total - self.position).min(BATCH_BYTES as u64) as usize)?;
            self.hash();
            self.report()?;
        }
        let Some(got) = self.hasher.map(|hasher| *hasher.finalize().as_array()) else { return Ok(None) };
        match self.options.blake2b {
            Some(wanted) if *wanted != got => {
                let hex = |digest: &[u8; 64]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
                Err(Error::format(format!("the file's BLAKE2b digest is {}, wanted {}", hex(&got), hex(wanted))))
            }
            _ => Ok(Some(got)),
        }
    }
}

/// Decodes and checks the points of `bytes` into `points`; the first that is refused, by index, and why.
fn decode_batch<F: EncodedField>(
    bytes: &[u8],
    checks: PointChecks,
    points: &mut [Affine<F>],
) -> Option<(usize, String)> {
    let size = 2 * F::BYTES;
    let encoding = |i: usize| &bytes[i * size..(i + 1) * size];
    // Infinity is refused anyway, so it marks the points that cannot be decoded, too.
    par::for_each_chunk_mut(points, par::piece(points.len(), 64), |start, chunk| {
        for (i, point) in chunk.iter_mut().enumerate() {
            *point = decode(encoding(start + i), checks).unwrap_or(Affine::INFINITY);
        }
    });
    if let Some(index) = points.iter().position(Affine::is_infinity) {
        let why = match decode::<F>(encoding(index), checks) {
            Ok(_) => INFINITY_TEXT.to_owned(),
            Err(error) => error.to_string(),
        };
        return Some((index, why));
    }
    None
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
