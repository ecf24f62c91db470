use crate::error::Status;
use crate::math::field::Field;
use crate::math::fr::Fr;
use crate::math::ntt::Domain;
use crate::math::quotient::{first_unsatisfied, quotient};
use crate::math::tests::support::{Random, backends, in_pool};

fn random_vector(random: &mut Random, size: usize) -> Vec<Fr> {
    (0..size).map(|_| random.fr()).collect()
}

fn evaluate(f: &[Fr], x: Fr) -> Fr {
    f.iter().rev().fold(Fr::ZERO, |value, c| value * x + *c)
}

/// Coefficients of the polynomial of degree below d with these values (missing ones are zero), by the definition of the
/// inverse transform.
fn interpolate(domain: &Domain, values: &[Fr]) -> Vec<Fr> {
    let inverse_root = domain.root().inverse();
    (0..domain.size()).map(|i| evaluate(values, inverse_root.pow(&[i as u64])) * domain.inverse_size()).collect()
}

fn schoolbook(domain: &Domain, a: &[Fr], b: &[Fr]) -> Vec<Fr> {
    let d = domain.size();
    let c: Vec<Fr> = a.iter().zip(b).map(|(a, b)| *a * *b).collect();
    let (a, b, c) = (interpolate(domain, a), interpolate(domain, b), interpolate(domain, &c));
    let mut dividend = vec![Fr::ZERO; 2 * d];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            dividend[i + j] += *x * *y;
        }
    }
    c.iter().zip(&mut dividend).for_each(|(c, x)| *x -= *c);
    // Long division by x^d - 1.
    let mut h = vec![Fr::ZERO; d];
    for i in (0..d).rev() {
        h[i] = dividend[i + d];
        dividend[i] += h[i];
    }
    assert!(dividend[..d].iter().all(Field::is_zero) && h[d - 1].is_zero());
    h.truncate(d - 1);
    h
}

#[test]
fn matches_long_division() {
    let mut random = Random(1);
    for generator in [5, 7] {
        for log in 0..=6 {
            let domain = Domain::new(log, generator).unwrap();
            let d = domain.size();
            for (rows_a, rows_b) in [(d, d), (d - 1, d - 1), (d / 2 + 1, d), (0, 0), (d, 1)] {
                let (a, b) = (random_vector(&mut random, rows_a), random_vector(&mut random, rows_b));
                let expected = schoolbook(&domain, &a, &b);
                for lanes in backends() {
                    let domain = Domain::new_on(lanes, log, generator).unwrap();
                    let h = quotient(&domain, a.clone(), b.clone()).unwrap();
                    assert_eq!(h, expected, "d = {d}, {rows_a} and {rows_b} rows");
                }
            }
        }
    }
}

#[test]
fn divides_at_a_random_point() {
    let mut random = Random(2);
    for (log, generator) in [(10, 5), (13, 7), (15, 5)] {
        let domain = Domain::new(log, generator).unwrap();
        let d = domain.size();
        let (a, b) = (random_vector(&mut random, d - 3), random_vector(&mut random, d - 3));
        let x = random.fr();
        let vanishing = x.pow(&[d as u64]) - Fr::ONE;
        // The barycentric form of interpolation.
        let mut weights: Vec<Fr> = domain.elements().map(|w| x - w).collect();
        crate::math::field::batch_inverse(&mut weights, &mut Vec::new());
        let weights: Vec<Fr> = weights.iter().zip(domain.elements()).map(|(inverse, w)| *inverse * w).collect();
        let at_x = |value: &dyn Fn(usize) -> Fr| {
            let terms = (0..d - 3).map(|i| value(i) * weights[i]);
            terms.fold(Fr::ZERO, |sum, term| sum + term) * vanishing * domain.inverse_size()
        };
        let expected = at_x(&|i| a[i]) * at_x(&|i| b[i]) - at_x(&|i| a[i] * b[i]);
        let on = |lanes: bool| {
            let domain = Domain::new_on(lanes, log, generator).unwrap();
            [0, 1, 3].map(|n| in_pool(n, || quotient(&domain, a.clone(), b.clone()).unwrap()))
        };
        let outcomes: Vec<_> = backends().flat_map(on).collect();
        assert_eq!(outcomes[0].len(), d - 1);
        assert_eq!(evaluate(&outcomes[0], x) * vanishing, expected);
        assert!(outcomes.iter().all(|h| *h == outcomes[0]));
    }
}

#[test]
fn too_many_rows_are_an_error() {
    let domain = Domain::new(3, 7).unwrap();
    for (rows_a, rows_b) in [(9, 8), (8, 9)] {
        let error = quotient(&domain, vec![Fr::ONE; rows_a], vec![Fr::ONE; rows_b]).unwrap_err();
        assert_eq!(error.status(), Status::Invalid);
    }
}

#[test]
fn the_first_broken_row_is_found() {
    let mut random = Random(3);
    for rows in [0, 1, 2, 1000, 5000] {
        let (a, b) = (random_vector(&mut random, rows), random_vector(&mut random, rows));
        let c: Vec<Fr> = a.iter().zip(&b).map(|(a, b)| *a * *b).collect();
        for threads in [0, 3] {
            assert_eq!(in_pool(threads, || first_unsatisfied(&a, &b, &c)), None);
            for broken in [0, rows / 2, rows.saturating_sub(1)] {
                let mut c = c.clone();
                for row in [broken, rows.saturating_sub(1)] {
                    c.get_mut(row).into_iter().for_each(|value| *value += Fr::ONE);
                }
                let expected = (rows > 0).then_some(broken);
                assert_eq!(in_pool(threads, || first_unsatisfied(&a, &b, &c)), expected);
            }
        }
    }
    assert_eq!(first_unsatisfied(&[Fr::ONE; 3], &[Fr::ONE; 3], &[Fr::ONE; 2]), Some(2));
    assert_eq!(first_unsatisfied(&[Fr::ONE; 2], &[Fr::ONE; 3], &[Fr::ONE; 2]), None);
}
