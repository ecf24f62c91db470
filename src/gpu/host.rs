//! The CPU as a device: the same interface on `math`.

use zeroize::Zeroizing;

use super::ops::{Ops, QueryScalars};
use crate::error::Result;
use crate::math::curve::Affine;
use crate::math::curve::{CurveField, Jacobian};
use crate::math::fr::{Fr, Scalar};
use crate::math::g1::{G1, G1Affine};
use crate::math::msm::{self, Selection};
use crate::math::ntt::Domain;
use crate::math::quotient;
use crate::par;

/// The CPU backend: it works on the pool of the thread that calls it.
#[derive(Debug, Default)]
pub struct Host;

impl Ops for Host {
    type Quotient = Zeroizing<Vec<Scalar>>;

    fn quotient(&mut self, domain: &Domain, a: Vec<Fr>, b: Vec<Fr>) -> Result<Self::Quotient> {
        let h = Zeroizing::new(quotient::quotient(domain, a, b)?);
        let mut scalars = Zeroizing::new(vec![[0u64; 4]; h.len()]);
        par::for_each_chunk_mut(&mut scalars, par::piece(h.len(), 1024), |start, chunk| {
            for (scalar, coefficient) in chunk.iter_mut().zip(&h[start..]) {
                *scalar = coefficient.to_canonical();
            }
        });
        Ok(scalars)
    }

    fn msm_quotient(&mut self, points: &[G1Affine], quotient: &Self::Quotient) -> Result<G1> {
        msm::msm(points, Selection::All, quotient)
    }

    fn msm_query(&mut self, points: &[G1Affine], scalars: &QueryScalars) -> Result<G1> {
        msm_query(points, scalars)
    }
}

/// The sum over a query's points, each times its scalar, on the CPU.
pub fn msm_query<F: CurveField>(points: &[Affine<F>], scalars: &QueryScalars) -> Result<Jacobian<F>> {
    let (ones, rest) = par::join(
        || msm::sum(points, &scalars.ones),
        || msm::msm(points, Selection::Picked(&scalars.picks), &scalars.scalars),
    );
    Ok(ones? + rest?)
}
