//! Verification.

use std::ffi::c_void;

use super::guard;
use super::handle;
use super::job::groth16_scalars;
use super::library::groth16_status;
use super::memory::{self, Borrowed};
use super::pk::groth16_pk;
use crate::error::{Error, Result};
use crate::formats::proof::{Proof, UNCOMPRESSED_BYTES};
use crate::prover::verify;
use crate::prover::witness::{SCALAR_BYTES, ScalarForm, Scalars};

/// Verifies a proof in a form that a job can give (told by its length) for canonical inputs, of which the first is
/// one. *valid is 1 or 0; bytes that are no proof are GROTH16_E_FORMAT.
///
/// # Safety
/// `pk` is a live handle; the pointers fit their counts; `valid` is writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_verify(
    pk: *const groth16_pk,
    inputs: groth16_scalars,
    proof: *const c_void,
    len: usize,
    valid: *mut i32,
) -> groth16_status {
    guard::status(|| {
        memory::check_out(valid, "valid")?;
        // SAFETY: by this function's contract.
        let pk = unsafe { handle::borrow(pk, "pk") }?;
        // SAFETY: by this function's contract.
        let is_valid = unsafe { check(pk, inputs, proof, len) }?;
        // SAFETY: by this function's contract.
        unsafe { memory::set(valid, i32::from(is_valid)) };
        Ok(())
    })
}

/// # Safety
/// As for `groth16_verify`.
unsafe fn check(pk: &groth16_pk, inputs: groth16_scalars, proof: *const c_void, len: usize) -> Result<bool> {
    let bytes = inputs.count.checked_mul(SCALAR_BYTES);
    let bytes = bytes.ok_or_else(|| Error::invalid(format!("inputs: {} scalars are impossible", inputs.count)))?;
    let wanted = pk.key.shape.num_inputs;
    if inputs.count != wanted {
        return Err(Error::invalid(format!("inputs has {} scalars, the key wants {wanted}", inputs.count)));
    }
    // SAFETY: by this function's contract.
    let inputs = unsafe { Borrowed::new(inputs.data, bytes, "inputs") }?;
    // SAFETY: by this function's contract.
    let proof = unsafe { Borrowed::new(proof, len, "proof") }?;
    let inputs = Scalars::new("inputs", Box::new(inputs), ScalarForm::Canonical)?.read_public()?;
    verify::verify(pk.key.shape.verifying_key()?, &inputs, &read_proof(proof.as_ref())?)
}

/// A proof in any form that a job gives. Every JSON proof is longer than the binary forms, which have fixed lengths.
fn read_proof(bytes: &[u8]) -> Result<Proof> {
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.len() > UNCOMPRESSED_BYTES && text.starts_with('{') => Proof::from_json(text),
        _ => Proof::from_bytes(bytes),
    }
}
