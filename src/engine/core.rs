//! Every decision of the engine, as one pure state machine: `step(event, now)` changes the state and answers with the
//! actions to carry out. No thread, clock, lock or curve is known here, so that tests and simulations drive it in
//! virtual time.
//!
//! A job's way: queued; a slot of a device is free, so it prepares (its scalars are split, then its rows evaluated);
//! G2 starts as soon as the scalars are split; when the device's compute lane is free its kernels run; the moment
//! they end, lane and slot serve other jobs, and the job is finished once G2 has ended too. A job that fails or is
//! cancelled completes when no stage of it runs any more, so that nothing reads its scalars after its end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result, Status};

/// Names a job; unique within an engine.
pub type JobId = u64;
/// Index of a device of the engine.
pub type DeviceId = usize;
/// Nanoseconds since the engine was created.
pub type Nanos = u64;

/// What the core is built with.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How many jobs may wait for a slot.
    pub max_queued_jobs: usize,
    /// How many devices there are; at least 1.
    pub devices: usize,
    /// How many jobs share a device: one computes while others prepare; at least 1.
    pub jobs_per_device: usize,
}

/// Where a job is. A job only moves down this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Waits for a slot.
    Queued,
    /// Splits and evaluates scalars, or waits for the compute lane.
    Preparing,
    /// Its kernels run.
    OnDevice,
    /// Only G2 and the epilogue are left.
    Finishing,
    /// Ended, whatever the result.
    Terminal,
}

/// Why no kernel runs on a device; the first that holds, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdleCause {
    /// It failed: it gets a new context, or was taken out.
    Fault,
    /// A job's rows, or the key before them, are on their way into its memory.
    Upload,
    /// A job's scalars are split or its rows evaluated on the CPU.
    Prepare,
    /// Jobs wait, but their memory or their key does not fit beside what the device holds.
    Memory,
    /// Jobs wait, but so many are behind the device, waiting for their G2 MSM, that no more are let in.
    G2,
    /// No job waits.
    NoJobs,
}

impl IdleCause {
    /// Names in metrics and reports, by `index`.
    pub const NAMES: [&str; 6] = ["fault", "upload", "prepare", "memory", "g2", "no_jobs"];

    /// Position in `NAMES`.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// A caller wants a proof.
    Submit { job: JobId, priority: i32 },
    /// The scalars of a preparing job are split: its G2 may start.
    ScalarsSplit { job: JobId },
    /// Preparing ended.
    Prepared { job: JobId, result: Result<()> },
    /// The kernels ended.
    DeviceDone { job: JobId, result: Result<()> },
    /// The G2 MSM ended.
    G2Done { job: JobId, result: Result<()> },
    /// Epilogue and self-check ended.
    Finished { job: JobId, result: Result<()> },
    /// A caller no longer wants a proof.
    Cancel { job: JobId },
    /// The engine takes no more jobs.
    Shutdown,
}

/// What to do about it, in this order.
#[derive(Debug)]
pub enum Action {
    /// The job was not admitted; it does not exist for the core.
    Reject { job: JobId, error: Error },
    /// The job is in this phase from now on.
    Enter { job: JobId, phase: Phase, device: Option<DeviceId> },
    /// Run the preparing stage.
    Prepare { job: JobId },
    /// Run the G2 MSM.
    StartG2 { job: JobId },
    /// Run the kernels.
    RunDevice { job: JobId, device: DeviceId },
    /// Run epilogue and self-check.
    Finish { job: JobId },
    /// Ask the running stages of the job to end early.
    Stop { job: JobId },
    /// The job has ended; the core has forgotten it.
    Complete { job: JobId, result: Result<()> },
}

/// Highest priority first, then first in first out; unique, since `order` is.
type QueueKey = (Reverse<i32>, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Waiting,
    Running,
    Done,
}

#[derive(Debug)]
struct Job {
    key: QueueKey,
    device: Option<DeviceId>,
    prepare: Progress,
    kernels: Progress,
    g2: Progress,
    finish: Progress,
    failure: Option<Error>,
}

impl Job {
    fn is_running(&self) -> bool {
        [self.prepare, self.kernels, self.g2, self.finish].contains(&Progress::Running)
    }

    /// Whether it waits, prepared, for its device's compute lane.
    fn is_ready(&self) -> bool {
        self.prepare == Progress::Done && self.kernels == Progress::Waiting
    }
}

#[derive(Debug, Default)]
struct Device {
    /// Jobs that hold a slot: from the start of preparing to the end of the kernels.
    slots: BTreeSet<JobId>,
    /// Jobs that are prepared and wait for the compute lane.
    ready: BTreeMap<QueueKey, JobId>,
    /// The job whose kernels run.
    computing: Option<JobId>,
}

/// The state of the engine.
#[derive(Debug)]
pub struct Core {
    limits: Limits,
    jobs: BTreeMap<JobId, Job>,
    queue: BTreeMap<QueueKey, JobId>,
    devices: Vec<Device>,
    next_order: u64,
    shutting_down: bool,
}

impl Core {
    /// An engine without jobs.
    pub fn new(limits: Limits) -> Self {
        let devices = (0..limits.devices).map(|_| Device::default()).collect();
        Self { limits, jobs: BTreeMap::new(), queue: BTreeMap::new(), devices, next_order: 0, shutting_down: false }
    }

    /// How many jobs wait for a slot.
    pub fn queued_jobs(&self) -> usize {
        self.queue.len()
    }

    /// How many jobs were admitted and have not ended, the queued ones included.
    pub fn live_jobs(&self) -> usize {
        self.jobs.len()
    }

    /// Takes one event and answers what to do. Events of jobs that have ended are ignored.
    pub fn step(&mut self, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        match event {
            Event::Submit { job, priority } => self.submit(job, priority, &mut actions),
            Event::ScalarsSplit { job } => self.scalars_split(job, &mut actions),
            Event::Prepared { job, result } => self.prepared(job, result, &mut actions),
            Event::DeviceDone { job, result } => self.device_done(job, result, &mut actions),
            Event::G2Done { job, result } => self.g2_done(job, result, &mut actions),
            Event::Finished { job, result } => self.finished(job, result, &mut actions),
            Event::Cancel { job } => {
                self.abandon(job, Error::new(Status::Cancelled, "the job was cancelled"), &mut actions);
            }
            Event::Shutdown => self.shut_down(&mut actions),
        }
        self.fill_slots(&mut actions);
        actions
    }

    fn submit(&mut self, id: JobId, priority: i32, actions: &mut Vec<Action>) {
        if self.shutting_down {
            actions.push(Action::Reject { job: id, error: shut_down_error() });
            return;
        }
        if self.queue.len() >= self.limits.max_queued_jobs {
            let message = format!("{} jobs are queued, which is the engine's limit", self.queue.len());
            actions.push(Action::Reject { job: id, error: Error::new(Status::QueueFull, message) });
            return;
        }
        let key = (Reverse(priority), self.next_order);
        self.next_order += 1;
        let waiting = Progress::Waiting;
        let job =
            Job { key, device: None, prepare: waiting, kernels: waiting, g2: waiting, finish: waiting, failure: None };
        self.jobs.insert(id, job);
        self.queue.insert(key, id);
    }

    /// Gives free slots to the first jobs of the queue: the device with the fewest jobs first.
    fn fill_slots(&mut self, actions: &mut Vec<Action>) {
        while !self.queue.is_empty() {
            let free = self.devices.iter().enumerate().filter(|(_, d)| self.has_free_slot(d));
            let Some((index, _)) = free.min_by_key(|(_, d)| d.slots.len()) else { return };
            let Some((_, id)) = self.queue.pop_first() else { return };
            self.devices[index].slots.insert(id);
            if let Some(job) = self.jobs.get_mut(&id) {
                job.device = Some(index);
                job.prepare = Progress::Running;
            }
            actions.push(Action::Enter { job: id, phase: Phase::Preparing, device: Some(index) });
            actions.push(Action::Prepare { job: id });
        }
    }

    fn has_free_slot(&self, device: &Device) -> bool {
        device.slots.len() < self.limits.jobs_per_device
    }

    fn scalars_split(&mut self, id: JobId, actions: &mut Vec<Action>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.failure.is_none() && job.g2 == Progress::Waiting {
            job.g2 = Progress::Running;
            actions.push(Action::StartG2 { job: id });
        }
    }

    fn prepared(&mut self, id: JobId, result: Result<()>, actions: &mut Vec<Action>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.prepare = Progress::Done;
        if let Err(error) = result {
            self.abandon(id, error, actions);
        } else if job.failure.is_some() {
            self.settle(id, actions);
        } else if let Some(index) = job.device {
            self.devices[index].ready.insert(job.key, id);
            self.start_kernels(index, actions);
        }
    }

    /// Gives a free compute lane to the first job that is ready for it.
    fn start_kernels(&mut self, index: DeviceId, actions: &mut Vec<Action>) {
        let device = &mut self.devices[index];
        if device.computing.is_some() {
            return;
        }
        let Some((_, id)) = device.ready.pop_first() else { return };
        device.computing = Some(id);
        if let Some(job) = self.jobs.get_mut(&id) {
            job.kernels = Progress::Running;
        }
        actions.push(Action::Enter { job: id, phase: Phase::OnDevice, device: Some(index) });
        actions.push(Action::RunDevice { job: id, device: index });
    }

    fn device_done(&mut self, id: JobId, result: Result<()>, actions: &mut Vec<Action>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.kernels = Progress::Done;
        let Some(index) = job.device else { return };
        self.devices[index].computing = None;
        self.devices[index].slots.remove(&id);
        // The lane is given on before anything else is done for the job that leaves it.
        self.start_kernels(index, actions);
        match result {
            Err(error) => self.abandon(id, error, actions),
            Ok(()) => {
                actions.push(Action::Enter { job: id, phase: Phase::Finishing, device: Some(index) });
                self.finish_or_settle(id, actions);
            }
        }
    }

    fn g2_done(&mut self, id: JobId, result: Result<()>, actions: &mut Vec<Action>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.g2 = Progress::Done;
        match result {
            Err(error) => self.abandon(id, error, actions),
            Ok(()) => self.finish_or_settle(id, actions),
        }
    }

    fn finish_or_settle(&mut self, id: JobId, actions: &mut Vec<Action>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.failure.is_some() {
            self.settle(id, actions);
        } else if job.kernels == Progress::Done && job.g2 == Progress::Done {
            job.finish = Progress::Running;
            actions.push(Action::Finish { job: id });
        }
    }

    fn finished(&mut self, id: JobId, result: Result<()>, actions: &mut Vec<Action>) {
        if self.jobs.remove(&id).is_some() {
            complete(id, result, actions);
        }
    }

    /// The job shall not become a proof: it completes at once if nothing of it runs, else when the last stage ends.
    /// A job whose epilogue runs is left to it.
    fn abandon(&mut self, id: JobId, error: Error, actions: &mut Vec<Action>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.finish == Progress::Running {
            return;
        }
        if job.failure.is_none() {
            job.failure = Some(error);
            if job.is_running() {
                actions.push(Action::Stop { job: id });
            }
        }
        self.settle(id, actions);
    }

    /// Gives back what a failed job holds, and completes it if no stage of it runs.
    fn settle(&mut self, id: JobId, actions: &mut Vec<Action>) {
        let Some(job) = self.jobs.get(&id) else { return };
        if let Some(index) = job.device
            && (job.is_ready() || job.kernels == Progress::Done)
        {
            self.devices[index].ready.remove(&job.key);
            self.devices[index].slots.remove(&id);
        }
        if job.is_running() {
            return;
        }
        self.queue.remove(&job.key);
        if let Some(Job { failure: Some(error), .. }) = self.jobs.remove(&id) {
            complete(id, Err(error), actions);
        }
    }

    /// Jobs whose kernels run or have run come to their end; the others fail.
    fn shut_down(&mut self, actions: &mut Vec<Action>) {
        self.shutting_down = true;
        let waiting: Vec<JobId> =
            self.jobs.iter().filter(|(_, job)| job.kernels == Progress::Waiting).map(|(id, _)| *id).collect();
        for id in waiting {
            self.abandon(id, shut_down_error(), actions);
        }
    }
}

fn complete(job: JobId, result: Result<()>, actions: &mut Vec<Action>) {
    actions.push(Action::Enter { job, phase: Phase::Terminal, device: None });
    actions.push(Action::Complete { job, result });
}

fn shut_down_error() -> Error {
    Error::new(Status::Shutdown, "the engine was freed before the job ran")
}
