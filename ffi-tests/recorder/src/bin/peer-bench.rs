//! `peer-bench`: whole Sapling proofs by this library and by bellman with groth16 (zkcrypto), in one run.
//!
//! Both prove the same witness with the same randomness, in turn, so that a machine that slows down slows both. bellman
//! gets the witness and the constraints as recorded, without computing the witness (the median with that computation
//! is shown too). The proofs must be equal byte for byte. A line `RATIO name value` says how many times faster this
//! library is, as the median over the pairs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::ensure;
use bls12_381::Scalar;
use clap::Parser;
use recorder::fixtures::{Contents, instance_file};
use recorder::iden3::read_wtns;
use recorder::library::{Library, Prover};
use recorder::peer::{Bellman, set_bellman_threads};
use recorder::sapling::Kind;

/// Times whole Sapling proofs: this library against bellman with groth16 (zkcrypto), the prover that Zcash ships.
#[derive(Parser)]
struct Arguments {
    /// Threads of each prover
    #[arg(long, default_value_t = 2)]
    threads: u32,
    /// Pairs of proofs per circuit
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Directory that `recorder record` wrote
    #[arg(long, default_value = "target/fixtures", value_name = "DIR")]
    fixtures: PathBuf,
    /// The built shared library
    #[arg(long, default_value = "target/release/libgroth16.so", value_name = "FILE")]
    library: PathBuf,
    /// Time bellman alone
    #[arg(long)]
    bellman_only: bool,
}

#[expect(clippy::print_stderr, reason = "a program for the command line")]
fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peer-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(arguments.rounds > 0 && arguments.threads > 0, "at least one round on one thread");
    let contents = Contents::read(&arguments.fixtures)?;
    set_bellman_threads(arguments.threads as usize)?;
    let library = if arguments.bellman_only { None } else { Some(Library::open(&arguments.library)?) };
    for kind in Kind::ALL {
        ensure!(contents.count(kind) > 0, "the fixtures have no {kind}");
        compare(arguments, library.as_ref(), kind, contents.seed)?;
    }
    Ok(())
}

/// All figures of one circuit.
fn compare(arguments: &Arguments, library: Option<&Library>, kind: Kind, seed: u64) -> anyhow::Result<()> {
    let threads = arguments.threads;
    let bellman = Bellman::new(kind, seed, 0)?;
    check_witness(&arguments.fixtures, kind, &bellman)?;
    let prover = library.map(|library| Prover::new(library, &arguments.fixtures, kind, threads)).transpose()?;

    let (mut ours, mut theirs, mut whole, mut ratios) = (vec![], vec![], vec![], vec![]);
    // Round 0 warms up caches and pools and is not counted.
    for round in 0..=arguments.rounds as u64 {
        let (r, s) = (Scalar::from(2 * round + 3).square(), Scalar::from(2 * round + 5).square());
        let recorded = bellman.prove_recorded(r, s)?;
        let synthesized = bellman.prove_synthesized(r, s)?;
        ensure!(synthesized.proof == recorded.proof, "bellman's two proofs differ");
        let own = prover.as_ref().map(|prover| prover.prove(bellman.witness(), r, s)).transpose()?;
        if round > 0 {
            theirs.push(recorded.time);
            whole.push(synthesized.time);
        }
        if let Some(own) = own {
            ensure!(own.proof == recorded.proof, "{kind}: this library's proof differs from bellman's");
            if round > 0 {
                ours.push(own.time);
                ratios.push(recorded.time.as_secs_f64() / own.time.as_secs_f64());
            }
        }
    }

    let mut out = io::stdout().lock();
    let line = |out: &mut dyn Write, name: &str, times: &[Duration]| {
        writeln!(
            out,
            "{kind:<6} T{threads}  {name:<40} {:>8.1} ms",
            1e3 * median(times.iter().map(Duration::as_secs_f64))
        )
    };
    line(&mut out, "bellman, witness computed on the way", &whole)?;
    line(&mut out, "bellman, witness given", &theirs)?;
    if !ours.is_empty() {
        line(&mut out, "libgroth16, witness given", &ours)?;
        writeln!(out, "RATIO sapling_{kind}_T{threads}_vs_bellman {:.2}", median(ratios.into_iter()))?;
    }
    Ok(out.flush()?)
}

/// The fixtures hold the witness that bellman proves here.
fn check_witness(fixtures: &Path, kind: Kind, bellman: &Bellman) -> anyhow::Result<()> {
    let path = instance_file(fixtures, kind, 0, "wtns");
    let values = read_wtns(&std::fs::read(&path)?)?;
    ensure!(values.iter().eq(bellman.witness().iter()), "{}: not the witness of the manifest's seed", path.display());
    Ok(())
}

/// The middle value, or the mean of the two in the middle; 0 of none.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        len if len % 2 == 1 => values[len / 2],
        len => (values[len / 2 - 1] + values[len / 2]) / 2.0,
    }
}
