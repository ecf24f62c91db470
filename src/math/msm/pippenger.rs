//! Pippenger's method with signed digits (E. Pippenger, "On the evaluation of powers and monomials", 1980) and
//! batch-affine additions: per window a bucket for each magnitude of a digit, then the sum of (magnitude * bucket),
//! then Horner's rule over the windows.
//!
//! With n points, W windows and B = 2^(width - 1) buckets it takes about W (n + B) affine additions.

use super::affine::{Scratch, add_each};
use super::buckets::{Sorted, sums};
use super::{Chosen, digits, tuning};
use crate::math::curve::{Affine, CurveField, Jacobian};
use crate::par;

/// How the windows are laid out.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Bits of a window.
    width: usize,
    /// Windows in all.
    windows: usize,
    /// Buckets of one window.
    buckets: usize,
    /// Windows that are sorted together, so that few points still make long batches.
    group: usize,
}

impl Plan {
    fn new(count: usize, bits: usize, width: usize, piece: usize) -> Self {
        let windows = digits::windows(bits, width);
        let share = windows.div_ceil(par::threads());
        let group = (piece / count.max(1)).clamp(1, share.max(1));
        Self { width, windows, buckets: 1 << (width - 1), group }
    }
}

/// The sum of scalar times point over the chosen ones, which must be valid; `bits` bound every scalar.
pub(super) fn msm<F: CurveField>(points: &[Affine<F>], chosen: Chosen<'_>, bits: usize) -> Jacobian<F> {
    let width = tuning::width(chosen.scalars.len()).min(bits + 1);
    with_width(points, chosen, bits, width)
}

/// The same with windows of `width` bits, 1 to 24.
pub(super) fn with_width<F: CurveField>(
    points: &[Affine<F>],
    chosen: Chosen<'_>,
    bits: usize,
    width: usize,
) -> Jacobian<F> {
    let piece = tuning::PIECE[F::DEGREE - 1];
    let plan = Plan::new(chosen.scalars.len(), bits, width, piece);
    let lists = par::map(plan.windows.div_ceil(plan.group), |group| sort(&plan, chosen, group));
    let buckets = sums(points, &lists, piece);
    par::map_items(lists, drop);
    reduce(&plan, &buckets).iter().rev().fold(Jacobian::INFINITY, |sum, window| {
        let shifted = (0..plan.width).fold(sum, |sum, _| sum.double());
        shifted + *window
    })
}

/// The entries of one group of windows by (window, magnitude - 1).
fn sort(plan: &Plan, chosen: Chosen<'_>, group: usize) -> Sorted {
    let first = group * plan.group;
    let count = plan.group.min(plan.windows - first);
    Sorted::new(count * plan.buckets, || {
        (0..count).flat_map(move |window| {
            let base = (window * plan.buckets) as u32;
            chosen.scalars.iter().enumerate().filter_map(move |(i, scalar)| {
                let (magnitude, negative) = digits::digit(scalar, first + window, plan.width);
                let entry = 2 * chosen.point(i) + u32::from(negative);
                magnitude.checked_sub(1).map(|bucket| (base + bucket, entry))
            })
        })
    })
}

/// The sum of ((index + 1) * bucket) of every window. Each window is cut into segments; all segments are walked from
/// their last bucket to their first in lock step, as lanes of batch-affine additions.
fn reduce<F: CurveField>(plan: &Plan, buckets: &[Vec<Affine<F>>]) -> Vec<Jacobian<F>> {
    let segments = (plan.buckets / 16).clamp(1, tuning::SEGMENTS);
    let length = plan.buckets / segments;
    let total = segments * plan.windows;
    let lanes = par::piece(total, 32).min(tuning::LANES);
    let bucket = |lane: usize, step: usize| {
        let (window, segment) = (lane / segments, lane % segments);
        let group = &buckets[window / plan.group];
        group[window % plan.group * plan.buckets + segment * length + step]
    };
    let walked = par::map(total.div_ceil(lanes), |piece| {
        let first = piece * lanes;
        walk(lanes.min(total - first), length, |lane, step| bucket(first + lane, step))
    });
    let walked: Vec<_> = walked.into_iter().flatten().collect();
    par::map(plan.windows, |window| combine(&walked[window * segments..][..segments], length))
}

/// For each of `lanes` lanes of `length` buckets: (the sum of all, the sum of (step + 1) * bucket).
fn walk<F: CurveField>(
    lanes: usize,
    length: usize,
    bucket: impl Fn(usize, usize) -> Affine<F>,
) -> Vec<(Affine<F>, Affine<F>)> {
    // The first half holds the weighted sums, the second the plain ones; the weighted sums lag by one step, so that both
    // take part in one batch. add_each goes upwards, so a weighted sum takes the plain one in before that changes.
    let mut targets = vec![Affine::INFINITY; 2 * lanes];
    let mut addends = vec![Affine::INFINITY; 2 * lanes];
    let mut scratch = Scratch::new(2 * lanes);
    for step in (0..length).rev() {
        addends[..lanes].copy_from_slice(&targets[lanes..]);
        for lane in 0..lanes {
            addends[lanes + lane] = bucket(lane, step);
        }
        add_each(&mut targets, &addends, &mut scratch);
    }
    let (weighted, plain) = targets.split_at_mut(lanes);
    add_each(weighted, plain, &mut scratch);
    plain.iter().copied().zip(weighted.iter().copied()).collect()
}

/// The weighted sum of a window from its segments: segment k's weights start at k * length + 1.
fn combine<F: CurveField>(segments: &[(Affine<F>, Affine<F>)], length: usize) -> Jacobian<F> {
    let (mut running, mut total) = (Jacobian::INFINITY, Jacobian::INFINITY);
    for (plain, _) in segments.iter().skip(1).rev() {
        running += *plain;
        total += running;
    }
    let scaled = (0..length.ilog2()).fold(total, |sum, _| sum.double());
    segments.iter().fold(scaled, |sum, (_, weighted)| F::point_add_affine(&sum, weighted))
}
