//! Real proofs through the real engine, against the textbook prover: what files cannot carry is tested here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::engine::backend::Backend;
use crate::engine::budget::Budget;
use crate::engine::config::Config;
use crate::engine::proof::{Groth16, LoadedKey, ProofInput, Reload, RowSource};
use crate::engine::stages::Stop;
use crate::engine::timeline::Stage;
use crate::error::{Error, Result, Status};
use crate::formats::proof::Proof;
use crate::math::curve::Affine;
use crate::math::fr::Fr;
use crate::prover::circuit::Circuit;
use crate::prover::epilogue::Blinding;
use crate::prover::key::{InputRows, ProvingKey};
use crate::prover::reference;
use crate::prover::setup::{Trapdoor, expected_proof_with, setup, setup_gnark};
use crate::prover::synthetic::{self, Shape};
use crate::prover::witness::{ScalarForm, Scalars};
use crate::sync::{AtomicBool, AtomicU32, Ordering};

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
    let loaded = engine.load_key(1, || Ok((key, None)))?;
    prove_with(engine, case, &loaded, self_check)
}

fn prove_with(engine: &Engine<Groth16>, case: &Case, key: &Arc<LoadedKey>, self_check: bool) -> Result<Proof> {
    let job = engine.create(input(case, key, self_check)?, None);
    engine.submit(&job, 0)?;
    job.wait(None);
    job.result().unwrap()
}

fn input(case: &Case, key: &Arc<LoadedKey>, self_check: bool) -> Result<ProofInput> {
    let (inputs, aux) = case.witness.split_at(key.shape.num_inputs);
    let input = ProofInput {
        key: Arc::clone(key),
        rows: RowSource::Circuit(Arc::clone(&case.circuit)),
        inputs: scalars("inputs", inputs),
        aux: scalars("aux", aux),
        blinding: Blinding::new(&Fr::from(7), &Fr::from(9))?,
        self_check,
    };
    input.check_sizes()?;
    Ok(input)
}

fn engine() -> Engine<Groth16> {
    Engine::on(Backend::Cpu(1), &Config { cpu_threads: 2, ..Config::default() }, Box::new(|_| ())).unwrap()
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
fn proofs_of_gnark_keys_are_those_that_the_trapdoor_gives() {
    let engine = engine();
    let trapdoor = Trapdoor::from_seed(5);
    for (rows, inputs) in
        [(1, 1), (2, 1), (3, 3), (4, 1), (5, 40), (31, 1), (32, 2), (33, 1), (255, 1), (256, 90), (257, 1)]
    {
        let (circuit, witness) = synthetic::circuit(&Shape::new(rows, inputs, 11)).unwrap();
        let (params, vk) = setup_gnark(&circuit, &trapdoor).unwrap();
        let key = ProvingKey::from_gnark(params.clone(), Some(vk)).unwrap();
        let (r, s) = (Fr::from(7), Fr::from(9));
        let expected = expected_proof_with(&circuit, InputRows::None, &trapdoor, &witness, r, s).unwrap();
        assert_eq!(reference::prove(&key, &circuit, &witness, r, s).unwrap(), expected, "{rows} rows");
        let values = circuit.evaluate(&witness).unwrap();
        let case = Case { circuit: Arc::new(circuit), witness, key };
        assert_eq!(prove(&engine, &case, case.key.clone(), true).unwrap(), expected, "{rows} rows, {inputs} inputs");

        let loaded = engine.load_key(1, || Ok((case.key.clone(), None))).unwrap();
        let mut given = input(&case, &loaded, true).unwrap();
        let [a, b, c] = [("a", &values.a), ("b", &values.b), ("c", &values.c)].map(|(name, rows)| scalars(name, rows));
        given.rows = RowSource::Given { a, b, c };
        given.check_sizes().unwrap();
        let job = engine.create(given, None);
        engine.submit(&job, 0).unwrap();
        job.wait(None);
        assert_eq!(job.result().unwrap().unwrap(), expected, "{rows} rows given");

        // Without its verifying key, a key gives proofs only to those who ask for unverified ones.
        let bare = ProvingKey::from_gnark(params, None).unwrap();
        let error = prove(&engine, &case, bare.clone(), true).unwrap_err();
        assert!(error.status() == Status::Invalid && error.message().contains("verifying key"), "{error}");
        assert_eq!(prove(&engine, &case, bare, false).unwrap(), expected);
    }
}

#[test]
fn memory_is_a_budget() {
    let case = case(30, 2);
    let config = Config { cpu_threads: 1, host_bytes_limit: 1000, ..Config::default() };
    let small = Engine::on(Backend::Cpu(1), &config, Box::new(|_| ())).unwrap();
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
    let mut two = budget.take(2, "a", Status::QueueFull).unwrap();
    let five = budget.take_leaving(5, "a", Status::QueueFull).unwrap();
    assert_eq!((budget.used(), budget.staying()), (7, 2));
    two.let_leave();
    assert_eq!((budget.used(), budget.staying()), (7, 0));
    drop((two, five));
    let one = budget.take(1, "a", Status::QueueFull).unwrap();
    assert_eq!((budget.used(), budget.staying()), (1, 1));
    drop(one);
    let unlimited = Budget::new("test", 0);
    let most = unlimited.take(u64::MAX, "a", Status::QueueFull).unwrap();
    assert_eq!(unlimited.take(1, "b", Status::QueueFull).unwrap_err().status(), Status::QueueFull);
    drop(most);
}

/// A key that counts how often it is read again, and fails to be once `broken` is set.
fn from_file(
    engine: &Engine<Groth16>,
    key: &ProvingKey,
    reads: &Arc<AtomicU32>,
    broken: &Arc<AtomicBool>,
) -> Arc<LoadedKey> {
    let (again, reads, broken) = (key.clone(), Arc::clone(reads), Arc::clone(broken));
    let reload: Reload = Box::new(move |_: &Stop| {
        reads.fetch_add(1, Ordering::SeqCst);
        if broken.load(Ordering::SeqCst) { Err(Error::format("the digest is another")) } else { Ok(again.clone()) }
    });
    engine.load_key(8 << 20, || Ok((key.clone(), Some(reload)))).unwrap()
}

#[test]
fn keys_that_do_not_fit_together_leave_memory_and_are_read_again() {
    let case = case(30, 2);
    // Room for one key of 8 MiB with its jobs, not for two.
    let config = Config { cpu_threads: 2, host_bytes_limit: 14 << 20, ..Config::default() };
    let engine = Engine::on(Backend::Cpu(1), &config, Box::new(|_| ())).unwrap();
    let (reads, broken) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
    let keys = [0, 1, 2].map(|_| from_file(&engine, &case.key, &reads, &broken));
    assert_eq!(keys.each_ref().map(|key| key.is_in_memory()), [false, false, true]);
    let proof = prove_with(&engine, &case, &keys[2], true).unwrap();
    assert_eq!(reads.load(Ordering::SeqCst), 0);
    // Many jobs of all keys at once: each is read when its turn has come, and all end well.
    let jobs: Vec<_> = (0..30)
        .map(|i| {
            let job = engine.create(input(&case, &keys[i % 3], true).unwrap(), None);
            engine.submit(&job, 0).unwrap();
            job
        })
        .collect();
    for job in &jobs {
        assert!(job.wait(Some(Instant::now() + Duration::from_secs(60))), "stuck");
        assert_eq!(job.result().unwrap().unwrap(), proof);
    }
    let read = reads.load(Ordering::SeqCst);
    assert!((2..=30).contains(&read), "{read}");

    broken.store(true, Ordering::SeqCst);
    let absent = keys.iter().find(|key| !key.is_in_memory()).unwrap();
    let error = prove_with(&engine, &case, absent, true).unwrap_err();
    assert_eq!(error.status(), Status::Io, "{error}");
    assert!(error.message().contains("cannot be read again"), "{error}");
    broken.store(false, Ordering::SeqCst);
    assert_eq!(prove_with(&engine, &case, absent, true).unwrap(), proof);

    // A key without a file stays, so the others have no room any more.
    drop(keys);
    let held = engine.load_key(8 << 20, || Ok((case.key.clone(), None))).unwrap();
    let error = engine.load_key(8 << 20, || Ok((case.key.clone(), None))).unwrap_err();
    assert_eq!(error.status(), Status::NoMemory, "{error}");
    assert_eq!(prove_with(&engine, &case, &held, true).unwrap(), proof);
}

#[test]
fn a_key_that_is_being_read_refuses_no_job() {
    let case = case(30, 2);
    let config = Config { cpu_threads: 2, host_bytes_limit: 14 << 20, ..Config::default() };
    let engine = Engine::on(Backend::Cpu(1), &config, Box::new(|_| ())).unwrap();
    // The first key is read until the test lets it end, with its memory taken.
    let (begun, begins) = std::sync::mpsc::channel();
    let (go, gate) = std::sync::mpsc::channel();
    let (again, gate) = (case.key.clone(), std::sync::Mutex::new(gate));
    let slow: Reload = Box::new(move |_: &Stop| {
        begun.send(()).unwrap();
        gate.lock().unwrap().recv().unwrap();
        Ok(again.clone())
    });
    let first = engine.load_key(8 << 20, || Ok((case.key.clone(), Some(slow)))).unwrap();
    let (reads, broken) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
    let second = from_file(&engine, &case.key, &reads, &broken);
    let start = |key: &Arc<LoadedKey>| {
        let job = engine.create(input(&case, key, true).unwrap(), None);
        engine.submit(&job, 0).map(|()| job)
    };
    let waiting = start(&first).unwrap();
    begins.recv_timeout(Duration::from_secs(60)).unwrap();
    let others: Vec<_> = [&first, &second].map(start).into_iter().collect::<crate::error::Result<_>>().unwrap();
    go.send(()).unwrap();
    for job in others.iter().chain([&waiting]) {
        assert!(job.wait(Some(Instant::now() + Duration::from_secs(60))), "stuck");
        job.result().unwrap().unwrap();
    }
}

#[test]
fn g2_of_one_job_runs_beside_the_kernels_of_another() {
    let case = case(1500, 3);
    let config = Config { cpu_threads: 1, device_threads: 1, ..Config::default() };
    let engine = Engine::on(Backend::Cpu(1), &config, Box::new(|_| ())).unwrap();
    let key = engine.load_key(1, || Ok((case.key.clone(), None))).unwrap();
    let jobs: Vec<_> = (0..8)
        .map(|_| {
            let job = engine.create(input(&case, &key, true).unwrap(), None);
            engine.submit(&job, 0).unwrap();
            job
        })
        .collect();
    assert!(jobs.iter().all(|job| job.wait(None) && job.result().unwrap().is_ok()));
    let spans = engine.record().spans;
    let of = |stage: Stage| spans.iter().filter(move |span| span.stage == stage);
    let beside = of(Stage::G2).any(|g2| {
        of(Stage::Device(0)).any(|kernels| kernels.job != g2.job && kernels.start < g2.end && g2.start < kernels.end)
    });
    assert!(beside, "{spans:?}");
    let mut kernels: Vec<_> = of(Stage::Device(0)).collect();
    kernels.sort_by_key(|span| span.start);
    assert!(kernels.windows(2).all(|pair| pair[0].end <= pair[1].start), "the lane is one job's at a time");
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
    let trace = engine.record().chrome_trace();
    let events = trace["traceEvents"].as_array().unwrap();
    // Serial lanes hold one complete event for each span, the others a beginning and an end.
    let count = |stage: &str, phase: &str| events.iter().filter(|e| e["cat"] == stage && e["ph"] == phase).count();
    assert_eq!([count("device", "X"), count("g2", "X"), count("prepare", "b"), count("finish", "e")], [3; 4]);
    // The engine idles from its first moment on; all else comes later.
    assert!(events.iter().all(|e| e["ph"] == "M" || e["cat"] == "idle" || e["ts"].as_f64().unwrap() > 0.0));
}

#[test]
fn a_partition_becomes_a_proof() {
    use crate::prover::partition::partition;
    let engine = engine();
    for log_domain in [5, 6, 9] {
        let made = partition(log_domain, 3, None).unwrap();
        let loaded = engine.load_key(made.key.host_bytes() as u64, || Ok((made.key, None))).unwrap();
        let [a, b, c] = &made.rows;
        let given = |name, values: &[Fr]| Scalars::from_values(name, values).unwrap();
        let input = ProofInput {
            key: Arc::clone(&loaded),
            rows: RowSource::Given { a: given("a", a), b: given("b", b), c: given("c", c) },
            inputs: given("inputs", &made.inputs),
            aux: given("aux", &made.aux),
            blinding: Blinding::random().unwrap(),
            self_check: true,
        };
        input.check_sizes().unwrap();
        let job = engine.create(input, None);
        engine.submit(&job, 0).unwrap();
        job.wait(None);
        // The self-check verifies it.
        job.result().unwrap().unwrap();
    }
    assert!(partition(4, 3, None).is_err());
}
