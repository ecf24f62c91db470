//! Page-locking of memory that the host of this library owns.

use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use super::context::Context;
use super::driver::call;
use crate::error::Result;

/// Every context may use it so.
const PORTABLE: u32 = 1;

/// Keeps a stretch of host memory page-locked. It does not keep the context: with that the locking ends, too.
#[derive(Debug)]
pub struct PageLock {
    start: NonNull<u8>,
    context: Weak<Context>,
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
        context.locked().lock().insert(start.addr().get());
        Ok(Self { start, context: Arc::downgrade(context) })
    }

    /// Whether it still is: the context is there.
    pub fn holds(&self) -> bool {
        self.context.strong_count() > 0
    }
}

impl Drop for PageLock {
    fn drop(&mut self) {
        // A context that has gone has unlocked it before.
        let Some(context) = self.context.upgrade() else { return };
        if context.locked().lock().remove(&(self.start.addr().get())) {
            context.unlock(self.start.addr().get());
        }
    }
}
