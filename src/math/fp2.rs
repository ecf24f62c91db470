//! The quadratic extension of the base field: c0 + c1 i with i^2 = -1.

use super::blst_calls;
use super::field::{Field, field_operators};
use super::fp::Fp;

/// c0 + c1 i (the layout of `blst_fp2`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Fp2 {
    /// The real part.
    pub c0: Fp,
    /// The imaginary part.
    pub c1: Fp,
}

impl Fp2 {
    #[inline(always)]
    fn sum(a: &Self, b: &Self) -> Self {
        Self { c0: a.c0 + b.c0, c1: a.c1 + b.c1 }
    }

    #[inline(always)]
    fn difference(a: &Self, b: &Self) -> Self {
        Self { c0: a.c0 - b.c0, c1: a.c1 - b.c1 }
    }

    #[inline(always)]
    fn product(a: &Self, b: &Self) -> Self {
        blst_calls::fp2_mul(a, b)
    }

    #[inline(always)]
    fn multiply(&mut self, other: &Self) {
        blst_calls::fp2_mul_assign(self, other);
    }
}

field_operators!(Fp2);

impl Field for Fp2 {
    const ZERO: Self = Self { c0: Fp::ZERO, c1: Fp::ZERO };
    const ONE: Self = Self { c0: Fp::ONE, c1: Fp::ZERO };

    #[inline(always)]
    fn square(&self) -> Self {
        blst_calls::fp2_square(self)
    }

    fn inverse(&self) -> Self {
        blst_calls::fp2_inverse(self)
    }
}
