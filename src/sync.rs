//! The only place that names locks and atomics, so that a model checker can stand in for them: parking_lot and the
//! standard library, or loom under `cfg(loom)`.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

#[cfg(loom)]
pub use loom::thread::ThreadId;
#[cfg(not(loom))]
pub use std::thread::ThreadId;

use std::time::Instant;

/// Which thread this is; the model checker runs all of its threads on one of the system's.
pub fn current_thread() -> ThreadId {
    #[cfg(loom)]
    return loom::thread::current().id();
    #[cfg(not(loom))]
    return std::thread::current().id();
}

#[cfg(loom)]
type RawMutex<T> = loom::sync::Mutex<T>;
#[cfg(not(loom))]
type RawMutex<T> = parking_lot::Mutex<T>;
#[cfg(loom)]
type RawCondvar = loom::sync::Condvar;
#[cfg(not(loom))]
type RawCondvar = parking_lot::Condvar;

/// What `Mutex::lock` returns; unlocks when dropped.
#[cfg(loom)]
pub type Guard<'a, T> = loom::sync::MutexGuard<'a, T>;
/// What `Mutex::lock` returns; unlocks when dropped.
#[cfg(not(loom))]
pub type Guard<'a, T> = parking_lot::MutexGuard<'a, T>;

/// Mutual exclusion without poisoning.
#[derive(Debug, Default)]
pub struct Mutex<T>(RawMutex<T>);

impl<T> Mutex<T> {
    /// A new unlocked mutex.
    pub fn new(value: T) -> Self {
        Self(RawMutex::new(value))
    }

    /// Waits for the lock. Holders keep it for moments only.
    pub fn lock(&self) -> Guard<'_, T> {
        #[cfg(loom)]
        return self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        #[cfg(not(loom))]
        return self.0.lock();
    }
}

/// A condition that threads wait for under a `Mutex`.
#[derive(Debug, Default)]
pub struct Condvar(RawCondvar);

impl Condvar {
    /// A condition without waiters.
    pub fn new() -> Self {
        Self(RawCondvar::new())
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Gives the lock up until notified (or for no reason) and takes it again.
    pub fn wait<'a, T>(&self, guard: Guard<'a, T>) -> Guard<'a, T> {
        #[cfg(loom)]
        return self.0.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner);
        #[cfg(not(loom))]
        {
            let mut guard = guard;
            self.0.wait(&mut guard);
            guard
        }
    }

    /// As `wait`, but not beyond `deadline`. Model-checked code has no clock: there it waits.
    pub fn wait_until<'a, T>(&self, guard: Guard<'a, T>, deadline: Instant) -> Guard<'a, T> {
        #[cfg(loom)]
        {
            let _ = deadline;
            self.wait(guard)
        }
        #[cfg(not(loom))]
        {
            let mut guard = guard;
            self.0.wait_until(&mut guard, deadline);
            guard
        }
    }
}
