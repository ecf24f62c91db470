use super::support::{Random, Trapdoor, in_pool, scalar_zoo};
use crate::error::Status;
use crate::math::curve::{Affine, CurveField, Jacobian};
use crate::math::field::Field;
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::fr::{self, Fr, Scalar};
use crate::math::msm::{Selection, msm, msm_on, naive, sum, sum_on, tuning};

const SIZES: [usize; 26] =
    [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 23, 24, 25, 31, 32, 33, 63, 64, 65, 127, 128, 129, 237, 512, 1025];

/// As this machine does it, found equal to the way of machines without lanes.
fn all<F: CurveField>(points: &[Affine<F>], scalars: &[Scalar]) -> Jacobian<F> {
    let got = msm(points, Selection::All, scalars).unwrap();
    assert!(got == msm_on(false, points, Selection::All, scalars).unwrap(), "with and without lanes");
    got
}

fn sum_both<F: CurveField>(points: &[Affine<F>], picks: &[u32]) -> Jacobian<F> {
    let got = sum(points, picks).unwrap();
    assert!(got == sum_on(false, points, picks).unwrap(), "with and without lanes");
    got
}

fn size_sweep<F: CurveField>(sizes: &[usize]) {
    let mut random = Random(1);
    for &n in sizes {
        let trapdoor = Trapdoor::<F>::random(&mut random, n);
        let scalars: Vec<_> = (0..n).map(|_| random.scalar()).collect();
        assert!(all(&trapdoor.points, &scalars) == trapdoor.expected(&scalars), "n = {n}");
    }
}

#[test]
fn every_size_matches_the_trapdoor_g1() {
    size_sweep::<Fp>(&SIZES);
    size_sweep::<Fp>(&[4095, 4096, 4097, 16383, 65535, 65536, 65537]);
}

#[test]
fn every_size_matches_the_trapdoor_g2() {
    size_sweep::<Fp2>(&SIZES);
    size_sweep::<Fp2>(&[4095, 4097]);
}

#[test]
fn matches_the_definition() {
    let mut random = Random(2);
    for n in [1, 2, 5, 24, 70] {
        let points = Trapdoor::<Fp>::random(&mut random, n).points;
        let scalars: Vec<_> = (0..n).map(|_| random.scalar()).collect();
        assert_eq!(all(&points, &scalars), naive::msm(&points, &scalars));
    }
}

fn zoo_alone_and_together<F: CurveField>() {
    let zoo = scalar_zoo();
    let trapdoor = Trapdoor::<F>::random(&mut Random(3), zoo.len());
    for scalar in &zoo {
        assert_eq!(all(&[F::GENERATOR], &[*scalar]), F::GENERATOR.mul(scalar));
    }
    assert_eq!(all(&trapdoor.points, &zoo), trapdoor.expected(&zoo));
    let trapdoor = Trapdoor::<F>::random(&mut Random(4), 40);
    for scalar in zoo.iter().step_by(if F::DEGREE == 1 { 1 } else { 16 }) {
        let equal = vec![*scalar; 40];
        assert_eq!(all(&trapdoor.points, &equal), trapdoor.expected(&equal), "{scalar:x?}");
    }
}

#[test]
fn scalar_zoo_g1() {
    zoo_alone_and_together::<Fp>();
}

#[test]
fn scalar_zoo_g2() {
    zoo_alone_and_together::<Fp2>();
}

fn infinities<F: CurveField>(n: usize) {
    let mut random = Random(5);
    let scalars: Vec<_> = (0..n).map(|_| random.scalar()).collect();
    let places: [&[usize]; 6] = [&[0], &[n - 1], &[n / 2], &[0, n - 1], &[0, 1, 2], &[]];
    for place in places {
        let mut trapdoor = Trapdoor::<F>::random(&mut random, n);
        place.iter().filter(|&&i| i < n).for_each(|&i| trapdoor.set_infinity(i));
        assert_eq!(all(&trapdoor.points, &scalars), trapdoor.expected(&scalars), "n = {n}, at {place:?}");
    }
    assert!(all(&vec![Affine::<F>::INFINITY; n], &scalars).is_infinity());
}

#[test]
fn infinity_anywhere() {
    for n in [1, 2, 3, 30, 200, 5000] {
        infinities::<Fp>(n);
    }
    infinities::<Fp2>(2);
    infinities::<Fp2>(100);
}

fn copies_and_opposites<F: CurveField>(big: usize) {
    let mut random = Random(6);
    for (copies, n) in [(2, 64), (3, 63), (4, 400), (33, 330), (big, big)] {
        let base = Trapdoor::<F>::random(&mut random, n / copies);
        let points: Vec<_> = (0..n).map(|i| base.points[i % base.points.len()]).collect();
        let logs: Vec<_> = (0..n).map(|i| base.logs[i % base.logs.len()]).collect();
        let repeated = Trapdoor { points, logs };
        let scalar = random.scalar();
        let equal = vec![scalar; n];
        assert_eq!(all(&repeated.points, &equal), repeated.expected(&equal), "{copies} copies");
        let random_scalars: Vec<_> = (0..n).map(|_| random.scalar()).collect();
        assert_eq!(all(&repeated.points, &random_scalars), repeated.expected(&random_scalars));

        // Half P and half -P: side by side, then one half after the other.
        let p = base.points[0];
        let alternating: Vec<_> = (0..2 * n).map(|i| if i % 2 == 0 { p } else { -p }).collect();
        let halves: Vec<_> = (0..2 * n).map(|i| if i < n { p } else { -p }).collect();
        let equal = vec![scalar; 2 * n];
        assert!(all(&alternating, &equal).is_infinity() && all(&halves, &equal).is_infinity());
        assert_eq!(all(&halves[..2 * n - 1], &equal[1..]), p.mul(&scalar));
        assert_eq!(all(&alternating[1..], &equal[1..]), (-p).mul(&scalar));
    }
}

#[test]
fn copies_and_opposites_g1() {
    copies_and_opposites::<Fp>(8192);
}

#[test]
fn copies_and_opposites_g2() {
    copies_and_opposites::<Fp2>(1024);
}

#[test]
fn neighbouring_multiples_collide_inside_buckets() {
    // P_i = i G: sums of points are again points of the list, so partial sums meet their equals and opposites.
    for (first, step) in [(1u64, 1u64), (0, 1), (1, 0)] {
        let trapdoor = Trapdoor::<Fp>::new(Fr::from(first), Fr::from(step), 3000);
        for bits in [1, 2, 3, 9] {
            let mut random = Random(7);
            let scalars: Vec<Scalar> = (0..3000).map(|_| [random.next() >> (64 - bits), 0, 0, 0]).collect();
            assert_eq!(all(&trapdoor.points, &scalars), trapdoor.expected(&scalars));
            let signed: Vec<Scalar> = scalars.iter().map(|s| (-Fr::from(s[0])).to_canonical()).collect();
            assert_eq!(all(&trapdoor.points, &signed), trapdoor.expected(&signed));
        }
    }
}

#[test]
fn buckets_beyond_16_bit_counters() {
    let n = 1 << 17;
    let trapdoor = Trapdoor::<Fp>::random(&mut Random(8), n);
    for scalar in [1, 3, 4096] {
        let scalars = vec![[scalar, 0, 0, 0]; n];
        assert_eq!(all(&trapdoor.points, &scalars), trapdoor.expected(&scalars));
    }
    let every: Vec<u32> = (0..n as u32).collect();
    assert_eq!(sum_both(&trapdoor.points, &every), trapdoor.expected(&vec![[1, 0, 0, 0]; n]));
}

/// One bucket of each window takes everything; points and their opposites meet in it, and the sums of several pieces.
fn hot_bucket<F: CurveField>() {
    let n = 3 * tuning::PIECE[F::DEGREE - 1] + 500;
    let mut random = Random(14);
    let mut trapdoor = Trapdoor::<F>::random(&mut random, n);
    for i in (1..n).step_by(3) {
        trapdoor.points[i] = -trapdoor.points[i - 1];
        trapdoor.logs[i] = -trapdoor.logs[i - 1];
    }
    // Few windows, since it is done so often.
    let scalars = vec![[random.next() >> 40, 0, 0, 0]; n];
    let expected = trapdoor.expected(&scalars).to_affine();
    in_pool(3, || {
        for turn in 0..100 {
            assert_eq!(all(&trapdoor.points, &scalars).to_affine(), expected, "turn {turn}");
        }
    });
}

#[test]
fn a_hot_bucket_gives_the_same_point_a_hundred_times() {
    hot_bucket::<Fp>();
    hot_bucket::<Fp2>();
}

#[test]
fn scalars_that_are_zero_in_some_windows() {
    let trapdoor = Trapdoor::<Fp>::random(&mut Random(9), 600);
    for shift in (0..254).step_by(3) {
        let power = Fr::from(2).pow(&[shift]);
        let scalars: Vec<_> = (0..600).map(|i| if i % 7 == 0 { power.to_canonical() } else { [i, 0, 0, 0] }).collect();
        assert_eq!(all(&trapdoor.points, &scalars), trapdoor.expected(&scalars), "2^{shift}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_point() {
    let mut random = Random(10);
    for n in [1, 40, 300, 20_000] {
        let trapdoor = Trapdoor::<Fp>::random(&mut random, n);
        let uniform: Vec<_> = (0..n).map(|_| random.scalar()).collect();
        let picks: Vec<u32> = (0..n).map(|_| random.below(n) as u32).collect();
        let counted = picks.iter().fold(vec![[0; 4]; n], |mut counts, &i| {
            counts[i as usize][0] += 1;
            counts
        });
        for threads in [0, 1, 2, 3, 7] {
            for scalars in [&uniform, &vec![uniform[0]; n]] {
                let got = in_pool(threads, || all(&trapdoor.points, scalars));
                assert_eq!(got, trapdoor.expected(scalars), "n = {n}, {threads} threads");
            }
            let got = in_pool(threads, || sum_both(&trapdoor.points, &picks));
            assert_eq!(got, trapdoor.expected(&counted), "n = {n}, {threads} threads");
        }
    }
}

#[test]
fn picks_choose_repeat_and_reorder() {
    let mut random = Random(11);
    for n in [1, 9, 100, 2000] {
        let trapdoor = Trapdoor::<Fp>::random(&mut random, 500);
        let picks: Vec<u32> = (0..n).map(|_| random.below(500) as u32).collect();
        let scalars: Vec<_> = (0..n).map(|_| random.scalar()).collect();
        let picked = Trapdoor {
            points: picks.iter().map(|&i| trapdoor.points[i as usize]).collect::<Vec<_>>(),
            logs: picks.iter().map(|&i| trapdoor.logs[i as usize]).collect(),
        };
        let got = msm(&trapdoor.points, Selection::Picked(&picks), &scalars).unwrap();
        assert_eq!(got, picked.expected(&scalars));
        assert_eq!(sum_both(&trapdoor.points, &picks), picked.expected(&vec![[1, 0, 0, 0]; n]));
    }
}

#[test]
fn parts_beyond_the_memory_bound_add_up() {
    let n = tuning::PART + 5;
    let trapdoor = Trapdoor::<Fp>::random(&mut Random(12), 64);
    let picks: Vec<u32> = (0..n).map(|i| (i % 64) as u32).collect();
    let mut totals = vec![0u64; 64];
    let scalars: Vec<Scalar> = (0..n).map(|i| [(i % 5) as u64, 0, 0, 0]).collect();
    (0..n).for_each(|i| totals[i % 64] += (i % 5) as u64);
    let totals: Vec<Scalar> = totals.iter().map(|&t| [t, 0, 0, 0]).collect();
    assert_eq!(msm(&trapdoor.points, Selection::Picked(&picks), &scalars).unwrap(), trapdoor.expected(&totals));
}

#[test]
fn wrong_arguments_are_errors() {
    let points = Trapdoor::<Fp>::random(&mut Random(13), 100).points;
    let ones = vec![[1, 0, 0, 0]; 101];
    let message = |result: crate::error::Result<Jacobian<Fp>>| {
        let error = result.unwrap_err();
        assert_eq!(error.status(), Status::Invalid);
        error.message().to_owned()
    };
    assert!(message(msm(&points, Selection::All, &ones)).contains("101 scalars for 100 points"));
    assert!(message(msm(&points, Selection::All, &ones[..99])).contains("99 scalars for 100 points"));
    assert!(message(msm(&points, Selection::Picked(&[0, 1]), &ones[..1])).contains("1 scalars for 2 picks"));
    assert!(message(msm(&points, Selection::Picked(&[0, 100]), &ones[..2])).contains("pick 1 is 100"));
    assert!(message(sum(&points, &[99, 5, u32::MAX])).contains("pick 2 is 4294967295"));
    for bad in [fr::MODULUS, [u64::MAX; 4]] {
        for place in [0, 50, 99] {
            let mut scalars = vec![[1, 0, 0, 0]; 100];
            scalars[place] = bad;
            assert!(message(msm(&points, Selection::All, &scalars)).contains(&format!("scalar {place} ")));
        }
    }
}
