//! Scalars as signed digits, each read from the scalar on its own (Booth's recoding).
//!
//! With windows of c bits the digit at window w is (bits w c - 1 .. w c + c of s, rounded up and halved), minus 2^c
//! where the window's top bit is set. It lies in -2^(c-1) ..= 2^(c-1), and the sum of digit_w 2^(w c) is s if the
//! windows cover one bit more than s has. So half of the buckets suffice, and no carry runs from window to window.

use crate::math::fr::Scalar;

/// Windows of `width` bits that cover every scalar below 2^`bits`.
pub fn windows(bits: usize, width: usize) -> usize {
    bits / width + 1
}

/// Bits up to and including the highest one that is set; 0 for zero.
pub fn bit_length(scalar: &Scalar) -> usize {
    let top = scalar.iter().rposition(|&limb| limb != 0);
    top.map_or(0, |i| 64 * i + 64 - scalar[i].leading_zeros() as usize)
}

/// The signed digit of window `window` (of `width` bits, at most 24) as (magnitude, is negative).
#[inline(always)]
pub fn digit(scalar: &Scalar, window: usize, width: usize) -> (u32, bool) {
    let low = window * width;
    // One bit below the window as well; below bit 0 there is a zero.
    let bits = if low == 0 { scalar[0] << 1 } else { shifted(scalar, low - 1) };
    let bits = (bits & ((2 << width) - 1)) as u32;
    let negative = (bits >> width) & 1;
    let value = (bits + 1) >> 1;
    let magnitude = if negative == 1 { (1 << width) - value } else { value };
    (magnitude, negative == 1)
}

/// The 64 bits of the scalar from bit `position` on; zeros above bit 255.
#[inline(always)]
fn shifted(scalar: &Scalar, position: usize) -> u64 {
    let (limb, shift) = (position / 64, position % 64);
    let low = scalar.get(limb).copied().unwrap_or(0) >> shift;
    if shift == 0 { low } else { low | (scalar.get(limb + 1).copied().unwrap_or(0) << (64 - shift)) }
}
