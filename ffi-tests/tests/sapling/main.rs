//! The real Sapling circuits with the real keys through the C ABI: byte-equality with zkcrypto's prover, in both input
//! forms and both scalar forms. Reads what `make fixtures` recorded.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;
use std::sync::Arc;

use ffi_tests::fixture::{Form, encode};
use ffi_tests::handles::{Engine, Request};
use ffi_tests::header::root;
use groth16::formats::source::Source;
use groth16::formats::{r1cs, wtns};
use groth16::math::fr::Fr;
use groth16::prover::circuit::Circuit;

fn fixtures() -> PathBuf {
    let dir = root().join("target/fixtures");
    assert!(dir.join("manifest").exists(), "no fixtures in {}: run `make fixtures` first", dir.display());
    dir
}

fn thirty_two(name: &str) -> [u8; 32] {
    std::fs::read(fixtures().join(name)).unwrap().try_into().unwrap()
}

/// The scalars of one proof, as a host passes them; `rows` are a, b and c.
fn request(kind: &str, num_inputs: usize, witness: &[Fr], form: Form, rows: [&[Fr]; 3]) -> Arc<Request> {
    let (inputs, aux) = witness.split_at(num_inputs);
    Arc::new(Request {
        rows: rows.map(|values| encode(values, form)),
        inputs: encode(inputs, form),
        aux: encode(aux, form),
        blinding: Some(["r", "s"].map(|name| thirty_two(&format!("{kind}-0.{name}")))),
        scalar_form: form as i32,
        ..Request::default()
    })
}

fn equals_zkcrypto(kind: &str) {
    let dir = fixtures();
    let file = |name: &str| dir.join(format!("{kind}{name}"));
    let expected = std::fs::read(file("-0.proof")).unwrap();
    let recorded = Circuit::from_r1cs(&r1cs::read(&Source::open(&file(".r1cs")).unwrap()).unwrap()).unwrap();
    let witness = wtns::read(&Source::open(&file("-0.wtns")).unwrap()).unwrap();
    let num_inputs = recorded.num_inputs();
    let rows = recorded.evaluate_with_inputs(&witness, num_inputs).unwrap();

    let engine = Engine::new(|_| ()).unwrap();
    let circuit = engine.circuit_from_bytes(&std::fs::read(file(".r1cs")).unwrap()).unwrap();
    let key = engine.key_from_file(&file(".params"), &circuit).unwrap();
    for form in [Form::Canonical, Form::Montgomery] {
        let with_circuit = request(kind, num_inputs, &witness, form, [&[]; 3]);
        let evaluated = request(kind, num_inputs, &witness, form, [&rows.a, &rows.b, &rows.c]);
        let jobs =
            [engine.start(&key, Some(&circuit), &with_circuit).unwrap(), engine.start(&key, None, &evaluated).unwrap()];
        for job in jobs {
            assert!(job.finalize().unwrap() == expected, "{kind}, {form:?}: not zkcrypto's proof");
        }
    }
    let public = encode(&witness[..num_inputs], Form::Canonical);
    assert!(key.verify(&public, &expected).unwrap());
}

#[test]
fn spend_equals_zkcrypto_byte_for_byte() {
    equals_zkcrypto("spend");
}

#[test]
fn output_equals_zkcrypto_byte_for_byte() {
    equals_zkcrypto("output");
}
