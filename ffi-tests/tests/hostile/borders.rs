//! Absurd counts, pipes as outputs, out-parameters on errors, and what the library's threads leave to the host.

use std::ptr::null_mut;
use std::sync::Arc;

use ffi_tests::capi::{api, init};
use ffi_tests::fixture::Form;
use ffi_tests::handles::c_path;
use ffi_tests::memory::Watchdog;
use groth16::ffi::circuit::groth16_circuit_options;

use super::{Setup, assert_fails, outcome, status};

#[test]
fn verify_compares_the_count_before_it_takes_memory() {
    let setup = Setup::small();
    let proof = setup.fixture.proof.to_compressed();
    for count in [1usize << 40, 1 << 48, 1 << 57, usize::MAX / 32] {
        let mut inputs = ffi_tests::handles::scalars(&setup.fixture.public());
        inputs.count = count;
        let mut valid = -7;
        let refused = outcome(unsafe {
            (api().groth16_verify)(setup.key.raw(), inputs, proof.as_ptr().cast(), proof.len(), &raw mut valid)
        });
        assert_fails(refused, status::INVALID, &["inputs"]);
        assert_eq!(valid, -7);
    }
}

#[test]
fn a_trace_into_a_pipe_is_refused_at_once() {
    let _watchdog = Watchdog::new("a trace into a pipe", 30);
    let setup = Setup::small();
    let folder = tempfile::tempdir().unwrap();
    let path = c_path(&folder.path().join("pipe"));
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    let refused = outcome(unsafe { (api().groth16_engine_trace)(setup.engine.raw(), path.as_ptr()) });
    assert_fails(refused, status::IO, &["pipe"]);
}

#[test]
fn no_length_is_written_with_an_invalid_buffer() {
    let setup = Setup::small();
    let mut len = 7;
    let refused = outcome(unsafe { (api().groth16_pk_get_vk)(setup.key.raw(), null_mut(), 1 << 20, &raw mut len) });
    assert_fails(refused, status::INVALID, &["buffer", "NULL"]);
    assert_eq!(len, 7);
    let request = Arc::new(setup.fixture.request(Form::Canonical));
    let job = setup.engine.start(&setup.key, Some(&setup.circuit), &request).unwrap();
    let refused = outcome(unsafe { (api().groth16_finalize)(job.raw(), null_mut(), 192, &raw mut len) });
    assert_fails(refused, status::INVALID, &["buffer", "NULL"]);
    assert_eq!(len, 7);
}

#[test]
fn counts_beside_a_circuit_do_not_cancel_each_other() {
    let setup = Setup::small();
    let request = setup.fixture.request(Form::Canonical);
    let mut options = request.options(Some(&setup.circuit));
    (options.a.count, options.b.count) = (1 << 63, 1 << 63);
    let mut job = null_mut();
    let refused = outcome(unsafe {
        (api().groth16_start)(setup.engine.raw(), setup.key.raw(), &raw const options, &raw mut job)
    });
    assert_fails(refused, status::INVALID, &["a, b and c"]);
    assert!(job.is_null());
}

#[test]
fn a_file_beside_any_matrix_is_refused() {
    let setup = Setup::small();
    let bytes = setup.fixture.r1cs_bytes();
    let starts = [0u64];
    for which in 0..3 {
        let mut options: groth16_circuit_options = init();
        (options.data, options.data_len) = (bytes.as_ptr().cast(), bytes.len());
        [&mut options.a, &mut options.b, &mut options.c][which].row_starts = starts.as_ptr();
        let mut circuit = null_mut();
        let refused =
            outcome(unsafe { (api().groth16_circuit_load)(setup.engine.raw(), &raw const options, &raw mut circuit) });
        assert_fails(refused, status::INVALID, &["both"]);
    }
}

#[test]
fn a_large_buffer_costs_nothing_before_it_is_touched() {
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let setup = Setup::small();
    let before = resident();
    let mut buffer = null_mut();
    outcome(unsafe { (api().groth16_buffer_alloc)(setup.engine.raw(), 1 << 30, &raw mut buffer) }).unwrap();
    // Other tests of this process run meanwhile, but none takes half of it.
    assert!(resident() < before + (1 << 29));
    unsafe { (api().groth16_buffer_free)(buffer) };
    assert!(resident() < before + (1 << 29));
}

#[test]
fn threads_of_the_library_leave_signals_to_the_host() {
    let setup = Setup::small();
    let mut found = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        // Threads of other tests come and go.
        let Ok(text) = std::fs::read_to_string(task.unwrap().path().join("status")) else { continue };
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        if field("Name:").starts_with("groth16-") {
            found += 1;
            let blocked = u64::from_str_radix(&field("SigBlk:"), 16).unwrap();
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGUSR1, libc::SIGCHLD, libc::SIGPROF] {
                assert!(blocked & (1 << (signal - 1)) != 0, "{} takes signal {signal}", field("Name:"));
            }
        }
    }
    assert!(found >= 3, "{found} threads of the library");
    drop(setup);
    let mut mask: libc::sigset_t = unsafe { std::mem::zeroed() };
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &raw mut mask) };
    assert_eq!(unsafe { libc::sigismember(&raw const mask, libc::SIGUSR1) }, 0, "the caller's mask is as before");
}
