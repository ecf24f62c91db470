//! Handles of the C ABI that free themselves, for tests that behave well. What a closure puts into an option struct
//! must be alive during the call.

use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use groth16::ffi::circuit::{groth16_circuit, groth16_circuit_options, groth16_matrix};
use groth16::ffi::engine::{groth16_engine, groth16_engine_options};
use groth16::ffi::job::{groth16_job, groth16_job_options, groth16_progress, groth16_scalars};
use groth16::ffi::pk::{groth16_pk, groth16_pk_options};
use groth16::formats::r1cs::{R1cs, Rows};

use crate::capi::{api, init};

/// A status that is not OK, with the message of the thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// A `groth16_status`.
    pub status: i32,
    /// What `groth16_last_error` says.
    pub message: String,
}

/// What fallible calls give.
pub type Outcome<T> = Result<T, Failure>;

/// A status as a result.
pub fn check(status: i32) -> Outcome<()> {
    if status == 0 { Ok(()) } else { Err(Failure { status, message: api().last_error() }) }
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $raw:ident, $free:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name(*mut $raw);

        // SAFETY: the header allows any call from any thread.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl $name {
            /// The C handle, still owned by this value.
            pub fn raw(&self) -> *mut $raw {
                self.0
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: this value is the handle's only owner.
                unsafe { (api().$free)(self.0) }
            }
        }
    };
}

handle!(
    /// An engine.
    Engine, groth16_engine, groth16_engine_free
);
handle!(
    /// A circuit.
    Circuit, groth16_circuit, groth16_circuit_free
);
handle!(
    /// A key.
    Key, groth16_pk, groth16_pk_free
);

impl Engine {
    /// An engine on the CPU.
    pub fn new(configure: impl FnOnce(&mut groth16_engine_options)) -> Outcome<Self> {
        let mut options = init::<groth16_engine_options>();
        options.backend = 2;
        configure(&mut options);
        let mut raw = null_mut();
        // SAFETY: the struct is set up, the pointer is writable.
        check(unsafe { (api().groth16_engine_create)(&raw const options, &raw mut raw) })?;
        Ok(Self(raw))
    }

    /// A circuit from what the closure puts into the options.
    pub fn circuit(&self, configure: impl FnOnce(&mut groth16_circuit_options)) -> Outcome<Circuit> {
        let mut options = init();
        configure(&mut options);
        let mut raw = null_mut();
        // SAFETY: the handle is live, the struct is set up, the pointer is writable.
        check(unsafe { (api().groth16_circuit_load)(self.0, &raw const options, &raw mut raw) })?;
        Ok(Circuit(raw))
    }

    /// A circuit from the bytes of an .r1cs file.
    pub fn circuit_from_bytes(&self, bytes: &[u8]) -> Outcome<Circuit> {
        self.circuit(|options| (options.data, options.data_len) = (bytes.as_ptr().cast(), bytes.len()))
    }

    /// A circuit from its matrices.
    pub fn circuit_from_matrices(&self, r1cs: &R1cs) -> Outcome<Circuit> {
        let num_inputs = 1 + r1cs.num_public_outputs + r1cs.num_public_inputs;
        self.circuit(|options| {
            (options.a, options.b, options.c) = (matrix(&r1cs.a), matrix(&r1cs.b), matrix(&r1cs.c));
            options.num_rows = r1cs.num_constraints.into();
            options.num_inputs = num_inputs.into();
            options.num_aux = (r1cs.num_wires - num_inputs).into();
        })
    }

    /// A key from what the closure puts into the options.
    pub fn key(&self, configure: impl FnOnce(&mut groth16_pk_options)) -> Outcome<Key> {
        let mut options = init();
        configure(&mut options);
        let mut raw = null_mut();
        // SAFETY: the handle is live, the struct is set up, the pointer is writable.
        check(unsafe { (api().groth16_pk_load)(self.0, &raw const options, &raw mut raw) })?;
        Ok(Key(raw))
    }

    /// A key from the bytes of a file and its circuit.
    pub fn key_from_bytes(&self, bytes: &[u8], circuit: &Circuit) -> Outcome<Key> {
        self.key(|options| {
            (options.data, options.data_len) = (bytes.as_ptr().cast(), bytes.len());
            options.circuit = circuit.raw();
        })
    }

    /// A key from a file and its circuit.
    pub fn key_from_file(&self, path: &Path, circuit: &Circuit) -> Outcome<Key> {
        let path = c_path(path);
        self.key(|options| (options.path, options.circuit) = (path.as_ptr(), circuit.raw()))
    }

    /// Starts a job; with a circuit the request's rows stay unused.
    pub fn start(&self, key: &Key, circuit: Option<&Circuit>, request: &Arc<Request>) -> Outcome<Job> {
        let options = request.options(circuit);
        let mut raw = null_mut();
        // SAFETY: the handles are live; the request lives as long as the job.
        check(unsafe { (api().groth16_start)(self.0, key.0, &raw const options, &raw mut raw) })?;
        Ok(Job { raw, request: Arc::clone(request) })
    }
}

impl Key {
    /// Whether a proof verifies for inputs of 32 canonical little-endian bytes each.
    pub fn verify(&self, inputs: &[u8], proof: &[u8]) -> Outcome<bool> {
        let mut valid = -7;
        // SAFETY: the handle is live, lengths fit, the pointer is writable.
        let status = unsafe {
            (api().groth16_verify)(self.0, scalars(inputs), proof.as_ptr().cast(), proof.len(), &raw mut valid)
        };
        assert!(if status == 0 { valid == 0 || valid == 1 } else { valid == -7 }, "status {status}, valid {valid}");
        check(status).map(|()| valid == 1)
    }
}

/// A path as C wants it.
pub fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

/// A matrix that borrows the rows.
pub fn matrix(rows: &Rows) -> groth16_matrix {
    groth16_matrix {
        row_starts: rows.row_starts.as_ptr(),
        columns: rows.columns.as_ptr(),
        values: rows.values.as_ptr().cast(),
    }
}

/// Scalars that borrow their bytes.
pub fn scalars(bytes: &[u8]) -> groth16_scalars {
    let data: *const u8 = if bytes.is_empty() { null() } else { bytes.as_ptr() };
    groth16_scalars { data: data.cast(), count: bytes.len() / 32 }
}

/// What a host's event function does.
pub type OnEvent = Box<dyn Fn(*mut groth16_job, i32) + Send + Sync>;

/// All memory that a job borrows, and its choices.
#[derive(Default)]
pub struct Request {
    /// Evaluations a, b, c; unused with a circuit.
    pub rows: [Vec<u8>; 3],
    /// Inputs, the constant one first.
    pub inputs: Vec<u8>,
    /// The other variables.
    pub aux: Vec<u8>,
    /// Blinding scalars.
    pub blinding: Option<[[u8; 32]; 2]>,
    /// GROTH16_SCALARS_...
    pub scalar_form: i32,
    /// Higher goes first.
    pub priority: i32,
    /// GROTH16_PROOF_...
    pub proof_format: i32,
    /// Not 0: no verification.
    pub skip_self_check: i32,
    /// Called for events.
    pub on_event: Option<OnEvent>,
}

impl Request {
    /// The C struct; it borrows from this value.
    pub fn options(&self, circuit: Option<&Circuit>) -> groth16_job_options {
        let mut options = init::<groth16_job_options>();
        match circuit {
            Some(circuit) => options.circuit = circuit.raw(),
            None => [options.a, options.b, options.c] = [0, 1, 2].map(|i| scalars(&self.rows[i])),
        }
        (options.inputs, options.aux) = (scalars(&self.inputs), scalars(&self.aux));
        if let Some([r, s]) = &self.blinding {
            (options.r, options.s) = (r.as_ptr(), s.as_ptr());
        }
        (options.scalar_form, options.priority) = (self.scalar_form, self.priority);
        (options.proof_format, options.skip_self_check) = (self.proof_format, self.skip_self_check);
        if let Some(on_event) = &self.on_event {
            options.event = Some(forward);
            options.event_user = std::ptr::from_ref(on_event).cast_mut().cast();
        }
        options
    }
}

unsafe extern "C" fn forward(user: *mut c_void, job: *mut groth16_job, event: i32) {
    // SAFETY: `Request::options` put it there, and the request outlives its job.
    let on_event = unsafe { &*user.cast::<OnEvent>() };
    on_event(job, event);
}

/// A job with the memory that it borrows.
pub struct Job {
    raw: *mut groth16_job,
    request: Arc<Request>,
}

// SAFETY: the header allows any call from any thread.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    /// The C handle, still owned by this value.
    pub fn raw(&self) -> *mut groth16_job {
        self.raw
    }

    /// Gives the handle up: somebody else frees it. The memory that it borrows stays for ever.
    pub fn into_raw(self) -> *mut groth16_job {
        let raw = self.raw;
        std::mem::forget(self);
        raw
    }

    /// The memory that it borrows.
    pub fn request(&self) -> &Arc<Request> {
        &self.request
    }

    /// Where it is.
    pub fn poll(&self) -> groth16_progress {
        // SAFETY: the handle is live.
        unsafe { poll(self.raw) }
    }

    /// Waits.
    pub fn wait(&self, timeout_ns: i64) -> Outcome<()> {
        // SAFETY: the handle is live.
        check(unsafe { (api().groth16_wait)(self.raw, timeout_ns) })
    }

    /// The proof's bytes.
    pub fn finalize(&self) -> Outcome<Vec<u8>> {
        // SAFETY: the handle is live.
        unsafe { finalize(self.raw) }
    }

    /// Asks for the end.
    pub fn cancel(&self) {
        // SAFETY: the handle is live.
        unsafe { (api().groth16_cancel)(self.raw) }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: this value is the handle's only owner.
        unsafe { (api().groth16_free)(self.raw) }
    }
}

/// Where a job is.
///
/// # Safety
/// The handle is live.
pub unsafe fn poll(job: *mut groth16_job) -> groth16_progress {
    let mut progress = init();
    // SAFETY: the handle is live, the struct is set up.
    let status = unsafe { (api().groth16_poll)(job, &raw mut progress) };
    assert_eq!(status, 0, "groth16_poll: {}", api().last_error());
    progress
}

/// The proof of a job.
///
/// # Safety
/// The handle is live.
pub unsafe fn finalize(job: *mut groth16_job) -> Outcome<Vec<u8>> {
    let mut proof = vec![0u8; 4096];
    let mut len = usize::MAX;
    // SAFETY: the handle is live, the buffer has its capacity.
    let status = unsafe { (api().groth16_finalize)(job, proof.as_mut_ptr().cast(), proof.len(), &raw mut len) };
    check(status)?;
    proof.truncate(len);
    Ok(proof)
}
