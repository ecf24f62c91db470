//! Byte budgets: who wants memory takes a permit first, and gives it back by dropping it.

use std::sync::Arc;

use crate::error::{Error, Result, Status};
use crate::sync::Mutex;

/// One kind of memory with a limit. Nothing waits here: what does not fit is refused.
#[derive(Debug)]
pub struct Budget {
    name: &'static str,
    limit: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    used: u64,
    /// Those of them that leave when others need room.
    leaving: u64,
    peak: u64,
}

impl Budget {
    /// `limit` bytes of the memory called `name` in messages; 0 is no limit.
    pub fn new(name: &'static str, limit: u64) -> Arc<Self> {
        Arc::new(Self { name, limit, state: Mutex::new(State::default()) })
    }

    /// The limit in bytes; 0 is none.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes that permits hold now.
    pub fn used(&self) -> u64 {
        self.state.lock().used
    }

    /// Bytes that permits hold now and that no need of others makes free.
    pub fn staying(&self) -> u64 {
        let state = self.state.lock();
        state.used.saturating_sub(state.leaving)
    }

    /// The most bytes that permits held at once.
    pub fn peak(&self) -> u64 {
        self.state.lock().peak
    }

    /// Whether so many bytes are more than the limit.
    pub fn can_never(&self, bytes: u64) -> bool {
        self.limit > 0 && bytes > self.limit
    }

    /// Takes `bytes` for `what`. `Status::NoMemory`, with the numbers, if they can never fit; `busy` (such as
    /// `Status::QueueFull`) if they do not fit beside what others hold now.
    pub fn take(self: &Arc<Self>, bytes: u64, what: &str, busy: Status) -> Result<Permit> {
        self.take_as(false, bytes, what, busy)
    }

    /// The same for bytes that leave when others need room: `staying` does not count them.
    pub fn take_leaving(self: &Arc<Self>, bytes: u64, what: &str, busy: Status) -> Result<Permit> {
        self.take_as(true, bytes, what, busy)
    }

    fn take_as(self: &Arc<Self>, leaves: bool, bytes: u64, what: &str, busy: Status) -> Result<Permit> {
        let no_limit = self.limit == 0;
        if self.can_never(bytes) {
            let message = format!("{what} needs {bytes} bytes of {} memory, the limit is {}", self.name, self.limit);
            return Err(Error::new(Status::NoMemory, message));
        }
        let mut state = self.state.lock();
        match state.used.checked_add(bytes) {
            Some(sum) if no_limit || sum <= self.limit => {
                state.used = sum;
                state.leaving += if leaves { bytes } else { 0 };
                state.peak = state.peak.max(sum);
            }
            _ => {
                let (used, limit) = (state.used, self.limit);
                let message =
                    format!("{what} needs {bytes} bytes of {} memory, {used} of {limit} are in use", self.name);
                return Err(Error::new(busy, message));
            }
        }
        Ok(Permit { budget: Arc::clone(self), bytes, leaves })
    }
}

/// Bytes that are in use until this is dropped.
#[derive(Debug)]
pub struct Permit {
    budget: Arc<Budget>,
    bytes: u64,
    leaves: bool,
}

impl Permit {
    /// From now on the bytes count as those that leave when others need room.
    pub fn let_leave(&mut self) {
        if !self.leaves {
            self.leaves = true;
            self.budget.state.lock().leaving += self.bytes;
        }
    }

    /// How many.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        // A permit's bytes were added once, so this cannot fall below zero.
        let mut state = self.budget.state.lock();
        state.used = state.used.saturating_sub(self.bytes);
        if self.leaves {
            state.leaving = state.leaving.saturating_sub(self.bytes);
        }
    }
}
