//! Models that loom runs in every interleaving (`ffi-tests/loom/run.sh`): the completion cell, a budget, the core.

use std::sync::Arc;

use loom::thread;

use crate::engine::Clock;
use crate::engine::budget::{Budget, Permit};
use crate::engine::core::{Action, Core, DeviceId, Event, KeyId, Limits, Need, Phase};
use crate::engine::job::{Job, Notice};
use crate::engine::stages::{Finished, HostNeed, Place, Stages, Stop};
use crate::error::{Error, Result, Status};
use crate::sync::{AtomicU32, Condvar, Mutex, Ordering};

/// Stages that are never run: a job needs their types.
struct Nothing;

impl Stages for Nothing {
    type Input = ();
    type Scalars = ();
    type Rows = ();
    type Uploaded = ();
    type Device = ();
    type DeviceResult = ();
    type G2Result = ();
    type Output = u32;

    fn host_need(&self, (): &()) -> HostNeed {
        HostNeed { job: 0, key: 0 }
    }
    fn need(&self, (): &()) -> Need {
        Need::default()
    }
    fn key_bytes(&self, _: KeyId) -> Result<u64> {
        Ok(0)
    }
    fn fetch_key(&self, _: KeyId, _: Permit, _: &Stop) -> Result<()> {
        Ok(())
    }
    fn drop_key(&self, _: KeyId) -> Box<dyn Send> {
        Box::new(())
    }
    fn split(&self, (): &()) -> Result<()> {
        Ok(())
    }
    fn evaluate(&self, (): (), (): &(), _: &Stop) -> Result<()> {
        Ok(())
    }
    fn upload(&self, _: Place, (): &(), (): &(), _: &Stop) -> Result<()> {
        Ok(())
    }
    fn evict(&self, _: DeviceId, _: KeyId) {}
    fn g2(&self, (): &(), _: &Stop) -> Result<()> {
        Ok(())
    }
    fn run_device(&self, (): &mut (), (): &(), (): (), _: &Stop) -> Result<()> {
        Ok(())
    }
    fn needs_pool(&self, _: &()) -> bool {
        true
    }
    fn close(&self) {}
    fn retire(&self, _: &mut ()) {}
    fn reset(&self, (): &mut ()) -> Result<()> {
        Ok(())
    }
    fn finish(&self, (): &(), (): (), (): ()) -> Result<Finished<u32>> {
        Ok(Finished::Sound(0))
    }
}

/// `model`, in every interleaving with at most `preemptions` switches that no thread asked for (more than three find
/// next to nothing and take for ever).
fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// A job whose observer counts its terminal notices.
fn observed() -> (Arc<Job<Nothing>>, Arc<AtomicU32>) {
    let seen = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&seen);
    let observer = Box::new(move |notice| {
        if notice == Notice::Terminal {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    (Arc::new(Job::new(1, (), Some(observer), 0)), seen)
}

#[test]
fn a_waiter_wakes_up_and_sees_the_result() {
    check(3, || {
        let (job, seen) = observed();
        let waiter = thread::spawn({
            let job = Arc::clone(&job);
            move || {
                assert!(job.wait(None));
                let report = job.report(&Clock::start());
                assert_eq!(report.phase, Phase::Terminal);
                assert!(report.result.is_some() && report.evaluations_released);
                assert_eq!(job.result(), Some(Ok(7)));
            }
        });
        job.complete(Ok(7));
        waiter.join().unwrap();
        assert_eq!(seen.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn whoever_frees_a_job_waits_for_its_observer() {
    check(3, || {
        let (job, seen) = observed();
        let owners = [(); 2].map(|()| {
            let (job, seen) = (Arc::clone(&job), Arc::clone(&seen));
            thread::spawn(move || {
                job.wait_released();
                assert_eq!(seen.load(Ordering::Relaxed), 1, "released before the observer had returned");
                assert!(job.result().is_some());
            })
        });
        job.enter(Phase::Finishing, Some(0), &Clock::start());
        job.reclaimed();
        job.complete(Err(Error::new(Status::Cancelled, "")));
        owners.into_iter().for_each(|owner| owner.join().unwrap());
    });
}

#[test]
fn an_observer_that_frees_its_job_does_not_wait_for_itself() {
    check(3, || {
        let own: Arc<Mutex<Option<Arc<Job<Nothing>>>>> = Arc::new(Mutex::new(None));
        let observer = {
            let own = Arc::clone(&own);
            Box::new(move |notice| {
                if notice == Notice::Terminal {
                    let job = own.lock().take();
                    let job = job.expect("the job is known before it is submitted");
                    assert_eq!(job.result(), Some(Ok(7)));
                    job.wait_released();
                }
            })
        };
        let job = Arc::new(Job::<Nothing>::new(1, (), Some(observer), 0));
        *own.lock() = Some(Arc::clone(&job));
        let completing = thread::spawn({
            let job = Arc::clone(&job);
            move || {
                job.release_evaluations();
                job.complete(Ok(7));
                job.reclaimed();
            }
        });
        job.wait_released();
        completing.join().unwrap();
    });
}

#[test]
fn a_report_never_goes_back_and_phases_may_come_late() {
    check(3, || {
        let (job, _) = observed();
        let late = thread::spawn({
            let job = Arc::clone(&job);
            move || job.enter(Phase::OnDevice, Some(0), &Clock::start())
        });
        let reader = thread::spawn({
            let job = Arc::clone(&job);
            move || {
                let clock = Clock::start();
                let (first, second) = (job.report(&clock), job.report(&clock));
                assert!(first.phase <= second.phase);
                assert_eq!(first.phase == Phase::Terminal, first.result.is_some(), "terminal without a result");
            }
        });
        job.complete(Ok(7));
        late.join().unwrap();
        reader.join().unwrap();
        assert_eq!(job.report(&Clock::start()).phase, Phase::Terminal);
    });
}

#[test]
fn a_budget_is_never_exceeded_and_ends_at_zero() {
    check(3, || {
        let budget = Budget::new("tested", 3);
        let taker = |budget: &Arc<Budget>| {
            let budget = Arc::clone(budget);
            thread::spawn(move || {
                for _ in 0..2 {
                    let permit = budget.take(2, "the test", Status::QueueFull);
                    assert!(budget.used() <= 3);
                    match permit {
                        Ok(permit) => assert_eq!(permit.bytes(), 2),
                        Err(error) => assert_eq!(error.status(), Status::QueueFull),
                    }
                }
            })
        };
        let takers = [taker(&budget), taker(&budget)];
        takers.into_iter().for_each(|taker| taker.join().unwrap());
        assert_eq!(budget.used(), 0);
    });
}

/// The core as the engine's threads share it: a step under the lock, its actions outside. What `Shared` does, with
/// the stages left out: rayon and channels cannot run in a model.
struct Driven {
    state: Mutex<(Core, usize)>,
    idle: Condvar,
    completed: AtomicU32,
    finishing: AtomicU32,
}

impl Driven {
    /// Job 1 with its kernels and its G2 MSM running.
    fn running() -> Arc<Self> {
        let mut core = Core::new(Limits::new(4, 1, 2, 1));
        core.step(Event::Submit { job: 1, priority: 0, need: Need::default() }, 1);
        core.step(Event::ScalarsSplit { job: 1 }, 2);
        core.step(Event::Prepared { job: 1, result: Ok(()) }, 3);
        let actions = core.step(Event::Uploaded { job: 1, result: Ok(()) }, 4);
        assert!(actions.iter().any(|action| matches!(action, Action::RunDevice { job: 1, .. })));
        Arc::new(Self {
            state: Mutex::new((core, 0)),
            idle: Condvar::new(),
            completed: AtomicU32::new(0),
            finishing: AtomicU32::new(0),
        })
    }

    fn dispatch(&self, event: Event) {
        let mut state = self.state.lock();
        let actions = state.0.step(event, 5);
        state.1 += actions.iter().filter(|action| matches!(action, Action::Complete { .. })).count();
        drop(state);
        for action in actions {
            match action {
                Action::Finish { job } => {
                    self.finishing.fetch_add(1, Ordering::Relaxed);
                    self.dispatch(Event::Finished { job, result: Ok(()), repeated: false });
                }
                Action::Complete { .. } => {
                    self.completed.fetch_add(1, Ordering::Relaxed);
                    self.state.lock().1 -= 1;
                    self.idle.notify_all();
                }
                _ => {}
            }
        }
    }

    fn wait_idle(&self) {
        let mut state = self.state.lock();
        while state.0.live_jobs() > 0 || state.1 > 0 {
            state = self.idle.wait(state);
        }
    }
}

/// Runs the end of a job's two stages and `third` at once; afterwards the job has completed exactly once.
fn race(third: fn(&Driven)) {
    check(3, move || {
        let driven = Driven::running();
        let spawn = |work: fn(&Driven)| {
            let driven = Arc::clone(&driven);
            thread::spawn(move || work(&driven))
        };
        let threads = [
            spawn(|driven| driven.dispatch(Event::G2Done { job: 1, result: Ok(()) })),
            spawn(|driven| driven.dispatch(Event::DeviceDone { job: 1, result: Ok(()) })),
        ];
        third(&driven);
        driven.wait_idle();
        assert_eq!(driven.completed.load(Ordering::Relaxed), 1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(driven.completed.load(Ordering::Relaxed), 1);
        assert!(driven.finishing.load(Ordering::Relaxed) <= 1);
    });
}

#[test]
fn a_job_completes_once_when_its_stages_end_together() {
    race(|_| {});
}

#[test]
fn a_job_completes_once_when_it_is_cancelled_meanwhile() {
    race(|driven| driven.dispatch(Event::Cancel { job: 1 }));
}

#[test]
fn a_job_completes_once_when_the_engine_ends_meanwhile() {
    race(|driven| driven.dispatch(Event::Shutdown));
}

#[test]
fn a_device_that_fails_while_g2_runs_completes_the_job_once() {
    check(3, || {
        let driven = Driven::running();
        let g2 = thread::spawn({
            let driven = Arc::clone(&driven);
            move || driven.dispatch(Event::G2Done { job: 1, result: Ok(()) })
        });
        let cancel = thread::spawn({
            let driven = Arc::clone(&driven);
            move || driven.dispatch(Event::Cancel { job: 1 })
        });
        driven.dispatch(Event::DeviceDone { job: 1, result: Err(Error::new(Status::Device, "scripted")) });
        driven.wait_idle();
        g2.join().unwrap();
        cancel.join().unwrap();
        assert_eq!(driven.completed.load(Ordering::Relaxed), 1);
        assert_eq!(driven.finishing.load(Ordering::Relaxed), 0);
    });
}
