//! Buffers: host memory from which a device reads fastest.

use std::collections::BTreeMap;
use std::ffi::c_void;
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
use crate::gpu::pages::Pages;
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
    pages: Option<Pages>,
    len: usize,
    buffers: Weak<Buffers>,
    /// Of the budgets of page-locked memory and of host memory. What lies in the pool takes none: its pages are gone.
    _permits: (Permit, Permit),
}

impl Memory {
    fn start(&self) -> *mut u8 {
        self.pages.as_ref().map_or(std::ptr::null_mut(), Pages::start)
    }

    fn address(&self) -> usize {
        self.start() as usize
    }

    /// Whether GPUs read it directly.
    pub(super) fn is_locked(&self) -> bool {
        self.pages.as_ref().is_some_and(Pages::is_locked)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let Some(mut pages) = self.pages.take() else { return };
        let Some(buffers) = self.buffers.upgrade() else { return };
        if pages.wipe() {
            drop(buffers.pool.give(self.len, pages));
        }
    }
}

/// The buffers of an engine, by address.
pub(super) struct Buffers {
    budget: Arc<Budget>,
    live: Mutex<BTreeMap<usize, Arc<Memory>>>,
    pool: Pool<Pages>,
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
        let fresh = || Pages::new(len);
        let mut pages = match self.pool.take(len) {
            Some(pages) => pages,
            None => fresh().or_else(|error| if self.pool.empty().is_empty() { Err(error) } else { fresh() })?,
        };
        engine.lock_pages(&mut pages);
        let memory = Memory { pages: Some(pages), len, buffers: Arc::downgrade(self), _permits: permits };
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

/// Allocates size bytes, zeroed, at a page's edge. Optional: a GPU reads a, b and c straight from there, where all that are
/// given lie in buffers; the CPU then touches none of them. A job whose scalars lie wholly inside one finds that out by
/// address and keeps it alive. For an engine on GPUs the memory is page-locked, which takes some 0.2 s a GB, so keep buffers
/// for many jobs; where the system refuses to lock it, scalars are copied as from anywhere.
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

/// Releases a buffer. Its bytes are gone at once, or when the last job that reads them has ended; the engine keeps the room
/// for the next of its size.
///
/// # Safety
/// `buffer` is NULL or a handle that is used by nobody else now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_buffer_free(buffer: *mut groth16_buffer) {
    // SAFETY: by this function's contract.
    guard::silent(|| drop(unsafe { handle::take(buffer) }));
}
