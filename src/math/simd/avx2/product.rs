//! Montgomery products of four elements at once, radix 2^28, with the multiplication of 32 bits (VPMULUDQ); bounds in the
//! documentation of [`crate::math::simd`].
//!
//! Fourteen columns, the limb of one factor and the product on its way just fill the sixteen registers, if all else comes from
//! memory; a compiler given intrinsics orders them so that a third of them spills. So a row is one block of assembly.

use std::arch::asm;
use std::arch::x86_64::*;

use super::linear::normalise_half;
use super::{Avx2, LIMBS, LOW, MULTIPLES};
use crate::math::fp::MODULUS;
use crate::math::limbs;

/// Words that rows read, each in all lanes: the limbs of p, then -1 / p mod 2^28, then 2^28 - 1.
#[repr(C, align(64))]
struct Constants([[u64; 4]; LIMBS + 2]);

static CONSTANTS: Constants = {
    let mut out = [[0; 4]; LIMBS + 2];
    let mut j = 0;
    while j < LIMBS {
        out[j] = [MULTIPLES[1][j]; 4];
        j += 1;
    }
    out[LIMBS] = [limbs::negated_inverse(MODULUS[0]) & LOW; 4];
    out[LIMBS + 1] = [LOW; 4];
    Constants(out)
};

/// The body fourteen times, with the constant `$i` from 0 to 13.
macro_rules! fourteen_times {
    ($i:ident => $body:expr) => {
        fourteen_times!($i => $body; 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
    };
    ($i:ident => $body:expr; $($value:literal),+) => {
        $({
            const $i: usize = $value;
            $body
        })+
    };
}

/// Assembly over the columns `$t`, the first one (of the present row) being `$t[$i]`; `{f}` and `{w}` are free registers.
macro_rules! on_columns {
    ($t:ident, $i:ident, [$($line:expr),+ $(,)?], $($operand:tt)+) => {
        asm!($($line),+,
            t0 = inout(ymm_reg) $t[$i % 14], t1 = inout(ymm_reg) $t[($i + 1) % 14],
            t2 = inout(ymm_reg) $t[($i + 2) % 14], t3 = inout(ymm_reg) $t[($i + 3) % 14],
            t4 = inout(ymm_reg) $t[($i + 4) % 14], t5 = inout(ymm_reg) $t[($i + 5) % 14],
            t6 = inout(ymm_reg) $t[($i + 6) % 14], t7 = inout(ymm_reg) $t[($i + 7) % 14],
            t8 = inout(ymm_reg) $t[($i + 8) % 14], t9 = inout(ymm_reg) $t[($i + 9) % 14],
            t10 = inout(ymm_reg) $t[($i + 10) % 14], t11 = inout(ymm_reg) $t[($i + 11) % 14],
            t12 = inout(ymm_reg) $t[($i + 12) % 14], t13 = inout(ymm_reg) $t[($i + 13) % 14],
            f = out(ymm_reg) _, w = out(ymm_reg) _,
            $($operand)+,
            options(nostack, readonly, preserves_flags))
    };
}

/// Adds `$b` times limb `$i` of `$a` to the columns. Limbs are 64 bytes apart.
macro_rules! add_row {
    ($t:ident, $i:ident, $a:expr, $b:expr) => {
        on_columns!($t, $i, [
            "vmovdqa {f}, [{a} + {offset}]",
            "vpmuludq {w}, {f}, [{b}]", "vpaddq {t0}, {t0}, {w}",
            "vpmuludq {w}, {f}, [{b} + 64]", "vpaddq {t1}, {t1}, {w}",
            "vpmuludq {w}, {f}, [{b} + 128]", "vpaddq {t2}, {t2}, {w}",
            "vpmuludq {w}, {f}, [{b} + 192]", "vpaddq {t3}, {t3}, {w}",
            "vpmuludq {w}, {f}, [{b} + 256]", "vpaddq {t4}, {t4}, {w}",
            "vpmuludq {w}, {f}, [{b} + 320]", "vpaddq {t5}, {t5}, {w}",
            "vpmuludq {w}, {f}, [{b} + 384]", "vpaddq {t6}, {t6}, {w}",
            "vpmuludq {w}, {f}, [{b} + 448]", "vpaddq {t7}, {t7}, {w}",
            "vpmuludq {w}, {f}, [{b} + 512]", "vpaddq {t8}, {t8}, {w}",
            "vpmuludq {w}, {f}, [{b} + 576]", "vpaddq {t9}, {t9}, {w}",
            "vpmuludq {w}, {f}, [{b} + 640]", "vpaddq {t10}, {t10}, {w}",
            "vpmuludq {w}, {f}, [{b} + 704]", "vpaddq {t11}, {t11}, {w}",
            "vpmuludq {w}, {f}, [{b} + 768]", "vpaddq {t12}, {t12}, {w}",
            "vpmuludq {w}, {f}, [{b} + 832]", "vpaddq {t13}, {t13}, {w}",
        ], a = in(reg) $a, b = in(reg) $b, offset = const 64 * $i)
    };
}

/// Adds the multiple of p that makes the first column's low bits zero, and moves its carry into the next one; then the first
/// column is zero and stands for the last one of the next row.
macro_rules! reduce_row {
    ($t:ident, $i:ident, $p:expr) => {
        on_columns!($t, $i, [
            "vpmuludq {f}, {t0}, [{p} + 448]", "vpand {f}, {f}, [{p} + 480]",
            "vpmuludq {w}, {f}, [{p}]", "vpaddq {t0}, {t0}, {w}",
            "vpmuludq {w}, {f}, [{p} + 32]", "vpaddq {t1}, {t1}, {w}",
            "vpsrlq {t0}, {t0}, 28", "vpaddq {t1}, {t1}, {t0}",
            "vpmuludq {w}, {f}, [{p} + 64]", "vpaddq {t2}, {t2}, {w}",
            "vpmuludq {w}, {f}, [{p} + 96]", "vpaddq {t3}, {t3}, {w}",
            "vpmuludq {w}, {f}, [{p} + 128]", "vpaddq {t4}, {t4}, {w}",
            "vpmuludq {w}, {f}, [{p} + 160]", "vpaddq {t5}, {t5}, {w}",
            "vpmuludq {w}, {f}, [{p} + 192]", "vpaddq {t6}, {t6}, {w}",
            "vpmuludq {w}, {f}, [{p} + 224]", "vpaddq {t7}, {t7}, {w}",
            "vpmuludq {w}, {f}, [{p} + 256]", "vpaddq {t8}, {t8}, {w}",
            "vpmuludq {w}, {f}, [{p} + 288]", "vpaddq {t9}, {t9}, {w}",
            "vpmuludq {w}, {f}, [{p} + 320]", "vpaddq {t10}, {t10}, {w}",
            "vpmuludq {w}, {f}, [{p} + 352]", "vpaddq {t11}, {t11}, {w}",
            "vpmuludq {w}, {f}, [{p} + 384]", "vpaddq {t12}, {t12}, {w}",
            "vpmuludq {w}, {f}, [{p} + 416]", "vpaddq {t13}, {t13}, {w}",
            "vpxor {t0}, {t0}, {t0}",
        ], p = in(reg) $p)
    };
}

/// The sum of `T` products of the lanes `4 half .. 4 half + 4`, divided by 2^392.
#[target_feature(enable = "avx2")]
#[inline]
fn sum_half<const T: usize>(out: &mut [Avx2; LIMBS], a: [&[Avx2; LIMBS]; T], b: [&[Avx2; LIMBS]; T], half: usize) {
    let start = |x: &[Avx2; LIMBS]| std::ptr::from_ref(&x[0].0[half]);
    let (a, b, p) = (a.map(start), b.map(start), &raw const CONSTANTS);
    let mut t = [_mm256_setzero_si256(); LIMBS];
    // SAFETY: the instruction set is there. Limb j of a factor's half lies 64 j bytes behind the start of the first one, which is
    // aligned to 32 bytes; the constants are as many as are read. Registers that are written are declared.
    unsafe {
        fourteen_times!(I => {
            for k in 0..T {
                add_row!(t, I, a[k], b[k]);
            }
            reduce_row!(t, I, p);
        });
    }
    // After fourteen rows column 0 is at 0 again.
    normalise_half(out, half, t);
}

/// Two products over the base field.
#[target_feature(enable = "avx2")]
#[inline(never)]
pub fn fp_mul_pair(out: [&mut [Avx2; LIMBS]; 2], a: [&[Avx2; LIMBS]; 2], b: [&[Avx2; LIMBS]; 2]) {
    for (out, (a, b)) in out.into_iter().zip(a.into_iter().zip(b)) {
        for half in 0..2 {
            sum_half(out, [a], [b], half);
        }
    }
}

/// (a0 b0 - a1 b1, a0 b1 + a1 b0).
#[target_feature(enable = "avx2")]
#[inline(never)]
pub fn fp2_mul(out: [&mut [Avx2; LIMBS]; 2], a: [&[Avx2; LIMBS]; 2], b: [&[Avx2; LIMBS]; 2]) {
    let negated = super::normalise(super::map(|j| Avx2::word(super::bound_word(8, j)).minus(b[1][j])));
    let [real, imaginary] = out;
    for half in 0..2 {
        sum_half(real, a, [b[0], &negated], half);
        sum_half(imaginary, a, [b[1], b[0]], half);
    }
}

/// ((a0 + a1) (a0 - a1), 2 a0 a1).
#[target_feature(enable = "avx2")]
#[inline(never)]
pub fn fp2_square(out: [&mut [Avx2; LIMBS]; 2], a: [&[Avx2; LIMBS]; 2]) {
    let sum = super::normalise(super::map(|j| a[0][j].plus(a[1][j])));
    let difference = super::normalise(super::map(|j| Avx2::word(super::bound_word(8, j)).plus(a[0][j]).minus(a[1][j])));
    let double = super::normalise(super::map(|j| a[0][j].plus(a[0][j])));
    let [real, imaginary] = out;
    for half in 0..2 {
        sum_half(real, [&sum], [&difference], half);
        sum_half(imaginary, [&double], [a[1]], half);
    }
}
