//! The same job gives the same bytes, however often, from however many threads, on however many threads.

use std::sync::Arc;

use ffi_tests::fixture::{Fixture, Form};
use ffi_tests::handles::Engine;
use groth16::prover::synthetic::Shape;

use super::Setup;

/// A thousand times with the environment variable GROTH16_SOAK.
#[test]
fn two_hundred_times_and_from_four_threads() {
    let setup = Setup::new(&Shape::new(60, 4, 9), Engine::new(|options| options.cpu_threads = 3).unwrap());
    let expected = setup.expected();
    let times = if std::env::var_os("GROTH16_SOAK").is_some() { 1000 } else { 200 };
    for _ in 0..times {
        assert_eq!(setup.start(setup.fixture.request(Form::Canonical)).finalize().unwrap(), expected);
    }
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (setup, expected) = (&setup, &expected);
            scope.spawn(move || {
                for turn in 0..30 {
                    let form = if turn % 2 == 0 { Form::Canonical } else { Form::Montgomery };
                    let job = setup.start(setup.fixture.request(form));
                    assert_eq!(&job.finalize().unwrap(), expected, "thread {thread}, turn {turn}");
                }
            });
        }
    });
}

#[test]
fn numbers_of_threads_and_slots() {
    let fixture = Fixture::with_rows(300, 5);
    for (threads, slots) in [(1, 1), (1, 2), (2, 64), (3, 1), (7, 3), (64, 2), (0, 0)] {
        prove_on(&fixture, threads, slots, 4);
    }
    for threads in [127, 128, 129, 256, 1024] {
        prove_on(&fixture, threads, 0, 1);
    }
}

fn prove_on(fixture: &Fixture, threads: u32, slots: u32, jobs: usize) {
    let engine = Engine::new(|options| {
        options.cpu_threads = threads;
        options.jobs_per_device = slots;
    });
    let engine = engine.unwrap();
    let circuit = engine.circuit_from_bytes(&fixture.r1cs_bytes()).unwrap();
    let key = engine.key_from_bytes(&fixture.key, &circuit).unwrap();
    let start = |_| engine.start(&key, Some(&circuit), &Arc::new(fixture.request(Form::Canonical))).unwrap();
    let jobs: Vec<_> = (0..jobs).map(start).collect();
    for job in jobs {
        assert_eq!(job.finalize().unwrap(), fixture.proof.to_compressed(), "{threads} threads, {slots} slots");
    }
}

#[test]
fn eight_threads_with_twenty_proofs_and_one_key_or_two() {
    for keys in [1, 2] {
        eight_threads_with_twenty_proofs(keys);
    }
}

fn eight_threads_with_twenty_proofs(num_keys: usize) {
    let engine = Engine::new(|options| {
        options.cpu_threads = 4;
        options.max_queued_jobs = 1000;
    });
    let engine = engine.unwrap();
    let fixtures = [Fixture::with_rows(30, 2), Fixture::with_rows(130, 9)];
    let circuits = fixtures.each_ref().map(|fixture| engine.circuit_from_bytes(&fixture.r1cs_bytes()).unwrap());
    let keys = [0, 1].map(|i| engine.key_from_bytes(&fixtures[i].key, &circuits[i]).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (engine, fixtures, circuits, keys) = (&engine, &fixtures, &circuits, &keys);
            scope.spawn(move || {
                let start = |turn: usize| {
                    let which = (thread + turn) % num_keys;
                    let fixture = &fixtures[which];
                    let with_circuit = !turn.is_multiple_of(3);
                    let request = if with_circuit {
                        fixture.request(Form::Canonical)
                    } else {
                        fixture.evaluated_request(Form::Montgomery, turn.is_multiple_of(2))
                    };
                    let circuit = with_circuit.then_some(&circuits[which]);
                    (which, engine.start(&keys[which], circuit, &Arc::new(request)).unwrap())
                };
                // Half of them at once, then one by one.
                let jobs: Vec<_> = (0..10).map(start).collect();
                for (which, job) in jobs.into_iter().rev().chain((10..20).map(start)) {
                    assert_eq!(job.finalize().unwrap(), fixtures[which].proof.to_compressed());
                }
            });
        }
    });
}
