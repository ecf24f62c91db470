//! The pipeline: a queue, device slots, a compute lane per device, G2 beside them, and one finisher.
//!
//! `core` decides; the threads here only carry its actions out and report back. Every stage runs outside all locks.

mod carry_out;
pub mod config;
pub mod core;
mod cpu_pool;
pub mod job;

pub mod stages;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, unbounded};

use self::carry_out::Shared;
use self::config::Config;
use self::core::{Core, Event};
use self::job::{Job, Observer, Report};
use self::stages::Stages;
use crate::error::{Error, Result, Status};
use crate::sync::Mutex;

/// An engine: its threads end when it is dropped, jobs stay readable.
pub struct Engine<S: Stages> {
    shared: Arc<Shared<S>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Work for the thread of one device, or of the finisher.
enum Task<S: Stages> {
    Run(Arc<Job<S>>),
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
        ));
        let engine = Self { shared, threads: Mutex::new(Vec::new()) };
        for (index, (device, tasks)) in devices.into_iter().zip(receivers).enumerate() {
            engine.spawn(&format!("groth16-dev-{index}"), move |shared| shared.device_worker(device, &tasks))?;
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
        job.report(self.shared.now())
    }

    /// Asks `job` to end soon; it may still become a proof.
    pub fn cancel(&self, job: &Job<S>) {
        self.shared.dispatch(Event::Cancel { job: job.id });
    }
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

    fn now(&self) -> core::Nanos {
        // 2^64 ns are 584 years.
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
