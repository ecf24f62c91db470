//! What a proof is made of, as plain functions without threads of their own.

pub mod quotient;
