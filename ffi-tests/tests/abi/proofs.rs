//! Every proof equals, byte by byte, that which the key's trapdoor gives.

use std::sync::Arc;

use ffi_tests::capi::{FUNCTIONS, api};
use ffi_tests::fixture::{Fixture, Form};
use ffi_tests::handles::{Engine, Key, Request};
use groth16::formats::proof::Proof;
use groth16::prover::synthetic::Shape;

const FORMS: [Form; 2] = [Form::Canonical, Form::Montgomery];

#[test]
fn the_functions_are_those_of_the_shared_object() {
    let here = groth16::ffi::library::groth16_abi_version as *const () as usize;
    assert_ne!(api().groth16_abi_version as *const () as usize, here);
    // SAFETY: no arguments.
    let version = unsafe { (api().groth16_abi_version)() };
    assert_eq!(version, groth16::ffi::library::groth16_abi_version());
    // SAFETY: the result is a static string.
    let text = unsafe { std::ffi::CStr::from_ptr((api().groth16_version)()) };
    assert_eq!(text.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
    assert!(!FUNCTIONS.is_empty());
}

fn engine() -> Engine {
    Engine::new(|options| options.cpu_threads = 2).unwrap()
}

/// Proves a fixture in every form of input; each proof has the expected bytes and verifies.
fn prove_in_every_form(engine: &Engine, fixture: &Fixture, what: &str) {
    let circuit = engine.circuit_from_bytes(&fixture.r1cs_bytes()).unwrap();
    let same_circuit = engine.circuit_from_matrices(&fixture.r1cs).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.params");
    std::fs::write(&path, &fixture.key).unwrap();
    let from_bytes = engine.key_from_bytes(&fixture.key, &circuit).unwrap();
    let from_file = engine.key_from_file(&path, &same_circuit).unwrap();
    let from_bits = key_with_bits(engine, fixture);
    let expected = fixture.proof.to_compressed();

    let mut jobs = Vec::new();
    for form in FORMS {
        let evaluated = |with_c| Arc::new(fixture.evaluated_request(form, with_c));
        let witness = Arc::new(fixture.request(form));
        jobs.push(("a, b, c", engine.start(&from_bytes, None, &evaluated(true))));
        jobs.push(("a, b", engine.start(&from_bits, None, &evaluated(false))));
        jobs.push((".r1cs", engine.start(&from_file, Some(&circuit), &witness)));
        jobs.push(("matrices", engine.start(&from_bits, Some(&same_circuit), &witness)));
    }
    for (input, job) in jobs {
        let proof = job.and_then(|job| job.finalize()).unwrap_or_else(|e| panic!("{what}, {input}: {e:?}"));
        assert_eq!(proof, expected, "{what}, {input}: wrong bytes");
    }
    let public = fixture.public();
    for key in [&from_bytes, &from_file, &from_bits] {
        assert!(key.verify(&public, &expected).unwrap(), "{what}");
    }
}

fn key_with_bits(engine: &Engine, fixture: &Fixture) -> Key {
    let words = fixture.density_words();
    let key = engine.key(|options| {
        (options.data, options.data_len) = (fixture.key.as_ptr().cast(), fixture.key.len());
        for (bits, (words, count)) in
            [&mut options.a_aux, &mut options.b_inputs, &mut options.b_aux].into_iter().zip(&words)
        {
            (bits.words, bits.count) = (words.as_ptr(), *count);
        }
    });
    key.unwrap()
}

/// Some inputs for so many rows.
fn inputs_for(total: usize) -> usize {
    1 + (total - 1) * (total % 5) / 9
}

fn sweep(sizes: &[usize]) {
    let engine = engine();
    for total in sizes {
        prove_in_every_form(&engine, &Fixture::with_rows(*total, inputs_for(*total)), &format!("{total} rows"));
    }
}

#[test]
fn sizes_up_to_65() {
    sweep(&[1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65]);
}

#[test]
fn sizes_from_127() {
    sweep(&[127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025]);
}

/// Minutes: with the environment variable GROTH16_SOAK, or by `--ignored`.
#[test]
#[ignore = "takes minutes"]
fn large_sizes() {
    sweep(&[4095, 4096, 4097, 65535, 65536, 65537]);
}

#[test]
fn large_sizes_when_soaking() {
    if std::env::var_os("GROTH16_SOAK").is_some() {
        large_sizes();
    }
}

#[test]
fn shapes() {
    let engine = engine();
    let shape = |rows, inputs, aux, boolean_percent| Shape { rows, inputs, aux, boolean_percent, seed: rows as u64 };
    let shapes = [
        shape(0, 1, 0, 50),
        shape(0, 7, 0, 50),
        shape(1, 1, 1, 0),
        shape(1, 1, 1, 100),
        shape(40, 1, 1, 0),
        shape(3, 1, 40, 50),
        shape(30, 1, 30, 50),
        shape(5, 90, 2, 50),
        shape(200, 20, 120, 50),
        shape(120, 3, 300, 100),
        shape(120, 3, 300, 0),
        shape(250, 2, 250, 100),
        shape(250, 2, 250, 0),
    ];
    for shape in &shapes {
        prove_in_every_form(&engine, &Fixture::new(shape), &format!("{shape:?}"));
    }
}

#[test]
fn a_key_without_densities_is_for_variables_that_are_all_dense() {
    let engine = engine();
    // One row x * x = y: x is in A and B, y and the constant in neither.
    let fixture = Fixture::new(&Shape::new(20, 2, 3));
    let refused = engine.key(|options| {
        (options.data, options.data_len) = (fixture.key.as_ptr().cast(), fixture.key.len());
    });
    let failure = refused.unwrap_err();
    assert_eq!(failure.status, super::status::INVALID, "{failure:?}");
    assert!(failure.message.contains("section"), "{failure:?}");
}

#[test]
fn proof_formats() {
    let engine = engine();
    let fixture = Fixture::with_rows(40, 3);
    let circuit = engine.circuit_from_bytes(&fixture.r1cs_bytes()).unwrap();
    let key = engine.key_from_bytes(&fixture.key, &circuit).unwrap();
    let proof = &fixture.proof;
    let expected = [proof.to_compressed().to_vec(), proof.to_uncompressed().to_vec(), proof.to_json().into_bytes()];
    for (format, expected) in expected.iter().enumerate() {
        let request = Request { proof_format: format as i32, ..fixture.request(Form::Canonical) };
        let got = engine.start(&key, Some(&circuit), &Arc::new(request)).unwrap().finalize().unwrap();
        assert_eq!(&got, expected, "format {format}");
        assert!(key.verify(&fixture.public(), &got).unwrap(), "format {format}");
    }
    assert_eq!(expected[0].len(), 192);
    assert_eq!(expected[1].len(), 384);
    assert_eq!(Proof::from_json(std::str::from_utf8(&expected[2]).unwrap()).unwrap(), *proof);
}

#[test]
fn without_r_and_s_proofs_differ_and_verify() {
    let engine = engine();
    let fixture = Fixture::with_rows(40, 3);
    let circuit = engine.circuit_from_bytes(&fixture.r1cs_bytes()).unwrap();
    let key = engine.key_from_bytes(&fixture.key, &circuit).unwrap();
    let prove = || {
        let request = Request { blinding: None, ..fixture.request(Form::Canonical) };
        engine.start(&key, Some(&circuit), &Arc::new(request)).unwrap().finalize().unwrap()
    };
    let (first, second) = (prove(), prove());
    // All three points are blinded.
    for (place, range) in [("A", 0..48), ("B", 48..144), ("C", 144..192)] {
        assert_ne!(first[range.clone()], second[range], "{place}");
    }
    for proof in [first, second] {
        assert!(key.verify(&fixture.public(), &proof).unwrap());
    }
}

#[test]
fn r_and_s_may_be_zero() {
    use groth16::math::fr::Fr;
    let engine = engine();
    let fixture = Fixture::with_rows(20, 2);
    let circuit = engine.circuit_from_bytes(&fixture.r1cs_bytes()).unwrap();
    let key = engine.key_from_bytes(&fixture.key, &circuit).unwrap();
    let r_minus_one = -Fr::from(1);
    for (r, s) in [(Fr::from(0), Fr::from(0)), (Fr::from(0), r_minus_one), (r_minus_one, Fr::from(1))] {
        let (model, trapdoor) = (&fixture.model, &fixture.trapdoor);
        let expected = groth16::prover::setup::expected_proof(model, trapdoor, &fixture.witness, r, s).unwrap();
        let blinding = Some([r.to_le_bytes(), s.to_le_bytes()]);
        let request = Request { blinding, ..fixture.request(Form::Montgomery) };
        let proof = engine.start(&key, Some(&circuit), &Arc::new(request)).unwrap().finalize().unwrap();
        assert_eq!(proof, expected.to_compressed());
    }
}
