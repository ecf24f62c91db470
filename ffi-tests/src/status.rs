//! The values of `groth16_status`, as the header's enumeration has them.

use groth16::ffi::library::groth16_status_code as code;

/// An argument broke its contract.
pub const INVALID: i32 = code::GROTH16_E_INVALID as i32;
/// Not in this library.
pub const UNSUPPORTED: i32 = code::GROTH16_E_UNSUPPORTED as i32;
/// Host memory, or a limit.
pub const NO_MEMORY: i32 = code::GROTH16_E_NO_MEMORY as i32;
/// No usable GPU.
pub const NO_DEVICE: i32 = code::GROTH16_E_NO_DEVICE as i32;
/// A file that the system does not give.
pub const IO: i32 = code::GROTH16_E_IO as i32;
/// Malformed bytes.
pub const FORMAT: i32 = code::GROTH16_E_FORMAT as i32;
/// A witness that breaks a row.
pub const UNSATISFIED: i32 = code::GROTH16_E_UNSATISFIED as i32;
/// A proof that does not verify.
pub const SELF_CHECK: i32 = code::GROTH16_E_SELF_CHECK as i32;
/// Too many jobs wait.
pub const QUEUE_FULL: i32 = code::GROTH16_E_QUEUE_FULL as i32;
/// Time ran out.
pub const TIMEOUT: i32 = code::GROTH16_E_TIMEOUT as i32;
/// An output buffer is too small.
pub const TOO_SMALL: i32 = code::GROTH16_E_TOO_SMALL as i32;
/// The host asked for the end.
pub const CANCELLED: i32 = code::GROTH16_E_CANCELLED as i32;
/// The engine was freed.
pub const SHUTDOWN: i32 = code::GROTH16_E_SHUTDOWN as i32;
/// A handle from before a fork.
pub const FORKED: i32 = code::GROTH16_E_FORKED as i32;
