//! Checks of the arithmetic against laws and known values.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(clippy::eq_op)]
mod basics;
mod msm;
mod ntt;
mod quotient;
mod subgroup;
pub mod support;
