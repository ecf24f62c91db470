//! File formats: each a checked parser into the types of `math`, and a writer.

pub mod bellman_params;
pub mod gnark;
mod iden3;
pub mod points;
pub mod proof;
pub mod r1cs;
pub mod source;
pub mod vk;
pub mod wtns;

#[cfg(test)]
mod tests;
