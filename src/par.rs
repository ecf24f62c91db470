//! Data parallelism over the pool that the calling thread belongs to.
//!
//! Everything here runs sequentially on a thread that is not a worker of a rayon pool, so that rayon's
//! process-wide pool is never started: how many threads work is the engine's choice alone.

use rayon::prelude::*;

use crate::sync::{AtomicU64, Ordering};

/// How many threads share the work of the calling thread; 1 outside a pool.
pub fn threads() -> usize {
    if in_pool() { rayon::current_num_threads() } else { 1 }
}

/// Runs both closures, at the same time where a thread is free.
pub fn join<A, B>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B)
where
    A: Send,
    B: Send,
{
    if in_pool() { rayon::join(a, b) } else { (a(), b()) }
}

/// `(0..count).map(f)`, in order. For few results that take long; [`map_many`] is for many.
pub fn map<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut results: Vec<Option<T>> = std::iter::repeat_with(|| None).take(count).collect();
    for_each_chunk_mut(&mut results, 1, |start, results| {
        for (i, result) in results.iter_mut().enumerate() {
            *result = Some(f(start + i));
        }
    });
    all(results)
}

/// `(0..count).map(f)`, in order, each result written where it stays: for many that take little.
pub fn map_many<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    if in_pool() { (0..count).into_par_iter().map(f).collect() } else { (0..count).map(f).collect() }
}

/// `items.map(f)`, in order, for items that are owned or borrowed mutably.
pub fn map_items<I: Send, T: Send>(items: Vec<I>, f: impl Fn(I) -> T + Sync) -> Vec<T> {
    let mut items: Vec<Option<I>> = items.into_iter().map(Some).collect();
    let mut results: Vec<Option<T>> = std::iter::repeat_with(|| None).take(items.len()).collect();
    for_each_chunk_pair_mut(&mut items, &mut results, 1, |_, items, results| {
        for (item, result) in items.iter_mut().zip(results) {
            *result = item.take().map(&f);
        }
    });
    all(results)
}

/// Every place has been filled.
fn all<T>(results: Vec<Option<T>>) -> Vec<T> {
    let mut out = Vec::with_capacity(results.len());
    out.extend(results.into_iter().flatten());
    out
}

/// Calls `f(start, piece of a, piece of b)` for the pieces of `size` elements of two slices of one length (the longer
/// one's tail is left alone); `start` is the index of the pieces' first element. A `size` of 0 counts as 1.
pub fn for_each_chunk_pair_mut<A: Send, B: Send>(
    a: &mut [A],
    b: &mut [B],
    size: usize,
    f: impl Fn(usize, &mut [A], &mut [B]) + Sync,
) {
    let length = a.len().min(b.len());
    for_each_chunk_pair_rows(&mut a[..length], size, &mut b[..length], size, f);
}

/// Calls `f(start, rows, words)` for the pieces of `row_size` elements of the one slice and of `word_size` of the other, pairwise
/// until either ends; `start` is the index of the first word. Sizes of 0 count as 1.
pub fn for_each_chunk_pair_rows<A: Send, B: Send>(
    rows: &mut [A],
    row_size: usize,
    words: &mut [B],
    word_size: usize,
    f: impl Fn(usize, &mut [A], &mut [B]) + Sync,
) {
    let (row_size, word_size) = (row_size.max(1), word_size.max(1));
    run(Box::new(Pieces { rows, row_size, words, word_size, start: 0, f: &f }));
}

/// Calls `f(start, chunk)` for the pieces of `items` of `size` elements (the last may be shorter); `start` is the
/// index of the piece's first element. A `size` of 0 counts as 1.
pub fn for_each_chunk_mut<T: Send>(items: &mut [T], size: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    let mut nothing = vec![(); items.len()];
    for_each_chunk_pair_mut(items, &mut nothing, size, |start, chunk, _| f(start, chunk));
}

/// Pieces that one thread works through unless another one takes some of them. An object, since rayon's own iterators are compiled
/// anew for each closure, which made half of the library.
trait Work<'a>: Send {
    /// How many pieces there are.
    fn pieces(&self) -> usize;
    /// The first `at` pieces, and those that follow.
    fn split(self: Box<Self>, at: usize) -> (AnyWork<'a>, AnyWork<'a>);
    /// Works through all of them, in order.
    fn run(self: Box<Self>);
}

type AnyWork<'a> = Box<dyn Work<'a> + 'a>;

/// What is called with a piece of each slice and the index of the second one's first element.
type OnPiece<'a, A, B> = dyn Fn(usize, &mut [A], &mut [B]) + Sync + 'a;

/// Two slices of which pieces belong together.
struct Pieces<'a, A, B> {
    rows: &'a mut [A],
    row_size: usize,
    words: &'a mut [B],
    word_size: usize,
    /// The index of the first word among all.
    start: usize,
    f: &'a OnPiece<'a, A, B>,
}

impl<'a, A: Send, B: Send> Work<'a> for Pieces<'a, A, B> {
    fn pieces(&self) -> usize {
        self.rows.len().div_ceil(self.row_size).min(self.words.len().div_ceil(self.word_size))
    }

    fn split(self: Box<Self>, at: usize) -> (AnyWork<'a>, AnyWork<'a>) {
        let Self { rows, row_size, words, word_size, start, f } = *self;
        let (rows, more_rows) = rows.split_at_mut((at * row_size).min(rows.len()));
        let (words, more_words) = words.split_at_mut((at * word_size).min(words.len()));
        let rest = Self { rows: more_rows, row_size, words: more_words, word_size, start: start + words.len(), f };
        (Box::new(Self { rows, row_size, words, word_size, start, f }), Box::new(rest))
    }

    fn run(self: Box<Self>) {
        let pieces = self.rows.chunks_mut(self.row_size).zip(self.words.chunks_mut(self.word_size));
        for (i, (rows, words)) in pieces.enumerate() {
            (self.f)(self.start + i * self.word_size, rows, words);
        }
    }
}

/// Parts of the work that each thread gets, if there are as many pieces. What a thread has begun nobody can take from it, so the
/// threads that come late, or that the system holds up for a while, keep the others waiting for a part at most.
const PARTS: usize = 8;

fn run(work: AnyWork) {
    if in_pool() { divide(work, PARTS * rayon::current_num_threads(), false) } else { work.run() }
}

/// Halves the work as rayon's iterators do: until there are `parts`, and again where a part was taken by another thread, which
/// tells that threads are free.
fn divide(work: AnyWork, parts: usize, taken: bool) {
    let pieces = work.pieces();
    if pieces < 2 || (parts < 2 && !taken) {
        return work.run();
    }
    let parts = if taken { parts.max(2 * rayon::current_num_threads()) } else { parts };
    let (left, right) = work.split(pieces / 2);
    rayon::join_context(
        |context| divide(left, parts / 2, context.migrated()),
        |context| divide(right, parts / 2, context.migrated()),
    );
}

/// The least of the indices that threads note.
#[derive(Debug)]
pub struct First(AtomicU64);

/// None yet.
impl Default for First {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl First {
    /// Notes an index.
    pub fn note(&self, index: usize) {
        self.0.fetch_min(index as u64, Ordering::Relaxed);
    }

    /// The least one, when the threads have ended.
    pub fn get(self) -> Option<usize> {
        match self.0.load(Ordering::Relaxed) {
            u64::MAX => None,
            index => Some(index as usize),
        }
    }
}

/// A piece size that gives every thread a few pieces of `count` items, and none fewer than `least`.
pub fn piece(count: usize, least: usize) -> usize {
    count.div_ceil(PARTS * threads()).max(least).max(1)
}

fn in_pool() -> bool {
    rayon::current_thread_index().is_some()
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    const COUNTS: [usize; 14] = [0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000];

    /// Outside a pool, and in pools of 1, 2, 3 and 8 threads.
    fn everywhere(f: impl Fn() + Send + Sync) {
        f();
        for threads in [1, 2, 3, 8] {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&f);
        }
    }

    #[test]
    fn results_come_in_order() {
        everywhere(|| {
            for count in COUNTS {
                let wanted: Vec<String> = (0..count).map(|i| i.to_string()).collect();
                assert_eq!(map(count, |i| i.to_string()), wanted);
                assert_eq!(map_many(count, |i| i.to_string()), wanted);
                assert_eq!(map_items(wanted.clone(), |text| text), wanted);
                let mut numbers: Vec<usize> = (0..count).collect();
                let lent = map_items(numbers.iter_mut().collect(), |number| {
                    *number += 1;
                    *number
                });
                assert_eq!(lent, numbers);
            }
        });
    }

    #[test]
    fn each_piece_is_seen_once_with_its_place() {
        everywhere(|| {
            for (count, size) in
                COUNTS.iter().flat_map(|&count| [0, 1, 2, 3, 32, 999, 1000, 1001].map(|size| (count, size)))
            {
                let wanted: Vec<usize> = (0..count).map(|i| i + 1).collect();
                let mut a = vec![0; count];
                for_each_chunk_mut(&mut a, size, |start, piece| {
                    assert!(start % size.max(1) == 0 && (piece.len() == size.max(1) || start + piece.len() == count));
                    piece.iter_mut().enumerate().for_each(|(i, a)| *a += start + i + 1);
                });
                assert_eq!(a, wanted);

                // The longer one's tail is left alone.
                let (mut a, mut b) = (vec![0; count], vec![0; count + 5]);
                for_each_chunk_pair_mut(&mut a, &mut b, size, |start, a, b| {
                    assert_eq!(a.len(), b.len());
                    for (i, (a, b)) in a.iter_mut().zip(b).enumerate() {
                        (*a, *b) = (*a + start + i + 1, *b + start + i + 1);
                    }
                });
                assert_eq!(a, wanted);
                assert_eq!((&b[..count], &b[count..]), (&wanted[..], &[0; 5][..]));
            }
        });
    }

    #[test]
    fn rows_and_words_end_with_the_shorter() {
        everywhere(|| {
            for (rows, words) in [(0, 5), (5, 0), (64, 10), (65, 9), (66, 9), (1000, 17)] {
                let pieces = usize::min(rows_in(rows, 8), rows_in(words, 3));
                let (mut a, mut b) = (vec![0; rows], vec![0; words]);
                for_each_chunk_pair_rows(&mut a, 8, &mut b, 3, |start, rows, words| {
                    assert_eq!(start % 3, 0);
                    rows.fill(start / 3 + 1);
                    words.fill(start / 3 + 1);
                });
                assert!(a.iter().enumerate().all(|(i, a)| *a == if i / 8 < pieces { i / 8 + 1 } else { 0 }));
                assert!(b.iter().enumerate().all(|(i, b)| *b == if i / 3 < pieces { i / 3 + 1 } else { 0 }));
            }
        });
        fn rows_in(count: usize, size: usize) -> usize {
            count.div_ceil(size)
        }
    }

    #[test]
    fn the_first_of_all_threads_is_kept() {
        everywhere(|| {
            assert_eq!(First::default().get(), None);
            for wanted in [0, 1, 500, 998] {
                let first = First::default();
                for_each_chunk_mut(&mut [0u8; 1000], 7, |start, piece| {
                    (start..start + piece.len()).filter(|i| *i >= wanted).for_each(|i| first.note(i));
                });
                assert_eq!(first.get(), Some(wanted));
            }
        });
    }

    /// Two pieces that wait for each other meet only on two threads.
    #[test]
    fn pieces_run_at_the_same_time() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        use std::time::{Duration, Instant};

        let meet = |arrived: &AtomicUsize| {
            arrived.fetch_add(1, Ordering::SeqCst);
            let end = Instant::now() + Duration::from_secs(20);
            while arrived.load(Ordering::SeqCst) < 2 && Instant::now() < end {
                std::thread::yield_now();
            }
            arrived.load(Ordering::SeqCst) == 2
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let arrived = AtomicUsize::new(0);
        assert_eq!(pool.install(|| map(2, |_| meet(&arrived))), [true, true]);
        let arrived = AtomicUsize::new(0);
        assert_eq!(pool.install(|| map_items(vec![(), ()], |()| meet(&arrived))), [true, true]);
    }

    /// All other pieces are done while the first one waits for them.
    #[test]
    fn a_thread_that_is_held_up_holds_one_piece() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        use std::time::{Duration, Instant};

        let count = 2 * PARTS;
        let done = AtomicUsize::new(0);
        let piece = |i: usize| {
            if i > 0 {
                done.fetch_add(1, Ordering::SeqCst);
                return true;
            }
            let end = Instant::now() + Duration::from_secs(20);
            while done.load(Ordering::SeqCst) < count - 1 && Instant::now() < end {
                std::thread::yield_now();
            }
            done.load(Ordering::SeqCst) == count - 1
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        assert!(pool.install(|| map(count, piece))[0]);
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        everywhere(|| {
            let caught = std::panic::catch_unwind(|| map(100, |i| assert_ne!(i, 77)));
            assert!(caught.is_err());
        });
    }
}
