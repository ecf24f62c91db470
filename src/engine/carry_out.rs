//! Carries the core's actions out: hands stages to the pool, the device threads and the finisher, and reports back.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::budget::Budget;
use super::core::{Action, Core, DeviceId, Event, JobId, Nanos};
use super::cpu_pool::CpuPool;
use super::job::{Job, Observer};
use super::stages::Stages;
use super::timeline::{Ended, Outcome, Span, Stage, Timeline};
use super::{Clock, Task, TaskSender, Tasks, Usage};
use crate::error::{Error, Result, Status};
use crate::sync::{AtomicU32, AtomicU64, Condvar, Mutex, Ordering};

/// What all threads of an engine share.
pub(super) struct Shared<S: Stages> {
    stages: S,
    pub(super) pool: CpuPool,
    devices: Vec<TaskSender<S>>,
    finisher: TaskSender<S>,
    pub(super) clock: Clock,
    next_id: AtomicU64,
    g2_running: AtomicU32,
    pub(super) host: Arc<Budget>,
    pub(super) timeline: Timeline,
    state: Mutex<State<S>>,
    idle: Condvar,
}

struct State<S: Stages> {
    core: Core,
    jobs: HashMap<JobId, Arc<Job<S>>>,
    /// Jobs that the core has ended, but whose observers have not returned yet.
    completing: usize,
}

/// An action with the job it is about.
type Order<S> = (Action, Arc<Job<S>>);

impl<S: Stages> Shared<S> {
    pub(super) fn new(
        stages: S,
        core: Core,
        pool: CpuPool,
        devices: Vec<TaskSender<S>>,
        finisher: TaskSender<S>,
        host: Arc<Budget>,
    ) -> Self {
        let timeline = Timeline::new(devices.len());
        Self {
            stages,
            pool,
            devices,
            finisher,
            clock: Clock::start(),
            next_id: AtomicU64::new(0),
            g2_running: AtomicU32::new(0),
            host,
            timeline,
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
        let queued = self.take_memory(job).and_then(|()| self.queue(job, priority));
        self.timeline.add(|record| record.submitted(queued.is_ok()));
        if queued.is_err() {
            job.hand.lock().permit = None;
        }
        queued
    }

    fn take_memory(&self, job: &Job<S>) -> Result<()> {
        let mut hand = job.hand.lock();
        let bytes = hand.input.as_ref().map_or(0, |input| self.stages.host_bytes(input));
        hand.permit = Some(self.host.take(bytes, "the job", Status::QueueFull)?);
        Ok(())
    }

    fn queue(self: &Arc<Self>, job: &Arc<Job<S>>, priority: i32) -> Result<()> {
        let mut state = self.state.lock();
        state.jobs.insert(job.id, Arc::clone(job));
        let mut actions = state.core.step(Event::Submit { job: job.id, priority });
        let rejected = actions.iter().position(|action| matches!(action, Action::Reject { .. }));
        if let Some(index) = rejected
            && let Action::Reject { error, .. } = actions.swap_remove(index)
        {
            state.jobs.remove(&job.id);
            return Err(error);
        }
        let orders = self.record(&mut state, actions);
        drop(state);
        self.carry_out(orders);
        Ok(())
    }

    /// Reports an event to the core and carries out what it decides.
    pub(super) fn dispatch(self: &Arc<Self>, event: Event) {
        let mut state = self.state.lock();
        let actions = state.core.step(event);
        let orders = self.record(&mut state, actions);
        drop(state);
        self.carry_out(orders);
    }

    /// Pairs actions with their jobs. Phases are published here, under the lock, so that they are seen in order.
    fn record(&self, state: &mut State<S>, actions: Vec<Action>) -> Vec<Order<S>> {
        let mut orders = Vec::with_capacity(actions.len());
        for action in actions {
            let id = match &action {
                Action::Reject { job, .. }
                | Action::Enter { job, .. }
                | Action::Prepare { job }
                | Action::StartG2 { job }
                | Action::RunDevice { job, .. }
                | Action::Finish { job }
                | Action::Stop { job }
                | Action::Complete { job, .. } => *job,
            };
            let Some(job) = state.jobs.get(&id).map(Arc::clone) else { continue };
            match action {
                Action::Enter { phase, device, .. } => job.enter(phase, device, &self.clock),
                Action::Complete { .. } => {
                    state.jobs.remove(&id);
                    state.completing += 1;
                    orders.push((action, job));
                }
                _ => orders.push((action, job)),
            }
        }
        orders
    }

    fn carry_out(self: &Arc<Self>, orders: Vec<Order<S>>) {
        for (action, job) in orders {
            let shared = Arc::clone(self);
            match action {
                Action::Prepare { .. } => self.pool.spawn(move || shared.prepare(&job)),
                Action::StartG2 { .. } => self.pool.spawn(move || shared.g2(&job)),
                // The receivers live as long as their threads, which end only when no job is left.
                Action::RunDevice { device, .. } => drop(self.devices[device].send(Task::Run(job))),
                Action::Finish { .. } => drop(self.finisher.send(Task::Run(job))),
                Action::Stop { .. } => job.stop.ask(),
                Action::Complete { result, .. } => drop(self.finisher.send(Task::Complete(job, result))),
                Action::Reject { .. } | Action::Enter { .. } => {}
            }
        }
    }

    fn complete(&self, job: &Job<S>, result: Result<()>) {
        let output = match result {
            Ok(()) => job.take_output().ok_or_else(|| Error::internal("a finished job has no proof")),
            Err(error) => Err(error),
        };
        let outcome = output.as_ref().map_or_else(|error| Outcome::Failed(error.status()), |_| Outcome::Done);
        let ended = Ended { job: job.id, start: 0, end: self.now(), outcome, retries: 0 };
        self.timeline.add(|record| record.ended(ended));
        job.complete(output);
        self.state.lock().completing -= 1;
        self.idle.notify_all();
    }

    /// Runs a stage under a guard and records it.
    fn run(&self, job: &Job<S>, stage: Stage, name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let start = self.now();
        let result = guarded(name, work);
        let span = Span { job: job.id, stage, lane: 0, start, end: self.now(), ok: result.is_ok() };
        self.timeline.add(|record| record.span(span));
        result
    }

    fn prepare(self: &Arc<Self>, job: &Job<S>) {
        let result = self.run(job, Stage::Prepare, "preparing", || {
            let input = job.take(|hand| hand.input.take())?;
            let scalars = Arc::new(self.stages.split(&input)?);
            job.hand.lock().scalars = Some(Arc::clone(&scalars));
            self.dispatch(Event::ScalarsSplit { job: job.id });
            let evaluations = self.stages.evaluate(input, &scalars, &job.stop)?;
            job.hand.lock().evaluations = Some(evaluations);
            Ok(())
        });
        if result.is_ok() {
            job.release_evaluations();
        }
        self.dispatch(Event::Prepared { job: job.id, result });
    }

    fn g2(self: &Arc<Self>, job: &Job<S>) {
        self.g2_running.fetch_add(1, Ordering::Relaxed);
        let result = self.run(job, Stage::G2, "the G2 MSM", || {
            let scalars = job.take(|hand| hand.scalars.clone())?;
            let g2 = self.stages.g2(&scalars, &job.stop)?;
            job.hand.lock().g2 = Some(g2);
            Ok(())
        });
        self.g2_running.fetch_sub(1, Ordering::Relaxed);
        self.dispatch(Event::G2Done { job: job.id, result });
    }

    pub(super) fn device_worker(self: &Arc<Self>, index: DeviceId, mut device: S::Device, tasks: &Tasks<S>) {
        while let Ok(Task::Run(job)) = tasks.recv() {
            let result = self.run(&job, Stage::Device(index), "the device phase", || {
                let (scalars, evaluations) =
                    job.take(|hand| Some((hand.scalars.clone()?, hand.evaluations.take()?)))?;
                let points =
                    self.pool.install(|| self.stages.run_device(&mut device, &scalars, evaluations, &job.stop))?;
                job.hand.lock().device = Some(points);
                Ok(())
            });
            self.dispatch(Event::DeviceDone { job: job.id, result });
        }
    }

    pub(super) fn finisher(self: &Arc<Self>, tasks: &Tasks<S>) {
        loop {
            match tasks.recv() {
                Ok(Task::Run(job)) => self.finish(&job),
                Ok(Task::Complete(job, result)) => self.complete(&job, result),
                Ok(Task::End) | Err(_) => return,
            }
        }
    }

    fn finish(self: &Arc<Self>, job: &Job<S>) {
        let result = self.run(job, Stage::Finish, "the epilogue", || {
            let (scalars, device, g2) =
                job.take(|hand| Some((hand.scalars.clone()?, hand.device.take()?, hand.g2.take()?)))?;
            let output = self.stages.finish(&scalars, device, g2)?;
            job.hand.lock().output = Some(output);
            Ok(())
        });
        self.dispatch(Event::Finished { job: job.id, result });
    }

    pub(super) fn usage(&self, pinned: &Budget) -> Usage {
        let (queued_jobs, live) = {
            let state = self.state.lock();
            (state.core.queued_jobs(), state.core.live_jobs())
        };
        Usage {
            queued_jobs,
            running_jobs: live - queued_jobs,
            g2_running: self.g2_running(),
            host_bytes: (self.host.used(), self.host.limit()),
            pinned_bytes: (pinned.used(), pinned.limit()),
        }
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
        for worker in self.devices.iter().chain([&self.finisher]) {
            drop(worker.send(Task::End));
        }
    }
}

/// Runs one stage; a panic in it becomes the job's error.
fn guarded(stage: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(Error::internal(format!("{stage} panicked: {text}")))
    })
}
