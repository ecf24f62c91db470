//! Carries the core's actions out: hands stages to the pool, the device threads and the finisher, and reports back.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::budget::{Budget, Permit};
use super::core::{Action, Core, DeviceId, DeviceStatus, Event, JobId, KeyId, Nanos, Need, Phase};
use super::cpu_pool::CpuPool;
use super::job::{Hand, Job, Observer};
use super::reclaim::Reclaimer;
use super::stages::{Finished, HostNeed, Place, Stages, Stop};
use super::timeline::{Ended, Gap, Outcome, Span, Stage, Timeline};
use super::{Clock, DeviceTask, Lanes, Notify, Task, Usage};
use crate::error::{Error, Result, Status};
use crate::sync::{AtomicU32, AtomicU64, Condvar, Mutex, Ordering};

/// What all threads of an engine share.
pub(super) struct Shared<S: Stages> {
    pub(super) stages: S,
    pub(super) pool: CpuPool,
    /// Pools of devices that compute on the CPU and do not share the one above.
    device_pools: Vec<CpuPool>,
    lanes: Lanes<S>,
    pub(super) reclaimer: Reclaimer,
    pub(super) clock: Clock,
    next_id: AtomicU64,
    g2_running: AtomicU32,
    pub(super) host: Arc<Budget>,
    pub(super) timeline: Timeline,
    notify: Notify,
    /// Asked when the engine ends.
    pub(super) ending: Stop,
    state: Mutex<State<S>>,
    idle: Condvar,
}

struct State<S: Stages> {
    core: Core,
    jobs: HashMap<JobId, Arc<Job<S>>>,
    /// Jobs that the core has ended, but whose observers have not returned yet.
    completing: usize,
}

/// An action, with the job it is about if it is about one.
type Order<S> = (Action, Option<Arc<Job<S>>>);

/// What a job leaves behind: dropped, it tells the job that its memory is given back.
struct Remains<S: Stages> {
    hand: Option<Hand<S>>,
    job: Arc<Job<S>>,
}

impl<S: Stages> Drop for Remains<S> {
    fn drop(&mut self) {
        drop(self.hand.take());
        self.job.reclaimed();
    }
}

impl<S: Stages> Shared<S> {
    pub(super) fn new(
        stages: S,
        core: Core,
        (pool, device_pools): (CpuPool, Vec<CpuPool>),
        lanes: Lanes<S>,
        reclaimer: Reclaimer,
        host: Arc<Budget>,
        record_entries: usize,
        notify: Notify,
    ) -> Self {
        let timeline = Timeline::new(core.devices().count(), record_entries);
        Self {
            stages,
            pool,
            device_pools,
            lanes,
            reclaimer,
            clock: Clock::start(),
            next_id: AtomicU64::new(0),
            g2_running: AtomicU32::new(0),
            host,
            timeline,
            notify,
            ending: Stop::new(),
            state: Mutex::new(State { core, jobs: HashMap::new(), completing: 0 }),
            idle: Condvar::new(),
        }
    }

    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// A job that is not queued yet.
    pub(super) fn create(&self, input: S::Input, observer: Option<Observer>) -> Arc<Job<S>> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        Arc::new(Job::new(id, input, observer, self.now()))
    }

    /// Queues a job. A job that is refused has no observer called.
    pub(super) fn submit(self: &Arc<Self>, job: &Arc<Job<S>>, priority: i32) -> Result<()> {
        let (host, need) = {
            let hand = job.hand.lock();
            let input = hand.input.as_ref();
            input.map(|input| (self.stages.host_need(input), self.stages.need(input))).unwrap_or_default()
        };
        let queued = self.take_memory(job, host, need.key).and_then(|()| self.queue(job, priority, need));
        self.timeline.add(|record| record.submitted(queued.is_ok()));
        if queued.is_err() {
            job.hand.lock().permit = None;
        }
        queued
    }

    fn take_memory(&self, job: &Job<S>, need: HostNeed, key: KeyId) -> Result<()> {
        let together = need.job.saturating_add(need.key);
        if self.host.can_never(together) {
            let (job, key, limit) = (need.job, need.key, self.host.limit());
            let message =
                format!("the job needs {job} bytes of host memory beside the {key} of its key, the limit is {limit}");
            return Err(Error::new(Status::NoMemory, message));
        }
        let permit = self.take_host(need.job, "the job", Status::QueueFull, key)?;
        job.hand.lock().permit = Some(permit);
        Ok(())
    }

    /// Leave to take host memory that no key makes room for later. What ended jobs are still giving back counts as free: it
    /// is waited for, which takes moments. Then keys that nobody holds leave, oldest first, but for `key`. Every key that a
    /// job waits for must fit beside what is taken so.
    pub(super) fn take_host(&self, bytes: u64, what: &str, busy: Status, key: KeyId) -> Result<Permit> {
        let permit = self.take_room(bytes, key, || self.host.take(bytes, what, busy))?;
        loop {
            let (staying, limit) = (self.host.staying(), self.host.limit());
            let checked = self.state.lock().core.check_room(staying, limit, key, busy);
            match checked {
                Ok(()) => return Ok(permit),
                Err(_) if self.reclaimer.wait() => {}
                Err(error) => return Err(error.at(format!("{what} needs {bytes} bytes"))),
            }
        }
    }

    /// What `take` gives of `bytes` once there is room; its error where neither waiting nor keys that leave make any.
    fn take_room(&self, bytes: u64, key: KeyId, take: impl Fn() -> Result<Permit>) -> Result<Permit> {
        loop {
            let error = match take() {
                Ok(permit) => return Ok(permit),
                Err(error) => error,
            };
            if self.host.can_never(bytes) {
                return Err(error);
            }
            if self.reclaimer.wait() {
                continue;
            }
            // Under the lock: a job that starts now must not find the key half gone.
            let mut state = self.state.lock();
            let Some(old) = state.core.drop_oldest_key(key) else { return Err(error) };
            let garbage = self.stages.drop_key(old);
            drop(state);
            self.reclaimer.hand_in(garbage);
        }
    }

    /// Room for a key that is read again: what ended jobs hold until their observers have been told is waited for, too.
    fn room_for_key(&self, bytes: u64, key: KeyId) -> Result<Permit> {
        loop {
            match self.take_room(bytes, key, || self.host.take_leaving(bytes, "the key", Status::QueueFull)) {
                Err(error) if error.status() == Status::QueueFull && self.wait_completed() => {}
                result => return result,
            }
        }
    }

    /// Waits until the jobs that the core has ended so far are complete. False, without waiting, if all are.
    fn wait_completed(&self) -> bool {
        let mut state = self.state.lock();
        let waits = state.completing > 0;
        while state.completing > 0 {
            state = self.idle.wait(state);
        }
        waits
    }

    fn queue(self: &Arc<Self>, job: &Arc<Job<S>>, priority: i32, need: Need) -> Result<()> {
        let mut state = self.state.lock();
        state.jobs.insert(job.id, Arc::clone(job));
        let now = self.now();
        let mut actions = state.core.step(Event::Submit { job: job.id, priority, need }, now);
        let rejected = actions.iter().position(|action| matches!(action, Action::Reject { .. }));
        let rejected = rejected.map(|index| actions.remove(index));
        if rejected.is_some() {
            state.jobs.remove(&job.id);
        }
        // Whatever else was decided is about other jobs.
        let orders = self.record(&mut state, actions, now);
        drop(state);
        self.carry_out(orders);
        match rejected {
            Some(Action::Reject { error, .. }) => Err(error),
            _ => Ok(()),
        }
    }

    /// Reports an event to the core and carries out what it decides.
    pub(super) fn dispatch(self: &Arc<Self>, event: Event) {
        let mut state = self.state.lock();
        let now = self.now();
        let actions = state.core.step(event, now);
        let orders = self.record(&mut state, actions, now);
        drop(state);
        self.carry_out(orders);
    }

    /// Pairs actions with their jobs. Phases are published here, under the lock, so that they are seen in order; so are the
    /// tasks of the copy lanes, whose order matters.
    fn record(&self, state: &mut State<S>, actions: Vec<Action>, now: Nanos) -> Vec<Order<S>> {
        let mut orders = Vec::with_capacity(actions.len());
        for action in actions {
            let job = action.job().and_then(|id| state.jobs.get(&id)).map(Arc::clone);
            match (action, job) {
                (Action::Enter { phase, device, job: id }, Some(job)) => {
                    let first = job.enter(phase, device, &self.clock);
                    if first && phase == Phase::Preparing {
                        let (stage, start) = (Stage::Queued, job.created());
                        self.timeline.add(|r| r.span(Span { job: id, stage, lane: 0, start, end: now, ok: true }));
                    }
                }
                (Action::Gap { device, cause, start, end }, _) => {
                    self.timeline.add(|record| record.gap(Gap { device, cause, start, end }));
                }
                // What the first attempt left is gone before an upload of the second can be there.
                (Action::Retry { g2, .. }, Some(job)) => job.retry(g2),
                (Action::Upload { device, load_key, streamed, .. }, Some(job)) => {
                    self.copy(device, DeviceTask::Upload(job, Place { device, load_key, streamed }));
                }
                // Taken here: the job may be uploaded elsewhere before this copy lane comes to it.
                (Action::Discard { device, .. }, Some(job)) => {
                    if let Some(uploaded) = job.hand.lock().uploaded.take() {
                        self.copy(device, DeviceTask::Discard(uploaded));
                    }
                }
                (Action::EvictKey { device, key }, _) => self.copy(device, DeviceTask::Evict(key)),
                (action @ Action::Complete { .. }, Some(job)) => {
                    state.jobs.remove(&job.id);
                    state.completing += 1;
                    orders.push((action, Some(job)));
                }
                (action, job) => orders.push((action, job)),
            }
        }
        orders
    }

    // The receivers live as long as their threads, which end only when no job is left.
    fn copy(&self, device: DeviceId, task: DeviceTask<S>) {
        drop(self.lanes.copy[device].send(task));
    }

    fn carry_out(self: &Arc<Self>, orders: Vec<Order<S>>) {
        for order in orders {
            let shared = Arc::clone(self);
            match order {
                (Action::Prepare { .. }, Some(job)) => self.pool.spawn(move || shared.prepare(&job)),
                (Action::StartG2 { lane, .. }, Some(job)) => self.pool.spawn(move || shared.g2(&job, lane)),
                (Action::RunDevice { device, .. }, Some(job)) => {
                    drop(self.lanes.compute[device].send(DeviceTask::Run(job)));
                }
                (Action::FetchKey { key }, _) => drop(self.lanes.keys.send(Some(key))),
                (Action::ResetDevice { device }, _) => self.copy(device, DeviceTask::Reset),
                (Action::DeviceOut { device, error }, _) => {
                    self.copy(device, DeviceTask::Retire);
                    (self.notify)(&DeviceNotice { device, error: Some(error) });
                }
                (Action::Finish { .. }, Some(job)) => drop(self.lanes.finish.send(Task::Run(job))),
                (Action::Stop { .. }, Some(job)) => job.stop.ask(),
                (Action::Complete { result, .. }, Some(job)) => {
                    drop(self.lanes.finish.send(Task::Complete(job, result)));
                }
                _ => {}
            }
        }
    }

    fn complete(&self, job: &Arc<Job<S>>, result: Result<()>) {
        let mut hand = job.take_hand();
        let output = match result {
            Ok(()) => hand.output.take().ok_or_else(|| Error::internal("a finished job has no proof")),
            Err(error) => Err(error),
        };
        let outcome = output.as_ref().map_or_else(|error| Outcome::Failed(error.status()), |_| Outcome::Done);
        let (start, end, retries) = (job.created(), self.now(), job.retries());
        self.timeline.add(|record| record.ended(Ended { job: job.id, start, end, outcome, retries }));
        let lent = hand.rows.as_ref().is_some_and(|rows| self.stages.lends(rows));
        self.reclaimer.hand_in(Box::new(Remains { hand: Some(hand), job: Arc::clone(job) }));
        if lent && output.is_ok() {
            job.release_evaluations();
        }
        job.complete(output);
        self.state.lock().completing -= 1;
        self.idle.notify_all();
    }

    /// Runs a stage under a guard and records it.
    fn run(
        &self,
        job: &Job<S>,
        stage: Stage,
        lane: usize,
        name: &str,
        work: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let start = self.now();
        let result = guarded(name, work);
        let span = Span { job: job.id, stage, lane, start, end: self.now(), ok: result.is_ok() };
        self.timeline.add(|record| record.span(span));
        result
    }

    fn prepare(self: &Arc<Self>, job: &Job<S>) {
        let mut lends = false;
        let result = self.run(job, Stage::Prepare, 0, "preparing", || {
            let input = job.take(|hand| hand.input.take())?;
            let scalars = Arc::new(self.stages.split(&input)?);
            job.hand.lock().scalars = Some(Arc::clone(&scalars));
            self.dispatch(Event::ScalarsSplit { job: job.id });
            let rows = self.stages.evaluate(input, &scalars, &job.stop)?;
            lends = self.stages.lends(&rows);
            job.hand.lock().rows = Some(Arc::new(rows));
            Ok(())
        });
        if result.is_ok() && !lends {
            job.release_evaluations();
        }
        self.dispatch(Event::Prepared { job: job.id, result });
    }

    fn g2(self: &Arc<Self>, job: &Job<S>, lane: usize) {
        self.g2_running.fetch_add(1, Ordering::Relaxed);
        let result = self.run(job, Stage::G2, lane, "the G2 MSM", || {
            let scalars = job.take(|hand| hand.scalars.clone())?;
            let g2 = self.stages.g2(&scalars, &job.stop)?;
            job.hand.lock().g2 = Some(g2);
            Ok(())
        });
        self.g2_running.fetch_sub(1, Ordering::Relaxed);
        self.dispatch(Event::G2Done { job: job.id, result });
    }

    /// The thread of a device's copy lane.
    pub(super) fn copy_worker(self: &Arc<Self>, device: DeviceId, tasks: &super::Receiver<DeviceTask<S>>) {
        loop {
            match tasks.recv() {
                Ok(DeviceTask::Upload(job, place)) => self.upload(&job, place),
                Ok(DeviceTask::Discard(uploaded)) => drop(uploaded),
                Ok(DeviceTask::Evict(key)) => self.evict(device, key),
                // It comes after all that was to be given back before.
                Ok(DeviceTask::Reset) => drop(self.lanes.compute[device].send(DeviceTask::Reset)),
                Ok(DeviceTask::Retire) => drop(self.lanes.compute[device].send(DeviceTask::Retire)),
                Ok(DeviceTask::Run(_)) => {}
                Ok(DeviceTask::End) | Err(_) => return,
            }
        }
    }

    fn upload(self: &Arc<Self>, job: &Job<S>, place: Place) {
        let result = self.run(job, Stage::Upload(place.device), 0, "the upload", || {
            let (scalars, rows) = job.take(|hand| Some((hand.scalars.clone()?, hand.rows.clone()?)))?;
            let uploaded = self.stages.upload(place, &scalars, &rows, &job.stop)?;
            job.hand.lock().uploaded = Some(uploaded);
            Ok(())
        });
        self.dispatch(Event::Uploaded { job: job.id, result });
    }

    fn evict(&self, device: DeviceId, key: KeyId) {
        // A panic here would leave the copy lane without its thread.
        let _ = guarded("evicting a key", || {
            self.stages.evict(device, key);
            Ok(())
        });
    }

    /// The thread of a device's compute lane.
    pub(super) fn compute_worker(
        self: &Arc<Self>,
        index: DeviceId,
        mut device: S::Device,
        tasks: &super::Receiver<DeviceTask<S>>,
    ) {
        let pool = self.device_pools.get(index).unwrap_or(&self.pool);
        loop {
            match tasks.recv() {
                Ok(DeviceTask::Run(job)) => {
                    let result = self.run(&job, Stage::Device(index), 0, "the device phase", || {
                        let (scalars, uploaded) =
                            job.take(|hand| Some((hand.scalars.clone()?, hand.uploaded.take()?)))?;
                        let needs_pool = self.stages.needs_pool(&device);
                        let run = || self.stages.run_device(&mut device, &scalars, uploaded, &job.stop);
                        let points = if needs_pool { pool.install(run) } else { run() }?;
                        job.hand.lock().device = Some(points);
                        Ok(())
                    });
                    self.dispatch(Event::DeviceDone { job: job.id, result });
                }
                Ok(DeviceTask::Reset) => self.reset(index, &mut device),
                Ok(DeviceTask::Retire) => {
                    let _ = guarded("giving a device up", || {
                        self.stages.retire(&mut device);
                        Ok(())
                    });
                }
                Ok(DeviceTask::Upload(..) | DeviceTask::Discard(_) | DeviceTask::Evict(_)) => {}
                Ok(DeviceTask::End) | Err(_) => return,
            }
        }
    }

    fn reset(self: &Arc<Self>, index: DeviceId, device: &mut S::Device) {
        (self.notify)(&DeviceNotice { device: index, error: None });
        let start = self.now();
        let result = guarded("the reset of a device", || self.stages.reset(device));
        let (stage, ok) = (Stage::Reset(index), result.is_ok());
        self.timeline.add(|r| r.span(Span { job: 0, stage, lane: 0, start, end: self.now(), ok }));
        self.dispatch(Event::DeviceReset { device: index, result });
    }

    /// The thread that reads keys again.
    pub(super) fn key_reader(self: &Arc<Self>, keys: &super::Receiver<Option<KeyId>>) {
        while let Ok(Some(key)) = keys.recv() {
            let result = guarded("reading a key", || {
                let permit = self.room_for_key(self.stages.key_bytes(key)?, key)?;
                self.pool.install(|| self.stages.fetch_key(key, permit, &self.ending))
            });
            self.dispatch(Event::KeyFetched { key, result });
        }
    }

    pub(super) fn finisher(self: &Arc<Self>, tasks: &super::Receiver<Task<S>>) {
        loop {
            match tasks.recv() {
                Ok(Task::Run(job)) => self.finish(&job),
                Ok(Task::Complete(job, result)) => self.complete(&job, result),
                Ok(Task::End) | Err(_) => return,
            }
        }
    }

    fn finish(self: &Arc<Self>, job: &Job<S>) {
        let mut repeated = false;
        let result = self.run(job, Stage::Finish, 0, "the epilogue", || {
            let (scalars, device, g2) =
                job.take(|hand| Some((hand.scalars.clone()?, hand.device.take()?, hand.g2.take()?)))?;
            match self.stages.finish(&scalars, device, g2)? {
                Finished::Sound(output) => job.hand.lock().output = Some(output),
                Finished::Unsound(output, error) => {
                    let before = job.hand.lock().unsound.replace(output.clone());
                    repeated = before == Some(output);
                    return Err(error);
                }
            }
            Ok(())
        });
        self.dispatch(Event::Finished { job: job.id, result, repeated });
    }

    pub(super) fn usage(&self, pinned: &Budget) -> Usage {
        let (queued_jobs, live, device_bytes) = {
            let state = self.state.lock();
            let device_bytes = state.core.devices().map(|device| device.bytes).sum();
            (state.core.queued_jobs(), state.core.live_jobs(), device_bytes)
        };
        Usage {
            queued_jobs,
            running_jobs: live - queued_jobs,
            g2_running: self.g2_running(),
            host_bytes: (self.host.used(), self.host.limit()),
            pinned_bytes: (pinned.used(), pinned.limit()),
            peak_bytes: (self.host.peak(), pinned.peak()),
            device_bytes,
        }
    }

    /// Every device as it is now. The timeline has all gaps up to now when this returns.
    pub(super) fn devices(&self) -> Vec<DeviceStatus> {
        let mut state = self.state.lock();
        let now = self.now();
        let gaps = state.core.close_gaps(now);
        let orders = self.record(&mut state, gaps, now);
        debug_assert!(orders.is_empty(), "gaps are recorded, not carried out");
        state.core.devices().collect()
    }

    pub(super) fn g2_running(&self) -> u32 {
        self.g2_running.load(Ordering::Relaxed)
    }

    /// Waits until no job is left and every observer has returned.
    pub(super) fn wait_idle(&self) {
        let mut state = self.state.lock();
        while state.core.live_jobs() > 0 || state.completing > 0 {
            state = self.idle.wait(state);
        }
    }

    pub(super) fn end_workers(&self) {
        for lane in self.lanes.copy.iter().chain(&self.lanes.compute) {
            drop(lane.send(DeviceTask::End));
        }
        drop(self.lanes.finish.send(Task::End));
        let _ = self.lanes.keys.send(None);
        self.reclaimer.end();
    }

    pub(super) fn end_pools(&self) {
        self.pool.shut_down();
        for pool in &self.device_pools {
            pool.shut_down();
        }
    }
}

/// A device failed.
#[derive(Clone, Debug)]
pub struct DeviceNotice {
    /// Which.
    pub device: DeviceId,
    /// Why it is used no more; `None`: it gets a new context.
    pub error: Option<Error>,
}

/// Runs one stage; a panic in it becomes the job's error.
fn guarded(stage: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(Error::internal(format!("{stage} panicked: {text}")))
    })
}
