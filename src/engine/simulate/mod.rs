//! The engine's core driven in virtual time: devices, pool and stages of which a script says how long they take and
//! when they fail. What it simulates is what the threads do; the decisions are those of the same core. Every rule that
//! the core promises to the threads is checked on the way.

mod rules;
mod script;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

pub use self::script::{Fault, Load, Script, ScriptedJob, ScriptedKey, Times};

use self::rules::Rules;
use super::budget::{Budget, Permit};
use super::core::{Action, Core, Event, JobId, KeyId, Nanos, Phase};
use super::timeline::{Ended, Gap, Outcome as JobOutcome, Record, Span, Stage};
use crate::error::{Error, Result, Status};

/// What came of a script.
#[derive(Debug)]
pub struct Outcome {
    /// What ran where and when.
    pub record: Record,
    /// How each job ended, by its place in the script; those that were refused at start, too.
    pub results: Vec<Result<()>>,
    /// The most host memory that was in use, in bytes.
    pub peak_host_bytes: u64,
    /// The most memory that was in use on each device, in bytes.
    pub peak_device_bytes: Vec<u64>,
    /// How often a key was brought to a device.
    pub key_loads: u64,
    /// How often a key was read again from its file.
    pub key_reads: u64,
    /// Events that the core was given.
    pub steps: u64,
}

/// Runs a script to its end. `Internal` where a rule is broken: a lane that is used twice, a job that ends twice or
/// never, bytes that are not given back.
pub fn run(script: &Script) -> Result<Outcome> {
    let mut simulation = Simulation::new(script);
    simulation.run()?;
    simulation.outcome()
}

/// What happens at some time. Events that are no longer true have an old ticket.
#[derive(Debug)]
enum Happening {
    Core(Event),
    Start(usize),
}

/// A job that runs.
#[derive(Debug)]
struct Live {
    index: usize,
    submitted: Nanos,
    attempt: usize,
    queued: bool,
    /// The ticket of the end of its split.
    split: u64,
    /// The stages that run, with the tickets of their ends.
    running: Vec<Running>,
    _permit: Permit,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    stage: Stage,
    lane: usize,
    start: Nanos,
    end: Nanos,
    ticket: u64,
}

struct Simulation<'a> {
    script: &'a Script,
    core: Core,
    rules: Rules,
    now: Nanos,
    /// By time, then by ticket: what happens at one time happens in the order in which it was planned.
    agenda: BinaryHeap<Reverse<(Nanos, u64)>>,
    planned: BTreeMap<u64, Happening>,
    tickets: u64,
    live: BTreeMap<JobId, Live>,
    /// Jobs of a closed load that have not been started.
    waiting: VecDeque<usize>,
    host: std::sync::Arc<Budget>,
    /// Leave for the keys that are in host memory, and how often each was read.
    keys: BTreeMap<KeyId, Permit>,
    reads: BTreeMap<KeyId, usize>,
    record: Record,
    results: Vec<Option<Result<()>>>,
    resets: usize,
    peak_host: u64,
    peak_device: Vec<u64>,
    key_loads: u64,
    steps: u64,
}

impl<'a> Simulation<'a> {
    fn new(script: &'a Script) -> Self {
        let devices = script.limits.devices;
        Self {
            script,
            core: Core::new(script.limits.clone()),
            rules: Rules::new(&script.limits),
            now: 0,
            agenda: BinaryHeap::new(),
            planned: BTreeMap::new(),
            tickets: 0,
            live: BTreeMap::new(),
            waiting: VecDeque::new(),
            host: Budget::new("host", script.host_bytes),
            keys: BTreeMap::new(),
            reads: BTreeMap::new(),
            record: Record::new(devices),
            results: script.jobs.iter().map(|_| None).collect(),
            resets: 0,
            peak_host: 0,
            peak_device: vec![0; devices],
            key_loads: 0,
            steps: 0,
        }
    }

    fn run(&mut self) -> Result<()> {
        self.load_keys()?;
        match self.script.load {
            Load::Closed { .. } => self.waiting = (0..self.script.jobs.len()).collect(),
            Load::Open => {
                for (index, job) in self.script.jobs.iter().enumerate() {
                    self.plan(job.start, Happening::Start(index));
                }
            }
        }
        if let Some(at) = self.script.shutdown {
            self.plan(at, Happening::Core(Event::Shutdown));
        }
        self.refill()?;
        while let Some(Reverse((time, ticket))) = self.agenda.pop() {
            let Some(happening) = self.planned.remove(&ticket) else { continue };
            self.now = time;
            match happening {
                Happening::Start(index) => self.start(index)?,
                Happening::Core(event) => {
                    let event = self.find_room(event);
                    self.ended_stage(&event, ticket);
                    self.step(event)?;
                }
            }
            self.refill()?;
        }
        Ok(())
    }

    /// Keeps as many jobs waiting as a closed load asks for. Where the host has no memory for one more, it waits.
    fn refill(&mut self) -> Result<()> {
        let Load::Closed { waiting } = self.script.load else { return Ok(()) };
        while self.core.queued_jobs() < waiting.max(1) {
            let Some(index) = self.waiting.pop_front() else { return Ok(()) };
            self.start(index)?;
            let refused = matches!(&self.results[index], Some(Err(error)) if error.status() == Status::QueueFull);
            if refused && !self.live.is_empty() {
                self.results[index] = None;
                self.waiting.push_front(index);
                return Ok(());
            }
        }
        Ok(())
    }

    fn start(&mut self, index: usize) -> Result<()> {
        let job = &self.script.jobs[index];
        let id = index as JobId;
        let permit = match self.take_host(job.host_bytes, job.need.key) {
            Ok(permit) => permit,
            Err(error) => {
                self.record.submitted(false);
                self.results[index] = Some(Err(error));
                return Ok(());
            }
        };
        self.peak_host = self.peak_host.max(self.host.used());
        let live = Live {
            index,
            submitted: self.now,
            attempt: 0,
            queued: true,
            split: 0,
            running: Vec::new(),
            _permit: permit,
        };
        self.live.insert(id, live);
        self.rules.submitted(id);
        self.step(Event::Submit { job: id, priority: job.priority, need: job.need })?;
        if let (Some(after), true) = (job.cancel_after, self.live.contains_key(&id)) {
            self.plan(self.now + after, Happening::Core(Event::Cancel { job: id }));
        }
        self.record.submitted(self.live.contains_key(&id) || matches!(self.results[index], Some(Ok(()))));
        Ok(())
    }

    fn plan(&mut self, at: Nanos, happening: Happening) -> u64 {
        self.tickets += 1;
        self.agenda.push(Reverse((at, self.tickets)));
        self.planned.insert(self.tickets, happening);
        self.tickets
    }

    fn step(&mut self, event: Event) -> Result<()> {
        self.steps += 1;
        self.rules.event(&event)?;
        for action in self.core.step(event, self.now) {
            self.rules.action(&action)?;
            self.act(action)?;
        }
        for (peak, device) in self.peak_device.iter_mut().zip(self.core.devices()) {
            *peak = (*peak).max(device.bytes);
            if self.script.limits.device_bytes > 0 && device.bytes > self.script.limits.device_bytes {
                return Err(Error::internal(format!(
                    "{} bytes are held on a device, more than its limit",
                    device.bytes
                )));
            }
        }
        Ok(())
    }

    fn act(&mut self, action: Action) -> Result<()> {
        match action {
            Action::Reject { job, error } => {
                self.live.remove(&job);
                self.results[job as usize] = Some(Err(error));
            }
            Action::Enter { job, phase, .. } => self.enter(job, phase),
            Action::Complete { job, result, retries } => self.complete(job, result, retries)?,
            Action::Gap { device, cause, start, end } => self.record.gap(Gap { device, cause, start, end }),
            Action::Stop { job } => self.stop(job),
            Action::Retry { job, .. } => {
                if let Some(live) = self.live.get_mut(&job) {
                    live.attempt += 1;
                }
            }
            Action::ResetDevice { device } => {
                let fails = self.script.failing_resets.contains(&self.resets);
                self.resets += 1;
                let error = Error::new(Status::Device, "the script lets this reset fail");
                let result = if fails { Err(error) } else { Ok(()) };
                let end = self.now + self.script.reset;
                let stage = Stage::Reset(device);
                self.record.span(Span { job: 0, stage, lane: 0, start: self.now, end, ok: result.is_ok() });
                self.plan(end, Happening::Core(Event::DeviceReset { device, result }));
            }
            Action::Prepare { job } => self.prepare(job),
            Action::Upload { job, device, load_key, .. } => {
                self.key_loads += u64::from(load_key);
                self.run_stage(job, Stage::Upload(device), 0, |times| {
                    times.upload + if load_key { times.key_load } else { 0 }
                });
            }
            Action::RunDevice { job, device } => self.run_stage(job, Stage::Device(device), 0, |times| times.kernels),
            Action::StartG2 { job, lane } => self.run_stage(job, Stage::G2, lane, |times| times.g2),
            Action::Finish { job } => self.run_stage(job, Stage::Finish, 0, |times| times.finish),
            Action::FetchKey { key } => {
                let read = self.script.keys.iter().find(|scripted| scripted.id == key).map_or(0, |key| key.read);
                let reads = self.reads.entry(key).or_default();
                *reads += 1;
                self.plan(self.now + read, Happening::Core(Event::KeyFetched { key, result: Ok(()) }));
            }
            Action::Discard { .. } | Action::EvictKey { .. } | Action::DeviceOut { .. } => {}
        }
        Ok(())
    }

    fn enter(&mut self, id: JobId, phase: Phase) {
        let Some(live) = self.live.get_mut(&id) else { return };
        if phase >= Phase::Preparing && std::mem::take(&mut live.queued) {
            let span = Span { job: id, stage: Stage::Queued, lane: 0, start: live.submitted, end: self.now, ok: true };
            self.record.span(span);
        }
    }

    fn complete(&mut self, id: JobId, result: Result<()>, retries: u32) -> Result<()> {
        let live = self.live.remove(&id).ok_or_else(|| Error::internal(format!("job {id} ended twice")))?;
        if !live.running.is_empty() {
            return Err(Error::internal(format!("job {id} ended while {:?} run", live.running)));
        }
        let outcome = result.as_ref().map_or_else(|e| JobOutcome::Failed(e.status()), |()| JobOutcome::Done);
        self.record.ended(Ended { job: id, start: live.submitted, end: self.now, outcome, retries });
        self.results[live.index] = Some(result);
        Ok(())
    }

    /// The split ends in the middle of preparing.
    fn prepare(&mut self, id: JobId) {
        let Some(live) = self.live.get(&id) else { return };
        let split = self.now + self.script.jobs[live.index].times.split;
        if self.script.jobs[live.index].fault(Stage::Prepare, 0).is_none() {
            let ticket = self.plan(split, Happening::Core(Event::ScalarsSplit { job: id }));
            if let Some(live) = self.live.get_mut(&id) {
                live.split = ticket;
            }
        }
        self.run_stage(id, Stage::Prepare, 0, |times| times.split + times.evaluate);
    }

    fn run_stage(&mut self, id: JobId, stage: Stage, lane: usize, duration: impl Fn(&Times) -> Nanos) {
        let Some(live) = self.live.get(&id) else { return };
        let end = self.now + duration(&self.script.jobs[live.index].times);
        let ticket = self.plan_end(id, stage, end);
        if let Some(live) = self.live.get_mut(&id) {
            live.running.push(Running { stage, lane, start: self.now, end, ticket });
        }
    }

    fn plan_end(&mut self, id: JobId, stage: Stage, end: Nanos) -> u64 {
        let Some(live) = self.live.get(&id) else { return 0 };
        let fault = self.script.jobs[live.index].fault(stage, live.attempt);
        let result = fault.map_or(Ok(()), |fault| Err(fault.error()));
        let event = match stage {
            Stage::Prepare => Event::Prepared { job: id, result },
            Stage::Upload(_) => Event::Uploaded { job: id, result },
            Stage::Device(_) => Event::DeviceDone { job: id, result },
            Stage::G2 => Event::G2Done { job: id, result },
            Stage::Queued | Stage::Finish | Stage::Reset(_) => {
                let repeated = fault.is_some_and(|fault| fault.repeated) && live.attempt > 0;
                Event::Finished { job: id, result, repeated }
            }
        };
        self.plan(end, Happening::Core(event))
    }

    /// Stages that run see the wish to stop a little later: an eighth of what they had left.
    fn stop(&mut self, id: JobId) {
        let Some(live) = self.live.get(&id) else { return };
        self.planned.remove(&live.split);
        let running = live.running.clone();
        for old in running {
            let end = self.now + (old.end - self.now) / 8;
            self.planned.remove(&old.ticket);
            let ticket = self.plan_end(id, old.stage, end);
            if let Some(live) = self.live.get_mut(&id)
                && let Some(slot) = live.running.iter_mut().find(|r| r.ticket == old.ticket)
            {
                *slot = Running { end, ticket, ..old };
            }
        }
    }

    /// Records the stage that an event ends.
    fn ended_stage(&mut self, event: &Event, ticket: u64) {
        let (id, ok) = match event {
            Event::Prepared { job, result }
            | Event::Uploaded { job, result }
            | Event::DeviceDone { job, result }
            | Event::G2Done { job, result }
            | Event::Finished { job, result, .. } => (*job, result.is_ok()),
            _ => return,
        };
        let Some(live) = self.live.get_mut(&id) else { return };
        let Some(at) = live.running.iter().position(|running| running.ticket == ticket) else { return };
        let Running { stage, lane, start, .. } = live.running.swap_remove(at);
        self.record.span(Span { job: id, stage, lane, start, end: self.now, ok });
    }

    /// Loads all keys, as far as there is room; the others are on disk.
    fn load_keys(&mut self) -> Result<()> {
        for key in &self.script.keys {
            let permit = self.take_room(key.bytes, 0, key.has_file)?;
            self.keys.insert(key.id, permit);
            self.step(Event::KeyLoaded { key: key.id, bytes: key.bytes, has_file: key.has_file })?;
        }
        Ok(())
    }

    /// What `Shared::take_host` does.
    fn take_host(&mut self, bytes: u64, key: KeyId) -> Result<Permit> {
        let own = self.script.keys.iter().find(|scripted| scripted.id == key).map_or(0, |key| key.bytes);
        if self.host.can_never(bytes + own) {
            return Err(Error::new(Status::NoMemory, "the job does not fit beside its key"));
        }
        let permit = self.take_room(bytes, key, false)?;
        self.core.check_room(self.host.staying(), self.host.limit(), key, Status::QueueFull)?;
        Ok(permit)
    }

    fn take_room(&mut self, bytes: u64, key: KeyId, leaves: bool) -> Result<Permit> {
        let take = if leaves { Budget::take_leaving } else { Budget::take };
        loop {
            match take(&self.host, bytes, "the script", Status::QueueFull) {
                Err(error) if error.status() == Status::QueueFull => match self.core.drop_oldest_key(key) {
                    Some(old) => drop(self.keys.remove(&old)),
                    None => return Err(error),
                },
                result => return result,
            }
        }
    }

    /// A key that was read takes its memory, if there is room and its file is right.
    fn find_room(&mut self, event: Event) -> Event {
        let Event::KeyFetched { key, .. } = event else { return event };
        let Some(scripted) = self.script.keys.iter().find(|scripted| scripted.id == key) else { return event };
        let read = self.reads.get(&key).map_or(0, |reads| reads - 1);
        let result = if scripted.failing_reads.contains(&read) {
            Err(Error::new(Status::Io, "the script lets this read fail"))
        } else {
            self.take_room(scripted.bytes, key, true).map(|permit| drop(self.keys.insert(key, permit)))
        };
        Event::KeyFetched { key, result }
    }

    fn outcome(mut self) -> Result<Outcome> {
        self.keys.clear();
        for action in self.core.close_gaps(self.now) {
            self.act(action)?;
        }
        if self.core.live_jobs() > 0 || !self.live.is_empty() {
            return Err(Error::internal(format!(
                "nothing happens any more, and {} jobs have not ended",
                self.live.len()
            )));
        }
        self.rules.at_the_end()?;
        if self.host.used() > 0 {
            return Err(Error::internal(format!("{} bytes of host memory were not given back", self.host.used())));
        }
        let results = self
            .results
            .into_iter()
            .enumerate()
            .map(|(index, result)| result.ok_or_else(|| Error::internal(format!("job {index} was never started"))));
        Ok(Outcome {
            results: results.collect::<Result<_>>()?,
            record: self.record,
            peak_host_bytes: self.peak_host,
            peak_device_bytes: self.peak_device,
            key_loads: self.key_loads,
            key_reads: self.reads.values().map(|reads| *reads as u64).sum(),
            steps: self.steps,
        })
    }
}
