//! Whole pages of host memory, which GPUs read directly where they are page-locked.

use std::ptr::NonNull;

use super::{Gpu, PageLock};
use crate::error::{Error, Result, Status};

/// A private mapping. Somebody else may hold its address; who may touch the bytes when is his contract.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    len: usize,
    lock: Option<PageLock>,
}

// SAFETY: the memory is owned; who may touch the bytes when is the contract of those who have the address.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// `len` bytes, at least 1. The system gives zeroed pages when they are touched. `NoMemory` where it has no addresses left.
    pub fn new(len: usize) -> Result<Self> {
        let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at a place of the system's choice touches no memory of others.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, kind, -1, 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => {
                // A page that was shared with a child would leave this process at the next write, and a device would go on reading
                // the old one. So the child finds zeros; the witness is none of its business either.
                // SAFETY: the mapping is this value's; the advice changes no byte here.
                unsafe { libc::madvise(start.as_ptr().cast(), len, libc::MADV_WIPEONFORK) };
                Ok(Self { start, len, lock: None })
            }
            _ => Err(Error::new(Status::NoMemory, format!("no memory for a buffer of {len} bytes"))),
        }
    }

    /// Where they are.
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Takes all pages and locks them, which takes some 0.2 s a GB. An error where the system refuses; they can be used all
    /// the same.
    pub fn lock(&mut self, gpu: &Gpu) -> Result<()> {
        if self.is_locked() {
            return Ok(());
        }
        self.lock = None;
        // SAFETY: the mapping is this value's; the advice changes no byte. Where it is not taken, pages are only smaller.
        unsafe { libc::madvise(self.start.as_ptr().cast(), self.len, libc::MADV_HUGEPAGE) };
        // SAFETY: the mapping ends after the lock is dropped.
        self.lock = Some(unsafe { gpu.lock_pages(self.start, self.len) }?);
        Ok(())
    }

    /// Whether they are page-locked now.
    pub fn is_locked(&self) -> bool {
        self.lock.as_ref().is_some_and(PageLock::holds)
    }

    /// The pages leave the process, whatever was written there, and the next who touches them finds zeros. They are locked no
    /// more. False where the system refuses, as it does for pages that the host has locked itself.
    pub fn wipe(&mut self) -> bool {
        self.lock = None;
        // SAFETY: the mapping is whole and this value's, and no device reads it any more.
        unsafe { libc::madvise(self.start.as_ptr().cast(), self.len, libc::MADV_DONTNEED) == 0 }
    }

    /// The bytes, for who has given the address to nobody else.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: so many bytes are mapped while this value is, and borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl AsRef<[u8]> for Pages {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: so many bytes are mapped while this value is.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Pages {
    /// The pages leave the process at once, and the system wipes them before anybody gets them. Wiping here would touch,
    /// and so take, every page that was never used.
    fn drop(&mut self) {
        self.lock = None;
        // SAFETY: the mapping is whole and this value's.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}
