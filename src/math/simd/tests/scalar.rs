//! The scalar field on lanes: arithmetic at the limits of limbs and bounds, transforms, products of vectors.

use crate::math::field::Field;
use crate::math::fr::{Fr, MODULUS};
use crate::math::ntt::{self as plain, powers_bit_reversed};
use crate::math::simd::lanes::{Lanes, Row, Task};
use crate::math::simd::portable::Portable;
use crate::math::simd::scalar::{Factors, ScalarLanes};
use crate::math::simd::{self, ntt, pointwise};
use crate::math::tests::support::{Random, in_pool};

/// Runs a test on every backend that this machine has; a missing one is named aloud.
macro_rules! on_all_backends {
    ($($name:ident => $function:ident;)+) => {$(
        #[test]
        fn $name() {
            $function::<Portable>();
            if simd::second_available() {
                $function::<simd::Second>();
            } else {
                eprintln!("NOT TESTED: {} with AVX2, which this processor has not", stringify!($name));
            }
            if simd::best_available() {
                $function::<simd::Best>();
            } else {
                eprintln!("NOT TESTED: {} with AVX-512 IFMA, which this processor has not", stringify!($name));
            }
        }
    )+};
}

on_all_backends! {
    arithmetic_at_limits_matches => arithmetic;
    transforms_match_the_plain_ones => transforms;
    pointwise_products_match => pointwise_products;
}

/// What tests know of a backend's limbs.
trait Raw: ScalarLanes {
    const COUNT: usize;
    const WIDTH: u32;
    /// The largest limb that is normalised, the top one aside.
    const MOST: u64;
    /// Values of forward transforms are below so many r.
    const FORWARD: u64;
    fn words(limbs: &[u64]) -> [u64; 5];
    fn limbs(words: &[u64; 5]) -> Vec<u64>;
    fn rows(x: &Self::Scalars) -> [Row; 5];
}

macro_rules! raw_52 {
    ($lanes:ty) => {
        impl Raw for $lanes {
            const COUNT: usize = 5;
            const WIDTH: u32 = 52;
            const MOST: u64 = (1 << 52) - 1;
            const FORWARD: u64 = 30;
            fn words(limbs: &[u64]) -> [u64; 5] {
                std::array::from_fn(|j| limbs[j])
            }
            fn limbs(words: &[u64; 5]) -> Vec<u64> {
                words.to_vec()
            }
            fn rows(x: &Self::Scalars) -> [Row; 5] {
                let mut rows = [Row([0; 8]); 5];
                x.iter().zip(&mut rows).for_each(|(x, row)| x.store(row));
                rows
            }
        }
    };
}
raw_52!(Portable);
#[cfg(target_arch = "x86_64")]
raw_52!(simd::ifma::Ifma);

#[cfg(target_arch = "x86_64")]
impl Raw for simd::avx2::Avx2 {
    const COUNT: usize = 9;
    const WIDTH: u32 = 29;
    const MOST: u64 = (1 << 29) + 7;
    const FORWARD: u64 = 36;
    fn words(limbs: &[u64]) -> [u64; 5] {
        std::array::from_fn(|j| limbs[j] | limbs.get(j + 5).map_or(0, |high| high << 32))
    }
    fn limbs(words: &[u64; 5]) -> Vec<u64> {
        let (low, high) = (words.iter().map(|word| word & 0xffff_ffff), words[..4].iter().map(|word| word >> 32));
        low.chain(high).collect()
    }
    fn rows(x: &Self::Scalars) -> [Row; 5] {
        x.rows()
    }
}

/// The top limb of k r, at most 35 r.
fn top<L: Raw>(k: u64) -> u64 {
    let bit = L::WIDTH as usize * (L::COUNT - 1);
    let (high, low) = (u128::from(MODULUS[3]) * u128::from(k), u128::from(MODULUS[2]) * u128::from(k));
    ((high + (low >> 64)) >> (bit - 192)) as u64
}

/// The element whose Montgomery form in memory is congruent to this number.
fn residue<L: Raw>(limbs: &[u64]) -> Fr {
    let base = Fr::from(1 << L::WIDTH);
    let unit = Fr::from_montgomery([1, 0, 0, 0]).unwrap();
    limbs.iter().rev().fold(Fr::ZERO, |sum, limb| sum * base + Fr::from(*limb)) * unit
}

/// Limbs of a number below k r, many of them extreme.
fn extreme<L: Raw>(random: &mut Random, k: u64, most: u64) -> Vec<u64> {
    let most_top = top::<L>(k) - 2;
    let style = random.below(5);
    (0..L::COUNT)
        .map(|j| {
            let most = if j == L::COUNT - 1 { most_top } else { most };
            match style {
                0 => most,
                1 => 0,
                2 => [0, 1, most - 1, most][random.below(4)],
                3 if j == L::COUNT - 1 => most,
                _ => random.next() % (most + 1),
            }
        })
        .collect()
}

/// Eight values below k r and the elements that they stand for.
fn values<L: Raw>(random: &mut Random, k: u64, most: u64) -> (L::Scalars, [Fr; 8]) {
    let (mut rows, mut elements) = ([Row([0; 8]); 5], [Fr::ZERO; 8]);
    for lane in 0..8 {
        let limbs = extreme::<L>(random, k, most);
        elements[lane] = residue::<L>(&limbs);
        rows.iter_mut().zip(L::words(&limbs)).for_each(|(row, word)| row.0[lane] = word);
    }
    (L::load_factors(&rows), elements)
}

/// Checks that values are normalised, below k r and what is wanted.
fn check<L: Raw>(name: &str, got: &L::Scalars, k: u64, wanted: impl Fn(usize) -> Fr) {
    let rows = L::rows(got);
    let mut stored = [Fr::ZERO; 8];
    L::store_elements(got, &mut stored);
    for lane in 0..8 {
        let limbs = L::limbs(&std::array::from_fn(|j| rows[j].0[lane]));
        assert!(limbs[..L::COUNT - 1].iter().all(|limb| *limb <= L::MOST), "{name}: {limbs:x?}");
        assert!(limbs[L::COUNT - 1] <= top::<L>(k), "{name} is above {k} r: {limbs:x?}");
        assert_eq!(residue::<L>(&limbs), wanted(lane), "{name}: {limbs:x?}");
        assert_eq!(stored[lane], wanted(lane), "{name}, stored: {limbs:x?}");
    }
}

struct Arithmetic<L>(std::marker::PhantomData<L>);

impl<L: Raw> Task for Arithmetic<L> {
    type Output = ();
    fn run(self) {
        let mut random = Random(52);
        let strict = (1 << L::WIDTH) - 1;
        // Factors stand for themselves over R in the products' result.
        let over_r = Fr::from_montgomery([1, 0, 0, 0]).unwrap()
            * (0..L::WIDTH as usize * L::COUNT - 256).fold(Fr::ONE, |x, _| x * Fr::from(2).inverse());
        let unit = Fr::from_montgomery([1, 0, 0, 0]).unwrap().inverse() * over_r;
        for _ in 0..300 {
            let mut of = |k: u64| values::<L>(&mut random, k, L::MOST);
            let ((a, ra), (b, rb), (c, rc), (d, rd)) = (of(L::FORWARD), of(L::FORWARD), of(L::FORWARD), of(L::FORWARD));
            let limit = L::BACKWARD as u64 - u64::from(L::WIDTH == 29);
            let ((e, re), (f, rf), (g, rg), (h, rh)) = (of(limit), of(limit), of(limit), of(limit));
            let mut factor = || values::<L>(&mut random, 1, strict);
            let [(s, rs), (t, rt), (u, ru)] =
                [factor(), factor(), factor()].map(|(x, r)| (L::factor(&x), r.map(|x| x * unit)));
            check::<L>("value", &a, L::FORWARD, |i| ra[i]);
            let bound = L::bound_of_values(L::BACKWARD);
            check::<L>("sum", &L::normalise_scalars(L::plus(&e, &f)), 2 * limit, |i| re[i] + rf[i]);
            let difference = L::subtract(&e, &f, &bound);
            check::<L>("difference", &L::normalise_scalars(difference), 12, |i| re[i] - rf[i]);
            let [product] = L::products([&a], [&s]);
            check::<L>("product", &product, 2, |i| ra[i] * rs[i]);
            let [product] = L::products([&L::ready(difference)], [&t]);
            check::<L>("product of a difference", &product, 2, |i| (re[i] - rf[i]) * rt[i]);
            let sums = [L::plus(&e, &f), L::plus(&g, &h)];
            let reduced = L::reduce_scalars(L::plus(&sums[0], &sums[1]));
            check::<L>("reduced", &reduced, L::BACKWARD as u64, |i| re[i] + rf[i] + rg[i] + rh[i]);
            let reduced = L::reduce_scalars(L::plus(&e, &g));
            check::<L>("reduced sum of two", &reduced, L::REDUCED as u64, |i| re[i] + rg[i]);
            let difference = L::subtract(&sums[0], &sums[1], &L::bound_of_sums(2 * L::BACKWARD));
            let difference = L::normalise_scalars(difference);
            check::<L>("difference of sums", &difference, 24, |i| re[i] + rf[i] - rg[i] - rh[i]);

            let (mut x, mut y) = (a, b);
            L::forward_2(&mut x, &mut y, &s);
            check::<L>("forward a", &x, L::FORWARD + 2, |i| ra[i] + rs[i] * rb[i]);
            check::<L>("forward b", &y, L::FORWARD + 2, |i| ra[i] - rs[i] * rb[i]);
            let (mut x, mut y) = (e, f);
            L::backward_2(&mut x, &mut y, &s);
            check::<L>("backward a", &x, L::BACKWARD as u64, |i| re[i] + rf[i]);
            check::<L>("backward b", &y, 2, |i| rs[i] * (re[i] - rf[i]));
            let mut x = [a, b, c, d];
            let [x0, x1, x2, x3] = &mut x;
            L::forward_4([x0, x1, x2, x3], &s, [&t, &u]);
            for (j, x) in x.iter().enumerate() {
                check::<L>("forward of four", x, L::FORWARD + 4, |i| {
                    let sign = |x: Fr, bit: usize| if j >> bit & 1 == 1 { -x } else { x };
                    let inner = rb[i] + sign(rs[i] * rd[i], 1);
                    ra[i] + sign(rs[i] * rc[i], 1) + sign(inner * if j < 2 { rt[i] } else { ru[i] }, 0)
                });
            }
            let mut x = [e, f, g, h];
            let [x0, x1, x2, x3] = &mut x;
            L::backward_4([x0, x1, x2, x3], &s, [&t, &u]);
            let first = |i: usize| [re[i] + rf[i], rt[i] * (re[i] - rf[i]), rg[i] + rh[i], ru[i] * (rg[i] - rh[i])];
            for (j, x) in x.iter().enumerate() {
                check::<L>("backward of four", x, L::BACKWARD as u64, |i| {
                    let first = first(i);
                    if j < 2 { first[j] + first[j + 2] } else { rs[i] * (first[j - 2] - first[j]) }
                });
            }
        }
    }
}

fn arithmetic<L: Raw>() {
    L::run(Arithmetic::<L>(Default::default()));
}

fn inputs(random: &mut Random, n: usize) -> [Vec<Fr>; 5] {
    let extremes = [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr([u64::MAX, u64::MAX, u64::MAX, MODULUS[3] - 1])];
    let most = Fr::from_montgomery([MODULUS[0] - 1, MODULUS[1], MODULUS[2], MODULUS[3]]).unwrap();
    let mut single = vec![Fr::ZERO; n];
    single[random.below(n)] = most;
    [
        (0..n).map(|_| random.fr()).collect(),
        (0..n).map(|_| extremes[random.below(4)]).collect(),
        vec![most; n],
        vec![Fr::ZERO; n],
        single,
    ]
}

fn transforms<L: ScalarLanes>() {
    let mut random = Random(50);
    for log in 6..=16 {
        let n = 1usize << log;
        let root = Fr::root_of_unity(7, log).unwrap();
        let table = powers_bit_reversed(root, n / 2).unwrap();
        let factors = Factors::new::<L>(&table);
        // All kinds where there are many sizes of them; arithmetic without optimisation takes long.
        let (step, most) = if log > 12 { (2, 2) } else { (1, 5) };
        for values in inputs(&mut random, n).into_iter().step_by(step).take(most) {
            let [mut forward, mut backward] = [values.clone(), values.clone()];
            plain::nr(&mut forward, 0, &table);
            plain::rn(&mut backward, 0, &table);
            for threads in [0, 3, 64] {
                let mut got = values.clone();
                in_pool(threads, || ntt::nr::<L>(&mut got, &factors));
                assert!(got == forward, "forward, 2^{log}");
                got.copy_from_slice(&values);
                in_pool(threads, || ntt::rn::<L>(&mut got, &factors));
                assert!(got == backward, "backward, 2^{log}");
            }
        }
    }
}

fn pointwise_products<L: ScalarLanes>() {
    let mut random = Random(51);
    for turn in 0..25 {
        let (a, b, low) = (inputs(&mut random, 256), inputs(&mut random, 256), inputs(&mut random, 256));
        let (a, b, low) = (&a[turn % 5], &b[turn / 5], &low[(turn + turn / 5) % 3]);
        let (high, scale) = (random.fr(), [Fr::ONE, -Fr::ONE, a[17]][turn % 3]);
        let mut out = vec![Fr::ONE; 256];
        pointwise::product::<L>(&mut out, a, b);
        assert!((0..256).all(|i| out[i] == a[i] * b[i]));
        out.copy_from_slice(a);
        pointwise::multiply::<L>(&mut out, b);
        assert!((0..256).all(|i| out[i] == a[i] * b[i]));
        let (mut x, mut y) = (a.clone(), b.clone());
        pointwise::shift::<L>(&mut x, &mut y, low, &high);
        assert!((0..256).all(|i| x[i] == a[i] * low[i] * high && y[i] == b[i] * low[i] * high));
        x.copy_from_slice(a);
        pointwise::unshift::<L>(&mut x, b, low, &high, &scale);
        assert!((0..256).all(|i| x[i] == a[i] * low[i] * high - scale * b[i]));
    }
}
