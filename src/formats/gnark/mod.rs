//! gnark's binary form of its Groth16 keys (what `WriteTo` and `WriteRawTo` write): numbers are big-endian, points have
//! the encoding of `math::encoding`, all compressed or all not, a slice of points is a u32 count and the points. There is
//! no header; the first point tells which form it is.

pub mod pk;
pub mod vk;

use super::points::PointForm;
use super::source::Source;
use crate::error::Result;

/// The form of the points of a file of which one stands at `offset`.
fn form_at(source: &Source<'_>, offset: u64) -> Result<PointForm> {
    const COMPRESSED: u8 = 0x80;
    let mut first = [0];
    source.read_exact_at(offset, &mut first)?;
    Ok(if first[0] & COMPRESSED == 0 { PointForm::Uncompressed } else { PointForm::Compressed })
}
