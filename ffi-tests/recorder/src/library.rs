//! This project's library as hosts use it: the built shared object, opened at run time, through its C ABI.
//!
//! The bench opens the file instead of linking the crate, so that it measures what is shipped and shares no thread
//! pool with the peer in the same process. The structs mirror `groth16.h`; a library with longer ones takes the
//! missing fields as zero.

use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use bls12_381::Scalar;
use ff::PrimeField;
use libloading::Symbol;

use crate::fixtures::kind_file;
use crate::peer::Timed;
use crate::r1cs::Witness;
use crate::sapling::Kind;

const BACKEND_CPU: u32 = 2;
const FORMAT_BELLMAN: i32 = 1;
/// The curve alone is checked: the keys come from a crate with a checksum, and subgroup checks take seconds.
const CHECK_ON_CURVE: i32 = 1;

#[repr(C)]
struct EngineOptions {
    struct_size: usize,
    device_uuids: *const *const c_char,
    num_device_uuids: usize,
    backend: u32,
    jobs_per_device: u32,
    cpu_threads: u32,
    g2_placement: u32,
    max_queued_jobs: u64,
    host_bytes_limit: u64,
    pinned_bytes_limit: u64,
    device_bytes_limit: u64,
    log: *const c_void,
    log_user: *mut c_void,
    log_level: i32,
    reserved: i32,
}

#[repr(C)]
struct Bits {
    words: *const u64,
    count: usize,
}

#[repr(C)]
struct PkOptions {
    struct_size: usize,
    path: *const c_char,
    data: *const c_void,
    data_len: usize,
    circuit: *const c_void,
    densities: [Bits; 3],
    format: i32,
    point_checks: i32,
    blake2b: *const u8,
    progress: *const c_void,
    progress_user: *mut c_void,
}

#[repr(C)]
struct Matrix {
    row_starts: *const u64,
    columns: *const u32,
    values: *const c_void,
}

#[repr(C)]
struct CircuitOptions {
    struct_size: usize,
    path: *const c_char,
    data: *const c_void,
    data_len: usize,
    matrices: [Matrix; 3],
    num_rows: u64,
    num_inputs: u64,
    num_aux: u64,
}

#[repr(C)]
struct Scalars {
    data: *const c_void,
    count: usize,
}

#[repr(C)]
struct JobOptions {
    struct_size: usize,
    circuit: *const c_void,
    abc: [Scalars; 3],
    inputs: Scalars,
    aux: Scalars,
    r: *const u8,
    s: *const u8,
    scalar_form: i32,
    priority: i32,
    proof_format: i32,
    skip_self_check: i32,
    event: *const c_void,
    event_user: *mut c_void,
}

/// A struct of `groth16.h` with every field zero except its size, like the macro `GROTH16_INIT`.
///
/// # Safety
/// `T` must be one of the structs above: its first field is the size, and all zeros are a value of it.
unsafe fn init<T>() -> T {
    // SAFETY: the caller promises that zeros are a T and that it begins with a usize.
    unsafe {
        let mut options: T = std::mem::zeroed();
        ptr::from_mut(&mut options).cast::<usize>().write(size_of::<T>());
        options
    }
}

/// The shared object.
#[derive(Debug)]
pub struct Library {
    library: libloading::Library,
}

type Status = i32;

impl Library {
    /// Opens the shared object at `path`.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        // SAFETY: loading libgroth16 runs no code of it beyond its runtime's own initialisers.
        let library = unsafe { libloading::Library::new(path) };
        Ok(Self { library: library.with_context(|| format!("cannot open {} (run `make`)", path.display()))? })
    }

    /// # Safety
    /// `F` must be the function pointer type of `name` in `groth16.h`.
    unsafe fn get<F>(&self, name: &str) -> anyhow::Result<Symbol<'_, F>> {
        // SAFETY: the caller promises that the type is right.
        unsafe { self.library.get(name) }.with_context(|| format!("the library has no {name}"))
    }

    fn check(&self, status: Status, call: &str) -> anyhow::Result<()> {
        if status == 0 {
            return Ok(());
        }
        let mut text: [c_char; 512] = [0; 512];
        // SAFETY: the types are those of the header; the name is a static string, the text fits its buffer.
        let name = unsafe {
            let status_name = self.get::<unsafe extern "C" fn(Status) -> *const c_char>("groth16_status_name")?;
            let last_error = self.get::<unsafe extern "C" fn(*mut c_char, usize) -> usize>("groth16_last_error")?;
            last_error(text.as_mut_ptr(), text.len() - 1);
            CStr::from_ptr(status_name(status)).to_string_lossy()
        };
        // SAFETY: the last byte was not given away and is zero.
        bail!("{call}: {name}: {}", unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy())
    }
}

/// An engine on the CPU with one circuit and its key.
#[derive(Debug)]
pub struct Prover<'a> {
    library: &'a Library,
    engine: *mut c_void,
    circuit: *mut c_void,
    pk: *mut c_void,
    num_inputs: usize,
}

impl<'a> Prover<'a> {
    /// Loads a kind's key and circuit from a directory of fixtures into an engine with `threads` CPU threads.
    pub fn new(library: &'a Library, fixtures: &Path, kind: Kind, threads: u32) -> anyhow::Result<Self> {
        let (_, num_inputs, _) = kind.shape();
        let null = ptr::null_mut();
        let mut prover = Self { library, engine: null, circuit: null, pk: null, num_inputs };
        let path = |extension| CString::new(kind_file(fixtures, kind, extension).as_os_str().as_bytes());
        let (circuit_path, pk_path) = (path("r1cs")?, path("params")?);
        // SAFETY: the signatures are those of the header; every struct is set up by `init` and outlives its call, as
        // do the paths; handles are written on success only and go to Drop.
        unsafe {
            let create = library.get::<unsafe extern "C" fn(*const EngineOptions, *mut *mut c_void) -> Status>(
                "groth16_engine_create",
            )?;
            let options = EngineOptions { backend: BACKEND_CPU, cpu_threads: threads, ..init() };
            library.check(create(&options, &mut prover.engine), "groth16_engine_create")?;

            let load = library
                .get::<unsafe extern "C" fn(*mut c_void, *const CircuitOptions, *mut *mut c_void) -> Status>(
                    "groth16_circuit_load",
                )?;
            let options = CircuitOptions { path: circuit_path.as_ptr(), ..init() };
            library.check(load(prover.engine, &options, &mut prover.circuit), "groth16_circuit_load")?;

            let load = library.get::<unsafe extern "C" fn(*mut c_void, *const PkOptions, *mut *mut c_void) -> Status>(
                "groth16_pk_load",
            )?;
            let options = PkOptions {
                path: pk_path.as_ptr(),
                circuit: prover.circuit,
                format: FORMAT_BELLMAN,
                point_checks: CHECK_ON_CURVE,
                ..init()
            };
            library.check(load(prover.engine, &options, &mut prover.pk), "groth16_pk_load")?;
        }
        Ok(prover)
    }

    /// Proves `witness` with the randomness `r`, `s`; the time is that from start to the proof in hand, with the
    /// library's own verification of it.
    pub fn prove(&self, witness: &Witness, r: Scalar, s: Scalar) -> anyhow::Result<Timed> {
        let values: Vec<[u8; 32]> = witness.iter().map(PrimeField::to_repr).collect();
        let (inputs, aux) = values.split_at(self.num_inputs);
        let scalars = |values: &[[u8; 32]]| Scalars { data: values.as_ptr().cast(), count: values.len() };
        let (r, s) = (r.to_repr(), s.to_repr());
        let mut proof = [0; 192];
        let mut len = 0;
        // SAFETY: the signatures are those of the header; options, scalars and buffers outlive the job, which is
        // freed before they go.
        unsafe {
            let start = self.library.get::<unsafe extern "C" fn(
                *mut c_void,
                *mut c_void,
                *const JobOptions,
                *mut *mut c_void,
            ) -> Status>("groth16_start")?;
            let finalize =
                self.library.get::<unsafe extern "C" fn(*const c_void, *mut c_void, usize, *mut usize) -> Status>(
                    "groth16_finalize",
                )?;
            let free = self.library.get::<unsafe extern "C" fn(*mut c_void)>("groth16_free")?;
            let options = JobOptions {
                circuit: self.circuit,
                inputs: scalars(inputs),
                aux: scalars(aux),
                r: r.as_ptr(),
                s: s.as_ptr(),
                ..init()
            };
            let begin = Instant::now();
            let mut job = ptr::null_mut();
            self.library.check(start(self.engine, self.pk, &options, &mut job), "groth16_start")?;
            let status = finalize(job, proof.as_mut_ptr().cast(), proof.len(), &mut len);
            let time = begin.elapsed();
            let result = self.library.check(status, "groth16_finalize");
            free(job);
            result?;
            ensure!(len == proof.len(), "the proof has {len} bytes instead of {}", proof.len());
            Ok(Timed { proof, time })
        }
    }
}

impl Drop for Prover<'_> {
    fn drop(&mut self) {
        let handles = [
            ("groth16_pk_free", self.pk),
            ("groth16_circuit_free", self.circuit),
            ("groth16_engine_free", self.engine),
        ];
        for (name, handle) in handles {
            // SAFETY: each handle is null or owned here, and goes once to the free function of its type.
            if let Ok(free) = unsafe { self.library.get::<unsafe extern "C" fn(*mut c_void)>(name) } {
                // SAFETY: as above.
                unsafe { free(handle) };
            }
        }
    }
}
