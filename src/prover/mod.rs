//! What a proof is: circuits, keys and the steps of the prover, as plain functions without threads of their own.

pub mod circuit;
pub mod density;
pub mod key;
pub mod quotient;
#[cfg(test)]
mod tests;
