//! Buffers: host memory from which a device reads fastest.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use super::engine::groth16_engine;
use super::guard;
use super::handle::{self, Handle, Tag};
use super::library::groth16_status;
use super::memory;
use crate::engine::Engine;
use crate::engine::budget::{Budget, Permit};
use crate::engine::pool::Pool;
use crate::engine::proof::Groth16;
use crate::error::{Error, Result, Status};
use crate::sync::Mutex;

/// Page-locked host memory.
pub struct groth16_buffer {
    memory: Arc<Memory>,
    buffers: Arc<Buffers>,
    tag: Arc<Tag>,
}

impl Handle for groth16_buffer {
    fn tag(&self) -> &Arc<Tag> {
        &self.tag
    }
}

impl Drop for groth16_buffer {
    fn drop(&mut self) {
        self.buffers.live.lock().remove(&self.memory.address());
    }
}

/// The bytes of a buffer; they go back to their pool when the handle and every job that reads them are gone.
pub(super) struct Memory {
    mapping: Option<Mapping>,
    len: usize,
    buffers: Weak<Buffers>,
    /// Of the budgets of page-locked memory and of host memory. What lies in the pool takes none: its pages are gone.
    _permits: (Permit, Permit),
}

impl Memory {
    fn start(&self) -> *mut u8 {
        self.mapping.as_ref().map_or(std::ptr::null_mut(), |mapping| mapping.start.as_ptr())
    }

    fn address(&self) -> usize {
        self.start() as usize
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let Some(mapping) = self.mapping.take() else { return };
        let Some(buffers) = self.buffers.upgrade() else { return };
        if mapping.wipe() {
            drop(buffers.pool.give(self.len, mapping));
        }
    }
}

/// A private mapping of `len` bytes. The CPU backend reads from any memory alike, so nothing is locked. The host writes
/// there; the library reads only while the host has lent the bytes.
struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory is owned; who may touch the bytes when is the host's contract.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// `len` bytes, at least 1. The system gives zeroed pages when they are touched.
    fn new(len: usize) -> Result<Self> {
        let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at a place of the system's choice touches no memory of others.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, kind, -1, 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Self { start, len }),
            _ => Err(Error::new(Status::NoMemory, format!("no memory for a buffer of {len} bytes"))),
        }
    }

    /// The host may have put a witness there: the pages leave the process, and the next who touches them finds zeros. False
    /// where the system refuses, as it does for pages that the host has locked.
    fn wipe(&self) -> bool {
        // SAFETY: the last owner is here and the host has given it up: the mapping is whole and nobody else's.
        unsafe { libc::madvise(self.start.as_ptr().cast(), self.len, libc::MADV_DONTNEED) == 0 }
    }
}

impl Drop for Mapping {
    /// The pages leave the process at once, and the system wipes them before anybody gets them. Wiping here would touch,
    /// and so take, every page that was never used.
    fn drop(&mut self) {
        // SAFETY: as for `wipe`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// The buffers of an engine, by address.
pub(super) struct Buffers {
    budget: Arc<Budget>,
    live: Mutex<BTreeMap<usize, Arc<Memory>>>,
    pool: Pool<Mapping>,
}

/// Buffers that are kept for the next of their size: a host that uses several a job takes the same sizes again. They take
/// no memory, but addresses, of which a process may have few.
const POOLED: usize = 32;
const POOLED_BYTES: usize = 256 << 20;

impl Buffers {
    pub(super) fn new(limit: u64) -> Arc<Self> {
        let budget = Budget::new("pinned", limit);
        Arc::new(Self { budget, live: Mutex::new(BTreeMap::new()), pool: Pool::new(POOLED, POOLED_BYTES) })
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// A buffer from the pool, or a new one; the pool goes where the system has no addresses left beside it.
    fn alloc(self: &Arc<Self>, engine: &Engine<Groth16>, len: usize) -> Result<Arc<Memory>> {
        let pinned = self.budget.take(len as u64, "the buffer", Status::NoMemory)?;
        let permits = (pinned, engine.take_host(len as u64, "the buffer", Status::NoMemory)?);
        let fresh = || Mapping::new(len);
        let mapping = match self.pool.take(len) {
            Some(mapping) => mapping,
            None => fresh().or_else(|error| if self.pool.empty().is_empty() { Err(error) } else { fresh() })?,
        };
        let memory = Memory { mapping: Some(mapping), len, buffers: Arc::downgrade(self), _permits: permits };
        let memory = Arc::new(memory);
        self.live.lock().insert(memory.address(), Arc::clone(&memory));
        Ok(memory)
    }

    /// The buffer that wholly contains `len` bytes at `data`, if there is one.
    pub(super) fn containing(&self, data: *const c_void, len: usize) -> Option<Arc<Memory>> {
        let start = data as usize;
        let live = self.live.lock();
        let (address, memory) = live.range(..=start).next_back()?;
        let end = start.checked_add(len)?;
        (end <= address + memory.len).then(|| Arc::clone(memory))
    }
}

/// Allocates size bytes, zeroed, at a page's edge. Optional: scalars there are uploaded several times faster to a GPU. A
/// job whose scalars lie wholly inside one finds that out by address and keeps it alive.
///
/// # Safety
/// `engine` is a live handle; `buffer` is writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_buffer_alloc(
    engine: *mut groth16_engine,
    size: usize,
    buffer: *mut *mut groth16_buffer,
) -> groth16_status {
    guard::status(|| {
        memory::check_out(buffer, "buffer")?;
        // SAFETY: by this function's contract.
        let engine = unsafe { handle::borrow(engine, "engine") }?;
        if size == 0 || size > isize::MAX as usize {
            return Err(Error::invalid(format!("a buffer of {size} bytes is impossible")));
        }
        let memory = engine.buffers.alloc(&engine.engine, size)?;
        let handle = groth16_buffer { memory, buffers: Arc::clone(&engine.buffers), tag: Arc::clone(engine.tag()) };
        // SAFETY: checked above.
        unsafe { memory::set(buffer, handle::give(handle)) };
        Ok(())
    })
}

/// Where the bytes are; NULL for NULL.
///
/// # Safety
/// `buffer` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_buffer_data(buffer: *mut groth16_buffer) -> *mut c_void {
    // SAFETY: by this function's contract.
    unsafe { buffer.as_ref() }.map_or(std::ptr::null_mut(), |buffer| buffer.memory.start().cast())
}

/// Releases a buffer, whose bytes are gone at once and whose room the engine keeps for the next of its size; jobs that
/// read it keep it alive.
///
/// # Safety
/// `buffer` is NULL or a handle that is used by nobody else now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_buffer_free(buffer: *mut groth16_buffer) {
    // SAFETY: by this function's contract.
    guard::silent(|| drop(unsafe { handle::take(buffer) }));
}
