//! Engines.

use std::ffi::{c_char, c_void};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use super::backend::{self, Chosen};
use super::buffer::Buffers;
use super::callback::{Logger, groth16_log_fn};
use super::guard;
use super::handle::{self, Handle, Tag};
use super::library::groth16_status;
use super::memory;
use super::options::{groth16_backend, groth16_log_level};
use super::sized::{self, SizedStruct};
use crate::engine::config::Config;
use crate::engine::proof::Groth16;
use crate::engine::{DeviceNotice, Engine};
use crate::error::{Error, Result, Status};

/// Devices, worker threads, queue.
pub struct groth16_engine {
    pub(super) engine: Engine<Groth16>,
    pub(super) logger: Logger,
    pub(super) buffers: Arc<Buffers>,
    backend: groth16_backend,
    num_devices: u32,
    jobs_per_device: usize,
    device_bytes_limit: u64,
    tag: Arc<Tag>,
}

impl Handle for groth16_engine {
    fn tag(&self) -> &Arc<Tag> {
        &self.tag
    }
}

/// How an engine is built.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_engine_options {
    pub struct_size: usize,
    /// default: all devices; with none, the CPU. C strings as nvidia-smi writes them, each once
    pub device_uuids: *const *const c_char,
    pub num_device_uuids: usize,
    /// GROTH16_BACKEND_...
    pub backend: u32,
    /// slots that share one device, at most 64; default 2
    pub jobs_per_device: u32,
    /// one pool for all CPU work, at most 1024; default: all cores that the process may run on
    pub cpu_threads: u32,
    /// GROTH16_G2_...
    pub g2_placement: u32,
    /// beyond it GROTH16_E_QUEUE_FULL; default 64
    pub max_queued_jobs: u64,
    /// memory that keys and jobs may take; a job that does not fit beside what is in use is GROTH16_E_QUEUE_FULL, one
    /// that never fits GROTH16_E_NO_MEMORY; default: nine tenths of what is free at creation, limits of control groups
    /// included
    pub host_bytes_limit: u64,
    /// memory that buffers may take, besides what host_bytes_limit leaves them; 0: no limit of their own
    pub pinned_bytes_limit: u64,
    /// of each GPU, for keys, jobs and working memory; default: nine tenths of what is free at creation
    pub device_bytes_limit: u64,
    pub log: groth16_log_fn,
    pub log_user: *mut c_void,
    /// GROTH16_LOG_...; default GROTH16_LOG_INFO
    pub log_level: i32,
    pub reserved: i32,
}

// SAFETY: repr(C), struct_size first; integers, raw pointers and an optional function may be zero.
unsafe impl SizedStruct for groth16_engine_options {
    const NAME: &'static str = "groth16_engine_options";
}

/// Starts an engine. options may be NULL for all defaults.
///
/// # Safety
/// `options` is NULL or points to `struct_size` readable bytes; `engine` is writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_engine_create(
    options: *const groth16_engine_options,
    engine: *mut *mut groth16_engine,
) -> groth16_status {
    guard::waiting_status(|| {
        memory::check_out(engine, "engine")?;
        // SAFETY: by this function's contract.
        let options = if options.is_null() { None } else { Some(unsafe { sized::read(options) }?) };
        let created = create(options.as_ref())?;
        // SAFETY: checked above.
        unsafe { memory::set(engine, handle::give(created)) };
        Ok(())
    })
}

/// Takes no more jobs, ends those on a device, fails the rest with GROTH16_E_SHUTDOWN, joins all threads. When it
/// returns, each job is terminal and each callback has returned. Jobs, keys, circuits and buffers stay yours: poll, finalize
/// and verify still work on them. Not from a callback: there it does nothing. In a forked child every free function
/// returns without touching anything.
///
/// # Safety
/// `engine` is NULL or a handle that is used by nobody else now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_engine_free(engine: *mut groth16_engine) {
    guard::silent(|| {
        if !guard::in_callback() {
            // SAFETY: by this function's contract.
            drop(unsafe { handle::take(engine) });
        }
    });
}

/// What an engine is and does; limits of 0 are none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_engine_info {
    pub struct_size: usize,
    /// GROTH16_BACKEND_GPU or GROTH16_BACKEND_CPU
    pub backend: u32,
    /// GPUs
    pub num_devices: u32,
    pub jobs_per_device: u32,
    pub cpu_threads: u32,
    /// in force
    pub host_bytes_limit: u64,
    pub pinned_bytes_limit: u64,
    pub device_bytes_limit: u64,
    pub host_bytes_used: u64,
    pub pinned_bytes_used: u64,
    pub device_bytes_used: u64,
    pub queued_jobs: u64,
    pub running_jobs: u64,
}

// SAFETY: repr(C), struct_size first; integers.
unsafe impl SizedStruct for groth16_engine_info {
    const NAME: &'static str = "groth16_engine_info";
}

/// What an engine is and does now.
///
/// # Safety
/// `engine` is a live handle; `info` points to `struct_size` writable bytes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_engine_get_info(
    engine: *const groth16_engine,
    info: *mut groth16_engine_info,
) -> groth16_status {
    guard::status(|| {
        // SAFETY: by this function's contract.
        let engine = unsafe { handle::borrow(engine, "engine") }?;
        let usage = engine.engine.usage(engine.buffers.budget());
        let small = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let filled = groth16_engine_info {
            struct_size: size_of::<groth16_engine_info>(),
            backend: engine.backend as u32,
            num_devices: engine.num_devices,
            jobs_per_device: small(engine.jobs_per_device),
            cpu_threads: small(engine.engine.cpu_threads()),
            host_bytes_limit: usage.host_bytes.1,
            pinned_bytes_limit: usage.pinned_bytes.1,
            device_bytes_limit: engine.device_bytes_limit,
            host_bytes_used: usage.host_bytes.0,
            pinned_bytes_used: usage.pinned_bytes.0,
            device_bytes_used: usage.device_bytes,
            queued_jobs: usage.queued_jobs as u64,
            running_jobs: usage.running_jobs as u64,
        };
        // SAFETY: by this function's contract.
        unsafe { sized::write(info, &filled) }
    })
}

/// Prometheus text, no NUL at the end: queue depth, device busy and idle time, per-phase histograms, memory. *len is
/// written on OK and on GROTH16_E_TOO_SMALL; the text may grow between two calls.
///
/// # Safety
/// `engine` is a live handle; `buf` is NULL or has `cap` writable bytes; `len` is writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_engine_metrics(
    engine: *const groth16_engine,
    buf: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> groth16_status {
    guard::status(|| {
        // SAFETY: by this function's contract.
        let engine = unsafe { handle::borrow(engine, "engine") }?;
        let text = engine.engine.metrics(engine.buffers.budget());
        // SAFETY: by this function's contract.
        unsafe { memory::copy_out(text.as_bytes(), buf.cast(), cap, len) }
    })
}

/// Writes the timeline of what ran where to a file, as a Chrome trace (JSON) that Perfetto opens: the newest 16384
/// stages, a few thousand jobs.
///
/// # Safety
/// `engine` is a live handle; `path` is a C string.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_engine_trace(engine: *const groth16_engine, path: *const c_char) -> groth16_status {
    guard::waiting_status(|| {
        // SAFETY: by this function's contract.
        let engine = unsafe { handle::borrow(engine, "engine") }?;
        memory::check_out(path.cast_mut(), "path")?;
        // SAFETY: by this function's contract; checked above.
        let path = unsafe { memory::path(path) };
        let text = engine.engine.record().chrome_trace().to_string();
        write_file(path, text.as_bytes())
            .map_err(|error| Error::new(Status::Io, format!("{}: {error}", path.display())))
    })
}

/// How many memory-hungry CPU phases (G2 MSMs) run now: a host that synthesises on the same cores may yield while it
/// is not 0. A relaxed load; call it as often as you like. 0 for NULL.
///
/// # Safety
/// `engine` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_engine_memory_pressure(engine: *const groth16_engine) -> u32 {
    // SAFETY: by this function's contract.
    unsafe { engine.as_ref() }.map_or(0, |engine| engine.engine.g2_running())
}

/// Writes a file, or a device such as /dev/null; a pipe is refused, since it could wait for a reader for ever.
fn write_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let mut file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_fifo() || kind.is_socket() {
        return Err(std::io::Error::other("is a pipe"));
    }
    file.write_all(bytes)
}

fn create(options: Option<&groth16_engine_options>) -> Result<groth16_engine> {
    // A limit of 0 would be none: that is for machines that do not tell.
    let limit = crate::engine::memory::available_bytes().map_or(0, |free| (free / 10 * 9).max(1));
    let mut config = Config { host_bytes_limit: limit, ..Config::default() };
    let mut logger = Logger::new(None, std::ptr::null_mut(), 0);
    if let Some(options) = options {
        configure(&mut config, options)?;
        let level = if options.log_level == 0 { groth16_log_level::GROTH16_LOG_INFO as i32 } else { options.log_level };
        logger = Logger::new(options.log, options.log_user, level);
    }
    let buffers = Buffers::new(options.map_or(0, |options| options.pinned_bytes_limit));
    let chosen = backend::chosen(options)?;
    let Chosen { backend, kind, num_devices, device_bytes_limit, text, warning } = chosen;
    if let Some(warning) = warning {
        logger.log(groth16_log_level::GROTH16_LOG_WARN, &warning);
    }
    // The threads inherit the mask: the host's signals are the host's threads' business.
    let engine = {
        let _blocked = BlockedSignals::new();
        Engine::on(backend, &config, Box::new(move |notice| tell(&logger, notice)))?
    };
    let jobs_per_device = config.jobs_per_device;
    let text = format!(
        "libgroth16 {} on {text}: {} CPU threads, {jobs_per_device} jobs at a time on a device",
        env!("CARGO_PKG_VERSION"),
        config.cpu_threads,
    );
    logger.log(groth16_log_level::GROTH16_LOG_INFO, &text);
    Ok(groth16_engine {
        engine,
        logger,
        buffers,
        backend: kind,
        num_devices,
        jobs_per_device,
        device_bytes_limit,
        tag: Tag::new(),
    })
}

/// Logs that a device failed.
fn tell(logger: &Logger, notice: &DeviceNotice) {
    let device = notice.device;
    match &notice.error {
        None => {
            let text = format!("device {device} failed and gets a new context");
            logger.log(groth16_log_level::GROTH16_LOG_WARN, &text);
        }
        Some(error) => {
            let text = format!("device {device} is used no more: {error}");
            logger.log(groth16_log_level::GROTH16_LOG_ERROR, &text);
        }
    }
}

/// All signals of this thread, blocked until this is dropped.
struct BlockedSignals(libc::sigset_t);

impl BlockedSignals {
    fn new() -> Self {
        // SAFETY: both sets are live; sigfillset initialises the one, pthread_sigmask the other, which is zeroed besides.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Self(before)
        }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: the set is what pthread_sigmask gave.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
    }
}

/// Puts the caller's choices over the defaults.
fn configure(config: &mut Config, options: &groth16_engine_options) -> Result<()> {
    if !(0..=groth16_log_level::GROTH16_LOG_TRACE as i32).contains(&options.log_level) {
        return Err(Error::invalid(format!("log_level is {}, not 0 to 5", options.log_level)));
    }
    if options.reserved != 0 {
        return Err(Error::new(Status::Unsupported, "reserved is not zero"));
    }
    if options.host_bytes_limit > 0 {
        config.host_bytes_limit = options.host_bytes_limit;
    }
    config.cpu_threads = pick(options.cpu_threads, config.cpu_threads, Config::MAX_CPU_THREADS, "cpu_threads")?;
    config.jobs_per_device =
        pick(options.jobs_per_device, config.jobs_per_device, Config::MAX_JOBS_PER_DEVICE, "jobs_per_device")?;
    config.max_queued_jobs = pick(options.max_queued_jobs, config.max_queued_jobs, usize::MAX, "max_queued_jobs")?;
    Ok(())
}

/// The caller's number, or the default for zero.
fn pick(value: impl Into<u64>, default: usize, most: usize, name: &str) -> Result<usize> {
    let value = value.into();
    match usize::try_from(value) {
        Ok(0) => Ok(default),
        Ok(value) if value <= most => Ok(value),
        _ => Err(Error::invalid(format!("{name} is {value}, the most is {most}"))),
    }
}
