//! Data parallelism over the pool that the calling thread belongs to.
//!
//! Everything here runs sequentially on a thread that is not a worker of a rayon pool, so that rayon's
//! process-wide pool is never started: how many threads work is the engine's choice alone.

use rayon::prelude::*;

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

/// `(0..count).map(f)`, in order.
pub fn map<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    if in_pool() { (0..count).into_par_iter().map(f).collect() } else { (0..count).map(f).collect() }
}

/// `items.map(f)`, in order, for items that are owned or borrowed mutably.
pub fn map_items<I: Send, T: Send>(items: Vec<I>, f: impl Fn(I) -> T + Sync + Send) -> Vec<T> {
    if in_pool() { items.into_par_iter().map(f).collect() } else { items.into_iter().map(f).collect() }
}

/// Calls `f(start, piece of a, piece of b)` for the pieces of `size` elements of two slices of one length (the longer
/// one's tail is left alone); `start` is the index of the pieces' first element. A `size` of 0 counts as 1.
pub fn for_each_chunk_pair_mut<A: Send, B: Send>(
    a: &mut [A],
    b: &mut [B],
    size: usize,
    f: impl Fn(usize, &mut [A], &mut [B]) + Sync + Send,
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
    f: impl Fn(usize, &mut [A], &mut [B]) + Sync + Send,
) {
    let (row_size, word_size) = (row_size.max(1), word_size.max(1));
    if in_pool() {
        let pairs = rows.par_chunks_mut(row_size).zip(words.par_chunks_mut(word_size)).enumerate();
        pairs.for_each(|(i, (rows, words))| f(i * word_size, rows, words));
    } else {
        let pairs = rows.chunks_mut(row_size).zip(words.chunks_mut(word_size)).enumerate();
        pairs.for_each(|(i, (rows, words))| f(i * word_size, rows, words));
    }
}

/// Calls `f(start, chunk)` for the pieces of `items` of `size` elements (the last may be shorter); `start` is the
/// index of the piece's first element. A `size` of 0 counts as 1.
pub fn for_each_chunk_mut<T: Send>(items: &mut [T], size: usize, f: impl Fn(usize, &mut [T]) + Sync + Send) {
    let size = size.max(1);
    if in_pool() {
        items.par_chunks_mut(size).enumerate().for_each(|(i, chunk)| f(i * size, chunk));
    } else {
        items.chunks_mut(size).enumerate().for_each(|(i, chunk)| f(i * size, chunk));
    }
}

/// A piece size that gives every thread a few pieces of `count` items, and none fewer than `least`.
pub fn piece(count: usize, least: usize) -> usize {
    count.div_ceil(4 * threads()).max(least).max(1)
}

fn in_pool() -> bool {
    rayon::current_thread_index().is_some()
}
