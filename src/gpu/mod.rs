//! Devices that run the kernels of a proof.

#[cfg(feature = "cuda")]
pub mod cuda;
pub mod host;
pub mod ops;
