//! `groth16 bench`.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use groth16::engine::Engine;
use groth16::engine::proof::{Groth16, LoadedKey, ProofInput, RowSource};
use groth16::engine::timeline::{STAGE_NAMES, Span};
use groth16::error::{Error, Result};
use groth16::formats::r1cs::{self, R1cs};
use groth16::formats::wtns;
use groth16::math::fr::Fr;
use groth16::prover::circuit::Circuit;
use groth16::prover::epilogue::Blinding;
use groth16::prover::key::ProvingKey;
use groth16::prover::setup::{self, Trapdoor};
use groth16::prover::synthetic::{self, Shape};
use serde_json::json;

use crate::args::Bench;
use crate::files::{self, Values};
use crate::output::{self, Console, Output};

/// Inputs of the circuit, the constant one included.
const INPUTS: usize = 8;
const SEED: u64 = 1;

/// All that the jobs share.
struct Case {
    engine: Engine<Groth16>,
    key: Arc<LoadedKey>,
    circuit: Arc<Circuit>,
    inputs: Values,
    aux: Values,
}

pub fn run(options: &Bench, console: &Console) -> Result<u8> {
    let slots = usize::from(options.slots);
    let case = Case::new(options, slots, console)?;
    case.prove(1, slots, console)?;
    let before = case.engine.record().spans.len();
    let begin = Instant::now();
    let latencies = case.prove(options.jobs, slots, console)?;
    let seconds = begin.elapsed().as_secs_f64();
    let spans: Vec<Span> = case.engine.record().spans.into_iter().skip(before).collect();
    report(options, &case, seconds, latencies, &spans)?;
    Ok(0)
}

impl Case {
    fn new(options: &Bench, slots: usize, console: &Console) -> Result<Self> {
        let engine = files::engine(options.threads, slots, 2 * slots)?;
        let spinner = console.spinner("key");
        let (circuit, key, inputs, aux) = engine.install(|| {
            let (r1cs, witness) = synthetic::r1cs(&Shape::new(options.rows - INPUTS, INPUTS, SEED))?;
            if let Some(directory) = &options.save {
                save(directory, &r1cs, &witness)?;
            }
            let circuit = Circuit::from_r1cs(&r1cs)?;
            let params = setup::setup(&circuit, &Trapdoor::from_seed(SEED))?;
            let key = ProvingKey::from_bellman_with_circuit(params, &circuit)?;
            let (inputs, aux) = witness.split_at(INPUTS);
            Ok::<_, Error>((circuit, key, Values::new(inputs), Values::new(aux)))
        })?;
        let key = files::loaded(&engine, key)?;
        spinner.finish_and_clear();
        Ok(Self { engine, key, circuit: Arc::new(circuit), inputs, aux })
    }

    fn input(&self) -> Result<ProofInput> {
        Ok(ProofInput {
            key: Arc::clone(&self.key),
            rows: RowSource::Circuit(Arc::clone(&self.circuit)),
            inputs: self.inputs.scalars("inputs")?,
            aux: self.aux.scalars("aux")?,
            blinding: Blinding::random()?,
            self_check: true,
        })
    }

    /// Proves `jobs` times, with one job waiting for each slot; seconds from start to proof of each.
    fn prove(&self, jobs: u32, slots: usize, console: &Console) -> Result<Vec<f64>> {
        let bar = console.jobs(if jobs == 1 { "warm-up" } else { "proofs" }, jobs.into());
        let mut running = VecDeque::new();
        let mut latencies = Vec::new();
        let mut left = jobs;
        while left > 0 || !running.is_empty() {
            while left > 0 && running.len() < 2 * slots {
                let job = self.engine.create(self.input()?, None);
                self.engine.submit(&job, 0)?;
                running.push_back(job);
                left -= 1;
            }
            let Some(job) = running.pop_front() else { break };
            job.wait(None);
            job.result().unwrap_or_else(|| Err(Error::internal("a job that ended has no result")))?;
            let report = self.engine.jobs().report(&job);
            let nanos = report.prepare + report.device_time + report.finish;
            latencies.push(nanos as f64 / 1e9);
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(latencies)
    }
}

fn save(directory: &Path, r1cs: &R1cs, witness: &[Fr]) -> Result<()> {
    std::fs::create_dir_all(directory).map_err(|error| output::io_error(directory.display(), &error))?;
    Output::create(&directory.join("circuit.r1cs"), &[])?.write_bytes(&r1cs::to_bytes(r1cs))?;
    Output::create(&directory.join("witness.wtns"), &[])?.write_bytes(&wtns::to_bytes(witness)?)?;
    Ok(())
}

fn report(options: &Bench, case: &Case, seconds: f64, latencies: Vec<f64>, spans: &[Span]) -> Result<()> {
    let rate = f64::from(options.jobs) / seconds;
    let stages: Vec<(&str, f64)> = STAGE_NAMES
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let spans = spans.iter().filter(|span| span.stage.index() == index);
            (*name, median(spans.map(|span| span.end.saturating_sub(span.start) as f64 / 1e9).collect()))
        })
        .collect();
    let threads = case.engine.cpu_threads();
    let domain = case.key.domain.size();
    let latency = median(latencies);
    if options.json {
        let stages: serde_json::Map<_, _> = stages.iter().map(|(name, time)| ((*name).into(), json!(time))).collect();
        let object = json!({
            "rows": options.rows, "domain": domain, "threads": threads, "slots": options.slots, "jobs": options.jobs,
            "seconds": seconds, "proofs_per_second": rate, "median_seconds": latency, "stage_median_seconds": stages,
        });
        return output::text(&format!("{object:#}\n"));
    }
    let mut text = format!(
        "{} rows, domain of {domain}, {threads} threads, {} slots, {} proofs in {seconds:.3} s\n",
        options.rows, options.slots, options.jobs
    );
    text += &format!("{:<20}{rate:>12.3}\n{:<20}{latency:>12.4} s\n", "proofs per second", "a proof, median");
    for (name, time) in stages {
        text += &format!("  {name:<18}{time:>12.4} s\n");
    }
    output::text(&text)
}

/// The upper median; 0 of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
