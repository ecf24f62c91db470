//! What a proof is: circuits, keys and the steps of the prover, as plain functions without threads of their own.

pub mod buffer;
pub mod circuit;
pub mod density;
pub mod device_stage;
pub mod epilogue;
pub mod key;
pub mod key_file;
pub mod partition;
pub mod reference;
pub mod setup;
pub mod split;
pub mod synthetic;
pub mod verify;
pub mod witness;

#[cfg(test)]
mod tests;
