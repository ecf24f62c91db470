//! Round trips, and bytes that somebody damaged.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod gnark;
mod iden3;
mod params;
mod points;
mod proof;
mod source;

use crate::error::{Error, Result};
use crate::formats::source::Source;
use crate::math::curve::Affine;
use crate::math::encoding::EncodedField;

/// The error of a parser on these bytes.
fn refuse<T>(read: impl Fn(&Source<'_>) -> Result<T>, bytes: &[u8]) -> Error {
    read(&Source::Bytes(bytes)).err().expect("refused")
}

/// Calls the parser on damaged copies: every truncation near one of `edges` and at a hundred other places, and every
/// eighth bit flipped at a hundred places. It may take what is still well formed, but must not panic.
fn damage<T>(read: impl Fn(&Source<'_>) -> Result<T>, bytes: &[u8], edges: &[usize]) {
    let spread = (0..100).map(|i| i * bytes.len() / 100);
    let near = edges.iter().flat_map(|edge| [edge.saturating_sub(1), *edge, edge + 1]);
    for len in spread.clone().chain(near).filter(|len| *len < bytes.len()) {
        refuse(&read, &bytes[..len]);
    }
    for place in spread.chain(edges.iter().copied()).filter(|place| *place < bytes.len()) {
        for value in [0, 0x7f, 0xff, bytes[place] ^ 1, bytes[place] ^ 0x80] {
            let mut changed = bytes.to_vec();
            changed[place] = value;
            let _ = read(&Source::Bytes(&changed));
        }
    }
}

/// A point of the curve that is not in the subgroup.
fn outside_subgroup<F: EncodedField>() -> Affine<F> {
    let mut x = F::ONE;
    loop {
        if let Some(y) = (x.square() * x + F::B).square_root() {
            let point = Affine { x, y };
            if !point.is_in_subgroup() {
                return point;
            }
        }
        x += F::ONE;
    }
}
