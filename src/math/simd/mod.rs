#![doc = include_str!("bounds.md")]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod batch;
mod element;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod lanes;
pub(crate) mod msm;
mod ntt;
mod pointwise;
#[cfg(any(all(test, not(without_lanes)), not(target_arch = "x86_64")))]
mod portable;
mod product;
mod runs;
mod scalar;
mod scalar52;
mod table;
#[cfg(all(test, not(without_lanes)))]
mod tests;
pub(crate) mod tuning;

use super::curve::{Affine, CurveField, Jacobian};
use super::fr::Fr;
use super::msm::Chosen;
use super::msm::buckets::Sorted;
use crate::error::{Error, Result};

/// Whether the kernels for lanes are in this build. They take most of the time that the library takes to compile, far more under
/// a sanitizer: builds that look at other code leave them out by `--cfg without_lanes`. What follows a test of this constant
/// is not compiled then.
const BUILT: bool = cfg!(not(without_lanes));

/// Whether those of the first choice do.
fn best_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        BUILT && ifma::available()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

#[cfg(target_arch = "x86_64")]
type Best = ifma::Ifma;
#[cfg(target_arch = "x86_64")]
type Second = avx2::Avx2;
#[cfg(not(target_arch = "x86_64"))]
type Best = portable::Portable;
#[cfg(not(target_arch = "x86_64"))]
type Second = portable::Portable;

/// Whether multi-scalar multiplications, transforms and products of vectors run on lanes on this machine.
pub fn available() -> bool {
    best_available() || second_available()
}

/// Whether those of the second choice do.
fn second_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        BUILT && avx2::available()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// The instructions of the lanes that this machine's kernels run on, for reports.
pub fn instructions() -> &'static str {
    match (best_available(), second_available()) {
        (true, _) => "AVX-512 IFMA",
        (false, true) => "AVX2",
        (false, false) => "none",
    }
}

/// Cost of one subgroup test, in affine additions on this machine's lanes, by the degree of the field.
pub(crate) fn test_cost() -> [usize; 2] {
    if best_available() { tuning::TEST_COST } else { tuning::SECOND_TEST_COST }
}

/// A call `$function::<lanes, field, degree>` for this machine's lanes and the field's degree.
macro_rules! on_best {
    ($function:path, $field:ident, $($argument:expr),+) => {{
        use $function as function;
        if !BUILT {
            return Err(Error::internal("the kernels for lanes were left out when the library was built"));
        }
        match (best_available(), $field::DEGREE) {
            (true, 1) => function::<Best, $field, 1>($($argument),+),
            (true, _) => function::<Best, $field, 2>($($argument),+),
            (false, 1) => function::<Second, $field, 1>($($argument),+),
            (false, _) => function::<Second, $field, 2>($($argument),+),
        }
    }};
}

/// [`msm::msm`] on this machine's lanes; only where they are [`available`].
pub(crate) fn multi_scalar<F: CurveField>(
    points: &[Affine<F>],
    chosen: Chosen<'_>,
    bits: usize,
) -> Result<Jacobian<F>> {
    on_best!(msm::msm, F, points, chosen, bits)
}

/// [`msm::with_width`] on this machine's lanes; only where they are [`available`].
pub(crate) fn multi_scalar_of_width<F: CurveField>(
    points: &[Affine<F>],
    chosen: Chosen<'_>,
    bits: usize,
    width: usize,
) -> Result<Jacobian<F>> {
    on_best!(msm::with_width, F, points, chosen, bits, width)
}

/// [`msm::bucket_sums`] on this machine's lanes; only where they are [`available`].
pub(crate) fn bucket_sums<F: CurveField>(points: &[Affine<F>], lists: &[Sorted]) -> Result<Vec<Vec<Affine<F>>>> {
    on_best!(msm::bucket_sums, F, points, lists)
}

/// [`msm::sum`] on this machine's lanes; only where they are [`available`].
pub(crate) fn sum<F: CurveField>(points: &[Affine<F>], picks: &[u32]) -> Result<Jacobian<F>> {
    on_best!(msm::sum, F, points, picks)
}

/// A call `$function::<lanes>` for this machine's lanes.
macro_rules! scalars_on_best {
    ($($function:ident)::+, $($argument:expr),+) => {
        if best_available() { $($function)::+::<Best>($($argument),+) } else { $($function)::+::<Second>($($argument),+) }
    };
}

pub(crate) use scalar::Factors;

/// Factors of a transform in the form that this machine's lanes want.
pub(crate) fn factors(elements: &[Fr]) -> Factors {
    if !BUILT {
        return Factors::default();
    }
    scalars_on_best!(Factors::new, elements)
}

/// Sizes from which on transforms run on lanes, as a logarithm.
pub(crate) const LEAST_TRANSFORM: u32 = ntt::LEAST;

/// [`ntt::nr`] on this machine's lanes; only where they are [`available`].
pub(crate) fn nr(values: &mut [Fr], factors: &Factors) {
    if BUILT {
        scalars_on_best!(ntt::nr, values, factors);
    }
}

/// [`ntt::rn`] on this machine's lanes; only where they are [`available`].
pub(crate) fn rn(values: &mut [Fr], factors: &Factors) {
    if BUILT {
        scalars_on_best!(ntt::rn, values, factors);
    }
}

/// [`pointwise::product`] on this machine's lanes; only where they are [`available`].
pub(crate) fn product(out: &mut [Fr], a: &[Fr], b: &[Fr]) {
    if BUILT {
        scalars_on_best!(pointwise::product, out, a, b);
    }
}

/// [`pointwise::multiply`] on this machine's lanes; only where they are [`available`].
pub(crate) fn multiply(a: &mut [Fr], b: &[Fr]) {
    if BUILT {
        scalars_on_best!(pointwise::multiply, a, b);
    }
}

/// [`pointwise::shift`] on this machine's lanes; only where they are [`available`].
pub(crate) fn shift(a: &mut [Fr], b: &mut [Fr], low: &[Fr], high: &Fr) {
    if BUILT {
        scalars_on_best!(pointwise::shift, a, b, low, high);
    }
}

/// [`pointwise::unshift`] on this machine's lanes; only where they are [`available`].
pub(crate) fn unshift(v: &mut [Fr], u: &[Fr], low: &[Fr], high: &Fr, scale: &Fr) {
    if BUILT {
        scalars_on_best!(pointwise::unshift, v, u, low, high, scale);
    }
}
