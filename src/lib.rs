//! `libgroth16`: Groth16 proofs over BLS12-381 through a split pipeline.
//!
//! Data flows one way: `ffi -> engine -> prover -> math | gpu`; `formats` reads files into the types of
//! `math`; `error`, `par` and `sync` are leaves that anybody may use.

pub mod engine;
pub mod error;
pub mod formats;
pub mod math;
pub mod par;
pub mod prover;
pub mod sync;
