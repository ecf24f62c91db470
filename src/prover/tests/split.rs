//! Splits against their definition.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use crate::error::Status;
use crate::math::field::Field;
use crate::math::fr::{self, Fr, Scalar};
use crate::math::g1::G1Affine;
use crate::math::g2::G2Affine;
use crate::prover::density::Density;
use crate::prover::key::{BELLMAN_ROOT_GENERATOR, BasePoints, InputRows, ProvingKey, Query};
use crate::prover::split::SplitWitness;
use crate::prover::synthetic::Rng;
use crate::prover::witness::{LentVariables, ScalarForm, Scalars};

/// A key without points.
fn key(num_inputs: usize, a: Density, b: Density) -> ProvingKey {
    let (g1, g2) = (G1Affine::INFINITY, G2Affine::INFINITY);
    let [a, b] = [a, b].map(Arc::new);
    ProvingKey {
        base: BasePoints { alpha1: g1, beta1: g1, beta2: g2, delta1: g1, delta2: g2 },
        vk: None,
        num_inputs,
        num_aux: a.len() - num_inputs,
        input_rows: InputRows::PerInput,
        root_generator: BELLMAN_ROOT_GENERATOR,
        log_domain: 1,
        h: Vec::new(),
        l: Vec::new(),
        a: Query { points: Vec::new(), density: a },
        b1: Query { points: Vec::new(), density: Arc::clone(&b) },
        b2: Query { points: Vec::new(), density: b },
    }
}

fn expected(key: &ProvingKey, values: &[Fr]) -> [(Vec<u32>, Vec<u32>, Vec<Scalar>); 3] {
    [0, 1, 2].map(|query| {
        let mut out = (Vec::new(), Vec::new(), Vec::new());
        for (variable, value) in values.iter().enumerate() {
            let point = match query {
                0 => variable.checked_sub(key.num_inputs),
                1 => key.a.density.rank(variable),
                _ => key.b1.density.rank(variable),
            };
            let Some(point) = point else { continue };
            if *value == Fr::ONE {
                out.0.push(point as u32);
            } else if *value != Fr::ZERO {
                out.1.push(point as u32);
                out.2.push(value.to_canonical());
            }
        }
        out
    })
}

fn lists(split: &SplitWitness) -> [(Vec<u32>, Vec<u32>, Vec<Scalar>); 3] {
    [&split.l, &split.a, &split.b].map(|query| (query.ones.clone(), query.picks.clone(), query.scalars.clone()))
}

fn values(count: usize, seed: u64) -> Vec<Fr> {
    let mut rng = Rng::new(seed);
    let value = |rng: &mut Rng| match rng.next_u64() % 8 {
        0..3 => Fr::ZERO,
        3..6 => Fr::ONE,
        6 => -Fr::ONE,
        _ => rng.fr(),
    };
    (0..count).map(|_| value(&mut rng)).collect()
}

fn bytes(values: &[Fr], form: ScalarForm) -> Vec<u8> {
    let limbs = |value: &Fr| match form {
        ScalarForm::Canonical => value.to_canonical(),
        ScalarForm::Montgomery => value.to_montgomery(),
    };
    values.iter().flat_map(|value| fr::scalar_to_le_bytes(&limbs(value))).collect()
}

fn random_density(count: usize, seed: u64) -> Density {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| !rng.next_u64().is_multiple_of(3)).collect()
}

/// In a pool, so that there are several pieces.
fn in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap().install(work)
}

#[test]
fn every_value_goes_where_its_kind_and_its_densities_say() {
    for count in [0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 4095, 4097, 20_000] {
        for num_inputs in [0, 1, 2, 63, 64, 65, 130, count] {
            if num_inputs > count {
                continue;
            }
            let values = values(count, (count + num_inputs) as u64);
            let densities =
                [(random_density(count, 1), random_density(count, 2)), (Density::all(count), Density::none(count))];
            for (a, b) in densities {
                let key = key(num_inputs, a, b);
                let wanted = expected(&key, &values);
                assert_eq!(lists(&SplitWitness::new(&key, &values[..]).unwrap()), wanted, "{count}, {num_inputs}");
                for form in [ScalarForm::Canonical, ScalarForm::Montgomery] {
                    let lend = |name, part: &[Fr]| Scalars::new(name, Box::new(bytes(part, form)), form).unwrap();
                    let (inputs, aux) = (lend("inputs", &values[..num_inputs]), lend("aux", &values[num_inputs..]));
                    let split = in_pool(|| SplitWitness::new(&key, &LentVariables::new(&inputs, &aux)).unwrap());
                    assert_eq!(lists(&split), wanted, "{count}, {num_inputs}, {form:?}");
                }
            }
        }
    }
}

#[test]
fn the_first_value_that_is_not_below_the_order_is_named() {
    let (count, num_inputs) = (20_000, 3);
    let key = key(num_inputs, Density::none(count), Density::none(count));
    for form in [ScalarForm::Canonical, ScalarForm::Montgomery] {
        for (bad, name) in [(1, "inputs[1]"), (3, "aux[0]"), (19_000, "aux[18997]")] {
            let mut all = bytes(&values(count, 9), form);
            for variable in [bad, 19_999] {
                all[32 * variable..][..32].copy_from_slice(&fr::scalar_to_le_bytes(&fr::MODULUS));
            }
            let (inputs, aux) = all.split_at(32 * num_inputs);
            let lend = |name, bytes: &[u8]| Scalars::new(name, Box::new(bytes.to_vec()), form).unwrap();
            let (inputs, aux) = (lend("inputs", inputs), lend("aux", aux));
            let error = in_pool(|| SplitWitness::new(&key, &LentVariables::new(&inputs, &aux))).unwrap_err();
            assert_eq!(error.status(), Status::Invalid);
            assert_eq!(error.message(), format!("{name} is not below the group order r"));
        }
    }
}
