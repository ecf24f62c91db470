//! Eight lanes in AVX-512 registers, with the 52-bit multiply-add instructions (IFMA).
//!
//! Values of this backend exist only inside [`Lanes::run`], which [`super::best_available`] guards: every `unsafe` block here
//! calls an intrinsic whose instruction set that has been found on this processor, on register values; loads and stores
//! go through references to 64 aligned bytes.

use std::arch::x86_64::*;

use zeroize::Zeroize;

use super::lanes::{Lanes, Lanes52, Row, Task, lanes_by_52};
use super::product;
use crate::math::fr::Fr;

/// Eight words in one register.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Ifma(__m512i);

impl Zeroize for Ifma {
    #[inline(always)]
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// Whether this processor (and the system, which must save the registers) has what the backend needs. Benches compile with
/// `--cfg without_ifma` to measure what machines without it get.
pub fn available() -> bool {
    cfg!(not(without_ifma))
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
}

/// Words of an index vector.
#[inline(always)]
fn index(words: [u64; 8]) -> __m512i {
    // SAFETY: the instruction set is there; 64 bytes are loaded from as many, whatever their alignment.
    unsafe { _mm512_loadu_si512(std::ptr::from_ref(&words).cast()) }
}

/// A call of an intrinsic on registers.
macro_rules! call {
    ($intrinsic:expr) => {
        // SAFETY: see the module's documentation: the instruction set is there; registers only.
        Self(unsafe { $intrinsic })
    };
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq,avx512vl,avx512bw")]
fn enabled<T: Task>(task: T) -> T::Output {
    task.run()
}

impl Lanes for Ifma {
    lanes_by_52!("avx512f,avx512ifma,avx512dq,avx512vl,avx512bw");
    #[inline]
    fn run<T: Task>(task: T) -> T::Output {
        assert!(available(), "this processor has no AVX-512 IFMA");
        // SAFETY: the instruction sets that it is compiled with are there.
        unsafe { enabled(task) }
    }
    #[inline(always)]
    fn splat(word: u64) -> Self {
        call!(_mm512_set1_epi64(word.cast_signed()))
    }
    #[inline(always)]
    fn store(self, row: &mut Row) {
        // SAFETY: the instruction set is there; a row is 64 bytes, aligned to 64.
        unsafe { _mm512_store_si512(std::ptr::from_mut(row).cast(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        call!(_mm512_add_epi64(self.0, other.0))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        call!(_mm512_sub_epi64(self.0, other.0))
    }
    #[inline(always)]
    fn equal(self, other: Self) -> u8 {
        // SAFETY: the instruction set is there; registers only.
        unsafe { _mm512_cmpeq_epi64_mask(self.0, other.0) }
    }
    #[inline(always)]
    fn select(mask: u8, a: Self, b: Self) -> Self {
        call!(_mm512_mask_blend_epi64(mask, b.0, a.0))
    }
}

impl Lanes52 for Ifma {
    #[inline(always)]
    fn load(row: &Row) -> Self {
        // SAFETY: the instruction set is there; a row is 64 bytes, aligned to 64.
        Self(unsafe { _mm512_load_si512(std::ptr::from_ref(row).cast()) })
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        call!(_mm512_and_si512(self.0, other.0))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        call!(_mm512_or_si512(self.0, other.0))
    }
    #[inline(always)]
    fn left<const N: u32>(self) -> Self {
        call!(_mm512_slli_epi64::<N>(self.0))
    }
    #[inline(always)]
    fn right<const N: u32>(self) -> Self {
        call!(_mm512_srli_epi64::<N>(self.0))
    }
    #[inline(always)]
    fn carry(self) -> Self {
        call!(_mm512_srai_epi64::<52>(self.0))
    }
    #[inline(always)]
    fn mul_low(self, a: Self, b: Self) -> Self {
        call!(_mm512_madd52lo_epu64(self.0, a.0, b.0))
    }
    #[inline(always)]
    fn mul_high(self, a: Self, b: Self) -> Self {
        call!(_mm512_madd52hi_epu64(self.0, a.0, b.0))
    }
    #[inline(always)]
    fn lookup(self, index: Self) -> Self {
        call!(_mm512_permutexvar_epi64(index.0, self.0))
    }
    #[inline(always)]
    fn deinterleave(a: Self, b: Self) -> [Self; 2] {
        // SAFETY: the instruction set is there; registers only.
        unsafe {
            let (even, odd) = (index([0, 2, 4, 6, 8, 10, 12, 14]), index([1, 3, 5, 7, 9, 11, 13, 15]));
            [Self(_mm512_permutex2var_epi64(a.0, even, b.0)), Self(_mm512_permutex2var_epi64(a.0, odd, b.0))]
        }
    }
    #[inline(always)]
    fn load_words(elements: &[Fr; 8]) -> [Self; 4] {
        let start = std::ptr::from_ref(elements).cast::<__m512i>();
        // SAFETY: the instruction set is there; eight elements are four times 64 bytes, and the loads want no alignment.
        unsafe {
            let (v0, v1) = (_mm512_loadu_si512(start), _mm512_loadu_si512(start.add(1)));
            let (v2, v3) = (_mm512_loadu_si512(start.add(2)), _mm512_loadu_si512(start.add(3)));
            // Words 0 and 1, and 2 and 3, of four elements.
            let (low, high) = (index([0, 4, 8, 12, 1, 5, 9, 13]), index([2, 6, 10, 14, 3, 7, 11, 15]));
            let (a, b) = (_mm512_permutex2var_epi64(v0, low, v1), _mm512_permutex2var_epi64(v2, low, v3));
            let (c, d) = (_mm512_permutex2var_epi64(v0, high, v1), _mm512_permutex2var_epi64(v2, high, v3));
            [
                Self(_mm512_shuffle_i64x2::<0x44>(a, b)),
                Self(_mm512_shuffle_i64x2::<0xee>(a, b)),
                Self(_mm512_shuffle_i64x2::<0x44>(c, d)),
                Self(_mm512_shuffle_i64x2::<0xee>(c, d)),
            ]
        }
    }
    #[inline(always)]
    fn store_words(words: [Self; 4], elements: &mut [Fr; 8]) {
        let start = std::ptr::from_mut(elements).cast::<__m512i>();
        let [w0, w1, w2, w3] = words;
        // SAFETY: the instruction set is there; eight elements are four times 64 bytes, and the stores want no alignment.
        unsafe {
            let (a, b) = (_mm512_shuffle_i64x2::<0x44>(w0.0, w1.0), _mm512_shuffle_i64x2::<0xee>(w0.0, w1.0));
            let (c, d) = (_mm512_shuffle_i64x2::<0x44>(w2.0, w3.0), _mm512_shuffle_i64x2::<0xee>(w2.0, w3.0));
            let (low, high) = (index([0, 4, 8, 12, 1, 5, 9, 13]), index([2, 6, 10, 14, 3, 7, 11, 15]));
            _mm512_storeu_si512(start, _mm512_permutex2var_epi64(a, low, c));
            _mm512_storeu_si512(start.add(1), _mm512_permutex2var_epi64(a, high, c));
            _mm512_storeu_si512(start.add(2), _mm512_permutex2var_epi64(b, low, d));
            _mm512_storeu_si512(start.add(3), _mm512_permutex2var_epi64(b, high, d));
        }
    }
    // The pointer passes through; nothing is read there.
    #[allow(clippy::pointers_in_nomem_asm_block)]
    #[inline(always)]
    fn opaque<T>(reference: &T) -> &T {
        let mut pointer = std::ptr::from_ref(reference);
        // SAFETY: no instruction at all; the pointer stays what it is, and so does its lifetime.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) pointer, options(nomem, nostack, preserves_flags));
            &*pointer
        }
    }
    #[inline(always)]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        // SAFETY: the instruction sets are there; registers only.
        unsafe {
            let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
            // Pairs of rows, even and odd columns.
            let (e0, o0) = (_mm512_unpacklo_epi64(r0.0, r1.0), _mm512_unpackhi_epi64(r0.0, r1.0));
            let (e2, o2) = (_mm512_unpacklo_epi64(r2.0, r3.0), _mm512_unpackhi_epi64(r2.0, r3.0));
            let (e4, o4) = (_mm512_unpacklo_epi64(r4.0, r5.0), _mm512_unpackhi_epi64(r4.0, r5.0));
            let (e6, o6) = (_mm512_unpacklo_epi64(r6.0, r7.0), _mm512_unpackhi_epi64(r6.0, r7.0));
            // Columns 0 and 4, 2 and 6 (of the odd ones 1 and 5, 3 and 7) of four rows, then of all. A macro, since a
            // closure would not be compiled with the instruction sets.
            macro_rules! half {
                ($a:ident, $b:ident, $c:ident, $d:ident) => {{
                    let (low, high) = (_mm512_shuffle_i64x2::<0x88>($a, $b), _mm512_shuffle_i64x2::<0x88>($c, $d));
                    let (low2, high2) = (_mm512_shuffle_i64x2::<0xdd>($a, $b), _mm512_shuffle_i64x2::<0xdd>($c, $d));
                    [
                        Self(_mm512_shuffle_i64x2::<0x88>(low, high)),
                        Self(_mm512_shuffle_i64x2::<0x88>(low2, high2)),
                        Self(_mm512_shuffle_i64x2::<0xdd>(low, high)),
                        Self(_mm512_shuffle_i64x2::<0xdd>(low2, high2)),
                    ]
                }};
            }
            let ([c0, c2, c4, c6], [c1, c3, c5, c7]) = (half!(e0, e2, e4, e6), half!(o0, o2, o4, o6));
            [c0, c1, c2, c3, c4, c5, c6, c7]
        }
    }
}
