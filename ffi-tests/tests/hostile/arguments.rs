//! NULL for every pointer argument, wrong enum values, and the text of the last error.

use std::ptr::{null, null_mut};

use ffi_tests::capi::{api, init};
use ffi_tests::fixture::Form;
use ffi_tests::handles::{Engine, Request, scalars};
use ffi_tests::memory::Guarded;
use groth16::ffi::circuit::groth16_circuit_options;
use groth16::ffi::engine::groth16_engine_options;
use groth16::ffi::pk::groth16_pk_options;

use super::{Setup, assert_fails, outcome, status};

#[test]
fn null_arguments() {
    let setup = Setup::small();
    let (api, engine, pk) = (api(), setup.engine.raw(), setup.key.raw());
    let job = setup.start(true, setup.fixture.request(Form::Canonical)).unwrap();
    let request = setup.fixture.request(Form::Canonical);
    let job_options = request.options(Some(&setup.circuit));
    let r1cs = setup.fixture.r1cs_bytes();
    let mut circuit_options = init::<groth16_circuit_options>();
    (circuit_options.data, circuit_options.data_len) = (r1cs.as_ptr().cast(), r1cs.len());
    let mut pk_options = init::<groth16_pk_options>();
    (pk_options.data, pk_options.data_len) = (setup.fixture.key.as_ptr().cast(), setup.fixture.key.len());
    pk_options.circuit = setup.circuit.raw();
    let inputs = setup.fixture.public();
    let proof = setup.fixture.proof.to_compressed();
    let fails = |call: i32, text: &str| assert_fails(outcome(call), status::INVALID, &[text]);

    let (mut new_circuit, mut new_pk, mut new_job) = (null_mut(), null_mut(), null_mut());
    let (mut len, mut valid, mut progress) = (0usize, 0i32, init());
    let mut buffer = [0u8; 192];
    unsafe {
        fails((api.groth16_engine_create)(null(), null_mut()), "engine is NULL");
        fails(
            (api.groth16_circuit_load)(null_mut(), &raw const circuit_options, &raw mut new_circuit),
            "engine is NULL",
        );
        fails((api.groth16_circuit_load)(engine, null(), &raw mut new_circuit), "groth16_circuit_options is NULL");
        fails((api.groth16_circuit_load)(engine, &raw const circuit_options, null_mut()), "circuit is NULL");
        fails((api.groth16_pk_load)(null_mut(), &raw const pk_options, &raw mut new_pk), "engine is NULL");
        fails((api.groth16_pk_load)(engine, null(), &raw mut new_pk), "groth16_pk_options is NULL");
        fails((api.groth16_pk_load)(engine, &raw const pk_options, null_mut()), "pk is NULL");
        fails((api.groth16_start)(null_mut(), pk, &raw const job_options, &raw mut new_job), "engine is NULL");
        fails((api.groth16_start)(engine, null_mut(), &raw const job_options, &raw mut new_job), "pk is NULL");
        fails((api.groth16_start)(engine, pk, null(), &raw mut new_job), "groth16_job_options is NULL");
        fails((api.groth16_start)(engine, pk, &raw const job_options, null_mut()), "job is NULL");
        fails((api.groth16_poll)(null(), &raw mut progress), "job is NULL");
        fails((api.groth16_poll)(job.raw(), null_mut()), "groth16_progress is NULL");
        fails((api.groth16_wait)(null(), 0), "job is NULL");
        fails((api.groth16_finalize)(null(), buffer.as_mut_ptr().cast(), 192, &raw mut len), "job is NULL");
        fails((api.groth16_finalize)(job.raw(), buffer.as_mut_ptr().cast(), 192, null_mut()), "len is NULL");
        fails((api.groth16_finalize)(job.raw(), null_mut(), 192, &raw mut len), "buffer is NULL");
        let verify =
            |pk, inputs, proof: *const u8, len, valid| (api.groth16_verify)(pk, inputs, proof.cast(), len, valid);
        fails(verify(null(), scalars(&inputs), proof.as_ptr(), 192, &raw mut valid), "pk is NULL");
        fails(verify(pk, scalars(&inputs), proof.as_ptr(), 192, null_mut()), "valid is NULL");
        fails(verify(pk, scalars(&inputs), null(), 192, &raw mut valid), "proof is NULL");
        let no_inputs = groth16::ffi::job::groth16_scalars { data: null(), count: setup.fixture.num_inputs() };
        fails(verify(pk, no_inputs, proof.as_ptr(), 192, &raw mut valid), "inputs is NULL");

        // These take NULL.
        (api.groth16_engine_free)(null_mut());
        (api.groth16_circuit_free)(null_mut());
        (api.groth16_pk_free)(null_mut());
        (api.groth16_free)(null_mut());
        (api.groth16_cancel)(null_mut());
        let mut by_default = null_mut();
        assert_eq!((api.groth16_engine_create)(null(), &raw mut by_default), 0);
        (api.groth16_engine_free)(by_default);
    }
    assert!(
        new_circuit.is_null() && new_pk.is_null() && new_job.is_null() && valid == 0,
        "an out-parameter was written"
    );
    drop(job);
    setup.check_health();
}

#[test]
fn null_arguments_of_calls_that_tell() {
    let setup = Setup::small();
    let (api, engine, pk, circuit) = (api(), setup.engine.raw(), setup.key.raw(), setup.circuit.raw());
    let fails = |call: i32, text: &str| assert_fails(outcome(call), status::INVALID, &[text]);
    let mut len = 77usize;
    let mut buffer = null_mut();
    unsafe {
        fails((api.groth16_device_count)(null_mut()), "count is NULL");
        fails((api.groth16_device_get)(0, null_mut()), "groth16_device_info is NULL");
        let mut devices = 0;
        assert_eq!((api.groth16_device_count)(&raw mut devices), 0);
        for index in [devices, devices + 1, usize::MAX] {
            fails((api.groth16_device_get)(index, &mut init()), &index.to_string());
        }
        fails((api.groth16_engine_get_info)(null(), &mut init()), "engine is NULL");
        fails((api.groth16_engine_get_info)(engine, null_mut()), "groth16_engine_info is NULL");
        fails((api.groth16_engine_metrics)(null(), null_mut(), 0, &raw mut len), "engine is NULL");
        fails((api.groth16_engine_metrics)(engine, null_mut(), 0, null_mut()), "len is NULL");
        fails((api.groth16_engine_metrics)(engine, null_mut(), 1 << 20, &mut 0), "buffer is NULL");
        fails((api.groth16_engine_trace)(null(), c"/dev/null".as_ptr()), "engine is NULL");
        fails((api.groth16_engine_trace)(engine, null()), "path is NULL");
        assert_eq!((api.groth16_engine_memory_pressure)(null()), 0);
        fails((api.groth16_circuit_get_info)(null(), &mut init()), "circuit is NULL");
        fails((api.groth16_circuit_get_info)(circuit, null_mut()), "groth16_circuit_info is NULL");
        fails((api.groth16_pk_get_info)(null(), &mut init()), "pk is NULL");
        fails((api.groth16_pk_get_info)(pk, null_mut()), "groth16_pk_info is NULL");
        fails((api.groth16_pk_get_vk)(null(), null_mut(), 0, &raw mut len), "pk is NULL");
        fails((api.groth16_pk_get_vk)(pk, null_mut(), 0, null_mut()), "len is NULL");
        fails((api.groth16_pk_get_vk)(pk, null_mut(), 1 << 20, &mut 0), "buffer is NULL");
        fails((api.groth16_buffer_alloc)(null_mut(), 1, &raw mut buffer), "engine is NULL");
        fails((api.groth16_buffer_alloc)(engine, 1, null_mut()), "buffer is NULL");
        fails((api.groth16_buffer_alloc)(engine, 0, &raw mut buffer), "0 bytes");
        fails((api.groth16_buffer_alloc)(engine, usize::MAX, &raw mut buffer), "impossible");
        // More than any address space.
        let huge = (api.groth16_buffer_alloc)(engine, isize::MAX as usize, &raw mut buffer);
        assert_fails(outcome(huge), status::NO_MEMORY, &["buffer"]);
        assert!((api.groth16_buffer_data)(null_mut()).is_null());
        (api.groth16_buffer_free)(null_mut());
    }
    assert!(len == 77 && buffer.is_null(), "an out-parameter was written");
    setup.check_health();
}

#[test]
fn null_data_with_a_length() {
    let setup = Setup::small();
    let engine = &setup.engine;
    let circuit = |configure: &dyn Fn(&mut groth16_circuit_options)| engine.circuit(configure);
    assert_fails(circuit(&|_| ()), status::INVALID, &["no circuit", "path", "data"]);
    assert_fails(circuit(&|o| o.data_len = 100), status::INVALID, &["data is NULL", "100"]);
    assert_fails(circuit(&|o| o.data_len = usize::MAX), status::INVALID, &["data"]);
    let starts = [0u64, 1];
    let one = |o: &mut groth16_circuit_options| {
        (o.a.row_starts, o.b.row_starts, o.c.row_starts) = (starts.as_ptr(), starts.as_ptr(), starts.as_ptr());
        (o.num_rows, o.num_inputs) = (1, 1);
    };
    assert_fails(circuit(&one), status::INVALID, &["matrix A"]);
    assert_fails(circuit(&|o| (one(o), o.b.row_starts = null()).1), status::INVALID, &["matrix A"]);
    let (columns, values) = ([0u32], [1u8; 32]);
    let full = |o: &mut groth16_circuit_options| {
        one(o);
        for matrix in [&mut o.a, &mut o.b, &mut o.c] {
            (matrix.columns, matrix.values) = (columns.as_ptr(), values.as_ptr().cast());
        }
    };
    assert!(circuit(&full).is_ok());
    assert_fails(circuit(&|o| (full(o), o.b.row_starts = null()).1), status::INVALID, &["matrix B is NULL"]);
    assert_fails(circuit(&|o| (full(o), o.c.columns = null()).1), status::INVALID, &["matrix C is NULL"]);
    assert_fails(circuit(&|o| (full(o), o.c.values = null()).1), status::INVALID, &["matrix C is NULL"]);
    assert_fails(circuit(&|o| (full(o), o.num_rows = u64::MAX).1), status::INVALID, &["num_rows"]);
    assert_fails(circuit(&|o| (full(o), o.num_rows = u64::MAX / 2).1), status::INVALID, &["matrix A"]);
    assert_fails(circuit(&|o| (full(o), o.num_inputs = 0).1), status::INVALID, &["0 inputs"]);
    assert_fails(circuit(&|o| (full(o), o.num_inputs = u64::MAX).1), status::INVALID, &["inputs"]);
    assert_fails(circuit(&|o| (full(o), o.num_aux = u64::MAX).1), status::INVALID, &["auxiliary"]);
    let data = [0u8; 10];
    let both = |o: &mut groth16_circuit_options| {
        full(o);
        (o.data, o.data_len) = (data.as_ptr().cast(), 10);
    };
    assert_fails(circuit(&both), status::INVALID, &["both"]);

    let pk = |configure: &dyn Fn(&mut groth16_pk_options)| engine.key(configure);
    let bytes = &setup.fixture.key;
    let full = |o: &mut groth16_pk_options| (o.data, o.data_len) = (bytes.as_ptr().cast(), bytes.len());
    assert_fails(pk(&|_| ()), status::INVALID, &["no key", "path", "data"]);
    assert_fails(pk(&|o| o.data_len = 100), status::INVALID, &["data is NULL", "100"]);
    assert_fails(pk(&|o| (full(o), o.a_aux.count = 20).1), status::INVALID, &["a_aux is NULL"]);
    assert_fails(pk(&|o| (full(o), o.b_inputs.count = 3).1), status::INVALID, &["b_inputs is NULL"]);
    assert_fails(pk(&|o| (full(o), o.b_aux.count = usize::MAX).1), status::INVALID, &["b_aux"]);
    let words = [u64::MAX; 1];
    let other = |o: &mut groth16_pk_options| {
        full(o);
        (o.a_aux.words, o.a_aux.count) = (words.as_ptr(), 19);
    };
    assert_fails(pk(&other), status::INVALID, &["a_aux", "19", "20"]);
    let both = |o: &mut groth16_pk_options| (other(o), o.circuit = setup.circuit.raw()).1;
    assert_fails(pk(&both), status::INVALID, &["not from both"]);
    setup.check_health();
}

#[test]
fn enum_values_without_a_name() {
    let setup = Setup::small();
    let new = |configure: &dyn Fn(&mut groth16_engine_options)| Engine::new(configure);
    for wrong in [3, 4, u32::MAX, 1 << 31] {
        assert_fails(new(&|o| o.backend = wrong), status::INVALID, &["backend"]);
        assert_fails(new(&|o| o.g2_placement = wrong), status::INVALID, &["g2_placement"]);
    }
    for wrong in [-1, 6, i32::MIN, i32::MAX] {
        assert_fails(new(&|o| o.log_level = wrong), status::INVALID, &["log_level"]);
    }
    assert_fails(new(&|o| o.cpu_threads = 1025), status::INVALID, &["cpu_threads", "1025", "1024"]);
    assert_fails(new(&|o| o.cpu_threads = u32::MAX), status::INVALID, &["cpu_threads"]);
    assert_fails(new(&|o| o.jobs_per_device = 65), status::INVALID, &["jobs_per_device", "65", "64"]);
    assert_fails(new(&|o| o.reserved = 1), status::UNSUPPORTED, &["reserved"]);
    assert!(new(&|o| o.max_queued_jobs = u64::MAX).is_ok());

    let bytes = &setup.fixture.key;
    let pk = |configure: &dyn Fn(&mut groth16_pk_options)| {
        setup.engine.key(|o| {
            (o.data, o.data_len) = (bytes.as_ptr().cast(), bytes.len());
            o.circuit = setup.circuit.raw();
            configure(o);
        })
    };
    for wrong in [-1, 5, i32::MIN, i32::MAX] {
        assert_fails(pk(&|o| o.format = wrong), status::INVALID, &["format"]);
        assert_fails(pk(&|o| o.point_checks = wrong), status::INVALID, &["point_checks"]);
        let request = || setup.fixture.request(Form::Canonical);
        assert_fails(setup.start(true, Request { scalar_form: wrong, ..request() }), status::INVALID, &["scalar_form"]);
        assert_fails(
            setup.start(true, Request { proof_format: wrong, ..request() }),
            status::INVALID,
            &["proof_format"],
        );
    }
    assert!(pk(&|o| o.format = 1).is_ok());
    for checks in 0..3 {
        assert!(pk(&|o| o.point_checks = checks).is_ok());
    }
    setup.check_health();
}

#[test]
fn a_gpu_that_is_not_there_is_an_error_at_once() {
    let mut devices = 0;
    assert_eq!(unsafe { (api().groth16_device_count)(&raw mut devices) }, 0);
    if devices > 0 {
        return;
    }
    let begin = std::time::Instant::now();
    assert_fails(Engine::new(|o| o.backend = 1), status::NO_DEVICE, &["GPU"]);
    let uuid = c"GPU-00000000-0000-0000-0000-000000000000".as_ptr();
    let named = |backend| {
        Engine::new(|o| (o.backend, o.device_uuids, o.num_device_uuids) = (backend, &raw const uuid, 1)).map(drop)
    };
    for backend in [0, 1] {
        assert_fails(named(backend), status::NO_DEVICE, &["GPU"]);
    }
    assert_fails(named(2), status::INVALID, &["device_uuids", "CPU"]);
    let listed = |uuids: &[*const std::ffi::c_char]| {
        Engine::new(|o| (o.device_uuids, o.num_device_uuids) = (uuids.as_ptr(), uuids.len())).map(drop)
    };
    assert_fails(listed(&[uuid, uuid]), status::INVALID, &["device_uuids[1]", "twice"]);
    assert_fails(listed(&[uuid, std::ptr::null()]), status::INVALID, &["device_uuids[1]", "NULL"]);
    assert_fails(listed(&[c"\xff".as_ptr()]), status::INVALID, &["device_uuids[0]", "UTF-8"]);
    assert_fails(Engine::new(|o| o.num_device_uuids = 1).map(drop), status::INVALID, &["device_uuids"]);
    assert!(begin.elapsed() < std::time::Duration::from_secs(1));
    // Without a wish it is the CPU, and says so.
    let engine = Engine::new(|o| o.backend = 0).unwrap();
    let mut info = init::<groth16::ffi::engine::groth16_engine_info>();
    assert_eq!(unsafe { (api().groth16_engine_get_info)(engine.raw(), &raw mut info) }, 0);
    assert_eq!((info.backend, info.num_devices), (2, 0));
}

#[test]
fn handles_of_another_engine() {
    let (setup, other) = (Setup::small(), Setup::small());
    let request = std::sync::Arc::new(setup.fixture.request(Form::Canonical));
    let text = ["belongs to another engine"];
    assert_fails(setup.engine.start(&other.key, Some(&setup.circuit), &request), status::INVALID, &text);
    assert_fails(setup.engine.start(&setup.key, Some(&other.circuit), &request), status::INVALID, &text);
    assert_fails(other.engine.start(&setup.key, Some(&setup.circuit), &request), status::INVALID, &text);
    assert_fails(setup.engine.key_from_bytes(&setup.fixture.key, &other.circuit), status::INVALID, &text);
    setup.check_health();
    other.check_health();
}

#[test]
fn the_last_error_is_cut_and_ended() {
    let fail = || Engine::new(|options| options.backend = 7).map(drop).unwrap_err().message;
    let text = fail();
    let last = |buffer: *mut u8, cap| unsafe { (api().groth16_last_error)(buffer.cast(), cap) };
    assert_eq!(last(null_mut(), 0), text.len());
    for cap in [0, 1, 2, text.len() - 1, text.len(), text.len() + 1, text.len() + 50] {
        let buffer = Guarded::new(&vec![0xa5; cap]);
        assert_eq!(last(buffer.pointer(), cap), text.len());
        let (bytes, copied) = (buffer.bytes(), text.len().min(cap.saturating_sub(1)));
        assert_eq!(bytes[..copied], text.as_bytes()[..copied]);
        if cap > 0 {
            assert_eq!(bytes[copied], 0, "no NUL");
            assert!(bytes[copied + 1..].iter().all(|byte| *byte == 0xa5), "written behind the NUL");
        }
    }
    // A capacity without a buffer is no write.
    assert_eq!(last(null_mut(), 10), text.len());
    // Successes leave it alone, other threads have their own.
    drop(Engine::new(|_| ()).unwrap());
    assert_eq!(api().last_error(), text);
    assert_eq!(std::thread::spawn(|| api().last_error()).join().unwrap(), "");
}

#[test]
fn every_status_has_a_name() {
    let names: Vec<String> = (-17..=0).map(|status| api().status_name(status)).collect();
    assert!(names.iter().all(|name| name == "GROTH16_OK" || name.starts_with("GROTH16_E_")), "{names:?}");
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), 18);
    let header = std::fs::read_to_string(ffi_tests::header::root().join("include/groth16.h")).unwrap();
    for (status, name) in (-17..=0).zip(&names) {
        assert!(header.contains(&format!("  {name} = {status},")), "{name} is not {status} in the header");
    }
    for unknown in [1, 2, -18, -19, i32::MIN, i32::MAX] {
        assert_eq!(api().status_name(unknown), "GROTH16_E_UNKNOWN");
    }
}
