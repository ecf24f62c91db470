//! `groth16 bench`.

use std::collections::VecDeque;
use std::time::Instant;

use groth16::engine::Engine;
use groth16::engine::proof::Groth16;
use groth16::engine::timeline::{STAGE_NAMES, Span};
use groth16::error::{Error, Result};
use serde_json::json;

use crate::args::Bench;
use crate::files;
use crate::output::{self, Console};
use crate::work::Work;

/// All that the jobs share.
struct Case {
    engine: Engine<Groth16>,
    work: Work,
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
        let engine = files::engine(options.threads, options.place, slots, 2 * slots)?;
        let work = if options.partition {
            Work::partition(&engine, options.rows, console)?
        } else {
            Work::synthetic(&engine, options.rows, options.save.as_deref(), console)?
        };
        Ok(Self { engine, work })
    }

    /// Proves `jobs` times, with one job waiting for each slot; seconds from start to proof of each.
    fn prove(&self, jobs: u32, slots: usize, console: &Console) -> Result<Vec<f64>> {
        let lent = self.work.lend(&self.engine)?;
        let bar = console.jobs(if jobs == 1 { "warm-up" } else { "proofs" }, jobs.into());
        let mut running = VecDeque::new();
        let mut latencies = Vec::new();
        let mut left = jobs;
        while left > 0 || !running.is_empty() {
            while left > 0 && running.len() < 2 * slots {
                let job = self.engine.create(self.work.input(lent.as_ref())?, None);
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
    let domain = case.work.key.domain.size();
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
