//! `libgroth16`: Groth16 proofs over BLS12-381 through a split pipeline.
//!
//! Data flows one way: `ffi -> engine -> prover -> math | gpu`; `formats` reads files into the types of
//! `math`; `error`, `par` and `sync` are leaves that anybody may use.
//!
//! # Rust hosts
//!
//! Hosts in C, C++ and Go use what `ffi` exports. One in Rust takes an [`engine::Engine`] of [`engine::proof::Groth16`],
//! loads keys into it and submits jobs; `submit` returns at once, and any number of jobs may be under way. This interface
//! may change between minor versions, which the C ABI does not.
//!
//! ```
//! use std::sync::Arc;
//! use groth16::engine::{Engine, config::Config};
//! use groth16::engine::backend::Backend;
//! use groth16::engine::proof::{ProofInput, RowSource};
//! use groth16::prover::epilogue::Blinding;
//! use groth16::prover::witness::Scalars;
//! use groth16::prover::{key::ProvingKey, setup, synthetic, verify};
//!
//! # fn main() -> groth16::error::Result<()> {
//! // A circuit of 100 rows and 3 inputs with a witness, and an INSECURE key for it.
//! let (circuit, witness) = synthetic::circuit(&synthetic::Shape::new(100, 3, 1))?;
//! let params = setup::setup(&circuit, &setup::Trapdoor::random()?)?;
//! let key = ProvingKey::from_bellman_with_circuit(params, &circuit)?;
//!
//! let engine = Engine::on(Backend::Cpu(1), &Config::default(), Box::new(|_| ()))?;
//! let key = engine.load_key(key.host_bytes() as u64, || Ok((key, None)))?;
//! let (inputs, aux) = witness.split_at(circuit.num_inputs());
//! let input = ProofInput {
//!     key: Arc::clone(&key),
//!     rows: RowSource::Circuit(Arc::new(circuit)),
//!     inputs: Scalars::from_values("inputs", inputs)?,
//!     aux: Scalars::from_values("aux", aux)?,
//!     blinding: Blinding::random()?,
//!     self_check: true,
//! };
//! input.check_sizes()?;
//! let job = engine.create(input, None);
//! engine.submit(&job, 0)?;
//! job.wait(None);
//! let proof = job.result().expect("a job that was waited for has ended")?;
//! assert!(verify::verify(key.shape.verifying_key()?, inputs, &proof)?);
//! # Ok(())
//! # }
//! ```
//!
//! `ffi-tests/demo/host.rs` (`cargo run --release --example host`) does the same with files, several jobs at once, and a
//! display of where each is.

pub mod engine;
pub mod error;
pub mod ffi;
pub mod formats;
pub mod gpu;
pub mod math;
pub mod par;
pub mod prover;
pub mod sync;
