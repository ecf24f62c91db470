//! After fork the child has the handles, but none of the threads behind them.

use std::ptr::{null, null_mut};

use ffi_tests::capi::{api, init};
use ffi_tests::fixture::Form;
use ffi_tests::handles::scalars;
use groth16::ffi::circuit::groth16_circuit_options;
use groth16::ffi::pk::groth16_pk_options;

use super::{Setup, status};

/// Runs `child` in a forked process, which an alarm ends where it hangs; its answer is the exit code.
pub(super) fn in_child(child: impl FnOnce() -> i32) -> i32 {
    unsafe {
        let process = libc::fork();
        if process == 0 {
            libc::alarm(20);
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(99);
            libc::_exit(code);
        }
        assert!(process > 0, "fork");
        let mut how = 0;
        assert_eq!(libc::waitpid(process, &raw mut how, 0), process);
        assert!(libc::WIFEXITED(how), "the child ended by signal {}", libc::WTERMSIG(how));
        libc::WEXITSTATUS(how)
    }
}

#[test]
fn the_child_of_a_fork_gets_forked_and_frees_return() {
    let setup = Setup::small();
    let job = setup.start(true, setup.fixture.request(Form::Canonical)).unwrap();
    let done = setup.start(true, setup.fixture.request(Form::Canonical)).unwrap();
    done.wait(-1).unwrap();
    let request = setup.fixture.request(Form::Canonical);
    let options = request.options(Some(&setup.circuit));
    let (public, proof) = (setup.fixture.public(), setup.fixture.proof.to_compressed());
    let r1cs = setup.fixture.r1cs_bytes();
    let mut circuit_options = init::<groth16_circuit_options>();
    (circuit_options.data, circuit_options.data_len) = (r1cs.as_ptr().cast(), r1cs.len());
    let mut pk_options = init::<groth16_pk_options>();
    (pk_options.data, pk_options.data_len) = (setup.fixture.key.as_ptr().cast(), setup.fixture.key.len());
    let api = api();
    let mut pages = null_mut();
    assert_eq!(unsafe { (api.groth16_buffer_alloc)(setup.engine.raw(), 100, &raw mut pages) }, 0);
    let (engine, key, circuit) = (setup.engine.raw(), setup.key.raw(), setup.circuit.raw());
    let code = in_child(|| unsafe {
        let mut new_job = null_mut();
        let (mut new_circuit, mut new_pk, mut new_buffer) = (null_mut(), null_mut(), null_mut());
        let mut buffer = [0u8; 192];
        let (mut len, mut valid, mut progress) = (0, 0, init());
        let answers = [
            (api.groth16_start)(engine, key, &raw const options, &raw mut new_job),
            (api.groth16_poll)(job.raw(), &raw mut progress),
            (api.groth16_wait)(job.raw(), -1),
            (api.groth16_wait)(done.raw(), 0),
            (api.groth16_finalize)(job.raw(), buffer.as_mut_ptr().cast(), 192, &raw mut len),
            (api.groth16_finalize)(done.raw(), buffer.as_mut_ptr().cast(), 192, &raw mut len),
            (api.groth16_circuit_load)(engine, &raw const circuit_options, &raw mut new_circuit),
            (api.groth16_pk_load)(engine, &raw const pk_options, &raw mut new_pk),
            (api.groth16_engine_get_info)(engine, &mut init()),
            (api.groth16_engine_metrics)(engine, null_mut(), 0, &raw mut len),
            (api.groth16_engine_trace)(engine, c"/dev/null".as_ptr()),
            (api.groth16_circuit_get_info)(circuit, &mut init()),
            (api.groth16_pk_get_info)(key, &mut init()),
            (api.groth16_pk_get_vk)(key, null_mut(), 0, &raw mut len),
            (api.groth16_buffer_alloc)(engine, 100, &raw mut new_buffer),
            (api.groth16_verify)(key, scalars(&public), proof.as_ptr().cast(), 192, &raw mut valid),
        ];
        if let Some(wrong) = answers.iter().position(|answer| *answer != status::FORKED) {
            return 10 + wrong as i32;
        }
        if !new_buffer.is_null()
            || !new_job.is_null()
            || !new_circuit.is_null()
            || !new_pk.is_null()
            || len != 0
            || valid != 0
        {
            return 30;
        }
        if !api.last_error().contains("fork") {
            return 31;
        }
        // Looks only.
        (api.groth16_engine_memory_pressure)(engine);
        (api.groth16_buffer_data)(pages);
        (api.groth16_buffer_free)(pages);
        (api.groth16_cancel)(job.raw());
        (api.groth16_free)(job.raw());
        (api.groth16_free)(done.raw());
        (api.groth16_pk_free)(key);
        (api.groth16_circuit_free)(circuit);
        (api.groth16_engine_free)(engine);
        0
    });
    assert_eq!(code, 0, "see the codes above");
    // The parent's are as they were.
    unsafe { (api.groth16_buffer_free)(pages) };
    for job in [job, done] {
        assert_eq!(job.finalize().unwrap(), proof);
    }
    setup.check_health();
}

#[test]
fn a_new_engine_works_in_the_child() {
    let setup = Setup::small();
    setup.check_health();
    for _ in 0..5 {
        // While the parent's threads are at work.
        let running = setup.start(true, setup.fixture.request(Form::Canonical)).unwrap();
        let code = in_child(|| {
            let mut engine = null_mut();
            if unsafe { (api().groth16_engine_create)(null(), &raw mut engine) } != 0 {
                return 1;
            }
            unsafe { (api().groth16_engine_free)(engine) };
            let own = Setup::small();
            own.check_health();
            drop(own);
            0
        });
        assert_eq!(code, 0);
        assert_eq!(running.finalize().unwrap(), setup.fixture.proof.to_compressed());
    }
}
