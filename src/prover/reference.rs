//! The textbook prover: every formula as it stands in the paper (Groth, "On the Size of Pairing-based Non-interactive
//! Arguments", 2016, section 3.2), with schoolbook polynomials and one multiplication per point. It is the oracle that
//! faster code is compared with, takes time quadratic in the domain size, and does not zeroise.

use super::circuit::Circuit;
use super::key::{InputRows, ProvingKey, Query};
use crate::error::{Error, Result, Status};
use crate::formats::proof::Proof;
use crate::math::curve::{Affine, CurveField, Jacobian};
use crate::math::field::Field;
use crate::math::fr::Fr;

/// The proof of `witness` (constant one, inputs, aux) with the blinding factors `r` and `s`. `Invalid` where key,
/// circuit and witness do not fit, `Unsatisfied` where a b - c is no multiple of x^d - 1.
pub fn prove(key: &ProvingKey, circuit: &Circuit, witness: &[Fr], r: Fr, s: Fr) -> Result<Proof> {
    key.check_circuit(circuit)?;
    let h = quotient(key, circuit, witness)?;
    let vk = &key.base;
    let (r_scalar, s_scalar) = (r.to_canonical(), s.to_canonical());

    let a = Jacobian::from(vk.alpha1) + dense_sum(&key.a, witness) + vk.delta1.mul(&r_scalar);
    let b1 = Jacobian::from(vk.beta1) + dense_sum(&key.b1, witness) + vk.delta1.mul(&s_scalar);
    let b2 = Jacobian::from(vk.beta2) + dense_sum(&key.b2, witness) + vk.delta2.mul(&s_scalar);
    let c = sum(&key.l, &witness[key.num_inputs..])
        + sum(&key.h, &h)
        + a.mul(&s_scalar)
        + b1.mul(&r_scalar)
        + -vk.delta1.mul(&(r * s).to_canonical());
    Ok(Proof { a: a.to_affine(), b: b2.to_affine(), c: c.to_affine() })
}

/// The d - 1 coefficients of h = (a b - c) / (x^d - 1), lowest first.
pub fn quotient(key: &ProvingKey, circuit: &Circuit, witness: &[Fr]) -> Result<Vec<Fr>> {
    let d = key.domain_size();
    let values = circuit.evaluate(witness)?;
    let pad = |values: &[Fr]| {
        let mut padded = values.to_vec();
        padded.resize(d, Fr::ZERO);
        padded
    };
    let (mut a, b, c) = (pad(&values.a), pad(&values.b), pad(&values.c));
    if key.input_rows == InputRows::PerInput {
        // input_i * 0 = 0
        a[circuit.num_rows()..][..key.num_inputs].copy_from_slice(&witness[..key.num_inputs]);
    }
    let root = Fr::root_of_unity(key.root_generator, key.log_domain)
        .ok_or_else(|| Error::invalid(format!("no domain of 2^{} elements", key.log_domain)))?;
    let (a, b, c) = (interpolate(&a, root), interpolate(&b, root), interpolate(&c, root));

    let mut dividend = vec![Fr::ZERO; 2 * d - 1];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            dividend[i + j] += *a * *b;
        }
    }
    for (coefficient, c) in dividend.iter_mut().zip(&c) {
        *coefficient -= *c;
    }
    // Long division by x^d - 1, from the top.
    let mut h = vec![Fr::ZERO; d - 1];
    for i in (0..d - 1).rev() {
        h[i] = dividend[i + d];
        dividend[i] += h[i];
    }
    if dividend[..d].iter().any(|coefficient| !coefficient.is_zero()) {
        return Err(Error::new(Status::Unsatisfied, "the witness does not satisfy the circuit"));
    }
    Ok(h)
}

/// The coefficients of the polynomial of degree below d that takes `values[i]` at `root^i`:
/// sum over i of values[i] root^(-i j) / d.
fn interpolate(values: &[Fr], root: Fr) -> Vec<Fr> {
    let d = values.len();
    let (inverse_root, inverse_d) = (root.inverse(), Fr::from(d as u64).inverse());
    let mut coefficients = Vec::with_capacity(d);
    let mut step = Fr::ONE;
    for _ in 0..d {
        // Horner's rule at root^(-j).
        let at_step = values.iter().rev().fold(Fr::ZERO, |sum, value| sum * step + *value);
        coefficients.push(at_step * inverse_d);
        step *= inverse_root;
    }
    coefficients
}

/// The sum of the dense variables' points times their values.
fn dense_sum<F: CurveField>(query: &Query<F>, witness: &[Fr]) -> Jacobian<F> {
    let values: Vec<Fr> = query.density.members().map(|variable| witness[variable]).collect();
    sum(&query.points, &values)
}

fn sum<F: CurveField>(points: &[Affine<F>], values: &[Fr]) -> Jacobian<F> {
    points.iter().zip(values).map(|(point, value)| point.mul(&value.to_canonical())).sum()
}
