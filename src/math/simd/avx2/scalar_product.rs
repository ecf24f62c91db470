//! Montgomery products of the scalar field, four at once, radix 2^29; bounds in the documentation of [`crate::math::simd`].
//!
//! A row is one block of assembly, as for the base field in [`super::product`]. Since r = 1 modulo 2^32, -1 / r modulo 2^29 is -1, and
//! the lowest limb of r is one: a row finds its multiple of r, and the carry out of its first column, without products.

use std::arch::asm;
use std::arch::x86_64::*;

use super::scalar::{Half, HalfFactor, LIMBS, LOW, MULTIPLES};

/// Limbs of r from the second one on, each in all lanes.
#[repr(C, align(32))]
struct Modulus([[u64; 4]; LIMBS - 1]);

static MODULUS: Modulus = {
    assert!(MULTIPLES[1][0] == 1);
    let mut out = [[0; 4]; LIMBS - 1];
    let mut j = 1;
    while j < LIMBS {
        out[j - 1] = [MULTIPLES[1][j]; 4];
        j += 1;
    }
    Modulus(out)
};

/// A limb's product with word `$offset / 32` of b: what column `$column` starts with, or what is added to it.
macro_rules! term {
    (starts, $column:literal, $offset:literal) => {
        concat!("vpmuludq {t", $column, "}, {f}, [{b} + ", $offset, "]")
    };
    (adds, $column:literal, $offset:literal) => {
        concat!("vpmuludq {w}, {f}, [{b} + ", $offset, "]\nvpaddq {t", $column, "}, {t", $column, "}, {w}")
    };
}

/// Row `$i`: adds limb `$i` of a, which `$load` brings to `{f}`, times b to the columns `$t`, the first one being `$t[$i]`; row 0
/// `starts` them. Then adds the multiple of r that makes the first column's low bits zero; its carry goes to the next one, and
/// it stands for the last column of the next row, which starts there.
macro_rules! row {
    ($t:ident, $i:literal, $kind:ident, $direction:ident, $load:literal, $a:ident, $b:ident, $r:ident, $zero:ident, $low:ident) => {
        asm!(
            $load,
            term!($kind, 0, 0),
            "vpsubq {q}, {zero}, {t0}", "vpand {q}, {q}, {low}",
            "vpaddq {t0}, {t0}, {low}", "vpsrlq {t0}, {t0}, 29",
            term!($kind, 1, 32),
            "vpmuludq {w}, {q}, [{r}]", "vpaddq {t1}, {t1}, {t0}", "vpaddq {t1}, {t1}, {w}",
            term!($kind, 2, 64), "vpmuludq {w}, {q}, [{r} + 32]", "vpaddq {t2}, {t2}, {w}",
            term!($kind, 3, 96), "vpmuludq {w}, {q}, [{r} + 64]", "vpaddq {t3}, {t3}, {w}",
            term!($kind, 4, 128), "vpmuludq {w}, {q}, [{r} + 96]", "vpaddq {t4}, {t4}, {w}",
            term!($kind, 5, 160), "vpmuludq {w}, {q}, [{r} + 128]", "vpaddq {t5}, {t5}, {w}",
            term!($kind, 6, 192), "vpmuludq {w}, {q}, [{r} + 160]", "vpaddq {t6}, {t6}, {w}",
            term!($kind, 7, 224), "vpmuludq {w}, {q}, [{r} + 192]", "vpaddq {t7}, {t7}, {w}",
            term!(starts, 8, 256), "vpmuludq {w}, {q}, [{r} + 224]", "vpaddq {t8}, {t8}, {w}",
            t0 = $direction(ymm_reg) $t[$i % 9], t1 = $direction(ymm_reg) $t[($i + 1) % 9],
            t2 = $direction(ymm_reg) $t[($i + 2) % 9], t3 = $direction(ymm_reg) $t[($i + 3) % 9],
            t4 = $direction(ymm_reg) $t[($i + 4) % 9], t5 = $direction(ymm_reg) $t[($i + 5) % 9],
            t6 = $direction(ymm_reg) $t[($i + 6) % 9], t7 = $direction(ymm_reg) $t[($i + 7) % 9],
            t8 = out(ymm_reg) $t[($i + 8) % 9],
            f = out(ymm_reg) _, w = out(ymm_reg) _, q = out(ymm_reg) _,
            a = in(reg) $a, b = in(reg) $b, r = in(reg) $r, zero = in(ymm_reg) $zero, low = in(ymm_reg) $low,
            options(nostack, readonly, preserves_flags)
        )
    };
}

/// The Montgomery product of four values and four factors, normalised.
#[target_feature(enable = "avx2")]
#[inline]
pub fn multiply(a: &Half, b: &HalfFactor) -> Half {
    let (zero, low) = (_mm256_setzero_si256(), _mm256_set1_epi64x(LOW.cast_signed()));
    let mut t = [zero; LIMBS];
    let (a, b, r) = (&raw const a.0, &raw const b.0, &raw const MODULUS);
    // SAFETY: the instruction set is there. Words of the factors lie 32 bytes apart, aligned to 32 bytes; they and the constants are
    // as many as are read. Registers that are written are declared.
    unsafe {
        row!(t, 0, starts, out, "vmovdqa {f}, [{a}]", a, b, r, zero, low);
        row!(t, 1, adds, inout, "vmovdqa {f}, [{a} + 32]", a, b, r, zero, low);
        row!(t, 2, adds, inout, "vmovdqa {f}, [{a} + 64]", a, b, r, zero, low);
        row!(t, 3, adds, inout, "vmovdqa {f}, [{a} + 96]", a, b, r, zero, low);
        row!(t, 4, adds, inout, "vmovdqa {f}, [{a} + 128]", a, b, r, zero, low);
        row!(t, 5, adds, inout, "vmovshdup {f}, [{a}]", a, b, r, zero, low);
        row!(t, 6, adds, inout, "vmovshdup {f}, [{a} + 32]", a, b, r, zero, low);
        row!(t, 7, adds, inout, "vmovshdup {f}, [{a} + 64]", a, b, r, zero, low);
        row!(t, 8, adds, inout, "vmovshdup {f}, [{a} + 96]", a, b, r, zero, low);
    }
    // After nine rows column 0 is at 0 again; the last one has only the carry.
    t[LIMBS - 1] = zero;
    for j in 0..LIMBS - 1 {
        t[j + 1] = _mm256_add_epi64(t[j + 1], _mm256_srli_epi64::<29>(t[j]));
        t[j] = _mm256_and_si256(t[j], low);
    }
    let mut out = [t[4]; 5];
    for j in 0..4 {
        out[j] = _mm256_or_si256(t[j], _mm256_slli_epi64::<32>(t[j + 5]));
    }
    Half(out)
}
