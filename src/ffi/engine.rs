//! Engines.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use super::callback::{Logger, groth16_log_fn};
use super::guard;
use super::handle::{self, Handle, Tag};
use super::library::groth16_status;
use super::memory;
use super::options::{choose, groth16_backend, groth16_g2_placement, groth16_log_level};
use super::sized::{self, SizedStruct};
use crate::engine::Engine;
use crate::engine::config::Config;
use crate::engine::proof::Groth16;
use crate::error::{Error, Result, Status};
use crate::gpu::host::Host;

/// Devices, worker threads, queue.
pub struct groth16_engine {
    pub(super) engine: Engine<Groth16>,
    pub(super) logger: Logger,
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
    /// default: all devices; with none, the CPU
    pub device_uuids: *const *const c_char,
    pub num_device_uuids: usize,
    /// GROTH16_BACKEND_...
    pub backend: u32,
    /// slots that share one device, at most 64; default 2
    pub jobs_per_device: u32,
    /// one pool for all CPU work, at most 4096; default: all cores that the process may run on
    pub cpu_threads: u32,
    /// GROTH16_G2_...
    pub g2_placement: u32,
    /// beyond it GROTH16_E_QUEUE_FULL; default 64
    pub max_queued_jobs: u64,
    /// 0: no limit (limits come in a later version: others are GROTH16_E_UNSUPPORTED)
    pub host_bytes_limit: u64,
    pub pinned_bytes_limit: u64,
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
/// returns, each job is terminal and each callback has returned. Jobs, keys and circuits stay yours: poll, finalize
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

fn create(options: Option<&groth16_engine_options>) -> Result<groth16_engine> {
    let mut config = Config::default();
    let mut logger = Logger::new(None, std::ptr::null_mut(), 0);
    if let Some(options) = options {
        configure(&mut config, options)?;
        let level = if options.log_level == 0 { groth16_log_level::GROTH16_LOG_INFO as i32 } else { options.log_level };
        logger = Logger::new(options.log, options.log_user, level);
    }
    let engine = Engine::new(&config, Groth16, vec![Host])?;
    let text = format!(
        "libgroth16 {} on the CPU: {} threads, {} jobs at a time",
        env!("CARGO_PKG_VERSION"),
        config.cpu_threads,
        config.jobs_per_device
    );
    logger.log(groth16_log_level::GROTH16_LOG_INFO, &text);
    Ok(groth16_engine { engine, logger, tag: Tag::new() })
}

/// Puts the caller's choices over the defaults.
fn configure(config: &mut Config, options: &groth16_engine_options) -> Result<()> {
    use groth16_backend::{GROTH16_BACKEND_AUTO, GROTH16_BACKEND_CPU, GROTH16_BACKEND_GPU};
    use groth16_g2_placement::{GROTH16_G2_AUTO, GROTH16_G2_CPU, GROTH16_G2_DEVICE};

    let backends = [GROTH16_BACKEND_AUTO, GROTH16_BACKEND_GPU, GROTH16_BACKEND_CPU];
    let backend = choose(options.backend, &backends, "backend")?;
    if backend == GROTH16_BACKEND_GPU {
        return Err(Error::new(Status::NoDevice, "backend GPU: this build has no GPU backend"));
    }
    if options.num_device_uuids > 0 {
        return Err(Error::new(Status::NoDevice, "device_uuids: this build has no GPU backend"));
    }
    let placements = [GROTH16_G2_AUTO, GROTH16_G2_CPU, GROTH16_G2_DEVICE];
    if choose(options.g2_placement, &placements, "g2_placement")? == GROTH16_G2_DEVICE {
        return Err(Error::new(Status::Unsupported, "g2_placement: there is no device for the G2 MSM"));
    }
    if !(0..=groth16_log_level::GROTH16_LOG_TRACE as i32).contains(&options.log_level) {
        return Err(Error::invalid(format!("log_level is {}, not 0 to 5", options.log_level)));
    }
    if options.reserved != 0 {
        return Err(Error::new(Status::Unsupported, "reserved is not zero"));
    }
    let limits = [options.host_bytes_limit, options.pinned_bytes_limit, options.device_bytes_limit];
    if limits != [0; 3] {
        return Err(Error::new(Status::Unsupported, "byte limits are not in this version: leave them zero"));
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
