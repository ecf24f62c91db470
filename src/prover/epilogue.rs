//! The last step of a proof: a few additions that join the sums of the device with the G2 sum.

use std::fmt;
use std::sync::Arc;

use zeroize::{Zeroize, Zeroizing};

use super::device_stage::DevicePoints;
use super::key::BasePoints;
use crate::error::{Error, Result, Status};
use crate::formats::proof::Proof;
use crate::math::field::Field;
use crate::math::fr::{Fr, Scalar};
use crate::math::g1::G1;
use crate::math::g2::G2;

/// The two scalars that blind a proof: r blinds A, s blinds B. They stand in one place that is wiped when the last
/// handle is dropped; handles move and are cloned without moving them, since a move leaves its source behind.
#[derive(Clone)]
pub struct Blinding(Arc<Zeroizing<[Fr; 2]>>);

impl Blinding {
    /// Copies of these scalars.
    pub fn new(r: &Fr, s: &Fr) -> Result<Self> {
        Self::fill(|own_r, own_s| {
            (*own_r, *own_s) = (*r, *s);
            Ok(())
        })
    }

    /// What `write` puts into r and s, which are zero before.
    pub fn fill(write: impl FnOnce(&mut Fr, &mut Fr) -> Result<()>) -> Result<Self> {
        let mut pair = Arc::new(Zeroizing::new([Fr::ZERO; 2]));
        let [r, s] = &mut **Arc::get_mut(&mut pair).ok_or_else(|| Error::internal("a new handle is shared"))?;
        write(r, s)?;
        Ok(Self(pair))
    }

    /// Two uniform scalars from the system's random numbers. `Io` where it has none.
    pub fn random() -> Result<Self> {
        Self::fill(|r, s| {
            random_scalar(r)?;
            random_scalar(s)
        })
    }

    /// Blinds A.
    pub fn r(&self) -> &Fr {
        &self.0[0]
    }

    /// Blinds B.
    pub fn s(&self) -> &Fr {
        &self.0[1]
    }
}

impl fmt::Debug for Blinding {
    /// Never shows the scalars.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blinding")
    }
}

/// Writes a uniform scalar from the system's random numbers; `Io` where it has none.
pub fn random_scalar(out: &mut Fr) -> Result<()> {
    let mut bytes = Zeroizing::new([0u8; 64]);
    getrandom::fill(&mut *bytes)
        .map_err(|error| Error::new(Status::Io, format!("the system gives no random numbers: {error}")))?;
    *out = Fr::from_wide_bytes(&bytes);
    Ok(())
}

/// Overwrites what calls that have returned left on the stack. A value that is moved takes the bytes along that its type
/// leaves open (those of an enum's other variants), and with them whatever lay there: so secrets that a call had on its
/// stack could get into the heap. Call it after such a call, which must not be inlined.
#[inline(never)]
pub fn wipe_stack() {
    let mut dead = [0u8; 8192];
    dead.zeroize();
    std::hint::black_box(&mut dead);
}

/// Joins the sums into a proof:
///
/// ```text
/// A = alpha1 + sum w_i A_i  + r delta1
/// B = beta2  + sum w_i B2_i + s delta2          B1 likewise in G1
/// C = sum w_i L_i + sum h_i H_i + s A + r B1 - r s delta1
/// ```
pub fn join(base: &BasePoints, blinding: &Blinding, sums: &DevicePoints, b2_sum: &G2) -> Proof {
    let r: Zeroizing<Scalar> = Zeroizing::new(blinding.r().to_canonical());
    let s: Zeroizing<Scalar> = Zeroizing::new(blinding.s().to_canonical());
    let minus_rs: Zeroizing<Scalar> = Zeroizing::new((-(*blinding.r() * *blinding.s())).to_canonical());

    let a = G1::from(base.alpha1) + sums.a + base.delta1.mul(&r);
    let b1 = G1::from(base.beta1) + sums.b1 + base.delta1.mul(&s);
    let b2 = G2::from(base.beta2) + *b2_sum + base.delta2.mul(&s);
    let c = sums.l + sums.h + a.mul(&s) + b1.mul(&r) + base.delta1.mul(&minus_rs);
    Proof { a: a.to_affine(), b: b2.to_affine(), c: c.to_affine() }
}
