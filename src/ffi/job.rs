//! Jobs: the split pipeline.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::buffer;
use super::callback::Events;
use super::circuit::groth16_circuit;
use super::engine::groth16_engine;
use super::guard;
use super::handle::{self, Handle, Tag};
use super::library::groth16_status;
use super::memory::{self, Borrowed};
use super::options::{choose, groth16_proof_format, groth16_scalar_form};
use super::pk::groth16_pk;
use super::sized::{self, SizedStruct};
use crate::engine::Jobs;
use crate::engine::core::Phase;
use crate::engine::job::{Job, Notice, Observer, Report};
use crate::engine::proof::{Groth16, ProofInput, RowSource};
use crate::error::{Error, Result, Status};
use crate::math::fr::Fr;
use crate::prover::epilogue::{Blinding, random_scalar, wipe_stack};
use crate::prover::witness::{SCALAR_BYTES, ScalarForm, Scalars};

/// One proof, from start to free.
pub struct groth16_job {
    /// Set before the job is submitted, so before any callback sees the handle.
    job: OnceLock<Arc<Job<Groth16>>>,
    jobs: Jobs<Groth16>,
    proof_format: groth16_proof_format,
    /// Whether devices have an index; the CPU has none.
    on_gpus: bool,
    tag: Arc<Tag>,
}

impl Handle for groth16_job {
    fn tag(&self) -> &Arc<Tag> {
        &self.tag
    }
}

impl groth16_job {
    fn job(&self) -> Result<&Arc<Job<Groth16>>> {
        self.job.get().ok_or_else(|| Error::internal("a job handle without a job"))
    }
}

/// Scalars of 32 bytes each, little-endian.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_scalars {
    pub data: *const c_void,
    pub count: usize,
}

/// Where a job is: see groth16_state_code. A job only moves down that list; one that is retried stays where it had come to.
pub type groth16_state = i32;

/// The values of groth16_state.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum groth16_state_code {
    GROTH16_QUEUED = 0,
    /// Evaluating or splitting scalars, or waiting for the device.
    GROTH16_PREPARING = 1,
    GROTH16_ON_DEVICE = 2,
    /// Only G2 MSM and epilogue are left; the device serves other jobs.
    GROTH16_FINISHING = 3,
    /// From here on, terminal.
    GROTH16_DONE = 16,
    GROTH16_FAILED = 17,
    GROTH16_CANCELLED = 18,
}

/// What a job tells: see groth16_event_code.
pub type groth16_event = i32;

/// The values of groth16_event.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum groth16_event_code {
    /// a, b, c may be freed or reused: when they were copied, or, where a GPU reads them in groth16_buffers, just before
    /// TERMINAL.
    GROTH16_EVENT_ABC_RELEASED = 1,
    /// Every input may be freed; the state is final.
    GROTH16_EVENT_TERMINAL = 2,
}

/// Called on a library thread with no lock held, perhaps before groth16_start has returned. ABC_RELEASED at most once
/// and before TERMINAL; TERMINAL exactly once for every started job. It may call start, poll, cancel and last_error;
/// at TERMINAL also finalize and free of this job, whose handle the thread in start must then not use. Other calls
/// that could wait answer GROTH16_E_INVALID there. Return quickly.
pub type groth16_event_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, job: *mut groth16_job, event: groth16_event)>;

/// What a job proves and how.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_job_options {
    pub struct_size: usize,
    /// with it a, b, c stay empty; else they are the evaluations of all rows of the key, those that its form adds
    /// included
    pub circuit: *const groth16_circuit,
    pub a: groth16_scalars,
    pub b: groth16_scalars,
    /// may stay empty: then a wrong witness is found by the self-check only
    pub c: groth16_scalars,
    /// the first is one
    pub inputs: groth16_scalars,
    pub aux: groth16_scalars,
    /// 32 bytes each, canonical, copied; default: the system's random numbers
    pub r: *const u8,
    pub s: *const u8,
    /// GROTH16_SCALARS_...
    pub scalar_form: i32,
    /// higher goes first; among equals, first in first out. A job that has waited for 5 minutes gets one of any four
    /// starts, oldest first, unless a job of INT32_MAX waits
    pub priority: i32,
    /// GROTH16_PROOF_...
    pub proof_format: i32,
    /// 0: the proof is verified before DONE
    pub skip_self_check: i32,
    pub event: groth16_event_fn,
    pub event_user: *mut c_void,
}

// SAFETY: repr(C), struct_size first; integers, raw pointers and an optional function may be zero.
unsafe impl SizedStruct for groth16_job_options {
    const NAME: &'static str = "groth16_job_options";
}

/// Where a job is. Times are nanoseconds; that of a phase that has not ended counts up to now.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_progress {
    pub struct_size: usize,
    pub state: groth16_state,
    /// GROTH16_OK until the job has failed
    pub result: groth16_status,
    /// index, or -1 for the CPU or before one was chosen
    pub device: i64,
    pub abc_released: u32,
    pub retries: u32,
    pub queued_ns: u64,
    pub prepare_ns: u64,
    pub device_ns: u64,
    pub finish_ns: u64,
}

// SAFETY: repr(C), struct_size first; integers.
unsafe impl SizedStruct for groth16_progress {
    const NAME: &'static str = "groth16_progress";
}

/// Checks sizes and queues the job; never waits for a device. Engine, pk and circuit must belong together. The option
/// struct is read before this returns; the scalars are borrowed and must not change until released. c may stay empty.
///
/// # Safety
/// The handles are live; `options` points to `struct_size` readable bytes whose pointers fit their counts and stay
/// valid until the job is terminal; `job` is writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_start(
    engine: *mut groth16_engine,
    pk: *mut groth16_pk,
    options: *const groth16_job_options,
    job: *mut *mut groth16_job,
) -> groth16_status {
    guard::status(|| {
        memory::check_out(job, "job")?;
        // SAFETY: by this function's contract.
        let engine = unsafe { handle::borrow(engine, "engine") }?;
        // SAFETY: by this function's contract.
        let pk = unsafe { handle::borrow(pk, "pk") }?;
        handle::check_together(engine, pk, "pk")?;
        // SAFETY: by this function's contract.
        let options = unsafe { sized::read(options) }?;
        // SAFETY: by this function's contract.
        let input = unsafe { proof_input(engine, pk, &options) }?;
        input.check_sizes()?;
        let proof_format = proof_format(options.proof_format)?;
        let jobs = engine.engine.jobs();
        let tag = Arc::clone(engine.tag());
        let on_gpus = engine.engine.has_gpus();
        let created = handle::give(groth16_job { job: OnceLock::new(), jobs, proof_format, on_gpus, tag });
        let submitted = submit(engine, input, &options, created, job);
        if submitted.is_err() {
            // SAFETY: it was made above, and a job that was refused has no callback that could have seen it.
            drop(unsafe { Box::from_raw(created) });
        }
        submitted
    })
}

/// Where a job is; never waits for work.
///
/// # Safety
/// `job` is a live handle; `progress` points to `struct_size` writable bytes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_poll(job: *const groth16_job, progress: *mut groth16_progress) -> groth16_status {
    guard::status(|| {
        // SAFETY: by this function's contract.
        let job = unsafe { handle::borrow(job, "job") }?;
        let report = job.jobs.report(job.job()?);
        let filled = fill_progress(&report, job.on_gpus);
        // SAFETY: by this function's contract.
        unsafe { sized::write(progress, &filled) }
    })
}

/// GROTH16_OK once terminal, whatever the result; timeout_ns 0 only looks, below 0 waits for ever. A wait in another
/// thread is a use: do not free under it.
///
/// # Safety
/// `job` is a live handle.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_wait(job: *const groth16_job, timeout_ns: i64) -> groth16_status {
    guard::status(|| {
        // SAFETY: by this function's contract.
        let job = unsafe { handle::borrow(job, "job") }?.job()?;
        let ended = match u64::try_from(timeout_ns) {
            Ok(0) => job.result().is_some(),
            Ok(timeout) => {
                guard::refuse_in_callback()?;
                // A deadline beyond the clock is for ever.
                job.wait(Instant::now().checked_add(Duration::from_nanos(timeout)))
            }
            Err(_) => {
                guard::refuse_in_callback()?;
                job.wait(None)
            }
        };
        if ended {
            Ok(())
        } else {
            Err(Error::new(Status::Timeout, format!("the job is not terminal after {timeout_ns} ns")))
        }
    })
}

/// Asks: the job becomes terminal soon, perhaps still DONE.
///
/// # Safety
/// `job` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_cancel(job: *mut groth16_job) {
    guard::silent(|| {
        // SAFETY: by this function's contract.
        if let Ok(job) = unsafe { handle::borrow(job, "job") }
            && let Ok(inner) = job.job()
        {
            job.jobs.cancel(inner);
        }
    });
}

/// Waits until the job is terminal (it joins the G2 MSM), then copies the proof out; may be repeated. In the callback,
/// and once poll or wait said terminal, it returns at once. If the job failed it returns why, and sets the message.
/// *len is written on OK and on GROTH16_E_TOO_SMALL; proof NULL with cap 0 asks the size.
///
/// # Safety
/// `job` is a live handle; `proof` is NULL or has `cap` writable bytes; `len` is writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_finalize(
    job: *const groth16_job,
    proof: *mut c_void,
    cap: usize,
    len: *mut usize,
) -> groth16_status {
    use groth16_proof_format::{GROTH16_PROOF_COMPRESSED, GROTH16_PROOF_JSON, GROTH16_PROOF_UNCOMPRESSED};
    guard::status(|| {
        // SAFETY: by this function's contract.
        let handle = unsafe { handle::borrow(job, "job") }?;
        let job = handle.job()?;
        memory::check_out(len, "len")?;
        let result = match job.result() {
            Some(result) => result,
            None => {
                guard::refuse_in_callback()?;
                job.wait(None);
                job.result().ok_or_else(|| Error::internal("a terminal job without a result"))?
            }
        };
        let found = result?;
        let bytes = match handle.proof_format {
            GROTH16_PROOF_COMPRESSED => found.to_compressed().to_vec(),
            GROTH16_PROOF_UNCOMPRESSED => found.to_uncompressed().to_vec(),
            GROTH16_PROOF_JSON => found.to_json().into_bytes(),
        };
        // SAFETY: by this function's contract.
        unsafe { memory::copy_out(&bytes, proof, cap, len) }
    })
}

/// Releases a job in any state. Cancels if need be; returns only when the library is done with the job's scalars and
/// its callback. In a callback it never waits: there it is for the job whose TERMINAL event it is; any other job's
/// scalars must then live until that job's own TERMINAL event, which still comes, with the freed handle as a mere number.
///
/// # Safety
/// `job` is NULL or a handle that is used by nobody else now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_free(job: *mut groth16_job) {
    guard::silent(|| {
        // SAFETY: by this function's contract.
        let Some(handle) = (unsafe { handle::take(job) }) else { return };
        let Ok(job) = handle.job() else { return };
        handle.jobs.cancel(job);
        if !guard::in_callback() {
            job.wait_released();
        }
    });
}

/// Bytes that the host has lent, and the buffer that they lie in.
struct Lent {
    bytes: Borrowed,
    _buffer: Option<Arc<buffer::Memory>>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

/// Creates and submits the job of a new handle. The handle is handed to the host before its callback can run.
fn submit(
    engine: &groth16_engine,
    input: ProofInput,
    options: &groth16_job_options,
    handle: *mut groth16_job,
    out: *mut *mut groth16_job,
) -> Result<()> {
    let events = Events::new(options.event, options.event_user, handle);
    let observer: Observer = Box::new(move |notice| {
        events.send(match notice {
            Notice::EvaluationsReleased => groth16_event_code::GROTH16_EVENT_ABC_RELEASED as i32,
            Notice::Terminal => groth16_event_code::GROTH16_EVENT_TERMINAL as i32,
        });
    });
    let job = engine.engine.create(input, Some(observer));
    // SAFETY: the handle was just made and nobody else has it; `out` was checked. What stood there may be
    // uninitialised, so it is kept as bytes; it is put back if the job is refused.
    let before = unsafe {
        let _ = (*handle).job.set(Arc::clone(&job));
        let before = out.cast::<MaybeUninit<*mut groth16_job>>().read_unaligned();
        memory::set(out, handle);
        before
    };
    engine.engine.submit(&job, options.priority).inspect_err(|_| {
        // SAFETY: as above; a job that was refused has no callback, so the host is still inside the call.
        unsafe { memory::set(out.cast(), before) };
    })
}

/// # Safety
/// As for `groth16_start`.
unsafe fn proof_input(engine: &groth16_engine, pk: &groth16_pk, options: &groth16_job_options) -> Result<ProofInput> {
    let forms = [ScalarForm::Canonical, ScalarForm::Montgomery];
    const _: () = assert!(groth16_scalar_form::GROTH16_SCALARS_MONTGOMERY as i32 == 1);
    let form = choose(options.scalar_form, &forms, "scalar_form")?;
    let scalars = |scalars: &groth16_scalars, name: &'static str| {
        let len = scalars.count.checked_mul(SCALAR_BYTES);
        let len = len.ok_or_else(|| Error::invalid(format!("{name}: {} scalars are impossible", scalars.count)))?;
        // SAFETY: by this function's contract.
        let bytes = unsafe { Borrowed::new(scalars.data, len, name) }?;
        let buffer = engine.buffers.containing(scalars.data, len);
        let is_locked = buffer.as_ref().is_some_and(|buffer| buffer.is_locked());
        Ok(Scalars::new(name, Box::new(Lent { bytes, _buffer: buffer }), form)?.in_pages(is_locked))
    };
    // SAFETY: by this function's contract.
    let rows = match unsafe { options.circuit.as_ref() } {
        Some(circuit) => {
            circuit.tag().check()?;
            handle::check_together(engine, circuit, "circuit")?;
            if [options.a.count, options.b.count, options.c.count] != [0; 3] {
                return Err(Error::invalid("a, b and c must stay empty beside a circuit"));
            }
            RowSource::Circuit(Arc::clone(&circuit.circuit))
        }
        None => RowSource::Given {
            a: scalars(&options.a, "a")?,
            b: scalars(&options.b, "b")?,
            c: scalars(&options.c, "c")?,
        },
    };
    // SAFETY: by this function's contract.
    let blinding = unsafe { blinding(options) };
    wipe_stack();
    let blinding = blinding?;
    Ok(ProofInput {
        key: Arc::clone(&pk.key),
        rows,
        inputs: scalars(&options.inputs, "inputs")?,
        aux: scalars(&options.aux, "aux")?,
        blinding,
        self_check: options.skip_self_check == 0,
    })
}

/// The caller's scalars, or uniform ones from the system. A call of its own, whose stack is wiped afterwards.
///
/// # Safety
/// As for `groth16_start`.
#[inline(never)]
unsafe fn blinding(options: &groth16_job_options) -> Result<Blinding> {
    Blinding::fill(|r, s| {
        // SAFETY: by this function's contract.
        unsafe {
            blinding_scalar(options.r, "r", r)?;
            blinding_scalar(options.s, "s", s)
        }
    })
}

/// Writes the caller's scalar, or a uniform one from the system.
///
/// # Safety
/// `data` is NULL or has 32 readable bytes.
unsafe fn blinding_scalar(data: *const u8, name: &str, out: &mut Fr) -> Result<()> {
    // SAFETY: by this function's contract.
    let Some(bytes) = (unsafe { memory::array::<32>(data) }) else { return random_scalar(out) };
    *out = Fr::from_le_bytes(bytes).ok_or_else(|| Error::invalid(format!("{name} is not below the group order r")))?;
    Ok(())
}

fn proof_format(value: i32) -> Result<groth16_proof_format> {
    use groth16_proof_format::{GROTH16_PROOF_COMPRESSED, GROTH16_PROOF_JSON, GROTH16_PROOF_UNCOMPRESSED};
    let formats = [GROTH16_PROOF_COMPRESSED, GROTH16_PROOF_UNCOMPRESSED, GROTH16_PROOF_JSON];
    choose(value, &formats, "proof_format")
}

fn fill_progress(report: &Report, on_gpus: bool) -> groth16_progress {
    let device = report.device.filter(|_| on_gpus).and_then(|device| i64::try_from(device).ok());
    groth16_progress {
        struct_size: size_of::<groth16_progress>(),
        state: state(report) as groth16_state,
        result: report.result.as_ref().map_or(0, guard::code),
        device: device.unwrap_or(-1),
        abc_released: report.evaluations_released.into(),
        retries: report.retries,
        queued_ns: report.queued,
        prepare_ns: report.prepare,
        device_ns: report.device_time,
        finish_ns: report.finish,
    }
}

fn state(report: &Report) -> groth16_state_code {
    match (report.phase, &report.result) {
        (_, Some(Ok(()))) => groth16_state_code::GROTH16_DONE,
        (_, Some(Err(error))) if error.status() == Status::Cancelled => groth16_state_code::GROTH16_CANCELLED,
        (_, Some(Err(_))) => groth16_state_code::GROTH16_FAILED,
        (Phase::Queued, None) => groth16_state_code::GROTH16_QUEUED,
        (Phase::Preparing, None) => groth16_state_code::GROTH16_PREPARING,
        (Phase::OnDevice, None) => groth16_state_code::GROTH16_ON_DEVICE,
        (Phase::Finishing | Phase::Terminal, None) => groth16_state_code::GROTH16_FINISHING,
    }
}
