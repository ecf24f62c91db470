//! Counts that do not fit, and scalars that are not below the group order.

use std::ptr::null;

use ffi_tests::capi::api;
use ffi_tests::fixture::{Fixture, Form};
use ffi_tests::handles::Request;
use ffi_tests::memory::Guarded;
use groth16::ffi::job::{groth16_job_options, groth16_scalars};
use groth16::math::fr::MODULUS;
use groth16::prover::synthetic::Shape;

use super::{Outcome, Setup, assert_fails, outcome, status};

/// Starts with raw options and finalizes.
fn run(setup: &Setup, options: &groth16_job_options) -> Outcome<Vec<u8>> {
    let mut job = std::ptr::null_mut();
    outcome(unsafe {
        (api().groth16_start)(setup.engine.raw(), setup.key.raw(), std::ptr::from_ref(options), &raw mut job)
    })?;
    let proof = unsafe { ffi_tests::handles::finalize(job) };
    unsafe { (api().groth16_free)(job) };
    proof
}

/// Scalars that end where the readable world ends.
fn guarded(bytes: &[u8]) -> (Guarded, groth16_scalars) {
    let guarded = Guarded::new(bytes);
    let scalars = groth16_scalars { data: guarded.pointer::<u8>().cast(), count: bytes.len() / 32 };
    (guarded, scalars)
}

#[test]
fn scalars_may_end_at_the_end_of_a_page_and_stand_unaligned() {
    let setup = Setup::small();
    let right = setup.fixture.proof.to_compressed();
    for form in [Form::Canonical, Form::Montgomery] {
        let request = setup.fixture.evaluated_request(form, true);
        let (_inputs, inputs) = guarded(&request.inputs);
        let (_aux, aux) = guarded(&request.aux);
        let rows = request.rows.each_ref().map(|bytes| guarded(bytes));
        let mut options = request.options(None);
        (options.inputs, options.aux) = (inputs, aux);
        [options.a, options.b, options.c] = rows.each_ref().map(|(_, scalars)| *scalars);
        assert_eq!(run(&setup, &options).unwrap(), right);
        // One byte further, that is at odd addresses.
        let shifted: Vec<Vec<u8>> = request.rows.iter().map(|bytes| [&[7], bytes.as_slice()].concat()).collect();
        let at =
            |i: usize| groth16_scalars { data: shifted[i][1..].as_ptr().cast(), count: request.rows[i].len() / 32 };
        (options.a, options.b, options.c) = (at(0), at(1), at(2));
        assert_eq!(run(&setup, &options).unwrap(), right);
    }
}

#[test]
fn counts_that_do_not_fit() {
    let setup = Setup::small();
    let request = setup.fixture.evaluated_request(Form::Canonical, true);
    // Reading more than the count allows would hit a page without access.
    let (_inputs, inputs) = guarded(&request.inputs);
    let (_aux, aux) = guarded(&request.aux);
    type Field = fn(&mut groth16_job_options) -> &mut groth16_scalars;
    let fields: [(&str, Field); 5] = [
        ("inputs", |o| &mut o.inputs),
        ("aux", |o| &mut o.aux),
        ("a", |o| &mut o.a),
        ("b", |o| &mut o.b),
        ("c", |o| &mut o.c),
    ];
    for (name, field) in fields {
        let mut options = request.options(None);
        (options.inputs, options.aux) = (inputs, aux);
        let right = field(&mut options).count;
        for count in [right - 1, right + 1, 0, 1, usize::MAX, usize::MAX / 32, usize::MAX / 32 + 1, usize::MAX / 64 + 1]
        {
            if (name, count) == ("c", 0) {
                continue;
            }
            field(&mut options).count = count;
            // Where a is one row off, it still fits the domain, and b differs from it.
            let named = if name == "a" { "" } else { name };
            assert_fails(run(&setup, &options), status::INVALID, &[named]);
        }
        field(&mut options).count = right;
        field(&mut options).data = null();
        assert_fails(run(&setup, &options), status::INVALID, &[&format!("{name} is NULL")]);
    }
    // a, b, c together of another size: the domain does not fit.
    let mut options = request.options(None);
    for rows in [0, 1, 16] {
        (options.a.count, options.b.count, options.c.count) = (rows, rows, rows);
        assert_fails(run(&setup, &options), status::INVALID, &["rows", "domain of 32", "17 to 32"]);
    }
    // Beside a circuit they stay empty.
    let mut options = request.options(Some(&setup.circuit));
    options.b = inputs;
    assert_fails(run(&setup, &options), status::INVALID, &["must stay empty"]);
    setup.check_health();
}

#[test]
fn a_key_for_another_circuit() {
    let setup = Setup::small();
    let others =
        [Shape::new(21, 3, 1), Shape::new(20, 4, 1), Shape { rows: 40, inputs: 3, aux: 20, ..Shape::new(0, 1, 1) }];
    for shape in others {
        let other = Fixture::new(&shape);
        let circuit = setup.engine.circuit_from_bytes(&other.r1cs_bytes()).unwrap();
        let text = ["the key is for another circuit"];
        assert_fails(setup.engine.key_from_bytes(&setup.fixture.key, &circuit), status::INVALID, &text);
        let request = std::sync::Arc::new(setup.fixture.request(Form::Canonical));
        let started = setup.engine.start(&setup.key, Some(&circuit), &request);
        assert_fails(started, status::INVALID, &text);
    }
    // Of the same shape: nothing but the proof tells.
    let twin = Fixture::new(&Shape::new(20, 3, 22));
    let circuit = setup.engine.circuit_from_bytes(&twin.r1cs_bytes()).unwrap();
    let request = std::sync::Arc::new(twin.request(Form::Canonical));
    let job = setup.engine.start(&setup.key, Some(&circuit), &request).unwrap();
    assert_fails(job.finalize(), status::SELF_CHECK, &["does not verify", "withheld"]);
}

/// r, r + 1, 2r - 1 (if it fits), 2^256 - 1.
fn too_large() -> [[u8; 32]; 4] {
    let order = groth16::math::fr::scalar_to_le_bytes(&MODULUS);
    let mut above = order;
    above[0] += 1;
    let mut with_top_bit = [0; 32];
    with_top_bit[31] = 0x80;
    [order, above, with_top_bit, [0xff; 32]]
}

#[test]
fn scalars_not_below_the_order_are_refused_by_index() {
    let setup = Setup::small();
    for form in [Form::Canonical, Form::Montgomery] {
        let fields = ["inputs", "aux", "a", "b", "c"];
        for (number, name) in fields.iter().enumerate() {
            let count = bytes_of(&mut setup.fixture.evaluated_request(form, true), number).len() / 32;
            for index in [0, 1, count / 2, count - 1] {
                for wrong in too_large() {
                    let mut request = setup.fixture.evaluated_request(form, true);
                    bytes_of(&mut request, number)[32 * index..][..32].copy_from_slice(&wrong);
                    let place = format!("{name}[{index}] ");
                    assert_fails(setup.prove(false, request), status::INVALID, &[&place, "group order"]);
                }
            }
        }
    }
    setup.check_health();
}

fn bytes_of(request: &mut Request, number: usize) -> &mut Vec<u8> {
    match number {
        0 => &mut request.inputs,
        1 => &mut request.aux,
        more => &mut request.rows[more - 2],
    }
}

#[test]
fn the_first_wrong_scalar_of_many_is_named() {
    let setup = Setup::new(&Shape::new(9000, 2, 4));
    let mut request = setup.fixture.request(Form::Canonical);
    for index in [8999, 4097, 5000] {
        request.aux[32 * index..][..32].fill(0xff);
    }
    assert_fails(setup.prove(true, request), status::INVALID, &["aux[4097] "]);
}

#[test]
fn r_and_s_not_below_the_order() {
    let setup = Setup::small();
    let fine = [1u8; 32];
    for wrong in too_large() {
        for (blinding, name) in [([wrong, fine], "r "), ([fine, wrong], "s ")] {
            let request = Request { blinding: Some(blinding), ..setup.fixture.request(Form::Canonical) };
            assert_fails(setup.start(true, request), status::INVALID, &[name, "not below the group order"]);
        }
    }
    // Each may be given alone.
    for pick in [0, 1] {
        let request = setup.fixture.request(Form::Canonical);
        let mut options = request.options(Some(&setup.circuit));
        if pick == 0 {
            options.s = null()
        } else {
            options.r = null()
        }
        let proof = run(&setup, &options).unwrap();
        let right = setup.fixture.proof.to_compressed();
        // A depends on r alone, B on s alone.
        assert_eq!((proof[..48] == right[..48], proof[48..144] == right[48..144]), (pick == 0, pick == 1));
        assert!(setup.key.verify(&setup.fixture.public(), &proof).unwrap());
    }
}
