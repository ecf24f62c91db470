//! Times of the group and field kernels against blst and arkworks: one line `RATIO name value` a claim, value = how many
//! times faster, measured in this run (alternating, best of several). Arguments are substrings of the names to run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use ark_ec::VariableBaseMSM;
use ark_ff::{BigInt, PrimeField};
use ark_poly::EvaluationDomain;
use groth16::formats::bellman_params::{self, PointChecks, ReadOptions};
use groth16::formats::source::Source;
use groth16::math::curve::{Affine, CurveField, Jacobian};
use groth16::math::fp::Fp;
use groth16::math::fp2::Fp2;
use groth16::math::fr::{Fr, Scalar, scalar_to_le_bytes};
use groth16::math::msm::{Selection, msm};
use groth16::math::ntt::Domain;
use groth16::math::quotient::quotient;
use groth16::math::subgroup::find_outside_subgroup;

mod clock;
mod made;
use clock::cpu_time;
use made::{Random, some_points};

/// Milliseconds.
#[derive(Clone, Copy)]
struct Time {
    wall: f64,
    /// Of all threads together; steadier than the wall clock where others use the machine.
    cpu: f64,
}

/// The best of `runs` of each contender, taken in turns.
fn race<const N: usize>(runs: usize, mut contenders: [Box<dyn FnMut() + '_>; N]) -> [Time; N] {
    let mut best = [Time { wall: f64::INFINITY, cpu: f64::INFINITY }; N];
    for _ in 0..runs {
        for (best, run) in best.iter_mut().zip(&mut contenders) {
            let (start, cpu_start) = (Instant::now(), cpu_time());
            run();
            best.wall = best.wall.min(start.elapsed().as_secs_f64() * 1e3);
            best.cpu = best.cpu.min(cpu_time() - cpu_start);
        }
    }
    best
}

fn wanted(name: &str) -> bool {
    let filters: Vec<_> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str()))
}

/// One thread against one thread, by CPU time.
fn ratio(name: &str, ours: Time, theirs: Time) {
    println!("RATIO {name} {:.3}   ({:.2} ms against {:.2} ms)", theirs.cpu / ours.cpu, ours.cpu, theirs.cpu);
}

/// Two threads against one, by the clock.
fn speed_up(name: &str, two: Time, one: Time) {
    println!("RATIO {name} {:.3}   ({:.2} ms against {:.2} ms)", one.wall / two.wall, two.wall, one.wall);
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Arkworks' sum over points that it keeps.
type ArkMsm = Box<dyn Fn(&[ark_bls12_381::Fr])>;

/// What a curve's peers need.
trait Peer: CurveField {
    const NAME: &'static str;
    fn blst(points: &[Affine<Self>], scalars: &[u8]) -> Jacobian<Self>;
    fn ark(points: &[Affine<Self>]) -> ArkMsm;
}

macro_rules! blst_msm {
    ($points:ident, $scalars:ident, $scratch_size:ident, $msm:ident, $point:ident) => {{
        let pointers = [$points.as_ptr().cast(), std::ptr::null()];
        let bytes = [$scalars.as_ptr(), std::ptr::null()];
        let mut out = Jacobian::INFINITY;
        // SAFETY: a list of one array and a null means "contiguous"; the arrays hold as many points and 32-byte scalars
        // as is said, layouts agree, and the scratch is as large as blst asks.
        unsafe {
            let mut scratch = vec![0u64; blst::$scratch_size($points.len()).div_ceil(8)];
            blst::$msm(
                std::ptr::from_mut(&mut out).cast(),
                pointers.as_ptr(),
                $points.len(),
                bytes.as_ptr(),
                255,
                scratch.as_mut_ptr(),
            );
        }
        out
    }};
}

fn ark_fp(x: &Fp) -> ark_bls12_381::Fq {
    ark_bls12_381::Fq::from_bigint(BigInt(x.to_canonical())).unwrap()
}

impl Peer for Fp {
    const NAME: &'static str = "g1";
    fn blst(points: &[Affine<Self>], scalars: &[u8]) -> Jacobian<Self> {
        blst_msm!(points, scalars, blst_p1s_mult_pippenger_scratch_sizeof, blst_p1s_mult_pippenger, blst_p1)
    }
    fn ark(points: &[Affine<Self>]) -> ArkMsm {
        let convert = |p: &Affine<Self>| ark_bls12_381::G1Affine::new_unchecked(ark_fp(&p.x), ark_fp(&p.y));
        let points: Vec<_> = points.iter().map(convert).collect();
        Box::new(move |scalars| {
            let _ = black_box(ark_bls12_381::G1Projective::msm(&points, scalars).unwrap());
        })
    }
}

impl Peer for Fp2 {
    const NAME: &'static str = "g2";
    fn blst(points: &[Affine<Self>], scalars: &[u8]) -> Jacobian<Self> {
        blst_msm!(points, scalars, blst_p2s_mult_pippenger_scratch_sizeof, blst_p2s_mult_pippenger, blst_p2)
    }
    fn ark(points: &[Affine<Self>]) -> ArkMsm {
        let fq2 = |x: &Fp2| ark_bls12_381::Fq2::new(ark_fp(&x.c0), ark_fp(&x.c1));
        let convert = |p: &Affine<Self>| ark_bls12_381::G2Affine::new_unchecked(fq2(&p.x), fq2(&p.y));
        let points: Vec<_> = points.iter().map(convert).collect();
        Box::new(move |scalars| {
            let _ = black_box(ark_bls12_381::G2Projective::msm(&points, scalars).unwrap());
        })
    }
}

fn bench_msm<F: Peer>(log: u32, runs: usize) {
    let name = format!("{}_msm_2^{log}_uniform", F::NAME);
    if !wanted(&name) {
        return;
    }
    let mut random = Random(1);
    let points = some_points::<F>(&mut random, 1 << log);
    let elements: Vec<Fr> = (0..1 << log).map(|_| random.fr()).collect();
    let scalars: Vec<Scalar> = elements.iter().map(Fr::to_canonical).collect();
    let bytes: Vec<u8> = scalars.iter().flat_map(scalar_to_le_bytes).collect();
    let ark_scalars: Vec<_> = scalars.iter().map(|s| ark_bls12_381::Fr::from_bigint(BigInt(*s)).unwrap()).collect();
    let ours = || msm(&points, Selection::All, &scalars).unwrap();
    assert!(ours() == F::blst(&points, &bytes));
    let ark = F::ark(&points);
    let (one, two) = (pool(1), pool(2));
    let times = race(
        runs,
        [
            Box::new(|| {
                black_box(one.install(ours));
            }),
            Box::new(|| {
                black_box(two.install(ours));
            }),
            Box::new(|| {
                black_box(F::blst(&points, &bytes));
            }),
            Box::new(|| ark(&ark_scalars)),
        ],
    );
    ratio(&format!("{name}_T1_vs_blst"), times[0], times[2]);
    ratio(&format!("{name}_T1_vs_ark"), times[0], times[3]);
    speed_up(&format!("{name}_T2_vs_T1"), times[1], times[0]);
}

fn bench_subgroup<F: Peer>(count: usize) {
    let name = format!("{}_subgroup_{count}", F::NAME);
    if !wanted(&name) {
        return;
    }
    let points = some_points::<F>(&mut Random(4), count);
    let one = pool(1);
    let times = race(
        2,
        [
            Box::new(|| assert_eq!(one.install(|| find_outside_subgroup(&points)).unwrap(), None)),
            Box::new(|| assert!(points[..count / 10].iter().all(Affine::is_in_subgroup))),
        ],
    );
    let each = Time { wall: times[1].wall * 10.0, cpu: times[1].cpu * 10.0 };
    ratio(&format!("{name}_T1_vs_each"), times[0], each);
}

/// One section of a key: the test of all its points together, and of every tenth by itself, scaled to all.
fn race_section<F: CurveField>(section: &str, points: &[Affine<F>]) -> [Time; 2] {
    const STEP: usize = 10;
    let one = pool(1);
    let [ours, some] = race(
        3,
        [
            Box::new(|| assert_eq!(one.install(|| find_outside_subgroup(points)).unwrap(), None)),
            Box::new(|| assert!(points.iter().step_by(STEP).all(Affine::is_in_subgroup))),
        ],
    );
    let scale = points.len() as f64 / points.len().div_ceil(STEP).max(1) as f64;
    let each = Time { wall: some.wall * scale, cpu: some.cpu * scale };
    ratio(&format!("spend_subgroup_{section}_{}_T1_vs_each", points.len()), ours, each);
    [ours, each]
}

/// The key of Sapling's spend circuit, which `make fixtures` records.
fn bench_spend_subgroup() {
    let name = "spend_subgroup_T1_vs_each";
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fixtures/spend.params");
    if !wanted(name) {
        return;
    }
    if !path.exists() {
        println!("skipped {name}: no {}", path.display());
        return;
    }
    let options = ReadOptions { checks: PointChecks::OnCurve, ..ReadOptions::default() };
    let key = bellman_params::read(&Source::open(&path).unwrap(), &options).unwrap();
    let g1 = [("h", &key.h), ("l", &key.l), ("a", &key.a), ("b_g1", &key.b_g1)];
    let mut sections: Vec<_> = g1.iter().map(|(section, points)| race_section(section, points)).collect();
    sections.push(race_section("b_g2", &key.b_g2));
    let sum = |contender: usize| Time {
        wall: sections.iter().map(|times| times[contender].wall).sum(),
        cpu: sections.iter().map(|times| times[contender].cpu).sum(),
    };
    ratio(name, sum(0), sum(1));
}

fn bench_ntt(log: u32, runs: usize) {
    let name = format!("ntt_2^{log}");
    if !wanted(&name) {
        return;
    }
    let domain = Domain::new(log, 7).unwrap();
    let mut random = Random(2);
    let mut values: Vec<Fr> = (0..1 << log).map(|_| random.fr()).collect();
    let mut values_two = values.clone();
    let mut back = values.clone();
    let mut theirs: Vec<_> =
        values.iter().map(|x| ark_bls12_381::Fr::from_bigint(BigInt(x.to_canonical())).unwrap()).collect();
    let ark = ark_poly::Radix2EvaluationDomain::<ark_bls12_381::Fr>::new(1 << log).unwrap();
    let (one, two) = (pool(1), pool(2));
    let times = race(
        runs,
        [
            Box::new(|| one.install(|| domain.forward_nr(&mut values)).unwrap()),
            Box::new(|| two.install(|| domain.forward_nr(&mut values_two)).unwrap()),
            Box::new(|| one.install(|| domain.forward_rn(&mut back)).unwrap()),
            Box::new(|| ark.fft_in_place(&mut theirs)),
        ],
    );
    ratio(&format!("{name}_T1_vs_ark"), times[0], times[3]);
    ratio(&format!("{name}_rn_T1_vs_ark"), times[2], times[3]);
    speed_up(&format!("{name}_T2_vs_T1"), times[1], times[0]);
}

fn bench_quotient(log: u32, runs: usize) {
    let name = format!("quotient_2^{log}");
    if !wanted(&name) {
        return;
    }
    let domain = Domain::new(log, 7).unwrap();
    let mut random = Random(3);
    let values: Vec<Fr> = (0..1 << log).map(|_| random.fr()).collect();
    let (one, two) = (pool(1), pool(2));
    let ours = || black_box(quotient(&domain, values.clone(), values.clone()).unwrap());
    let mut transformed = values.clone();
    let times = race(
        runs,
        [
            Box::new(|| drop(one.install(ours))),
            Box::new(|| drop(two.install(ours))),
            Box::new(|| (0..6).for_each(|_| one.install(|| domain.forward_nr(&mut transformed)).unwrap())),
        ],
    );
    ratio(&format!("{name}_T1_vs_six_transforms"), times[0], times[2]);
    speed_up(&format!("{name}_T2_vs_T1"), times[1], times[0]);
}

fn main() {
    for log in [16, 17, 18] {
        bench_ntt(log, 15);
    }
    bench_quotient(17, 5);
    bench_subgroup::<Fp>(20_000);
    bench_subgroup::<Fp2>(20_000);
    bench_subgroup::<Fp>(200_000);
    bench_spend_subgroup();
    for log in [5, 8, 10, 12, 14, 16, 17] {
        bench_msm::<Fp>(log, if log < 14 { 9 } else { 3 });
        bench_msm::<Fp2>(log, if log < 14 { 9 } else { 3 });
    }
}
