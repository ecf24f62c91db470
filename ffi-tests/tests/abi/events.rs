//! What a host's event function sees and may do.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use ffi_tests::capi::{api, init};
use ffi_tests::fixture::Form;
use ffi_tests::handles::{self, OnEvent, Request};
use ffi_tests::memory::Watchdog;
use groth16::ffi::job::groth16_job;

use super::{Gate, Setup, event, state, status};

fn with_event(setup: &Setup, on_event: OnEvent) -> Request {
    Request { on_event: Some(on_event), ..setup.fixture.request(Form::Canonical) }
}

#[test]
fn released_at_most_once_and_before_terminal_exactly_once() {
    let _watchdog = Watchdog::new("events", 60);
    let setup = Setup::with_one_slot(100);
    let log: Arc<Mutex<Vec<(usize, usize, i32)>>> = Arc::default();
    let mut wrong = setup.fixture.witness.clone();
    wrong[0] = groth16::math::fr::Fr::from(5);
    let start = |number: usize| {
        let log = Arc::clone(&log);
        let tell = move |job: *mut groth16_job, event| log.lock().unwrap().push((number, job as usize, event));
        let mut request = with_event(&setup, Box::new(tell));
        if number % 4 == 1 {
            request.inputs = setup.fixture.request_of(&wrong, Form::Canonical).inputs;
        }
        let job = setup.start(request);
        if number % 4 == 2 {
            job.cancel();
        }
        job
    };
    let jobs: Vec<_> = (0..40).map(start).collect();
    jobs.iter().for_each(|job| job.wait(-1).unwrap());
    let handles: Vec<usize> = jobs.iter().map(|job| job.raw() as usize).collect();
    let states: Vec<i32> = jobs.iter().map(|job| job.poll().state).collect();
    let released: Vec<u32> = jobs.iter().map(|job| job.poll().abc_released).collect();
    // Frees return only when the callbacks have.
    drop(jobs);
    let log = log.lock().unwrap();
    for (number, handle) in handles.iter().enumerate() {
        let mine: Vec<_> = log.iter().filter(|entry| entry.0 == number).collect();
        assert!(mine.iter().all(|entry| entry.1 == *handle), "job {number}: another handle in the callback");
        let events: Vec<i32> = mine.iter().map(|entry| entry.2).collect();
        let both: &[i32] = &[event::ABC_RELEASED, event::TERMINAL];
        assert!(events == both || events == both[1..], "job {number}: {events:?}");
        assert!(states[number] != state::DONE || events == both, "job {number}: {events:?}");
        assert_eq!(released[number], 1, "job {number}");
    }
    assert!(states.contains(&state::DONE) && states.contains(&state::FAILED) && states.contains(&state::CANCELLED));
}

#[test]
fn a_refused_job_has_no_event() {
    let setup = Setup::with_one_slot(1);
    let gate = Gate::new();
    let _held = setup.start_held(&gate);
    let _queued = setup.start(setup.fixture.request(Form::Canonical));
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let count_one = move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
    };
    // Never freed: were the job not refused, it would borrow from it.
    let request: &Request = Box::leak(Box::new(with_event(&setup, Box::new(count_one))));
    let untouched = 0x1230 as *mut groth16_job;
    let (mut job, options) = (untouched, request.options(Some(&setup.circuit)));
    // SAFETY: the handles are live, the request outlives the call, the pointer is writable.
    let status =
        unsafe { (api().groth16_start)(setup.engine.raw(), setup.key.raw(), &raw const options, &raw mut job) };
    assert_eq!((status, job), (status::QUEUE_FULL, untouched));
    gate.open();
    drop(setup);
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn finalize_and_free_inside_the_terminal_event() {
    let _watchdog = Watchdog::new("free in the callback", 60);
    let setup = Setup::with_one_slot(100);
    let (sender, proofs) = channel();
    for _ in 0..50 {
        let sender = sender.clone();
        let take = move |job, event| {
            if event == event::TERMINAL {
                // SAFETY: the handle is live inside its callback.
                let (proof, progress) = unsafe { (handles::finalize(job), handles::poll(job)) };
                assert_eq!(progress.state, state::DONE);
                // SAFETY: the thread in start uses the handle no more.
                unsafe { (api().groth16_free)(job) };
                sender.send(proof).unwrap();
            }
        };
        let request = Arc::new(with_event(&setup, Box::new(take)));
        let options = request.options(Some(&setup.circuit));
        // The borrowed memory stays for ever: this thread does not know when the job ends.
        std::mem::forget(request);
        let mut job = std::ptr::null_mut();
        // SAFETY: the handles are live, the pointer is writable.
        let status =
            unsafe { (api().groth16_start)(setup.engine.raw(), setup.key.raw(), &raw const options, &raw mut job) };
        assert_eq!(status, 0);
    }
    for _ in 0..50 {
        assert_eq!(proofs.recv().unwrap().unwrap(), setup.expected());
    }
}

#[test]
fn calls_that_could_wait_are_refused_inside_an_event() {
    let _watchdog = Watchdog::new("waiting in a callback", 60);
    let setup = Arc::new(Setup::with_one_slot(8));
    let gate = Gate::new();
    let (sender, answers) = channel();
    let other: Arc<AtomicPtr<groth16_job>> = Arc::default();
    let (inner, inner_gate, inner_other) = (Arc::clone(&setup), gate.clone(), Arc::clone(&other));
    let try_all = move |job: *mut groth16_job, event| {
        if event != event::ABC_RELEASED {
            return;
        }
        inner_gate.pass();
        let other = inner_other.load(Ordering::SeqCst);
        let failures = vec![
            // SAFETY: both jobs are live.
            ("wait", handles::check(unsafe { (api().groth16_wait)(other, 1000) })),
            // SAFETY: as above.
            ("wait for ever", handles::check(unsafe { (api().groth16_wait)(other, -1) })),
            // SAFETY: as above.
            ("wait for itself", handles::check(unsafe { (api().groth16_wait)(job, -1) })),
            // SAFETY: as above.
            ("finalize", unsafe { handles::finalize(other) }.map(drop)),
            // SAFETY: as above.
            ("finalize itself", unsafe { handles::finalize(job) }.map(drop)),
            ("circuit_load", inner.engine.circuit_from_bytes(&inner.fixture.r1cs_bytes()).map(drop)),
            ("pk_load", inner.engine.key_from_bytes(&inner.fixture.key, &inner.circuit).map(drop)),
            ("engine_create", ffi_tests::handles::Engine::new(|_| ()).map(drop)),
        ];
        // Does nothing here.
        // SAFETY: a live handle.
        unsafe { (api().groth16_engine_free)(inner.engine.raw()) };
        // These are allowed.
        // SAFETY: a live handle; 0 only looks.
        let look = handles::check(unsafe { (api().groth16_wait)(other, 0) });
        // SAFETY: a live handle.
        let polled = unsafe { handles::poll(other) }.state;
        let started =
            inner.engine.start(&inner.key, Some(&inner.circuit), &Arc::new(inner.fixture.request(Form::Canonical)));
        sender.send((failures, look, polled, started)).unwrap();
    };
    let job = setup.start(with_event(&setup, Box::new(try_all)));
    let queued = setup.start(setup.fixture.request(Form::Canonical));
    other.store(queued.raw(), Ordering::SeqCst);
    gate.open();
    let (failures, look, polled, started) = answers.recv().unwrap();
    for (call, result) in failures {
        let failure = result.expect_err(call);
        assert_eq!(failure.status, status::INVALID, "{call}: {failure:?}");
        assert!(failure.message.contains("callback"), "{call}: {failure:?}");
    }
    assert_eq!(look.unwrap_err().status, status::TIMEOUT);
    assert_eq!(polled, state::QUEUED);
    for job in [job, queued, started.unwrap()] {
        assert_eq!(job.finalize().unwrap(), setup.expected());
    }
}

/// The thread of an event, for a job that is ended by `end` while it is queued.
fn thread_of_terminal(end: impl FnOnce(handles::Job, Setup, &Gate)) -> ThreadId {
    let setup = Setup::with_one_slot(8);
    let gate = Gate::new();
    let _held = setup.start_held(&gate);
    let (sender, threads) = channel();
    let tell = move |_, event| {
        if event == event::TERMINAL {
            let _ = sender.send(std::thread::current().id());
        }
    };
    let job = setup.start(with_event(&setup, Box::new(tell)));
    end(job, setup, &gate);
    threads.recv().unwrap()
}

#[test]
fn events_come_on_library_threads_only() {
    let _watchdog = Watchdog::new("threads of events", 60);
    let here = std::thread::current().id();
    let by_cancel = thread_of_terminal(|job, _, gate| {
        job.cancel();
        job.wait(-1).unwrap();
        gate.open();
    });
    assert_ne!(by_cancel, here, "cancel");
    let by_free = thread_of_terminal(|job, _, gate| {
        drop(job);
        gate.open();
    });
    assert_ne!(by_free, here, "free");
    let by_shutdown = thread_of_terminal(|job, setup, gate| {
        let gate = gate.clone();
        let opener = std::thread::spawn(move || {
            job.wait(-1).unwrap();
            gate.open();
            job
        });
        drop(setup);
        drop(opener.join().unwrap());
    });
    assert_ne!(by_shutdown, here, "engine_free");
}

#[test]
fn log_lines_come_through_with_their_level() {
    static LINES: Mutex<Vec<(i32, String)>> = Mutex::new(Vec::new());
    unsafe extern "C" fn log(user: *mut std::ffi::c_void, level: i32, text: *const std::ffi::c_char) {
        assert_eq!(user as usize, 0x77);
        // SAFETY: the library gives a string.
        let text = unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned();
        LINES.lock().unwrap().push((level, text));
    }
    for (level, wanted) in [(0, true), (3, true), (5, true), (2, false), (1, false)] {
        let mut options = init::<groth16::ffi::engine::groth16_engine_options>();
        options.log = Some(log);
        (options.log_user, options.log_level) = (0x77 as *mut _, level);
        let mut engine = std::ptr::null_mut();
        // SAFETY: the struct is set up, the pointer is writable; the handle is freed once.
        unsafe {
            assert_eq!((api().groth16_engine_create)(&raw const options, &raw mut engine), 0);
            (api().groth16_engine_free)(engine);
        }
        let lines = std::mem::take(&mut *LINES.lock().unwrap());
        assert_eq!(lines.iter().any(|(level, _)| *level == 3), wanted, "log level {level}: {lines:?}");
        assert!(lines.iter().all(|(_, text)| !text.contains('\n')));
    }
}
