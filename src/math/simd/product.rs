//! Montgomery products of eight elements at once, radix 2^52; bounds in the module's documentation.

use super::lanes::{Lanes52, Row};
use crate::math::fp::MODULUS;
use crate::math::limbs;

const LOW: u64 = (1 << 52) - 1;

/// 384 bits as eight limbs of 52 bits.
#[inline(always)]
pub const fn split(w: &[u64; 6]) -> [u64; 8] {
    [
        w[0] & LOW,
        (w[0] >> 52 | w[1] << 12) & LOW,
        (w[1] >> 40 | w[2] << 24) & LOW,
        (w[2] >> 28 | w[3] << 36) & LOW,
        (w[3] >> 16 | w[4] << 48) & LOW,
        (w[4] >> 4) & LOW,
        (w[4] >> 56 | w[5] << 8) & LOW,
        w[5] >> 44,
    ]
}

/// Eight limbs of 52 bits as 384 bits; the value must be below 2^384.
pub const fn join(l: &[u64; 8]) -> [u64; 6] {
    [
        l[0] | l[1] << 52,
        l[1] >> 12 | l[2] << 40,
        l[2] >> 24 | l[3] << 28,
        l[3] >> 36 | l[4] << 16,
        l[4] >> 48 | l[5] << 4 | l[6] << 56,
        l[6] >> 8 | l[7] << 44,
    ]
}

/// k p for k = 0 to 8, in limbs of 52 bits.
pub const MULTIPLES: [[u64; 8]; 9] = limbs::multiples(&split(&MODULUS), 52);

/// Limb j of k p as word k of row j, for k = 0 to 7.
static BY_LIMB: [Row; 8] = {
    let mut out = [Row([0; 8]); 8];
    let mut i = 0;
    while i < 64 {
        out[i / 8].0[i % 8] = MULTIPLES[i % 8][i / 8];
        i += 1;
    }
    out
};

/// Limb j of p in every word of row j.
static MODULUS_ROWS: [Row; 8] = {
    let mut out = [Row([0; 8]); 8];
    let mut j = 0;
    while j < 8 {
        out[j] = Row([MULTIPLES[1][j]; 8]);
        j += 1;
    }
    out
};

/// -1 / p mod 2^52.
const INVERSE: u64 = limbs::negated_inverse(MODULUS[0]) & LOW;

/// 2^52 / (top limb of p + 1): the high product with it takes a top limb to a quotient by p, rounded down.
const TOP_RECIPROCAL: u64 = (1 << 52) / (MULTIPLES[1][7] + 1);

/// k p in every lane.
#[inline(always)]
pub fn multiple<L: Lanes52>(k: usize) -> [L; 8] {
    let mut out = [L::splat(0); 8];
    for j in 0..8 {
        out[j] = L::splat(MULTIPLES[k][j]);
    }
    out
}

/// Takes the carries: limbs of 52 bits of the same value, which may not be negative.
#[inline(always)]
pub fn normalise<L: Lanes52>(mut x: [L; 8]) -> [L; 8] {
    let low = L::splat(LOW);
    for j in 0..7 {
        x[j + 1] = x[j + 1].add(x[j].carry());
        x[j] = x[j].and(low);
    }
    x[7].assert_bits(52);
    x
}

/// A value from p (its top limb clearly positive) up to 8 p, limbs not normalised and possibly negative, less so many p
/// that it is below 1.001 p.
#[inline(always)]
pub fn reduce<L: Lanes52>(mut x: [L; 8]) -> [L; 8] {
    // Lower limbs change the top one by less than 8 either way.
    let quotient = L::splat(0).mul_high(x[7].sub(L::splat(8)), L::splat(TOP_RECIPROCAL));
    for j in 0..8 {
        x[j] = x[j].sub(L::load(&BY_LIMB[j]).lookup(quotient));
    }
    normalise(x)
}

/// The body eight times, with the constant `$i` from 0 to 7: columns are variables to the compiler only if their indices are
/// constants, and a loop of this size is not unrolled by itself.
macro_rules! eight_times {
    ($i:ident => $body:expr) => {
        eight_times!($i => $body; 0, 1, 2, 3, 4, 5, 6, 7)
    };
    ($i:ident => $body:expr; $($value:literal),+) => {
        $({
            const $i: usize = $value;
            $body
        })+
    };
}

/// Adds limb `i` of every a times its b to the columns from `i` on.
#[inline(always)]
fn add_row<L: Lanes52, const T: usize>(columns: &mut [L; 17], a: &[&[L; 8]; T], b: &[&[L; 8]; T], i: usize) {
    for t in 0..T {
        a[t][i].assert_bits(52);
        b[t][i].assert_bits(52);
        let factor = L::opaque(b[t]);
        for j in 0..8 {
            columns[i + j] = columns[i + j].mul_low(a[t][i], factor[j]);
        }
        let factor = L::opaque(b[t]);
        for j in 0..8 {
            columns[i + j + 1] = columns[i + j + 1].mul_high(a[t][i], factor[j]);
        }
    }
}

/// `U` sums of `T` products each, divided by 2^416, at once so that their chains of dependences overlap: a round's q waits for the
/// round before, and one sum alone would leave the multipliers idle half of the time.
#[inline(always)]
fn sums<L: Lanes52, const U: usize, const T: usize>(a: [[&[L; 8]; T]; U], b: [[&[L; 8]; T]; U]) -> [[L; 8]; U] {
    let zero = L::splat(0);
    let rows = L::opaque(&MODULUS_ROWS);
    let mut p = [zero; 8];
    for j in 0..8 {
        p[j] = L::load(&rows[j]);
    }
    let inverse = L::splat(INVERSE);
    let mut columns = [[zero; 17]; U];
    eight_times!(I => for u in 0..U {
        add_row(&mut columns[u], &a[u], &b[u], I);
        let columns = &mut columns[u];
        let q = zero.mul_low(columns[I], inverse);
        // The carry and the high half meet first: so the next q waits for less.
        let carry = columns[I].mul_low(q, p[0]).carry().mul_high(q, p[0]);
        columns[I + 1] = columns[I + 1].mul_low(q, p[1]).add(carry);
        for j in 2..8 {
            columns[I + j] = columns[I + j].mul_low(q, p[j]);
        }
        for j in 1..8 {
            columns[I + j + 1] = columns[I + j + 1].mul_high(q, p[j]);
        }
    });
    let mut out = [[zero; 8]; U];
    for u in 0..U {
        for j in 0..8 {
            out[u][j] = columns[u][8 + j];
        }
        out[u] = normalise(out[u]);
    }
    out
}

/// Two products over the base field.
#[inline(always)]
pub fn fp_mul_pair<L: Lanes52>(out: [&mut [L; 8]; 2], a: [&[L; 8]; 2], b: [&[L; 8]; 2]) {
    [*out[0], *out[1]] = sums([[a[0]], [a[1]]], [[b[0]], [b[1]]]);
}

/// (a0 b0 - a1 b1, a0 b1 + a1 b0). Schoolbook: with one reduction a component, Karatsuba's method trades 112 of 784
/// multiply-adds for as many additions, which want the same execution ports.
#[inline(always)]
pub fn fp2_mul<L: Lanes52>(out: [&mut [L; 8]; 2], a: [&[L; 8]; 2], b: [&[L; 8]; 2]) {
    let mut negated = multiple::<L>(8);
    for j in 0..8 {
        negated[j] = negated[j].sub(b[1][j]);
    }
    let negated = normalise(negated);
    [*out[0], *out[1]] = sums([a, a], [[b[0], &negated], [b[1], b[0]]]);
}

/// ((a0 + a1) (a0 - a1), 2 a0 a1).
#[inline(always)]
pub fn fp2_square<L: Lanes52>(out: [&mut [L; 8]; 2], a: [&[L; 8]; 2]) {
    let (mut sum, mut difference, mut double) = (*a[0], multiple::<L>(8), *a[0]);
    for j in 0..8 {
        sum[j] = sum[j].add(a[1][j]);
        difference[j] = difference[j].add(a[0][j]).sub(a[1][j]);
        double[j] = double[j].add(a[0][j]);
    }
    let (sum, difference, double) = (normalise(sum), normalise(difference), normalise(double));
    [*out[0], *out[1]] = sums([[&sum], [&double]], [[&difference], [a[1]]]);
}
