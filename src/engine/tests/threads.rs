//! The real threads with stages that only count.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::unbounded;

use crate::engine::budget::Permit;
use crate::engine::config::Config;
use crate::engine::core::{DeviceId, KeyId, Need, Phase};
use crate::engine::job::Notice;
use crate::engine::stages::{Finished, HostNeed, Place, Stages, Stop};
use crate::engine::{DeviceNotice, Engine};
use crate::error::{Error, Result, Status};
use crate::sync::{AtomicU32, Ordering};

/// What one scripted job does in each stage.
#[derive(Clone, Default)]
struct Script {
    number: u32,
    g2: Duration,
    device: Duration,
    fail: Option<&'static str>,
    /// The first attempt of this stage fails as a device does, or as a self-check.
    fail_once: Option<&'static str>,
    attempts: Arc<AtomicU32>,
}

#[derive(Default)]
struct Scripted {
    /// Several devices share the counter of jobs.
    shared: bool,
    resets: AtomicU32,
    on_device: AtomicU32,
}

impl Script {
    fn stage(&self, name: &str) -> Result<()> {
        match self.fail {
            Some("panic") if name == "g2" => panic!("scripted"),
            Some(fail) if fail == name => Err(Error::new(Status::Unsatisfied, name)),
            _ => Ok(()),
        }
    }

    /// Whether this attempt is the one that fails.
    fn fails_now(&self, name: &str) -> bool {
        self.fail_once == Some(name) && self.attempts.fetch_add(1, Ordering::SeqCst) == 0
    }
}

impl Stages for Scripted {
    type Input = Script;
    type Scalars = Script;
    type Rows = ();
    type Uploaded = ();
    type Device = ();
    type DeviceResult = u32;
    type G2Result = u32;
    type Output = u32;

    fn host_need(&self, _: &Script) -> HostNeed {
        HostNeed { job: 1, key: 0 }
    }
    fn need(&self, _: &Script) -> Need {
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
    fn split(&self, input: &Script) -> Result<Script> {
        input.stage("split").map(|()| input.clone())
    }
    fn evaluate(&self, input: Script, _: &Script, _: &Stop) -> Result<()> {
        input.stage("evaluate")
    }
    fn upload(&self, _: Place, script: &Script, (): &(), _: &Stop) -> Result<()> {
        script.stage("upload")
    }
    fn evict(&self, _: DeviceId, _: KeyId) {}
    fn g2(&self, script: &Script, _: &Stop) -> Result<u32> {
        std::thread::sleep(script.g2);
        script.stage("g2").map(|()| script.number)
    }
    fn run_device(&self, (): &mut (), script: &Script, (): (), _: &Stop) -> Result<u32> {
        let before = self.on_device.fetch_add(1, Ordering::SeqCst);
        assert!(before == 0 || self.shared, "two jobs on one device");
        std::thread::sleep(script.device);
        self.on_device.fetch_sub(1, Ordering::SeqCst);
        if script.fails_now("device") {
            return Err(Error::new(Status::Device, "scripted"));
        }
        script.stage("device").map(|()| script.number)
    }
    fn needs_pool(&self, _: &()) -> bool {
        true
    }
    fn close(&self) {}
    fn retire(&self, _: &mut ()) {}
    fn reset(&self, (): &mut ()) -> Result<()> {
        self.resets.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
    fn finish(&self, script: &Script, device: u32, g2: u32) -> Result<Finished<u32>> {
        assert_eq!((device, g2), (script.number, script.number));
        if script.fails_now("finish") {
            return Ok(Finished::Unsound(script.number + 1, Error::new(Status::SelfCheck, "scripted")));
        }
        script.stage("finish").map(|()| Finished::Sound(script.number))
    }
}

fn engine(cpu_threads: usize) -> Engine<Scripted> {
    let config = Config { cpu_threads, max_queued_jobs: 1000, ..Config::default() };
    Engine::new(&config, Scripted::default(), vec![()], Box::new(|_| ())).unwrap()
}

#[test]
fn every_job_gets_its_own_result_and_one_terminal_notice() {
    let engine = engine(3);
    let (sender, notices) = unbounded();
    let start = |number| {
        let sender = sender.clone();
        let observer = Box::new(move |notice| sender.send((number, notice)).unwrap());
        let job = engine.create(Script { number, ..Script::default() }, Some(observer));
        engine.submit(&job, 0).map(|()| job).unwrap()
    };
    let jobs: Vec<_> = (0..200).map(start).collect();
    for (number, job) in jobs.iter().enumerate() {
        assert!(job.wait(None));
        assert_eq!(job.result().unwrap().unwrap(), number as u32);
    }
    drop(engine);
    let all: Vec<_> = notices.try_iter().collect();
    for number in 0..200 {
        let mine: Vec<_> = all.iter().filter(|(n, _)| *n == number).map(|(_, notice)| *notice).collect();
        assert_eq!(mine, [Notice::EvaluationsReleased, Notice::Terminal]);
    }
}

#[test]
fn a_failure_or_panic_in_any_stage_fails_its_job_alone() {
    let engine = engine(2);
    for stage in ["split", "evaluate", "upload", "g2", "device", "finish", "panic"] {
        let bad = engine.create(Script { fail: Some(stage), ..Script::default() }, None);
        let good = engine.create(Script { number: 7, ..Script::default() }, None);
        engine.submit(&bad, 0).unwrap();
        engine.submit(&good, 0).unwrap();
        bad.wait(None);
        good.wait(None);
        let error = bad.result().unwrap().unwrap_err();
        let wanted = if stage == "panic" { Status::Internal } else { Status::Unsatisfied };
        assert_eq!(error.status(), wanted, "{stage}: {error}");
        assert_eq!(good.result().unwrap().unwrap(), 7);
    }
}

#[test]
fn the_device_is_released_while_g2_runs() {
    let engine = engine(4);
    let long = Duration::from_millis(300);
    let start = Instant::now();
    let jobs: Vec<_> = (0..3)
        .map(|number| {
            let job = engine.create(Script { number, g2: long, ..Script::default() }, None);
            engine.submit(&job, 0).unwrap();
            job
        })
        .collect();
    while jobs.iter().any(|job| engine.jobs().report(job).phase < Phase::Finishing) {
        assert!(start.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(1));
    }
    let report = engine.jobs().report(&jobs[0]);
    assert_eq!(report.phase, Phase::Finishing, "all three left the device before the first G2 ended");
    assert!(jobs.iter().all(|job| job.wait(None)));
}

#[test]
fn waiting_times_out_and_cancelling_ends_a_queued_job() {
    let engine = engine(1);
    let slow = Script { device: Duration::from_millis(200), ..Script::default() };
    let jobs: Vec<_> = (0..4)
        .map(|_| {
            let job = engine.create(slow.clone(), None);
            engine.submit(&job, 0).unwrap();
            job
        })
        .collect();
    assert!(!jobs[3].wait(Some(Instant::now() + Duration::from_millis(5))));
    engine.jobs().cancel(&jobs[3]);
    assert!(jobs[3].wait(Some(Instant::now() + Duration::from_secs(20))));
    assert_eq!(jobs[3].result().unwrap().unwrap_err().status(), Status::Cancelled);
    let handle = engine.jobs();
    drop(engine);
    assert!(jobs.iter().all(|job| job.wait(Some(Instant::now()))), "dropping the engine ends all jobs");
    assert_eq!(handle.report(&jobs[0]).phase, Phase::Terminal);
    handle.cancel(&jobs[0]);
}

#[test]
fn an_observer_may_read_the_result_and_does_not_wait_for_itself() {
    let engine = engine(1);
    let (sender, receiver) = unbounded();
    let (handed, job_of_observer) = unbounded::<Arc<crate::engine::job::Job<Scripted>>>();
    let observer = Box::new(move |notice| {
        if notice == Notice::Terminal {
            let job = job_of_observer.recv().unwrap();
            job.wait_released();
            sender.send(job.result()).unwrap();
        }
    });
    let job = engine.create(Script { number: 3, ..Script::default() }, Some(observer));
    handed.send(Arc::clone(&job)).unwrap();
    engine.submit(&job, 0).unwrap();
    assert_eq!(receiver.recv_timeout(Duration::from_secs(20)).unwrap().unwrap().unwrap(), 3);
    job.wait_released();
}

#[test]
fn a_device_error_or_a_failed_self_check_is_cured_by_a_second_attempt() {
    let notices = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&notices);
    let notify = Box::new(move |notice: &DeviceNotice| {
        assert!(notice.error.is_none());
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let engine = Engine::new(&Config { cpu_threads: 2, ..Config::default() }, Scripted::default(), vec![()], notify);
    let engine = engine.unwrap();
    for stage in ["device", "finish"] {
        let job = engine.create(Script { number: 5, fail_once: Some(stage), ..Script::default() }, None);
        engine.submit(&job, 0).unwrap();
        assert!(job.wait(Some(Instant::now() + Duration::from_secs(20))));
        assert_eq!(job.result().unwrap().unwrap(), 5, "{stage}");
        assert_eq!(engine.jobs().report(&job).retries, 1);
    }
    let begin = Instant::now();
    while notices.load(Ordering::SeqCst) < 2 {
        assert!(begin.elapsed() < Duration::from_secs(20), "each fault gives the device a new context");
        std::thread::yield_now();
    }
}

/// Jobs from several threads with faults, cancels and budgets near their end, while others are freed.
#[test]
fn a_storm_ends_each_job_once_and_gives_all_memory_back() {
    let config = Config { cpu_threads: 2, max_queued_jobs: 6, host_bytes_limit: 9, g2_lanes: 2, ..Config::default() };
    let notify = || Box::new(|_: &DeviceNotice| ());
    let engine =
        Engine::new(&config, Scripted { shared: true, ..Scripted::default() }, vec![(), ()], notify()).unwrap();
    let jobs_each = if std::env::var_os("GROTH16_SOAK").is_some() { 2500 } else { 250 };
    let storm = |thread: u32| {
        let mut state = u64::from(thread);
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % bound
        };
        let (mut counters, mut held) = (Vec::new(), std::collections::VecDeque::new());
        while counters.len() < jobs_each {
            let script = Script {
                number: counters.len() as u32,
                device: Duration::from_micros(below(200)),
                g2: Duration::from_micros(below(300)),
                fail: (below(8) == 0)
                    .then(|| ["split", "evaluate", "upload", "g2", "device", "finish"][below(6) as usize]),
                fail_once: (below(40) == 0).then(|| ["device", "finish"][below(2) as usize]),
                ..Script::default()
            };
            let terminal = Arc::new(AtomicU32::new(0));
            let counter = Arc::clone(&terminal);
            let observer = Box::new(move |notice| {
                counter.fetch_add(u32::from(notice == Notice::Terminal), Ordering::SeqCst);
            });
            let job = engine.create(script, Some(observer));
            match engine.submit(&job, below(3) as i32) {
                Ok(()) => counters.push(terminal),
                Err(error) if error.status() == Status::QueueFull => {
                    std::thread::sleep(Duration::from_micros(50));
                    continue;
                }
                // Every device may be out by now: then that is the answer.
                Err(error) => {
                    assert_eq!(error.status(), Status::Device, "{error}");
                    break;
                }
            }
            if below(5) == 0 {
                engine.jobs().cancel(&job);
            }
            held.push_back(job);
            // The oldest handle goes, in whatever state its job is.
            if held.len() > 4 {
                held.pop_front();
            }
        }
        counters
    };
    let counters: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || storm(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let budget = Arc::clone(engine.host_budget());
    drop(engine);
    assert!(counters.iter().all(|terminal| terminal.load(Ordering::SeqCst) == 1));
    assert_eq!(budget.used(), 0);
}
