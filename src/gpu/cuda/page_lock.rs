//! Page-locking of memory that the host of this library owns.

use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use super::context::{Context, LockedPages};
use super::driver::call;
use crate::error::Result;

/// Every context may use it so.
const PORTABLE: u32 = 1;

/// Keeps a stretch of host memory page-locked. It does not keep the context: with that the locking ends, too.
#[derive(Debug)]
pub struct PageLock {
    start: NonNull<u8>,
    context: Weak<Context>,
    locked: Arc<LockedPages>,
}

// SAFETY: only an address, which nobody reads.
unsafe impl Send for PageLock {}
// SAFETY: as above.
unsafe impl Sync for PageLock {}

impl PageLock {
    /// Locks `bytes` bytes, not none. `Device`, or `DeviceMemory`, where the system refuses.
    ///
    /// # Safety
    /// They are mapped until this is dropped.
    pub unsafe fn new(context: &Arc<Context>, start: NonNull<u8>, bytes: usize) -> Result<Self> {
        let _entered = context.enter()?;
        // SAFETY: by this function's contract; the driver only keeps the pages where they are.
        unsafe { call!(cuMemHostRegister_v2(start.as_ptr().cast(), bytes, PORTABLE)) }?;
        context.locked().insert(start.addr().get());
        Ok(Self { start, context: Arc::downgrade(context), locked: Arc::clone(context.locked()) })
    }

    /// Whether it still is: the context is there.
    pub fn holds(&self) -> bool {
        self.context.strong_count() > 0
    }
}

impl Drop for PageLock {
    /// The memory is unlocked when this returns: it may be unmapped then.
    fn drop(&mut self) {
        let start = self.start.addr().get();
        match self.context.upgrade() {
            Some(context) if self.locked.remove(start) => context.unlock(start),
            Some(_) => {}
            None => self.locked.wait_for_end(start),
        }
    }
}
