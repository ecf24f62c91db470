//! What widths of windows are best for how many points, which is what the tables WIDTHS of src/math/simd/tuning.rs and
//! src/math/msm/tuning.rs hold; what endomorphisms could give at most; and what scalars that are no random ones cost.
//!
//! Arguments: --threads N (1), --runs N (3), --sizes FROM..TO (12..18, logarithms), --ends (only the least and the largest size).
//!
//! An endomorphism turns n scalars of 255 bits into 2 n of 128 bits (in the first group, GLV) or 4 n of 64 bits (in the second,
//! psi); such sums of random points are measured beside the plain one, each with its best width. What they do not show, and what an
//! endomorphism costs besides, are the images of the points and the scalars' decomposition.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::time::Instant;

use groth16::math::curve::{Affine, CurveField};
use groth16::math::fp::Fp;
use groth16::math::fp2::Fp2;
use groth16::math::fr::{Fr, Scalar};
use groth16::math::msm;

mod made;
use made::{Random, some_points};

struct Options {
    threads: usize,
    runs: usize,
    sizes: Vec<u32>,
}

fn options() -> Options {
    let (mut threads, mut runs, mut sizes, mut only_ends) = (1, 3, 12..=18, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("an option's value");
        match argument.as_str() {
            "--threads" => threads = value().parse().unwrap(),
            "--runs" => runs = value().parse().unwrap(),
            "--sizes" => {
                let text = value();
                let (from, to) = text.split_once("..").expect("FROM..TO");
                sizes = from.parse().unwrap()..=to.parse().unwrap();
            }
            "--ends" => only_ends = true,
            other => panic!("no option {other}"),
        }
    }
    let is_end = |log: &u32| !only_ends || log == sizes.start() || log == sizes.end();
    Options { threads, runs, sizes: sizes.clone().filter(is_end).collect() }
}

/// Milliseconds that it takes.
fn milliseconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e3
}

/// Points with their scalars, and what they are.
type Case<'a, F> = (String, &'a [Affine<F>], &'a [Scalar]);

/// Of each case the milliseconds with the best width among those near to what the table gives for scalars of full size. All run
/// in turns, so that a slow moment of the machine falls on all of them.
fn tune<F: CurveField>(options: &Options, cases: &[Case<'_, F>]) -> Vec<f64> {
    let widths = |points: &[Affine<F>]| {
        let known = msm::width(points.len());
        known.saturating_sub(2).max(2)..=known + 2
    };
    let mut times: Vec<Vec<(usize, f64)>> =
        cases.iter().map(|(_, points, _)| widths(points).map(|width| (width, f64::INFINITY)).collect()).collect();
    for _ in 0..options.runs {
        for ((_, points, scalars), times) in cases.iter().zip(&mut times) {
            for (width, best_time) in times {
                *best_time = best_time.min(milliseconds(|| {
                    std::hint::black_box(msm::msm_of_width(points, scalars, *width).unwrap());
                }));
            }
        }
    }
    let report = |((what, points, _), times): (&Case<'_, F>, &Vec<(usize, f64)>)| {
        let (width, time) = times.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        let all: Vec<_> = times.iter().map(|(width, time)| format!("{width}: {time:.2}")).collect();
        let known = msm::width(points.len());
        println!("{what}: width {width} is best ({time:.2} ms), the table has {known}; {}", all.join(", "));
        time
    };
    cases.iter().zip(&times).map(report).collect()
}

/// Scalars that are no random ones, by name.
fn distributions(count: usize) -> Vec<(&'static str, Vec<Scalar>)> {
    let mut random = Random(3);
    let (one, other) = (random.scalar(), random.scalar());
    let of = |f: &mut dyn FnMut(usize) -> Scalar| (0..count).map(f).collect::<Vec<_>>();
    vec![
        ("all equal", of(&mut |_| one)),
        ("two values", of(&mut |i| if i % 2 == 0 { one } else { other })),
        ("r - 1", of(&mut |_| (-Fr::from(1)).to_canonical())),
        ("ones", of(&mut |_| [1, 0, 0, 0])),
        ("16 bits", of(&mut |_| [random.next() >> 48, 0, 0, 0])),
        ("sorted", of(&mut |i| [i as u64, 0, 0, 0])),
        ("one hot digit", {
            let mut random = Random(5);
            of(&mut |_| {
                let mut scalar = random.scalar();
                scalar[0] = scalar[0] & !0xffff_ffff | 0x0007_0007;
                scalar
            })
        }),
        ("powers of two", of(&mut |i| std::array::from_fn(|limb| u64::from(i % 254 / 64 == limb) << (i % 254 % 64)))),
    ]
}

fn group<F: CurveField>(options: &Options, name: &str) {
    // By how many more points an endomorphism takes, and how many bits their scalars have.
    let (factor, limbs) = if F::DEGREE == 1 { (2, 2) } else { (4, 1) };
    for log in &options.sizes {
        let count = 1usize << log;
        let points = some_points::<F>(&mut Random(7), factor * count);
        let mut random = Random(1);
        let scalars: Vec<Scalar> = (0..count).map(|_| random.scalar()).collect();
        let short: Vec<Scalar> = (0..factor * count)
            .map(|_| std::array::from_fn(|i| if i < limbs { random.next() >> 1 } else { 0 }))
            .collect();
        let what = format!("{name} 2^{log}, {factor} times the points, {} bits", 64 * limbs);
        let cases = [(format!("{name} 2^{log}"), &points[..count], &scalars[..]), (what, &points[..], &short[..])];
        let times = tune(options, &cases);
        let plain = times[0];
        println!("RATIO {name}_2^{log}_endomorphism_at_most {:.3}", plain / times[1]);
        let mut kinds = distributions(count);
        kinds.insert(0, ("uniform", scalars));
        let mut times = vec![f64::INFINITY; kinds.len()];
        for _ in 0..options.runs {
            for ((_, scalars), time) in kinds.iter().zip(&mut times) {
                *time = time.min(milliseconds(|| {
                    std::hint::black_box(msm::msm(&points[..count], msm::Selection::All, scalars).unwrap());
                }));
            }
        }
        let ratios = kinds.iter().zip(&times).map(|((kind, _), time)| (*kind, time / times[0])).skip(1);
        let all: Vec<_> = ratios.clone().map(|(kind, ratio)| format!("{kind} {ratio:.2}")).collect();
        let (kind, ratio) = ratios.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        println!("{name} 2^{log}, against uniform scalars: {}", all.join(", "));
        println!("RATIO {name}_2^{log}_worst_skewed_vs_uniform {ratio:.3}   ({kind})");
    }
}

fn main() {
    let options = options();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build().unwrap();
    println!("vector instructions: {}; {} threads", groth16::math::simd::instructions(), options.threads);
    pool.install(|| {
        group::<Fp>(&options, "g1");
        group::<Fp2>(&options, "g2");
    });
}
