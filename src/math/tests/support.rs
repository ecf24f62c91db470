//! Random values and points with known multiples for the tests.

use crate::math::curve::{Affine, CurveField, Jacobian};
use crate::math::field::Field;
use crate::math::fr::{Fr, Scalar};
use crate::math::simd;

/// SplitMix64: small, repeatable.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn fr(&mut self) -> Fr {
        let mut bytes = [0u8; 64];
        for chunk in bytes.chunks_exact_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes());
        }
        Fr::from_wide_bytes(&bytes)
    }

    pub fn scalar(&mut self) -> Scalar {
        self.fr().to_canonical()
    }
}

/// Points that are known multiples of the generator.
pub struct Trapdoor<F> {
    pub points: Vec<Affine<F>>,
    pub logs: Vec<Fr>,
}

impl<F: CurveField> Trapdoor<F> {
    /// Point i is (first + i step) times the generator.
    pub fn new(first: Fr, step: Fr, count: usize) -> Self {
        let stride = F::GENERATOR.mul(&step.to_canonical());
        let start = F::GENERATOR.mul(&first.to_canonical());
        let points: Vec<_> = std::iter::successors(Some(start), |p| Some(*p + stride)).take(count).collect();
        let logs = std::iter::successors(Some(first), |log| Some(*log + step)).take(count).collect();
        Self { points: Jacobian::batch_to_affine(&points), logs }
    }

    /// Random first point and step.
    pub fn random(random: &mut Random, count: usize) -> Self {
        Self::new(random.fr(), random.fr(), count)
    }

    /// Puts infinity at this place.
    pub fn set_infinity(&mut self, i: usize) {
        self.points[i] = Affine::INFINITY;
        self.logs[i] = Fr::ZERO;
    }

    /// What the sum of scalar times point over all points must be.
    pub fn expected(&self, scalars: &[Scalar]) -> Jacobian<F> {
        assert_eq!(scalars.len(), self.points.len());
        let terms = self.logs.iter().zip(scalars).map(|(log, s)| *log * Fr::from_canonical(*s).unwrap());
        F::GENERATOR.mul(&terms.fold(Fr::ZERO, |sum, term| sum + term).to_canonical())
    }
}

/// 0, 1, 2, r - 1, (r - 1)/2, 2^k and 2^k - 1 for every k.
pub fn scalar_zoo() -> Vec<Scalar> {
    let two = Fr::from(2);
    let minus_one = -Fr::ONE;
    let mut zoo = vec![Fr::ZERO, Fr::ONE, two, minus_one, minus_one * two.inverse(), -two];
    let powers = std::iter::successors(Some(Fr::ONE), |x| Some(x.double())).take(255);
    zoo.extend(powers.flat_map(|x| [x, x - Fr::ONE, -x]));
    zoo.iter().map(Fr::to_canonical).collect()
}

/// Without lanes, and on them where this machine has them.
pub fn backends() -> impl Iterator<Item = bool> {
    [false, true].into_iter().filter(|lanes| !lanes || simd::available())
}

/// Runs in a pool of this many threads, or outside any pool for 0.
pub fn in_pool<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
    if threads == 0 { f() } else { rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f) }
}
