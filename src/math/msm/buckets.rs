//! Sums of many buckets of points at once: a counting sort by bucket, then batch-affine additions in pairs.
//!
//! The sorted entries are cut into pieces of equal size wherever the cuts fall, so a bucket that holds everything
//! costs no more than an even spread, and needs no case of its own: what a piece finds of a bucket that began in an
//! earlier one is handed back as a remainder and added at the end. Inside a piece the tree of additions keeps a
//! bucket's points together, so no two additions ever meet in one place.

use super::affine::{Run, Scratch, halve_runs};
use crate::math::curve::{Affine, CurveField, Jacobian};
use crate::math::prefetch::prefetch;
use crate::par;
use zeroize::Zeroize;

/// How many entries ahead points are fetched: their order is random and memory slow.
const AHEAD: usize = 32;

/// Points sorted by bucket. Zeroised when dropped: it tells the scalars.
#[derive(Debug, Default)]
pub struct Sorted {
    /// Where each bucket's entries start, and at last how many entries there are.
    offsets: Vec<u32>,
    /// Twice the index of the point, plus one where it is subtracted.
    entries: Vec<u32>,
}

impl Sorted {
    /// Sorts what the iterators that `list` makes yield, as (bucket, entry). It is asked twice and must give the same
    /// both times; buckets are below `buckets`, at most 2^32 - 1 entries. 4 bytes an entry and 8 a bucket.
    pub fn new<I: Iterator<Item = (u32, u32)>>(buckets: usize, list: impl Fn() -> I) -> Self {
        let mut offsets = vec![0u32; buckets + 1];
        list().for_each(|(bucket, _)| offsets[bucket as usize] += 1);
        let mut total = 0;
        for offset in &mut offsets {
            total += *offset;
            *offset = total - *offset;
        }
        let mut entries = vec![0u32; total as usize];
        let mut next = offsets.clone();
        list().for_each(|(bucket, entry)| {
            let place = &mut next[bucket as usize];
            entries[*place as usize] = entry;
            *place += 1;
        });
        next.zeroize();
        Self { offsets, entries }
    }

    /// The key of an entry that falls in no bucket.
    pub const NOWHERE: u32 = u32::MAX;

    /// Sorts entries by their keys: key `k` at place `i` puts entry `2 (i mod period) + (k mod 2)` into bucket `k / 2`, below
    /// `buckets`, at most 2^31.
    pub fn from_keys(buckets: usize, keys: &[u32], period: usize) -> Self {
        // One more at the front, so that while entries are placed an offset moves from its bucket's start to the next one's.
        let mut offsets = vec![0u32; buckets + 2];
        for &key in keys {
            if key != Self::NOWHERE {
                offsets[key as usize / 2 + 2] += 1;
            }
        }
        let mut total = 0;
        for offset in &mut offsets {
            total += *offset;
            *offset = total;
        }
        let mut entries = vec![0u32; total as usize];
        for keys in keys.chunks(period.max(1)) {
            for (i, &key) in keys.iter().enumerate() {
                if key != Self::NOWHERE {
                    let place = &mut offsets[key as usize / 2 + 1];
                    entries[*place as usize] = 2 * i as u32 + key % 2;
                    *place += 1;
                }
            }
        }
        offsets.pop();
        Self { offsets, entries }
    }

    /// Where each bucket's entries start, and at last how many entries there are.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The entries, bucket by bucket.
    pub fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// The number of buckets.
    pub fn buckets(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
}

impl Drop for Sorted {
    fn drop(&mut self) {
        self.offsets.zeroize();
        self.entries.zeroize();
    }
}

/// A piece of the sorted entries, and the buckets that begin in it.
struct Piece<'a, F> {
    sorted: &'a Sorted,
    /// The entries `from..to`.
    from: usize,
    to: usize,
    /// The first bucket that begins at `from` or later; `sums[0]` is its sum.
    bucket: usize,
    sums: &'a mut [Affine<F>],
}

/// The sums of all buckets, one vector for each of `lists`: bucket b's is the sum of its entries' points. Entries are
/// cut into pieces of about `piece` for the threads of the pool; a piece takes 2 points and 2 field elements of memory
/// an entry, in G1 288 bytes. Indices must be in range.
pub fn sums<F: CurveField>(points: &[Affine<F>], lists: &[Sorted], piece: usize) -> Vec<Vec<Affine<F>>> {
    let mut sums = par::map(lists.len(), |i| vec![Affine::INFINITY; lists[i].buckets()]);
    let mut pieces = Vec::new();
    for (list, (sorted, sums)) in lists.iter().zip(&mut sums).enumerate() {
        cut(sorted, sums, piece, |piece| pieces.push((list, piece)));
    }
    let remainders = par::map_items(pieces, |(list, piece)| (list, add_piece(points, piece)));
    // Within a bucket all remainders follow one another, so each bucket is made affine once.
    let mut open: Option<(usize, usize, Jacobian<F>)> = None;
    let mut close = |open: &mut Option<(usize, usize, Jacobian<F>)>| {
        if let Some((list, bucket, rest)) = open.take() {
            let sum: &mut Affine<F> = &mut sums[list][bucket];
            *sum = F::point_add_affine(&rest, sum).to_affine();
        }
    };
    for (list, remainder) in remainders {
        let Some((bucket, point)) = remainder else { continue };
        match &mut open {
            Some((l, b, sum)) if (*l, *b) == (list, bucket) => *sum += point,
            _ => {
                close(&mut open);
                open = Some((list, bucket, point.into()));
            }
        }
    }
    close(&mut open);
    sums
}

/// Cuts one sorted list into pieces of about `size` entries.
fn cut<'a, F>(sorted: &'a Sorted, mut sums: &'a mut [Affine<F>], size: usize, mut take: impl FnMut(Piece<'a, F>)) {
    let total = sorted.entries.len();
    let count = total.div_ceil(size.max(1));
    let first_from = |start: usize| sorted.offsets.partition_point(|&offset| (offset as usize) < start);
    let mut bucket = 0;
    for i in 0..count {
        let (from, to) = (total * i / count, total * (i + 1) / count);
        let next = if i + 1 == count { sorted.buckets() } else { first_from(to).min(sorted.buckets()) };
        let (own, rest) = std::mem::take(&mut sums).split_at_mut(next - bucket);
        take(Piece { sorted, from, to, bucket, sums: own });
        (sums, bucket) = (rest, next);
    }
}

/// Sums up one piece. Writes the buckets that begin in it, and returns the part of the bucket that began before it.
fn add_piece<F: CurveField>(points: &[Affine<F>], piece: Piece<'_, F>) -> Option<(usize, Affine<F>)> {
    let Piece { sorted, from, to, bucket, sums } = piece;
    let mut gathered = Vec::with_capacity(to - from);
    let mut runs = Vec::with_capacity(sums.len() + 1);
    let offset = |bucket: usize| sorted.offsets[bucket] as usize;
    // Target 0 is the bucket that began before the piece.
    let mut begin = from;
    for target in 0..=sums.len() {
        let end = offset(bucket + target).clamp(begin, to);
        let start = gathered.len();
        gather(points, &sorted.entries[begin..to], end - begin, &mut gathered);
        let length = (gathered.len() - start) as u32;
        if length > 0 {
            runs.push(Run { start: start as u32, length, target: target as u32 });
        }
        begin = end;
    }
    let mut scratch = Scratch::new(gathered.len() / 2);
    let mut remainder = None;
    loop {
        runs.retain(|run| {
            if run.length == 1 {
                let sum = gathered[run.start as usize];
                match (run.target as usize).checked_sub(1) {
                    Some(own) => sums[own] = sum,
                    None => remainder = Some((bucket.saturating_sub(1), sum)),
                }
            }
            run.length > 1
        });
        if runs.is_empty() {
            return remainder;
        }
        halve_runs(&mut gathered, &mut runs, &mut scratch);
    }
}

/// Copies the finite points that the first `count` entries name, with their signs.
#[inline(always)]
fn gather<F: CurveField>(points: &[Affine<F>], entries: &[u32], count: usize, into: &mut Vec<Affine<F>>) {
    for (i, entry) in entries.iter().enumerate().take(count) {
        if let Some(later) = entries.get(i + AHEAD) {
            prefetch(&points[(later >> 1) as usize]);
        }
        let point = points[(entry >> 1) as usize];
        if !point.is_infinity() {
            // Indexed, not branched: the signs are random.
            let y = [point.y, -point.y][(entry & 1) as usize];
            into.push(Affine { x: point.x, y });
        }
    }
}
