//! Buffers that are used again: those that are dear to make, such as page-locked memory.

use std::collections::VecDeque;

use crate::sync::Mutex;

/// Up to so many buffers that nobody uses now, by size. What is in a buffer when it comes here, it still is when it
/// leaves: whoever gives it wipes it first.
#[derive(Debug)]
pub struct Pool<B> {
    most: usize,
    /// The one that came last is at the back.
    free: Mutex<VecDeque<(usize, B)>>,
}

impl<B> Pool<B> {
    /// Keeps at most `most` buffers.
    pub fn new(most: usize) -> Self {
        Self { most, free: Mutex::new(VecDeque::new()) }
    }

    /// A buffer of just this size, in bytes; the one that came last, which is most likely in caches still.
    pub fn take(&self, bytes: usize) -> Option<B> {
        let mut free = self.free.lock();
        let index = free.iter().rposition(|(size, _)| *size == bytes)?;
        free.remove(index).map(|(_, buffer)| buffer)
    }

    /// Keeps a buffer of this size. Where there are too many, the one that came first is answered, for the caller to
    /// drop: never under this pool's lock.
    #[must_use]
    pub fn give(&self, bytes: usize, buffer: B) -> Option<B> {
        let mut free = self.free.lock();
        free.push_back((bytes, buffer));
        if free.len() > self.most { free.pop_front().map(|(_, buffer)| buffer) } else { None }
    }

    /// All buffers, for the caller to drop: others need the memory.
    pub fn empty(&self) -> Vec<B> {
        self.free.lock().drain(..).map(|(_, buffer)| buffer).collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_by_size_and_the_oldest_goes_first() {
        let pool = Pool::new(3);
        assert_eq!(pool.take(1), None);
        for (size, name) in [(1, 'a'), (2, 'b'), (1, 'c')] {
            assert_eq!(pool.give(size, name), None);
        }
        assert_eq!(pool.take(1), Some('c'));
        assert_eq!(pool.take(3), None);
        assert_eq!(pool.give(1, 'c'), None);
        assert_eq!(pool.give(4, 'd'), Some('a'));
        assert_eq!(pool.empty(), ['b', 'c', 'd']);
        assert_eq!(pool.take(2), None);
    }

    #[test]
    fn a_pool_for_nothing_keeps_nothing() {
        let pool = Pool::new(0);
        assert_eq!(pool.give(1, 'a'), Some('a'));
        assert_eq!(pool.take(1), None);
    }
}
