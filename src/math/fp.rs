//! The base field of BLS12-381: integers modulo p (381 bits), in Montgomery form.

use super::blst_calls;
use super::field::{Field, field_operators};
use super::limbs;

/// The characteristic p of the base field, as little-endian limbs.
pub const MODULUS: [u64; 6] =
    limbs::from_hex("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab");
const R1: [u64; 6] = limbs::power_of_two_mod(384, &MODULUS);
const R2: [u64; 6] = limbs::power_of_two_mod(768, &MODULUS);

/// An element of the base field, reduced, in Montgomery form (x stands as x * 2^384 mod p; the layout of `blst_fp`).
#[derive(Clone, Copy, Debug, Default, Eq)]
#[repr(transparent)]
pub struct Fp(pub(crate) [u64; 6]);

impl Fp {
    /// The element with this canonical value; `None` if it is not below p.
    pub fn from_canonical(value: [u64; 6]) -> Option<Self> {
        limbs::less(&value, &MODULUS).then(|| Self(value) * Self(R2))
    }

    /// The element with this canonical value, given as hexadecimal digits; for constants. The value must be below p.
    pub(crate) const fn constant(hex: &str) -> Self {
        let mut limbs = limbs::from_hex(hex);
        let mut doublings = 0;
        while doublings < 384 {
            limbs = limbs::add_mod(&limbs, &limbs, &MODULUS);
            doublings += 1;
        }
        Self(limbs)
    }

    /// The canonical value, as little-endian limbs.
    pub fn to_canonical(&self) -> [u64; 6] {
        (*self * Self([1, 0, 0, 0, 0, 0])).0
    }

    /// The element with 48 bytes, big-endian, canonical; `None` if not below p.
    pub fn from_be_bytes(bytes: &[u8; 48]) -> Option<Self> {
        let mut value = [0u64; 6];
        for (limb, chunk) in value.iter_mut().zip(bytes.rchunks_exact(8)) {
            let mut word = [0u8; 8];
            word.copy_from_slice(chunk);
            *limb = u64::from_be_bytes(word);
        }
        Self::from_canonical(value)
    }

    /// 48 bytes, big-endian, canonical.
    pub fn to_be_bytes(&self) -> [u8; 48] {
        let mut out = [0u8; 48];
        for (chunk, limb) in out.rchunks_exact_mut(8).zip(self.to_canonical()) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
        out
    }

    #[inline(always)]
    fn sum(a: &Self, b: &Self) -> Self {
        Self(limbs::add_mod(&a.0, &b.0, &MODULUS))
    }

    #[inline(always)]
    fn difference(a: &Self, b: &Self) -> Self {
        Self(limbs::sub_mod(&a.0, &b.0, &MODULUS))
    }

    #[inline(always)]
    fn product(a: &Self, b: &Self) -> Self {
        blst_calls::fp_mul(a, b)
    }

    #[inline(always)]
    fn multiply(&mut self, other: &Self) {
        blst_calls::fp_mul_assign(self, other);
    }
}

field_operators!(Fp);

// Written out, for the derived comparison of arrays calls memcmp.
impl PartialEq for Fp {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |different, (a, b)| different | (a ^ b)) == 0
    }
}

impl std::hash::Hash for Fp {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Field for Fp {
    const ZERO: Self = Self([0; 6]);
    const ONE: Self = Self(R1);

    #[inline(always)]
    fn square(&self) -> Self {
        blst_calls::fp_square(self)
    }

    fn inverse(&self) -> Self {
        blst_calls::fp_inverse(self)
    }
}
