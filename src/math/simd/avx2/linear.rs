//! Sums, differences and rearrangements of elements, one register of each limb at a time, since fourteen fill the registers.
//!
//! Every function is called where its instruction set has been found; see [`super`].

use std::arch::x86_64::*;

use super::{Avx2, LIMBS, LOW, MULTIPLES, bound_word};
use crate::math::simd::lanes::Row;

/// Limb j of k p for k = 0 to 7, as word k of row j.
#[repr(C, align(64))]
struct ByLimb([[u32; 8]; LIMBS]);

static BY_LIMB: ByLimb = {
    let mut out = [[0; 8]; LIMBS];
    let mut i = 0;
    while i < 8 * LIMBS {
        out[i / 8][i % 8] = MULTIPLES[i % 8][i / 8] as u32;
        i += 1;
    }
    ByLimb(out)
};

/// 2^44 / (top limb of p + 1): the product with it, shifted, takes a top limb to a quotient by p, rounded down.
const TOP_RECIPROCAL: u64 = (1 << 44) / (MULTIPLES[1][LIMBS - 1] + 1);

/// One register of every limb.
type Half = [__m256i; LIMBS];

/// The word in every lane.
#[target_feature(enable = "avx2")]
#[inline]
pub fn word(word: u64) -> __m256i {
    _mm256_set1_epi64x(word.cast_signed())
}

/// Writes a half, taking the carries.
#[target_feature(enable = "avx2")]
#[inline]
pub fn normalise_half(out: &mut [Avx2; LIMBS], half: usize, mut x: Half) {
    let low = word(LOW);
    for j in 0..LIMBS - 1 {
        x[j + 1] = _mm256_add_epi64(x[j + 1], _mm256_srli_epi64::<28>(x[j]));
        out[j].0[half] = _mm256_and_si256(x[j], low);
    }
    out[LIMBS - 1].0[half] = x[LIMBS - 1];
}

/// Writes a half, a sum with a bound, reduced.
#[target_feature(enable = "avx2")]
#[inline]
pub fn reduce_half(out: &mut [Avx2; LIMBS], half: usize, mut x: Half) {
    // The columns of a bound carry at least 4, and at most 12, into the top one, which lent 8.
    let top = _mm256_mul_epu32(_mm256_add_epi64(x[LIMBS - 1], word(4)), word(TOP_RECIPROCAL));
    let quotient = _mm256_srli_epi64::<44>(top);
    for j in 0..LIMBS {
        // SAFETY: a row is 32 bytes, aligned to 32. Words of the quotient are below 8, and their high halves are zero, where
        // the row of multiples has zero.
        let row = unsafe { _mm256_load_si256(std::ptr::from_ref(&BY_LIMB.0[j]).cast()) };
        x[j] = _mm256_sub_epi64(x[j], _mm256_permutevar8x32_epi32(row, quotient));
    }
    normalise_half(out, half, x);
}

/// A half of `a`, negated where the lanes are set: then as 2 p less it, in columns.
#[target_feature(enable = "avx2")]
#[inline]
fn signed_half(a: &[Avx2; LIMBS], lanes: __m256i, half: usize) -> Half {
    let mut x = [lanes; LIMBS];
    for j in 0..LIMBS {
        let a = a[j].0[half];
        x[j] = _mm256_blendv_epi8(a, _mm256_sub_epi64(word(bound_word(2, j)), a), lanes);
    }
    x
}

#[target_feature(enable = "avx2")]
#[inline(never)]
pub fn signed_difference(a: &[Avx2; LIMBS], negative: u8, b: &[Avx2; LIMBS]) -> [Avx2; LIMBS] {
    let (mut out, lanes) = (*a, Avx2::lanes_of(negative));
    for half in 0..2 {
        let mut x = signed_half(a, lanes.0[half], half);
        for j in 0..LIMBS {
            x[j] = _mm256_add_epi64(_mm256_sub_epi64(x[j], b[j].0[half]), word(bound_word(2, j)));
        }
        normalise_half(&mut out, half, x);
    }
    out
}

#[target_feature(enable = "avx2")]
#[inline(never)]
pub fn negate_where(a: &[Avx2; LIMBS], negative: u8) -> [Avx2; LIMBS] {
    let (mut out, lanes) = (*a, Avx2::lanes_of(negative));
    for half in 0..2 {
        let x = signed_half(a, lanes.0[half], half);
        normalise_half(&mut out, half, x);
    }
    out
}

#[target_feature(enable = "avx2")]
#[inline(never)]
pub fn third_abscissa(x: &[Avx2; LIMBS], a: &[Avx2; LIMBS], d: &[Avx2; LIMBS]) -> [Avx2; LIMBS] {
    let mut out = *x;
    for half in 0..2 {
        let mut columns = [word(0); LIMBS];
        for j in 0..LIMBS {
            let less = _mm256_add_epi64(_mm256_add_epi64(a[j].0[half], a[j].0[half]), d[j].0[half]);
            columns[j] = _mm256_sub_epi64(_mm256_add_epi64(x[j].0[half], word(bound_word(7, j))), less);
        }
        reduce_half(&mut out, half, columns);
    }
    out
}

#[target_feature(enable = "avx2")]
#[inline(never)]
pub fn minus(a: &[Avx2; LIMBS], b: &[Avx2; LIMBS]) -> [Avx2; LIMBS] {
    let mut out = *a;
    for half in 0..2 {
        let mut columns = [word(0); LIMBS];
        for j in 0..LIMBS {
            columns[j] = _mm256_sub_epi64(_mm256_add_epi64(a[j].0[half], word(bound_word(3, j))), b[j].0[half]);
        }
        reduce_half(&mut out, half, columns);
    }
    out
}

/// Columns of four registers: lane i of register j becomes lane j of register i.
#[target_feature(enable = "avx2")]
#[inline]
pub fn transpose_4(rows: [__m256i; 4]) -> [__m256i; 4] {
    let (e0, o0) = (_mm256_unpacklo_epi64(rows[0], rows[1]), _mm256_unpackhi_epi64(rows[0], rows[1]));
    let (e2, o2) = (_mm256_unpacklo_epi64(rows[2], rows[3]), _mm256_unpackhi_epi64(rows[2], rows[3]));
    [
        _mm256_permute2x128_si256::<0x20>(e0, e2),
        _mm256_permute2x128_si256::<0x20>(o0, o2),
        _mm256_permute2x128_si256::<0x31>(e0, e2),
        _mm256_permute2x128_si256::<0x31>(o0, o2),
    ]
}

#[target_feature(enable = "avx2")]
#[inline(never)]
pub fn gather(rows: [&Row; 8]) -> [Avx2; LIMBS] {
    // SAFETY: a row is 64 bytes, aligned to 64.
    let load =
        |i: usize, half: usize| unsafe { _mm256_load_si256(std::ptr::from_ref(rows[i]).cast::<__m256i>().add(half)) };
    let low = Avx2::word(u64::from(u32::MAX));
    let mut out = [low; LIMBS];
    for half in 0..2 {
        let first = transpose_4([load(0, half), load(1, half), load(2, half), load(3, half)]);
        let second = transpose_4([load(4, half), load(5, half), load(6, half), load(7, half)]);
        for j in 0..4 - half {
            let word = Avx2([first[j], second[j]]);
            out[8 * half + 2 * j] = word.and(low);
            out[8 * half + 2 * j + 1] = word.right::<32>();
        }
    }
    out
}

#[target_feature(enable = "avx2")]
#[inline(never)]
pub fn scatter(limbs: &[Avx2; LIMBS]) -> [Row; 8] {
    let mut rows = [Row([0; 8]); 8];
    for half in 0..2 {
        let mut words = [Avx2::word(0); 4];
        for j in 0..4 - half {
            words[j] = limbs[8 * half + 2 * j].plus(limbs[8 * half + 2 * j + 1].left::<32>());
        }
        for group in 0..2 {
            let columns = transpose_4([words[0].0[group], words[1].0[group], words[2].0[group], words[3].0[group]]);
            for i in 0..4 {
                let start = std::ptr::from_mut(&mut rows[4 * group + i]).cast::<__m256i>();
                // SAFETY: a row is 64 bytes, aligned to 64.
                unsafe { _mm256_store_si256(start.add(half), columns[i]) };
            }
        }
    }
    rows
}
