//! What the algorithms ask of eight 64-bit lanes; [`super::ifma`] and [`super::portable`] provide it.

use crate::math::fr::Fr;

/// Eight words of 64 bits, on a cache line of their own: a row of a table, and what lanes are loaded from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Row(pub [u64; 8]);

/// A piece of work that runs with a backend's instructions switched on. Its `run` and all that this calls on lanes
/// should be `#[inline(always)]`, or one of the products of [`Lanes`].
pub trait Task {
    /// What it yields.
    type Output;
    /// Does it.
    fn run(self) -> Self::Output;
}

/// Eight unsigned words of 64 bits (shifts are signed: limbs may be negative before carries are taken). Masks are bytes,
/// bit i for lane i. Sums and differences wrap.
pub trait Lanes: Copy + Send + Sync + 'static {
    /// Runs a task with the backend's instructions switched on.
    fn run<T: Task>(task: T) -> T::Output;

    /// The word in every lane.
    fn splat(word: u64) -> Self;
    /// Lane i is word i.
    fn load(row: &Row) -> Self;
    /// Word i is lane i.
    fn store(self, row: &mut Row);
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// Shifted left by `N` bits.
    fn left<const N: u32>(self) -> Self;
    /// The unsigned word shifted right by `N` bits.
    fn right<const N: u32>(self) -> Self;
    /// The signed word, shifted right by 52 bits.
    fn carry(self) -> Self;
    /// `self + low 52 bits of a b`, of the low 52 bits of a and b.
    fn mul_low(self, a: Self, b: Self) -> Self;
    /// `self + (a b >> 52)`, of the low 52 bits of a and b.
    fn mul_high(self, a: Self, b: Self) -> Self;
    /// Which lanes are equal.
    fn equal(self, other: Self) -> u8;
    /// `a` where the mask is set, else `b`.
    fn select(mask: u8, a: Self, b: Self) -> Self;
    /// Lane i is lane `index[i] mod 8` of this.
    fn lookup(self, index: Self) -> Self;
    /// Lane i of row j becomes lane j of row i.
    fn transpose(rows: [Self; 8]) -> [Self; 8];
    /// The even ones and the odd ones of the sixteen lanes of both.
    fn deinterleave(a: Self, b: Self) -> [Self; 2];
    /// Word j of element i as lane i of vector j.
    fn load_words(elements: &[Fr; 8]) -> [Self; 4];
    /// The opposite; words must be below the modulus.
    fn store_words(words: [Self; 4], elements: &mut [Fr; 8]);
    /// The same reference, whose origin the compiler does not know: what is read through it is read there and then, and not
    /// kept in registers that are wanted for sums (its spills would not even be aligned).
    #[inline(always)]
    fn opaque<T>(reference: &T) -> &T {
        reference
    }
    /// Checks, in tests of the portable backend, that all lanes are below `2^bits`.
    fn assert_bits(self, _bits: u32) {}

    /// Writes two Montgomery products over the base field (see [`super::product`]) to `out`.
    fn fp_mul_pair(out: [&mut [Self; 8]; 2], a: [&[Self; 8]; 2], b: [&[Self; 8]; 2]);
    /// Writes a Montgomery product in the quadratic extension to `out`.
    fn fp2_mul(out: [&mut [Self; 8]; 2], a: [&[Self; 8]; 2], b: [&[Self; 8]; 2]);
    /// Writes a Montgomery square in the quadratic extension to `out`.
    fn fp2_square(out: [&mut [Self; 8]; 2], a: [&[Self; 8]; 2]);
}

/// The products by their generic bodies; `$attribute` is what they are compiled with.
macro_rules! lane_products {
    ($lanes:ty, $($feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        fn fp_mul_pair(out: [&mut [$lanes; 8]; 2], a: [&[$lanes; 8]; 2], b: [&[$lanes; 8]; 2]) {
            product::fp_mul_pair(out, a, b);
        }
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        fn fp2_mul(out: [&mut [$lanes; 8]; 2], a: [&[$lanes; 8]; 2], b: [&[$lanes; 8]; 2]) {
            product::fp2_mul(out, a, b);
        }
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        fn fp2_square(out: [&mut [$lanes; 8]; 2], a: [&[$lanes; 8]; 2]) {
            product::fp2_square(out, a);
        }
    };
}
pub(super) use lane_products;
