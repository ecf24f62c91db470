//! The core in virtual time, and the engine with stages that do next to nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod core_rules;
// Every interleaving of a few threads, with stand-ins for locks that work only there.
#[cfg(loom)]
mod loom;
#[cfg(not(loom))]
mod proofs;
#[cfg(not(loom))]
mod simulated;
#[cfg(not(loom))]
mod threads;
