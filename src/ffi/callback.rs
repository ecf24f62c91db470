//! Functions of the host that the library calls.

use std::ffi::{CString, c_char, c_void};

use super::guard;
use super::job::{groth16_event, groth16_event_fn, groth16_job};
use super::options::groth16_log_level;

/// Called on library threads and inside calls of yours, perhaps several at once; may call groth16_status_name only. text is one line without a
/// line feed, valid during the call.
pub type groth16_log_fn = Option<unsafe extern "C" fn(user: *mut c_void, level: i32, text: *const c_char)>;

/// Long work reports here, from a library thread: done of total, in bytes. A result other than 0 stops the work with
/// GROTH16_E_CANCELLED.
pub type groth16_progress_fn = Option<unsafe extern "C" fn(user: *mut c_void, done: u64, total: u64) -> i32>;

/// A pointer that the host wants back in its callbacks.
#[derive(Clone, Copy, Debug)]
struct User(*mut c_void);

// SAFETY: the host promises that its callbacks take their pointer on any thread.
unsafe impl Send for User {}
// SAFETY: as above.
unsafe impl Sync for User {}

/// Where log lines go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logger {
    function: groth16_log_fn,
    user: User,
    level: i32,
}

impl Logger {
    pub(super) fn new(function: groth16_log_fn, user: *mut c_void, level: i32) -> Self {
        Self { function, user: User(user), level }
    }

    /// Passes a line on if the host wants lines of this level.
    pub(super) fn log(&self, level: groth16_log_level, text: &str) {
        let Some(function) = self.function else { return };
        if level as i32 > self.level {
            return;
        }
        let Ok(text) = CString::new(text.replace(['\0', '\n'], " ")) else { return };
        // SAFETY: the host's function, with its pointer and a live string.
        guard::call_host(|| unsafe { function(self.user.0, level as i32, text.as_ptr()) });
    }
}

/// Where progress goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    function: groth16_progress_fn,
    user: User,
}

impl Progress {
    pub(super) fn new(function: groth16_progress_fn, user: *mut c_void) -> Self {
        Self { function, user: User(user) }
    }

    /// Whether to go on.
    pub(super) fn report(&self, done: u64, total: u64) -> bool {
        let Some(function) = self.function else { return true };
        // SAFETY: the host's function, with its pointer.
        guard::call_host(|| unsafe { function(self.user.0, done, total) }) == 0
    }
}

/// Where events of one job go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Events {
    function: groth16_event_fn,
    user: User,
    job: *mut groth16_job,
}

// SAFETY: as for `User`; the handle's address is passed on, not read.
unsafe impl Send for Events {}
// SAFETY: as above.
unsafe impl Sync for Events {}

impl Events {
    pub(super) fn new(function: groth16_event_fn, user: *mut c_void, job: *mut groth16_job) -> Self {
        Self { function, user: User(user), job }
    }

    pub(super) fn send(&self, event: groth16_event) {
        let Some(function) = self.function else { return };
        // SAFETY: the host's function, with its pointer; the handle lives until the host frees it.
        guard::call_host(|| unsafe { function(self.user.0, self.job, event) });
    }
}
