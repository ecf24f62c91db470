//! The library through its C ABI, used wrongly or fed with damaged data: each time a status and a message that names
//! the place, never a crash, a hang or a wrong proof.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// Most calls here go to raw functions with handles of the fixture that are live; what is hostile is said at each.
#![allow(clippy::undocumented_unsafe_blocks)]

mod arguments;
mod borders;
mod counts;
mod environment;
mod files;
mod fork;
mod gnark;
mod structs;
mod verify;
mod witness;

use std::sync::Arc;

use ffi_tests::capi::api;
use ffi_tests::fixture::{Fixture, Form};
use ffi_tests::handles::{Circuit, Engine, Failure, Job, Key, Outcome, Request};
use ffi_tests::status;
use groth16::prover::synthetic::Shape;

/// An engine with a loaded fixture.
struct Setup {
    fixture: Fixture,
    engine: Engine,
    circuit: Circuit,
    key: Key,
}

impl Setup {
    fn new(shape: &Shape) -> Self {
        let fixture = Fixture::new(shape);
        let engine = Engine::new(|options| options.cpu_threads = 2).unwrap();
        let circuit = engine.circuit_from_bytes(&fixture.r1cs_bytes()).unwrap();
        let key = engine.key_from_bytes(&fixture.key, &circuit).unwrap();
        Self { fixture, engine, circuit, key }
    }

    fn small() -> Self {
        Self::new(&Shape::new(20, 3, 21))
    }

    fn start(&self, circuit: bool, request: Request) -> Outcome<Job> {
        self.engine.start(&self.key, circuit.then_some(&self.circuit), &Arc::new(request))
    }

    fn prove(&self, circuit: bool, request: Request) -> Outcome<Vec<u8>> {
        self.start(circuit, request)?.finalize()
    }

    /// The engine still makes right proofs.
    fn check_health(&self) {
        let proof = self.prove(true, self.fixture.request(Form::Canonical)).unwrap();
        assert_eq!(proof, self.fixture.proof.to_compressed());
    }
}

/// The status, with its message.
fn outcome(status: i32) -> Outcome<()> {
    ffi_tests::handles::check(status)
}

/// Fails unless the result is this status with a message that contains all these texts.
#[track_caller]
fn assert_fails<T>(result: Outcome<T>, status: i32, texts: &[&str]) {
    let Err(Failure { status: got, message }) = result else {
        panic!("succeeded, wanted {} with {texts:?}", api().status_name(status))
    };
    let (got, wanted) = (api().status_name(got), api().status_name(status));
    assert_eq!(got, wanted, "{message}");
    for text in texts {
        assert!(message.contains(text), "{wanted}: no \"{text}\" in: {message}");
    }
}
