//! The CPU or GPUs as devices: real proofs by the real engine.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use groth16::engine::Engine;
use groth16::engine::backend::Backend;
use groth16::engine::config::Config;
use groth16::engine::core::Mode;
use groth16::engine::job::Job;
use groth16::engine::proof::Groth16;
use groth16::engine::report::Peaks;
use groth16::error::{Error, Result};

use super::Measured;
use super::load::{Arrivals, Load, name};
use crate::args::{self, BackendChoice, Device, G2, Place};
use crate::files;
use crate::output::Console;
use crate::work::{LentRows, Work};

/// How often a closed load is filled up: short beside any proof that is worth measuring, and no load by itself.
const TICK: Duration = Duration::from_millis(1);

/// Jobs at once in a warm-up, beside those on devices.
const MOST_WARM_UP: usize = 8;

/// What all modes prove.
pub struct Real {
    work: Work,
    config: Config,
    place: Place,
    pageable_rows: bool,
}

impl Real {
    /// Reads or makes the key, and proves once, so that nothing is done for the first time when it is measured.
    pub fn new(options: &args::Real, on: Device, console: &Console) -> Result<Self> {
        let backend = if on == Device::Gpu { BackendChoice::Gpu } else { BackendChoice::Cpu };
        let place = Place { backend, gpus: options.gpus };
        // What it proves on is asked for before the key is made, which may take long.
        drop(files::backend(place, 1)?);
        let engine = files::engine(options.threads, Place::CPU, 1, 1)?;
        let work = match (&options.key, &options.circuit, &options.witness) {
            (Some(key), Some(circuit), Some(witness)) => Work::from_files(&engine, key, circuit, witness, console)?,
            _ if options.partition => Work::partition(&engine, options.rows, console)?,
            _ => Work::synthetic(&engine, options.rows, None, console)?,
        };
        if on == Device::Cpu {
            prove(&engine, &work)?;
        }
        let device_threads = options.device_threads.into();
        let config = Config { cpu_threads: engine.cpu_threads(), device_threads, ..Config::default() };
        Ok(Self { work, config, place, pageable_rows: options.pageable_rows })
    }

    /// With the first jobs keys come to GPUs, memory is taken, and rates are measured: one alone, then as many at once as there
    /// will be.
    fn warm_up(&self, engine: &Engine<Groth16>, lent: Option<&LentRows>, jobs: usize) -> Result<()> {
        for count in [1, 1, jobs, jobs] {
            let started: Result<Vec<_>> = (0..count)
                .map(|_| {
                    let job = engine.create(self.work.input(lent)?, None);
                    engine.submit(&job, 0).map(|()| job)
                })
                .collect();
            started?.iter().try_for_each(ended)?;
        }
        Ok(())
    }

    /// Runs the load; every job must become a proof.
    pub fn run(&self, load: &Load, mode: Mode, console: &Console) -> Result<Measured> {
        let (waiting, starts) = match load.arrivals {
            Arrivals::Closed { waiting } => (waiting, None),
            Arrivals::Open { .. } => (load.jobs, Some(load.starts())),
        };
        let config = Config {
            g2_lanes: load.g2_lanes,
            jobs_per_device: load.slots(mode),
            max_queued_jobs: waiting.max(MOST_WARM_UP + load.devices * load.slots(mode)),
            mode,
            record_entries: usize::MAX,
            ..self.config.clone()
        };
        let mut place = self.place;
        if mode == Mode::Monolithic {
            // How provers work that do not split.
            place.gpus.g2 = G2::Cpu;
        }
        let backend = match files::backend(place, load.devices)? {
            Backend::Cpu(_) => Backend::Cpu(load.devices),
            gpus => gpus,
        };
        let engine = Engine::on(backend, &config, Box::new(|_| ()))?;
        let lent = if self.pageable_rows { None } else { self.work.lend(&engine)? };
        if self.place.backend == BackendChoice::Gpu {
            self.warm_up(&engine, lent.as_ref(), waiting.min(MOST_WARM_UP) + load.devices * load.slots(mode))?;
        }
        let before = engine.record();
        let bar = console.jobs(name(mode), load.jobs as u64);
        let begin = Instant::now();
        let is_due = |index: usize| match &starts {
            Some(starts) => begin.elapsed() >= Duration::from_nanos(starts[index]),
            None => engine.usage(engine.host_budget()).queued_jobs < waiting,
        };
        let mut running = VecDeque::new();
        let mut started = 0;
        while started < load.jobs || !running.is_empty() {
            while started < load.jobs && is_due(started) {
                let job = engine.create(self.work.input(lent.as_ref())?, None);
                engine.submit(&job, 0)?;
                running.push_back(job);
                started += 1;
            }

            match running.front() {
                Some(job) if job.wait(Some(Instant::now() + TICK)) => {
                    ended(job)?;
                    running.pop_front();
                    bar.inc(1);
                }
                Some(_) => {}
                None => std::thread::sleep(TICK),
            }
        }
        bar.finish_and_clear();
        // The key is in the budget of the engine that made it.
        let host = Some(engine.host_budget().peak() + self.work.key.host_bytes());
        Ok(Measured { record: engine.record().since(&before), peaks: Peaks { host, ..Peaks::default() } })
    }
}

/// One proof, from start to end.
fn prove(engine: &Engine<Groth16>, work: &Work) -> Result<()> {
    let job = engine.create(work.input(None)?, None);
    engine.submit(&job, 0)?;
    ended(&job)
}

/// Waits for a job and until its record is complete; its failure is the caller's.
fn ended(job: &Arc<Job<Groth16>>) -> Result<()> {
    job.wait_released();
    job.result().unwrap_or_else(|| Err(Error::internal("a job that ended has no result"))).map(drop)
}
