//! Witnesses that do not satisfy the circuit.

use ffi_tests::fixture::{Fixture, Form, encode};
use ffi_tests::handles::Request;
use groth16::formats::r1cs::{R1cs, Rows};
use groth16::math::fr::Fr;
use groth16::prover::synthetic::Shape;

use super::{Setup, assert_fails, status};

/// The first row that a witness breaks, from the file's terms alone.
fn first_broken(r1cs: &R1cs, witness: &[Fr]) -> Option<usize> {
    let value = |rows: &Rows, row: usize| {
        let terms = rows.row_starts[row] as usize..rows.row_starts[row + 1] as usize;
        terms.fold(Fr::from(0), |sum, term| {
            sum + Fr::from_le_bytes(&rows.values[term]).unwrap() * witness[rows.columns[term] as usize]
        })
    };
    let is_broken = |row: &usize| value(&r1cs.a, *row) * value(&r1cs.b, *row) != value(&r1cs.c, *row);
    (0..r1cs.num_constraints as usize).find(is_broken)
}

#[test]
fn every_single_wrong_value_is_found() {
    let setup = Setup::new(&Shape::new(60, 4, 12));
    let Fixture { r1cs, witness, .. } = &setup.fixture;
    assert_eq!(first_broken(r1cs, witness), None);
    let mut rows_seen = std::collections::BTreeSet::new();
    for index in 1..witness.len() {
        for (turn, change) in [Fr::from(1), -Fr::from(1), Fr::from(1 << 40)].into_iter().enumerate() {
            let mut wrong = witness.clone();
            wrong[index] += change;
            // A bit that nothing else depends on may be either.
            let Some(row) = first_broken(r1cs, &wrong) else { continue };
            rows_seen.insert(row);
            let text = format!("row {row}:");
            let form = if turn == 1 { Form::Montgomery } else { Form::Canonical };
            let fixture = &setup.fixture;
            let with_circuit = setup.prove(true, fixture.request_of(&wrong, form));
            assert_fails(with_circuit, status::UNSATISFIED, &[&text]);
            let with_c = setup.prove(false, fixture.evaluated_request_of(&wrong, form, true));
            assert_fails(with_c, status::UNSATISFIED, &[&text]);
            if turn == 0 {
                let without_c = setup.prove(false, fixture.evaluated_request_of(&wrong, form, false));
                assert_fails(without_c, status::SELF_CHECK, &["does not verify"]);
            }
        }
    }
    assert!(rows_seen.len() > 20, "only rows {rows_seen:?} were broken");
    setup.check_health();
}

#[test]
fn every_wrong_row_of_a_b_or_c_is_found() {
    let setup = Setup::new(&Shape::new(28, 4, 13));
    let fixture = &setup.fixture;
    let right = fixture.model.evaluate_with_inputs(&fixture.witness, fixture.num_inputs()).unwrap();
    for row in 0..right.a.len() {
        for which in 0..3 {
            let mut rows = [right.a.clone(), right.b.clone(), right.c.clone()];
            rows[which][row] += Fr::from(3);
            let broken = rows[0][row] * rows[1][row] != rows[2][row];
            let request = |with_c: bool| {
                let [a, b, c] = rows.each_ref().map(|values| encode(values, Form::Canonical));
                let c = if with_c { c } else { Vec::new() };
                Request { rows: [a, b, c], ..fixture.request(Form::Canonical) }
            };
            if broken {
                assert_fails(setup.prove(false, request(true)), status::UNSATISFIED, &[&format!("row {row}:")]);
            }
            // Without c, a row whose a or b is changed makes another quotient; a c that is not given cannot be wrong.
            if which < 2 && broken {
                assert_fails(setup.prove(false, request(false)), status::SELF_CHECK, &["does not verify"]);
            }
        }
    }
}

#[test]
fn skip_self_check_lets_a_wrong_proof_out_and_verify_tells() {
    let setup = Setup::small();
    let mut wrong = setup.fixture.witness.clone();
    let index = (0..wrong.len()).rev().find(|index| {
        let mut changed = setup.fixture.witness.clone();
        changed[*index] += Fr::from(1);
        first_broken(&setup.fixture.r1cs, &changed).is_some()
    });
    wrong[index.unwrap()] += Fr::from(1);
    let request = setup.fixture.evaluated_request_of(&wrong, Form::Canonical, false);
    let proof = setup.prove(false, Request { skip_self_check: 1, ..request }).unwrap();
    assert!(!setup.key.verify(&setup.fixture.public(), &proof).unwrap());
    // It skips nothing else.
    let request = setup.fixture.request_of(&wrong, Form::Canonical);
    let failed = setup.prove(true, Request { skip_self_check: 1, ..request });
    assert_fails(failed, status::UNSATISFIED, &["row"]);
}

#[test]
fn the_first_input_is_one() {
    let setup = Setup::small();
    for first in [Fr::from(0), Fr::from(2), -Fr::from(1)] {
        for form in [Form::Canonical, Form::Montgomery] {
            let mut witness = setup.fixture.witness.clone();
            witness[0] = first;
            let text = ["inputs[0] is not one"];
            assert_fails(setup.prove(true, setup.fixture.request_of(&witness, form)), status::INVALID, &text);
            let mut request = setup.fixture.evaluated_request(form, true);
            request.inputs = setup.fixture.request_of(&witness, form).inputs;
            assert_fails(setup.prove(false, request), status::INVALID, &text);
        }
    }
    // One in the other form is not one.
    let mut request = setup.fixture.request(Form::Montgomery);
    request.scalar_form = Form::Canonical as i32;
    assert_fails(setup.prove(true, request), status::INVALID, &["inputs[0] is not one"]);
}
