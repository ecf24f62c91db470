//! Handles: boxes whose address the host holds. What kind of ownership a function takes shows in what it calls here.

use std::sync::Arc;

use crate::error::{Error, Result, Status};

/// Ties handles to their engine, and to the process that made it.
#[derive(Debug)]
pub(super) struct Tag {
    process: u32,
}

impl Tag {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { process: std::process::id() })
    }

    /// Whether this is the child of the process that made the engine: its threads do not exist here.
    pub(super) fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    /// `Status::Forked` in the child of a fork.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_forked() {
            let message = format!("made in process {}, used in its fork {}", self.process, std::process::id());
            return Err(Error::new(Status::Forked, message));
        }
        Ok(())
    }
}

/// A handle that belongs to an engine.
pub(super) trait Handle {
    fn tag(&self) -> &Arc<Tag>;
}

/// `Status::Invalid` unless both handles are of one engine.
pub(super) fn check_together(engine: &impl Handle, other: &impl Handle, name: &str) -> Result<()> {
    if Arc::ptr_eq(engine.tag(), other.tag()) {
        Ok(())
    } else {
        Err(Error::invalid(format!("{name} belongs to another engine")))
    }
}

/// Gives a value to the host, which frees it by `take`.
pub(super) fn give<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Looks at a handle that stays the host's. `Status::Invalid` for NULL, `Status::Forked` in a child.
///
/// # Safety
/// `handle` is NULL or came from `give`, and is not freed while the result lives.
pub(super) unsafe fn borrow<'a, T: Handle>(handle: *const T, name: &str) -> Result<&'a T> {
    // SAFETY: by this function's contract.
    let handle = unsafe { handle.as_ref() }.ok_or_else(|| Error::invalid(format!("{name} is NULL")))?;
    handle.tag().check()?;
    Ok(handle)
}

/// Takes a handle back from the host, once. `None` for NULL and in the child of a fork, where nothing is touched.
///
/// # Safety
/// `handle` is NULL or came from `give`, and is used by nobody else now or later.
pub(super) unsafe fn take<T: Handle>(handle: *mut T) -> Option<Box<T>> {
    // SAFETY: by this function's contract.
    let live = unsafe { handle.as_ref() }?;
    if live.tag().is_forked() {
        return None;
    }
    // SAFETY: it came from `Box::into_raw`, and the host gives it up.
    Some(unsafe { Box::from_raw(handle) })
}
