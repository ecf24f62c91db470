//! Measured choices of the multi-scalar multiplication on lanes (on a Xeon with 2 MB of second-level cache a core).

/// Points from which on this way pays.
pub const LEAST: usize = 24;

/// Points that are summed up at a time; this bounds the memory.
pub const PART: usize = 1 << 20;

/// Cost of one subgroup test, in affine additions on lanes, by the degree of the field.
pub const TEST_COST: [usize; 2] = [500, 300];

/// The same on lanes of the second choice.
pub const SECOND_TEST_COST: [usize; 2] = [170, 100];

/// Buckets that are sorted together.
pub const GROUP: usize = 4096;

/// Lanes of the weighted sum of buckets that one thread walks, where there are enough buckets.
pub const LANES: usize = 512;

/// The width of a window is the second number from this many points (the first number, a power of two) on.
const WIDTHS: [(u32, usize); 12] =
    [(4, 4), (6, 5), (7, 6), (9, 7), (10, 8), (12, 9), (13, 10), (14, 11), (15, 12), (16, 13), (18, 15), (19, 16)];

/// Bits of a window for this many points.
pub fn width(points: usize) -> usize {
    let log = points.max(1).ilog2();
    WIDTHS.iter().rev().find(|(from, _)| *from <= log).map_or(3, |(_, width)| *width)
}
