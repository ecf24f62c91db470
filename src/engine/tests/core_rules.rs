//! Rules of the pure core, event by event and under random events.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::core::{Action, Core, Event, JobId, Limits, Phase};
use crate::error::{Error, Status};

fn core(max_queued_jobs: usize, devices: usize, jobs_per_device: usize) -> Core {
    Core::new(Limits { max_queued_jobs, devices, jobs_per_device })
}

fn submit(core: &mut Core, job: JobId, priority: i32) -> Vec<Action> {
    core.step(Event::Submit { job, priority })
}

fn prepare(core: &mut Core, job: JobId) -> Vec<Action> {
    let mut actions = core.step(Event::ScalarsSplit { job });
    actions.extend(core.step(Event::Prepared { job, result: Ok(()) }));
    actions
}

fn running(actions: &[Action]) -> Vec<JobId> {
    actions.iter().filter_map(|a| if let Action::RunDevice { job, .. } = a { Some(*job) } else { None }).collect()
}

fn preparing(actions: &[Action]) -> Vec<JobId> {
    actions.iter().filter_map(|a| if let Action::Prepare { job } = a { Some(*job) } else { None }).collect()
}

fn completed(actions: &[Action]) -> Vec<(JobId, Option<Status>)> {
    let ended = |a: &Action| match a {
        Action::Complete { job, result } => Some((*job, result.as_ref().err().map(Error::status))),
        _ => None,
    };
    actions.iter().filter_map(ended).collect()
}

#[test]
fn g2_starts_with_the_scalars_and_not_after_the_kernels() {
    let mut core = core(8, 1, 2);
    submit(&mut core, 1, 0);
    let actions = core.step(Event::ScalarsSplit { job: 1 });
    assert!(matches!(actions[..], [Action::StartG2 { job: 1 }]));
}

#[test]
fn the_lane_is_given_on_when_kernels_end_while_g2_still_runs() {
    let mut core = core(8, 1, 2);
    submit(&mut core, 1, 0);
    submit(&mut core, 2, 0);
    assert_eq!(running(&prepare(&mut core, 1)), [1]);
    assert_eq!(running(&prepare(&mut core, 2)), []);
    let actions = core.step(Event::DeviceDone { job: 1, result: Ok(()) });
    assert_eq!(running(&actions), [2]);
    assert!(!actions.iter().any(|a| matches!(a, Action::Finish { .. })), "G2 of job 1 has not ended");
    let actions = core.step(Event::G2Done { job: 1, result: Ok(()) });
    assert!(matches!(actions[..], [Action::Finish { job: 1 }]));
    let actions = core.step(Event::Finished { job: 1, result: Ok(()) });
    assert_eq!(completed(&actions), [(1, None)]);
}

#[test]
fn slots_bound_the_jobs_that_prepare_and_the_queue_those_that_wait() {
    let mut core = core(2, 1, 2);
    assert_eq!(preparing(&submit(&mut core, 1, 0)), [1]);
    assert_eq!(preparing(&submit(&mut core, 2, 0)), [2]);
    assert_eq!(preparing(&submit(&mut core, 3, 0)), []);
    assert_eq!(preparing(&submit(&mut core, 4, 0)), []);
    let rejected = submit(&mut core, 5, 9);
    assert!(matches!(&rejected[..], [Action::Reject { job: 5, error }] if error.status() == Status::QueueFull));
    prepare(&mut core, 1);
    assert_eq!(preparing(&core.step(Event::DeviceDone { job: 1, result: Ok(()) })), [3]);
    assert_eq!((core.queued_jobs(), core.live_jobs()), (1, 4));
}

#[test]
fn higher_priority_goes_first_and_equals_in_order() {
    let mut core = core(64, 1, 1);
    submit(&mut core, 0, 0);
    for (job, priority) in [(1, 0), (2, 5), (3, -1), (4, 5), (5, 0)] {
        submit(&mut core, job, priority);
    }
    let mut order = Vec::new();
    let mut current = 0;
    while core.queued_jobs() > 0 {
        prepare(&mut core, current);
        let next = preparing(&core.step(Event::DeviceDone { job: current, result: Ok(()) }));
        current = next[0];
        order.push(current);
    }
    assert_eq!(order, [2, 4, 1, 5, 3]);
}

#[test]
fn a_ready_job_of_higher_priority_takes_the_lane_first() {
    let mut core = core(8, 1, 3);
    for (job, priority) in [(1, 0), (2, 0), (3, 7)] {
        submit(&mut core, job, priority);
    }
    prepare(&mut core, 1);
    prepare(&mut core, 2);
    prepare(&mut core, 3);
    assert_eq!(running(&core.step(Event::DeviceDone { job: 1, result: Ok(()) })), [3]);
}

#[test]
fn cancelling_completes_when_nothing_of_the_job_runs_any_more() {
    let cancelled = [(1, Some(Status::Cancelled))];
    let mut queued = core(8, 1, 1);
    submit(&mut queued, 0, 0);
    submit(&mut queued, 1, 0);
    assert_eq!(completed(&queued.step(Event::Cancel { job: 1 })), cancelled);

    let mut preparing = core(8, 1, 1);
    submit(&mut preparing, 1, 0);
    let actions = preparing.step(Event::Cancel { job: 1 });
    assert!(matches!(actions[..], [Action::Stop { job: 1 }]));
    assert_eq!(completed(&preparing.step(Event::Prepared { job: 1, result: Ok(()) })), cancelled);

    let mut on_device = core(8, 1, 1);
    submit(&mut on_device, 1, 0);
    prepare(&mut on_device, 1);
    on_device.step(Event::Cancel { job: 1 });
    assert_eq!(completed(&on_device.step(Event::DeviceDone { job: 1, result: Ok(()) })), [], "G2 still runs");
    assert_eq!(completed(&on_device.step(Event::G2Done { job: 1, result: Ok(()) })), cancelled);

    let mut finishing = core(8, 1, 1);
    submit(&mut finishing, 1, 0);
    prepare(&mut finishing, 1);
    finishing.step(Event::DeviceDone { job: 1, result: Ok(()) });
    finishing.step(Event::G2Done { job: 1, result: Ok(()) });
    assert!(finishing.step(Event::Cancel { job: 1 }).is_empty(), "the epilogue runs");
    assert_eq!(completed(&finishing.step(Event::Finished { job: 1, result: Ok(()) })), [(1, None)]);
}

#[test]
fn a_failed_stage_frees_the_slot_and_the_first_failure_is_reported() {
    let mut core = core(8, 1, 1);
    submit(&mut core, 1, 0);
    submit(&mut core, 2, 0);
    core.step(Event::ScalarsSplit { job: 1 });
    let unsatisfied = Err(Error::new(Status::Unsatisfied, "row 3"));
    let actions = core.step(Event::Prepared { job: 1, result: unsatisfied });
    assert_eq!(preparing(&actions), [2], "the slot is free although G2 of job 1 runs");
    assert_eq!(completed(&actions), []);
    let late = Err(Error::internal("later"));
    assert_eq!(completed(&core.step(Event::G2Done { job: 1, result: late })), [(1, Some(Status::Unsatisfied))]);
}

#[test]
fn shutdown_ends_what_computes_and_fails_the_rest() {
    let mut core = core(8, 1, 2);
    for job in 1..=3 {
        submit(&mut core, job, 0);
    }
    prepare(&mut core, 1);
    core.step(Event::ScalarsSplit { job: 2 });
    let actions = core.step(Event::Shutdown);
    assert_eq!(completed(&actions), [(3, Some(Status::Shutdown))]);
    let rejected = submit(&mut core, 4, 0);
    assert!(matches!(&rejected[..], [Action::Reject { error, .. }] if error.status() == Status::Shutdown));
    core.step(Event::DeviceDone { job: 1, result: Ok(()) });
    core.step(Event::G2Done { job: 1, result: Ok(()) });
    assert_eq!(completed(&core.step(Event::Finished { job: 1, result: Ok(()) })), [(1, None)]);
    core.step(Event::Prepared { job: 2, result: Ok(()) });
    assert_eq!(completed(&core.step(Event::G2Done { job: 2, result: Ok(()) })), [(2, Some(Status::Shutdown))]);
    assert_eq!(core.live_jobs(), 0);
}

/// A small deterministic generator: the tests need variety, not quality.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// Plays the threads of the engine in random order, with faults and cancels, and checks what must always hold.
#[test]
fn random_events_lose_no_job_and_end_each_once() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let (devices, slots) = (1 + random.below(3), 1 + random.below(3));
        let mut core = core(1 + random.below(6), devices, slots);
        let mut pending: Vec<Event> = Vec::new();
        let mut phases: BTreeMap<JobId, Phase> = BTreeMap::new();
        let mut live = BTreeSet::new();
        let mut ended = BTreeSet::new();
        let mut computing: BTreeMap<usize, JobId> = BTreeMap::new();
        let mut next_job = 0;
        loop {
            let event = match random.below(4) {
                0 if next_job < 40 => {
                    next_job += 1;
                    Event::Submit { job: next_job, priority: random.below(3) as i32 }
                }
                1 if next_job > 0 && random.below(3) == 0 => Event::Cancel { job: 1 + random.below(40) as u64 },
                2 if next_job == 40 && random.below(100) == 0 => Event::Shutdown,
                _ if !pending.is_empty() => pending.swap_remove(random.below(pending.len())),
                _ if next_job < 40 => continue,
                _ if core.live_jobs() == 0 => break,
                _ => panic!("seed {seed}: jobs {live:?} are stuck"),
            };
            if let Event::Submit { job, .. } = event {
                live.insert(job);
            }
            if let Event::DeviceDone { job, .. } = event {
                computing.retain(|_, running| *running != job);
            }
            if let Event::ScalarsSplit { job } = event {
                pending.push(Event::Prepared { job, result: outcome(&mut random) });
            }
            for action in core.step(event) {
                match action {
                    Action::Reject { job, .. } => assert!(live.remove(&job)),
                    Action::Enter { job, phase, .. } => {
                        let before = phases.insert(job, phase);
                        assert!(before.is_none_or(|before| before < phase), "seed {seed}: job {job} moved back");
                    }
                    Action::Prepare { job } => pending.push(if random.below(10) == 0 {
                        Event::Prepared { job, result: Err(Error::internal("split")) }
                    } else {
                        Event::ScalarsSplit { job }
                    }),
                    Action::StartG2 { job } => pending.push(Event::G2Done { job, result: outcome(&mut random) }),
                    Action::RunDevice { job, device } => {
                        assert!(computing.insert(device, job).is_none(), "seed {seed}: two jobs on one lane");
                        pending.push(Event::DeviceDone { job, result: outcome(&mut random) });
                    }
                    Action::Finish { job } => pending.push(Event::Finished { job, result: outcome(&mut random) }),
                    Action::Stop { job } => assert!(live.contains(&job)),
                    Action::Complete { job, .. } => {
                        assert!(live.remove(&job), "seed {seed}: job {job} ended twice");
                        assert!(ended.insert(job));
                        let runs = |e: &Event| match e {
                            Event::ScalarsSplit { job: j }
                            | Event::Prepared { job: j, .. }
                            | Event::DeviceDone { job: j, .. }
                            | Event::G2Done { job: j, .. }
                            | Event::Finished { job: j, .. } => *j == job,
                            _ => false,
                        };
                        assert!(!pending.iter().any(runs), "seed {seed}: job {job} ended while a stage ran");
                    }
                }
            }
        }
        assert!(live.is_empty(), "seed {seed}: {live:?} never ended");
    }
}

fn outcome(random: &mut Random) -> crate::error::Result<()> {
    if random.below(12) == 0 { Err(Error::internal("a fault")) } else { Ok(()) }
}
