//! The CPU kernels against their peers, in one run on one machine: multi-scalar multiplications in both groups and transforms, of
//! this library, blst, arkworks, halo2curves, bellman and gnark-crypto. A line `RATIO name value` a claim, value = how many
//! times faster than the peer, with both times; with --svg a plot.
//!
//! Arguments: --gnark PROGRAM (of gnark-crypto/, built), --threads N (1), --runs N (3), --sizes FROM..TO (12..18, logarithms),
//! --peers A,B (only these of gnark, blst, ark, halo2curves, bellman; all), --witness FILE.wtns (real scalars beside the made ones),
//! --svg FILE; else substrings of the names to run.
//!
//! Every contender runs on N threads in turns with the others, and its best run counts; where N is above 1, this library also races
//! itself on one thread, and N of itself at once. Witness-like scalars are 45 % zero, 45 %
//! one, 5 % below 2^32 and 5 % full; this library takes them as its prover does, ones summed apart.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use groth16::math::curve::{Affine, CurveField, Jacobian};
use groth16::math::fp::Fp;
use groth16::math::fp2::Fp2;
use groth16::math::fr::{Fr, Scalar, scalar_to_le_bytes};
use groth16::math::msm::{Selection, msm, sum};
use groth16::math::ntt::Domain;

mod clock;
mod made;
mod peers;
use clock::cpu_time;
use made::{Random, some_points};
use peers::Peer;

struct Options {
    gnark: Option<String>,
    threads: usize,
    runs: usize,
    sizes: std::ops::RangeInclusive<u32>,
    peers: Option<String>,
    witness: Option<String>,
    svg: Option<String>,
    filters: Vec<String>,
}

const USAGE: &str = "cpu-bench [OPTION...] [NAME...]: the CPU kernels against their peers, one line RATIO a claim
  --gnark PROGRAM     gnark-crypto's program (of gnark-crypto/, built)
  --threads N         threads of each contender (1)
  --runs N            of which each one's best counts (3)
  --sizes FROM..TO    logarithms (12..18)
  --peers A,B         of gnark, blst, ark, halo2curves, bellman only these (all)
  --witness FILE      real scalars beside the made ones, of an iden3 .wtns file
  --svg FILE          a plot
  NAME                only what has this in its name, such as ntt, g2, uniform, 2^16";

/// What the arguments ask for; `None` for help.
fn options() -> Option<Options> {
    let mut options = Options {
        gnark: None,
        threads: 1,
        runs: 3,
        sizes: 12..=18,
        peers: None,
        witness: None,
        svg: None,
        filters: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("an option's value");
        match argument.as_str() {
            "--help" | "-h" => return None,
            "--gnark" => options.gnark = Some(value()),
            "--threads" => options.threads = value().parse().unwrap(),
            "--runs" => options.runs = value().parse().unwrap(),
            "--sizes" => {
                let text = value();
                let (from, to) = text.split_once("..").expect("FROM..TO");
                options.sizes = from.parse().unwrap()..=to.parse().unwrap();
            }
            "--peers" => options.peers = Some(value()),
            "--witness" => options.witness = Some(value()),
            "--svg" => options.svg = Some(value()),
            other if other.starts_with('-') => panic!("no option {other}; --help has them"),
            _ => options.filters.push(argument),
        }
    }
    Some(options)
}

/// gnark-crypto's program.
struct Gnark {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Gnark {
    fn start(program: &str) -> Self {
        let mut child =
            Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("gnark-crypto's program");
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    /// Milliseconds of one run.
    fn run(&mut self, threads: usize, name: &str) -> f64 {
        writeln!(self.input, "{threads} {name}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().parse().expect("milliseconds")
    }
}

impl Drop for Gnark {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// This library on one thread, where it runs on several.
const ONE_THREAD: &str = "one_thread";

/// As many of these at once as there are threads, each by itself: what the machine gives to threads that share nothing. Virtual
/// machines often give less than the threads' number.
const AT_ONCE: &str = "at_once";

/// A contender: its name, and one run.
type Contender<'a> = (&'static str, Box<dyn FnMut() + 'a>);

struct Bench {
    options: Options,
    gnark: Option<Gnark>,
    /// Name of what is measured, contender, milliseconds.
    times: Vec<(String, &'static str, f64)>,
}

impl Bench {
    fn wanted(&self, name: &str) -> bool {
        self.options.filters.is_empty() || self.options.filters.iter().any(|filter| name.contains(filter))
    }

    fn races(&self, peer: &str) -> bool {
        self.options.peers.as_ref().is_none_or(|peers| peers.split(',').any(|one| one == peer))
    }

    /// The first contender is this library.
    fn race(&mut self, name: &str, gnark_name: Option<&str>, mut contenders: Vec<Contender<'_>>) {
        let threads = self.options.threads;
        contenders.retain(|(name, _)| ["ours", ONE_THREAD, AT_ONCE].contains(name) || self.races(name));
        let gnark_name = gnark_name.filter(|_| self.races("gnark"));
        let mut best = vec![f64::INFINITY; contenders.len() + 1];
        let mut processor = vec![0.0; contenders.len()];
        if let (Some(gnark), Some(name)) = (&mut self.gnark, gnark_name) {
            gnark.run(threads, name);
        }
        for _ in 0..self.options.runs {
            for (i, (_, run)) in contenders.iter_mut().enumerate() {
                let (start, used) = (Instant::now(), cpu_time());
                run();
                let (wall, used) = (start.elapsed().as_secs_f64() * 1e3, cpu_time() - used);
                if wall < best[i] {
                    (best[i], processor[i]) = (wall, used);
                }
            }
            if let (Some(gnark), Some(name)) = (&mut self.gnark, gnark_name) {
                let last = best.len() - 1;
                best[last] = best[last].min(gnark.run(threads, name));
            }
        }
        if let Some(one) = contenders.iter().position(|(name, _)| *name == ONE_THREAD) {
            let (busy, work) = (processor[0] / best[0], processor[0] / processor[one]);
            println!("{name}: {busy:.2} of {threads} cores busy, {work:.3} times the processor time of one thread");
            if let Some(at_once) = contenders.iter().position(|(name, _)| *name == AT_ONCE) {
                let (ours, machine) = (best[one] / best[0], threads as f64 * best[one] / best[at_once]);
                println!(
                    "RATIO {name}_T{threads}_of_what_the_machine_gives {:.3}   ({ours:.3} of {machine:.3} times one thread)",
                    ours / machine
                );
            }
        }
        let names = contenders.iter().map(|(name, _)| *name).chain(["gnark"]);
        let ours = best[0];
        for (contender, time) in names.zip(best).filter(|(_, time)| time.is_finite()) {
            if contender != "ours" && contender != AT_ONCE {
                println!(
                    "RATIO {name}_T{threads}_vs_{contender} {:.3}   ({ours:.3} ms against {time:.3} ms)",
                    time / ours
                );
            }
            self.times.push((name.to_owned(), contender, time));
        }
    }
}

/// A peer on threads of the pool; bellman waits for its own tasks, so that it runs on the global pool instead.
fn in_pool<'a>(pool: &'a rayon::ThreadPool, name: &'static str, mut run: impl FnMut() + Send + 'a) -> Contender<'a> {
    if name == "bellman" { (name, Box::new(run)) } else { (name, Box::new(move || pool.install(&mut run))) }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

fn uniform(count: usize) -> Vec<Scalar> {
    let mut random = Random(1);
    (0..count).map(|_| random.scalar()).collect()
}

fn witness_like(count: usize) -> Vec<Scalar> {
    let mut random = Random(1);
    let pick = |random: &mut Random| match random.next() % 100 {
        0..45 => [0; 4],
        45..90 => [1, 0, 0, 0],
        90..95 => [random.next() >> 32, 0, 0, 0],
        _ => random.scalar(),
    };
    (0..count).map(|_| pick(&mut random)).collect()
}

/// The sum as the prover takes it: zeros skipped, ones summed apart.
fn split_msm<F: CurveField>(points: &[Affine<F>], scalars: &[Scalar]) -> Jacobian<F> {
    let (mut ones, mut picks, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (i, scalar) in scalars.iter().enumerate() {
        match scalar {
            [0, 0, 0, 0] => {}
            [1, 0, 0, 0] => ones.push(i as u32),
            _ => {
                picks.push(i as u32);
                rest.push(*scalar);
            }
        }
    }
    sum(points, &ones).unwrap() + msm(points, Selection::Picked(&picks), &rest).unwrap()
}

fn bench_msm<F: Peer>(bench: &mut Bench, size: &str, kind: &str, scalars: &[Scalar]) {
    let name = format!("{}_msm_{size}_{kind}", F::NAME);
    if !bench.wanted(&name) {
        return;
    }
    let points = some_points::<F>(&mut Random(7), scalars.len());
    let threads = pool(bench.options.threads);
    let alone: Vec<_> = (0..bench.options.threads).map(|_| pool(1)).collect();
    let sum = || {
        if kind == "uniform" { msm(&points, Selection::All, scalars).unwrap() } else { split_msm(&points, scalars) }
    };
    let ours = || threads.install(sum);
    let bytes: Vec<u8> = scalars.iter().flat_map(scalar_to_le_bytes).collect();
    let ark_scalars = peers::ark_scalars(scalars);
    assert!(F::blst(&points, &bytes) == ours(), "{name}");
    let mut runs: Vec<peers::Run<'_>> = Vec::new();
    if bench.races("ark") {
        runs.push(F::ark(&points, &ark_scalars));
    }
    if bench.options.threads == 1 {
        // As this library takes it: without threads of its own.
        runs.push((
            "blst",
            Box::new(|| {
                std::hint::black_box(F::blst(&points, &bytes));
            }),
        ));
    }
    if kind == "uniform" && bench.races("halo2curves") {
        runs.push(F::halo2(scalars));
    }
    if kind == "uniform" && bench.races("bellman") {
        runs.push(F::bellman(scalars));
    }
    let mut contenders: Vec<Contender<'_>> = vec![(
        "ours",
        Box::new(|| {
            std::hint::black_box(ours());
        }),
    )];
    if bench.options.threads > 1 {
        contenders.push((
            ONE_THREAD,
            Box::new(|| {
                std::hint::black_box(alone[0].install(sum));
            }),
        ));
        contenders.push((
            AT_ONCE,
            Box::new(|| {
                std::thread::scope(|scope| {
                    for pool in &alone {
                        scope.spawn(|| std::hint::black_box(pool.install(sum)));
                    }
                });
            }),
        ));
    }
    contenders.extend(runs.into_iter().map(|(name, run)| in_pool(&threads, name, run)));
    let gnark = format!("{}_{size}_{kind}", F::NAME);
    bench.race(&name, size.starts_with("2^").then_some(gnark.as_str()), contenders);
}

fn bench_ntt(bench: &mut Bench, log: u32) {
    let name = format!("ntt_2^{log}");
    if !bench.wanted(&name) {
        return;
    }
    let threads = pool(bench.options.threads);
    let domain = Domain::new(log, 7).unwrap();
    let scalars = uniform(1 << log);
    let mut values: Vec<Fr> = scalars.iter().map(|s| Fr::from_canonical(*s).unwrap()).collect();
    let alone: Vec<_> = (0..bench.options.threads).map(|_| pool(1)).collect();
    let mut again = values.clone();
    let mut copies = vec![values.clone(); bench.options.threads];
    let mut contenders: Vec<Contender<'_>> =
        vec![("ours", Box::new(|| threads.install(|| domain.forward_nr(&mut values)).unwrap()))];
    if bench.options.threads > 1 {
        contenders.push((ONE_THREAD, Box::new(|| alone[0].install(|| domain.forward_nr(&mut again)).unwrap())));
        contenders.push((
            AT_ONCE,
            Box::new(|| {
                std::thread::scope(|scope| {
                    for (pool, values) in alone.iter().zip(&mut copies) {
                        scope.spawn(|| pool.install(|| domain.forward_nr(values)).unwrap());
                    }
                });
            }),
        ));
    }
    let runs = peers::transforms(&scalars, log).into_iter();
    contenders.extend(runs.map(|(name, run)| in_pool(&threads, name, run)));
    bench.race(&name, Some(&name), contenders);
}

/// The scalars of an iden3 witness file.
fn read_witness(path: &str) -> Vec<Scalar> {
    let bytes = std::fs::read(path).unwrap();
    // Section 2 holds the values: a u32 number, a u64 length, and 32 bytes each.
    let mut at = 12;
    loop {
        let number = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let length = u64::from_le_bytes(bytes[at + 4..at + 12].try_into().unwrap()) as usize;
        at += 12;
        if number == 2 {
            let values = bytes[at..at + length].chunks_exact(32);
            return values.map(|value| groth16::math::fr::scalar_from_le_bytes(value.try_into().unwrap())).collect();
        }
        at += length;
    }
}

/// Nanoseconds an element over the size, one panel a kind of measurement; `what` says of which machine.
fn plot(times: &[(String, &'static str, f64)], what: &str) -> String {
    const COLOURS: [(&str, &str); 6] = [
        ("ours", "#c0392b"),
        ("gnark", "#2980b9"),
        ("blst", "#27ae60"),
        ("ark", "#8e44ad"),
        ("halo2curves", "#d68910"),
        ("bellman", "#7f8c8d"),
    ];
    // (panel, contender, log2 of the size, nanoseconds)
    let parse = |(name, contender, time): &(String, &'static str, f64)| {
        let (before, rest) = name.split_once("_2^")?;
        let (log, kind) = rest.split_once('_').unwrap_or((rest, ""));
        let log: u32 = log.parse().ok()?;
        Some((format!("{before} {kind}").trim().to_owned(), *contender, log, time * 1e6 / f64::from(1u32 << log)))
    };
    let points: Vec<_> = times.iter().filter_map(parse).collect();
    let mut panels: Vec<_> = points.iter().map(|p| p.0.clone()).collect();
    panels.sort();
    panels.dedup();
    let (low, high) = points.iter().fold((u32::MAX, 0), |(low, high), p| (low.min(p.2), high.max(p.2)));
    let span = f64::from((high.max(low + 1) - low).max(1));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"350\" font-family=\"sans-serif\" font-size=\"12\">\n",
        panels.len() * 370 + 20
    );
    let _ = writeln!(svg, "<text x=\"50\" y=\"340\">{what}</text>");
    for (i, panel) in panels.iter().enumerate() {
        let most = points.iter().filter(|p| p.0 == *panel).map(|p| p.3).fold(0.0, f64::max);
        let left = i as f64 * 370.0 + 50.0;
        let x = |log: u32| left + f64::from(log - low) / span * 220.0;
        let y = |time: f64| 280.0 - time / most * 230.0;
        let _ = writeln!(svg, "<text x=\"{left}\" y=\"20\" font-weight=\"bold\">{panel}, ns an element</text>");
        let _ = writeln!(svg, "<path d=\"M{left} 45V280H{}\" fill=\"none\" stroke=\"black\"/>", left + 230.0);
        for part in [0.0, 0.5, 1.0] {
            let (value, y) = (part * most, y(part * most) + 4.0);
            let _ = writeln!(svg, "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{value:.0}</text>", left - 4.0);
        }
        for log in low..=high {
            let _ = writeln!(svg, "<text x=\"{}\" y=\"298\" text-anchor=\"middle\">2^{log}</text>", x(log));
        }
        // Names at the lines' ends, moved apart where they would meet.
        let mut names: Vec<(f64, f64, &str, &str)> = Vec::new();
        for (contender, colour) in COLOURS {
            let line: Vec<_> = points.iter().filter(|p| p.0 == *panel && p.1 == contender).collect();
            let Some(last) = line.last() else { continue };
            let path: Vec<_> = line.iter().map(|p| format!("{:.1},{:.1}", x(p.2), y(p.3))).collect();
            let path = path.join(" ");
            let _ = writeln!(svg, "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
            names.push((y(last.3) + 4.0, x(last.2) + 4.0, contender, colour));
        }
        names.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut lowest = f64::INFINITY;
        for (y, x, contender, colour) in names {
            lowest = y.min(lowest - 13.0);
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{lowest:.1}\" fill=\"{colour}\">{contender}</text>");
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn main() {
    let Some(options) = options() else { return println!("{USAGE}") };
    // bellman and others take the global pool where they are not told another.
    rayon::ThreadPoolBuilder::new().num_threads(options.threads).build_global().unwrap();
    let gnark = options.gnark.as_deref().map(Gnark::start);
    println!("vector instructions: {}", groth16::math::simd::instructions());
    if options.threads > 1 && options.peers.as_ref().is_none_or(|peers| peers.contains("blst")) {
        println!("blst: on one thread only, as it starts threads of its own");
    }
    let (sizes, witness) = (options.sizes.clone(), options.witness.as_deref().map(read_witness));
    let mut bench = Bench { options, gnark, times: Vec::new() };
    for log in sizes.clone() {
        let count = 1 << log;
        bench_ntt(&mut bench, log);
        for (kind, scalars) in [("uniform", uniform(count)), ("witness", witness_like(count))] {
            bench_msm::<Fp>(&mut bench, &format!("2^{log}"), kind, &scalars);
            bench_msm::<Fp2>(&mut bench, &format!("2^{log}"), kind, &scalars);
        }
    }
    if let Some(scalars) = witness {
        bench_msm::<Fp>(&mut bench, &scalars.len().to_string(), "real", &scalars);
        bench_msm::<Fp2>(&mut bench, &scalars.len().to_string(), "real", &scalars);
    }
    if let Some(path) = &bench.options.svg {
        let (threads, lanes) = (bench.options.threads, groth16::math::simd::instructions());
        std::fs::write(path, plot(&bench.times, &format!("threads: {threads}; vector instructions: {lanes}"))).unwrap();
        println!("plot: {}", std::fs::canonicalize(path).unwrap().display());
    }
}
