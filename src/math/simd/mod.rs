#![doc = include_str!("bounds.md")]

mod batch;
mod element;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod lanes;
pub(crate) mod msm;
mod ntt;
mod pointwise;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
mod product;
mod runs;
mod scalar;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod tuning;

use super::curve::{Affine, CurveField, Jacobian};
use super::fr::Fr;
use super::msm::Chosen;
use super::msm::buckets::Sorted;
use crate::error::Result;

/// Whether kernels on eight lanes run on this machine.
pub fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        ifma::available()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

#[cfg(target_arch = "x86_64")]
type Best = ifma::Ifma;
#[cfg(not(target_arch = "x86_64"))]
type Best = portable::Portable;

/// [`msm::msm`] on this machine's lanes; only where they are [`available`].
pub(crate) fn multi_scalar<F: CurveField>(
    points: &[Affine<F>],
    chosen: Chosen<'_>,
    bits: usize,
) -> Result<Jacobian<F>> {
    if F::DEGREE == 1 {
        msm::msm::<Best, F, 1>(points, chosen, bits)
    } else {
        msm::msm::<Best, F, 2>(points, chosen, bits)
    }
}

/// [`msm::bucket_sums`] on this machine's lanes; only where they are [`available`].
pub(crate) fn bucket_sums<F: CurveField>(points: &[Affine<F>], lists: &[Sorted]) -> Result<Vec<Vec<Affine<F>>>> {
    if F::DEGREE == 1 {
        msm::bucket_sums::<Best, F, 1>(points, lists)
    } else {
        msm::bucket_sums::<Best, F, 2>(points, lists)
    }
}

/// [`msm::sum`] on this machine's lanes; only where they are [`available`].
pub(crate) fn sum<F: CurveField>(points: &[Affine<F>], picks: &[u32]) -> Result<Jacobian<F>> {
    if F::DEGREE == 1 { msm::sum::<Best, F, 1>(points, picks) } else { msm::sum::<Best, F, 2>(points, picks) }
}

/// Factors of a transform in the form that this machine's lanes want.
pub(crate) use scalar::Factors;

/// Sizes from which on transforms run on lanes, as a logarithm.
pub(crate) const LEAST_TRANSFORM: u32 = ntt::LEAST;

/// [`ntt::nr`] on this machine's lanes; only where they are [`available`].
pub(crate) fn nr(values: &mut [Fr], factors: &Factors) {
    ntt::nr::<Best>(values, factors);
}

/// [`ntt::rn`] on this machine's lanes; only where they are [`available`].
pub(crate) fn rn(values: &mut [Fr], factors: &Factors) {
    ntt::rn::<Best>(values, factors);
}

/// [`pointwise::product`] on this machine's lanes; only where they are [`available`].
pub(crate) fn product(out: &mut [Fr], a: &[Fr], b: &[Fr]) {
    pointwise::product::<Best>(out, a, b);
}

/// [`pointwise::multiply`] on this machine's lanes; only where they are [`available`].
pub(crate) fn multiply(a: &mut [Fr], b: &[Fr]) {
    pointwise::multiply::<Best>(a, b);
}

/// [`pointwise::shift`] on this machine's lanes; only where they are [`available`].
pub(crate) fn shift(a: &mut [Fr], b: &mut [Fr], low: &[Fr], high: &Fr) {
    pointwise::shift::<Best>(a, b, low, high);
}

/// [`pointwise::unshift`] on this machine's lanes; only where they are [`available`].
pub(crate) fn unshift(v: &mut [Fr], u: &[Fr], low: &[Fr], high: &Fr, scale: &Fr) {
    pointwise::unshift::<Best>(v, u, low, high, scale);
}
