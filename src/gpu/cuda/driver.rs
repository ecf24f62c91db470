//! Results of the driver. `cuda/loader/loader.c` defines the entry points.

use std::ffi::{CStr, c_char, c_int};

use cuda_driver_sys::CUresult;

use crate::error::{Error, Result, Status};

unsafe extern "C" {
    /// The last result of this thread that was no success, in full: see loader.c.
    fn cuda_loader_last_result() -> c_int;
    /// The driver's name of a result; NULL where it has none. A static string.
    fn cuda_loader_result_name(code: c_int) -> *const c_char;
}

const OUT_OF_MEMORY: i32 = 2;
const NO_DEVICE: i32 = 100;
const NO_BINARY_FOR_GPU: i32 = 209;
const INVALID_PTX: i32 = 218;
const UNSUPPORTED_PTX_VERSION: i32 = 222;
const SYSTEM_DRIVER_MISMATCH: i32 = 803;

/// `Ok` for a success; else an error that names the call, its place and the result. `DeviceMemory` where memory ended,
/// `NoDevice` where there is none, `Unsupported` where driver or device cannot run this library's kernels, `Device`
/// otherwise.
pub(super) fn check(call: &str, result: CUresult) -> Result<()> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    // SAFETY: no arguments; the result that was just got is this thread's last.
    let code = unsafe { cuda_loader_last_result() };
    let status = match code {
        OUT_OF_MEMORY => Status::DeviceMemory,
        NO_DEVICE => Status::NoDevice,
        NO_BINARY_FOR_GPU | INVALID_PTX | UNSUPPORTED_PTX_VERSION | SYSTEM_DRIVER_MISMATCH => Status::Unsupported,
        _ => Status::Device,
    };
    Err(Error::new(status, format!("{call}: {}", name(code))))
}

/// The driver's name of a result, with its number.
fn name(code: i32) -> String {
    // SAFETY: any number may be asked for.
    let text = unsafe { cuda_loader_result_name(code) };
    if text.is_null() {
        return format!("CUDA error {code}");
    }
    // SAFETY: not NULL, so a static string of the driver.
    let text = unsafe { CStr::from_ptr(text) };
    format!("{} ({code})", text.to_string_lossy())
}

/// Calls an entry point and checks its result: `call!(cuCtxPushCurrent_v2(context))`.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {
        $crate::gpu::cuda::driver::check(stringify!($name), cuda_driver_sys::$name($($argument),*))
    };
}
pub(super) use call;
