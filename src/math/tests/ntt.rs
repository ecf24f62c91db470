use super::support::{Random, backends, in_pool};
use crate::error::Status;
use crate::math::field::Field;
use crate::math::fr::Fr;
use crate::math::ntt::{Domain, permute, reverse_bits};

fn random_vector(seed: u64, size: usize) -> Vec<Fr> {
    let mut random = Random(seed);
    (0..size).map(|_| random.fr()).collect()
}

/// The values of the polynomial at all powers of `root`, by Horner's rule.
fn by_definition(coefficients: &[Fr], root: Fr) -> Vec<Fr> {
    let points = std::iter::successors(Some(Fr::ONE), |x| Some(*x * root)).take(coefficients.len());
    points.map(|x| coefficients.iter().rev().fold(Fr::ZERO, |value, c| value * x + *c)).collect()
}

fn permuted(mut values: Vec<Fr>) -> Vec<Fr> {
    permute(&mut values);
    values
}

fn changed(mut values: Vec<Fr>, change: impl Fn(&mut [Fr])) -> Vec<Fr> {
    change(&mut values);
    values
}

#[test]
fn transforms_match_the_definition() {
    for generator in [5, 7] {
        for log in 0..=8 {
            for lanes in backends() {
                let domain = Domain::new_on(lanes, log, generator).unwrap();
                assert_eq!(domain.root(), Fr::root_of_unity(generator, log).unwrap());
                let f = random_vector(u64::from(log), domain.size());
                let values = by_definition(&f, domain.root());
                let scaled: Vec<_> = f.iter().map(|c| *c * Fr::from(domain.size() as u64)).collect();
                assert_eq!(permuted(changed(f.clone(), |v| domain.forward_nr(v).unwrap())), values);
                assert_eq!(changed(permuted(f), |v| domain.forward_rn(v).unwrap()), values);
                assert_eq!(permuted(changed(values.clone(), |v| domain.inverse_nr_unscaled(v).unwrap())), scaled);
                assert_eq!(changed(permuted(values), |v| domain.inverse_rn_unscaled(v).unwrap()), scaled);
            }
        }
    }
}

#[test]
fn round_trips_at_every_size_and_thread_count() {
    for log in 0..=16 {
        let f = random_vector(u64::from(log), 1 << log);
        let generator = if log % 2 == 0 { 7 } else { 5 };
        let domain = Domain::new(log, generator).unwrap();
        let mut outcomes = Vec::new();
        for (threads, lanes) in [0, 1, 3].into_iter().flat_map(|threads| backends().map(move |lanes| (threads, lanes)))
        {
            let domain = Domain::new_on(lanes, log, generator).unwrap();
            let mut values = f.clone();
            in_pool(threads, || domain.forward_nr(&mut values).unwrap());
            outcomes.push(values.clone());
            in_pool(threads, || domain.inverse_rn_unscaled(&mut values).unwrap());
            assert!(values.iter().zip(&f).all(|(v, c)| *v * domain.inverse_size() == *c), "2^{log}");
            in_pool(threads, || domain.inverse_nr_unscaled(&mut values).unwrap());
            in_pool(threads, || domain.forward_rn(&mut values).unwrap());
            let factor = domain.inverse_size().square();
            assert!(values.iter().zip(&f).all(|(v, c)| *v * factor == *c), "2^{log}");
        }
        assert!(outcomes.iter().all(|values| *values == outcomes[0]));
        let x = outcomes[0][reverse_bits(1, log)];
        let at_root = f.iter().rev().fold(Fr::ZERO, |value, c| value * domain.root() + *c);
        assert_eq!(x, if log == 0 { f[0] } else { at_root });
    }
}

#[test]
fn extreme_values_pass_through() {
    for lanes in backends() {
        let domain = Domain::new_on(lanes, 10, 7).unwrap();
        for value in [Fr::ZERO, Fr::ONE, -Fr::ONE] {
            let mut values = vec![value; domain.size()];
            domain.forward_nr(&mut values).unwrap();
            assert_eq!(values[0], value * Fr::from(1024));
            assert!(values[1..].iter().all(Field::is_zero));
        }
    }
}

#[test]
fn the_two_generators_part_at_eight() {
    for log in 0..=2 {
        let elements: Vec<Vec<Fr>> =
            [5, 7].iter().map(|&g| Domain::new(log, g).unwrap().elements().collect()).collect();
        let as_set = |v: &Vec<Fr>| v.iter().map(|x| x.to_canonical()).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(as_set(&elements[0]), as_set(&elements[1]));
    }
    assert_ne!(Domain::new(3, 5).unwrap().root(), Domain::new(3, 7).unwrap().root());
}

#[test]
fn elements_are_powers_of_the_root() {
    let domain = Domain::new(5, 7).unwrap();
    for (i, x) in domain.elements().enumerate() {
        assert_eq!(x, domain.element(i as u64));
        assert_eq!(x.pow(&[32]), Fr::ONE);
    }
    assert_eq!(domain.elements().count(), 32);
    assert_ne!(domain.generator().pow(&[32]), Fr::ONE);
}

#[test]
fn impossible_domains_are_errors() {
    assert_eq!(Domain::new(33, 7).unwrap_err().status(), Status::Unsupported);
    assert_eq!(Domain::new(u32::MAX, 5).unwrap_err().status(), Status::Unsupported);
    assert_eq!(Domain::new(3, 4).unwrap_err().status(), Status::Invalid);
    for length in [0, 7, 9] {
        let mut values = vec![Fr::ONE; length];
        let domain = Domain::new(3, 7).unwrap();
        assert_eq!(domain.forward_nr(&mut values).unwrap_err().status(), Status::Internal);
        assert_eq!(domain.forward_rn(&mut values).unwrap_err().status(), Status::Internal);
    }
    assert_eq!(Domain::new(0, 0).unwrap_err().status(), Status::Invalid);
}
