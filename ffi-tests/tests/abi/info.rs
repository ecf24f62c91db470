//! What the library tells about engines, keys and circuits, and buffers of its own.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

use ffi_tests::capi::{api, init};
use ffi_tests::fixture::Form;
use ffi_tests::handles::{self, Engine, Outcome, Request, check};
use ffi_tests::memory::{Guarded, Watchdog};
use groth16::ffi::circuit::groth16_circuit_info;
use groth16::ffi::engine::groth16_engine_info;
use groth16::ffi::job::groth16_progress;
use groth16::ffi::pk::groth16_pk_info;
use groth16::prover::synthetic::Shape;

use super::{Gate, Setup, event, status};

fn engine_info(engine: &Engine) -> groth16_engine_info {
    let mut info = init::<groth16_engine_info>();
    // SAFETY: the handle is live, the struct is set up.
    check(unsafe { (api().groth16_engine_get_info)(engine.raw(), &raw mut info) }).unwrap();
    info
}

#[test]
fn circuits_and_keys_tell_their_numbers() {
    let setup = Setup::new(&Shape::new(37, 4, 2), Engine::new(|_| ()).unwrap());
    let (mut circuit, mut key) = (init::<groth16_circuit_info>(), init::<groth16_pk_info>());
    // SAFETY: the handles are live, the structs are set up.
    unsafe {
        check((api().groth16_circuit_get_info)(setup.circuit.raw(), &raw mut circuit)).unwrap();
        check((api().groth16_pk_get_info)(setup.key.raw(), &raw mut key)).unwrap();
    }
    let r1cs = &setup.fixture.r1cs;
    let terms = r1cs.a.columns.len() + r1cs.b.columns.len() + r1cs.c.columns.len();
    assert_eq!((circuit.num_rows, circuit.num_inputs, circuit.num_aux), (37, 4, 37));
    assert_eq!(circuit.num_terms, terms as u64);
    assert_eq!((key.num_inputs, key.num_aux, key.domain_size, key.num_rows_added), (4, 37, 64, 4));
    assert_eq!((key.format, key.unconstrained_inputs, key.device_bytes), (1, 0, 0));
    // At least the points themselves.
    assert!(key.host_bytes as usize >= setup.fixture.key.len(), "{}", key.host_bytes);
    let engine = engine_info(&setup.engine);
    assert!(engine.host_bytes_used >= key.host_bytes);
    let before = engine.host_bytes_used;
    drop(setup.key);
    assert_eq!(engine_info(&setup.engine).host_bytes_used, before - key.host_bytes);
}

#[test]
fn the_verifying_key_is_the_beginning_of_the_file() {
    let setup = Setup::with_one_slot(4);
    // Six points, a count, and a point per input.
    let size = 864 + 4 + 96 * setup.fixture.num_inputs();
    let get = |buffer: &Guarded| {
        let mut len = usize::MAX;
        // SAFETY: the handle is live, the buffer has its length.
        let status =
            unsafe { (api().groth16_pk_get_vk)(setup.key.raw(), buffer.pointer(), buffer.len(), &raw mut len) };
        (status, len)
    };
    let mut len = 0;
    // SAFETY: NULL with a capacity of 0.
    let asked = unsafe { (api().groth16_pk_get_vk)(setup.key.raw(), null_mut(), 0, &raw mut len) };
    assert_eq!((asked, len), (status::TOO_SMALL, size));
    assert_eq!(get(&Guarded::new(&vec![0; size - 1])), (status::TOO_SMALL, size));
    let exact = Guarded::new(&vec![0; size]);
    assert_eq!(get(&exact), (0, size));
    assert_eq!(exact.bytes(), setup.fixture.key[..size]);
}

#[test]
fn an_engine_tells_its_choices_and_what_it_does() {
    let _watchdog = Watchdog::new("engine info", 60);
    let setup = Setup::with_one_slot(7);
    let idle = engine_info(&setup.engine);
    assert_eq!((idle.backend, idle.num_devices, idle.jobs_per_device, idle.cpu_threads), (2, 0, 1, 3));
    assert_eq!((idle.queued_jobs, idle.running_jobs, idle.pinned_bytes_used), (0, 0, 0));
    assert!(idle.host_bytes_limit > 1 << 20, "measured at creation: {}", idle.host_bytes_limit);
    assert_eq!((idle.pinned_bytes_limit, idle.device_bytes_limit), (0, 0));
    let gate = Gate::new();
    let held = setup.start_held(&gate);
    let queued: Vec<_> = (0..3).map(|_| setup.start(setup.fixture.request(Form::Canonical))).collect();
    let busy = engine_info(&setup.engine);
    assert_eq!((busy.queued_jobs, busy.running_jobs), (3, 1));
    assert!(busy.host_bytes_used > idle.host_bytes_used);
    gate.open();
    queued.iter().chain([&*held]).for_each(|job| assert_eq!(job.finalize().unwrap(), setup.expected()));
    drop((queued, held));
    let after = engine_info(&setup.engine);
    assert_eq!((after.queued_jobs, after.running_jobs), (0, 0));
    assert_eq!(after.host_bytes_used, idle.host_bytes_used, "memory of jobs that are gone");
    // SAFETY: a live handle.
    assert_eq!(unsafe { (api().groth16_engine_memory_pressure)(setup.engine.raw()) }, 0);
}

fn metrics(engine: &Engine) -> String {
    let mut buffer = vec![0u8; 1 << 20];
    let mut len = 0;
    // SAFETY: the handle is live, the buffer has its length.
    let status =
        unsafe { (api().groth16_engine_metrics)(engine.raw(), buffer.as_mut_ptr().cast(), buffer.len(), &raw mut len) };
    check(status).unwrap();
    String::from_utf8(buffer[..len].to_vec()).unwrap()
}

#[test]
fn metrics_and_trace_tell_what_ran() {
    let setup = Setup::with_one_slot(7);
    for _ in 0..3 {
        setup.start(setup.fixture.request(Form::Canonical)).finalize().unwrap();
    }
    let text = metrics(&setup.engine);
    assert!(text.ends_with('\n'));
    assert!(text.lines().any(|line| line == "groth16_jobs_ended_total{result=\"done\"} 3"), "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let value = line.rsplit(' ').next().unwrap();
        assert!(line.starts_with("groth16_") && value.parse::<f64>().is_ok(), "{line}");
    }
    let mut len = 0;
    // SAFETY: NULL with a capacity of 0.
    let asked = unsafe { (api().groth16_engine_metrics)(setup.engine.raw(), null_mut(), 0, &raw mut len) };
    assert_eq!(asked, status::TOO_SMALL);
    assert!(len > 1000);

    let folder = tempfile::tempdir().unwrap();
    let trace = |path: &std::path::Path| {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: the handle is live, the path is a C string.
        check(unsafe { (api().groth16_engine_trace)(setup.engine.raw(), path.as_ptr()) })
    };
    let path = folder.path().join("trace.json");
    trace(&path).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with(['{', '[']) && text.ends_with(['}', ']']), "{text}");
    let failure = trace(&folder.path().join("no/such/folder")).unwrap_err();
    assert_eq!(failure.status, status::IO);
    assert!(failure.message.contains("no/such/folder"), "{failure:?}");
}

/// A buffer with these bytes.
fn buffer(engine: &Engine, bytes: &[u8]) -> Outcome<(*mut groth16::ffi::buffer::groth16_buffer, *mut u8)> {
    let mut raw = null_mut();
    // SAFETY: the handle is live; the buffer has as many bytes as were asked for.
    unsafe {
        check((api().groth16_buffer_alloc)(engine.raw(), bytes.len(), &raw mut raw))?;
        let data: *mut u8 = (api().groth16_buffer_data)(raw).cast();
        let zeroed = std::slice::from_raw_parts(data, bytes.len()).iter().all(|byte| *byte == 0);
        assert!(zeroed && (data as usize).is_multiple_of(4096));
        data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        Ok((raw, data))
    }
}

#[test]
fn buffers_hold_scalars_and_outlive_their_handle_and_engine() {
    let _watchdog = Watchdog::new("buffers", 60);
    let setup = Setup::with_one_slot(7);
    let gate = Gate::new();
    let held = setup.start_held(&gate);
    // All scalars of a queued job in one buffer, which is freed before the job runs.
    let request = setup.fixture.evaluated_request(Form::Montgomery, true);
    let parts = [&request.inputs, &request.aux, &request.rows[0], &request.rows[1], &request.rows[2]];
    let (raw, data) = buffer(&setup.engine, &parts.map(Vec::as_slice).concat()).unwrap();
    let mut options = request.options(None);
    let mut offset = 0;
    for (field, part) in
        [&mut options.inputs, &mut options.aux, &mut options.a, &mut options.b, &mut options.c].into_iter().zip(parts)
    {
        // SAFETY: inside the buffer.
        field.data = unsafe { data.add(offset) }.cast();
        offset += part.len();
    }
    assert_eq!(engine_info(&setup.engine).pinned_bytes_used, offset as u64);
    let mut job = null_mut();
    // SAFETY: the handles are live, the request outlives the job; the job keeps the buffer alive.
    let proof = unsafe {
        let started = (api().groth16_start)(setup.engine.raw(), setup.key.raw(), &raw const options, &raw mut job);
        check(started).unwrap();
        (api().groth16_buffer_free)(raw);
        gate.open();
        handles::finalize(job)
    };
    assert_eq!(proof.unwrap(), setup.expected());
    assert_eq!(held.finalize().unwrap(), setup.expected());
    // SAFETY: a live handle.
    unsafe { (api().groth16_free)(job) };
    assert_eq!(engine_info(&setup.engine).pinned_bytes_used, 0);
    let (raw, data) = buffer(&setup.engine, &[7; 5000]).unwrap();
    drop(setup);
    // SAFETY: buffers stay the host's when the engine is gone.
    unsafe {
        assert_eq!(data.add(4999).read(), 7);
        (api().groth16_buffer_free)(raw);
    }
}

/// On GPUs, where there are any, which read the buffers themselves; else on the CPU.
#[test]
fn rows_in_buffers_are_read_until_they_are_released() {
    let _watchdog = Watchdog::new("rows in buffers", 120);
    let setup = Setup::new(&Shape::new(50, 3, 5), Engine::new(|options| options.backend = 0).unwrap());
    let on_gpus = engine_info(&setup.engine).num_devices > 0;
    for (form, with_c) in [(Form::Montgomery, true), (Form::Canonical, true), (Form::Canonical, false)] {
        let prove = |change: &dyn Fn(&mut [Vec<u8>; 3])| -> (Outcome<Vec<u8>>, Vec<i32>) {
            let events: Arc<Mutex<Vec<i32>>> = Arc::default();
            let log = Arc::clone(&events);
            let mut request = setup.fixture.evaluated_request(form, with_c);
            request.on_event = Some(Box::new(move |_, event| log.lock().unwrap().push(event)));
            change(&mut request.rows);
            let buffers: Vec<_> = request.rows.iter().filter(|row| !row.is_empty()).collect();
            let buffers: Vec<_> = buffers.into_iter().map(|row| buffer(&setup.engine, row).unwrap()).collect();
            let mut options = request.options(None);
            for (field, (_, data)) in [&mut options.a, &mut options.b, &mut options.c].into_iter().zip(&buffers) {
                field.data = data.cast();
            }
            let mut job = null_mut();
            // SAFETY: the handles are live, the request outlives the job; the job keeps the buffers alive.
            let proof = unsafe {
                let (engine, key) = (setup.engine.raw(), setup.key.raw());
                check((api().groth16_start)(engine, key, &raw const options, &raw mut job)).unwrap();
                buffers.iter().for_each(|(raw, _)| (api().groth16_buffer_free)(*raw));
                let proof = handles::finalize(job);
                let mut progress = init::<groth16_progress>();
                check((api().groth16_poll)(job, &raw mut progress)).unwrap();
                assert_eq!(progress.device, if on_gpus { 0 } else { -1 });
                (api().groth16_free)(job);
                proof
            };
            let events = events.lock().unwrap().clone();
            (proof, events)
        };
        let good = || {
            let (proof, events) = prove(&|_| ());
            assert_eq!(proof.unwrap(), setup.expected());
            assert_eq!(events, [event::ABC_RELEASED, event::TERMINAL]);
        };
        good();
        for vector in 0..2 + usize::from(with_c) {
            let (failure, events) = prove(&|rows| rows[vector][64..96].fill(0xff));
            let failure = failure.unwrap_err();
            let wanted = format!("{}[2]", ["a", "b", "c"][vector]);
            assert!(failure.status == status::INVALID && failure.message.contains(&wanted), "{failure:?}");
            assert_eq!(events.last(), Some(&event::TERMINAL));
        }
        let (failure, _) = prove(&|rows| rows[usize::from(with_c) * 2][32] ^= 1);
        let wanted = if with_c { status::UNSATISFIED } else { status::SELF_CHECK };
        assert_eq!(failure.unwrap_err().status, wanted);
        good();
    }
    assert_eq!(engine_info(&setup.engine).pinned_bytes_used, 0);
}

#[test]
fn limits_of_memory() {
    let _watchdog = Watchdog::new("limits", 60);
    let engine = Engine::new(|options| options.pinned_bytes_limit = 10_000).unwrap();
    let first = buffer(&engine, &[1; 6000]).unwrap();
    let failure = buffer(&engine, &[1; 6000]).unwrap_err();
    assert_eq!(failure.status, status::NO_MEMORY);
    assert!(failure.message.contains("pinned") && failure.message.contains("6000"), "{failure:?}");
    // SAFETY: a live handle.
    unsafe { (api().groth16_buffer_free)(first.0) };
    let second = buffer(&engine, &[1; 10_000]).unwrap();
    // SAFETY: a live handle.
    unsafe { (api().groth16_buffer_free)(second.0) };

    // A key that never fits; then one that does, beside one job but not two.
    let free = Setup::with_one_slot(8);
    let key = engine_info(&free.engine).host_bytes_used;
    let gate = Gate::new();
    let job = {
        let _held = free.start_held(&gate);
        engine_info(&free.engine).host_bytes_used - key
    };
    let tight = Engine::new(|options| options.host_bytes_limit = key - 1).unwrap();
    let circuit = tight.circuit_from_bytes(&free.fixture.r1cs_bytes()).unwrap();
    let failure = tight.key_from_bytes(&free.fixture.key, &circuit).map(drop).unwrap_err();
    assert_eq!(failure.status, status::NO_MEMORY, "{failure:?}");
    for (jobs, second) in [(0, status::NO_MEMORY), (1, status::QUEUE_FULL), (2, 0)] {
        let engine = Engine::new(|options| options.host_bytes_limit = key + jobs * job);
        let setup = Setup::new(&Shape::new(50, 3, 5), engine.unwrap());
        let gate = Gate::new();
        let _held = (jobs > 0).then(|| setup.start_held(&gate));
        let request: Arc<Request> = Arc::new(setup.fixture.request(Form::Canonical));
        let started = setup.engine.start(&setup.key, Some(&setup.circuit), &request);
        gate.open();
        assert_eq!(started.map(drop).map_or_else(|failure| failure.status, |()| 0), second, "{jobs} jobs fit");
    }
}

#[test]
fn keys_beyond_the_budget_are_refused_until_one_goes() {
    let free = Setup::with_one_slot(8);
    let key = engine_info(&free.engine).host_bytes_used;
    assert!(key as usize >= free.fixture.key.len());
    let engine = Engine::new(|options| options.host_bytes_limit = 5 * key / 2).unwrap();
    let circuit = engine.circuit_from_bytes(&free.fixture.r1cs_bytes()).unwrap();
    let load = || engine.key_from_bytes(&free.fixture.key, &circuit);
    let mut keys = vec![load().unwrap(), load().unwrap()];
    for _ in 0..200 {
        let failure = load().map(drop).unwrap_err();
        assert_eq!(failure.status, status::NO_MEMORY, "{failure:?}");
        assert_eq!(engine_info(&engine).host_bytes_used, 2 * key, "a refused key holds memory");
    }
    for _ in 0..200 {
        drop(keys.remove(0));
        keys.push(load().unwrap());
    }
    assert_eq!(engine_info(&engine).host_bytes_used, 2 * key);
    drop(keys);
    assert_eq!(engine_info(&engine).host_bytes_used, 0);
}
