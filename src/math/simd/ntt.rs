//! Number-theoretic transforms on lanes; see [`crate::math::ntt`] for what they compute.
//!
//! A transform of 2^n elements is cut into passes over memory. A pass copies a part that fits a core's cache into vectors
//! of limbs, takes up to [`COLUMN_LEVELS`] or [`ROW_LEVELS`] levels there, two at a time (radix 4), and copies it back. In
//! the passes of the upper levels a lane is a column, the elements whose index modulo the stride is the same, so all lanes
//! share their factors; the last pass has rows of neighbours, transposed eight by eight for its last three levels.
//!
//! Bounds: a forward pass starts below r. A level adds 2 r; where two levels have only factors of one they lead from 3 r to 10 r, or
//! 14.1 r with AVX2. So after twelve levels values are below 33 r, and limbs hold 35 r. A backward pass keeps below
//! [`ScalarLanes::BACKWARD`] r.

use zeroize::Zeroizing;

use super::lanes::Task;
use super::scalar::{Factors, ScalarLanes};
use crate::math::fr::Fr;
use crate::par;

/// Levels of a pass over columns, at most.
const COLUMN_LEVELS: u32 = 8;

/// Levels of the pass over rows, at most.
const ROW_LEVELS: u32 = 12;

/// The same, where fewer would give every thread its share of the rows.
const LEAST_ROW_LEVELS: u32 = 8;

/// Least size of a transform, as a logarithm.
pub const LEAST: u32 = 6;

/// Vectors of neighbouring columns that are taken at once: 512 bytes of each row.
const WIDTH: usize = 2;

/// Natural to bit-reversed order; `factors` are `T[k]`, k below half of the size.
pub fn nr<L: ScalarLanes>(values: &mut [Fr], factors: &Factors) {
    nr_block::<L>(values, 0, row_levels(values.len().ilog2()), factors);
}

/// Bit-reversed to natural order, the transpose of [`nr`].
pub fn rn<L: ScalarLanes>(values: &mut [Fr], factors: &Factors) {
    rn_block::<L>(values, 0, row_levels(values.len().ilog2()), factors);
}

/// Levels of the pass over rows in a transform of 2^log elements: so few that every thread has some rows, unless there is but
/// one row.
fn row_levels(log: u32) -> u32 {
    match par::threads() {
        1 => ROW_LEVELS,
        _ if log <= ROW_LEVELS => ROW_LEVELS,
        threads => log.saturating_sub((4 * threads).ilog2()).clamp(LEAST_ROW_LEVELS, ROW_LEVELS),
    }
}

/// Levels of the next pass over columns, for a block of 2^log elements: as even as can be, and enough to be worth it.
fn column_levels(log: u32, row_levels: u32) -> u32 {
    let levels = log.saturating_sub(row_levels);
    match levels.div_ceil(COLUMN_LEVELS) {
        0 => 0,
        passes => levels.div_ceil(passes).max(4),
    }
}

fn nr_block<L: ScalarLanes>(values: &mut [Fr], k: usize, row_levels: u32, factors: &Factors) {
    let log = values.len().ilog2();
    let levels = column_levels(log, row_levels);
    if levels == 0 {
        L::run(Rows::<L, true> { values, k, factors, lanes: Default::default() });
        return;
    }
    columns::<L, true>(values, k, levels, factors);
    let rows: Vec<_> = values.chunks_exact_mut(1 << (log - levels)).enumerate().collect();
    par::map_items(rows, |(i, row)| nr_block::<L>(row, (k << levels) + i, row_levels, factors));
}

fn rn_block<L: ScalarLanes>(values: &mut [Fr], k: usize, row_levels: u32, factors: &Factors) {
    let log = values.len().ilog2();
    let levels = column_levels(log, row_levels);
    if levels == 0 {
        L::run(Rows::<L, false> { values, k, factors, lanes: Default::default() });
        return;
    }
    let rows: Vec<_> = values.chunks_exact_mut(1 << (log - levels)).enumerate().collect();
    par::map_items(rows, |(i, row)| rn_block::<L>(row, (k << levels) + i, row_levels, factors));
    columns::<L, false>(values, k, levels, factors);
}

/// The upper `levels` levels of a block.
fn columns<L: ScalarLanes, const FORWARD: bool>(values: &mut [Fr], k: usize, levels: u32, factors: &Factors) {
    let stride = values.len() >> levels;
    let width = par::piece(stride, 8 * WIDTH).next_multiple_of(8 * WIDTH);
    let mut parts: Vec<Vec<&mut [Fr]>> = Vec::new();
    parts.resize_with(stride.div_ceil(width), || Vec::with_capacity(1 << levels));
    for row in values.chunks_exact_mut(stride) {
        for (part, piece) in parts.iter_mut().zip(row.chunks_mut(width)) {
            part.push(piece);
        }
    }
    par::map_items(parts, |rows| L::run(Columns::<L, FORWARD> { rows, k, factors, lanes: Default::default() }));
}

/// Some columns: a piece of every row.
struct Columns<'t, L, const FORWARD: bool> {
    rows: Vec<&'t mut [Fr]>,
    k: usize,
    factors: &'t Factors,
    lanes: std::marker::PhantomData<L>,
}

impl<L: ScalarLanes, const FORWARD: bool> Task for Columns<'_, L, FORWARD> {
    type Output = ();
    #[inline(always)]
    fn run(mut self) {
        let count = self.rows.len();
        let columns = self.rows[0].len() / 8;
        // What stands between the levels tells the secrets that are transformed.
        let mut buffer = Zeroizing::new(vec![L::zeros(); count * WIDTH]);
        for first in (0..columns).step_by(WIDTH) {
            for (i, row) in self.rows.iter().enumerate() {
                for c in 0..WIDTH {
                    buffer[WIDTH * i + c] = L::load(&row.as_chunks::<8>().0[first + c]);
                }
            }
            if FORWARD {
                forward_levels::<L>(&mut buffer, self.k, WIDTH, self.factors);
            } else {
                backward_levels::<L>(&mut buffer, self.k, WIDTH, self.factors);
            }
            for (i, row) in self.rows.iter_mut().enumerate() {
                for c in 0..WIDTH {
                    L::store_elements(&buffer[WIDTH * i + c], &mut row.as_chunks_mut::<8>().0[first + c]);
                }
            }
        }
    }
}

/// All levels of a block of neighbours.
struct Rows<'t, L, const FORWARD: bool> {
    values: &'t mut [Fr],
    k: usize,
    factors: &'t Factors,
    lanes: std::marker::PhantomData<L>,
}

impl<L: ScalarLanes, const FORWARD: bool> Task for Rows<'_, L, FORWARD> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let count = self.values.len() / 8;
        let mut buffer = Zeroizing::new(Vec::with_capacity(count));
        for elements in self.values.as_chunks::<8>().0 {
            buffer.push(L::load(elements));
        }
        // Block `first + i` of eight elements.
        let first = self.k * count;
        if FORWARD {
            forward_levels::<L>(&mut buffer, self.k, 1, self.factors);
        }
        for (i, group) in buffer.chunks_exact_mut(8).enumerate() {
            last_levels::<L, FORWARD>(group, first / 8 + i, self.factors);
        }
        if !FORWARD {
            backward_levels::<L>(&mut buffer, self.k, 1, self.factors);
        }
        for (x, elements) in buffer.iter().zip(self.values.as_chunks_mut::<8>().0) {
            L::store_elements(x, elements);
        }
    }
}

/// Levels of vectors, down to blocks of `least` vectors; `buffer` is block `k` of its level.
#[inline(always)]
fn forward_levels<L: ScalarLanes>(buffer: &mut [L::Scalars], k: usize, least: usize, factors: &Factors) {
    let mut levels = (buffer.len() / least).ilog2();
    let mut blocks = 1;
    if levels % 2 == 1 {
        let (low, high) = buffer.split_at_mut(buffer.len() / 2);
        forward_2::<L>(low, high, &factors.splat::<L>(k));
        blocks = 2;
        levels -= 1;
    }
    let mut small = true;
    while levels > 0 {
        let size = buffer.len() / blocks;
        for (j, block) in buffer.chunks_exact_mut(size).enumerate() {
            forward_4::<L>(block, k * blocks + j, small, factors);
        }
        small = false;
        blocks *= 4;
        levels -= 2;
    }
}

#[inline(always)]
fn backward_levels<L: ScalarLanes>(buffer: &mut [L::Scalars], k: usize, least: usize, factors: &Factors) {
    let mut blocks = buffer.len() / least;
    while blocks >= 4 {
        blocks /= 4;
        let size = buffer.len() / blocks;
        for (j, block) in buffer.chunks_exact_mut(size).enumerate() {
            backward_4::<L>(block, k * blocks + j, factors);
        }
    }
    if blocks == 2 {
        let (low, high) = buffer.split_at_mut(buffer.len() / 2);
        backward_2::<L>(low, high, &factors.splat::<L>(k));
    }
}

#[inline(always)]
fn forward_2<L: ScalarLanes>(low: &mut [L::Scalars], high: &mut [L::Scalars], t: &L::Factor) {
    for (a, b) in low.iter_mut().zip(high) {
        L::forward_2(a, b, t);
    }
}

#[inline(always)]
fn backward_2<L: ScalarLanes>(low: &mut [L::Scalars], high: &mut [L::Scalars], t: &L::Factor) {
    for (a, b) in low.iter_mut().zip(high) {
        L::backward_2(a, b, t);
    }
}

/// Two levels of block `k`; `small` values are below 3 r.
#[inline(always)]
fn forward_4<L: ScalarLanes>(block: &mut [L::Scalars], k: usize, small: bool, factors: &Factors) {
    let (ab, cd) = block.split_at_mut(block.len() / 2);
    let ((a, b), (c, d)) = (ab.split_at_mut(ab.len() / 2), cd.split_at_mut(cd.len() / 2));
    let (s0, s1) = (factors.splat::<L>(2 * k), factors.splat::<L>(2 * k + 1));
    if k == 0 && small {
        // Two factors are one.
        let (bound, reduced) = (L::bound_of_values(5), L::bound_of_values(L::REDUCED));
        for i in 0..a.len() {
            let (a1, c1) = (L::plus(&a[i], &c[i]), L::subtract(&a[i], &c[i], &bound));
            let (b1, d1) = (L::plus(&b[i], &d[i]), L::ready(L::subtract(&b[i], &d[i], &bound)));
            let [d1] = L::products([&d1], [&s1]);
            let out = [&mut a[i], &mut b[i], &mut c[i], &mut d[i]];
            L::last_of_4(out, [a1, c1], [L::reduce_scalars(b1), d1], &reduced);
        }
        return;
    }
    let t = factors.splat::<L>(k);
    for i in 0..a.len() {
        L::forward_4([&mut a[i], &mut b[i], &mut c[i], &mut d[i]], &t, [&s0, &s1]);
    }
}

#[inline(always)]
fn backward_4<L: ScalarLanes>(block: &mut [L::Scalars], k: usize, factors: &Factors) {
    let (ab, cd) = block.split_at_mut(block.len() / 2);
    let ((a, b), (c, d)) = (ab.split_at_mut(ab.len() / 2), cd.split_at_mut(cd.len() / 2));
    let (t, s0, s1) = (factors.splat::<L>(k), factors.splat::<L>(2 * k), factors.splat::<L>(2 * k + 1));
    for i in 0..a.len() {
        L::backward_4([&mut a[i], &mut b[i], &mut c[i], &mut d[i]], &t, [&s0, &s1]);
    }
}

/// The levels inside eight vectors of neighbours: 64 elements from index `64 i` of the whole on.
#[inline(always)]
fn last_levels<L: ScalarLanes, const FORWARD: bool>(group: &mut [L::Scalars], i: usize, factors: &Factors) {
    // Lane l has block 8 i + l of eight elements, element j in vector j.
    let mut x = L::transpose_scalars(group);
    let one = L::factor(&factors.block::<L>(i));
    let two = L::deinterleave_scalars(&factors.block::<L>(2 * i), &factors.block::<L>(2 * i + 1));
    let (low, high) = (
        L::deinterleave_scalars(&factors.block::<L>(4 * i), &factors.block::<L>(4 * i + 1)),
        L::deinterleave_scalars(&factors.block::<L>(4 * i + 2), &factors.block::<L>(4 * i + 3)),
    );
    let (even, odd) = (L::deinterleave_scalars(&low[0], &high[0]), L::deinterleave_scalars(&low[1], &high[1]));
    let four = [even[0], odd[0], even[1], odd[1]];
    if FORWARD {
        let (low, high) = x.split_at_mut(4);
        forward_2::<L>(low, high, &one);
        for (block, t) in x.chunks_exact_mut(4).zip(&two) {
            let (low, high) = block.split_at_mut(2);
            forward_2::<L>(low, high, &L::factor(t));
        }
        for (pair, t) in x.chunks_exact_mut(2).zip(&four) {
            let (low, high) = pair.split_at_mut(1);
            forward_2::<L>(low, high, &L::factor(t));
        }
    } else {
        for (pair, t) in x.chunks_exact_mut(2).zip(&four) {
            let (low, high) = pair.split_at_mut(1);
            backward_2::<L>(low, high, &L::factor(t));
        }
        for (block, t) in x.chunks_exact_mut(4).zip(&two) {
            let (low, high) = block.split_at_mut(2);
            backward_2::<L>(low, high, &L::factor(t));
        }
        let (low, high) = x.split_at_mut(4);
        backward_2::<L>(low, high, &one);
    }
    group.copy_from_slice(&L::transpose_scalars(&x));
}
