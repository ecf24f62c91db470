//! Real proofs through the real engine, against the textbook prover: what files cannot carry is tested here.

use std::sync::Arc;

use crate::engine::Engine;
use crate::engine::budget::Budget;
use crate::engine::config::Config;
use crate::engine::proof::{Groth16, LoadedKey, ProofInput, RowSource};
use crate::error::{Result, Status};
use crate::formats::proof::Proof;
use crate::gpu::host::Host;
use crate::math::curve::Affine;
use crate::math::fr::Fr;
use crate::prover::circuit::Circuit;
use crate::prover::epilogue::Blinding;
use crate::prover::key::ProvingKey;
use crate::prover::reference;
use crate::prover::setup::{Trapdoor, setup};
use crate::prover::synthetic::{self, Shape};
use crate::prover::witness::{ScalarForm, Scalars};

struct Case {
    circuit: Arc<Circuit>,
    witness: Vec<Fr>,
    key: ProvingKey,
}

fn case(rows: usize, inputs: usize) -> Case {
    let (circuit, witness) = synthetic::circuit(&Shape::new(rows, inputs, 11)).unwrap();
    let params = setup(&circuit, &Trapdoor::from_seed(5)).unwrap();
    let key = ProvingKey::from_bellman_with_circuit(params, &circuit).unwrap();
    Case { circuit: Arc::new(circuit), witness, key }
}

fn scalars(name: &'static str, values: &[Fr]) -> Scalars {
    let bytes: Vec<u8> = values.iter().flat_map(Fr::to_le_bytes).collect();
    Scalars::new(name, Box::new(bytes), ScalarForm::Canonical).unwrap()
}

fn prove(engine: &Engine<Groth16>, case: &Case, key: ProvingKey, self_check: bool) -> Result<Proof> {
    let permit = engine.host_budget().take(1, "the key", Status::NoMemory)?;
    let (inputs, aux) = case.witness.split_at(key.num_inputs);
    let input = ProofInput {
        key: Arc::new(LoadedKey::new(key, permit)?),
        rows: RowSource::Circuit(Arc::clone(&case.circuit)),
        inputs: scalars("inputs", inputs),
        aux: scalars("aux", aux),
        blinding: Blinding::new(&Fr::from(7), &Fr::from(9))?,
        self_check,
    };
    input.check_sizes()?;
    let job = engine.create(input, None);
    engine.submit(&job, 0)?;
    job.wait(None);
    job.result().unwrap()
}

fn engine() -> Engine<Groth16> {
    Engine::new(&Config { cpu_threads: 2, ..Config::default() }, Groth16, vec![Host]).unwrap()
}

/// Replaces points at the given places by infinity.
fn put_infinity<F: crate::math::curve::CurveField>(points: &mut [Affine<F>], places: &str) {
    let last = points.len().saturating_sub(1);
    for (i, point) in points.iter_mut().enumerate() {
        let chosen = match places {
            "first" => i == 0,
            "last" => i == last,
            "middle" => i == last / 2,
            _ => true,
        };
        if chosen {
            *point = Affine::INFINITY;
        }
    }
}

#[test]
fn infinity_anywhere_in_a_key_is_taken_as_zero() {
    let engine = engine();
    for rows in [5, 60] {
        let case = case(rows, 3);
        for places in ["first", "middle", "last", "all"] {
            for query in ["a", "b1", "b2", "l", "h", "every"] {
                let mut key = case.key.clone();
                let hit = |name| query == name || query == "every";
                if hit("a") {
                    put_infinity(&mut key.a.points, places);
                }
                if hit("b1") {
                    put_infinity(&mut key.b1.points, places);
                }
                if hit("b2") {
                    put_infinity(&mut key.b2.points, places);
                }
                if hit("l") {
                    put_infinity(&mut key.l, places);
                }
                if hit("h") {
                    put_infinity(&mut key.h, places);
                }
                let wanted = reference::prove(&key, &case.circuit, &case.witness, Fr::from(7), Fr::from(9)).unwrap();
                let got = prove(&engine, &case, key, false).unwrap();
                assert_eq!(got, wanted, "{rows} rows, infinity at {places} of {query}");
            }
        }
    }
}

#[test]
fn a_key_that_was_damaged_in_memory_gives_no_proof() {
    let engine = engine();
    let case = case(30, 2);
    for query in ["a", "b2", "l", "h"] {
        let mut key = case.key.clone();
        match query {
            "a" => key.a.points[1] = key.a.points[0],
            "b2" => key.b2.points[1] = key.b2.points[0],
            "l" => key.l[1] = key.l[0],
            _ => key.h[1] = key.h[0],
        }
        assert_eq!(prove(&engine, &case, key, true).unwrap_err().status(), Status::SelfCheck, "{query}");
    }
    assert!(prove(&engine, &case, case.key.clone(), true).is_ok());
}

#[test]
fn memory_is_a_budget() {
    let case = case(30, 2);
    let config = Config { cpu_threads: 1, host_bytes_limit: 1000, ..Config::default() };
    let small = Engine::new(&config, Groth16, vec![Host]).unwrap();
    let error = prove(&small, &case, case.key.clone(), true).unwrap_err();
    assert_eq!(error.status(), Status::NoMemory);
    assert!(error.message().contains("the limit is 1000"), "{error}");

    let budget = Budget::new("test", 10);
    let seven = budget.take(7, "a", Status::QueueFull).unwrap();
    assert_eq!(budget.take(4, "b", Status::QueueFull).unwrap_err().status(), Status::QueueFull);
    assert_eq!(budget.take(11, "b", Status::QueueFull).unwrap_err().status(), Status::NoMemory);
    let three = budget.take(3, "b", Status::QueueFull).unwrap();
    assert_eq!((budget.used(), seven.bytes(), three.bytes()), (10, 7, 3));
    drop((seven, three));
    assert_eq!(budget.used(), 0);
    let unlimited = Budget::new("test", 0);
    let most = unlimited.take(u64::MAX, "a", Status::QueueFull).unwrap();
    assert_eq!(unlimited.take(1, "b", Status::QueueFull).unwrap_err().status(), Status::QueueFull);
    drop(most);
}

#[test]
fn metrics_and_trace_tell_what_ran() {
    let engine = engine();
    let case = case(30, 2);
    for _ in 0..3 {
        prove(&engine, &case, case.key.clone(), true).unwrap();
    }
    let pinned = Budget::new("pinned", 0);
    let text = engine.metrics(&pinned);
    for line in [
        "groth16_jobs_started_total 3",
        "groth16_jobs_ended_total{result=\"done\"} 3",
        "groth16_queued_jobs 0",
        "groth16_stage_seconds_count{stage=\"g2\"} 3",
        "groth16_stage_seconds_bucket{stage=\"device\",le=\"+Inf\"} 3",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
    }
    let trace = engine.timeline().record().chrome_trace();
    let events = trace["traceEvents"].as_array().unwrap();
    // Serial lanes hold one complete event for each span, the others a beginning and an end.
    let count = |stage: &str, phase: &str| events.iter().filter(|e| e["cat"] == stage && e["ph"] == phase).count();
    assert_eq!([count("device", "X"), count("g2", "X"), count("prepare", "b"), count("finish", "e")], [3; 4]);
    // The engine idles from its first moment on; all else comes later.
    assert!(events.iter().all(|e| e["ph"] == "M" || e["cat"] == "idle" || e["ts"].as_f64().unwrap() > 0.0));
}
