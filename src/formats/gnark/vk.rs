//! gnark's verifying key: that of bellman (`formats::vk`), compressed or not, then two empty lists where the circuit has
//! no commitments: a u32 0 (public and committed wires) and a u32 0 (commitment keys).

use std::io::Write;

use super::form_at;
use crate::error::{Error, Result, Status};
use crate::formats::points::{COUNT_BYTES, PointForm, PointStream, ReadOptions, Section};
use crate::formats::source::Source;
use crate::formats::vk::VerifyingKey;
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;

/// Whether a file that is a verifying key is one of gnark, not of bellman: compressed, or with the two lists at its end.
pub fn is_one(source: &Source<'_>) -> bool {
    let Ok(form) = form_at(source, 0) else { return false };
    let lists_at = |form: PointForm| {
        let fixed = 3 * form.bytes::<Fp>() as u64 + 3 * form.bytes::<Fp2>() as u64;
        Section::find::<Fp>(source, "k", fixed, form, true).map(|ic| ic.end())
    };
    form == PointForm::Compressed || lists_at(form).is_ok_and(|end| source.len() == end + 2 * COUNT_BYTES)
}

/// Reads a whole file, every point checked; a point of `ic` may be infinity, if its public input is in no row. bellman's
/// encoding, which ends with the points, is taken, too. `Format` names section, point and offset; `Unsupported` where the
/// key has commitments.
pub fn read(source: &Source<'_>) -> Result<VerifyingKey> {
    read_all(source).map_err(|e| e.at("gnark verifying key"))
}

fn read_all(source: &Source<'_>) -> Result<VerifyingKey> {
    let form = form_at(source, 0)?;
    let (g1, g2) = (form.bytes::<Fp>() as u64, form.bytes::<Fp2>() as u64);
    let ic = Section::find::<Fp>(source, "k", 3 * g1 + 3 * g2, form, true)?;
    let left = source.len() - ic.end();
    if ic.count == 0 {
        return Err(Error::format("section k is empty, wanted a point for the constant one"));
    }
    // bellman, which ends here, compresses nothing.
    let is_bellman = left == 0 && form == PointForm::Uncompressed;
    if left < 2 * COUNT_BYTES && !is_bellman {
        return Err(Error::format(format!("{left} bytes follow section k, wanted {}", 2 * COUNT_BYTES)));
    }
    let options = ReadOptions::default();
    let mut stream = PointStream::new(source, &options, false, source.len())?;
    let key = VerifyingKey {
        alpha1: stream.point("alpha", form)?,
        beta1: stream.point("beta", form)?,
        beta2: stream.point("beta in G2", form)?,
        gamma2: stream.point("gamma in G2", form)?,
        delta1: stream.point("delta", form)?,
        delta2: stream.point("delta in G2", form)?,
        ic: stream.section(&ic)?,
    };
    if left > 0 {
        let has_commitments = stream.array::<8>()? != [0; 8];
        if has_commitments && left > 2 * COUNT_BYTES {
            return Err(Error::new(Status::Unsupported, "the key has commitments, which no version reads so far"));
        }
        if has_commitments || left > 2 * COUNT_BYTES {
            let text = format!("{left} bytes follow section k that are not two empty lists");
            return Err(Error::format(text));
        }
    }
    Ok(key)
}

/// Writes a key as gnark does; it has fewer than 2^32 inputs. `Io` where the writer fails.
pub fn write(key: &VerifyingKey, form: PointForm, mut out: impl Write) -> Result<()> {
    let mut write = || {
        form.write(&key.alpha1, &mut out)?;
        form.write(&key.beta1, &mut out)?;
        [key.beta2, key.gamma2].iter().try_for_each(|point| form.write(point, &mut out))?;
        form.write(&key.delta1, &mut out)?;
        form.write(&key.delta2, &mut out)?;
        out.write_all(&(key.ic.len() as u32).to_be_bytes())?;
        key.ic.iter().try_for_each(|point| form.write(point, &mut out))?;
        out.write_all(&[0; 2 * COUNT_BYTES as usize])?;
        out.flush()
    };
    write().map_err(|error| Error::new(Status::Io, format!("gnark verifying key: writing: {error}")))
}
