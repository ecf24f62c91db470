//! Arguments of `groth16 bench pipeline`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use groth16::engine::config::Config;
use groth16::engine::core::Nanos;

use super::{OnGpus, Threads, row_count};

/// Run a load through the pipeline, and see what waits for what.
///
/// A scripted device takes the times that you give, in virtual time: a day of proofs takes seconds. The
/// CPU makes real proofs. Either way the engine decides what runs when, and the figures, the picture and
/// the trace are read from its record.
///
/// Monolithic is how provers work that do not split: one slot, and the next job starts when the G2 MSM
/// and the epilogue of the one before have ended.
#[derive(Args, Debug)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Example:
  groth16 bench pipeline --kernels 1.8 --g2 1.7 --svg timeline.svg
  groth16 bench pipeline --mode split --devices 4 --g2-lanes 4 --g2 3.5 --rate 1.1 --poisson 7 --json
  groth16 bench pipeline --device cpu --rows 2^13 --jobs 20 --threads 1 --trace trace.json
  groth16 bench pipeline --device gpu --partition --rows 2^22 --jobs 10 --waiting 4 --svg timeline.svg

The last line says how many times as many proofs per second the split pipeline makes:
  RATIO pipeline_split_vs_monolithic 1.97"
)]
pub struct Pipeline {
    /// Jobs
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub jobs: u32,
    /// A closed load: so many jobs always wait, until all have been started
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "rate", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub waiting: u32,
    /// An open load instead: so many jobs come in a second, however many wait
    #[arg(long, value_name = "PER_SECOND", value_parser = rate)]
    pub rate: Option<f64>,
    /// They come at random times (a Poisson process) instead of evenly
    #[arg(long, value_name = "SEED", requires = "rate")]
    pub poisson: Option<u64>,
    /// Devices
    #[arg(long, value_name = "D", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub devices: u8,
    /// Jobs that share a device, where the work is split
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=Config::MAX_JOBS_PER_DEVICE as i64))]
    pub slots: u8,
    /// G2 MSMs that run at once
    #[arg(long, value_name = "L", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub g2_lanes: u8,
    /// How jobs go through the pipeline
    #[arg(long, value_enum, default_value = "both")]
    pub mode: Modes,
    /// What proves
    #[arg(long, value_enum, default_value = "scripted")]
    pub device: Device,
    /// The timelines as a picture, one above the other on the same scale
    #[arg(long, value_name = "F.svg")]
    pub svg: Option<PathBuf>,
    /// What the picture shows, in seconds, such as 10..25; default: the first 20 jobs
    #[arg(long, value_name = "A..B", requires = "svg", value_parser = window)]
    pub window: Option<(Nanos, Nanos)>,
    /// The timelines in Chrome's format, for ui.perfetto.dev
    #[arg(long, value_name = "F.json")]
    pub trace: Option<PathBuf>,
    /// The result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub script: Script,
    #[command(flatten)]
    pub real: Real,
}

/// What a scripted device does; times in seconds.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "With --device scripted (times in seconds)")]
pub struct Script {
    /// Splitting the scalars and evaluating the rows, on the CPU
    #[arg(long, value_name = "S", default_value = "0.02", value_parser = seconds)]
    pub prepare: Nanos,
    /// The way to the device
    #[arg(long, value_name = "S", default_value = "0.05", value_parser = seconds)]
    pub upload: Nanos,
    /// All kernels
    #[arg(long, value_name = "S", default_value = "1.8", value_parser = seconds)]
    pub kernels: Nanos,
    /// The G2 MSM, on the CPU
    #[arg(long, value_name = "S", default_value = "1.7", value_parser = seconds)]
    pub g2: Nanos,
    /// Epilogue and self-check
    #[arg(long, value_name = "S", default_value = "0.005", value_parser = seconds)]
    pub finish: Nanos,
    /// Of a thousand jobs, so many fail on the device at their first try
    #[arg(long, value_name = "PER_MILLE", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub faults: u16,
    /// Chooses the jobs that fail
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
}

/// What the CPU or a GPU proves.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "With --device cpu or gpu")]
pub struct Real {
    /// Proving key, with --circuit and --witness; default: a synthetic circuit
    #[arg(long, value_name = "F.params", requires_all = ["circuit", "witness"], conflicts_with = "rows")]
    pub key: Option<PathBuf>,
    /// Circuit: iden3 .r1cs
    #[arg(long, value_name = "F.r1cs", requires_all = ["key", "witness"])]
    pub circuit: Option<PathBuf>,
    /// Witness: iden3 .wtns
    #[arg(long, value_name = "F.wtns", requires_all = ["key", "circuit"])]
    pub witness: Option<PathBuf>,
    /// Rows of the synthetic circuit
    #[arg(long, value_name = "N|2^K", default_value = "2^14", value_parser = row_count)]
    pub rows: usize,
    /// The shape of a Filecoin partition instead of a circuit: rows are given, 98 of 100 values are zero or one
    #[arg(long, conflicts_with = "key")]
    pub partition: bool,
    /// A partition's rows in ordinary memory, from which they are copied, not in the engine's page-locked buffers
    #[arg(long, requires = "partition")]
    pub pageable_rows: bool,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub gpus: OnGpus,
    /// Threads of each device that is the CPU; they are not among those of the CPU
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=Config::MAX_CPU_THREADS as i64))]
    pub device_threads: u16,
}

/// Which ways are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Modes {
    /// The device takes the next job when kernels end
    Split,
    /// The device waits until the proof is done
    Monolithic,
    /// One after the other, and their ratio
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Device {
    /// A script, in virtual time
    Scripted,
    /// This machine's CPU, in real time
    Cpu,
    /// This machine's GPUs, in real time
    Gpu,
}

/// Up to so many seconds that a million jobs of them end before nanoseconds in 64 bits do.
fn seconds(text: &str) -> Result<Nanos, String> {
    nanoseconds(text, 1e3).ok_or_else(|| "not a number of seconds from 0 to 1000".into())
}

fn nanoseconds(text: &str, most_seconds: f64) -> Option<Nanos> {
    let value: Option<f64> = text.parse().ok();
    let value = value.filter(|value| (0.0..=most_seconds).contains(value));
    value.map(|value| (value * 1e9).round() as Nanos)
}

fn rate(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.parse().ok();
    value.filter(|value| (1e-3..=1e6).contains(value)).ok_or_else(|| "not a number from 0.001 to 1e6".into())
}

fn window(text: &str) -> Result<(Nanos, Nanos), String> {
    let wrong = || "not A..B with A < B, in seconds; each may be left out".to_owned();
    let (start, end) = text.split_once("..").ok_or_else(wrong)?;
    let parse = |text: &str| nanoseconds(text, 1e10).ok_or_else(wrong);
    let start = if start.is_empty() { 0 } else { parse(start)? };
    let end = if end.is_empty() { Nanos::MAX } else { parse(end)? };
    if start < end { Ok((start, end)) } else { Err(wrong()) }
}
