//! Real circuits as fixtures: Zcash's Sapling Spend and Output with their published proving keys.
//!
//! [`r1cs`] turns any bellman circuit into R1CS matrices and a witness, [`iden3`] writes both in the formats of
//! circom's tools, [`sapling`] makes random valid instances, [`fixtures`] writes a directory of them, [`verify`] checks
//! proofs with the verifier that Zcash uses, and [`peer`] and [`library`] time its prover and this project's.

pub mod fixtures;
pub mod iden3;
pub mod library;
pub mod peer;
pub mod r1cs;
pub mod sapling;
pub mod verify;
