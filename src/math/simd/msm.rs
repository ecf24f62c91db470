//! Multi-scalar multiplication on lanes: Pippenger's method with signed digits, as in [`crate::math::msm`], where all
//! additions but a few hundred are batch-affine ones of eight points at once.

use super::batch::{Gathered, NONE, Scratch, Sums, add};
use super::lanes::{Lanes, Row, Task};
use super::runs::{BucketSums, sums};
use super::table::{Table, read, zeroed};
use super::tuning;
use crate::error::Result;
use crate::math::curve::{Affine, CurveField, Jacobian};
use crate::math::msm::buckets::Sorted;
use crate::math::msm::{Chosen, digits};
use crate::par;
use zeroize::Zeroizing;

/// How the windows are laid out.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Bits of a window.
    width: usize,
    /// Windows in all.
    windows: usize,
    /// Buckets of one window, a power of two.
    buckets: usize,
    /// Windows that are sorted together, so that few points still make long batches.
    group: usize,
    /// Parts that a window's buckets are cut into for their weighted sum, a power of two.
    segments: usize,
}

impl Plan {
    fn new(bits: usize, width: usize) -> Self {
        let windows = digits::windows(bits, width);
        let buckets = 1 << (width - 1);
        let share = windows.div_ceil(par::threads());
        let group = (tuning::GROUP / buckets).clamp(1, share.max(1));
        // At least sixteen buckets a segment, while a thread's lanes are too few to hide an inversion.
        let wanted = (tuning::LANES * par::threads()).div_ceil(windows).next_power_of_two();
        let segments = wanted.clamp(1, (buckets / 16).max(1));
        Self { width, windows, buckets, group, segments }
    }
}

/// The sum of scalar times point over the chosen ones, which must be valid; `bits` bound every scalar.
pub fn msm<L: Lanes, F: CurveField, const D: usize>(
    points: &[Affine<F>],
    chosen: Chosen<'_>,
    bits: usize,
) -> Result<Jacobian<F>> {
    let width = tuning::width(chosen.scalars.len()).min(bits + 1);
    with_width::<L, F, D>(points, chosen, bits, width)
}

/// The same with windows of `width` bits, 1 to 24.
pub fn with_width<L: Lanes, F: CurveField, const D: usize>(
    points: &[Affine<F>],
    chosen: Chosen<'_>,
    bits: usize,
    width: usize,
) -> Result<Jacobian<F>> {
    let table = Table::new::<L, F, D>(chosen.scalars.len(), |i| &points[chosen.point(i) as usize])?;
    let plan = Plan::new(bits, width);
    let lists = par::map(plan.windows.div_ceil(plan.group), |group| sort(&plan, &table, chosen, group));
    let buckets = sums::<L, F, D>(&table.rows, &lists)?;
    par::map_items(lists, drop);
    drop(table);
    let windows = reduce::<L, F, D>(&plan, &buckets)?;
    Ok(windows.iter().rev().fold(Jacobian::INFINITY, |sum, window| {
        let shifted = (0..plan.width).fold(sum, |sum, _| sum.double());
        shifted + *window
    }))
}

/// The sum of the points.
pub fn sum<L: Lanes, F: CurveField, const D: usize>(points: &[Affine<F>], picks: &[u32]) -> Result<Jacobian<F>> {
    let table = Table::new::<L, F, D>(picks.len(), |i| &points[picks[i] as usize])?;
    let finite = || (0..picks.len()).filter(|&i| !table.is_infinite(i)).map(|i| (0, 2 * i as u32));
    let sum = sums::<L, F, D>(&table.rows, &[Sorted::new(1, finite)])?;
    Ok(sum.places.iter().flatten().map(|&place| Jacobian::from(at::<L, F, D>(&sum.rows, place))).sum())
}

/// The sums of the buckets of every list, whose entries name finite points.
pub fn bucket_sums<L: Lanes, F: CurveField, const D: usize>(
    points: &[Affine<F>],
    lists: &[Sorted],
) -> Result<Vec<Vec<Affine<F>>>> {
    let table = Table::new::<L, F, D>(points.len(), |i| &points[i])?;
    let sums = sums::<L, F, D>(&table.rows, lists)?;
    let read = |places: &Vec<u32>| par::map_many(places.len(), |i| at::<L, F, D>(&sums.rows, places[i]));
    Ok(sums.places.iter().map(read).collect())
}

/// The point at a place, or infinity.
fn at<L: Lanes, F: CurveField, const D: usize>(rows: &[Row], place: u32) -> Affine<F> {
    if place == NONE { Affine::INFINITY } else { read::<L, F, D>(&rows[place as usize * 2 * D..][..2 * D]) }
}

/// The entries of one group of windows by (window, magnitude - 1).
fn sort(plan: &Plan, table: &Table, chosen: Chosen<'_>, group: usize) -> Sorted {
    let first = group * plan.group;
    let windows = first..(first + plan.group).min(plan.windows);
    let buckets = windows.len() * plan.buckets;
    let mut keys = Zeroizing::new(Vec::with_capacity(windows.len() * chosen.scalars.len()));
    for window in windows {
        let base = (window - first) * plan.buckets;
        keys.extend(chosen.scalars.iter().enumerate().map(|(i, scalar)| {
            let (magnitude, negative) = digits::digit(scalar, window, plan.width);
            let key = (2 * (base as u32 + magnitude) + u32::from(negative)).wrapping_sub(2);
            if magnitude == 0 || table.is_infinite(i) { Sorted::NOWHERE } else { key }
        }));
    }
    Sorted::from_keys(buckets, &keys, chosen.scalars.len())
}

/// The sum of ((index + 1) * bucket) of every window. Each window is cut into segments, which are walked from their last
/// bucket to their first in lock step, a lane each.
fn reduce<L: Lanes, F: CurveField, const D: usize>(plan: &Plan, buckets: &BucketSums) -> Result<Vec<Jacobian<F>>> {
    let length = plan.buckets / plan.segments;
    let total = plan.segments * plan.windows;
    let lanes = total.div_ceil(par::threads()).clamp(64, 2 * tuning::LANES);
    // Of every lane two points: the plain sum of its segment, and the weighted one.
    let mut rows = zeroed(total * 4 * D, "sums of segments of buckets")?;
    let mut infinite = vec![true; total * 2];
    par::for_each_chunk_pair_rows(&mut rows, lanes * 4 * D, &mut infinite, lanes * 2, |point, rows, infinite| {
        let first = point / 2;
        L::run(Walk::<L, F, D> { plan, buckets, first, rows, infinite, length, lanes: Default::default() });
    });
    // Segment k's weights start at k length + 1: so the windows' sums are those of the weighted ones, plus length times
    // the sum of k plain_k, which is taken bit by bit of k.
    let bits = plan.segments.ilog2() as usize;
    let list = Sorted::new(plan.windows * (bits + 1), || {
        (0..total)
            .flat_map(|lane| {
                let (window, segment) = (lane / plan.segments, lane % plan.segments);
                let plain = (0..bits).filter(move |bit| segment >> bit & 1 == 1).map(move |bit| (bit, 2 * lane));
                let all = plain.chain([(bits, 2 * lane + 1)]);
                all.map(move |(bit, point)| ((window * (bits + 1) + bit) as u32, point))
            })
            .filter(|(_, point)| !infinite[*point])
            .map(|(bucket, point)| (bucket, 2 * point as u32))
    });
    let parts = sums::<L, F, D>(&rows, &[list])?;
    let places: Vec<u32> = parts.places.into_iter().flatten().collect();
    Ok(par::map(plan.windows, |window| {
        let part = |bit: usize| at::<L, F, D>(&parts.rows, places[window * (bits + 1) + bit]);
        let plain = (0..bits).rev().fold(Jacobian::INFINITY, |sum, bit| F::point_add_affine(&sum.double(), &part(bit)));
        let scaled = (0..length.ilog2()).fold(plain, |sum, _| sum.double());
        F::point_add_affine(&scaled, &part(bits))
    }))
}

/// Some lanes of segments.
struct Walk<'t, L, F, const D: usize> {
    plan: &'t Plan,
    buckets: &'t BucketSums,
    first: usize,
    /// Two points a lane (see [`reduce`]).
    rows: &'t mut [Row],
    /// Which of the points are infinite.
    infinite: &'t mut [bool],
    length: usize,
    lanes: std::marker::PhantomData<(L, F)>,
}

impl<L: Lanes, F: CurveField, const D: usize> Task for Walk<'_, L, F, D> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let count = self.infinite.len() / 2;
        let mut plain = Sums::<L, D>::new(count);
        let mut weighted = Sums::<L, D>::new(count);
        let vectors = plain.points.len();
        let mut scratch = Scratch::<L, D>::new(vectors);
        let mut picked = vec![[NONE; 8]; vectors];
        let Plan { buckets, group, segments, .. } = *self.plan;
        for step in (0..self.length).rev() {
            for lane in 0..count {
                let (window, segment) = ((self.first + lane) / segments, (self.first + lane) % segments);
                let bucket = window % group * buckets + segment * self.length + step;
                let place = self.buckets.places[window / group][bucket];
                picked[lane / 8][lane % 8] = if place == NONE { NONE } else { 2 * place };
            }
            if !self.buckets.rows.is_empty() {
                let addends = Gathered { rows: &self.buckets.rows, entries: &picked };
                add::<L, F, D>(&mut plain, vectors, &addends, &mut scratch);
                add::<L, F, D>(&mut weighted, vectors, &plain, &mut scratch);
            }
        }
        for (place, sums) in [plain, weighted].iter().enumerate() {
            for v in 0..count.div_ceil(8) {
                let (x, y) = (sums.points[v].x.to_rows(), sums.points[v].y.to_rows());
                for i in 0..8.min(count - 8 * v) {
                    let point = 2 * (8 * v + i) + place;
                    for k in 0..D {
                        self.rows[2 * D * point + k] = x[k][i];
                        self.rows[2 * D * point + D + k] = y[k][i];
                    }
                    self.infinite[point] = sums.infinite[v] >> i & 1 == 1;
                }
            }
        }
    }
}
