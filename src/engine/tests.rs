//! The core in virtual time, and the engine with stages that do next to nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod core_rules;
mod proofs;
mod threads;
