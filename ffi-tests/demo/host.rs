//! A host in Rust: proves one witness several times through the split pipeline and verifies each proof.
//!
//!     cargo run --release --example host -- KEY CIRCUIT.r1cs WITNESS.wtns [PROOFS]
//!
//! KEY is a parameter file of bellman, Zcash or Filecoin. The engine is given all jobs at once; while the kernels of one
//! run, the G2 MSM of the one before runs beside them, and the next is prepared. The picture of it goes to trace.json,
//! for https://ui.perfetto.dev.

// A program may print.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use groth16::engine::Engine;
use groth16::engine::backend::Backend;
use groth16::engine::config::Config;
use groth16::engine::core::Phase;
use groth16::engine::job::Job;
use groth16::engine::proof::{Groth16, LoadedKey, ProofInput, RowSource};
use groth16::formats::points::ReadOptions;
use groth16::formats::source::Source;
use groth16::formats::{r1cs, wtns};
use groth16::math::fr::Fr;
use groth16::prover::circuit::Circuit;
use groth16::prover::epilogue::Blinding;
use groth16::prover::key_file::{Beside, KeyFormat};
use groth16::prover::verify::verify;
use groth16::prover::witness::Scalars;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (files, count) = match &arguments[..] {
        [key, circuit, witness] => ([key, circuit, witness], 4),
        [key, circuit, witness, count] => ([key, circuit, witness], count.parse()?),
        _ => return Err("usage: host KEY CIRCUIT.r1cs WITNESS.wtns [PROOFS]".into()),
    };
    let [key, circuit, witness] = files.map(Path::new);
    let config = Config { jobs_per_device: 3, max_queued_jobs: count, ..Config::default() };
    let engine = Engine::on(Backend::Cpu(1), &config, Box::new(|_| ()))?;
    let circuit = Arc::new(Circuit::from_r1cs(&r1cs::read(&Source::open(circuit)?)?)?);
    let witness = wtns::read(&Source::open(witness)?)?;
    circuit.check_witness(&witness)?;
    let key = load(&engine, key, &circuit)?;

    let begin = Instant::now();
    let jobs: Vec<_> = (0..count).map(|_| start(&engine, &key, &circuit, &witness)).collect::<Outcome<_>>()?;
    follow(&engine, &jobs);
    println!("{count} proofs in {:.2} s", begin.elapsed().as_secs_f64());
    for (index, job) in jobs.iter().enumerate() {
        let proof = job.result().ok_or("a job that ended has no result")??;
        let is_valid = verify(key.shape.verifying_key()?, &witness[..circuit.num_inputs()], &proof)?;
        println!("proof {index}: {}", if is_valid { "valid" } else { "INVALID" });
        if !is_valid {
            return Err("a proof does not verify".into());
        }
    }
    std::fs::write("trace.json", engine.record().chrome_trace().to_string())?;
    Ok(())
}

/// Reads a key on the engine's threads.
fn load(engine: &Engine<Groth16>, path: &Path, circuit: &Circuit) -> Outcome<Arc<LoadedKey>> {
    let source = Source::open(path)?;
    let format = KeyFormat::recognise(&source);
    let show = |done: u64, total: u64| {
        eprint!("\rkey: {:3} %", 100 * done / total.max(1));
        true
    };
    let bytes = format.point_bytes(&source)?;
    let key = engine.load_key(bytes, || {
        let options = ReadOptions { progress: Some(&show), ..ReadOptions::default() };
        let (file, _) = format.read(&source, &options, false)?;
        Ok((file.into_key(Beside { circuit: Some(circuit), ..Beside::default() })?, None))
    })?;
    eprintln!();
    Ok(key)
}

fn start(
    engine: &Engine<Groth16>,
    key: &Arc<LoadedKey>,
    circuit: &Arc<Circuit>,
    witness: &[Fr],
) -> Outcome<Arc<Job<Groth16>>> {
    let (inputs, aux) = witness.split_at(circuit.num_inputs());
    let input = ProofInput {
        key: Arc::clone(key),
        rows: RowSource::Circuit(Arc::clone(circuit)),
        inputs: Scalars::from_values("inputs", inputs)?,
        aux: Scalars::from_values("aux", aux)?,
        blinding: Blinding::random()?,
        self_check: true,
    };
    input.check_sizes()?;
    let job = engine.create(input, None);
    engine.submit(&job, 0)?;
    Ok(job)
}

/// Shows where each job is until all have ended: q queued, p preparing, d on the device, f finishing, . ended.
fn follow(engine: &Engine<Groth16>, jobs: &[Arc<Job<Groth16>>]) {
    loop {
        let phases = jobs.iter().map(|job| match engine.jobs().report(job).phase {
            Phase::Queued => 'q',
            Phase::Preparing => 'p',
            Phase::OnDevice => 'd',
            Phase::Finishing => 'f',
            Phase::Terminal => '.',
        });
        let phases: String = phases.collect();
        eprint!("\r{phases}");
        if phases.chars().all(|phase| phase == '.') {
            eprintln!();
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
