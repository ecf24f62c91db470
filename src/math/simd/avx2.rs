//! Eight lanes in pairs of AVX2 registers, for processors without AVX-512 IFMA: fourteen limbs of 28 bits, products by the
//! 32-bit multiplication.
//!
//! Values of this backend exist only inside [`Lanes::run`], which [`super::second_available`] guards: every `unsafe` block here
//! calls intrinsics of an instruction set that has been found on this processor, on register values; loads and stores go
//! through references to 32 aligned bytes.

mod linear;
mod product;
mod scalar;
mod scalar_product;

use std::arch::x86_64::*;

use zeroize::Zeroize;

use super::lanes::{Lanes, Row, Task};
use crate::math::fp::MODULUS;
use crate::math::limbs;

/// Eight words in two registers.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Avx2([__m256i; 2]);

impl Zeroize for Avx2 {
    #[inline(always)]
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

const LIMBS: usize = 14;
const LOW: u64 = (1 << 28) - 1;

/// Limb j of k p for k = 0 to 8.
const MULTIPLES: [[u64; LIMBS]; 9] = limbs::multiples(&split(&MODULUS), 28);

/// What each limb of a bound borrows from the next: more than is ever subtracted from it.
const BORROWED: u64 = 1 << 31;

/// 384 bits as limbs.
const fn split(words: &[u64; 6]) -> [u64; LIMBS] {
    let mut out = [0; LIMBS];
    let mut j = 0;
    while j < LIMBS {
        let (word, bit) = (28 * j / 64, 28 * j % 64);
        let above = if bit > 36 && word < 5 { words[word + 1] << (64 - bit) } else { 0 };
        out[j] = (words[word] >> bit | above) & LOW;
        j += 1;
    }
    out
}

/// Whether this processor (and the system, which must save the registers) has what the backend needs.
pub fn available() -> bool {
    is_x86_feature_detected!("avx2")
}

#[target_feature(enable = "avx2")]
fn enabled<T: Task>(task: T) -> T::Output {
    task.run()
}

/// An intrinsic on both registers.
macro_rules! both {
    ($intrinsic:path, $($argument:expr),+) => {
        // SAFETY: see the module's documentation: the instruction set is there; registers only.
        Avx2(unsafe { [$intrinsic($($argument[0]),+), $intrinsic($($argument[1]),+)] })
    };
}

impl Avx2 {
    #[inline(always)]
    fn word(word: u64) -> Self {
        // SAFETY: the instruction set is there; registers only.
        Self([unsafe { _mm256_set1_epi64x(word.cast_signed()) }; 2])
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        both!(_mm256_add_epi64, self.0, other.0)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        both!(_mm256_sub_epi64, self.0, other.0)
    }
    /// Lane i is word i.
    #[inline(always)]
    fn load(row: &Row) -> Self {
        let start = std::ptr::from_ref(row).cast::<__m256i>();
        // SAFETY: the instruction set is there; a row is 64 bytes, aligned to 64.
        Self(unsafe { [_mm256_load_si256(start), _mm256_load_si256(start.add(1))] })
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        both!(_mm256_and_si256, self.0, other.0)
    }
    #[inline(always)]
    fn right<const N: i32>(self) -> Self {
        both!(_mm256_srli_epi64::<N>, self.0)
    }
    #[inline(always)]
    fn left<const N: i32>(self) -> Self {
        both!(_mm256_slli_epi64::<N>, self.0)
    }
    /// Where the mask's bits are set, all bits.
    #[inline(always)]
    fn lanes_of(mask: u8) -> Self {
        // SAFETY: the instruction set is there; registers only.
        unsafe {
            let all = _mm256_set1_epi64x(i64::from(mask));
            let (low, high) = (_mm256_set_epi64x(8, 4, 2, 1), _mm256_set_epi64x(128, 64, 32, 16));
            Self([low, high].map(|bits| _mm256_cmpeq_epi64(_mm256_and_si256(all, bits), bits)))
        }
    }
}

/// Limbs from a function of their index.
#[inline(always)]
fn map(f: impl Fn(usize) -> Avx2) -> [Avx2; LIMBS] {
    let mut out = [Avx2::word(0); LIMBS];
    for j in 0..LIMBS {
        out[j] = f(j);
    }
    out
}

/// Limb j of k p, having borrowed from the next one and lent to the one before.
const fn bound_word(k: usize, j: usize) -> u64 {
    let (borrowed, lent) = (if j < LIMBS - 1 { BORROWED } else { 0 }, if j > 0 { BORROWED >> 28 } else { 0 });
    MULTIPLES[k][j] + borrowed - lent
}

#[inline(always)]
fn normalise(mut x: [Avx2; LIMBS]) -> [Avx2; LIMBS] {
    let low = Avx2::word(LOW);
    for j in 0..LIMBS - 1 {
        x[j + 1] = x[j + 1].plus(x[j].right::<28>());
        x[j] = x[j].and(low);
    }
    x
}

impl Lanes for Avx2 {
    type Limbs = [Self; LIMBS];
    const LIMBS: usize = LIMBS;
    const BITS: u32 = 28;

    #[inline]
    fn run<T: Task>(task: T) -> T::Output {
        assert!(available(), "this processor has no AVX2");
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { enabled(task) }
    }
    #[inline(always)]
    fn splat(word: u64) -> Self {
        Self::word(word)
    }
    #[inline(always)]
    fn store(self, row: &mut Row) {
        let start = std::ptr::from_mut(row).cast::<__m256i>();
        // SAFETY: the instruction set is there; a row is 64 bytes, aligned to 64.
        unsafe {
            _mm256_store_si256(start, self.0[0]);
            _mm256_store_si256(start.add(1), self.0[1]);
        }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.plus(other)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.minus(other)
    }
    #[inline(always)]
    fn equal(self, other: Self) -> u8 {
        let equal = both!(_mm256_cmpeq_epi64, self.0, other.0);
        // SAFETY: the instruction set is there; registers only.
        let [low, high] = equal.0.map(|half| unsafe { _mm256_movemask_pd(_mm256_castsi256_pd(half)) });
        (low | high << 4) as u8
    }
    #[inline(always)]
    fn select(mask: u8, a: Self, b: Self) -> Self {
        let lanes = Self::lanes_of(mask);
        both!(_mm256_blendv_epi8, b.0, a.0, lanes.0)
    }
    #[inline(always)]
    fn exchange(self, shift: usize) -> Self {
        match shift {
            1 => both!(_mm256_permute4x64_epi64::<0xb1>, self.0),
            2 => both!(_mm256_permute4x64_epi64::<0x4e>, self.0),
            _ => Self([self.0[1], self.0[0]]),
        }
    }
    /// Word j holds limbs 2 j and 2 j + 1 in its halves.
    #[inline(always)]
    fn pack(words: &[u64; 6]) -> Row {
        let limbs = split(words);
        let mut row = Row([0; 8]);
        for j in 0..LIMBS / 2 {
            row.0[j] = limbs[2 * j] | limbs[2 * j + 1] << 32;
        }
        row
    }
    #[inline(always)]
    fn unpack(row: &Row) -> [u64; 6] {
        let mut words = [0; 6];
        for j in 0..LIMBS / 2 {
            // Both limbs together: 56 bits.
            let limbs = row.0[j] & LOW | row.0[j] >> 32 << 28;
            let (word, bit) = (56 * j / 64, 56 * j % 64);
            words[word] |= limbs << bit;
            if bit > 8 && word < 5 {
                words[word + 1] |= limbs >> (64 - bit);
            }
        }
        words
    }
    #[inline(always)]
    fn gather(rows: [&Row; 8]) -> [Self; LIMBS] {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { linear::gather(rows) }
    }
    #[inline(always)]
    fn scatter(limbs: &[Self; LIMBS]) -> [Row; 8] {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { linear::scatter(limbs) }
    }
    #[inline(always)]
    fn multiple(k: usize) -> [Self; LIMBS] {
        map(|j| Self::word(MULTIPLES[k][j]))
    }
    #[inline(always)]
    fn bound(k: usize) -> [Self; LIMBS] {
        map(|j| Self::word(bound_word(k, j)))
    }
    #[inline(always)]
    fn normalise(x: [Self; LIMBS]) -> [Self; LIMBS] {
        normalise(x)
    }
    #[inline(always)]
    fn reduce(x: [Self; LIMBS]) -> [Self; LIMBS] {
        let mut out = x;
        for half in 0..2 {
            // SAFETY: the instruction set that it is compiled with is there.
            unsafe { linear::reduce_half(&mut out, half, std::array::from_fn(|j| x[j].0[half])) };
        }
        out
    }
    #[inline(always)]
    fn signed_difference(a: &[Self; LIMBS], negative: u8, b: &[Self; LIMBS]) -> [Self; LIMBS] {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { linear::signed_difference(a, negative, b) }
    }
    #[inline(always)]
    fn negate_where(a: &[Self; LIMBS], negative: u8) -> [Self; LIMBS] {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { linear::negate_where(a, negative) }
    }
    #[inline(always)]
    fn third_abscissa(x: &[Self; LIMBS], a: &[Self; LIMBS], d: &[Self; LIMBS]) -> [Self; LIMBS] {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { linear::third_abscissa(x, a, d) }
    }
    #[inline(always)]
    fn minus(a: &[Self; LIMBS], b: &[Self; LIMBS]) -> [Self; LIMBS] {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { linear::minus(a, b) }
    }
    #[inline(always)]
    fn fp_mul_pair(out: [&mut [Self; LIMBS]; 2], a: [&[Self; LIMBS]; 2], b: [&[Self; LIMBS]; 2]) {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { product::fp_mul_pair(out, a, b) }
    }
    #[inline(always)]
    fn fp2_mul(out: [&mut [Self; LIMBS]; 2], a: [&[Self; LIMBS]; 2], b: [&[Self; LIMBS]; 2]) {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { product::fp2_mul(out, a, b) }
    }
    #[inline(always)]
    fn fp2_square(out: [&mut [Self; LIMBS]; 2], a: [&[Self; LIMBS]; 2]) {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { product::fp2_square(out, a) }
    }
}
