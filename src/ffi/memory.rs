//! Reads and writes of the host's memory that are not structs: strings, bytes, out-parameters.

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::{Error, Result, Status};

/// Memory of the host that it keeps alive and unchanged until the library says otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Borrowed {
    data: *const u8,
    len: usize,
}

// SAFETY: the host promises that the memory may be read from library threads until it is released.
unsafe impl Send for Borrowed {}
// SAFETY: it is only read.
unsafe impl Sync for Borrowed {}

impl Borrowed {
    /// `len` bytes at `data`, which may be NULL if there are none. `Status::Invalid` for NULL with a length, or a
    /// length beyond the address space.
    ///
    /// # Safety
    /// The memory is readable and unchanged as long as the result is used.
    pub(super) unsafe fn new(data: *const c_void, len: usize, name: &str) -> Result<Self> {
        if len > isize::MAX as usize {
            return Err(Error::invalid(format!("{name}: a length of {len} bytes is impossible")));
        }
        if data.is_null() && len > 0 {
            return Err(Error::invalid(format!("{name} is NULL but has {len} bytes")));
        }
        Ok(Self { data: data.cast(), len })
    }
}

impl AsRef<[u8]> for Borrowed {
    fn as_ref(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: not NULL with a length, below isize::MAX, and alive by the contract of `new`.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

/// `count` elements at `data`; NULL only for none.
///
/// # Safety
/// The memory holds `count` elements, aligned, and is alive and unchanged as long as the result.
pub(super) unsafe fn slice<'a, T>(data: *const T, count: usize, name: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(Error::invalid(format!("{name} is NULL but has {count} elements")));
    }
    if !data.is_aligned() {
        return Err(Error::invalid(format!("{name} is not aligned to {} bytes", align_of::<T>())));
    }
    if count.checked_mul(size_of::<T>().max(1)).is_none_or(|bytes| bytes > isize::MAX as usize) {
        return Err(Error::invalid(format!("{name}: {count} elements are impossible")));
    }
    // SAFETY: not NULL, aligned, in range, and alive by this function's contract.
    Ok(unsafe { std::slice::from_raw_parts(data, count) })
}

/// A path of the host.
///
/// # Safety
/// `path` is a C string that is alive and unchanged as long as the result.
pub(super) unsafe fn path<'a>(path: *const c_char) -> &'a Path {
    // SAFETY: by this function's contract.
    let text = unsafe { CStr::from_ptr(path) };
    Path::new(OsStr::from_bytes(text.to_bytes()))
}

/// An array of fixed size; `None` for NULL.
///
/// # Safety
/// `data` is NULL or points to `N` bytes that are readable and unchanged as long as the result.
pub(super) unsafe fn array<'a, const N: usize>(data: *const u8) -> Option<&'a [u8; N]> {
    // SAFETY: by this function's contract; bytes need no alignment.
    unsafe { data.cast::<[u8; N]>().as_ref() }
}

/// `Status::Invalid` if an out-parameter is NULL.
pub(super) fn check_out<T>(out: *mut T, name: &str) -> Result<()> {
    if out.is_null() { Err(Error::invalid(format!("{name} is NULL"))) } else { Ok(()) }
}

/// Writes an out-parameter.
///
/// # Safety
/// `out` passed `check_out` and points to writable memory of its type.
pub(super) unsafe fn set<T>(out: *mut T, value: T) {
    // SAFETY: by this function's contract; the host may have it unaligned inside a packed struct.
    unsafe { out.write_unaligned(value) };
}

/// Copies bytes into the host's buffer of `cap` bytes and their number to `len`, which is also written when the
/// buffer is too small (`Status::TooSmall`). Nothing is written beyond the bytes.
///
/// # Safety
/// `buffer` is NULL or points to `cap` writable bytes; `len` is NULL or writable.
pub(super) unsafe fn copy_out(bytes: &[u8], buffer: *mut c_void, cap: usize, len: *mut usize) -> Result<()> {
    check_out(len, "len")?;
    if cap >= bytes.len() {
        check_out(buffer, "the buffer")?;
    }
    // SAFETY: checked, and writable by this function's contract.
    unsafe { set(len, bytes.len()) };
    if cap < bytes.len() {
        let message = format!("the buffer has {cap} bytes, {} are needed", bytes.len());
        return Err(Error::new(Status::TooSmall, message));
    }
    // SAFETY: checked above; `cap` bytes are writable there, and at most as many are copied; the regions are distinct.
    unsafe { bytes.as_ptr().copy_to_nonoverlapping(buffer.cast(), bytes.len()) };
    Ok(())
}
