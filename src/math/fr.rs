//! The scalar field of BLS12-381: integers modulo the group order r (255 bits), in Montgomery form.

use super::field::{Field, field_operators};
use super::limbs;

/// The order r of the groups, as little-endian limbs.
pub const MODULUS: [u64; 4] = limbs::from_hex("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001");
/// 2^TWO_ADICITY divides r - 1: the largest domain that has a root of unity.
pub const TWO_ADICITY: u32 = 32;
/// Bits of a canonical scalar.
pub const BITS: usize = 255;

const INVERSE: u64 = limbs::negated_inverse(MODULUS[0]);
const R1: [u64; 4] = limbs::power_of_two_mod(256, &MODULUS);
const R2: [u64; 4] = limbs::power_of_two_mod(512, &MODULUS);

/// A scalar in its canonical form, as little-endian limbs; below r unless said otherwise.
pub type Scalar = [u64; 4];

/// An element of the scalar field, reduced, in Montgomery form (x stands as x * 2^256 mod r; the layout of `blst_fr`).
#[derive(Clone, Copy, Debug, Default, Eq)]
#[repr(transparent)]
pub struct Fr(pub(super) [u64; 4]);

impl Fr {
    /// The element with this canonical value; `None` if it is not below r.
    pub fn from_canonical(value: Scalar) -> Option<Self> {
        limbs::less(&value, &MODULUS).then(|| Self::product(&Self(value), &Self(R2)))
    }

    /// The element whose Montgomery form is `limbs`; `None` if that is not below r.
    pub fn from_montgomery(limbs: [u64; 4]) -> Option<Self> {
        limbs::less(&limbs, &MODULUS).then_some(Self(limbs))
    }

    /// The canonical value.
    #[inline]
    pub fn to_canonical(&self) -> Scalar {
        Self::product(self, &Self([1, 0, 0, 0])).0
    }

    /// The limbs of the Montgomery form.
    pub fn to_montgomery(&self) -> [u64; 4] {
        self.0
    }

    /// The element with 32 bytes, little-endian, canonical; `None` if not below r.
    pub fn from_le_bytes(bytes: &[u8; 32]) -> Option<Self> {
        Self::from_canonical(scalar_from_le_bytes(bytes))
    }

    /// 32 bytes, little-endian, canonical.
    pub fn to_le_bytes(&self) -> [u8; 32] {
        scalar_to_le_bytes(&self.to_canonical())
    }

    /// A uniform element from 64 uniform bytes: the little-endian integer modulo r (bias below 2^-256).
    pub fn from_wide_bytes(bytes: &[u8; 64]) -> Self {
        let two_to_64 = Self::product(&Self([0, 1, 0, 0]), &Self(R2));
        bytes.rchunks_exact(8).fold(Self::ZERO, |value, chunk| {
            let mut word = [0u8; 8];
            word.copy_from_slice(chunk);
            value * two_to_64 + Self::from(u64::from_le_bytes(word))
        })
    }

    /// The primitive root of unity of order `2^log_order` that is a power of `generator` (7 for bellman, arkworks and
    /// gnark, 5 for iden3); `None` above 2^32. The generator must be a quadratic non-residue.
    pub fn root_of_unity(generator: u64, log_order: u32) -> Option<Self> {
        let squarings = TWO_ADICITY.checked_sub(log_order)?;
        let mut exponent = MODULUS;
        exponent[0] -= 1;
        for _ in 0..TWO_ADICITY {
            shift_right(&mut exponent);
        }
        let root = Self::from(generator).pow(&exponent);
        Some((0..squarings).fold(root, |root, _| root.square()))
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
    fn multiply(&mut self, other: &Self) {
        *self = Self::product(self, other);
    }

    /// Montgomery product of reduced factors, operand scanning. r's top limb has a free bit, so the two carries of a row never overflow
    /// one limb (the "no-carry" form of gnark-crypto's field generator).
    #[inline(always)]
    fn product(a: &Self, b: &Self) -> Self {
        let (a, b) = (&a.0, &b.0);
        let mut t = [0u64; 4];
        for i in 0..4 {
            let (t0, mut carry_a) = limbs::mul_add(t[0], a[0], b[i], 0);
            let m = t0.wrapping_mul(INVERSE);
            let (_, mut carry_m) = limbs::mul_add(t0, m, MODULUS[0], 0);
            for j in 1..4 {
                let low;
                (low, carry_a) = limbs::mul_add(t[j], a[j], b[i], carry_a);
                (t[j - 1], carry_m) = limbs::mul_add(low, m, MODULUS[j], carry_m);
            }
            t[3] = carry_a + carry_m;
        }
        Self(limbs::reduce_once(t, &MODULUS))
    }
}

field_operators!(Fr);

// Written out, for the derived comparison of arrays calls memcmp.
impl PartialEq for Fr {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |different, (a, b)| different | (a ^ b)) == 0
    }
}

impl std::hash::Hash for Fr {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Field for Fr {
    const ZERO: Self = Self([0; 4]);
    const ONE: Self = Self(R1);

    #[inline(always)]
    fn square(&self) -> Self {
        Self::product(self, self)
    }

    /// Fermat's little theorem.
    fn inverse(&self) -> Self {
        let mut exponent = MODULUS;
        exponent[0] -= 2;
        self.pow(&exponent)
    }
}

impl From<u64> for Fr {
    fn from(value: u64) -> Self {
        Self::product(&Self([value, 0, 0, 0]), &Self(R2))
    }
}

impl zeroize::DefaultIsZeroes for Fr {}

/// Little-endian bytes as limbs, not checked against r.
pub fn scalar_from_le_bytes(bytes: &[u8; 32]) -> Scalar {
    let mut out = [0u64; 4];
    for (limb, chunk) in out.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut word = [0u8; 8];
        word.copy_from_slice(chunk);
        *limb = u64::from_le_bytes(word);
    }
    out
}

/// Limbs as little-endian bytes.
pub fn scalar_to_le_bytes(scalar: &Scalar) -> [u8; 32] {
    let mut out = [0u8; 32];
    for (chunk, limb) in out.chunks_exact_mut(8).zip(scalar) {
        chunk.copy_from_slice(&limb.to_le_bytes());
    }
    out
}

/// Whether the scalar is canonical, that is below r.
pub fn is_canonical(scalar: &Scalar) -> bool {
    limbs::less(scalar, &MODULUS)
}

fn shift_right(value: &mut [u64; 4]) {
    for i in 0..4 {
        let above = if i < 3 { value[i + 1] << 63 } else { 0 };
        value[i] = (value[i] >> 1) | above;
    }
}
