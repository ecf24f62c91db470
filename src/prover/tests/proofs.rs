use super::circuits::{Rows, build};
use crate::error::Status;
use crate::formats::bellman_params::Params;
use crate::math::curve::{Affine, CurveField};
use crate::math::field::Field;
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::fr::Fr;
use crate::prover::circuit::Circuit;
use crate::prover::density::Density;
use crate::prover::key::{Densities, ProvingKey};
use crate::prover::reference;
use crate::prover::setup::{FixedBase, Trapdoor, expected_proof, setup};
use crate::prover::synthetic::{self, Rng, Shape};
use crate::prover::verify::verify;

/// Proves by the textbook, compares with the trapdoor's value, verifies, and refuses a changed statement.
fn check(circuit: &Circuit, witness: &[Fr], seed: u64) -> ProvingKey {
    let trapdoor = Trapdoor::from_seed(seed);
    let params = setup(circuit, &trapdoor).unwrap();
    let key = ProvingKey::from_bellman_with_circuit(params, circuit).unwrap();
    let mut rng = Rng::new(seed ^ 0x5eed);
    let inputs = &witness[..circuit.num_inputs()];
    let mut blindings = vec![(rng.fr(), rng.fr())];
    if circuit.num_rows() < 4 {
        blindings.extend([(-Fr::ONE, Fr::ONE), (Fr::ZERO, Fr::ZERO)]);
    }
    for (r, s) in &blindings {
        let expected = expected_proof(circuit, &trapdoor, witness, *r, *s).unwrap();
        let proof = reference::prove(&key, circuit, witness, *r, *s).unwrap();
        assert_eq!(proof, expected, "{} rows", circuit.num_rows());
        // Without auxiliary variables, h and blinding C is infinity, which verifiers refuse.
        assert_eq!(verify(key.verifying_key().unwrap(), inputs, &proof).unwrap(), !proof.c.is_infinity());
    }
    let (r, s) = blindings[0];
    let proof = reference::prove(&key, circuit, witness, r, s).unwrap();
    for changed in 1..inputs.len() {
        let mut inputs = inputs.to_vec();
        inputs[changed] += Fr::ONE;
        assert!(!verify(key.verifying_key().unwrap(), &inputs, &proof).unwrap());
    }
    let mut other = proof;
    other.c = -other.c;
    assert!(!verify(key.verifying_key().unwrap(), inputs, &other).unwrap());
    key
}

#[test]
fn one_to_forty_rows() {
    for rows in 1..=40 {
        let (circuit, witness) = synthetic::circuit(&Shape::new(rows, 1 + rows % 4, rows as u64)).unwrap();
        check(&circuit, &witness, 100 + rows as u64);
    }
}

#[test]
fn rows_and_inputs_around_powers_of_two() {
    for size in [4usize, 8, 16, 32, 64] {
        for (total, domain) in [(size - 1, size), (size, size), (size + 1, 2 * size)] {
            for inputs in [1, 3] {
                let Some(rows) = total.checked_sub(inputs).filter(|rows| *rows > 0) else { continue };
                let (circuit, witness) = synthetic::circuit(&Shape::new(rows, inputs, total as u64)).unwrap();
                assert_eq!(check(&circuit, &witness, 7).domain_size(), domain);
            }
        }
    }
}

#[test]
fn few_and_many_variables() {
    for (rows, inputs, aux) in [(0, 1, 0), (0, 5, 0), (20, 2, 1), (20, 1, 0), (2, 2, 40), (1, 9, 70), (5, 1, 6)] {
        for boolean_percent in [0, 100] {
            let shape = Shape { rows, inputs, aux, boolean_percent, seed: 3 };
            let (circuit, witness) = synthetic::circuit(&shape).unwrap();
            assert_eq!((circuit.num_rows(), circuit.num_inputs(), circuit.num_aux()), (rows, inputs, aux));
            check(&circuit, &witness, 9);
        }
    }
    assert!(synthetic::circuit(&Shape { rows: 0, inputs: 1, aux: 1, boolean_percent: 0, seed: 0 }).is_err());
    assert!(synthetic::circuit(&Shape::new(1, 0, 0)).is_err());
}

#[test]
fn variables_in_one_matrix_only_and_terms_that_cancel() {
    // Variables: 0 one, 1 input, 2 input that no row names, 3 only in A, 4 only in B, 5 only in C, 6 in A and B, but
    // cancelled in A.
    let [one, x, a, b, product, other] = [1u64, 5, 3, 4, 12, 9].map(Fr::from);
    let rows: Rows = vec![
        (vec![(3, 1)], vec![(4, 1)], vec![(5, 1)]),
        (vec![(6, 2), (1, 1), (6, -2)], vec![(6, 1), (6, 1)], vec![(0, 90)]),
        (vec![(6, 7), (6, -3), (6, -4)], vec![(0, 1), (0, -1)], vec![]),
    ];
    let circuit = build(3, 4, &rows);
    let witness = [one, x, Fr::from(77), a, b, product, other];
    let key = check(&circuit, &witness, 5);
    let members = |density: &Density| density.members().collect::<Vec<_>>();
    assert_eq!(members(&key.a.density), [0, 1, 2, 3]);
    assert_eq!(members(&key.b1.density), [4, 6]);
    assert_eq!((key.a.points.len(), key.b1.points.len(), key.b2.points.len()), (4, 2, 2));
}

#[test]
fn a_single_dense_variable_in_b() {
    let circuit = build(1, 2, &vec![(vec![(1, 1)], vec![(1, 1)], vec![(2, 1)])]);
    let key = check(&circuit, &[Fr::ONE, Fr::from(6), Fr::from(36)], 5);
    assert_eq!(key.b2.points.len(), 1);
}

#[test]
fn wrong_witnesses_are_refused_with_their_row() {
    let (circuit, mut witness) = synthetic::circuit(&Shape::new(10, 2, 1)).unwrap();
    let trapdoor = Trapdoor::from_seed(1);
    let key = ProvingKey::from_bellman_with_circuit(setup(&circuit, &trapdoor).unwrap(), &circuit).unwrap();
    *witness.last_mut().unwrap() += Fr::from(2);
    let first = circuit.evaluate(&witness).unwrap().first_unsatisfied();
    assert_eq!(first, Some(9));
    let error = expected_proof(&circuit, &trapdoor, &witness, Fr::ONE, Fr::ONE).unwrap_err();
    assert_eq!((error.status(), error.message()), (Status::Unsatisfied, "the witness breaks row 9"));
    let error = reference::prove(&key, &circuit, &witness, Fr::ONE, Fr::ONE).unwrap_err();
    assert_eq!(error.status(), Status::Unsatisfied);
    assert_eq!(circuit.evaluate(&witness[1..]).unwrap_err().status(), Status::Invalid);
    witness[0] = Fr::ZERO;
    assert_eq!(circuit.evaluate(&witness).unwrap_err().message(), "witness: value 0 is not one");
}

#[test]
fn inputs_of_a_verification_are_counted() {
    let (circuit, witness) = synthetic::circuit(&Shape::new(3, 3, 1)).unwrap();
    let key = check(&circuit, &witness, 2);
    let proof = reference::prove(&key, &circuit, &witness, Fr::ONE, Fr::ONE).unwrap();
    for count in [0, 1, 2, 4] {
        let error = verify(key.verifying_key().unwrap(), &witness[..count], &proof).unwrap_err();
        assert_eq!(error.status(), Status::Invalid);
    }
    let error = verify(key.verifying_key().unwrap(), &[Fr::ZERO, witness[1], witness[2]], &proof).unwrap_err();
    assert_eq!(error.message(), "verify: input 0 is not one");
    for point in 0..3 {
        let mut proof = proof;
        match point {
            0 => proof.a = Affine::INFINITY,
            1 => proof.b = Affine::INFINITY,
            _ => proof.c = Affine::INFINITY,
        }
        assert!(!verify(key.verifying_key().unwrap(), &witness[..3], &proof).unwrap());
    }
}

#[test]
fn keys_for_another_circuit_are_refused() {
    let (circuit, _) = synthetic::circuit(&Shape::new(12, 3, 1)).unwrap();
    let params = setup(&circuit, &Trapdoor::from_seed(1)).unwrap();
    let refuse =
        |params: &Params, densities: Densities| ProvingKey::from_bellman(params.clone(), densities).unwrap_err();
    let densities = circuit.densities();
    assert!(ProvingKey::from_bellman(params.clone(), densities.clone()).is_ok());
    // The default, all ones, does not fit a file that left points out.
    let error = refuse(&params, Densities::default());
    assert_eq!(error.status(), Status::Invalid);
    assert!(error.message().starts_with("the key is for another circuit: section "), "{error}");
    for density in [Density::all(11), Density::all(13), Density::none(12)] {
        let error = refuse(&params, Densities { a_aux: Some(density), ..densities.clone() });
        assert!(error.status() == Status::Invalid && error.message().contains("another circuit"), "{error}");
    }
    for (rows, inputs) in [(11, 3), (12, 2), (13, 3), (12, 4)] {
        let (other, _) = synthetic::circuit(&Shape::new(rows, inputs, 1)).unwrap();
        let error = ProvingKey::from_bellman_with_circuit(params.clone(), &other).unwrap_err();
        assert!(error.status() == Status::Invalid && error.message().contains("another circuit"), "{error}");
    }
    // The same variables, but rows for a domain twice as large.
    let key = ProvingKey::from_bellman(params.clone(), densities.clone()).unwrap();
    let (other, _) = synthetic::circuit(&Shape { rows: 14, aux: 12, ..Shape::new(12, 3, 1) }).unwrap();
    let error = key.check_circuit(&other).unwrap_err();
    assert!(error.message().contains("domain has 16 elements, 17 rows"), "{error}");
}

#[test]
fn files_whose_counts_disagree_are_refused() {
    let (circuit, _) = synthetic::circuit(&Shape::new(12, 3, 1)).unwrap();
    let params = setup(&circuit, &Trapdoor::from_seed(1)).unwrap();
    type Change = fn(&mut Params);
    let changes: [(&str, Change); 7] = [
        ("section h has 14 points", |p| p.h.truncate(14)),
        ("section h has 16 points", |p| p.h.push(p.h[0])),
        ("section ic is empty", |p| p.vk.ic.clear()),
        ("section b_g2 has", |p| p.b_g2.truncate(1)),
        ("section a has 2 points", |p| p.a.truncate(2)),
        ("section ic has 17 points", |p| p.vk.ic.resize(17, p.h[0])),
        ("section b_g1 has 16 points", |p| {
            p.b_g1.resize(16, p.h[0]);
            p.b_g2.resize(16, p.b_g2[0]);
        }),
    ];
    for (text, change) in changes {
        let mut params = params.clone();
        change(&mut params);
        let error = ProvingKey::from_bellman(params, circuit.densities()).unwrap_err();
        assert!(error.status() == Status::Format && error.message().contains(text), "{text}: {error}");
    }
}

#[test]
fn bad_trapdoors_and_unconstrained_variables_are_refused() {
    let (circuit, _) = synthetic::circuit(&Shape::new(6, 2, 1)).unwrap();
    let root = Fr::root_of_unity(7, 3).unwrap();
    for bad in 0..6 {
        let mut trapdoor = Trapdoor::from_seed(1);
        match bad {
            0 => trapdoor.alpha = Fr::ZERO,
            1 => trapdoor.beta = Fr::ZERO,
            2 => trapdoor.gamma = Fr::ZERO,
            3 => trapdoor.delta = Fr::ZERO,
            4 => trapdoor.tau = Fr::ZERO,
            _ => trapdoor.tau = root,
        }
        assert_eq!(setup(&circuit, &trapdoor).unwrap_err().status(), Status::Invalid);
    }
    let circuit = build(1, 2, &vec![(vec![(1, 1)], vec![(1, 1)], vec![])]);
    let error = setup(&circuit, &Trapdoor::from_seed(1)).unwrap_err();
    assert_eq!(error.message(), "set-up: auxiliary variable 1 is in no row");
}

#[test]
fn fixed_base_products_are_those_of_double_and_add() {
    let mut scalars = vec![Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(2).inverse(), Fr::from(u64::MAX)];
    scalars.extend((0..255).step_by(17).map(|k| Fr::from(2).pow(&[k])));
    scalars.extend((0..255).step_by(31).map(|k| Fr::from(2).pow(&[k]) - Fr::ONE));
    fn check<F: CurveField>(scalars: &[Fr], count: usize) {
        let products = FixedBase::<F>::new(count).mul(scalars);
        for (scalar, product) in scalars.iter().zip(products) {
            assert_eq!(product, F::GENERATOR.mul(&scalar.to_canonical()).to_affine());
        }
    }
    for count in [0, 1, 100, 200, 3000] {
        check::<Fp>(&scalars, count);
        check::<Fp2>(&scalars, count);
    }
}
