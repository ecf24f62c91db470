//! Points and scalars for benches, the same in every run.

use groth16::math::curve::{Affine, CurveField, Jacobian};
use groth16::math::fr::{Fr, Scalar};

/// SplitMix64: small, repeatable.
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A random element of the scalar field.
    pub fn fr(&mut self) -> Fr {
        let mut bytes = [0u8; 64];
        for chunk in bytes.chunks_exact_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes());
        }
        Fr::from_wide_bytes(&bytes)
    }

    /// The same as a scalar.
    pub fn scalar(&mut self) -> Scalar {
        self.fr().to_canonical()
    }
}

/// Different points of the group.
pub fn some_points<F: CurveField>(random: &mut Random, count: usize) -> Vec<Affine<F>> {
    let (step, first) = (F::GENERATOR.mul(&random.scalar()), F::GENERATOR.mul(&random.scalar()));
    let points: Vec<_> = std::iter::successors(Some(first), |p| Some(*p + step)).take(count).collect();
    Jacobian::batch_to_affine(&points)
}
