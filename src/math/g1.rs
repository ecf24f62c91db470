//! The first group: the curve y^2 = x^3 + 4 over the base field, and its encoding.

use super::blst_calls;
use super::curve::{Affine, CurveField, Jacobian};
use super::encoding::encoded_point;
use super::fp::Fp;

/// A point of the first group by its coordinates.
pub type G1Affine = Affine<Fp>;
/// A point of the first group in Jacobian coordinates.
pub type G1 = Jacobian<Fp>;

impl CurveField for Fp {
    const DEGREE: usize = 1;
    const B: Self = Fp::constant("4");
    const GENERATOR: Affine<Self> = Affine {
        x: Fp::constant(
            "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb",
        ),
        y: Fp::constant(
            "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1",
        ),
    };

    #[inline]
    fn point_add(p: &G1, q: &G1) -> G1 {
        blst_calls::p1_add(p, q)
    }

    #[inline]
    fn point_add_affine(p: &G1, q: &G1Affine) -> G1 {
        blst_calls::p1_add_affine(p, q)
    }

    #[inline]
    fn point_double(p: &G1) -> G1 {
        blst_calls::p1_double(p)
    }

    #[inline(always)]
    fn components(&self) -> [Fp; 2] {
        [*self, Fp::default()]
    }

    #[inline(always)]
    fn from_components(components: [Fp; 2]) -> Self {
        components[0]
    }

    fn in_subgroup(p: &G1Affine) -> bool {
        blst_calls::p1_in_subgroup(p)
    }
}

encoded_point!(G1Affine, 48, 96);
