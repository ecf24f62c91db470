//! Whether many points of a curve all lie in its subgroup of order r, by sums over random buckets.
//!
//! In a round every point falls into one of M buckets, uniformly and independently, and each bucket's sum is tested.
//! Take a point outside of the subgroup, say the last one, and let all others have fallen. In the quotient of the curve
//! by the subgroup its class is not zero. If all buckets are of class zero without it, the bucket that it falls into is
//! not, wherever it falls. If exactly one bucket is of another class, it must fall into that one to hide; if several are,
//! it cannot hide at all. So a round misses with probability at most 1/M whatever the bad points are (also if they are
//! opposite to one another), and k independent rounds miss with at most M^-k. Here M^k >= 2^60. The bound
//! needs that whoever chose the points did not know the buckets: the generator is seeded by the system after the points
//! are fixed. Source of the idea: the batched subgroup test of gnark-crypto and of arkworks' ceremony code.

use chacha20::ChaCha12Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use super::curve::{Affine, CurveField};
use super::msm::buckets::{Sorted, sums};
use super::msm::tuning;
use super::simd;
use crate::error::{Error, Result, Status};
use crate::par;

/// All rounds together miss with a probability of at most 2 to minus this.
const SECURITY_BITS: u32 = 60;

/// Cost of one subgroup test, in affine additions, by the degree of the field; measured. [`simd::test_cost`] is for additions on lanes.
const TEST_COST: [usize; 2] = [120, 70];

/// Points that are converted for lanes at a time; this bounds the memory.
const BLOCK: usize = 1 << 18;

/// The index of the first point that lies outside the subgroup of order r, or `None` if there is none; wrongly `None`
/// with probability below 2^-60.
///
/// All points must be on the curve; infinity counts as inside. Runs on the caller's pool; takes 4 bytes a point, and
/// 1 MB a thread. At 10^5 points it costs about a thirteenth of testing each in the first group, a fifth in the second.
///
/// Errors: `Invalid` for 2^31 or more points; `Internal` if the system yields no random bytes.
pub fn find_outside_subgroup<F: CurveField>(points: &[Affine<F>]) -> Result<Option<usize>> {
    let mut seed = [0u8; 32];
    getrandom::fill(&mut seed)
        .map_err(|error| Error::new(Status::Internal, format!("the system yields no random bytes: {error}")))?;
    find_seeded(simd::available(), points, seed)
}

/// The same with buckets that follow from `seed`, on lanes, which must be available then, or without.
pub(super) fn find_seeded<F: CurveField>(lanes: bool, points: &[Affine<F>], seed: [u8; 32]) -> Result<Option<usize>> {
    if points.len() >= 1 << 31 {
        return Err(Error::invalid(format!("{} points, the limit is 2^31 - 1", points.len())));
    }
    let cost = if lanes { simd::test_cost() } else { TEST_COST };
    let Some(log_buckets) = plan(points.len(), cost[F::DEGREE - 1]) else {
        return Ok(first_outside(points));
    };
    let rounds = SECURITY_BITS.div_ceil(log_buckets);
    // On lanes all rounds go together, since the points are converted for them.
    for round in 0..if lanes { 1 } else { rounds } {
        let passed = if lanes {
            pass_together(points, log_buckets, seed, rounds, BLOCK, simd::bucket_sums)?
        } else {
            passes(points, log_buckets, seed, round)
        };
        if !passed {
            return first_outside(points).map_or_else(
                || {
                    Err(Error::internal(
                        "a sum of points of the subgroup lies outside of it; they are not on the curve",
                    ))
                },
                |index| Ok(Some(index)),
            );
        }
    }
    Ok(None)
}

/// log2 of the number of buckets that costs least for this many points; `None` where testing each is cheaper.
pub(super) fn plan(points: usize, test_cost: usize) -> Option<u32> {
    let cost = |log: u32| SECURITY_BITS.div_ceil(log) as usize * (points + (test_cost << log));
    let best = (1..=16).min_by_key(|&log| cost(log))?;
    (cost(best) < points.saturating_mul(test_cost)).then_some(best)
}

/// Points of one sequence of random buckets.
const PIECE: usize = 1 << 16;

/// Random buckets and the points, `count` of piece `part`, that fall into them.
fn random_buckets(
    log_buckets: u32,
    seed: [u8; 32],
    round: u32,
    part: usize,
    count: usize,
) -> impl Iterator<Item = (u32, u32)> {
    let mask = (1u32 << log_buckets) - 1;
    let mut random = ChaCha12Rng::from_seed(seed);
    random.set_stream((u64::from(round) << 32) | part as u64);
    let first = part * PIECE;
    (first..first + count).map(move |i| (random.next_u32() & mask, i as u32))
}

/// All rounds on lanes: whether all sums of every round's random buckets lie in the subgroup. Takes 128 bytes a point in the first
/// group, 256 in the second, for `block` points (a multiple of 2^16) at a time; `sums` yields the sums of buckets.
pub(super) fn pass_together<F: CurveField>(
    points: &[Affine<F>],
    log_buckets: u32,
    seed: [u8; 32],
    rounds: u32,
    block: usize,
    sums: impl Fn(&[Affine<F>], &[Sorted]) -> Result<Vec<Vec<Affine<F>>>>,
) -> Result<bool> {
    let mut totals: Vec<Vec<Affine<F>>> = Vec::new();
    for (number, points_of_block) in points.chunks(block).enumerate() {
        let first = number * block;
        let end = first + points_of_block.len();
        let lists = par::map(rounds as usize, |round| {
            Sorted::new(1 << log_buckets, || {
                let parts = first / PIECE..end.div_ceil(PIECE);
                let entries = parts.flat_map(move |part| {
                    let count = PIECE.min(end - part * PIECE);
                    random_buckets(log_buckets, seed, round as u32, part, count)
                });
                let finite = entries.filter(|(_, i)| !points[*i as usize].is_infinity());
                finite.map(move |(bucket, i)| (bucket, 2 * (i - first as u32)))
            })
        });
        let sums = sums(points_of_block, &lists)?;
        if totals.is_empty() {
            totals = sums;
            continue;
        }
        let pairs: Vec<_> = totals.iter_mut().zip(&sums).collect();
        par::map_items(pairs, |(totals, sums)| {
            super::msm::affine::add_each(totals, sums, &mut super::msm::affine::Scratch::new(sums.len()));
        });
    }
    let totals: Vec<Affine<F>> = totals.into_iter().flatten().collect();
    Ok(par::map(totals.len(), |i| totals[i].is_in_subgroup()).into_iter().all(|inside| inside))
}

/// One round: whether all sums of 2^`log_buckets` random buckets lie in the subgroup.
fn passes<F: CurveField>(points: &[Affine<F>], log_buckets: u32, seed: [u8; 32], round: u32) -> bool {
    let lists = par::map(points.len().div_ceil(PIECE), |part| {
        let count = PIECE.min(points.len() - part * PIECE);
        Sorted::new(1 << log_buckets, || {
            random_buckets(log_buckets, seed, round, part, count).map(move |(bucket, i)| (bucket, 2 * i))
        })
    });
    // Each list has buckets of its own; any grouping that does not depend on the points keeps the bound, and more buckets
    // only lower it, but each costs a test: so the lists' sums are added up.
    let mut lists = sums(points, &lists, tuning::PIECE[F::DEGREE - 1]).into_iter();
    let Some(first) = lists.next() else { return true };
    let mut scratch = super::msm::affine::Scratch::new(first.len());
    let totals = lists.fold(first, |mut totals, list| {
        super::msm::affine::add_each(&mut totals, &list, &mut scratch);
        totals
    });
    par::map(totals.len(), |i| totals[i].is_in_subgroup()).into_iter().all(|inside| inside)
}

/// Tests every point by itself.
fn first_outside<F: CurveField>(points: &[Affine<F>]) -> Option<usize> {
    let size = par::piece(points.len(), 16);
    let found = par::map(points.len().div_ceil(size), |piece| {
        let position = points[piece * size..].iter().take(size).position(|point| !point.is_in_subgroup());
        position.map(|i| piece * size + i)
    });
    found.into_iter().flatten().next()
}
