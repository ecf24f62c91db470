//! A context of the library's own on a device, with streams and events. The host's contexts, the primary one too, are left
//! alone, and after each call the calling thread has the context that it had before.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::Arc;

use cuda_driver_sys::{CUcontext, CUevent, CUstream};

use super::device::DeviceInfo;
use super::driver::call;
use crate::error::{Error, Result, Status};
use crate::sync::{Condvar, Mutex};

/// A thread that waits for the device sleeps.
const SCHED_BLOCKING_SYNC: u32 = 4;
/// The stream does not wait for the null stream.
const STREAM_NON_BLOCKING: u32 = 1;
/// The driver takes the most urgent priority that the device has for any below.
const MOST_URGENT: i32 = -100;
/// A thread that waits for the event sleeps.
const EVENT_BLOCKING_SYNC: u32 = 1;

/// A context. What was made in it keeps it alive.
#[derive(Debug)]
pub struct Context {
    raw: CUcontext,
    info: DeviceInfo,
    locked: Arc<LockedPages>,
}

/// Where host memory begins that is page-locked in a context. The context's end unlocks all that is left.
#[derive(Debug, Default)]
pub(super) struct LockedPages {
    starts: Mutex<BTreeSet<usize>>,
    unlocked: Condvar,
}

impl LockedPages {
    pub(super) fn insert(&self, start: usize) {
        self.starts.lock().insert(start);
    }

    /// Whether it was there: who takes it away unlocks it.
    pub(super) fn remove(&self, start: usize) -> bool {
        self.starts.lock().remove(&start)
    }

    /// Until the end of the context, which has begun, has unlocked what begins here.
    pub(super) fn wait_for_end(&self, start: usize) {
        let mut starts = self.starts.lock();
        while starts.contains(&start) {
            starts = self.unlocked.wait(starts);
        }
    }

    /// Each of them to `unlock`; those who wait for one go on when it is done.
    fn end(&self, unlock: impl Fn(usize)) {
        let starts = self.starts.lock().clone();
        for start in starts {
            unlock(start);
            self.starts.lock().remove(&start);
            self.unlocked.notify_all();
        }
    }
}

// SAFETY: the driver's contexts may be used from any thread; this is only its address.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// The calling thread's context is this one until the value is dropped.
pub(super) struct Entered(PhantomData<*mut ()>);

impl Context {
    /// A new context. `Unsupported` where the device is too old, `DeviceMemory` where it has no memory left for one.
    pub fn new(info: &DeviceInfo) -> Result<Arc<Self>> {
        info.check()?;
        let mut raw = null_mut();
        // SAFETY: `raw` is writable, the handle is the driver's.
        unsafe { call!(cuCtxCreate_v2(&raw mut raw, SCHED_BLOCKING_SYNC, info.handle)) }
            .map_err(|error| error.at(format!("{} ({})", info.name, info.uuid)))?;
        let context = Arc::new(Self { raw, info: info.clone(), locked: Arc::default() });
        let mut own = null_mut();
        // Creating made it current; the caller's own is to be so again.
        // SAFETY: `own` is writable.
        unsafe { call!(cuCtxPopCurrent_v2(&raw mut own)) }?;
        Ok(context)
    }

    /// The device.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    pub(super) fn locked(&self) -> &Arc<LockedPages> {
        &self.locked
    }

    /// Ends the page-locking of what begins at this address.
    pub(super) fn unlock(&self, start: usize) {
        let Ok(_entered) = self.enter() else { return };
        // SAFETY: it was locked in this context, and is unlocked once.
        let _ = unsafe { call!(cuMemHostUnregister(std::ptr::without_provenance_mut(start))) };
    }

    /// Makes it the calling thread's.
    pub(super) fn enter(&self) -> Result<Entered> {
        // SAFETY: the context lives as long as `self`.
        unsafe { call!(cuCtxPushCurrent_v2(self.raw)) }?;
        Ok(Entered(PhantomData))
    }

    /// Waits for all that was started in it. An error that a kernel left comes up here, too.
    pub fn synchronize(&self) -> Result<()> {
        let _entered = self.enter()?;
        // SAFETY: no arguments.
        unsafe { call!(cuCtxSynchronize()) }
    }

    /// Whether an error made the context unusable, as one of a kernel that read where nothing is does. Measured on an H200 with
    /// the driver 580: after CUDA_ERROR_ILLEGAL_ADDRESS every context of the process fails, those from before, and new ones
    /// even when all others are gone. So nothing cures it: the device is lost to this process.
    pub fn is_lost(&self) -> bool {
        self.synchronize().is_err_and(|error| error.status() == Status::Device)
    }

    /// Bytes of the device's memory that are free, and in all.
    pub fn memory(&self) -> Result<(u64, u64)> {
        let _entered = self.enter()?;
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: both are writable.
        unsafe { call!(cuMemGetInfo_v2(&raw mut free, &raw mut total)) }?;
        Ok((free as u64, total as u64))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.locked.end(|start| self.unlock(start));
        // Nothing else that was made in it is left. A context that is lost is destroyed all the same; nobody is there for an error.
        // SAFETY: it was created, and is destroyed once.
        let _ = unsafe { call!(cuCtxDestroy_v2(self.raw)) };
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut raw = null_mut();
        // SAFETY: `raw` is writable; the context was pushed by this thread (the type is not sent: it is used in one function).
        let _ = unsafe { call!(cuCtxPopCurrent_v2(&raw mut raw)) };
    }
}

/// Work in order.
#[derive(Debug)]
pub struct Stream {
    pub(super) raw: CUstream,
    pub(super) context: Arc<Context>,
}

// SAFETY: streams may be used from any thread; this is only an address.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream that waits for no other.
    pub fn new(context: &Arc<Context>) -> Result<Self> {
        Self::with_priority(context, 0)
    }

    /// The same, whose kernels and fills go before those of others that wait.
    pub fn urgent(context: &Arc<Context>) -> Result<Self> {
        Self::with_priority(context, MOST_URGENT)
    }

    fn with_priority(context: &Arc<Context>, priority: i32) -> Result<Self> {
        let _entered = context.enter()?;
        let mut raw = null_mut();
        // SAFETY: `raw` is writable.
        unsafe { call!(cuStreamCreateWithPriority(&raw mut raw, STREAM_NON_BLOCKING, priority)) }?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Waits for all that was put into it.
    pub fn synchronize(&self) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: the stream lives as long as `self`.
        unsafe { call!(cuStreamSynchronize(self.raw)) }
    }

    /// What is put into it from now on waits for the event.
    pub fn wait(&self, event: &Event) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: both live.
        unsafe { call!(cuStreamWaitEvent(self.raw, event.raw, 0)) }
    }

    /// An event behind what was put into it so far.
    pub fn record(&self) -> Result<Event> {
        let event = Event::new(&self.context)?;
        let _entered = self.context.enter()?;
        // SAFETY: both live.
        unsafe { call!(cuEventRecord(event.raw, self.raw)) }?;
        Ok(event)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // Its work goes on; the driver frees it after that.
            // SAFETY: it was created, and is destroyed once.
            let _ = unsafe { call!(cuStreamDestroy_v2(self.raw)) };
        }
    }
}

/// A point in a stream, with its time.
#[derive(Debug)]
pub struct Event {
    raw: CUevent,
    context: Arc<Context>,
}

// SAFETY: events may be used from any thread; this is only an address.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    fn new(context: &Arc<Context>) -> Result<Self> {
        let _entered = context.enter()?;
        let mut raw = null_mut();
        // SAFETY: `raw` is writable.
        unsafe { call!(cuEventCreate(&raw mut raw, EVENT_BLOCKING_SYNC)) }?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    /// Waits until the device is there.
    pub fn synchronize(&self) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: it lives.
        unsafe { call!(cuEventSynchronize(self.raw)) }
    }

    /// Seconds on the device from `start` to this one; both must have been reached.
    pub fn seconds_since(&self, start: &Self) -> Result<f64> {
        if !Arc::ptr_eq(&self.context, &start.context) {
            return Err(Error::internal("events of two contexts have no time between them"));
        }
        let _entered = self.context.enter()?;
        let mut milliseconds = 0.0;
        // SAFETY: both live, the number is writable.
        unsafe { call!(cuEventElapsedTime(&raw mut milliseconds, start.raw, self.raw)) }?;
        Ok(f64::from(milliseconds) / 1000.0)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: it was created, and is destroyed once.
            let _ = unsafe { call!(cuEventDestroy_v2(self.raw)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{AtomicBool, Ordering};

    /// Memory that is freed while the context ends stays mapped until it is unlocked.
    #[test]
    fn who_frees_locked_pages_waits_for_the_end_of_the_context() {
        let locked = LockedPages::default();
        let is_unlocked = AtomicBool::new(false);
        (1..=3).for_each(|start| locked.insert(start));
        assert!(locked.remove(1) && !locked.remove(1));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                locked.wait_for_end(3);
                assert!(is_unlocked.load(Ordering::SeqCst));
            });
            locked.end(|start| {
                std::thread::sleep(std::time::Duration::from_millis(20));
                is_unlocked.store(start == 3, Ordering::SeqCst);
            });
        });
        assert!(!locked.remove(2) && !locked.remove(3));
        locked.wait_for_end(2);
    }
}
