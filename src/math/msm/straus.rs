//! Straus's method for few points: one chain of doublings for all, and a small table of multiples for each point.

use super::{Chosen, digits};
use crate::math::curve::{Affine, CurveField, Jacobian};

/// Bits of a window; the table of a point holds its multiples up to half of 2^WIDTH.
const WIDTH: usize = 4;

/// The sum of scalar times point over the chosen ones, which must be valid; `bits` bound every scalar. About 75
/// Jacobian additions a point, and 256 doublings.
pub(super) fn msm<F: CurveField>(points: &[Affine<F>], chosen: Chosen<'_>, bits: usize) -> Jacobian<F> {
    let mut multiples = Vec::with_capacity(chosen.scalars.len() << (WIDTH - 1));
    for i in 0..chosen.scalars.len() {
        let point = &points[chosen.point(i) as usize];
        let mut multiple = Jacobian::INFINITY;
        for _ in 0..1 << (WIDTH - 1) {
            multiple += *point;
            multiples.push(multiple);
        }
    }
    let multiples = Jacobian::batch_to_affine(&multiples);
    let mut sum = Jacobian::INFINITY;
    for window in (0..digits::windows(bits, WIDTH)).rev() {
        for _ in 0..WIDTH {
            sum = sum.double();
        }
        for (scalar, table) in chosen.scalars.iter().zip(multiples.chunks_exact(1 << (WIDTH - 1))) {
            let (magnitude, negative) = digits::digit(scalar, window, WIDTH);
            if magnitude > 0 {
                let multiple = table[magnitude as usize - 1];
                sum += if negative { -multiple } else { multiple };
            }
        }
    }
    sum
}
