//! The textbook prover, the trapdoor's expected proof and the verifier must agree.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod circuits;
mod proofs;
mod split;
