//! The border that no panic crosses: a closure's result becomes a status, its error this thread's message.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::library::groth16_status;
use crate::error::{Error, Result, Status};

thread_local! {
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs the body of an exported function. A panic in it becomes `GROTH16_E_INTERNAL`.
pub(super) fn status(body: impl FnOnce() -> Result<()>) -> groth16_status {
    let result = catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|_| Err(Error::internal("a bug in this library: the call panicked")));
    match result {
        Ok(()) => 0,
        Err(error) => {
            set_message(error.message());
            error.status() as groth16_status
        }
    }
}

/// As `status`, for calls that may wait: they are refused inside a callback, where waiting could be for ever.
pub(super) fn waiting_status(body: impl FnOnce() -> Result<()>) -> groth16_status {
    status(|| {
        refuse_in_callback()?;
        body()
    })
}

/// `Status::Invalid` inside a callback.
pub(super) fn refuse_in_callback() -> Result<()> {
    if in_callback() { Err(Error::invalid("this call could wait and is not allowed in a callback")) } else { Ok(()) }
}

/// Runs the body of a function without a status; a panic in it is swallowed, since there is no one to tell.
pub(super) fn silent(body: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(body));
}

/// The text of this thread's last failed call.
pub(super) fn with_message<T>(read: impl FnOnce(&str) -> T) -> Option<T> {
    MESSAGE.try_with(|message| message.try_borrow().ok().map(|text| read(&text))).ok().flatten()
}

fn set_message(text: &str) {
    // A thread that is being torn down has lost its message; it still gets the status.
    let _ = MESSAGE.try_with(|message| {
        if let Ok(mut message) = message.try_borrow_mut() {
            text.clone_into(&mut message);
        }
    });
}

/// Whether this thread is inside a callback of the host.
pub(super) fn in_callback() -> bool {
    IN_CALLBACK.try_with(Cell::get).unwrap_or(false)
}

/// Runs a callback of the host; calls that it makes know that they are inside one.
pub(super) fn call_host<T>(callback: impl FnOnce() -> T) -> T {
    let before = IN_CALLBACK.try_with(|flag| flag.replace(true)).unwrap_or(false);
    let result = callback();
    let _ = IN_CALLBACK.try_with(|flag| flag.set(before));
    result
}

/// The status of a result that is kept, without a message.
pub(super) fn code(result: &std::result::Result<(), Error>) -> groth16_status {
    result.as_ref().map_or_else(|error| error.status() as groth16_status, |()| 0)
}

const _: () = assert!(Status::Internal as groth16_status == -17);
