//! Measured choices of the multi-scalar multiplication, by the number of points.

/// Points from which on buckets pay against [`super::straus`].
pub const LEAST_FOR_BUCKETS: usize = 16;

/// Entries that one batch of additions takes, by the degree of the field: as many as hide the shared inversions.
pub const PIECE: [usize; 2] = [4096, 2048];

/// Points that are summed up at a time; this bounds the memory (see [`super::msm`]).
pub const PART: usize = 1 << 21;

/// Lanes of the reduction of buckets that share their inversions.
pub const LANES: usize = 256;

/// Parts that one window's buckets are cut into for the reduction, at most.
pub const SEGMENTS: usize = 64;

/// The width of a window is the second number from this many points (the first number, a power of two) on.
const WIDTHS: [(u32, usize); 11] = [
    (4, 4),
    (5, 5),
    (7, 6),
    (8, 7),
    (9, 8),
    (11, 9),
    (12, 10),
    (14, 12),
    (15, 13),
    (16, 14),
    // Above, fewer windows win, and 16 bits go into 256 without a rest.
    (18, 16),
];

/// Bits of a window for this many points.
pub fn width(points: usize) -> usize {
    let log = points.max(1).ilog2();
    WIDTHS.iter().rev().find(|(from, _)| *from <= log).map_or(3, |(_, width)| *width)
}
