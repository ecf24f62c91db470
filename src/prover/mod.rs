//! What a proof is: circuits, keys and the steps of the prover, as plain functions without threads of their own.

pub mod circuit;
pub mod density;
pub mod key;
pub mod reference;
pub mod setup;
pub mod synthetic;
pub mod verify;

#[cfg(test)]
mod tests;
