//! groth16_verify with damaged proofs and wrong inputs: never valid.

use std::ptr::null;

use ffi_tests::capi::api;
use ffi_tests::fixture::Form;
use ffi_tests::handles::{Request, scalars};
use ffi_tests::memory::Guarded;
use groth16::ffi::job::groth16_scalars;
use groth16::formats::proof::Proof;
use groth16::math::curve::{Affine, Jacobian};
use groth16::math::encoding::EncodedField;
use groth16::math::field::Field;
use groth16::math::fp::Fp;
use groth16::math::fr::MODULUS;

use super::{Setup, assert_fails, outcome, status};

#[test]
fn lengths_that_are_no_proof() {
    let setup = Setup::small();
    let public = setup.fixture.public();
    let long = [setup.fixture.proof.to_uncompressed(), [0; 384]].concat();
    for length in [0, 1, 95, 96, 191, 193, 383, 385, 768] {
        let guarded = Guarded::new(&long[..length]);
        let mut valid = 0;
        let failed = outcome(unsafe {
            (api().groth16_verify)(setup.key.raw(), scalars(&public), guarded.pointer(), length, &raw mut valid)
        });
        assert_fails(failed, status::FORMAT, &["proof", &length.to_string()]);
    }
    for impossible in [usize::MAX, isize::MAX as usize + 1] {
        let mut valid = 0;
        let failed = outcome(unsafe {
            (api().groth16_verify)(setup.key.raw(), scalars(&public), long.as_ptr().cast(), impossible, &raw mut valid)
        });
        assert_fails(failed, status::INVALID, &["proof"]);
    }
}

#[test]
fn no_flipped_bit_of_a_proof_verifies() {
    let setup = Setup::small();
    let public = setup.fixture.public();
    let proof = &setup.fixture.proof;
    for right in [proof.to_compressed().to_vec(), proof.to_uncompressed().to_vec()] {
        assert!(setup.key.verify(&public, &right).unwrap());
        for place in 0..right.len() {
            // The flag bits of each point all, of other bytes one.
            let bits = if place % 48 == 0 { vec![0x80, 0x40, 0x20, 0x10] } else { vec![1 << (place % 8)] };
            for bit in bits {
                let mut wrong = right.clone();
                wrong[place] ^= bit;
                match setup.key.verify(&public, &wrong) {
                    Ok(valid) => assert!(!valid, "byte {place} ^ {bit:#x} verifies"),
                    Err(failure) => {
                        assert_eq!(failure.status, status::FORMAT, "{failure:?}");
                        assert!(failure.message.starts_with("proof: "), "{failure:?}");
                    }
                }
            }
        }
    }
    for filling in [0, 0xff, 0x40, 0xc0] {
        for length in [192, 384] {
            assert_fails(setup.key.verify(&public, &vec![filling; length]), status::FORMAT, &["proof: A"]);
        }
    }
}

/// A point whose order is a factor of the cofactor: no pairing sees it.
fn of_the_cofactor<F: EncodedField>() -> Affine<F> {
    let mut x = F::ZERO;
    loop {
        if let Some(y) = (x.square() * x + F::B).square_root() {
            let point = Affine { x, y }.mul(&MODULUS);
            if !point.is_infinity() {
                return point.to_affine();
            }
        }
        x += F::ONE;
    }
}

#[test]
fn points_with_a_part_outside_the_subgroup_do_not_verify() {
    let setup = Setup::small();
    let (public, right) = (setup.fixture.public(), setup.fixture.proof);
    let small = Affine { x: Fp::ZERO, y: Fp::ONE.double() };
    assert!(Jacobian::from(small).mul(&[3, 0, 0, 0]).is_infinity());
    let shifted = |point: Affine<Fp>, by: Affine<Fp>| (Jacobian::from(point) + Jacobian::from(by)).to_affine();
    let mut wrong = Vec::new();
    for by in [small, of_the_cofactor()] {
        wrong.push((Proof { a: shifted(right.a, by), ..right }, "A"));
        wrong.push((Proof { c: shifted(right.c, by), ..right }, "C"));
        wrong.push((Proof { a: by, ..right }, "A"));
    }
    let by = of_the_cofactor();
    wrong.push((Proof { b: (Jacobian::from(right.b) + Jacobian::from(by)).to_affine(), ..right }, "B"));
    wrong.push((Proof { b: by, ..right }, "B"));
    for (proof, place) in wrong {
        for bytes in [&proof.to_compressed()[..], &proof.to_uncompressed()[..], proof.to_json().as_bytes()] {
            assert_fails(setup.key.verify(&public, bytes), status::FORMAT, &["proof: ", "subgroup"]);
        }
        assert_fails(setup.key.verify(&public, &proof.to_compressed()), status::FORMAT, &[&format!("proof: {place}")]);
    }
}

#[test]
fn damaged_json_does_not_verify() {
    let setup = Setup::small();
    let public = setup.fixture.public();
    let right = setup.fixture.proof.to_json();
    assert!(setup.key.verify(&public, right.as_bytes()).unwrap());
    for place in 0..right.len() {
        let mut wrong = right.clone().into_bytes();
        wrong[place] = if wrong[place] == b'1' { b'2' } else { b'1' };
        if let Ok(valid) = setup.key.verify(&public, &wrong) {
            assert!(!valid, "byte {place} changed: {}", String::from_utf8_lossy(&wrong));
        }
    }
    for length in (1..right.len()).step_by(7) {
        assert_fails(setup.key.verify(&public, &right.as_bytes()[..length]), status::FORMAT, &["proof"]);
    }
    let other = right.replace("bls12381", "bn128");
    assert_fails(setup.key.verify(&public, other.as_bytes()), status::UNSUPPORTED, &["curve"]);
    let mut no_text = right.into_bytes();
    no_text[5] = 0xff;
    assert_fails(setup.key.verify(&public, &no_text), status::FORMAT, &["proof"]);
}

#[test]
fn proofs_of_other_statements_do_not_verify() {
    let setup = Setup::small();
    let proof = setup.fixture.proof.to_compressed();
    let public = setup.fixture.public();
    // Every other input by one off.
    for index in 1..public.len() / 32 {
        let mut wrong = public.clone();
        wrong[32 * index] ^= 1;
        assert!(!setup.key.verify(&wrong, &proof).unwrap());
    }
    // A and C exchanged are points of the right groups.
    let mut exchanged = proof;
    exchanged[..48].copy_from_slice(&proof[144..]);
    exchanged[144..].copy_from_slice(&proof[..48]);
    assert!(!setup.key.verify(&public, &exchanged).unwrap());
    // The key of another trapdoor.
    let other = ffi_tests::fixture::Fixture::new(&groth16::prover::synthetic::Shape::new(20, 3, 99));
    let circuit = setup.engine.circuit_from_bytes(&other.r1cs_bytes()).unwrap();
    let key = setup.engine.key_from_bytes(&other.key, &circuit).unwrap();
    assert!(!key.verify(&public, &proof).unwrap());
}

#[test]
fn inputs_that_do_not_fit_or_are_not_canonical() {
    let setup = Setup::small();
    let proof = setup.fixture.proof.to_compressed();
    let public = setup.fixture.public();
    for count in [0, 1, 2, 4] {
        let inputs: Vec<u8> = public.iter().copied().cycle().take(32 * count).collect();
        assert_fails(setup.key.verify(&inputs, &proof), status::INVALID, &["inputs", &count.to_string(), "3"]);
    }
    let mut not_one = public.clone();
    not_one[0] = 2;
    assert_fails(setup.key.verify(&not_one, &proof), status::INVALID, &["input 0 is not one"]);
    // x and x + r are the same to the pairing: only one of them may pass.
    for index in 0..3 {
        let mut shifted = public.clone();
        if add_order(&mut shifted[32 * index..][..32]) {
            let text = format!("inputs[{index}] is not below the group order");
            assert_fails(setup.key.verify(&shifted, &proof), status::INVALID, &[&text]);
        }
    }
    for count in [usize::MAX, usize::MAX / 32, usize::MAX / 32 + 1] {
        let inputs = groth16_scalars { data: public.as_ptr().cast(), count };
        let mut valid = 0;
        let failed = outcome(unsafe {
            (api().groth16_verify)(setup.key.raw(), inputs, proof.as_ptr().cast(), proof.len(), &raw mut valid)
        });
        assert_fails(failed, status::INVALID, &["inputs"]);
    }
    let inputs = groth16_scalars { data: null(), count: 3 };
    let failed =
        outcome(unsafe { (api().groth16_verify)(setup.key.raw(), inputs, proof.as_ptr().cast(), 192, &mut 0) });
    assert_fails(failed, status::INVALID, &["inputs is NULL"]);
}

/// x + r, if it fits 256 bits.
fn add_order(bytes: &mut [u8]) -> bool {
    let order = groth16::math::fr::scalar_to_le_bytes(&MODULUS);
    let mut carry = 0u16;
    for (byte, add) in bytes.iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
    carry == 0
}

#[test]
fn x_plus_r_is_refused_by_the_prover_too() {
    let setup = Setup::small();
    for index in 1..3 {
        let mut request: Request = setup.fixture.request(Form::Canonical);
        if add_order(&mut request.inputs[32 * index..][..32]) {
            assert_fails(setup.prove(true, request), status::INVALID, &[&format!("inputs[{index}]")]);
        }
    }
}
