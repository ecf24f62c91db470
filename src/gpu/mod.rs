//! Devices that run the kernels of a proof.

pub mod host;
pub mod ops;
