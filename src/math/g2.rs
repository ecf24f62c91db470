//! The second group: the curve y^2 = x^3 + 4 (1 + i) over the quadratic extension, and its encoding.

use super::blst_calls;
use super::curve::{Affine, CurveField, Jacobian};
use super::encoding::encoded_point;
use super::fp::Fp;
use super::fp2::Fp2;

/// A point of the second group by its coordinates.
pub type G2Affine = Affine<Fp2>;
/// A point of the second group in Jacobian coordinates.
pub type G2 = Jacobian<Fp2>;

impl CurveField for Fp2 {
    const DEGREE: usize = 2;
    const B: Self = Fp2 { c0: Fp::constant("4"), c1: Fp::constant("4") };
    const GENERATOR: Affine<Self> = Affine {
        x: Fp2 {
            c0: Fp::constant(
                "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8",
            ),
            c1: Fp::constant(
                "13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e",
            ),
        },
        y: Fp2 {
            c0: Fp::constant(
                "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801",
            ),
            c1: Fp::constant(
                "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be",
            ),
        },
    };

    #[inline]
    fn point_add(p: &G2, q: &G2) -> G2 {
        blst_calls::p2_add(p, q)
    }

    #[inline]
    fn point_add_affine(p: &G2, q: &G2Affine) -> G2 {
        blst_calls::p2_add_affine(p, q)
    }

    #[inline]
    fn point_double(p: &G2) -> G2 {
        blst_calls::p2_double(p)
    }

    #[inline(always)]
    fn components(&self) -> [Fp; 2] {
        [self.c0, self.c1]
    }

    #[inline(always)]
    fn from_components([c0, c1]: [Fp; 2]) -> Self {
        Self { c0, c1 }
    }

    fn in_subgroup(p: &G2Affine) -> bool {
        blst_calls::p2_in_subgroup(p)
    }
}

encoded_point!(G2Affine, 96, 192);
