//! What the algorithms ask of eight 64-bit lanes; [`super::ifma`], [`super::avx2`] and [`super::portable`] provide it.

use std::ops::{Index, IndexMut};

use zeroize::Zeroize;

use crate::math::fp::MODULUS;
use crate::math::fr::Fr;
use crate::math::limbs;

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

/// Eight unsigned words of 64 bits, and what they are to the base field: `LIMBS` vectors of `BITS`-bit limbs hold eight of its
/// elements, in Montgomery form with R = 2^(`LIMBS` `BITS`). Masks are bytes, bit i for lane i. Sums and differences wrap.
pub trait Lanes: Copy + Send + Sync + Zeroize + 'static {
    /// Eight elements of the base field, limb by limb.
    type Limbs: Copy + Send + Sync + Index<usize, Output = Self> + IndexMut<usize> + 'static;
    /// Limbs of an element; the top one begins at bit 364.
    const LIMBS: usize;
    /// Bits of a limb.
    const BITS: u32;
    /// R, reduced: one.
    const ONE: [u64; 6] = limbs::power_of_two_mod(Self::LIMBS * Self::BITS as usize, &MODULUS);

    /// Runs a task with the backend's instructions switched on.
    fn run<T: Task>(task: T) -> T::Output;

    /// The word in every lane.
    fn splat(word: u64) -> Self;
    /// Word i is lane i.
    fn store(self, row: &mut Row);
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// Which lanes are equal.
    fn equal(self, other: Self) -> u8;
    /// `a` where the mask is set, else `b`.
    fn select(mask: u8, a: Self, b: Self) -> Self;
    /// Lane i is lane `i ^ shift`, for a shift of 1, 2 or 4.
    fn exchange(self, shift: usize) -> Self;
    /// Checks, in tests of the portable backend, that all lanes are below `2^bits`.
    fn assert_bits(self, _bits: u32) {}

    /// An element's 384 bits as it stands in a table.
    fn pack(words: &[u64; 6]) -> Row;
    /// An element of a table as 384 bits.
    fn unpack(row: &Row) -> [u64; 6];
    /// The elements of eight rows.
    fn gather(rows: [&Row; 8]) -> Self::Limbs;
    /// The elements as rows of a table.
    fn scatter(limbs: &Self::Limbs) -> [Row; 8];

    /// The limbs of k p, for k = 0 to 8, in every lane.
    fn multiple(k: usize) -> Self::Limbs;
    /// Limbs of k p, for k = 2 to 8, from which those of smaller values may be subtracted before carries are taken.
    fn bound(k: usize) -> Self::Limbs;
    /// Takes the carries of a value that is not negative.
    fn normalise(x: Self::Limbs) -> Self::Limbs;
    /// A value from p (its top limb clearly positive) up to 8 p, limbs not normalised, less so many p that it is below 1.001 p.
    fn reduce(x: Self::Limbs) -> Self::Limbs;

    /// `a - b`, or `-a - b` where the mask is set, at most 4 p, of values of at most 2 p.
    #[inline(always)]
    fn signed_difference(a: &Self::Limbs, negative: u8, b: &Self::Limbs) -> Self::Limbs {
        let (bound, mut out) = (Self::bound(2), *a);
        for j in 0..Self::LIMBS {
            let signed = Self::select(negative, bound[j].sub(out[j]), out[j]);
            out[j] = signed.sub(b[j]).add(bound[j]);
        }
        Self::normalise(out)
    }
    /// `-a` where the mask is set, of values of at most 2 p.
    #[inline(always)]
    fn negate_where(a: &Self::Limbs, negative: u8) -> Self::Limbs {
        let (bound, mut out) = (Self::bound(2), *a);
        for j in 0..Self::LIMBS {
            out[j] = Self::select(negative, bound[j].sub(out[j]), out[j]);
        }
        Self::normalise(out)
    }
    /// `x - 2 a - d`, reduced, for what [`super::element::Element::third_abscissa`] takes.
    #[inline(always)]
    fn third_abscissa(x: &Self::Limbs, a: &Self::Limbs, d: &Self::Limbs) -> Self::Limbs {
        let (bound, mut out) = (Self::bound(7), *x);
        for j in 0..Self::LIMBS {
            let twice = a[j].add(a[j]);
            out[j] = out[j].sub(twice).sub(d[j]).add(bound[j]);
        }
        Self::reduce(out)
    }
    /// `a - b`, reduced, of values of at most 2 p.
    #[inline(always)]
    fn minus(a: &Self::Limbs, b: &Self::Limbs) -> Self::Limbs {
        let (bound, mut out) = (Self::bound(3), *a);
        for j in 0..Self::LIMBS {
            out[j] = out[j].sub(b[j]).add(bound[j]);
        }
        Self::reduce(out)
    }

    /// Writes two Montgomery products over the base field to `out`.
    fn fp_mul_pair(out: [&mut Self::Limbs; 2], a: [&Self::Limbs; 2], b: [&Self::Limbs; 2]);
    /// Writes a Montgomery product in the quadratic extension to `out`.
    fn fp2_mul(out: [&mut Self::Limbs; 2], a: [&Self::Limbs; 2], b: [&Self::Limbs; 2]);
    /// Writes a Montgomery square in the quadratic extension to `out`.
    fn fp2_square(out: [&mut Self::Limbs; 2], a: [&Self::Limbs; 2]);
}

/// Lanes with instructions that multiply 52 bits. Shifts are signed: limbs may be negative before carries are taken.
pub trait Lanes52: Lanes<Limbs = [Self; 8]> {
    /// Lane i is word i.
    fn load(row: &Row) -> Self;
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
}

/// Of [`Lanes`] the base field in limbs of 52 bits, by [`super::product`]; `$attribute` is what products are compiled with.
macro_rules! lanes_by_52 {
    ($($feature:literal)?) => {
        type Limbs = [Self; 8];
        const LIMBS: usize = 8;
        const BITS: u32 = 52;
        #[inline(always)]
        fn exchange(self, shift: usize) -> Self {
            self.lookup(Self::load(&Row(std::array::from_fn(|i| (i ^ shift) as u64))))
        }
        #[inline(always)]
        fn pack(words: &[u64; 6]) -> Row {
            Row(product::split(words))
        }
        #[inline(always)]
        fn unpack(row: &Row) -> [u64; 6] {
            product::join(&row.0)
        }
        #[inline(always)]
        fn gather(rows: [&Row; 8]) -> [Self; 8] {
            let limbs = Self::transpose(rows.map(|row| Self::load(row)));
            limbs[7].assert_bits(18);
            limbs
        }
        #[inline(always)]
        fn scatter(limbs: &[Self; 8]) -> [Row; 8] {
            let mut rows = [Row([0; 8]); 8];
            for (row, lanes) in rows.iter_mut().zip(Self::transpose(*limbs)) {
                lanes.store(row);
            }
            rows
        }
        #[inline(always)]
        fn multiple(k: usize) -> [Self; 8] {
            product::multiple(k)
        }
        #[inline(always)]
        fn bound(k: usize) -> [Self; 8] {
            product::multiple(k)
        }
        #[inline(always)]
        fn normalise(x: [Self; 8]) -> [Self; 8] {
            product::normalise(x)
        }
        #[inline(always)]
        fn reduce(x: [Self; 8]) -> [Self; 8] {
            product::reduce(x)
        }
        #[inline(always)]
        fn fp_mul_pair(out: [&mut [Self; 8]; 2], a: [&[Self; 8]; 2], b: [&[Self; 8]; 2]) {
            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            fn body<L: Lanes52>(out: [&mut [L; 8]; 2], a: [&[L; 8]; 2], b: [&[L; 8]; 2]) {
                product::fp_mul_pair(out, a, b);
            }
            // SAFETY: the instruction sets that it is compiled with are there.
            #[allow(unused_unsafe)]
            unsafe { body(out, a, b) }
        }
        #[inline(always)]
        fn fp2_mul(out: [&mut [Self; 8]; 2], a: [&[Self; 8]; 2], b: [&[Self; 8]; 2]) {
            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            fn body<L: Lanes52>(out: [&mut [L; 8]; 2], a: [&[L; 8]; 2], b: [&[L; 8]; 2]) {
                product::fp2_mul(out, a, b);
            }
            // SAFETY: the instruction sets that it is compiled with are there.
            #[allow(unused_unsafe)]
            unsafe { body(out, a, b) }
        }
        #[inline(always)]
        fn fp2_square(out: [&mut [Self; 8]; 2], a: [&[Self; 8]; 2]) {
            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            fn body<L: Lanes52>(out: [&mut [L; 8]; 2], a: [&[L; 8]; 2]) {
                product::fp2_square(out, a);
            }
            // SAFETY: the instruction sets that it is compiled with are there.
            #[allow(unused_unsafe)]
            unsafe { body(out, a) }
        }
    };
}
pub(super) use lanes_by_52;
