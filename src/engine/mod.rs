//! The pipeline: a queue, device slots, a compute lane per device, G2 beside them, and one finisher.
//!
//! `core` decides; the threads here only carry its actions out and report back. Every stage runs outside all locks.

pub mod budget;
mod carry_out;
pub mod config;
pub mod core;
mod cpu_pool;
pub mod job;
pub mod metrics;
pub mod proof;
pub mod report;

pub mod stages;
#[cfg(test)]
mod tests;
pub mod timeline;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, unbounded};

use self::budget::Budget;
use self::carry_out::Shared;
use self::config::Config;
use self::core::{Core, Event};
use self::job::{Job, Observer, Report};
use self::stages::Stages;
use self::timeline::Timeline;
use crate::error::{Error, Result, Status};
use crate::sync::Mutex;

/// An engine: its threads end when it is dropped, jobs stay readable.
pub struct Engine<S: Stages> {
    shared: Arc<Shared<S>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Work for the thread of one device, or of the finisher.
enum Task<S: Stages> {
    /// The device's kernels, or the epilogue.
    Run(Arc<Job<S>>),
    /// For the finisher: the job has ended. Its observer is told there, never on a caller's thread.
    Complete(Arc<Job<S>>, Result<()>),
    End,
}

impl<S: Stages> Engine<S> {
    /// Starts the threads: a pool of `config.cpu_threads`, one per device, one finisher.
    pub fn new(config: &Config, stages: S, devices: Vec<S::Device>) -> Result<Self> {
        let limits = core::Limits {
            max_queued_jobs: config.max_queued_jobs,
            devices: devices.len(),
            jobs_per_device: config.jobs_per_device,
        };
        let (device_senders, receivers): (Vec<_>, Vec<_>) = devices.iter().map(|_| unbounded()).unzip();
        let (finisher_sender, finisher) = unbounded();
        let shared = Arc::new(Shared::new(
            stages,
            Core::new(limits),
            cpu_pool::CpuPool::new(config.cpu_threads)?,
            device_senders,
            finisher_sender,
            Budget::new("host", config.host_bytes_limit),
        ));
        let engine = Self { shared, threads: Mutex::new(Vec::new()) };
        for (index, (device, tasks)) in devices.into_iter().zip(receivers).enumerate() {
            engine.spawn(&format!("groth16-dev-{index}"), move |shared| shared.device_worker(index, device, &tasks))?;
        }
        engine.spawn("groth16-finish", move |shared| shared.finisher(&finisher))?;
        Ok(engine)
    }

    fn spawn(&self, name: &str, work: impl FnOnce(&Arc<Shared<S>>) + Send + 'static) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || work(&shared));
        let thread =
            thread.map_err(|error| Error::new(Status::NoMemory, format!("cannot start the thread {name}: {error}")))?;
        self.threads.lock().push(thread);
        Ok(())
    }

    /// A job that is not queued yet: its owner can be told of it before its observer is called.
    pub fn create(&self, input: S::Input, observer: Option<Observer>) -> Arc<Job<S>> {
        self.shared.create(input, observer)
    }

    /// Queues a job that this engine created, once. The observer of a job that is refused is never called.
    pub fn submit(&self, job: &Arc<Job<S>>, priority: i32) -> Result<()> {
        self.shared.submit(job, priority)
    }

    /// What the engine holds and does now.
    pub fn usage(&self, pinned: &Budget) -> Usage {
        self.shared.usage(pinned)
    }

    /// How many G2 MSMs run now; a relaxed load.
    pub fn g2_running(&self) -> u32 {
        self.shared.g2_running()
    }

    /// The budget of host memory: keys and jobs take their bytes from it.
    pub fn host_budget(&self) -> &Arc<Budget> {
        &self.shared.host
    }

    /// All metrics as Prometheus text.
    pub fn metrics(&self, pinned: &Budget) -> String {
        metrics::prometheus(&self.usage(pinned), &self.shared.timeline.totals(), self.shared.now())
    }

    /// What ran where.
    pub fn timeline(&self) -> &Timeline {
        &self.shared.timeline
    }

    /// How many threads the CPU pool has.
    pub fn cpu_threads(&self) -> usize {
        self.shared.pool.size()
    }

    /// Runs `work` on the CPU pool and waits for it.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.shared.pool.install(work)
    }

    /// What the handle of a job needs when the engine is gone.
    pub fn jobs(&self) -> Jobs<S> {
        Jobs { shared: Arc::clone(&self.shared) }
    }
}

impl<S: Stages> Drop for Engine<S> {
    /// Takes no more jobs, ends those whose kernels run, fails the rest with `Status::Shutdown`, joins all threads.
    /// Not from an observer.
    fn drop(&mut self) {
        self.shared.dispatch(Event::Shutdown);
        self.shared.wait_idle();
        self.shared.end_workers();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            // A worker catches what its stages do; a panic elsewhere must not spread into the host.
            let _ = thread.join();
        }
        self.shared.pool.shut_down();
    }
}

/// Reads and cancels jobs, also after their engine has ended.
pub struct Jobs<S: Stages> {
    shared: Arc<Shared<S>>,
}

impl<S: Stages> Clone for Jobs<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S: Stages> Jobs<S> {
    /// How far `job` is. Never waits for work.
    pub fn report(&self, job: &Job<S>) -> Report {
        job.report(&self.shared.clock)
    }

    /// Asks `job` to end soon; it may still become a proof.
    pub fn cancel(&self, job: &Job<S>) {
        self.shared.dispatch(Event::Cancel { job: job.id });
    }
}

/// What an engine holds and does at one moment. Sizes are bytes in use and the limit, 0 for none.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Jobs that wait for a slot.
    pub queued_jobs: usize,
    /// Jobs that have one, or had one and have not ended.
    pub running_jobs: usize,
    /// G2 MSMs that run.
    pub g2_running: u32,
    /// Host memory.
    pub host_bytes: (u64, u64),
    /// Page-locked memory.
    pub pinned_bytes: (u64, u64),
}

type Tasks<S> = Receiver<Task<S>>;
type TaskSender<S> = Sender<Task<S>>;

/// The clock of an engine: nanoseconds since its creation.
#[derive(Debug)]
struct Clock(Instant);

impl Clock {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// Read under the lock of what it is compared with, if that must not seem to go backwards.
    fn now(&self) -> core::Nanos {
        // 2^64 ns are 584 years.
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
