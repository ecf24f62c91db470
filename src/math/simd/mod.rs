#![doc = include_str!("bounds.md")]

mod batch;
mod element;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod lanes;
pub(crate) mod msm;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
mod product;
mod runs;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod tuning;

use super::curve::{Affine, CurveField, Jacobian};
use super::msm::Chosen;
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
pub(crate) fn multiply<F: CurveField>(
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

/// [`msm::sum`] on this machine's lanes; only where they are [`available`].
pub(crate) fn sum<F: CurveField>(points: &[Affine<F>], picks: &[u32]) -> Result<Jacobian<F>> {
    if F::DEGREE == 1 { msm::sum::<Best, F, 1>(points, picks) } else { msm::sum::<Best, F, 2>(points, picks) }
}
