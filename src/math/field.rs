//! What the group and transform code asks of a field.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// An element of a prime field or of an extension of one, always fully reduced.
pub trait Field:
    Copy
    + Debug
    + Default
    + PartialEq
    + Eq
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// The neutral element of addition.
    const ZERO: Self;
    /// The neutral element of multiplication.
    const ONE: Self;

    /// `self * self`.
    fn square(&self) -> Self;

    /// `1 / self`; zero for zero.
    fn inverse(&self) -> Self;

    /// Whether this is zero.
    fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// `self + self`.
    fn double(&self) -> Self {
        *self + *self
    }

    /// `self^exponent`, the exponent as little-endian limbs; variable time in the exponent.
    fn pow(&self, exponent: &[u64]) -> Self {
        let mut power = Self::ONE;
        for limb in exponent.iter().rev() {
            for bit in (0..64).rev() {
                power = power.square();
                if (limb >> bit) & 1 == 1 {
                    power *= *self;
                }
            }
        }
        power
    }
}

/// Replaces every element by its inverse (zero stays zero) at the cost of one inversion and three products each:
/// Montgomery's trick. `scratch` is overwritten and grown to the length of `values`.
pub fn batch_inverse<F: Field>(values: &mut [F], scratch: &mut Vec<F>) {
    scratch.clear();
    let mut product = F::ONE;
    for value in values.iter() {
        scratch.push(product);
        if !value.is_zero() {
            product *= *value;
        }
    }
    let mut inverse = product.inverse();
    for (value, before) in values.iter_mut().zip(scratch.iter()).rev() {
        if !value.is_zero() {
            let inverted = inverse * *before;
            inverse *= *value;
            *value = inverted;
        }
    }
}

/// Derives the by-value operators of a field from its by-reference `sum`, `difference`, `product` and `multiply` (in
/// place) functions.
macro_rules! field_operators {
    ($field:ty) => {
        impl std::ops::Add for $field {
            type Output = Self;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self::sum(&self, &other)
            }
        }
        impl std::ops::Sub for $field {
            type Output = Self;
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                Self::difference(&self, &other)
            }
        }
        impl std::ops::Mul for $field {
            type Output = Self;
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                Self::product(&self, &other)
            }
        }
        impl std::ops::Neg for $field {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self::difference(&Self::ZERO, &self)
            }
        }
        impl std::ops::AddAssign for $field {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
        impl std::ops::SubAssign for $field {
            #[inline(always)]
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }
        impl std::ops::MulAssign for $field {
            #[inline(always)]
            fn mul_assign(&mut self, other: Self) {
                self.multiply(&other);
            }
        }
    };
}
pub(crate) use field_operators;
