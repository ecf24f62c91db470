//! The part of a proof that a device computes: the quotient and all sums in G1.

use super::buffer::FrBuffer;
use super::key::ProvingKey;
use super::split::SplitWitness;
use crate::error::{Error, Result, Status};
use crate::gpu::ops::{JobRows, Ops};
use crate::math::g1::G1;
use crate::math::ntt::Domain;

/// What the epilogue needs of the device.
#[derive(Clone, Copy, Debug)]
pub struct DevicePoints {
    /// `sum h_i H_i`.
    pub h: G1,
    /// `sum w_i L_i` over the aux variables.
    pub l: G1,
    /// `sum w_i A_i`.
    pub a: G1,
    /// `sum w_i B1_i`.
    pub b1: G1,
}

/// The rows' evaluations A w and B w in row order, the key's input rows included; wiped when dropped.
#[derive(Debug)]
pub struct Rows {
    /// A w.
    pub a: FrBuffer,
    /// B w.
    pub b: FrBuffer,
}

impl Rows {
    /// As a device takes them.
    pub fn for_device(&self) -> JobRows<'_> {
        JobRows::Checked { a: &self.a, b: &self.b, is_pinned: self.a.is_pinned() && self.b.is_pinned() }
    }
}

/// Runs all kernels of a proof in the order that frees the most memory first. `stopped` is asked between them; an
/// answer of true ends the stage with `Status::Cancelled`.
pub fn run<O: Ops>(
    device: &mut O,
    key: &ProvingKey,
    domain: &Domain,
    split: &SplitWitness,
    rows: Rows,
    stopped: impl Fn() -> bool,
) -> Result<DevicePoints> {
    let go_on = || {
        if stopped() { Err(Error::new(Status::Cancelled, "stopped between kernels")) } else { Ok(()) }
    };
    let (mut a, mut b) = (rows.a.into_heap()?, rows.b.into_heap()?);
    let quotient = device.quotient(domain, std::mem::take(&mut *a), std::mem::take(&mut *b))?;
    go_on()?;
    let h = device.msm_quotient(&key.h, &quotient)?;
    drop(quotient);
    go_on()?;
    let l = device.msm_query(&key.l, &split.l)?;
    go_on()?;
    let a = device.msm_query(&key.a.points, &split.a)?;
    go_on()?;
    let b1 = device.msm_query(&key.b1.points, &split.b)?;
    Ok(DevicePoints { h, l, a, b1 })
}
