//! What a device does for a proof. The CPU implements it in `host`.

use zeroize::Zeroize;

use crate::error::Result;
use crate::math::fr::{Fr, Scalar};
use crate::math::g1::{G1, G1Affine};
use crate::math::ntt::Domain;

/// The scalars of one query, by what they cost: zeros are left out, ones are summed, the rest is an MSM.
#[derive(Debug, Default)]
pub struct QueryScalars {
    /// Indices of the query's points whose scalar is one.
    pub ones: Vec<u32>,
    /// Indices of the query's points whose scalar is neither zero nor one.
    pub picks: Vec<u32>,
    /// The scalars of `picks`, canonical.
    pub scalars: Vec<Scalar>,
}

impl Drop for QueryScalars {
    /// All of it tells about the witness.
    fn drop(&mut self) {
        self.ones.zeroize();
        self.picks.zeroize();
        self.scalars.zeroize();
    }
}

/// One device; it is used by one job at a time.
pub trait Ops: Send {
    /// Coefficients of the quotient, where the device keeps them; wiped when dropped.
    type Quotient;

    /// `h = (a b - c) / (x^d - 1)` for the polynomials with the evaluations `a`, `b` and `c = a b` on `domain`. Rows
    /// beyond the end of `a` and `b`, which have one length of at most d, count as zero. d - 1 coefficients.
    fn quotient(&mut self, domain: &Domain, a: Vec<Fr>, b: Vec<Fr>) -> Result<Self::Quotient>;

    /// `sum h_i points_i`; as many points as coefficients.
    fn msm_quotient(&mut self, points: &[G1Affine], quotient: &Self::Quotient) -> Result<G1>;

    /// The sum over a query's points, each times its scalar.
    fn msm_query(&mut self, points: &[G1Affine], scalars: &QueryScalars) -> Result<G1>;
}
