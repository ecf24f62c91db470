//! The scalar field: nine limbs of 29 bits, Montgomery products with R = 2^261; bounds in the documentation of
//! [`crate::math::simd`].
//!
//! Word j of a value holds limb j in its low half and limb j + 5 in its high half, so sums take five additions of 32-bit words,
//! and a round of carries moves from word to word in both halves at once.

use std::arch::x86_64::*;

use zeroize::Zeroize;

use super::linear::{transpose_4, word};
use super::scalar_product::multiply;
use super::{Avx2, Row};
use crate::math::field::Field;
use crate::math::fr::{Fr, MODULUS};
use crate::math::limbs;
use crate::math::simd::scalar::ScalarLanes;

/// Words of a value.
const WORDS: usize = 5;
/// Limbs of a value.
pub const LIMBS: usize = 9;
pub const LOW: u64 = (1 << 29) - 1;

/// Four values.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Half(pub [__m256i; WORDS]);
/// Four values limb by limb, in the low halves of words; the high halves may hold anything.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct HalfFactor(pub [__m256i; LIMBS]);

/// Eight values. All work is on one half after the other, which the registers hold.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Scalars([Half; 2]);

impl Zeroize for Scalars {
    #[inline(always)]
    fn zeroize(&mut self) {
        for half in &mut self.0 {
            half.0.zeroize();
        }
    }
}
#[cfg(all(test, not(without_lanes)))]
impl Scalars {
    /// The words, as rows of a table.
    pub fn rows(&self) -> [Row; WORDS] {
        let mut rows = [Row([0; 8]); WORDS];
        for (j, row) in rows.iter_mut().enumerate() {
            super::Lanes::store(Avx2([self.0[0].0[j], self.0[1].0[j]]), row);
        }
        rows
    }
}

/// Eight values as factors.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Factor([HalfFactor; 2]);

/// 256 bits as limbs.
const fn split(words: &[u64; 4]) -> [u64; LIMBS] {
    let mut out = [0; LIMBS];
    let mut j = 0;
    while j < LIMBS {
        let (word, bit) = (29 * j / 64, 29 * j % 64);
        let above = if bit > 35 && word < 3 { words[word + 1] << (64 - bit) } else { 0 };
        out[j] = (words[word] >> bit | above) & LOW;
        j += 1;
    }
    out
}

/// Limb j of k r for k = 0 to 16.
pub const MULTIPLES: [[u64; LIMBS]; 17] = limbs::multiples(&split(&MODULUS), 29);

/// Limbs of -k r, the lower ones not negative, the top one (modulo 2^32) negative.
const fn negative(k: usize) -> [u64; LIMBS] {
    let mut out = [0; LIMBS];
    let mut borrow = 0;
    let mut j = 0;
    while j < LIMBS {
        let limb = 0u64.wrapping_sub(MULTIPLES[k][j] + borrow);
        out[j] = limb & if j < LIMBS - 1 { LOW } else { 0xffff_ffff };
        borrow = limb >> 63;
        j += 1;
    }
    out
}

/// Limbs as words of a value.
const fn pack(limbs: &[u64; LIMBS]) -> [u64; WORDS] {
    let mut out = [0; WORDS];
    let mut j = 0;
    while j < WORDS {
        out[j] = limbs[j] | if j + 5 < LIMBS { limbs[j + 5] << 32 } else { 0 };
        j += 1;
    }
    out
}

/// Words of k r where each limb but the top one has borrowed `units` from the next.
const fn bound_words(k: usize, units: u64) -> [u64; WORDS] {
    let mut limbs = MULTIPLES[k];
    let mut j = 0;
    while j < LIMBS - 1 {
        limbs[j] += units << 29;
        limbs[j + 1] -= units;
        j += 1;
    }
    pack(&limbs)
}

/// Reduction subtracts this multiple of r, once, twice or three times.
const UNIT: usize = 5;

/// From this top limb on a value is at least k `UNIT` r, and more by 2^232.
const fn threshold(k: usize) -> i32 {
    (MULTIPLES[UNIT * k][LIMBS - 1] + 2) as i32
}

/// Row j: limb j of -k `UNIT` r at word k, limb j + 5 at word 4 + k.
#[repr(C, align(32))]
struct Reductions([[u32; 8]; WORDS]);

static REDUCTIONS: Reductions = {
    let mut out = [[0; 8]; WORDS];
    let mut k = 1;
    while k < 4 {
        let words = pack(&negative(UNIT * k));
        let mut j = 0;
        while j < WORDS {
            out[j][k] = words[j] as u32;
            out[j][4 + k] = (words[j] >> 32) as u32;
            j += 1;
        }
        k += 1;
    }
    Reductions(out)
};

/// 2^54 / (top limb of r + 1): the product with it, shifted, takes a top limb to a quotient by r, rounded down.
const TOP_RECIPROCAL: u64 = (1 << 54) / (MULTIPLES[1][LIMBS - 1] + 1);

#[target_feature(enable = "avx2")]
#[inline]
fn splat(words: [u64; WORDS]) -> Half {
    Half(words.map(|x| word(x)))
}

/// Columns of `a + b`.
#[target_feature(enable = "avx2")]
#[inline]
fn plus(a: &Half, b: &Half) -> Half {
    let mut out = *a;
    for j in 0..WORDS {
        out.0[j] = _mm256_add_epi32(a.0[j], b.0[j]);
    }
    out
}

/// Columns of `a - b + bound`.
#[target_feature(enable = "avx2")]
#[inline]
fn minus(a: &Half, b: &Half, bound: &[u64; WORDS]) -> Half {
    let mut out = *a;
    for j in 0..WORDS {
        out.0[j] = _mm256_sub_epi32(_mm256_add_epi32(a.0[j], word(bound[j])), b.0[j]);
    }
    out
}

/// One round of carries: each limb keeps 29 bits and passes the others on.
#[target_feature(enable = "avx2")]
#[inline]
fn normalise(x: &Half) -> Half {
    let low = word(LOW << 32 | LOW);
    let mut out = *x;
    for j in 0..WORDS {
        let carry = _mm256_srli_epi32::<29>(x.0[(j + WORDS - 1) % WORDS]);
        let carry = if j == 0 { _mm256_slli_epi64::<32>(carry) } else { carry };
        out.0[j] = _mm256_add_epi32(_mm256_and_si256(x.0[j], low), carry);
    }
    out
}

/// Subtracts `UNIT` r as often as the value has it, at most three times, and normalises.
#[target_feature(enable = "avx2")]
#[inline]
fn reduce(x: &Half) -> Half {
    let mut out = *x;
    let top = _mm256_shuffle_epi32::<0xf5>(x.0[3]);
    let mut index = word(4 << 32);
    for k in 1..4 {
        index = _mm256_sub_epi32(index, _mm256_cmpgt_epi32(top, _mm256_set1_epi32(threshold(k) - 1)));
    }
    for j in 0..WORDS {
        // SAFETY: a row is 32 bytes, aligned to 32.
        let row = unsafe { _mm256_load_si256(std::ptr::from_ref(&REDUCTIONS.0[j]).cast()) };
        out.0[j] = _mm256_add_epi32(x.0[j], _mm256_permutevar8x32_epi32(row, index));
    }
    normalise(&out)
}

/// Values as factors.
#[target_feature(enable = "avx2")]
#[inline]
fn unpack(x: &Half) -> HalfFactor {
    let mut out = [x.0[0]; LIMBS];
    for j in 1..LIMBS {
        out[j] = if j < 5 { x.0[j] } else { _mm256_srli_epi64::<32>(x.0[j - 5]) };
    }
    HalfFactor(out)
}

/// Adds to limbs what takes a chain of carries, all lower ones not negative; the top one is signed.
#[target_feature(enable = "avx2")]
#[inline]
fn carry(mut x: [__m256i; LIMBS]) -> [__m256i; LIMBS] {
    for j in 0..LIMBS - 1 {
        x[j + 1] = _mm256_add_epi64(x[j + 1], _mm256_srli_epi64::<29>(x[j]));
        x[j] = _mm256_and_si256(x[j], word(LOW));
    }
    x
}

/// The residues below r, in limbs, of values below 64 r.
#[target_feature(enable = "avx2")]
#[inline]
fn canonical(x: &Half) -> [__m256i; LIMBS] {
    let negative_r = const { negative(1) };
    let mut y = [x.0[0]; LIMBS];
    for j in 0..LIMBS {
        let x = x.0[j % 5];
        y[j] = if j < 5 { _mm256_and_si256(x, word(0xffff_ffff)) } else { _mm256_srli_epi64::<32>(x) };
    }
    // Subtracts r once more than the quotient says, and adds it where that was too much.
    let quotient = _mm256_srli_epi64::<54>(_mm256_mul_epu32(y[LIMBS - 1], word(TOP_RECIPROCAL)));
    let times = _mm256_add_epi64(quotient, word(1));
    for j in 0..LIMBS - 1 {
        y[j] = _mm256_add_epi64(y[j], _mm256_mul_epu32(times, word(negative_r[j])));
    }
    let top = _mm256_mul_epu32(times, word(MULTIPLES[1][LIMBS - 1] + 1));
    y[LIMBS - 1] = _mm256_sub_epi64(y[LIMBS - 1], top);
    y = carry(y);
    let too_much = _mm256_cmpgt_epi64(word(0), y[LIMBS - 1]);
    for j in 0..LIMBS {
        y[j] = _mm256_add_epi64(y[j], _mm256_and_si256(word(MULTIPLES[1][j]), too_much));
    }
    carry(y)
}

/// Stores the residues below r.
#[target_feature(enable = "avx2")]
#[inline(never)]
fn store(x: &Scalars, elements: &mut [Fr; 8]) {
    let start = std::ptr::from_mut(elements).cast::<__m256i>();
    for half in 0..2 {
        let l = canonical(&x.0[half]);
        let words = [
            or_3(l[0], _mm256_slli_epi64::<29>(l[1]), _mm256_slli_epi64::<58>(l[2])),
            or_3(_mm256_srli_epi64::<6>(l[2]), _mm256_slli_epi64::<23>(l[3]), _mm256_slli_epi64::<52>(l[4])),
            or_3(_mm256_srli_epi64::<12>(l[4]), _mm256_slli_epi64::<17>(l[5]), _mm256_slli_epi64::<46>(l[6])),
            or_3(_mm256_srli_epi64::<18>(l[6]), _mm256_slli_epi64::<11>(l[7]), _mm256_slli_epi64::<40>(l[8])),
        ];
        let rows = transpose_4(words);
        for i in 0..4 {
            // SAFETY: the elements are eight times 32 bytes, and the stores want no alignment.
            unsafe { _mm256_storeu_si256(start.add(4 * half + i), rows[i]) };
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn or_3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_or_si256(a, b), c)
}

/// Limbs of the values 2^`SHIFT` times the elements' words, which are below 2^(261 - `SHIFT`). `SHIFT` is 0 or 5.
#[target_feature(enable = "avx2")]
#[inline(never)]
fn load<const SHIFT: i32>(elements: &[Fr; 8]) -> Scalars {
    let start = std::ptr::from_ref(elements).cast::<__m256i>();
    // SAFETY: the elements are eight times 32 bytes, and the loads want no alignment.
    let element = |i: usize| unsafe { _mm256_loadu_si256(start.add(i)) };
    let mask = word(LOW << 32 | LOW);
    let mut out = Scalars([Half([word(0); WORDS]); 2]);
    for half in 0..2 {
        let first = 4 * half;
        let [w0, w1, w2, w3] =
            transpose_4([element(first), element(first + 1), element(first + 2), element(first + 3)]);
        // Limb j begins at bit 29 j - SHIFT: in the low half of a word the first one, in the high half the second one.
        let (limb_0, limb_5, limb_1, limb_3, limb_7, limb_8) = if SHIFT == 0 {
            let (limb_0, limb_5) = (w0, _mm256_slli_epi64::<15>(w2));
            let (limb_1, limb_3) = (_mm256_srli_epi64::<29>(w0), _mm256_srli_epi64::<23>(w1));
            (limb_0, limb_5, limb_1, limb_3, _mm256_slli_epi64::<21>(w3), _mm256_srli_epi64::<8>(w3))
        } else {
            let (limb_0, limb_5) = (_mm256_slli_epi64::<5>(w0), _mm256_slli_epi64::<20>(w2));
            let (limb_1, limb_3) = (_mm256_srli_epi64::<24>(w0), _mm256_srli_epi64::<18>(w1));
            (limb_0, limb_5, limb_1, limb_3, _mm256_slli_epi64::<26>(w3), _mm256_srli_epi64::<3>(w3))
        };
        let (limb_2, limb_4, limb_6) = if SHIFT == 0 {
            (
                _mm256_or_si256(_mm256_srli_epi64::<58>(w0), _mm256_slli_epi64::<6>(w1)),
                _mm256_or_si256(_mm256_srli_epi64::<52>(w1), _mm256_slli_epi64::<12>(w2)),
                _mm256_or_si256(_mm256_srli_epi64::<14>(w2), _mm256_slli_epi64::<50>(w3)),
            )
        } else {
            (
                _mm256_or_si256(_mm256_srli_epi64::<53>(w0), _mm256_slli_epi64::<11>(w1)),
                _mm256_or_si256(_mm256_srli_epi64::<47>(w1), _mm256_slli_epi64::<17>(w2)),
                _mm256_or_si256(_mm256_srli_epi64::<9>(w2), _mm256_slli_epi64::<55>(w3)),
            )
        };
        let pairs = [(limb_0, limb_5), (limb_1, limb_6), (limb_2, limb_7), (limb_3, limb_8), (limb_4, word(0))];
        for (j, (low, high)) in pairs.into_iter().enumerate() {
            out.0[half].0[j] = _mm256_and_si256(_mm256_blend_epi32::<0xaa>(low, high), mask);
        }
    }
    out
}

#[target_feature(enable = "avx2")]
#[inline(never)]
fn transpose(group: &[Scalars], out: &mut [Scalars; 8]) {
    for j in 0..WORDS {
        for half in 0..2 {
            for first in [0, 4] {
                let row = |i: usize| group[first + i].0[half].0[j];
                let columns = transpose_4([row(0), row(1), row(2), row(3)]);
                for i in 0..4 {
                    out[4 * half + i].0[first / 4].0[j] = columns[i];
                }
            }
        }
    }
}

/// Even and odd lanes of both.
#[target_feature(enable = "avx2")]
#[inline]
fn deinterleave(a: &Scalars, b: &Scalars) -> [Scalars; 2] {
    let mut out = [*a, *b];
    for (half, x) in [a, b].into_iter().enumerate() {
        for j in 0..WORDS {
            let (low, high) = (x.0[0].0[j], x.0[1].0[j]);
            out[0].0[half].0[j] = _mm256_permute4x64_epi64::<0xd8>(_mm256_unpacklo_epi64(low, high));
            out[1].0[half].0[j] = _mm256_permute4x64_epi64::<0xd8>(_mm256_unpackhi_epi64(low, high));
        }
    }
    out
}

/// Below which values of transforms stay where they are subtracted: products, values of backward transforms, sums of two of these.
const PRODUCTS: [u64; WORDS] = bound_words(2, 2);
const BACKWARD: [u64; WORDS] = bound_words(Avx2::BACKWARD, 2);
const BACKWARD_SUMS: [u64; WORDS] = bound_words(2 * Avx2::BACKWARD, 3);

#[target_feature(enable = "avx2")]
#[inline]
fn forward_2(a: &mut Half, b: &mut Half, t: &HalfFactor) {
    let product = multiply(b, t);
    *b = normalise(&minus(a, &product, &PRODUCTS));
    *a = normalise(&plus(a, &product));
}

#[target_feature(enable = "avx2")]
#[inline]
fn backward_2(a: &mut Half, b: &mut Half, t: &HalfFactor) {
    let difference = minus(a, b, &BACKWARD);
    *a = reduce(&plus(a, b));
    *b = multiply(&difference, t);
}

#[target_feature(enable = "avx2")]
#[inline(never)]
fn forward_4([a, b, c, d]: [&mut Half; 4], t: &HalfFactor, [s0, s1]: [&HalfFactor; 2]) {
    let td = multiply(d, t);
    let (b1, d1) = (plus(b, &td), minus(b, &td, &PRODUCTS));
    let tc = multiply(c, t);
    let (a1, c1) = (plus(a, &tc), minus(a, &tc, &PRODUCTS));
    let product = multiply(&b1, s0);
    *a = normalise(&plus(&a1, &product));
    *b = normalise(&minus(&a1, &product, &PRODUCTS));
    let product = multiply(&d1, s1);
    *c = normalise(&plus(&c1, &product));
    *d = normalise(&minus(&c1, &product, &PRODUCTS));
}

#[target_feature(enable = "avx2")]
#[inline(never)]
fn backward_4([a, b, c, d]: [&mut Half; 4], t: &HalfFactor, [s0, s1]: [&HalfFactor; 2]) {
    let (b1, d1) = (minus(a, b, &BACKWARD), minus(c, d, &BACKWARD));
    let (a1, c1) = (plus(a, b), plus(c, d));
    *a = reduce(&plus(&a1, &c1));
    let c2 = normalise(&minus(&a1, &c1, &BACKWARD_SUMS));
    *c = multiply(&c2, t);
    let (b2, d2) = (multiply(&b1, s0), multiply(&d1, s1));
    *b = normalise(&plus(&b2, &d2));
    *d = multiply(&minus(&b2, &d2, &BACKWARD), t);
}

/// Calls a function of this module with both halves of what is given.
macro_rules! halves {
    ($half:ident => $body:expr) => {
        for $half in 0..2 {
            // SAFETY: the instruction set that it is compiled with is there.
            unsafe { $body }
        }
    };
}

/// The same, for halves of a result.
macro_rules! from_halves {
    ($kind:ident, $half:ident => $body:expr) => {
        // SAFETY: the instruction set that they are compiled with is there.
        unsafe {
            $kind([
                {
                    const $half: usize = 0;
                    $body
                },
                {
                    const $half: usize = 1;
                    $body
                },
            ])
        }
    };
}

impl ScalarLanes for Avx2 {
    type Scalars = Scalars;
    type Factor = Factor;
    type Bound = [u64; WORDS];
    const BACKWARD: usize = UNIT + 1;
    const REDUCED: usize = UNIT + 1;

    #[inline(always)]
    fn load(elements: &[Fr; 8]) -> Scalars {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { load::<0>(elements) }
    }
    #[inline(always)]
    fn load_scaled(elements: &[Fr; 8]) -> Scalars {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { load::<5>(elements) }
    }
    #[inline(always)]
    fn store_elements(x: &Scalars, elements: &mut [Fr; 8]) {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { store(x, elements) }
    }
    #[inline(always)]
    fn zeros() -> Scalars {
        from_halves!(Scalars, _HALF => splat([0; WORDS]))
    }
    #[inline(always)]
    fn bound_of_values(k: usize) -> Self::Bound {
        bound_words(k, 2)
    }
    #[inline(always)]
    fn bound_of_sums(k: usize) -> Self::Bound {
        bound_words(k, 3)
    }
    #[inline(always)]
    fn plus(a: &Scalars, b: &Scalars) -> Scalars {
        from_halves!(Scalars, HALF => plus(&a.0[HALF], &b.0[HALF]))
    }
    #[inline(always)]
    fn subtract(a: &Scalars, b: &Scalars, bound: &Self::Bound) -> Scalars {
        from_halves!(Scalars, HALF => minus(&a.0[HALF], &b.0[HALF], bound))
    }
    #[inline(always)]
    fn normalise_scalars(x: Scalars) -> Scalars {
        from_halves!(Scalars, HALF => normalise(&x.0[HALF]))
    }
    #[inline(always)]
    fn ready(x: Scalars) -> Scalars {
        x
    }
    #[inline(always)]
    fn reduce_scalars(x: Scalars) -> Scalars {
        from_halves!(Scalars, HALF => reduce(&x.0[HALF]))
    }
    #[inline(always)]
    fn products<const U: usize>(a: [&Scalars; U], b: [&Factor; U]) -> [Scalars; U] {
        let mut out = [*a[0]; U];
        for u in 0..U {
            halves!(half => out[u].0[half] = multiply(&a[u].0[half], &b[u].0[half]));
        }
        out
    }
    #[inline(always)]
    fn forward_2(a: &mut Scalars, b: &mut Scalars, t: &Factor) {
        halves!(half => forward_2(&mut a.0[half], &mut b.0[half], &t.0[half]));
    }
    #[inline(always)]
    fn backward_2(a: &mut Scalars, b: &mut Scalars, t: &Factor) {
        halves!(half => backward_2(&mut a.0[half], &mut b.0[half], &t.0[half]));
    }
    #[inline(always)]
    fn forward_4([a, b, c, d]: [&mut Scalars; 4], t: &Factor, [s0, s1]: [&Factor; 2]) {
        halves!(half => {
            let x = [&mut a.0[half], &mut b.0[half], &mut c.0[half], &mut d.0[half]];
            forward_4(x, &t.0[half], [&s0.0[half], &s1.0[half]]);
        });
    }
    #[inline(always)]
    fn backward_4([a, b, c, d]: [&mut Scalars; 4], t: &Factor, [s0, s1]: [&Factor; 2]) {
        halves!(half => {
            let x = [&mut a.0[half], &mut b.0[half], &mut c.0[half], &mut d.0[half]];
            backward_4(x, &t.0[half], [&s0.0[half], &s1.0[half]]);
        });
    }
    fn pack_factor(x: &Fr) -> [u64; WORDS] {
        let scaled = (0..5).fold(*x, |x, _| x.double());
        pack(&split(&scaled.to_montgomery()))
    }
    #[inline(always)]
    fn splat_factor(words: &[u64; WORDS]) -> Factor {
        from_halves!(Factor, _HALF => unpack(&splat(*words)))
    }
    #[inline(always)]
    fn load_factors(rows: &[Row; WORDS]) -> Scalars {
        let mut out = Self::zeros();
        for j in 0..WORDS {
            let row = Avx2::load(&rows[j]);
            (out.0[0].0[j], out.0[1].0[j]) = (row.0[0], row.0[1]);
        }
        out
    }
    #[inline(always)]
    fn factor(x: &Scalars) -> Factor {
        from_halves!(Factor, HALF => unpack(&x.0[HALF]))
    }
    #[inline(always)]
    fn deinterleave_scalars(a: &Scalars, b: &Scalars) -> [Scalars; 2] {
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { deinterleave(a, b) }
    }
    #[inline(always)]
    fn transpose_scalars(group: &[Scalars]) -> [Scalars; 8] {
        let mut out = [Self::zeros(); 8];
        // SAFETY: the instruction set that it is compiled with is there.
        unsafe { transpose(group, &mut out) };
        out
    }
}
