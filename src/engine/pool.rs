//! Buffers that are used again: those that are dear to make, such as page-locked memory.

use std::collections::VecDeque;

use crate::sync::Mutex;

/// Up to so many buffers, of so many bytes together, that nobody uses now, by size. What is in a buffer when it comes here, it still is when it
/// leaves: whoever gives it wipes it first.
#[derive(Debug)]
pub struct Pool<B> {
    most: usize,
    most_bytes: usize,
    /// The one that came last is at the back.
    free: Mutex<VecDeque<(usize, B)>>,
}

impl<B> Pool<B> {
    /// Keeps at most `most` buffers of `most_bytes` together.
    pub fn new(most: usize, most_bytes: usize) -> Self {
        Self { most, most_bytes, free: Mutex::new(VecDeque::new()) }
    }

    /// A buffer of just this size, in bytes; the one that came last, which is most likely in caches still.
    pub fn take(&self, bytes: usize) -> Option<B> {
        let mut free = self.free.lock();
        let index = free.iter().rposition(|(size, _)| *size == bytes)?;
        free.remove(index).map(|(_, buffer)| buffer)
    }

    /// Keeps a buffer of this size. Where there are too many, those that came first are answered, for the caller to drop:
    /// never under this pool's lock.
    #[must_use]
    pub fn give(&self, bytes: usize, buffer: B) -> Vec<B> {
        let mut free = self.free.lock();
        free.push_back((bytes, buffer));
        let mut sum: usize = free.iter().map(|(bytes, _)| *bytes).fold(0, usize::saturating_add);
        let mut gone = Vec::new();
        while free.len() > self.most || sum > self.most_bytes {
            let Some((bytes, buffer)) = free.pop_front() else { break };
            sum = sum.saturating_sub(bytes);
            gone.push(buffer);
        }
        gone
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
        let pool = Pool::new(3, 100);
        assert_eq!(pool.take(1), None);
        for (size, name) in [(1, 'a'), (2, 'b'), (1, 'c')] {
            assert_eq!(pool.give(size, name), []);
        }
        assert_eq!(pool.take(1), Some('c'));
        assert_eq!(pool.take(3), None);
        assert_eq!(pool.give(1, 'c'), []);
        assert_eq!(pool.give(4, 'd'), ['a']);
        assert_eq!(pool.give(95, 'e'), ['b']);
        assert_eq!(pool.give(101, 'f'), ['c', 'd', 'e', 'f']);
        assert_eq!(pool.empty(), []);
        assert_eq!(pool.take(2), None);
    }

    #[test]
    fn a_pool_for_nothing_keeps_nothing() {
        let pool = Pool::new(0, 100);
        assert_eq!(pool.give(1, 'a'), ['a']);
        assert_eq!(pool.take(1), None);
    }
}
