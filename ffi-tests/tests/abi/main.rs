//! The library through its C ABI, used as the header says: proofs byte by byte, and the split pipeline.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod events;
mod info;
mod pipeline;
mod proofs;
mod repeat;

use std::sync::{Arc, Condvar, Mutex};

use ffi_tests::fixture::{Fixture, Form};
use ffi_tests::handles::{Circuit, Engine, Job, Key, Request};
use ffi_tests::status;
use groth16::prover::synthetic::Shape;

/// Values of `groth16_state`.
mod state {
    pub const QUEUED: i32 = 0;
    pub const PREPARING: i32 = 1;
    pub const DONE: i32 = 16;
    pub const FAILED: i32 = 17;
    pub const CANCELLED: i32 = 18;
}

/// Values of `groth16_event`.
mod event {
    pub const ABC_RELEASED: i32 = 1;
    pub const TERMINAL: i32 = 2;
}

/// An engine with a loaded fixture.
struct Setup {
    fixture: Fixture,
    engine: Engine,
    circuit: Circuit,
    key: Key,
}

impl Setup {
    fn new(shape: &Shape, engine: Engine) -> Self {
        let fixture = Fixture::new(shape);
        let circuit = engine.circuit_from_bytes(&fixture.r1cs_bytes()).unwrap();
        let key = engine.key_from_bytes(&fixture.key, &circuit).unwrap();
        Self { fixture, engine, circuit, key }
    }

    /// Some rows; an engine with one slot.
    fn with_one_slot(max_queued_jobs: u64) -> Self {
        let engine = Engine::new(|options| {
            options.cpu_threads = 3;
            options.jobs_per_device = 1;
            options.max_queued_jobs = max_queued_jobs;
        });
        Self::new(&Shape::new(50, 3, 5), engine.unwrap())
    }

    fn expected(&self) -> Vec<u8> {
        self.fixture.proof.to_compressed().to_vec()
    }

    /// A job with the circuit.
    fn start(&self, request: Request) -> Job {
        self.engine.start(&self.key, Some(&self.circuit), &Arc::new(request)).unwrap()
    }

    /// A job that stays in the state PREPARING, in its slot, until the gate is open.
    fn start_held(&self, gate: &Gate) -> Held {
        let own_gate = gate.clone();
        let (sender, held) = std::sync::mpsc::channel();
        let hold = move |_, event| {
            if event == event::ABC_RELEASED {
                sender.send(()).unwrap();
                own_gate.pass();
            }
        };
        let job = self.start(Request { on_event: Some(Box::new(hold)), ..self.fixture.request(Form::Canonical) });
        held.recv().unwrap();
        Held { job, gate: gate.clone() }
    }
}

/// A job that waits at a gate, which opens when the job is dropped: freeing it waits for its callback.
struct Held {
    job: Job,
    gate: Gate,
}

impl std::ops::Deref for Held {
    type Target = Job;
    fn deref(&self) -> &Job {
        &self.job
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gate.open();
    }
}

/// Holds threads back until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<GateState>);

#[derive(Default)]
struct GateState {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn new() -> Self {
        Self::default()
    }

    fn open(&self) {
        *self.0.open.lock().unwrap() = true;
        self.0.opened.notify_all();
    }

    fn pass(&self) {
        let mut open = self.0.open.lock().unwrap();
        while !*open {
            open = self.0.opened.wait(open).unwrap();
        }
    }
}
