//! The pipeline: a queue, device slots, a compute lane per device, G2 beside them, and one finisher.
//!
//! `core` decides; the threads here only carry its actions out and report back. Every stage runs outside all locks.

pub mod backend;
pub mod budget;
mod carry_out;
pub mod config;
pub mod core;
mod cpu_pool;
pub mod job;
pub mod memory;
pub mod metrics;
pub mod pool;
pub mod proof;
mod reclaim;
pub mod report;
#[cfg(all(any(test, feature = "test-hooks"), not(loom)))]
pub mod simulate;
pub mod stages;
#[cfg(test)]
mod tests;
pub mod timeline;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, unbounded};

pub use self::carry_out::DeviceNotice;

use self::budget::{Budget, Permit};
use self::carry_out::Shared;
use self::config::Config;
use self::core::{Core, Event, KeyId};
use self::cpu_pool::CpuPool;
use self::job::{Job, Observer, Report};
use self::reclaim::Reclaimer;
use self::stages::{Place, Stages};
use self::timeline::Record;
use crate::error::{Error, Result, Status};
use crate::sync::Mutex;

/// An engine: its threads end when it is dropped, jobs stay readable.
pub struct Engine<S: Stages> {
    shared: Arc<Shared<S>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Work for the finisher.
enum Task<S: Stages> {
    /// The epilogue.
    Run(Arc<Job<S>>),
    /// The job has ended. Its observer is told there, never on a caller's thread.
    Complete(Arc<Job<S>>, Result<()>),
    End,
}

/// Work for the copy lane or the compute lane of a device.
enum DeviceTask<S: Stages> {
    Upload(Arc<Job<S>>, Place),
    Discard(S::Uploaded),
    Evict(KeyId),
    Run(Arc<Job<S>>),
    Reset,
    Retire,
    End,
}

/// The ways to the threads that are lanes.
struct Lanes<S: Stages> {
    copy: Vec<Sender<DeviceTask<S>>>,
    compute: Vec<Sender<DeviceTask<S>>>,
    finish: Sender<Task<S>>,
    /// Keys to be read again; `None` ends the thread.
    keys: Sender<Option<KeyId>>,
}

/// Called when a device fails, on some thread of the engine and with no lock held.
pub type Notify = Box<dyn Fn(&DeviceNotice) + Send + Sync>;

impl<S: Stages> Engine<S> {
    /// Starts the threads: a pool of `config.cpu_threads`, two per device, a finisher, one that reads keys
    /// again, and one that gives memory back.
    pub fn new(config: &Config, stages: S, devices: Vec<S::Device>, notify: Notify) -> Result<Self> {
        let count = devices.len();
        let (copy, uploads): (Vec<_>, Vec<_>) = (0..count).map(|_| unbounded()).unzip();
        let (compute, kernels): (Vec<_>, Vec<_>) = (0..count).map(|_| unbounded()).unzip();
        let (finish, finisher) = unbounded();
        let (keys, wanted_keys) = unbounded();
        let (reclaimer, garbage) = Reclaimer::new();
        let device_pools = if config.device_threads == 0 { Vec::new() } else { vec![config.device_threads; count] };
        let device_pools: Result<Vec<_>> =
            device_pools.into_iter().map(|size| CpuPool::new(size, "groth16-kern")).collect();
        let shared = Arc::new(Shared::new(
            stages,
            Core::new(config.limits(count)),
            (CpuPool::new(config.cpu_threads, "groth16-cpu")?, device_pools?),
            Lanes { copy, compute, finish, keys },
            reclaimer,
            Budget::new("host", config.host_bytes_limit),
            config.record_entries,
            notify,
        ));
        let engine = Self { shared, threads: Mutex::new(Vec::new()) };
        engine.spawn("groth16-free", move |shared| shared.reclaimer.work(&garbage))?;
        for (index, tasks) in uploads.into_iter().enumerate() {
            engine.spawn(&format!("groth16-copy-{index}"), move |shared| shared.copy_worker(index, &tasks))?;
        }
        for (index, (device, tasks)) in devices.into_iter().zip(kernels).enumerate() {
            engine
                .spawn(&format!("groth16-dev-{index}"), move |shared| shared.compute_worker(index, device, &tasks))?;
        }
        engine.spawn("groth16-keys", move |shared| shared.key_reader(&wanted_keys))?;
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

    /// Leave to take host memory for `what`; unused keys leave for it. `busy` where it does not fit beside what is in use,
    /// `NoMemory` where it never can.
    pub fn take_host(&self, bytes: u64, what: &str, busy: Status) -> Result<Permit> {
        self.shared.take_host(bytes, what, busy, 0)
    }

    /// All metrics as Prometheus text.
    pub fn metrics(&self, pinned: &Budget) -> String {
        let devices = self.shared.devices();
        metrics::prometheus(&self.usage(pinned), &devices, &self.shared.timeline.totals(), self.shared.now())
    }

    /// What ran where, up to now.
    pub fn record(&self) -> Record {
        drop(self.shared.devices());
        self.shared.timeline.record()
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
        self.shared.ending.ask();
        self.shared.dispatch(Event::Shutdown);
        self.shared.wait_idle();
        self.shared.end_workers();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            // A worker catches what its stages do; a panic elsewhere must not spread into the host.
            let _ = thread.join();
        }
        self.shared.end_pools();
        self.shared.stages.close();
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
    /// The most host memory and page-locked memory that was held at once.
    pub peak_bytes: (u64, u64),
    /// Memory that keys and jobs hold on all devices together.
    pub device_bytes: u64,
}

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
