//! The library itself: versions, statuses, the last error.

use std::ffi::{c_char, c_void};

use super::guard;
use super::memory;
use super::sized::{self, SizedStruct};
use crate::error::Error;
use crate::gpu;

/// Of the ABI; the number in the SONAME.
pub const GROTH16_ABI_MAJOR: u32 = 1;
/// Of the ABI; grows when functions, constants or fields are added.
pub const GROTH16_ABI_MINOR: u32 = 0;

/// 0 is success, errors are negative: see `groth16_status_code`.
pub type groth16_status = i32;

/// The values of `groth16_status`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum groth16_status_code {
    GROTH16_OK = 0,
    /// An argument broke its documented contract.
    GROTH16_E_INVALID = -1,
    /// Well formed, but not in this library or on this machine.
    GROTH16_E_UNSUPPORTED = -2,
    /// Host memory, or a host limit that you set.
    GROTH16_E_NO_MEMORY = -3,
    /// Device memory, after every smaller plan was tried.
    GROTH16_E_DEVICE_MEMORY = -4,
    /// No usable GPU where one was asked for.
    GROTH16_E_NO_DEVICE = -5,
    /// The GPU or its driver failed, and no retry was left.
    GROTH16_E_DEVICE = -6,
    /// The system refused to open or read a file.
    GROTH16_E_IO = -7,
    /// Key, circuit, witness or proof bytes are malformed.
    GROTH16_E_FORMAT = -8,
    /// The witness does not satisfy the circuit.
    GROTH16_E_UNSATISFIED = -9,
    /// The proof does not verify; it is withheld.
    GROTH16_E_SELF_CHECK = -10,
    /// max_queued_jobs jobs are waiting, or memory is short: try again when a job has ended.
    GROTH16_E_QUEUE_FULL = -11,
    /// The time that you gave ran out.
    GROTH16_E_TIMEOUT = -12,
    /// Output buffer; the needed size was written.
    GROTH16_E_TOO_SMALL = -13,
    /// You asked for the work to stop.
    GROTH16_E_CANCELLED = -14,
    /// The engine was freed before the job ran.
    GROTH16_E_SHUTDOWN = -15,
    /// A handle made before fork() was used in the child.
    GROTH16_E_FORKED = -16,
    /// A bug in this library; the process is still sound.
    GROTH16_E_INTERNAL = -17,
}

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// GROTH16_ABI_MAJOR << 16 | GROTH16_ABI_MINOR of the library that is loaded; compare it with the header's.
#[unsafe(no_mangle)]
pub extern "C" fn groth16_abi_version() -> u32 {
    (GROTH16_ABI_MAJOR << 16) | GROTH16_ABI_MINOR
}

/// The library's version, such as "0.1.0"; a static string.
#[unsafe(no_mangle)]
pub extern "C" fn groth16_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// The name of a status, such as "GROTH16_E_FORMAT"; a static string, also for numbers that are no status.
#[unsafe(no_mangle)]
pub extern "C" fn groth16_status_name(status: groth16_status) -> *const c_char {
    let name: &'static str = match status {
        0 => "GROTH16_OK\0",
        -1 => "GROTH16_E_INVALID\0",
        -2 => "GROTH16_E_UNSUPPORTED\0",
        -3 => "GROTH16_E_NO_MEMORY\0",
        -4 => "GROTH16_E_DEVICE_MEMORY\0",
        -5 => "GROTH16_E_NO_DEVICE\0",
        -6 => "GROTH16_E_DEVICE\0",
        -7 => "GROTH16_E_IO\0",
        -8 => "GROTH16_E_FORMAT\0",
        -9 => "GROTH16_E_UNSATISFIED\0",
        -10 => "GROTH16_E_SELF_CHECK\0",
        -11 => "GROTH16_E_QUEUE_FULL\0",
        -12 => "GROTH16_E_TIMEOUT\0",
        -13 => "GROTH16_E_TOO_SMALL\0",
        -14 => "GROTH16_E_CANCELLED\0",
        -15 => "GROTH16_E_SHUTDOWN\0",
        -16 => "GROTH16_E_FORKED\0",
        -17 => "GROTH16_E_INTERNAL\0",
        _ => "GROTH16_E_UNKNOWN\0",
    };
    name.as_ptr().cast()
}

/// Copies the text of this thread's last failed call into buf: at most cap - 1 bytes, and a NUL. Returns the length of
/// the whole text without its NUL, so that buf NULL with cap 0 asks for it. Successful calls leave the text alone.
///
/// # Safety
/// `buf` is NULL or has `cap` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_last_error(buf: *mut c_char, cap: usize) -> usize {
    let copy = |text: &str| {
        if !buf.is_null() && cap > 0 {
            let mut end = text.len().min(cap - 1);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            // SAFETY: `end < cap` bytes and a NUL fit; the regions are distinct.
            unsafe {
                text.as_ptr().cast::<c_void>().copy_to_nonoverlapping(buf.cast(), end);
                buf.add(end).write(0);
            }
        }
        text.len()
    };
    guard::with_message(copy).unwrap_or(0)
}

/// A GPU that the library can use. Texts end with a NUL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_device_info {
    pub struct_size: usize,
    pub name: [c_char; 64],
    pub uuid: [c_char; 40],
    pub pci_bus_id: [c_char; 24],
    pub memory_bytes: u64,
    pub free_bytes: u64,
    pub compute_major: i32,
    pub compute_minor: i32,
}

// SAFETY: repr(C), struct_size first; integers.
unsafe impl SizedStruct for groth16_device_info {
    const NAME: &'static str = "groth16_device_info";
}

/// A text with its NUL, cut where it is too long.
fn c_text<const N: usize>(text: &str) -> [c_char; N] {
    let mut out = [0; N];
    for (to, byte) in out[..N - 1].iter_mut().zip(text.bytes()) {
        *to = byte as c_char;
    }
    out
}

/// How many GPUs the library can use; 0 without a GPU, a driver, or a build for them.
///
/// # Safety
/// `count` is writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_device_count(count: *mut usize) -> groth16_status {
    guard::status(|| {
        memory::check_out(count, "count")?;
        let gpus = gpu::gpus()?;
        // SAFETY: checked.
        unsafe { memory::set(count, gpus.len()) };
        Ok(())
    })
}

/// One of the devices; index is below their count. free_bytes takes a context on the device for a moment, some tenths of a
/// second.
///
/// # Safety
/// `info` points to `struct_size` writable bytes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_device_get(index: usize, info: *mut groth16_device_info) -> groth16_status {
    guard::status(|| {
        memory::check_out(info, <groth16_device_info as SizedStruct>::NAME)?;
        let gpus = gpu::gpus()?;
        let Some(gpu) = gpus.get(index) else {
            return Err(Error::invalid(format!("device index {index}: there are {} devices", gpus.len())));
        };
        let filled = groth16_device_info {
            struct_size: size_of::<groth16_device_info>(),
            name: c_text(&gpu.name),
            uuid: c_text(&gpu.uuid),
            pci_bus_id: c_text(&gpu.pci_bus_id),
            memory_bytes: gpu.memory_bytes,
            free_bytes: gpu::free_bytes(&gpu.uuid)?,
            compute_major: gpu.compute.0,
            compute_minor: gpu.compute.1,
        };
        // SAFETY: by this function's contract.
        unsafe { sized::write(info, &filled) }
    })
}
