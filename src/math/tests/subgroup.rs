use super::support::{Random, Trapdoor, backends, in_pool};
use crate::math::blst_calls::{fp_sqrt, fp2_sqrt};
use crate::math::curve::{Affine, CurveField, Jacobian};
use crate::math::field::Field;
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::fr::{self, Scalar};
use crate::math::subgroup::{find_outside_subgroup, find_seeded, plan};

/// A curve point outside the subgroup: the first small x that has a y.
fn outsider<F: CurveField>(root: impl Fn(&F) -> Option<F>) -> Affine<F> {
    let mut x = F::ONE;
    loop {
        x += F::ONE;
        if let Some(y) = root(&(x.square() * x + F::B)) {
            let point = Affine { x, y };
            assert!(point.is_on_curve());
            if !point.is_in_subgroup() {
                return point;
            }
        }
    }
}

fn outsider_g1() -> Affine<Fp> {
    outsider(fp_sqrt)
}

/// (0, 2) has order 3.
fn order_three() -> Affine<Fp> {
    let point = Affine { x: Fp::ZERO, y: Fp::ONE.double() };
    assert!(point.is_on_curve() && Jacobian::from(point).mul(&[3, 0, 0, 0]).is_infinity());
    point
}

/// A point of order 13, the least that the second curve's cofactor has.
fn order_thirteen() -> Affine<Fp2> {
    // The cofactor over 169, from which 13 is gone.
    let halves: [Scalar; 2] = [
        [0x3336_b315_0941_cfdd, 0xedf4_046d_b800_a837, 0x45e0_aef2_9c5e_8629, 0x5a5b_213d_cb71_0859],
        [0x81be_2a9b_0c64_8304, 0x60a5_f9bd_c250_555d, 0xd5a3_c566_3541_d68b, 0x0008_d5fc_7522_f6c4],
    ];
    let point = Jacobian::from(outsider::<Fp2>(fp2_sqrt)).mul(&fr::MODULUS);
    let shifted = point.mul(&halves[1]).mul(&[0, 0, 1, 0]).mul(&[0, 0, 1, 0]);
    let small = shifted + point.mul(&halves[0]);
    let thirteen = [13, 0, 0, 0];
    let small = if small.mul(&thirteen).is_infinity() { small } else { small.mul(&thirteen) };
    assert!(!small.is_infinity() && small.mul(&thirteen).is_infinity());
    small.to_affine()
}

fn planted<F: CurveField>(outsiders: &[Affine<F>], n: usize) {
    let mut random = Random(1);
    let mut good = Trapdoor::<F>::random(&mut random, n).points;
    if n > 2 {
        good[n / 3] = Affine::INFINITY;
    }
    let find = |lanes: bool, points: &[Affine<F>]| find_seeded(lanes, points, [n as u8; 32]).unwrap();
    for lanes in backends() {
        assert_eq!(find(lanes, &good), None, "n = {n}");
        for bad in outsiders {
            for place in [0, n / 2, n - 1] {
                let mut points = good.clone();
                points[place] = *bad;
                assert_eq!(find(lanes, &points), Some(place), "n = {n}, at {place}");
                // An opposite one that cancels it wherever both share a bucket.
                let other = (place + 1) % n;
                points[other] = -*bad;
                assert_eq!(find(lanes, &points), Some(place.min(other)), "n = {n}, at {place}");
            }
        }
    }
}

#[test]
fn planted_points_are_found_g1() {
    let shifted = (Jacobian::from(outsider_g1()) + Jacobian::from(Fp::GENERATOR)).to_affine();
    let small = order_three();
    // The generator's multiple r - 1 away: outside only by its part of order three.
    let hidden = (Jacobian::from(small) + Fp::GENERATOR.mul(&fr::MODULUS.map(|limb| limb >> 1))).to_affine();
    for n in [1, 2, 10, 700, 3000] {
        planted(&[outsider_g1(), shifted, small, hidden], n);
    }
}

#[test]
fn planted_points_are_found_g2() {
    let small = order_thirteen();
    let hidden = (Jacobian::from(small) + Fp2::GENERATOR.mul(&[99, 0, 0, 0])).to_affine();
    for n in [1, 10, 2000] {
        planted(&[outsider::<Fp2>(fp2_sqrt), small, hidden], n);
    }
}

#[test]
fn all_outside_is_found() {
    for n in [1, 3, 3000] {
        assert_eq!(find_outside_subgroup(&vec![order_three(); n]).unwrap(), Some(0));
    }
    assert_eq!(find_outside_subgroup::<Fp>(&[]).unwrap(), None);
    assert_eq!(find_outside_subgroup(&vec![Affine::<Fp>::INFINITY; 5000]).unwrap(), None);
}

#[test]
fn the_outcome_is_the_same_for_any_threads_and_seed() {
    let mut points = Trapdoor::<Fp>::random(&mut Random(2), 4000).points;
    points[1234] = outsider_g1();
    for threads in [0, 1, 3] {
        for seed in 0..20 {
            for lanes in backends() {
                assert_eq!(in_pool(threads, || find_seeded(lanes, &points, [seed; 32])).unwrap(), Some(1234));
            }
        }
    }
}

#[test]
fn the_plan_keeps_the_bound_and_pays() {
    assert_eq!(plan(0, 160), None);
    assert_eq!(plan(5, 160), None);
    assert_eq!(plan(500_000, 160), Some(10));
    for points in [1_000, 10_000, 500_000, 100_000_000] {
        let log = plan(points, 160).unwrap();
        let rounds = 60usize.div_ceil(log as usize);
        assert!(rounds * log as usize >= 60);
        assert!(rounds * (points + (160 << log)) < points * 160);
    }
}

#[test]
fn several_lists_share_one_set_of_buckets() {
    let mut points = Trapdoor::<Fp>::random(&mut Random(3), (1 << 16) + 10).points;
    assert_eq!(find_outside_subgroup(&points).unwrap(), None);
    // One in each list, opposite to one another.
    points[3] = order_three();
    *points.last_mut().unwrap() = -order_three();
    assert_eq!(find_outside_subgroup(&points).unwrap(), Some(3));
}
