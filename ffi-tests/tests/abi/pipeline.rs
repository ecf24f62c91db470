//! start, poll, wait, finalize, cancel, free: in every order that the header allows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ffi_tests::capi::{api, init};
use ffi_tests::fixture::{Fixture, Form};
use ffi_tests::handles::{self, Engine, Job, Request};
use ffi_tests::memory::{Guarded, Watchdog};
use groth16::ffi::job::groth16_progress;
use groth16::prover::synthetic::Shape;

use super::{Gate, Setup, state, status};

/// Ten milliseconds.
const MOMENT: i64 = 10_000_000;

fn large() -> Setup {
    Setup::new(&Shape::new(4000, 5, 77), Engine::new(|options| options.cpu_threads = 2).unwrap())
}

#[test]
fn states_and_times_only_move_forward() {
    let setup = large();
    let begin = Instant::now();
    let jobs: Vec<_> = (0..4).map(|_| setup.start(setup.fixture.request(Form::Canonical))).collect();
    let mut seen = [const { Vec::new() }; 4];
    let mut last = [init::<groth16_progress>(); 4];
    while last.iter().any(|progress| progress.state < state::DONE) {
        for (i, job) in jobs.iter().enumerate() {
            let now = job.poll();
            check_order(&last[i], &now, begin);
            if now.state != last[i].state {
                seen[i].push(now.state);
            }
            last[i] = now;
        }
        std::thread::yield_now();
    }
    for (job, last) in jobs.iter().zip(&last) {
        assert_eq!((last.state, last.result, last.abc_released), (state::DONE, 0, 1));
        let spent = [last.queued_ns, last.prepare_ns, last.device_ns, last.finish_ns];
        assert!(spent[1..].iter().all(|time| *time > 0), "{spent:?}");
        // Final: later polls say the same.
        std::thread::sleep(Duration::from_millis(5));
        let again = job.poll();
        assert_eq!([again.queued_ns, again.prepare_ns, again.device_ns, again.finish_ns], spent);
        assert_eq!(job.finalize().unwrap(), setup.expected());
    }
    // Two slots, four jobs: somebody was seen waiting, somebody at work.
    assert!(seen.iter().flatten().any(|state| (1..=3).contains(state)), "{seen:?}");
    assert!(last[3].queued_ns > last[0].queued_ns, "the last job waited no longer than the first");
}

fn check_order(before: &groth16_progress, now: &groth16_progress, begin: Instant) {
    let phase = |progress: &groth16_progress| progress.state;
    assert!(phase(now) >= phase(before), "state {} after {}", now.state, before.state);
    assert!(now.abc_released >= before.abc_released);
    assert_eq!(now.struct_size, size_of::<groth16_progress>());
    assert_eq!((now.device, now.retries), (-1, 0));
    let times = |p: &groth16_progress| [p.queued_ns, p.prepare_ns, p.device_ns, p.finish_ns];
    for (before, now) in times(before).iter().zip(times(now)) {
        assert!(now >= *before, "time went back from {before} to {now}");
    }
    let total: u64 = times(now).iter().sum();
    assert!(u128::from(total) <= begin.elapsed().as_nanos(), "{total} ns in phases, more than have passed");
}

#[test]
fn a_held_job_holds_its_slot_and_others_queue() {
    let _watchdog = Watchdog::new("held job", 60);
    let setup = Setup::with_one_slot(1);
    let gate = Gate::new();
    let held = setup.start_held(&gate);
    let queued = setup.start(setup.fixture.request(Form::Canonical));
    let first = (held.poll(), queued.poll());
    std::thread::sleep(Duration::from_millis(20));
    let then = (held.poll(), queued.poll());
    assert_eq!((then.0.state, then.1.state), (state::PREPARING, state::QUEUED));
    // The running phase counts, the others do not.
    assert!(then.0.prepare_ns >= first.0.prepare_ns + 15_000_000);
    assert_eq!((then.0.queued_ns, then.0.device_ns, then.0.finish_ns), (first.0.queued_ns, 0, 0));
    assert!(then.1.queued_ns >= first.1.queued_ns + 15_000_000);
    assert_eq!(then.1.prepare_ns, 0);

    let full = setup.engine.start(&setup.key, Some(&setup.circuit), &Arc::new(setup.fixture.request(Form::Canonical)));
    let failure = full.map(|_| ()).unwrap_err();
    assert_eq!(failure.status, status::QUEUE_FULL);
    assert!(failure.message.contains("1 jobs are queued"), "{failure:?}");

    // wait: 0 only looks, a short time runs out.
    for timeout in [0, 1, MOMENT] {
        let begin = Instant::now();
        assert_eq!(held.wait(timeout).unwrap_err().status, status::TIMEOUT);
        assert!(begin.elapsed() >= Duration::from_nanos(timeout as u64), "{timeout}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{timeout}");
    }
    gate.open();
    for job in [&*held, &queued] {
        job.wait(-1).unwrap();
        job.wait(0).unwrap();
        job.wait(i64::MIN).unwrap();
        job.wait(i64::MAX).unwrap();
        assert_eq!(job.finalize().unwrap(), setup.expected());
    }
    // The queue is free again.
    assert_eq!(setup.start(setup.fixture.request(Form::Canonical)).finalize().unwrap(), setup.expected());
}

#[test]
fn start_returns_before_the_proof_is_done() {
    let setup = large();
    let begin = Instant::now();
    let job = setup.start(setup.fixture.request(Form::Canonical));
    let started = begin.elapsed();
    job.wait(-1).unwrap();
    assert!(started < begin.elapsed() / 2, "start took {started:?} of {:?}", begin.elapsed());
    assert_eq!(job.finalize().unwrap(), setup.expected());
}

#[test]
fn higher_priorities_go_first_and_equal_ones_in_order() {
    let _watchdog = Watchdog::new("priorities", 60);
    let setup = Setup::with_one_slot(64);
    let gate = Gate::new();
    let held = setup.start_held(&gate);
    let (sender, order) = std::sync::mpsc::channel();
    let priorities = [0, 5, -3, 5, 0, i32::MAX, i32::MIN, 1];
    let start = |(number, priority): (usize, &i32)| {
        let sender = sender.clone();
        // With one slot the next job prepares only when this one's kernels have ended.
        let tell = move |_, event| {
            if event == super::event::ABC_RELEASED {
                sender.send(number).unwrap();
            }
        };
        let on_event = Some(Box::new(tell) as handles::OnEvent);
        setup.start(Request { priority: *priority, on_event, ..setup.fixture.request(Form::Canonical) })
    };
    let jobs: Vec<_> = priorities.iter().enumerate().map(start).collect();
    gate.open();
    for job in jobs.iter().chain([&*held]) {
        assert_eq!(job.finalize().unwrap(), setup.expected());
    }
    let order: Vec<usize> = order.try_iter().collect();
    assert_eq!(order, [5, 1, 3, 7, 0, 4, 2, 6]);
}

#[test]
fn finalize_asks_the_size_repeats_and_keeps_within_the_buffer() {
    let setup = Setup::with_one_slot(4);
    for (format, size) in [(0, 192), (1, 384), (2, setup.fixture.proof.to_json().len())] {
        let job = setup.start(Request { proof_format: format, ..setup.fixture.request(Form::Canonical) });
        let finalize = |buffer: *mut u8, cap: usize| {
            let mut len = usize::MAX;
            // SAFETY: the handle is live, the buffer has its capacity or is NULL with none.
            let status = unsafe { (api().groth16_finalize)(job.raw(), buffer.cast(), cap, &raw mut len) };
            (status, len)
        };
        assert_eq!(finalize(std::ptr::null_mut(), 0), (status::TOO_SMALL, size));
        assert!(api().last_error().contains(&size.to_string()), "{}", api().last_error());
        let short = Guarded::new(&vec![0xa5; size - 1]);
        assert_eq!(finalize(short.pointer(), size - 1), (status::TOO_SMALL, size));
        assert_eq!(short.bytes(), vec![0xa5; size - 1], "a buffer that is too small was written");
        // A page that may not be touched follows.
        let exact = Guarded::new(&vec![0xa5; size]);
        assert_eq!(finalize(exact.pointer(), size), (0, size));
        let long = Guarded::new(&vec![0xa5; size + 100]);
        assert_eq!(finalize(long.pointer(), size + 100), (0, size));
        assert_eq!(long.bytes()[..size], exact.bytes());
        assert_eq!(long.bytes()[size..], [0xa5; 100]);
        if format == 0 {
            assert_eq!(exact.bytes(), setup.expected());
        }
    }
}

#[test]
fn handles_are_freed_in_any_order() {
    let _watchdog = Watchdog::new("free in any order", 120);
    // Which of engine, key, circuit and job goes when: all 24 orders, right after start.
    for order in 0..24usize {
        let Setup { fixture, engine, circuit, key } = Setup::with_one_slot(4);
        let request = Arc::new(fixture.request(Form::Canonical));
        let job = engine.start(&key, Some(&circuit), &request).unwrap();
        let mut left: Vec<Box<dyn std::any::Any>> =
            vec![Box::new(engine), Box::new(key), Box::new(circuit), Box::new(job)];
        let mut code = order;
        for choices in (1..=4).rev() {
            drop(left.remove(code % choices));
            code /= choices;
        }
        // Nobody holds the memory that the job borrowed.
        assert_eq!(Arc::strong_count(&request), 1);
    }
}

#[test]
fn key_and_circuit_may_be_freed_right_after_start() {
    let Setup { fixture, engine, circuit, key } = Setup::with_one_slot(4);
    let start = |_| engine.start(&key, Some(&circuit), &Arc::new(fixture.request(Form::Canonical))).unwrap();
    let jobs: Vec<Job> = (0..3).map(start).collect();
    drop((key, circuit));
    for job in jobs {
        assert_eq!(job.finalize().unwrap(), fixture.proof.to_compressed());
    }
}

#[test]
fn keys_and_finished_jobs_outlive_their_engine() {
    let Setup { fixture, engine, circuit, key } = Setup::with_one_slot(4);
    let job = engine.start(&key, Some(&circuit), &Arc::new(fixture.request(Form::Canonical))).unwrap();
    job.wait(-1).unwrap();
    drop((engine, circuit));
    assert_eq!(job.poll().state, state::DONE);
    job.cancel();
    job.wait(0).unwrap();
    let proof = job.finalize().unwrap();
    assert_eq!(proof, fixture.proof.to_compressed());
    assert!(key.verify(&fixture.public(), &proof).unwrap());
}

#[test]
fn free_cancels_and_waits_for_the_scalars() {
    let _watchdog = Watchdog::new("free right after start", 60);
    let setup = large();
    let begin = Instant::now();
    let proof_time = {
        setup.start(setup.fixture.request(Form::Canonical)).finalize().unwrap();
        begin.elapsed()
    };
    for delay in [0, 1, 4, 16, 64] {
        let mut request = setup.fixture.request(Form::Canonical);
        let job =
            setup.engine.start(&setup.key, Some(&setup.circuit), &Arc::new(std::mem::take(&mut request))).unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        let begin = Instant::now();
        drop(job);
        assert!(begin.elapsed() < proof_time * 4 + Duration::from_secs(1), "free took {:?}", begin.elapsed());
    }
    // The engine is as good as before.
    assert_eq!(setup.start(setup.fixture.request(Form::Canonical)).finalize().unwrap(), setup.expected());
}

#[test]
fn cancel_ends_a_queued_job_at_once_and_a_running_one_soon() {
    let _watchdog = Watchdog::new("cancel", 60);
    let setup = Setup::with_one_slot(4);
    let gate = Gate::new();
    let held = setup.start_held(&gate);
    let queued = setup.start(setup.fixture.request(Form::Canonical));
    queued.cancel();
    queued.wait(5_000_000_000).unwrap();
    let progress = queued.poll();
    assert_eq!((progress.state, progress.result), (state::CANCELLED, status::CANCELLED));
    assert_eq!((progress.prepare_ns, progress.device_ns, progress.finish_ns), (0, 0, 0));
    for _ in 0..2 {
        let failure = queued.finalize().unwrap_err();
        assert_eq!(failure.status, status::CANCELLED);
        assert!(failure.message.contains("cancelled"), "{failure:?}");
    }
    held.cancel();
    held.cancel();
    gate.open();
    held.wait(-1).unwrap();
    assert_eq!((held.poll().state, held.finalize().unwrap_err().status), (state::CANCELLED, status::CANCELLED));
    // Too late to matter.
    let done = setup.start(setup.fixture.request(Form::Canonical));
    done.wait(-1).unwrap();
    done.cancel();
    assert_eq!(done.poll().state, state::DONE);
    assert_eq!(done.finalize().unwrap(), setup.expected());
}

#[test]
fn jobs_cancelled_at_any_moment_are_cancelled_or_done() {
    let _watchdog = Watchdog::new("cancel at any moment", 120);
    let setup = Setup::new(&Shape::new(500, 3, 6), Engine::new(|options| options.cpu_threads = 3).unwrap());
    for microseconds in (0..60).map(|i| i * 150) {
        let job = setup.start(setup.fixture.request(Form::Canonical));
        std::thread::sleep(Duration::from_micros(microseconds));
        job.cancel();
        job.wait(-1).unwrap();
        match job.finalize() {
            Ok(proof) => assert_eq!((job.poll().state, proof), (state::DONE, setup.expected())),
            Err(failure) => assert_eq!((job.poll().state, failure.status), (state::CANCELLED, status::CANCELLED)),
        }
    }
}

#[test]
fn freeing_the_engine_shuts_queued_jobs_down() {
    let _watchdog = Watchdog::new("shutdown", 60);
    let gate = Gate::new();
    let setup = Setup::with_one_slot(8);
    let held = setup.start_held(&gate);
    let queued: Vec<_> = (0..3).map(|_| setup.start(setup.fixture.request(Form::Canonical))).collect();
    let Setup { engine, .. } = setup;
    // Nothing is asserted before the gate is open: a test that fails shall not hang.
    let freeing = std::thread::spawn(move || drop(engine));
    let waited: Vec<_> = queued.iter().map(|job| job.wait(20_000_000_000)).collect();
    std::thread::sleep(Duration::from_millis(20));
    let waits_for_the_callback = !freeing.is_finished();
    gate.open();
    freeing.join().unwrap();
    assert!(waits_for_the_callback);
    for (job, waited) in queued.iter().zip(waited) {
        assert_eq!(waited, Ok(()));
        assert_eq!((job.poll().state, job.poll().result), (state::FAILED, status::SHUTDOWN));
        let failure = job.finalize().unwrap_err();
        assert_eq!(failure.status, status::SHUTDOWN);
        assert!(failure.message.contains("freed"), "{failure:?}");
    }
    assert_eq!(held.poll().state, state::FAILED);
    assert_eq!(held.finalize().unwrap_err().status, status::SHUTDOWN);
}

#[test]
fn an_engine_is_freed_while_it_works() {
    let _watchdog = Watchdog::new("free a busy engine", 120);
    for microseconds in [0, 200, 1000, 5000, 20_000] {
        let setup = Setup::new(&Shape::new(300, 3, 8), Engine::new(|options| options.cpu_threads = 2).unwrap());
        let jobs: Vec<_> = (0..12).map(|_| setup.start(setup.fixture.request(Form::Canonical))).collect();
        std::thread::sleep(Duration::from_micros(microseconds));
        let expected = setup.expected();
        drop(setup);
        for job in jobs {
            // Terminal already.
            job.wait(0).unwrap();
            match job.finalize() {
                Ok(proof) => assert_eq!(proof, expected),
                Err(failure) => assert_eq!(failure.status, status::SHUTDOWN),
            }
        }
    }
}

#[test]
fn the_message_of_a_failed_job_reaches_the_thread_that_finalizes() {
    let setup = Setup::with_one_slot(4);
    let mut witness = setup.fixture.witness.clone();
    witness[0] = groth16::math::fr::Fr::from(2);
    let job = setup.start(setup.fixture.request_of(&witness, Form::Canonical));
    job.wait(-1).unwrap();
    let in_other_thread =
        std::thread::scope(|scope| scope.spawn(|| (job.finalize().unwrap_err(), api().last_error())).join().unwrap());
    assert_eq!(in_other_thread.0.status, status::INVALID);
    assert!(in_other_thread.1.contains("inputs[0] is not one"), "{in_other_thread:?}");
    assert_eq!(api().last_error(), "", "another thread's message");
}

#[test]
fn a_small_stack_is_enough_for_the_caller() {
    let setup = Arc::new(Setup::new(&Shape::new(600, 3, 4), Engine::new(|_| ()).unwrap()));
    let inner = Arc::clone(&setup);
    let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(move || {
        let Fixture { key, .. } = &inner.fixture;
        let loaded = inner.engine.key_from_bytes(key, &inner.circuit).unwrap();
        let job = inner.engine.start(&loaded, Some(&inner.circuit), &Arc::new(inner.fixture.request(Form::Canonical)));
        let proof = job.unwrap().finalize().unwrap();
        assert!(loaded.verify(&inner.fixture.public(), &proof).unwrap());
        proof
    });
    assert_eq!(thread.unwrap().join().unwrap(), setup.expected());
}
