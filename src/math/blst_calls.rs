//! The one place that calls blst: safe functions over this crate's types.
//!
//! Every block here passes pointers to live, aligned values of types that share blst's layout (`repr(transparent)` over
//! the limbs, or `repr(C)` structs of such; sizes and alignments are asserted below) to functions that read their
//! inputs and write their output, keep no pointer, and allow the output to be one of the inputs.

use blst::*;
use static_assertions::{assert_eq_align, assert_eq_size};

use super::curve::{Affine, Jacobian};
use super::fp::Fp;
use super::fp2::Fp2;

assert_eq_size!(Fp, blst_fp);
assert_eq_align!(Fp, blst_fp);
assert_eq_size!(Fp2, blst_fp2);
assert_eq_size!(Affine<Fp>, blst_p1_affine);
assert_eq_size!(Affine<Fp2>, blst_p2_affine);
assert_eq_size!(Jacobian<Fp>, blst_p1);
assert_eq_size!(Jacobian<Fp2>, blst_p2);

/// A safe function `name(inputs by reference) -> output` over one blst function.
macro_rules! call {
    ($(#[$doc:meta])* $name:ident, $function:ident, $out:ty, ($($arg:ident: $type:ty),+)) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $name($($arg: &$type),+) -> $out {
            let mut out = std::mem::MaybeUninit::<$out>::uninit();
            // SAFETY: layouts agree (module documentation), and the function writes every limb of its output.
            unsafe {
                $function(out.as_mut_ptr().cast(), $(std::ptr::from_ref($arg).cast()),+);
                out.assume_init()
            }
        }
    };
}

call!(/** a b. */ fp_mul, blst_fp_mul, Fp, (a: Fp, b: Fp));
call!(/** a^2. */ fp_square, blst_fp_sqr, Fp, (a: Fp));
call!(/** 1 / a, or 0; variable time. */ fp_inverse, blst_fp_eucl_inverse, Fp, (a: Fp));
call!(/** a b. */ fp2_mul, blst_fp2_mul, Fp2, (a: Fp2, b: Fp2));
call!(/** a^2. */ fp2_square, blst_fp2_sqr, Fp2, (a: Fp2));
call!(/** 1 / a, or 0; variable time. */ fp2_inverse, blst_fp2_eucl_inverse, Fp2, (a: Fp2));
call!(/** p + q, complete. */ p1_add, blst_p1_add_or_double, Jacobian<Fp>, (p: Jacobian<Fp>, q: Jacobian<Fp>));
call!(/** p + q, complete. */ p1_add_affine, blst_p1_add_or_double_affine, Jacobian<Fp>, (p: Jacobian<Fp>, q: Affine<Fp>));
call!(/** 2 p. */ p1_double, blst_p1_double, Jacobian<Fp>, (p: Jacobian<Fp>));
call!(/** p + q, complete. */ p2_add, blst_p2_add_or_double, Jacobian<Fp2>, (p: Jacobian<Fp2>, q: Jacobian<Fp2>));
call!(/** p + q, complete. */ p2_add_affine, blst_p2_add_or_double_affine, Jacobian<Fp2>, (p: Jacobian<Fp2>, q: Affine<Fp2>));
call!(/** 2 p. */ p2_double, blst_p2_double, Jacobian<Fp2>, (p: Jacobian<Fp2>));

/// `a *= b`. In place, for a copy right behind the product waits for its stores.
#[inline(always)]
pub fn fp_mul_assign(a: &mut Fp, b: &Fp) {
    let a: *mut blst_fp = std::ptr::from_mut(a).cast();
    // SAFETY: layouts agree; the output may be one of the inputs.
    unsafe { blst_fp_mul(a, a, std::ptr::from_ref(b).cast()) }
}

/// `a *= b`, in place.
#[inline(always)]
pub fn fp2_mul_assign(a: &mut Fp2, b: &Fp2) {
    let a: *mut blst_fp2 = std::ptr::from_mut(a).cast();
    // SAFETY: layouts agree; the output may be one of the inputs.
    unsafe { blst_fp2_mul(a, a, std::ptr::from_ref(b).cast()) }
}

/// Whether a G1 curve point lies in the subgroup, by the endomorphism.
pub fn p1_in_subgroup(p: &Affine<Fp>) -> bool {
    // SAFETY: layouts agree; the function only reads.
    unsafe { blst_p1_affine_in_g1(std::ptr::from_ref(p).cast()) }
}

/// Whether a G2 curve point lies in the subgroup, by the endomorphism.
pub fn p2_in_subgroup(p: &Affine<Fp2>) -> bool {
    // SAFETY: layouts agree; the function only reads.
    unsafe { blst_p2_affine_in_g2(std::ptr::from_ref(p).cast()) }
}

/// The square root of a field element, if it has one.
pub fn fp_sqrt(a: &Fp) -> Option<Fp> {
    let mut root = Fp::default();
    // SAFETY: layouts agree; the output is a live value.
    unsafe { blst_fp_sqrt(std::ptr::from_mut(&mut root).cast(), std::ptr::from_ref(a).cast()) }.then_some(root)
}

/// The square root of a field element, if it has one.
pub fn fp2_sqrt(a: &Fp2) -> Option<Fp2> {
    let mut root = Fp2::default();
    // SAFETY: layouts agree; the output is a live value.
    unsafe { blst_fp2_sqrt(std::ptr::from_mut(&mut root).cast(), std::ptr::from_ref(a).cast()) }.then_some(root)
}

/// Whether the product of the pairings e(p, q) is one. Pairs with an infinite point contribute one.
pub fn pairing_product_is_one(pairs: &[(Affine<Fp>, Affine<Fp2>)]) -> bool {
    let mut product = blst_fp12::default();
    for (p, q) in pairs {
        if *p == Affine::default() || *q == Affine::default() {
            continue;
        }
        let mut factor = blst_fp12::default();
        // SAFETY: layouts agree; every pointer is to a live value, the outputs are distinct from the inputs or may
        // alias them.
        unsafe {
            blst_miller_loop(&mut factor, std::ptr::from_ref(q).cast(), std::ptr::from_ref(p).cast());
            blst_fp12_mul(&mut product, &product, &factor);
        }
    }
    let mut result = blst_fp12::default();
    // SAFETY: both are live values.
    unsafe {
        blst_final_exp(&mut result, &product);
        blst_fp12_is_one(&result)
    }
}
