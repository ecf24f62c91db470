//! struct_size: older callers, newer callers, and callers that forgot GROTH16_INIT.

use std::mem::offset_of;
use std::ptr::{null_mut, with_exposed_provenance};

use ffi_tests::capi::{SizedStruct, api, init};
use ffi_tests::fixture::Form;
use ffi_tests::memory::Guarded;
use groth16::ffi::circuit::{groth16_circuit_info, groth16_circuit_options};
use groth16::ffi::engine::{groth16_engine_info, groth16_engine_options};
use groth16::ffi::job::{groth16_job_options, groth16_progress};
use groth16::ffi::pk::{groth16_pk_info, groth16_pk_options};

use super::{Outcome, Setup, assert_fails, outcome, status};

const HEAD: usize = size_of::<usize>();

/// A call that reads this struct; what it makes is freed.
type Call<'a, T> = &'a dyn Fn(*const T) -> Outcome<()>;

/// Puts `size` into `struct_size`, with as many bytes behind the struct's as it says, before a page without access.
fn sized<T: SizedStruct>(value: &T, size: usize) -> Guarded {
    let guarded = Guarded::of_struct(value, size.clamp(HEAD, 8192));
    unsafe { guarded.pointer::<usize>().write_unaligned(size) };
    guarded
}

fn check_sizes<T: SizedStruct>(good: &T, call: Call<T>) {
    let size = size_of::<T>();
    for wrong in [0, 1, 7, 4097, 1 << 20, 1 << 32, usize::MAX - 7, usize::MAX] {
        assert_fails(
            call(sized(good, wrong).pointer()),
            status::INVALID,
            &[T::NAME, "struct_size", &wrong.to_string()],
        );
    }
    assert_eq!(call(sized(good, size).pointer()), Ok(()), "{}", T::NAME);
    // A newer caller that leaves what we do not know at zero.
    for tail in [1, 8, 64, 4096 - size] {
        assert_eq!(call(sized(good, size + tail).pointer()), Ok(()), "{} with {tail} more bytes", T::NAME);
    }
    // A newer caller that uses it, at the first, a middle and the last byte.
    for (tail, place) in [(1, 0), (64, 0), (64, 31), (64, 63), (4096 - size, 4095 - size)] {
        let guarded = sized(good, size + tail);
        unsafe { guarded.pointer::<u8>().add(size + place).write(1) };
        let offset = format!("byte {}", size + place);
        assert_fails(call(guarded.pointer()), status::UNSUPPORTED, &[T::NAME, &offset]);
    }
}

fn engine(pointer: *const groth16_engine_options) -> Outcome<()> {
    let mut engine = null_mut();
    let made = outcome(unsafe { (api().groth16_engine_create)(pointer, &raw mut engine) });
    assert_eq!(made.is_ok(), !engine.is_null());
    unsafe { (api().groth16_engine_free)(engine) };
    made
}

#[test]
fn engine_options() {
    let mut options = init::<groth16_engine_options>();
    options.cpu_threads = 1;
    check_sizes(&options, &engine);
    // An older caller: what it lacks is default, whatever stands behind its struct.
    options.backend = 77;
    for size in [HEAD, offset_of!(groth16_engine_options, backend)] {
        assert_eq!(engine(sized(&options, size).pointer()), Ok(()));
    }
    let behind = offset_of!(groth16_engine_options, jobs_per_device);
    assert_fails(engine(sized(&options, behind).pointer()), status::INVALID, &["backend"]);
    // The whole struct is there, but the caller says that its own is shorter.
    let whole = Guarded::of_struct(&options, size_of::<groth16_engine_options>());
    unsafe { whole.pointer::<usize>().write_unaligned(HEAD) };
    assert_eq!(engine(whole.pointer()), Ok(()));
}

#[test]
fn circuit_options() {
    let setup = Setup::small();
    let load = |pointer: *const groth16_circuit_options| {
        let mut circuit = null_mut();
        let made = outcome(unsafe { (api().groth16_circuit_load)(setup.engine.raw(), pointer, &raw mut circuit) });
        unsafe { (api().groth16_circuit_free)(circuit) };
        made
    };
    let bytes = setup.fixture.r1cs_bytes();
    let mut options = init::<groth16_circuit_options>();
    (options.data, options.data_len) = (bytes.as_ptr().cast(), bytes.len());
    check_sizes(&options, &load);
    // Without the matrices, as a first version might have been.
    options.num_rows = 1;
    options.a.row_starts = with_exposed_provenance(8);
    assert_eq!(load(sized(&options, offset_of!(groth16_circuit_options, a)).pointer()), Ok(()));
    assert_fails(load(sized(&options, HEAD).pointer()), status::INVALID, &["no circuit"]);
}

#[test]
fn pk_options() {
    let setup = Setup::small();
    let load = |pointer: *const groth16_pk_options| {
        let mut pk = null_mut();
        let made = outcome(unsafe { (api().groth16_pk_load)(setup.engine.raw(), pointer, &raw mut pk) });
        unsafe { (api().groth16_pk_free)(pk) };
        made
    };
    let bytes = &setup.fixture.key;
    let mut options = init::<groth16_pk_options>();
    (options.data, options.data_len) = (bytes.as_ptr().cast(), bytes.len());
    options.circuit = setup.circuit.raw();
    check_sizes(&options, &load);
    options.format = 99;
    options.blake2b = with_exposed_provenance(8);
    assert_eq!(load(sized(&options, offset_of!(groth16_pk_options, a_aux)).pointer()), Ok(()));
    assert_fails(load(sized(&options, HEAD).pointer()), status::INVALID, &["no key"]);
}

#[test]
fn job_options() {
    let setup = Setup::small();
    let request = setup.fixture.request(Form::Canonical);
    let start = |pointer: *const groth16_job_options| {
        let mut job = null_mut();
        let (engine, pk) = (setup.engine.raw(), setup.key.raw());
        let made = outcome(unsafe { (api().groth16_start)(engine, pk, pointer, &raw mut job) });
        if made.is_ok() {
            let proof = unsafe { ffi_tests::handles::finalize(job) };
            assert_eq!(proof.unwrap(), setup.fixture.proof.to_compressed());
        }
        unsafe { (api().groth16_free)(job) };
        made
    };
    let mut options = request.options(Some(&setup.circuit));
    check_sizes(&options, &start);
    options.scalar_form = 99;
    options.proof_format = 99;
    assert_eq!(start(sized(&options, offset_of!(groth16_job_options, scalar_form)).pointer()), Ok(()));
    assert_fails(start(sized(&options, HEAD).pointer()), status::INVALID, &["inputs"]);
}

#[test]
fn out_structs_are_written_within_their_size() {
    let setup = Setup::small();
    let job = setup.start(true, setup.fixture.request(Form::Canonical)).unwrap();
    job.wait(-1).unwrap();
    let (engine, circuit, pk) = (setup.engine.raw(), setup.circuit.raw(), setup.key.raw());
    check_writes(&|p: *mut groth16_progress| unsafe { (api().groth16_poll)(job.raw(), p) });
    check_writes(&|p: *mut groth16_circuit_info| unsafe { (api().groth16_circuit_get_info)(circuit, p) });
    check_writes(&|p: *mut groth16_pk_info| unsafe { (api().groth16_pk_get_info)(pk, p) });
    check_writes(&|p: *mut groth16_engine_info| unsafe { (api().groth16_engine_get_info)(engine, p) });
}

/// The call writes the same each time, as much of it as the caller's struct takes.
fn check_writes<T: SizedStruct>(call: &dyn Fn(*mut T) -> i32) {
    let (name, whole) = (T::NAME, size_of::<T>());
    let mut right = init::<T>();
    assert_eq!(outcome(call(&raw mut right)), Ok(()));
    let right = Guarded::of_struct(&right, whole).bytes();
    for size in [HEAD, HEAD + 4, 12, 16, 20, 31, whole - 1, whole, whole + 1, whole + 64, 4096] {
        // Right before a page without access, with rubbish in it.
        let guarded = Guarded::new(&vec![0xa5; size]);
        unsafe { guarded.pointer::<usize>().write_unaligned(size) };
        assert_eq!(outcome(call(guarded.pointer())), Ok(()), "{name}: {size}");
        let got = guarded.bytes();
        let known = size.min(whole);
        assert_eq!(got[..HEAD], size.to_ne_bytes(), "{name}: struct_size changed");
        assert_eq!(got[HEAD..known], right[HEAD..known], "{name}: {size}");
        assert!(got[known..].iter().all(|byte| *byte == 0), "{name}: {size}: the rest is not zeroed");
    }
    // The struct is larger than its size says: nothing beyond is touched.
    let guarded = Guarded::new(&[0xa5; 200]);
    unsafe { guarded.pointer::<usize>().write_unaligned(24) };
    assert_eq!(outcome(call(guarded.pointer())), Ok(()));
    assert!(guarded.bytes()[24..].iter().all(|byte| *byte == 0xa5), "{name}");
    for wrong in [0, 7, 4097, usize::MAX] {
        let guarded = Guarded::new(&[0xa5; 80]);
        unsafe { guarded.pointer::<usize>().write_unaligned(wrong) };
        assert_fails(outcome(call(guarded.pointer())), status::INVALID, &[name, "struct_size"]);
        assert!(guarded.bytes()[HEAD..].iter().all(|byte| *byte == 0xa5), "{name}: written on an error");
    }
}
