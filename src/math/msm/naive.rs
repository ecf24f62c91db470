//! The multi-scalar multiplication by its definition: the oracle of the fast ones.

use crate::math::curve::{Affine, CurveField, Jacobian};
use crate::math::fr::Scalar;

/// The sum of `scalars[i] * points[i]` by double and add, over the shorter of both; about 400 point operations a
/// scalar.
pub fn msm<F: CurveField>(points: &[Affine<F>], scalars: &[Scalar]) -> Jacobian<F> {
    points.iter().zip(scalars).map(|(point, scalar)| point.mul(scalar)).sum()
}
