use num_bigint::BigUint;

use crate::math::blst_calls::pairing_product_is_one;
use crate::math::curve::{Affine, CurveField, Jacobian};
use crate::math::field::{Field, batch_inverse};
use crate::math::fp::{self, Fp};
use crate::math::fp2::Fp2;
use crate::math::fr::{self, Fr};

fn field_laws<F: Field>(samples: &[F]) {
    for &a in samples {
        assert_eq!(a + F::ZERO, a);
        assert_eq!(a * F::ONE, a);
        assert_eq!(a - a, F::ZERO);
        assert_eq!(a + (-a), F::ZERO);
        assert_eq!(a.square(), a * a);
        assert_eq!(a.double(), a + a);
        assert_eq!(a * a.inverse(), if a.is_zero() { F::ZERO } else { F::ONE });
        for &b in samples {
            assert_eq!(a + b, b + a);
            assert_eq!(a * b, b * a);
            assert_eq!((a - b) + b, a);
            for &c in samples {
                assert_eq!((a + b) * c, a * c + b * c);
                assert_eq!((a * b) * c, a * (b * c));
            }
        }
    }
    let mut inverses = samples.to_vec();
    batch_inverse(&mut inverses, &mut Vec::new());
    assert_eq!(inverses, samples.iter().map(Field::inverse).collect::<Vec<_>>());
}

fn fr_samples() -> Vec<Fr> {
    let minus_one = -Fr::ONE;
    let half = Fr::from(2).inverse();
    vec![
        Fr::ZERO,
        Fr::ONE,
        Fr::from(2),
        minus_one,
        half,
        -half,
        Fr::from(u64::MAX),
        Fr::from_wide_bytes(&[0xff; 64]),
        Fr::from_wide_bytes(&[0x5a; 64]),
    ]
}

#[test]
fn fr_is_a_field() {
    field_laws(&fr_samples());
}

#[test]
fn fp_and_fp2_are_fields() {
    let x = Fp::GENERATOR.x;
    let fp = [Fp::ZERO, Fp::ONE, -Fp::ONE, x, x.inverse(), Fp([u64::MAX, 0, u64::MAX, 0, u64::MAX, 1])];
    field_laws(&fp);
    let g = Fp2::GENERATOR;
    field_laws(&[Fp2::ZERO, Fp2::ONE, -Fp2::ONE, g.x, g.y, Fp2 { c0: Fp::ZERO, c1: x }]);
}

/// 0, 1, 2, p - 2, p - 1, and limbs of ones, of zeros and just below the modulus's, in all arrangements.
fn extreme_limbs<const N: usize>(modulus: &[u64; N]) -> Vec<[u64; N]> {
    let less = |n: u64| {
        let mut limbs = *modulus;
        limbs[0] = limbs[0].wrapping_sub(n);
        if n > modulus[0] {
            limbs[1] -= 1;
        }
        limbs
    };
    let mut found = vec![less(1), less(2), [0; N]];
    for pattern in 0..1u32 << N {
        let mut limbs = [0; N];
        limbs.iter_mut().enumerate().for_each(|(i, limb)| *limb = if pattern >> i & 1 == 1 { u64::MAX } else { 0 });
        for top in [0, 1, modulus[N - 1] - 1] {
            limbs[N - 1] = top;
            found.push(limbs);
        }
    }
    found.push(std::array::from_fn(|i| if i == 0 { 2 } else { 0 }));
    found.sort_unstable();
    found.dedup();
    found
}

fn integer(limbs: &[u64]) -> BigUint {
    BigUint::from_bytes_le(&limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
}

/// Sums, differences, products and squares of all pairs, by their integers.
fn as_integers<F: Field, const N: usize>(
    modulus: &[u64; N],
    from: impl Fn([u64; N]) -> F,
    to: impl Fn(&F) -> [u64; N],
) {
    let p = integer(modulus);
    let samples: Vec<_> = extreme_limbs(modulus).into_iter().map(|limbs| (from(limbs), integer(&limbs))).collect();
    for (a, a_value) in &samples {
        assert_eq!(integer(&to(&a.square())), a_value * a_value % &p);
        assert_eq!(integer(&to(&-*a)), (&p - a_value) % &p);
        for (b, b_value) in &samples {
            assert_eq!(integer(&to(&(*a * *b))), a_value * b_value % &p, "{a_value:x} * {b_value:x}");
            assert_eq!(integer(&to(&(*a + *b))), (a_value + b_value) % &p, "{a_value:x} + {b_value:x}");
            assert_eq!(integer(&to(&(*a - *b))), (a_value + &p - b_value) % &p, "{a_value:x} - {b_value:x}");
        }
    }
}

#[test]
fn extreme_limbs_obey_the_integers() {
    as_integers(&fr::MODULUS, |limbs| Fr::from_canonical(limbs).unwrap(), Fr::to_canonical);
    as_integers(&fp::MODULUS, |limbs| Fp::from_canonical(limbs).unwrap(), Fp::to_canonical);
    // The same limbs as the forms that the multiplication sees.
    let (r, two_256) = (integer(&fr::MODULUS), BigUint::from(1u8) << 256);
    for limbs in extreme_limbs(&fr::MODULUS) {
        let x = Fr::from_montgomery(limbs).unwrap();
        assert_eq!(integer(&x.to_canonical()) * &two_256 % &r, integer(&limbs));
        let square = integer(&x.to_canonical()).pow(2) % &r;
        assert_eq!(integer(&x.square().to_canonical()), square);
        assert_eq!(integer(&(x * x).to_canonical()), square);
    }
}

#[test]
fn canonical_forms_round_trip_and_are_checked() {
    for x in fr_samples() {
        assert_eq!(Fr::from_canonical(x.to_canonical()), Some(x));
        assert_eq!(Fr::from_montgomery(x.to_montgomery()), Some(x));
        assert_eq!(Fr::from_le_bytes(&x.to_le_bytes()), Some(x));
    }
    assert_eq!(Fr::from_canonical(fr::MODULUS), None);
    assert_eq!(Fr::from_montgomery(fr::MODULUS), None);
    assert_eq!(Fr::from_canonical([u64::MAX; 4]), None);
    let x = Fp::GENERATOR.y;
    assert_eq!(Fp::from_be_bytes(&x.to_be_bytes()), Some(x));
    assert_eq!(Fp::from_be_bytes(&[0xff; 48]), None);
}

#[test]
fn wide_bytes_are_the_integer_modulo_r() {
    let two_to_256 = Fr::from(2).pow(&[256]);
    assert_eq!(Fr::from_wide_bytes(&[0xff; 64]), two_to_256 * two_to_256 - Fr::ONE);
}

#[test]
fn roots_of_unity_have_their_order() {
    for generator in [5, 7] {
        for log in 0..=32 {
            let root = Fr::root_of_unity(generator, log).unwrap();
            let half_way = (0..log.saturating_sub(1)).fold(root, |x, _| x.square());
            assert_eq!(half_way, if log == 0 { Fr::ONE } else { -Fr::ONE });
        }
        assert_eq!(Fr::root_of_unity(generator, 33), None);
    }
    assert_ne!(Fr::root_of_unity(5, 3), Fr::root_of_unity(7, 3));
}

fn group_laws<F: CurveField>() {
    let g = Jacobian::from(F::GENERATOR);
    assert!(F::GENERATOR.is_on_curve() && F::GENERATOR.is_in_subgroup());
    assert!(g.mul(&fr::MODULUS).is_infinity());
    let three = g + g + g;
    assert_eq!(three, g.mul(&[3, 0, 0, 0]));
    assert_eq!(three + (-g), g.double());
    assert!((g + (-g)).is_infinity());
    let mut sum = Jacobian::INFINITY;
    for _ in 0..3 {
        sum += F::GENERATOR;
    }
    assert_eq!(sum, three);
    sum += Affine::INFINITY;
    assert_eq!(sum, three);
    assert_eq!(Jacobian::from(three.to_affine()), three);
    assert_eq!(Jacobian::<F>::INFINITY.to_affine(), Affine::INFINITY);
    let affine = Jacobian::batch_to_affine(&[three, Jacobian::INFINITY, g]);
    assert_eq!(affine, [three.to_affine(), Affine::INFINITY, F::GENERATOR]);
}

#[test]
fn groups_obey_their_laws() {
    group_laws::<Fp>();
    group_laws::<Fp2>();
}

#[test]
fn pairing_is_bilinear() {
    let (p, q) = (Fp::GENERATOR, Fp2::GENERATOR);
    let six = p.mul(&[6, 0, 0, 0]).to_affine();
    let (two, three) = (p.mul(&[2, 0, 0, 0]).to_affine(), q.mul(&[3, 0, 0, 0]).to_affine());
    assert!(pairing_product_is_one(&[(six, q), (-two, three)]));
    assert!(!pairing_product_is_one(&[(six, q), (two, three)]));
    assert!(pairing_product_is_one(&[(Affine::INFINITY, q), (p, Affine::INFINITY)]));
    assert!(pairing_product_is_one(&[]));
}
