//! One job as its owners see it: the completion cell, and the data that its stages hand on.

use std::sync::Arc;
use std::time::Instant;

use super::Clock;
use super::budget::Permit;
use super::core::{DeviceId, JobId, Nanos, Phase};
use super::stages::{Stages, Stop};
use crate::error::{Error, Result};
use crate::sync::{AtomicBool, Condvar, Mutex, Ordering, ThreadId, current_thread};

/// What an observer is told, on a worker thread and with no lock held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The row evaluations that the caller lent are read no more.
    EvaluationsReleased,
    /// The job has ended: nothing that the caller lent is read any more.
    Terminal,
}

/// Called for each notice of one job: `EvaluationsReleased` at most once and first, `Terminal` exactly once.
pub type Observer = Box<dyn Fn(Notice) + Send + Sync>;

/// How far a job is. Durations are nanoseconds; that of a phase that has not ended counts up to now.
#[derive(Clone, Debug)]
pub struct Report {
    /// The phase that the job is in.
    pub phase: Phase,
    /// How it ended; `None` before.
    pub result: Option<std::result::Result<(), Error>>,
    /// The device that was chosen.
    pub device: Option<DeviceId>,
    /// Whether the lent evaluations are read no more.
    pub evaluations_released: bool,
    /// Time in the queue.
    pub queued: Nanos,
    /// Time of splitting and evaluating, and of waiting for the compute lane.
    pub prepare: Nanos,
    /// Time of the kernels.
    pub device_time: Nanos,
    /// Time from the end of the kernels to the end of the job.
    pub finish: Nanos,
    /// How many times its stages were run again.
    pub retries: u32,
}

/// What one stage hands to the next.
pub(super) struct Hand<S: Stages> {
    pub input: Option<S::Input>,
    pub scalars: Option<Arc<S::Scalars>>,
    pub rows: Option<Arc<S::Rows>>,
    pub uploaded: Option<S::Uploaded>,
    pub device: Option<S::DeviceResult>,
    pub g2: Option<S::G2Result>,
    pub output: Option<S::Output>,
    /// A proof that failed its self-check.
    pub unsound: Option<S::Output>,
    /// Declared last: the memory is given back before its permit.
    pub permit: Option<Permit>,
}

impl<S: Stages> Hand<S> {
    fn with_input(input: Option<S::Input>) -> Self {
        Self {
            input,
            scalars: None,
            rows: None,
            uploaded: None,
            device: None,
            g2: None,
            output: None,
            unsound: None,
            permit: None,
        }
    }
}

struct Cell<S: Stages> {
    phase: Phase,
    entered: [Option<Nanos>; 5],
    device: Option<DeviceId>,
    result: Option<Result<S::Output>>,
    observer_done: bool,
    /// Whether the memory that its stages used is given back.
    reclaimed: bool,
    retries: u32,
    observing_thread: Option<ThreadId>,
}

/// A job, shared by the caller's handle and the engine.
pub struct Job<S: Stages> {
    pub(super) id: JobId,
    pub(super) stop: Stop,
    pub(super) hand: Mutex<Hand<S>>,
    cell: Mutex<Cell<S>>,
    changed: Condvar,
    evaluations_released: AtomicBool,
    observer: Option<Observer>,
}

impl<S: Stages> Job<S> {
    /// When the job was created.
    pub(super) fn created(&self) -> Nanos {
        self.cell.lock().entered[Phase::Queued as usize].unwrap_or_default()
    }

    pub(super) fn new(id: JobId, input: S::Input, observer: Option<Observer>, now: Nanos) -> Self {
        let mut entered = [None; 5];
        entered[Phase::Queued as usize] = Some(now);
        let cell = Cell {
            phase: Phase::Queued,
            entered,
            device: None,
            result: None,
            observer_done: false,
            reclaimed: false,
            retries: 0,
            observing_thread: None,
        };
        Self {
            id,
            stop: Stop::new(),
            hand: Mutex::new(Hand::with_input(Some(input))),
            cell: Mutex::new(cell),
            changed: Condvar::new(),
            evaluations_released: AtomicBool::new(false),
            observer,
        }
    }

    /// Takes what a stage needs out of the hand.
    pub(super) fn take<T>(&self, take: impl FnOnce(&mut Hand<S>) -> Option<T>) -> Result<T> {
        take(&mut self.hand.lock()).ok_or_else(|| Error::internal("a stage ran before its input was there"))
    }

    /// How many times its stages were run again.
    pub(super) fn retries(&self) -> u32 {
        self.cell.lock().retries
    }

    /// How far the job is now.
    pub(super) fn report(&self, clock: &Clock) -> Report {
        let cell = self.cell.lock();
        let now = clock.now();
        // A phase ends where the next one that was entered begins.
        let spent = |phase: Phase| {
            let Some(start) = cell.entered[phase as usize] else { return 0 };
            let end = cell.entered[phase as usize + 1..].iter().flatten().next().copied();
            end.unwrap_or(now).saturating_sub(start)
        };
        Report {
            phase: cell.phase,
            result: cell.result.as_ref().map(|r| r.as_ref().map(|_| ()).map_err(Clone::clone)),
            device: cell.device,
            evaluations_released: self.evaluations_released.load(Ordering::Acquire),
            queued: spent(Phase::Queued),
            prepare: spent(Phase::Preparing),
            device_time: spent(Phase::OnDevice),
            finish: spent(Phase::Finishing),
            retries: cell.retries,
        }
    }

    /// Records a phase. Phases of one job may be reported late by another thread, or again when it is retried: they never
    /// move it back. Whether it is there for the first time.
    pub(super) fn enter(&self, phase: Phase, device: Option<DeviceId>, clock: &Clock) -> bool {
        let mut cell = self.cell.lock();
        // Read here: whoever polled before must not have seen a later time.
        let now = clock.now();
        let first = cell.entered[phase as usize].is_none();
        cell.entered[phase as usize].get_or_insert(now);
        cell.device = device.or(cell.device);
        // Terminal is entered together with the result, by `complete`.
        if phase != Phase::Terminal {
            cell.phase = cell.phase.max(phase);
        }
        first
    }

    /// Its stages run again from the upload on, and G2, too, if that is asked for.
    pub(super) fn retry(&self, g2: bool) {
        self.cell.lock().retries += 1;
        let mut hand = self.hand.lock();
        let stale = (hand.uploaded.take(), hand.device.take(), if g2 { hand.g2.take() } else { None });
        drop(hand);
        drop(stale);
    }

    /// Tells the observer, once, that lent evaluations are free.
    pub(super) fn release_evaluations(&self) {
        self.evaluations_released.store(true, Ordering::Release);
        self.observe(Notice::EvaluationsReleased);
    }

    /// The one place that ends a job: publishes the result, wakes the waiters, tells the observer. What its stages used is
    /// given back before or after, which `reclaimed` tells.
    pub(super) fn complete(&self, result: Result<S::Output>) {
        self.evaluations_released.store(true, Ordering::Release);
        {
            let mut cell = self.cell.lock();
            cell.phase = Phase::Terminal;
            cell.result = Some(result);
        }
        self.changed.notify_all();
        self.observe(Notice::Terminal);
        let mut cell = self.cell.lock();
        cell.observer_done = true;
        drop(cell);
        self.changed.notify_all();
    }

    /// All that the stages handed on; the job has nothing of it any more.
    pub(super) fn take_hand(&self) -> Hand<S> {
        std::mem::replace(&mut *self.hand.lock(), Hand::with_input(None))
    }

    /// The memory that the stages used is given back.
    pub(super) fn reclaimed(&self) {
        self.cell.lock().reclaimed = true;
        self.changed.notify_all();
    }

    fn observe(&self, notice: Notice) {
        let Some(observer) = &self.observer else { return };
        self.cell.lock().observing_thread = Some(current_thread());
        observer(notice);
        self.cell.lock().observing_thread = None;
    }

    /// Waits until the job has ended; `None` as the deadline waits for ever. Whether it has ended.
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        self.wait_for(deadline, |cell| cell.result.is_some())
    }

    /// Waits until the job has ended, its memory is given back and its observer has returned. Returns at once on a thread
    /// in that observer.
    pub fn wait_released(&self) {
        let here = current_thread();
        self.wait_for(None, |cell| (cell.observer_done && cell.reclaimed) || cell.observing_thread == Some(here));
    }

    fn wait_for(&self, deadline: Option<Instant>, done: impl Fn(&Cell<S>) -> bool) -> bool {
        let mut cell = self.cell.lock();
        while !done(&cell) {
            match deadline {
                None => cell = self.changed.wait(cell),
                Some(at) if Instant::now() >= at => return false,
                Some(at) => cell = self.changed.wait_until(cell, at),
            }
        }
        true
    }

    /// The result; `None` while the job has not ended.
    pub fn result(&self) -> Option<Result<S::Output>> {
        self.cell.lock().result.clone()
    }
}
