//! Every decision of the engine, as one pure state machine: `step(event, now)` changes the state and answers with the
//! actions to carry out. No thread, clock, lock or curve is known here, so that tests and simulations drive it in
//! virtual time.
//!
//! A job's way: queued; a device has a free slot and room for its key and its buffers, so it prepares (its scalars are
//! split, then its rows evaluated) and is uploaded on the device's copy lane; when the compute lane is free its kernels
//! run; the moment they end, lane and slot serve other jobs. Its G2 MSM runs beside all that, in one of the CPU's G2
//! lanes, from the split on. When both have ended the job is finished. A job that fails or is cancelled completes when no
//! stage of it runs any more, so that nothing reads its scalars after its end.
//!
//! Order. Slots and lanes go to the highest priority first, then first in first out, with two exceptions. Ageing: a job
//! that was submitted `Limits::aging` ago or earlier gets one of any four turns, oldest first, unless a job of
//! `TOP_PRIORITY` waits; so a job with n older ones ahead has its slot after that time and at most 4 (n + 1) slots more.
//! Room: a job that does not fit beside what the devices hold now is passed by jobs that do, but by `MAX_PASSED` at most;
//! then slots stay empty until it fits. So two keys that do not fit together take turns of several jobs.

mod admit;
mod device;
mod faults;
mod flow;
mod job;
mod keys;
mod queue;

use std::collections::BTreeMap;

use self::device::Device;
use self::job::Job;
use self::keys::HostKey;
use self::queue::Queue;
use crate::error::{Error, Status};

/// Names a job; unique within an engine.
pub type JobId = u64;
/// Index of a device of the engine.
pub type DeviceId = usize;
/// Names a key; unique within an engine.
pub type KeyId = u64;
/// Nanoseconds since the engine was created.
pub type Nanos = u64;

/// Jobs of this priority go before aged ones, too.
pub const TOP_PRIORITY: i32 = i32::MAX;
/// How many jobs may pass one that does not fit beside what the devices hold.
pub const MAX_PASSED: u32 = 8;
/// A device that failed so many times in a row, without a proof in between, is taken out.
pub const MAX_FAULTS: u32 = 3;

/// Whether kernels wait for G2 MSMs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A device serves the next job the moment that kernels end; G2 starts when the scalars are split.
    Split,
    /// G2 starts when the kernels have ended, and the slot is held until the proof is done: how provers work that do not
    /// split, for comparison.
    Monolithic,
}

/// What the core is built with.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How many jobs may wait for their first slot.
    pub max_queued_jobs: usize,
    /// How many devices there are; at least 1.
    pub devices: usize,
    /// How many jobs share a device: one computes while others prepare; at least 1.
    pub jobs_per_device: usize,
    /// How many G2 MSMs run at once; at least 1.
    pub g2_lanes: usize,
    /// How many jobs may have left their device and wait for their G2 MSM; beyond it no slots are given.
    pub max_behind: usize,
    /// Memory of each device that keys and jobs may take, in bytes; 0 is no limit.
    pub device_bytes: u64,
    /// After this time a queued job is aged.
    pub aging: Nanos,
    /// Split, but for comparisons.
    pub mode: Mode,
}

impl Limits {
    /// The limits of an engine with these numbers, and defaults for the rest.
    pub fn new(max_queued_jobs: usize, devices: usize, jobs_per_device: usize, g2_lanes: usize) -> Self {
        Self {
            max_queued_jobs,
            devices,
            jobs_per_device,
            g2_lanes,
            max_behind: 2 * g2_lanes + 2,
            device_bytes: 0,
            aging: 300_000_000_000,
            mode: Mode::Split,
        }
    }
}

/// What a job takes of a device, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Its key, which jobs share.
    pub key: KeyId,
    /// What the key takes where it is resident.
    pub key_bytes: u64,
    /// What the job takes besides: rows, scalars, working memory, and buffers for a key that is streamed.
    pub device_bytes: u64,
}

/// Where a job is. A job only moves down this list, also when it is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Waits for a slot.
    Queued,
    /// Splits and evaluates scalars, is uploaded, or waits for the compute lane.
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
    /// Jobs wait, but their memory or their key does not fit beside what the device holds, or their key is read again.
    Memory,
    /// Jobs wait, but so many wait for their G2 MSM that no more are let in.
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
#[derive(Clone, Debug)]
pub enum Event {
    /// A caller wants a proof.
    Submit { job: JobId, priority: i32, need: Need },
    /// The scalars of a preparing job are split: its G2 may start.
    ScalarsSplit { job: JobId },
    /// Preparing ended.
    Prepared { job: JobId, result: Result<(), Error> },
    /// The job is in the memory of its device.
    Uploaded { job: JobId, result: Result<(), Error> },
    /// The kernels ended.
    DeviceDone { job: JobId, result: Result<(), Error> },
    /// The G2 MSM ended.
    G2Done { job: JobId, result: Result<(), Error> },
    /// Epilogue and self-check ended. `repeated` tells of a failed self-check whether the first attempt had the same proof:
    /// then no device is to blame.
    Finished { job: JobId, result: Result<(), Error>, repeated: bool },
    /// A device has a new context, or could not get one.
    DeviceReset { device: DeviceId, result: Result<(), Error> },
    /// A key is in host memory; `has_file` tells whether it may leave and be read again.
    KeyLoaded { key: KeyId, bytes: u64, has_file: bool },
    /// A key was read again. `QueueFull`: there was no room for it beside what is in use.
    KeyFetched { key: KeyId, result: Result<(), Error> },
    /// Nobody holds this key any more.
    KeyFreed { key: KeyId },
    /// A caller no longer wants a proof.
    Cancel { job: JobId },
    /// The engine takes no more jobs.
    Shutdown,
}

/// What to do about it, in this order. Upload, Discard and EvictKey of one device are for its copy lane, which takes them
/// one after the other: so the memory that is given back is there for the upload that counts on it.
#[derive(Clone, Debug)]
pub enum Action {
    /// The job was not admitted; it does not exist for the core.
    Reject { job: JobId, error: Error },
    /// The job is in this phase from now on.
    Enter { job: JobId, phase: Phase, device: Option<DeviceId> },
    /// Read the key from its file again.
    FetchKey { key: KeyId },
    /// Run the preparing stage.
    Prepare { job: JobId },
    /// Bring the job into the memory of the device, and its key before it if that is asked for.
    Upload { job: JobId, device: DeviceId, load_key: bool, streamed: bool },
    /// Drop what was uploaded of the job.
    Discard { job: JobId, device: DeviceId },
    /// Drop the key from the memory of the device.
    EvictKey { device: DeviceId, key: KeyId },
    /// Run the G2 MSM in this lane.
    StartG2 { job: JobId, lane: usize },
    /// Run the kernels.
    RunDevice { job: JobId, device: DeviceId },
    /// Run epilogue and self-check.
    Finish { job: JobId },
    /// The job's stages are run again from the upload on, and the G2 MSM, too, if that is asked for.
    Retry { job: JobId, g2: bool },
    /// Give the device a new context.
    ResetDevice { device: DeviceId },
    /// The device is used no more.
    DeviceOut { device: DeviceId, error: Error },
    /// No kernel ran on the device.
    Gap { device: DeviceId, cause: IdleCause, start: Nanos, end: Nanos },
    /// Ask the running stages of the job to end early.
    Stop { job: JobId },
    /// The job has ended; the core has forgotten it.
    Complete { job: JobId, result: Result<(), Error>, retries: u32 },
}

impl Action {
    /// The job that it is about.
    pub fn job(&self) -> Option<JobId> {
        match self {
            Self::Reject { job, .. }
            | Self::Enter { job, .. }
            | Self::Prepare { job }
            | Self::Upload { job, .. }
            | Self::Discard { job, .. }
            | Self::StartG2 { job, .. }
            | Self::RunDevice { job, .. }
            | Self::Finish { job }
            | Self::Retry { job, .. }
            | Self::Stop { job }
            | Self::Complete { job, .. } => Some(*job),
            Self::FetchKey { .. }
            | Self::EvictKey { .. }
            | Self::ResetDevice { .. }
            | Self::DeviceOut { .. }
            | Self::Gap { .. } => None,
        }
    }
}

type Actions = Vec<Action>;

/// The state of the engine.
#[derive(Debug)]
pub struct Core {
    limits: Limits,
    jobs: BTreeMap<JobId, Job>,
    /// Jobs that wait for a slot.
    queue: Queue,
    devices: Vec<Device>,
    keys: BTreeMap<KeyId, HostKey>,
    key_uses: u64,
    /// Counts whatever may have made room for a key.
    ended_jobs: u64,
    g2_queue: Queue,
    g2_lanes: Vec<Option<JobId>>,
    /// Jobs that have left their device and wait for their G2 MSM.
    behind: usize,
    next_order: u64,
    shutting_down: bool,
}

/// A device as others see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceStatus {
    /// Whether it takes jobs.
    pub up: bool,
    /// Memory that keys and jobs hold, in bytes.
    pub bytes: u64,
    /// How often it failed since the last proof.
    pub faults: u32,
    /// Since when no kernel runs, and why; `None` while one runs.
    pub idle: Option<(Nanos, IdleCause)>,
}

impl Core {
    /// An engine without jobs.
    pub fn new(limits: Limits) -> Self {
        let devices = (0..limits.devices).map(|_| Device::new(limits.device_bytes)).collect();
        let g2_lanes = vec![None; limits.g2_lanes.max(1)];
        Self {
            limits,
            jobs: BTreeMap::new(),
            queue: Queue::default(),
            devices,
            keys: BTreeMap::new(),
            key_uses: 0,
            ended_jobs: 0,
            g2_queue: Queue::default(),
            g2_lanes,
            behind: 0,
            next_order: 0,
            shutting_down: false,
        }
    }

    /// How many jobs wait for a slot.
    pub fn queued_jobs(&self) -> usize {
        self.queue.len()
    }

    /// How many jobs were admitted and have not ended, the queued ones included.
    pub fn live_jobs(&self) -> usize {
        self.jobs.len()
    }

    /// Every device, by index.
    pub fn devices(&self) -> impl Iterator<Item = DeviceStatus> + '_ {
        self.devices.iter().map(|device| DeviceStatus {
            up: device.is_up(),
            bytes: device.bytes(),
            faults: device.faults,
            idle: device.idle,
        })
    }

    /// Takes one event and answers what to do. Events of jobs that have ended are ignored. `now` never goes back.
    pub fn step(&mut self, event: Event, now: Nanos) -> Vec<Action> {
        let mut actions = Vec::new();
        let out = &mut actions;
        match event {
            Event::Submit { job, priority, need } => self.submit(job, priority, need, now, out),
            Event::ScalarsSplit { job } => self.scalars_split(job),
            Event::Prepared { job, result } => self.prepared(job, result, out),
            Event::Uploaded { job, result } => self.uploaded(job, result, out),
            Event::DeviceDone { job, result } => self.device_done(job, result, now, out),
            Event::G2Done { job, result } => self.g2_done(job, result, out),
            Event::Finished { job, result, repeated } => self.finished(job, result, repeated, out),
            Event::DeviceReset { device, result } => self.device_reset(device, result, out),
            Event::KeyLoaded { key, bytes, has_file } => self.key_loaded(key, bytes, has_file),
            Event::KeyFetched { key, result } => self.key_fetched(key, result, out),
            Event::KeyFreed { key } => self.key_freed(key, out),
            Event::Cancel { job } => {
                self.abandon(job, Error::new(Status::Cancelled, "the job was cancelled"), out);
            }
            Event::Shutdown => self.shut_down(out),
        }
        self.start_all(now, out);
        self.note_gaps(now, out);
        actions
    }

    /// Starts whatever can start: lanes first, since they are what must not idle.
    fn start_all(&mut self, now: Nanos, actions: &mut Actions) {
        for index in 0..self.devices.len() {
            self.start_kernels(index, now, actions);
        }
        self.fill_slots(now, actions);
        for index in 0..self.devices.len() {
            self.start_upload(index, now, actions);
            self.start_reset(index, actions);
        }
        self.start_g2(now, actions);
    }

    /// Closes and opens gaps as the compute lanes are now.
    fn note_gaps(&mut self, now: Nanos, actions: &mut Actions) {
        for index in 0..self.devices.len() {
            let cause = self.idle_cause(index);
            let device = &mut self.devices[index];
            if device.idle.map(|(_, cause)| cause) == cause {
                continue;
            }
            if let Some((start, cause)) = device.idle
                && start < now
            {
                actions.push(Action::Gap { device: index, cause, start, end: now });
            }
            device.idle = cause.map(|cause| (now, cause));
        }
    }

    /// Ends the gaps that last, so that a record can be read; they go on from `now`.
    pub fn close_gaps(&mut self, now: Nanos) -> Vec<Action> {
        let mut actions = Vec::new();
        for (index, device) in self.devices.iter_mut().enumerate() {
            if let Some((start, cause)) = device.idle
                && start < now
            {
                actions.push(Action::Gap { device: index, cause, start, end: now });
                device.idle = Some((now, cause));
            }
        }
        actions
    }

    fn idle_cause(&self, index: DeviceId) -> Option<IdleCause> {
        let device = &self.devices[index];
        if device.computing.is_some() {
            return None;
        }
        let preparing = device.slots.iter().any(|id| self.jobs.get(id).is_some_and(Job::is_preparing));
        Some(if !device.is_up() {
            IdleCause::Fault
        } else if device.copying.is_some() {
            IdleCause::Upload
        } else if preparing {
            IdleCause::Prepare
        } else if self.queue.is_empty() {
            IdleCause::NoJobs
        } else if self.is_held_back() || !device.has_free_slot(self.limits.jobs_per_device) {
            IdleCause::G2
        } else {
            IdleCause::Memory
        })
    }

    /// Jobs that were submitted then or earlier are aged; `None` while none can be.
    fn aged_before(&self, now: Nanos) -> Option<Nanos> {
        now.checked_sub(self.limits.aging)
    }

    /// Whether so many jobs wait for their G2 MSM that no slots are given.
    fn is_held_back(&self) -> bool {
        self.behind >= self.limits.max_behind.max(1)
    }
}
