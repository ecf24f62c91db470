//! Rules of the pure core, event by event.

use crate::engine::core::{Action, Core, Event, JobId, KeyId, Limits, MAX_FAULTS, MAX_PASSED, Mode, Need};
use crate::error::{Error, Status};

/// A core whose clock ticks with every event. What it tells of idle devices is left out.
struct Ticking(Core, u64);

impl Ticking {
    fn step(&mut self, event: Event) -> Vec<Action> {
        self.1 += 1;
        let actions = self.0.step(event, self.1);
        actions.into_iter().filter(|action| !matches!(action, Action::Gap { .. } | Action::Enter { .. })).collect()
    }

    fn queued_jobs(&self) -> usize {
        self.0.queued_jobs()
    }

    fn live_jobs(&self) -> usize {
        self.0.live_jobs()
    }
}

fn core(max_queued_jobs: usize, devices: usize, jobs_per_device: usize) -> Ticking {
    with(Limits::new(max_queued_jobs, devices, jobs_per_device, 4))
}

fn with(limits: Limits) -> Ticking {
    Ticking(Core::new(limits), 0)
}

fn submit(core: &mut Ticking, job: JobId, priority: i32) -> Vec<Action> {
    core.step(Event::Submit { job, priority, need: Need::default() })
}

fn submit_with(core: &mut Ticking, job: JobId, key: KeyId, key_bytes: u64, device_bytes: u64) -> Vec<Action> {
    core.step(Event::Submit { job, priority: 0, need: Need { key, key_bytes, device_bytes } })
}

/// Prepared and uploaded.
fn prepare(core: &mut Ticking, job: JobId) -> Vec<Action> {
    let mut actions = core.step(Event::ScalarsSplit { job });
    actions.extend(core.step(Event::Prepared { job, result: Ok(()) }));
    actions.extend(core.step(Event::Uploaded { job, result: Ok(()) }));
    actions
}

fn device_done(core: &mut Ticking, job: JobId) -> Vec<Action> {
    core.step(Event::DeviceDone { job, result: Ok(()) })
}

fn device_error() -> Result<(), Error> {
    Err(Error::new(Status::Device, "scripted"))
}

fn running(actions: &[Action]) -> Vec<JobId> {
    actions.iter().filter_map(|a| if let Action::RunDevice { job, .. } = a { Some(*job) } else { None }).collect()
}

fn preparing(actions: &[Action]) -> Vec<JobId> {
    actions.iter().filter_map(|a| if let Action::Prepare { job } = a { Some(*job) } else { None }).collect()
}

fn completed(actions: &[Action]) -> Vec<(JobId, Option<Status>)> {
    let ended = |a: &Action| match a {
        Action::Complete { job, result, .. } => Some((*job, result.as_ref().err().map(Error::status))),
        _ => None,
    };
    actions.iter().filter_map(ended).collect()
}

#[test]
fn g2_starts_with_the_scalars_and_not_after_the_kernels() {
    let mut core = core(8, 1, 2);
    submit(&mut core, 1, 0);
    let actions = core.step(Event::ScalarsSplit { job: 1 });
    assert!(matches!(actions[..], [Action::StartG2 { job: 1, lane: 0 }]));
}

#[test]
fn the_lane_is_given_on_when_kernels_end_while_g2_still_runs() {
    let mut core = core(8, 1, 2);
    submit(&mut core, 1, 0);
    submit(&mut core, 2, 0);
    assert_eq!(running(&prepare(&mut core, 1)), [1]);
    assert!(running(&prepare(&mut core, 2)).is_empty());
    let actions = device_done(&mut core, 1);
    assert_eq!(running(&actions), [2]);
    assert!(!actions.iter().any(|a| matches!(a, Action::Finish { .. })), "G2 of job 1 has not ended");
    let actions = core.step(Event::G2Done { job: 1, result: Ok(()) });
    assert!(matches!(actions[..], [Action::Finish { job: 1 }]));
    let actions = core.step(Event::Finished { job: 1, result: Ok(()), repeated: false });
    assert_eq!(completed(&actions), [(1, None)]);
}

#[test]
fn slots_bound_the_jobs_that_prepare_and_the_queue_those_that_wait() {
    let mut core = core(2, 1, 2);
    assert_eq!(preparing(&submit(&mut core, 1, 0)), [1]);
    assert_eq!(preparing(&submit(&mut core, 2, 0)), [2]);
    assert!(preparing(&submit(&mut core, 3, 0)).is_empty());
    assert!(preparing(&submit(&mut core, 4, 0)).is_empty());
    let rejected = submit(&mut core, 5, 9);
    assert!(matches!(&rejected[..], [Action::Reject { job: 5, error }] if error.status() == Status::QueueFull));
    prepare(&mut core, 1);
    assert_eq!(preparing(&device_done(&mut core, 1)), [3]);
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
        let next = preparing(&device_done(&mut core, current));
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
    assert_eq!(running(&device_done(&mut core, 1)), [3]);
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
    assert!(completed(&on_device.step(Event::DeviceDone { job: 1, result: Ok(()) })).is_empty(), "G2 still runs");
    assert_eq!(completed(&on_device.step(Event::G2Done { job: 1, result: Ok(()) })), cancelled);

    let mut finishing = core(8, 1, 1);
    submit(&mut finishing, 1, 0);
    prepare(&mut finishing, 1);
    finishing.step(Event::DeviceDone { job: 1, result: Ok(()) });
    finishing.step(Event::G2Done { job: 1, result: Ok(()) });
    assert!(finishing.step(Event::Cancel { job: 1 }).is_empty(), "the epilogue runs");
    assert_eq!(completed(&finishing.step(Event::Finished { job: 1, result: Ok(()), repeated: false })), [(1, None)]);
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
    assert!(completed(&actions).is_empty());
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
    device_done(&mut core, 1);
    core.step(Event::G2Done { job: 1, result: Ok(()) });
    assert_eq!(completed(&core.step(Event::Finished { job: 1, result: Ok(()), repeated: false })), [(1, None)]);
    core.step(Event::Prepared { job: 2, result: Ok(()) });
    assert_eq!(completed(&core.step(Event::G2Done { job: 2, result: Ok(()) })), [(2, Some(Status::Shutdown))]);
    assert_eq!(core.live_jobs(), 0);
}

fn uploads(actions: &[Action]) -> Vec<(JobId, bool)> {
    let upload = |a: &Action| match a {
        Action::Upload { job, load_key, .. } => Some((*job, *load_key)),
        _ => None,
    };
    actions.iter().filter_map(upload).collect()
}

fn evicted(actions: &[Action]) -> Vec<KeyId> {
    actions.iter().filter_map(|a| if let Action::EvictKey { key, .. } = a { Some(*key) } else { None }).collect()
}

#[test]
fn the_next_job_is_uploaded_while_kernels_run() {
    let mut core = core(8, 1, 2);
    submit(&mut core, 1, 0);
    submit(&mut core, 2, 0);
    prepare(&mut core, 1);
    let actions = core.step(Event::Prepared { job: 2, result: Ok(()) });
    assert_eq!(uploads(&actions), [(2, false)]);
    core.step(Event::Uploaded { job: 2, result: Ok(()) });
    assert_eq!(running(&device_done(&mut core, 1)), [2]);
}

#[test]
fn monolithic_provers_start_g2_after_the_kernels_and_keep_the_slot() {
    let mut core = with(Limits { mode: Mode::Monolithic, ..Limits::new(8, 1, 1, 1) });
    submit(&mut core, 1, 0);
    submit(&mut core, 2, 0);
    let actions = prepare(&mut core, 1);
    assert!(!actions.iter().any(|a| matches!(a, Action::StartG2 { .. })));
    let actions = device_done(&mut core, 1);
    assert!(matches!(actions[..], [Action::StartG2 { job: 1, .. }]), "{actions:?}");
    core.step(Event::G2Done { job: 1, result: Ok(()) });
    let actions = core.step(Event::Finished { job: 1, result: Ok(()), repeated: false });
    assert_eq!(preparing(&actions), [2]);
}

#[test]
fn g2_lanes_are_given_by_priority_and_bounded() {
    let mut core = with(Limits::new(8, 4, 1, 2));
    for (job, priority) in [(1, 0), (2, 0), (3, 0), (4, 5)] {
        submit(&mut core, job, priority);
    }
    let started = |actions: &[Action]| -> Vec<JobId> {
        actions.iter().filter_map(|a| if let Action::StartG2 { job, .. } = a { Some(*job) } else { None }).collect()
    };
    assert_eq!(started(&core.step(Event::ScalarsSplit { job: 1 })), [1]);
    assert_eq!(started(&core.step(Event::ScalarsSplit { job: 2 })), [2]);
    assert!(started(&core.step(Event::ScalarsSplit { job: 3 })).is_empty());
    assert!(started(&core.step(Event::ScalarsSplit { job: 4 })).is_empty());
    assert_eq!(started(&core.step(Event::G2Done { job: 1, result: Ok(()) })), [4]);
}

#[test]
fn no_slots_are_given_while_too_many_jobs_wait_for_g2() {
    let mut core = with(Limits { max_behind: 1, ..Limits::new(8, 1, 1, 1) });
    for job in 1..=3 {
        submit(&mut core, job, 0);
    }
    prepare(&mut core, 1);
    assert!(preparing(&device_done(&mut core, 1)).is_empty(), "job 1 waits for its G2 MSM");
    assert_eq!(preparing(&core.step(Event::G2Done { job: 1, result: Ok(()) })), [2]);
}

#[test]
fn an_aged_job_gets_one_of_four_slots_but_not_before_a_top_priority_job() {
    for top in [false, true] {
        let mut core = with(Limits { aging: 50, ..Limits::new(64, 1, 1, 1) });
        submit(&mut core, 0, 0);
        submit(&mut core, 1, -5);
        for job in 2..40 {
            submit(&mut core, job, if top { i32::MAX } else { 3 });
        }
        let (mut current, mut slots) = (0, 0);
        while current != 1 {
            prepare(&mut core, current);
            core.step(Event::G2Done { job: current, result: Ok(()) });
            current = preparing(&device_done(&mut core, current))[0];
            slots += 1;
        }
        let wanted = if top { 39 } else { 3 };
        assert_eq!(slots, wanted, "top priority: {top}");
    }
}

#[test]
fn a_key_is_loaded_once_and_evicted_when_unused_for_longest() {
    let mut core = with(Limits { device_bytes: 100, ..Limits::new(8, 1, 1, 1) });
    let mut run = |job: JobId, key: KeyId| {
        let mut actions = submit_with(&mut core, job, key, 40, 10);
        actions.extend(prepare(&mut core, job));
        actions.extend(device_done(&mut core, job));
        core.step(Event::G2Done { job, result: Ok(()) });
        core.step(Event::Finished { job, result: Ok(()), repeated: false });
        (uploads(&actions)[0].1, evicted(&actions))
    };
    assert_eq!(run(1, 1), (true, vec![]));
    assert_eq!(run(2, 2), (true, vec![]));
    assert_eq!(run(3, 1), (false, vec![]));
    assert_eq!(run(4, 3), (true, vec![2]), "key 1 was used after key 2");
    assert_eq!(run(5, 1), (false, vec![]));
    assert_eq!(run(6, 2), (true, vec![3]));
    assert_eq!(evicted(&core.step(Event::KeyFreed { key: 2 })), [2]);
    assert_eq!(core.0.devices().next().unwrap().bytes, 40, "key 1 is left");
}

#[test]
fn a_key_that_a_job_uses_stays_until_the_job_has_left() {
    let mut core = with(Limits { device_bytes: 100, ..Limits::new(8, 1, 2, 1) });
    submit_with(&mut core, 1, 1, 60, 10);
    assert!(preparing(&submit_with(&mut core, 2, 2, 60, 10)).is_empty(), "its key does not fit beside the other");
    assert!(evicted(&core.step(Event::KeyFreed { key: 1 })).is_empty(), "in use");
    prepare(&mut core, 1);
    let actions = device_done(&mut core, 1);
    assert_eq!((evicted(&actions), preparing(&actions)), (vec![1], vec![2]));
}

#[test]
fn a_job_too_big_for_the_device_is_refused_and_a_key_too_big_is_streamed() {
    let mut core = with(Limits { device_bytes: 100, ..Limits::new(8, 1, 1, 1) });
    let actions = submit_with(&mut core, 1, 1, 0, 101);
    let [Action::Reject { error, .. }] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!(error.status(), Status::DeviceMemory);
    assert!(error.message().contains("101") && error.message().contains("100"), "{error}");
    submit_with(&mut core, 2, 1, 500, 90);
    let actions = core.step(Event::Prepared { job: 2, result: Ok(()) });
    assert!(matches!(actions[..], [Action::Upload { job: 2, load_key: false, streamed: true, .. }]), "{actions:?}");
}

#[test]
fn a_job_that_does_not_fit_is_passed_a_few_times_and_then_no_more() {
    let mut core = with(Limits { device_bytes: 100, ..Limits::new(64, 1, 2, 1) });
    submit_with(&mut core, 0, 0, 0, 60);
    submit_with(&mut core, 1, 0, 0, 60);
    for job in 2..30 {
        submit_with(&mut core, job, 0, 0, 20);
    }
    let (mut order, mut in_slots) = (Vec::new(), std::collections::VecDeque::from([0]));
    // Job 2 got the other slot when it came.
    in_slots.push_back(2);
    while order.last() != Some(&1) {
        let job = in_slots.pop_front().expect("nothing runs and job 1 never got a slot");
        prepare(&mut core, job);
        core.step(Event::G2Done { job, result: Ok(()) });
        let next = preparing(&device_done(&mut core, job));
        in_slots.extend(next.iter().copied());
        order.extend(next);
    }
    assert!(order.len() <= MAX_PASSED as usize + 1, "{order:?}");
}

#[test]
fn a_device_error_moves_the_job_to_another_device_and_resets_the_first() {
    let mut core = core(8, 2, 1);
    submit(&mut core, 1, 0);
    prepare(&mut core, 1);
    let actions = core.step(Event::DeviceDone { job: 1, result: device_error() });
    assert!(
        matches!(
            actions[..],
            [
                Action::Retry { job: 1, g2: false },
                Action::ResetDevice { device: 0 },
                Action::Upload { job: 1, device: 1, .. }
            ]
        ),
        "{actions:?}"
    );
    assert!(!core.0.devices().next().unwrap().up);
    core.step(Event::DeviceReset { device: 0, result: Ok(()) });
    assert!(core.0.devices().next().unwrap().up);
    core.step(Event::Uploaded { job: 1, result: Ok(()) });
    let actions = core.step(Event::DeviceDone { job: 1, result: device_error() });
    assert!(completed(&actions).is_empty(), "G2 still runs");
    assert_eq!(completed(&core.step(Event::G2Done { job: 1, result: Ok(()) })), [(1, Some(Status::Device))]);
}

#[test]
fn memory_that_a_device_lacks_is_looked_for_on_another_one() {
    let no_memory = || Err(Error::new(Status::DeviceMemory, "others took it"));
    let begin = |devices: usize| {
        let mut core = core(8, devices, 1);
        submit(&mut core, 1, 0);
        core.step(Event::ScalarsSplit { job: 1 });
        core.step(Event::G2Done { job: 1, result: Ok(()) });
        core.step(Event::Prepared { job: 1, result: Ok(()) });
        core
    };
    let mut two = begin(2);
    let actions = two.step(Event::Uploaded { job: 1, result: no_memory() });
    let moves = matches!(actions[..], [Action::Retry { job: 1, g2: false }, Action::Upload { job: 1, device: 1, .. }]);
    assert!(moves, "{actions:?}");
    assert!(two.0.devices().all(|device| device.up), "no device is to blame");
    // Where the other has none either, the job fails; so it does where there is no other.
    for mut core in [two, begin(1)] {
        let actions = core.step(Event::Uploaded { job: 1, result: no_memory() });
        assert_eq!(completed(&actions), [(1, Some(Status::DeviceMemory))]);
        assert!(core.0.devices().all(|device| device.up));
    }
}

#[test]
fn rows_that_a_device_refuses_are_tried_once_more_and_nobody_is_blamed() {
    for status in [Status::Unsatisfied, Status::Invalid] {
        let refused = || Err(Error::new(status, "row 3"));
        let mut core = core(8, 1, 1);
        submit(&mut core, 1, 0);
        prepare(&mut core, 1);
        core.step(Event::G2Done { job: 1, result: Ok(()) });
        let actions = core.step(Event::DeviceDone { job: 1, result: refused() });
        let again = matches!(actions[..], [Action::Retry { job: 1, g2: false }, Action::Upload { job: 1, .. }]);
        assert!(again, "{actions:?}");
        core.step(Event::Uploaded { job: 1, result: Ok(()) });
        let actions = core.step(Event::DeviceDone { job: 1, result: refused() });
        assert_eq!(completed(&actions), [(1, Some(status))]);
        assert!(core.0.devices().all(|device| device.up));
    }
}

#[test]
fn a_lone_device_gets_a_new_context_and_its_jobs_are_uploaded_again() {
    let mut core = core(8, 1, 2);
    submit(&mut core, 1, 0);
    submit(&mut core, 2, 0);
    prepare(&mut core, 1);
    prepare(&mut core, 2);
    let actions = core.step(Event::DeviceDone { job: 1, result: device_error() });
    assert!(matches!(actions[..], [Action::Retry { .. }, Action::ResetDevice { device: 0 }]), "{actions:?}");
    let actions = core.step(Event::DeviceReset { device: 0, result: Ok(()) });
    assert_eq!(uploads(&actions), [(1, false)]);
    assert!(actions.iter().any(|a| matches!(a, Action::Discard { job: 2, .. })));
    let actions = core.step(Event::Uploaded { job: 1, result: Ok(()) });
    assert_eq!((running(&actions), uploads(&actions)), (vec![1], vec![(2, false)]));
}

#[test]
fn a_device_that_keeps_failing_is_taken_out_and_without_any_jobs_fail() {
    let mut core = core(64, 1, 1);
    let mut taken_out = false;
    for job in 0..20 {
        submit(&mut core, job, 0);
    }
    for job in 0..MAX_FAULTS as JobId {
        prepare(&mut core, job);
        let actions = core.step(Event::DeviceDone { job, result: device_error() });
        let out = |a: &Action| matches!(a, Action::DeviceOut { device: 0, .. });
        taken_out |= actions.iter().any(out);
        if !taken_out {
            core.step(Event::Cancel { job });
            core.step(Event::G2Done { job, result: Ok(()) });
            core.step(Event::DeviceReset { device: 0, result: Ok(()) });
        } else {
            assert!(completed(&actions).iter().all(|(_, status)| *status == Some(Status::Device)));
            core.step(Event::G2Done { job, result: Ok(()) });
        }
    }
    assert!(taken_out);
    assert_eq!(core.live_jobs(), 0, "queued jobs have failed");
    let rejected = submit(&mut core, 99, 0);
    assert!(matches!(&rejected[..], [Action::Reject { error, .. }] if error.status() == Status::Device));
}

/// Brings a job to its self-check.
fn to_self_check(core: &mut Ticking, job: JobId) {
    prepare(core, job);
    device_done(core, job);
    core.step(Event::G2Done { job, result: Ok(()) });
}

#[test]
fn a_failed_self_check_is_tried_again_and_who_is_to_blame_follows_from_it() {
    let unsound = || Err(Error::new(Status::SelfCheck, "wrong"));
    // (outcome of the second attempt, whether it was the same, how it ends, whether the device is marked)
    let cases = [
        (Ok(()), false, None, true),
        (unsound(), true, Some(Status::SelfCheck), false),
        (unsound(), false, Some(Status::SelfCheck), true),
    ];
    for (second, repeated, end, marked) in cases {
        let mut core = core(8, 1, 1);
        submit(&mut core, 1, 0);
        to_self_check(&mut core, 1);
        let actions = core.step(Event::Finished { job: 1, result: unsound(), repeated: false });
        assert!(
            matches!(actions[..], [Action::Retry { job: 1, g2: true }, Action::Upload { .. }, Action::StartG2 { .. }]),
            "{actions:?}"
        );
        core.step(Event::Uploaded { job: 1, result: Ok(()) });
        device_done(&mut core, 1);
        core.step(Event::G2Done { job: 1, result: Ok(()) });
        let actions = core.step(Event::Finished { job: 1, result: second, repeated });
        assert_eq!(completed(&actions), [(1, end)]);
        assert_eq!(actions.iter().any(|a| matches!(a, Action::ResetDevice { .. })), marked, "{end:?} {repeated}");
    }
}

#[test]
fn a_bad_witness_takes_no_device_out() {
    let mut core = core(8, 1, 1);
    for job in 0..10 {
        submit(&mut core, job, 0);
        for repeated in [false, true] {
            if !repeated {
                prepare(&mut core, job);
            } else {
                core.step(Event::Uploaded { job, result: Ok(()) });
            }
            device_done(&mut core, job);
            core.step(Event::G2Done { job, result: Ok(()) });
            let result = Err(Error::new(Status::SelfCheck, "wrong"));
            core.step(Event::Finished { job, result, repeated });
        }
        assert_eq!(core.live_jobs(), 0);
    }
    assert!(core.0.devices().all(|device| device.up && device.faults == 0));
}

#[test]
fn a_job_that_is_cancelled_in_its_epilogue_is_not_tried_again() {
    let mut core = core(8, 1, 1);
    submit(&mut core, 1, 0);
    to_self_check(&mut core, 1);
    assert!(core.step(Event::Cancel { job: 1 }).is_empty());
    let result = Err(Error::new(Status::SelfCheck, "wrong"));
    let actions = core.step(Event::Finished { job: 1, result, repeated: false });
    assert_eq!(completed(&actions), [(1, Some(Status::Cancelled))]);
}

fn fetched(actions: &[Action]) -> Vec<KeyId> {
    actions.iter().filter_map(|a| if let Action::FetchKey { key } = a { Some(*key) } else { None }).collect()
}

#[test]
fn a_job_waits_while_its_key_is_read_again_and_others_do_not() {
    let mut core = core(8, 1, 2);
    core.step(Event::KeyLoaded { key: 1, bytes: 10, has_file: true });
    core.step(Event::KeyLoaded { key: 2, bytes: 10, has_file: false });
    assert_eq!(core.0.drop_oldest_key(1), None, "key 1 is excepted and key 2 has no file");
    assert_eq!(core.0.drop_oldest_key(0), Some(1));
    assert_eq!(core.0.drop_oldest_key(0), None);
    let actions = submit_with(&mut core, 1, 1, 0, 0);
    assert_eq!((fetched(&actions), preparing(&actions)), (vec![1], vec![]));
    assert!(fetched(&submit_with(&mut core, 2, 1, 0, 0)).is_empty(), "it is on its way");
    assert_eq!(preparing(&submit_with(&mut core, 3, 2, 0, 0)), [3]);
    assert_eq!(preparing(&core.step(Event::KeyFetched { key: 1, result: Ok(()) })), [1]);
    assert_eq!(core.0.drop_oldest_key(0), None, "in use");
}

#[test]
fn a_key_without_room_is_tried_again_when_a_job_has_ended_and_fails_when_none_is_left() {
    let mut core = core(8, 1, 1);
    for key in [1, 2] {
        core.step(Event::KeyLoaded { key, bytes: 10, has_file: true });
    }
    assert_eq!(core.0.drop_oldest_key(2), Some(1));
    submit_with(&mut core, 1, 2, 0, 0);
    assert_eq!(fetched(&submit_with(&mut core, 2, 1, 0, 0)), [1]);
    let no_room = || Err(Error::new(Status::QueueFull, "no room"));
    assert!(completed(&core.step(Event::KeyFetched { key: 1, result: no_room() })).is_empty());
    core.step(Event::Cancel { job: 1 });
    let actions = core.step(Event::Prepared { job: 1, result: Ok(()) });
    assert_eq!((completed(&actions).len(), fetched(&actions)), (1, vec![1]));
    let actions = core.step(Event::KeyFetched { key: 1, result: no_room() });
    assert_eq!(completed(&actions), [(2, Some(Status::NoMemory))]);
    // A file that cannot be read fails its jobs, and is tried again for the next.
    assert_eq!(fetched(&submit_with(&mut core, 3, 1, 0, 0)), [1]);
    let actions = core.step(Event::KeyFetched { key: 1, result: Err(Error::new(Status::Io, "gone")) });
    assert_eq!(completed(&actions), [(3, Some(Status::Io))]);
    assert_eq!(fetched(&submit_with(&mut core, 4, 1, 0, 0)), [1]);
}

#[test]
fn a_job_that_is_cancelled_while_it_waits_for_its_second_attempt_gets_no_slot() {
    let mut core = core(8, 1, 1);
    submit(&mut core, 1, 0);
    prepare(&mut core, 1);
    core.step(Event::DeviceDone { job: 1, result: device_error() });
    assert_eq!(core.queued_jobs(), 1);
    core.step(Event::Cancel { job: 1 });
    assert_eq!((core.queued_jobs(), core.live_jobs()), (0, 1), "its G2 MSM runs");
    assert!(uploads(&core.step(Event::DeviceReset { device: 0, result: Ok(()) })).is_empty());
    assert_eq!(completed(&core.step(Event::G2Done { job: 1, result: Ok(()) })), [(1, Some(Status::Cancelled))]);
}

#[test]
fn a_failed_self_check_after_a_device_error_blames_no_device_for_it() {
    let mut core = core(8, 2, 1);
    submit(&mut core, 1, 0);
    prepare(&mut core, 1);
    core.step(Event::DeviceDone { job: 1, result: device_error() });
    core.step(Event::DeviceReset { device: 0, result: Ok(()) });
    core.step(Event::Uploaded { job: 1, result: Ok(()) });
    device_done(&mut core, 1);
    core.step(Event::G2Done { job: 1, result: Ok(()) });
    let result = Err(Error::new(Status::SelfCheck, "wrong"));
    let actions = core.step(Event::Finished { job: 1, result, repeated: false });
    assert_eq!(completed(&actions), [(1, Some(Status::SelfCheck))]);
    assert!(core.0.devices().all(|device| device.up), "{actions:?}");
}

#[test]
fn a_top_priority_job_is_let_in_before_those_that_wait_for_g2() {
    let mut core = with(Limits { max_behind: 1, ..Limits::new(8, 1, 1, 1) });
    submit(&mut core, 1, 0);
    prepare(&mut core, 1);
    device_done(&mut core, 1);
    assert!(preparing(&submit(&mut core, 2, 0)).is_empty());
    assert_eq!(preparing(&submit(&mut core, 3, i32::MAX)), [3]);
}
