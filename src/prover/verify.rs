//! The verifier: e(A, B) = e(alpha, beta) e(IC, gamma) e(C, delta).

use crate::error::{Error, Result};
use crate::formats::proof::Proof;
use crate::formats::vk::VerifyingKey;
use crate::math::blst_calls::pairing_product_is_one;
use crate::math::curve::Jacobian;
use crate::math::field::Field;
use crate::math::fr::Fr;

/// Whether `proof`, whose points must be in their subgroups (decoding makes sure), proves the statement `inputs`
/// (the constant one first) under `vk`. A proof with a point at infinity is not valid. `Invalid` where the number of
/// inputs is wrong or the first is not one. On the calling thread alone.
pub fn verify(vk: &VerifyingKey, inputs: &[Fr], proof: &Proof) -> Result<bool> {
    if inputs.len() != vk.ic.len() {
        return Err(Error::invalid(format!(
            "verify: got {} inputs, the key has {} (the constant one included)",
            inputs.len(),
            vk.ic.len()
        )));
    }
    if inputs.first() != Some(&Fr::ONE) {
        return Err(Error::invalid("verify: input 0 is not one"));
    }
    if proof.a.is_infinity() || proof.b.is_infinity() || proof.c.is_infinity() {
        return Ok(false);
    }
    let sum = vk.ic.iter().zip(inputs).fold(Jacobian::INFINITY, |mut sum, (point, input)| {
        if *input == Fr::ONE {
            sum += *point;
        } else if !input.is_zero() {
            sum += point.mul(&input.to_canonical());
        }
        sum
    });
    Ok(pairing_product_is_one(&[
        (proof.a, proof.b),
        (-vk.alpha1, vk.beta2),
        (-sum.to_affine(), vk.gamma2),
        (-proof.c, vk.delta2),
    ]))
}
