//! The last step of a proof: a few additions that join the sums of the device with the G2 sum.

use zeroize::Zeroizing;

use super::device_stage::DevicePoints;
use super::key::VerifyingKey;
use crate::error::{Error, Result, Status};
use crate::formats::proof::Proof;
use crate::math::fr::{Fr, Scalar};
use crate::math::g1::G1;
use crate::math::g2::G2;

/// The two scalars that blind a proof; wiped when dropped.
#[derive(Debug)]
pub struct Blinding {
    /// Blinds A.
    pub r: Zeroizing<Fr>,
    /// Blinds B.
    pub s: Zeroizing<Fr>,
}

impl Blinding {
    /// Two uniform scalars from the system's random numbers. `Io` where it has none.
    pub fn random() -> Result<Self> {
        Ok(Self { r: random_scalar()?, s: random_scalar()? })
    }
}

/// A uniform scalar from the system's random numbers; `Io` where it has none.
pub fn random_scalar() -> Result<Zeroizing<Fr>> {
    let mut bytes = Zeroizing::new([0u8; 64]);
    getrandom::fill(&mut *bytes)
        .map_err(|error| Error::new(Status::Io, format!("the system gives no random numbers: {error}")))?;
    Ok(Zeroizing::new(Fr::from_wide_bytes(&bytes)))
}

/// Joins the sums into a proof:
///
/// ```text
/// A = alpha1 + sum w_i A_i  + r delta1
/// B = beta2  + sum w_i B2_i + s delta2          B1 likewise in G1
/// C = sum w_i L_i + sum h_i H_i + s A + r B1 - r s delta1
/// ```
pub fn join(vk: &VerifyingKey, blinding: &Blinding, sums: &DevicePoints, b2_sum: &G2) -> Proof {
    let r: Zeroizing<Scalar> = Zeroizing::new(blinding.r.to_canonical());
    let s: Zeroizing<Scalar> = Zeroizing::new(blinding.s.to_canonical());
    let minus_rs: Zeroizing<Scalar> = Zeroizing::new((-(*blinding.r * *blinding.s)).to_canonical());

    let a = G1::from(vk.alpha1) + sums.a + vk.delta1.mul(&r);
    let b1 = G1::from(vk.beta1) + sums.b1 + vk.delta1.mul(&s);
    let b2 = G2::from(vk.beta2) + *b2_sum + vk.delta2.mul(&s);
    let c = sums.l + sums.h + a.mul(&s) + b1.mul(&r) + vk.delta1.mul(&minus_rs);
    Proof { a: a.to_affine(), b: b2.to_affine(), c: c.to_affine() }
}
