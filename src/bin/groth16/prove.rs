//! `groth16 prove`.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use groth16::engine::Engine;
use groth16::engine::core::Phase;
use groth16::engine::proof::{Groth16, ProofInput, RowSource};
use groth16::engine::timeline::{STAGE_NAMES, Stage};
use groth16::error::{Error, Result, Status};
use groth16::formats::proof::Proof;
use groth16::formats::source::Source;
use groth16::formats::wtns;
use groth16::math::fr::Fr;
use groth16::prover::epilogue::Blinding;
use groth16::prover::witness::Scalars;
use zeroize::Zeroizing;

use crate::args::{ProofFormat, Prove};
use crate::files::{self, at};
use crate::output::{Console, Output};

pub fn run(options: &Prove, console: &Console) -> Result<u8> {
    let begin = Instant::now();
    let vk_path = options.vk.as_deref().unwrap_or(&options.key);
    let inputs = [&*options.key, &*options.circuit, &*options.witness, vk_path];
    let format = format(options);
    check_outputs(options)?;
    let proof_out = Output::create(&options.proof, &inputs)?;
    if proof_out.is_terminal() && format != ProofFormat::Json {
        return Err(Error::invalid("the proof is binary: give --proof FILE or --format json"));
    }
    let public_out = options.public.as_deref().map(|path| Output::create(path, &inputs)).transpose()?;

    // All files are opened, and the small ones read, before the key, which takes longest.
    let key_source = Source::open(&options.key)?;
    let circuit_source = Source::open(&options.circuit)?;
    let witness = at(&options.witness, wtns::read(&Source::open(&options.witness)?))?;
    let vk = options.vk.as_deref().map(|path| at(path, files::verifying_key(&Source::open(path)?))).transpose()?;
    let engine = files::engine(options.threads, options.place, 1, 1)?;
    let spinner = console.spinner("circuit");
    let circuit = engine.install(|| files::circuit(&options.circuit, &circuit_source))?;
    spinner.finish_and_clear();
    at(&options.witness, circuit.check_witness(&witness))?;
    let key_begin = Instant::now();
    let key = files::key(&engine, &options.key, &key_source, vk, &options.trust, &circuit, console)?;
    let key_time = key_begin.elapsed();

    let public = witness[..circuit.num_inputs()].to_vec();
    let inputs = Scalars::from_values("inputs", &public)?;
    let aux = Scalars::from_values("aux", &witness[circuit.num_inputs()..])?;
    drop(witness);
    let input = ProofInput {
        key,
        rows: RowSource::Circuit(Arc::new(circuit)),
        inputs,
        aux,
        blinding: blinding(options)?,
        self_check: true,
    };
    input.check_sizes()?;
    let proof = at_witness(&options.witness, prove(&engine, input, console))?;

    let bytes = match format {
        ProofFormat::Compressed => proof.to_compressed().to_vec(),
        ProofFormat::Uncompressed => proof.to_uncompressed().to_vec(),
        ProofFormat::Json => format!("{}\n", proof.to_json()).into_bytes(),
    };
    let mut text = format!("proof ({} bytes) -> {}", bytes.len(), proof_out.write_bytes(&bytes)?);
    if let Some(out) = public_out {
        let place = out.write_bytes(files::public_json(&public).as_bytes())?;
        let _ = write!(text, "; public inputs ({}) -> {place}", public.len() - 1);
    }
    let _ = write!(text, "; {:.2} s: key {:.2}", begin.elapsed().as_secs_f64(), key_time.as_secs_f64());
    for (name, seconds) in phases(&engine) {
        let _ = write!(text, ", {name} {seconds:.3}");
    }
    console.result(&text);
    Ok(0)
}

fn format(options: &Prove) -> ProofFormat {
    let is_json = options.proof.extension().is_some_and(|extension| extension == "json");
    options.format.unwrap_or(if is_json { ProofFormat::Json } else { ProofFormat::Compressed })
}

/// Proof and public inputs must not meet in one place.
fn check_outputs(options: &Prove) -> Result<()> {
    let Some(public) = &options.public else { return Ok(()) };
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let discards = whole(public) == Path::new("/dev/null");
    if !discards && whole(public) == whole(&options.proof) {
        return Err(Error::invalid(format!("--proof and --public both write to {}", public.display())));
    }
    Ok(())
}

/// What the circuit says against the witness is said of its file.
fn at_witness<T>(path: &Path, result: Result<T>) -> Result<T> {
    result.map_err(|error| if error.status() == Status::Unsatisfied { error.at(path.display()) } else { error })
}

fn blinding(options: &Prove) -> Result<Blinding> {
    let (Some(r), Some(s)) = (&options.r, &options.s) else { return Blinding::random() };
    crate::output::warning("--r and --s are for tests: a proof with known blinding reveals the witness");
    let scalar = |name: &str, bytes: &[u8; 32]| {
        let value = Fr::from_le_bytes(bytes).map(Zeroizing::new);
        value.ok_or_else(|| Error::invalid(format!("--{name} is not below the group order r")))
    };
    let (r, s) = (scalar("r", r)?, scalar("s", s)?);
    Blinding::new(&r, &s)
}

/// Runs one job to its end and shows where it is.
fn prove(engine: &Engine<Groth16>, input: ProofInput, console: &Console) -> Result<Proof> {
    let job = engine.create(input, None);
    engine.submit(&job, 0)?;
    let spinner = console.spinner("proof");
    while !job.wait(Some(Instant::now() + Duration::from_millis(50))) {
        spinner.set_message(match engine.jobs().report(&job).phase {
            Phase::Queued => "queued",
            Phase::Preparing => "evaluating the rows",
            Phase::OnDevice => "quotient and MSMs over G1",
            Phase::Finishing | Phase::Terminal => "MSM over G2",
        });
    }
    spinner.finish_and_clear();
    job.result().unwrap_or_else(|| Err(Error::internal("a job that ended has no result")))
}

/// Seconds of each stage of the only job.
fn phases(engine: &Engine<Groth16>) -> Vec<(&'static str, f64)> {
    let seconds = |stage: Stage, nanos: u64| (STAGE_NAMES[stage.index()], nanos as f64 / 1e9);
    let spans = engine.record().spans;
    spans.iter().map(|span| seconds(span.stage, span.end.saturating_sub(span.start))).collect()
}
