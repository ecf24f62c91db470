#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod scalar;

use super::element::{Element, Factor, Loose, mul_pair, square_pair};
use super::lanes::{Lanes, Row, Task};
use super::portable::Portable;
use super::product::{MULTIPLES, join};
use super::table::invert;
use super::{msm, tuning};
use crate::math::curve::{Affine, CurveField, Jacobian};
use crate::math::encoding::EncodedField;
use crate::math::field::Field;
use crate::math::fp::{Fp, MODULUS};
use crate::math::fp2::Fp2;
use crate::math::fr::{Fr, Scalar};
use crate::math::limbs;
use crate::math::msm::buckets::Sorted;
use crate::math::msm::{Chosen, digits, naive};
use crate::math::subgroup;
use crate::math::tests::support::{Random, Trapdoor, in_pool, scalar_zoo};

/// Runs a test of both groups on every backend that this machine has; the missing one is named aloud.
macro_rules! on_all_backends {
    ($($name:ident => $function:ident($($argument:expr),*);)+) => {$(
        #[test]
        fn $name() {
            $function::<Portable, Fp, 1>($($argument),*);
            $function::<Portable, Fp2, 2>($($argument),*);
            if super::second_available() {
                $function::<super::Second, Fp, 1>($($argument),*);
                $function::<super::Second, Fp2, 2>($($argument),*);
            } else {
                eprintln!("NOT TESTED: {} with AVX2, which this processor has not", stringify!($name));
            }
            if super::best_available() {
                $function::<super::Best, Fp, 1>($($argument),*);
                $function::<super::Best, Fp2, 2>($($argument),*);
            } else {
                eprintln!("NOT TESTED: {} with AVX-512 IFMA, which this processor has not", stringify!($name));
            }
        }
    )+};
}

on_all_backends! {
    field_operations_match_the_scalar_ones => field_operations();
    sums_match_the_definition => against_naive();
    every_size_matches_the_trapdoor => size_sweep();
    every_width_matches_the_trapdoor => width_sweep();
    scalar_zoo_matches => zoo();
    infinities_anywhere => infinities();
    copies_and_opposites_meet => copies_and_opposites();
    neighbouring_multiples_meet => neighbouring_multiples();
    sums_of_picks_match => sums();
    skewed_scalars_match => skewed();
    threads_agree => threads();
    points_end_at_an_unmapped_page => guarded();
    subgroup_rounds_find_what_is_planted => planted();
}

/// Numbers below 2 p whose limbs are extreme, of 52 bits and of 28.
fn extreme_values() -> Vec<[u64; 6]> {
    let top = MULTIPLES[2][7];
    let mut out: Vec<[u64; 6]> = MULTIPLES[..3].iter().map(join).collect();
    for (count, bits) in [(8, 52), (14, 28)] {
        let all = (1 << bits) - 1;
        let value = |limbs: &[u64]| from_limbs(limbs, bits);
        for i in 0..count - 1 {
            let mut one = vec![0; count];
            one[i] = all;
            out.push(value(&one));
            one[i] = 1;
            out.push(value(&one));
            let mut but = vec![all; count];
            (but[i], but[count - 1]) = (0, top - 1);
            out.push(value(&but));
        }
        let (mut most, mut least) = (vec![all; count], vec![0; count]);
        (most[count - 1], least[count - 1]) = (top - 1, top);
        out.extend([value(&most), value(&least)]);
    }
    for near in [1, 2] {
        let (mut below, mut above) = (MULTIPLES[near], MULTIPLES[near]);
        below[0] -= 1;
        above[0] += 1;
        out.push(join(&below));
        if near == 1 {
            out.push(join(&above));
        }
    }
    out
}

/// The number below 2^384 of these limbs.
fn from_limbs(limbs: &[u64], bits: usize) -> [u64; 6] {
    let mut out = [0; 6];
    for (j, limb) in limbs.iter().enumerate() {
        let (word, bit) = (bits * j / 64, bits * j % 64);
        out[word] |= limb << bit;
        if bit + bits > 64 && word < 5 {
            out[word + 1] |= limb >> (64 - bit);
        }
    }
    out
}

/// The residue that a number of at most 8 p stands for on these lanes.
fn residue<L: Lanes>(mut words: [u64; 6]) -> Fp {
    while !limbs::less(&words, &MODULUS) {
        words = limbs::sub(&words, &MODULUS).0;
    }
    // The number is x R, and Fp of it is x R / 2^384.
    let excess = L::LIMBS * L::BITS as usize - 384;
    Fp(words) * Fp::from_canonical([1 << excess, 0, 0, 0, 0, 0]).unwrap().inverse()
}

fn residues<L: Lanes, F: CurveField, const D: usize>(components: &[L::Limbs; D]) -> [F; 8] {
    let mut out = [[Fp::ZERO; 2]; 8];
    for (k, limbs) in components.iter().enumerate() {
        let mut rows = vec![Row([0; 8]); L::LIMBS];
        for j in 0..L::LIMBS {
            limbs[j].store(&mut rows[j]);
            let bits = if j == L::LIMBS - 1 { 20 } else { L::BITS };
            assert!(rows[j].0.iter().all(|limb| limb >> bits == 0), "limb {j}: {:x?}", rows[j]);
        }
        for lane in 0..8 {
            let limbs: Vec<u64> = rows.iter().map(|row| row.0[lane]).collect();
            out[lane][k] = residue::<L>(from_limbs(&limbs, L::BITS as usize));
        }
    }
    out.map(F::from_components)
}

fn check<L: Lanes, F: CurveField, const D: usize>(got: &impl Factor<L, D>, limit: u64, wanted: impl Fn(usize) -> F) {
    let components = got.components();
    for limbs in components {
        let mut row = Row([0; 8]);
        limbs[L::LIMBS - 1].store(&mut row);
        // With 28-bit limbs a product may exceed p by a sixteenth.
        let most = limit * (MULTIPLES[1][7] + 1) + if L::BITS == 28 { MULTIPLES[1][7] / 16 } else { 0 };
        assert!(row.0.iter().all(|top| *top <= most), "above {limit} p");
    }
    let got = residues::<L, F, D>(components);
    for (lane, got) in got.iter().enumerate() {
        assert_eq!(*got, wanted(lane), "lane {lane}");
    }
}

struct FieldTest<L, F, const D: usize>(Vec<[u64; 6]>, std::marker::PhantomData<(L, F)>);

impl<L: Lanes, F: CurveField, const D: usize> Task for FieldTest<L, F, D> {
    type Output = ();
    fn run(self) {
        let pool = &self.0;
        let mut random = Random(20);
        for turn in 0..60 {
            let pick = |random: &mut Random| {
                let mut rows = [Row([0; 8]); 16];
                for row in &mut rows {
                    *row = L::pack(&pool[random.below(pool.len())]);
                }
                Element::<L, D>::gather(&rows, &std::array::from_fn(|i| D * i))
            };
            let [a, b, c, d] = std::array::from_fn(|_| pick(&mut random));
            let [ra, rb, rc, rd] = [a, b, c, d].map(|x| residues::<L, F, D>(x.components()));
            check(&Element::<L, D>::gather(&rows_of(&a), &std::array::from_fn(|i| D * i)), 2, |i| ra[i]);
            let (wide, wider): (Loose<L, D>, Loose<L, D>) = (a.difference(&b), c.triple());
            check(&wide, 4, |i| ra[i] - rb[i]);
            check(&wider, 6, |i| rc[i].double() + rc[i]);
            check(&d.double(), 4, |i| rd[i].double());
            check(
                &a.signed_difference(0x5a, &b),
                4,
                |i| if 0x5a >> i & 1 == 1 { -ra[i] - rb[i] } else { ra[i] - rb[i] },
            );
            check(&a.negate_where(0xc3), 2, |i| if 0xc3 >> i & 1 == 1 { -ra[i] } else { ra[i] });
            let mut products = [a; 2];
            mul_pair(&mut products, [&wide, &wide], [&wider, &wide]);
            check(&products[0], 1, |i| (ra[i] - rb[i]) * (rc[i].double() + rc[i]));
            check(&products[1], 1, |i| (ra[i] - rb[i]).square());
            let mut squares = [a; 2];
            square_pair(&mut squares, [&wider, &wider]);
            check(&squares[1], 1, |i| (rc[i].double() + rc[i]).square());
            check(&products[0].minus(&d), 2, |i| (ra[i] - rb[i]) * (rc[i].double() + rc[i]) - rd[i]);
            check(&c.third_abscissa(&b, &wide.clone_of(&a, &b)), 2, |i| rc[i] - rb[i] - ra[i]);
            check(&c.third_abscissa(&b, &Loose::twice_p()), 2, |i| rc[i] - rb[i].double());
            check(&Element::select(turn as u8, &a, &b), 2, |i| if turn as u8 >> i & 1 == 1 { ra[i] } else { rb[i] });
            let zeros = (0..8).fold(0, |mask, i| mask | u8::from(ra[i] == rb[i]) << i);
            assert_eq!(wide.zeros(), zeros);
            assert_eq!(wide.suspects() & zeros, zeros);
            assert_eq!(a.difference(&a).zeros(), 0xff);
            // Any zero would take all with it.
            let nonzero = |x: &Element<L, D>, r: &[F; 8]| {
                let zeros = (0..8).fold(0, |mask, i| mask | u8::from(r[i].is_zero()) << i);
                Element::select(zeros, &Element::one(), x)
            };
            let (a, b) = (nonzero(&a, &ra), nonzero(&b, &rb));
            let (ra, rb) = (residues::<L, F, D>(a.components()), residues::<L, F, D>(b.components()));
            let inverses = invert::<L, F, D>(&[a, b]);
            check(&inverses[0], 1, |i| ra[i].inverse());
            check(&inverses[1], 1, |i| rb[i].inverse());
        }
    }
}

/// Eight elements as rows, those of an element together.
fn rows_of<L: Lanes, const D: usize>(x: &Element<L, D>) -> Vec<Row> {
    let rows = x.to_rows();
    (0..8 * D).map(|i| rows[i % D][i / D]).collect()
}

impl<L: Lanes, const D: usize> Loose<L, D> {
    /// `a - b`, as the denominator of a sum of b and a is.
    fn clone_of(&self, a: &Element<L, D>, b: &Element<L, D>) -> Self {
        a.difference(b)
    }
}

fn field_operations<L: Lanes, F: CurveField, const D: usize>() {
    let mut random = Random(19);
    let mut pool = extreme_values();
    for _ in 0..20 {
        let x: [u64; 6] = std::array::from_fn(|i| if i == 5 { random.next() >> 4 } else { random.next() });
        pool.push(limbs::reduce_once(x, &MODULUS));
    }
    L::run(FieldTest::<L, F, D>(pool, Default::default()));
}

fn chosen(scalars: &[Scalar]) -> Chosen<'_> {
    Chosen { scalars, picks: Err(0) }
}

fn bits(scalars: &[Scalar]) -> usize {
    scalars.iter().map(digits::bit_length).max().unwrap_or(0).max(1)
}

fn all<L: Lanes, F: CurveField, const D: usize>(points: &[Affine<F>], scalars: &[Scalar]) -> Jacobian<F> {
    msm::msm::<L, F, D>(points, chosen(scalars), bits(scalars)).unwrap()
}

fn against_naive<L: Lanes, F: CurveField, const D: usize>() {
    let mut random = Random(30);
    for n in [1, 2, 15, 16, 17, 70] {
        let points = Trapdoor::<F>::random(&mut random, n).points;
        let scalars: Vec<_> = (0..n).map(|_| random.scalar()).collect();
        assert_eq!(all::<L, F, D>(&points, &scalars), naive::msm(&points, &scalars), "n = {n}");
    }
}

fn size_sweep<L: Lanes, F: CurveField, const D: usize>() {
    let mut random = Random(31);
    for n in [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257, 1025, 4097] {
        if n > 300 && D == 2 && !super::best_available() {
            continue;
        }
        let trapdoor = Trapdoor::<F>::random(&mut random, n);
        let scalars: Vec<_> = (0..n).map(|_| random.scalar()).collect();
        assert_eq!(all::<L, F, D>(&trapdoor.points, &scalars), trapdoor.expected(&scalars), "n = {n}");
    }
}

fn width_sweep<L: Lanes, F: CurveField, const D: usize>() {
    let mut random = Random(32);
    let trapdoor = Trapdoor::<F>::random(&mut random, 40);
    let scalars: Vec<_> = (0..40).map(|i| if i % 3 == 0 { [i, 0, 0, 0] } else { random.scalar() }).collect();
    for width in [1, 2, 3, 4, 5, 6, 7, 8, 9, 11] {
        let sum = msm::with_width::<L, F, D>(&trapdoor.points, chosen(&scalars), 255, width).unwrap();
        assert_eq!(sum, trapdoor.expected(&scalars), "width {width}");
    }
}

fn zoo<L: Lanes, F: CurveField, const D: usize>() {
    let zoo = scalar_zoo();
    let trapdoor = Trapdoor::<F>::random(&mut Random(33), zoo.len());
    assert_eq!(all::<L, F, D>(&trapdoor.points, &zoo), trapdoor.expected(&zoo));
    let trapdoor = Trapdoor::<F>::random(&mut Random(34), 40);
    for scalar in zoo.iter().step_by(if super::best_available() { 7 } else { 61 }) {
        let equal = vec![*scalar; 40];
        assert_eq!(all::<L, F, D>(&trapdoor.points, &equal), trapdoor.expected(&equal), "{scalar:x?}");
    }
}

fn infinities<L: Lanes, F: CurveField, const D: usize>() {
    let mut random = Random(35);
    for n in [1, 2, 3, 30, 130] {
        let scalars: Vec<_> = (0..n).map(|_| random.scalar()).collect();
        let places: [&[usize]; 5] = [&[0], &[n - 1], &[n / 2], &[0, n - 1], &[0, 1, 2]];
        for place in places {
            let mut trapdoor = Trapdoor::<F>::random(&mut random, n);
            place.iter().filter(|&&i| i < n).for_each(|&i| trapdoor.set_infinity(i));
            let expected = trapdoor.expected(&scalars);
            assert_eq!(all::<L, F, D>(&trapdoor.points, &scalars), expected, "n = {n}, at {place:?}");
        }
        assert!(all::<L, F, D>(&vec![Affine::<F>::INFINITY; n], &scalars).is_infinity());
    }
}

fn copies_and_opposites<L: Lanes, F: CurveField, const D: usize>() {
    let mut random = Random(36);
    for (copies, n) in [(2, 64), (3, 63), (33, 330), (300, 300)] {
        let base = Trapdoor::<F>::random(&mut random, n / copies);
        let points: Vec<_> = (0..n).map(|i| base.points[i % base.points.len()]).collect();
        let logs: Vec<_> = (0..n).map(|i| base.logs[i % base.logs.len()]).collect();
        let repeated = Trapdoor { points, logs };
        let equal = vec![random.scalar(); n];
        assert_eq!(all::<L, F, D>(&repeated.points, &equal), repeated.expected(&equal), "{copies} copies");
        let different: Vec<_> = (0..n).map(|_| random.scalar()).collect();
        assert_eq!(all::<L, F, D>(&repeated.points, &different), repeated.expected(&different));
        let p = base.points[0];
        let alternating: Vec<_> = (0..2 * n).map(|i| if i % 2 == 0 { p } else { -p }).collect();
        let halves: Vec<_> = (0..2 * n).map(|i| if i < n { p } else { -p }).collect();
        let equal = vec![equal[0]; 2 * n];
        assert!(all::<L, F, D>(&alternating, &equal).is_infinity());
        assert!(all::<L, F, D>(&halves, &equal).is_infinity());
        assert_eq!(all::<L, F, D>(&halves[..2 * n - 1], &equal[1..]), p.mul(&equal[0]));
    }
}

fn neighbouring_multiples<L: Lanes, F: CurveField, const D: usize>() {
    // P_i = i G: sums of points are again points of the list, so partial sums meet their equals and opposites.
    let n = 700;
    for (first, step) in [(1u64, 1u64), (0, 1), (1, 0)] {
        let trapdoor = Trapdoor::<F>::new(Fr::from(first), Fr::from(step), n);
        for bits in [1, 2, 3, 9] {
            let mut random = Random(37);
            let scalars: Vec<Scalar> = (0..n).map(|_| [random.next() >> (64 - bits), 0, 0, 0]).collect();
            assert_eq!(all::<L, F, D>(&trapdoor.points, &scalars), trapdoor.expected(&scalars));
        }
    }
}

fn sums<L: Lanes, F: CurveField, const D: usize>() {
    let mut random = Random(38);
    for n in [0, 1, 2, 3, 15, 16, 17, 100, 1500] {
        let mut trapdoor = Trapdoor::<F>::random(&mut random, 50);
        trapdoor.set_infinity(7);
        let picks: Vec<u32> = (0..n).map(|_| random.below(50) as u32).collect();
        let mut counts = vec![[0u64; 4]; 50];
        picks.iter().for_each(|&i| counts[i as usize][0] += 1);
        assert_eq!(msm::sum::<L, F, D>(&trapdoor.points, &picks).unwrap(), trapdoor.expected(&counts), "n = {n}");
    }
}

fn skewed<L: Lanes, F: CurveField, const D: usize>() {
    let mut random = Random(39);
    let n = 1000;
    let trapdoor = Trapdoor::<F>::random(&mut random, n);
    let equal = vec![random.scalar(); n];
    let few: Vec<_> = (0..n).map(|i| if i % 10 == 0 { random.scalar() } else { [3, 0, 0, 0] }).collect();
    for scalars in [equal, few, vec![[1, 0, 0, 0]; n]] {
        assert_eq!(all::<L, F, D>(&trapdoor.points, &scalars), trapdoor.expected(&scalars));
    }
}

fn threads<L: Lanes, F: CurveField, const D: usize>() {
    let mut random = Random(40);
    let trapdoor = Trapdoor::<F>::random(&mut random, 300);
    let scalars: Vec<_> = (0..300).map(|_| random.scalar()).collect();
    for threads in [0, 1, 3, 16, 100] {
        let got = in_pool(threads, || all::<L, F, D>(&trapdoor.points, &scalars));
        assert_eq!(got, trapdoor.expected(&scalars), "{threads} threads");
    }
}

/// A point (x, y) off the subgroup: of the first small x that has a y.
fn outsider<F: EncodedField>() -> Affine<F> {
    let mut x = F::ONE;
    loop {
        x += F::ONE;
        if let Some(y) = (x.square() * x + F::B).square_root() {
            let point = Affine { x, y };
            if !point.is_in_subgroup() {
                return point;
            }
        }
    }
}

fn planted<L: Lanes, F: EncodedField, const D: usize>() {
    // More than one block where that does not take minutes.
    let n = if D == 1 || super::best_available() { (1 << 16) + 70 } else { 3000 };
    let mut trapdoor = Trapdoor::<F>::random(&mut Random(42), n);
    trapdoor.set_infinity(5);
    let mut points = trapdoor.points;
    let pass = |points: &[Affine<F>]| {
        let sums = |points: &[Affine<F>], lists: &[Sorted]| msm::bucket_sums::<L, F, D>(points, lists);
        subgroup::pass_together(points, 8, [7; 32], 1, 1 << 16, sums).unwrap()
    };
    assert!(pass(&points));
    for place in [0, 700, n - 1] {
        let inside = std::mem::replace(&mut points[place], outsider());
        assert!(!pass(&points), "an outsider at {place}");
        points[place] = inside;
    }
}

/// Points and scalars whose last byte is the last one before a page that may not be read.
fn guarded<L: Lanes, F: CurveField, const D: usize>() {
    let mut random = Random(41);
    let trapdoor = Trapdoor::<F>::random(&mut random, 67);
    let scalars: Vec<_> = (0..67).map(|_| random.scalar()).collect();
    let (points, guarded_scalars) = (Guarded::new(&trapdoor.points), Guarded::new(&scalars));
    assert_eq!(all::<L, F, D>(points.get(), guarded_scalars.get()), trapdoor.expected(&scalars));
    let picks: Vec<u32> = (0..67).collect();
    let picks = Guarded::new(&picks);
    let ones = vec![[1, 0, 0, 0]; 67];
    assert_eq!(msm::sum::<L, F, D>(points.get(), picks.get()).unwrap(), trapdoor.expected(&ones));
}

/// A copy of a slice that ends at an unmapped page.
struct Guarded<T> {
    map: *mut libc::c_void,
    bytes: usize,
    start: *const T,
    count: usize,
}

impl<T: Copy> Guarded<T> {
    fn new(values: &[T]) -> Self {
        let page = 4096;
        let size = size_of_val(values);
        let bytes = size.div_ceil(page) * page + page;
        // SAFETY: a new private mapping; its last page is made inaccessible, and the values are copied right before that,
        // at an offset that is a multiple of their alignment since pages and sizes are.
        unsafe {
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let map = libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(map.byte_add(bytes - page), page, libc::PROT_NONE), 0);
            let start = map.byte_add(bytes - page - size).cast::<T>();
            std::ptr::copy_nonoverlapping(values.as_ptr(), start, values.len());
            Self { map, bytes, start, count: values.len() }
        }
    }

    fn get(&self) -> &[T] {
        // SAFETY: the values were copied there, and the mapping lives as long as this does.
        unsafe { std::slice::from_raw_parts(self.start, self.count) }
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`.
        unsafe { libc::munmap(self.map, self.bytes) };
    }
}

#[test]
fn widths_grow() {
    let widths: Vec<_> = (0..24).map(|log| tuning::width(1 << log)).collect();
    assert!(widths.is_sorted());
}
