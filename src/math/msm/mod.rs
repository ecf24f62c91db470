//! Multi-scalar multiplication: the sum of scalar times point, for any points of either curve.
//!
//! [`msm`] chooses the method by size; [`naive`] is the oracle.

pub(crate) mod affine;
pub(crate) mod buckets;
pub(crate) mod digits;
pub mod naive;
mod pippenger;
mod straus;
pub(crate) mod tuning;

use super::curve::{Affine, CurveField, Jacobian};
use super::fr::{self, Scalar};
use super::simd;
use crate::error::{Error, Result};
use crate::par;

/// Which point a scalar belongs to.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// Scalar i to point i: as many scalars as points.
    All,
    /// Scalar i to point `picks[i]`: as many scalars as picks. Picks need no order and may repeat.
    Picked(&'a [u32]),
}

/// Scalars and their points' indices, found to be valid.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<'a> {
    pub(crate) scalars: &'a [Scalar],
    /// The picks of these scalars, or the index of the first one's point.
    pub(crate) picks: std::result::Result<&'a [u32], u32>,
}

impl<'a> Chosen<'a> {
    /// The index of the point of scalar `i`.
    #[inline(always)]
    pub(crate) fn point(&self, i: usize) -> u32 {
        match self.picks {
            Ok(picks) => picks[i],
            Err(first) => first + i as u32,
        }
    }

    /// `count` of them from `start` on.
    fn part(&self, start: usize, count: usize) -> Self {
        let scalars = &self.scalars[start..start + count];
        Self {
            scalars,
            picks: self.picks.map(|picks| &picks[start..start + count]).map_err(|first| first + start as u32),
        }
    }
}

/// The sum of `scalars[i]` times the point that `selection` gives it.
///
/// Points may be infinity, repeat and be opposite to one another; they must lie on the curve, in the subgroup or not.
/// Scalars are canonical. Runs on the caller's pool, and gives the same point (though perhaps in other coordinates)
/// for any number of threads. Works on 2^21 scalars at a time, on lanes ([`simd`]) on 2^20; [`bytes`] tells what it holds besides
/// its arguments. Costs about 16 to 20 affine additions (six field products) a full-size scalar from 2^15 scalars on, in
/// proportion fewer where all scalars are short.
///
/// Errors: `Invalid` for lengths that differ, a pick that is out of range, a scalar that is not below r (the text names
/// its index), or 2^31 and more points.
pub fn msm<F: CurveField>(points: &[Affine<F>], selection: Selection<'_>, scalars: &[Scalar]) -> Result<Jacobian<F>> {
    msm_on(simd::available(), points, selection, scalars)
}

/// [`msm`] of all points, at once, with windows of `width` bits, 1 to 24: for benches, which measure what widths are best.
///
/// Errors: as [`msm`], and `Invalid` for another width.
pub fn msm_of_width<F: CurveField>(points: &[Affine<F>], scalars: &[Scalar], width: usize) -> Result<Jacobian<F>> {
    if !(1..=24).contains(&width) {
        return Err(Error::invalid(format!("msm: windows of {width} bits, not 1 to 24")));
    }
    let chosen = check(points.len(), Selection::All, scalars)?;
    match longest(scalars)? {
        0 => Ok(Jacobian::INFINITY),
        bits if simd::available() => simd::multi_scalar_of_width(points, chosen, bits, width),
        bits => Ok(pippenger::with_width(points, chosen, bits, width)),
    }
}

/// Bits of a window that [`msm`] takes for so many scalars of full size on this machine.
pub fn width(scalars: usize) -> usize {
    if simd::available() { simd::tuning::width(scalars) } else { tuning::width(scalars) }
}

/// [`msm`] on lanes, which must be available, or without.
pub(crate) fn msm_on<F: CurveField>(
    lanes: bool,
    points: &[Affine<F>],
    selection: Selection<'_>,
    scalars: &[Scalar],
) -> Result<Jacobian<F>> {
    let chosen = check(points.len(), selection, scalars)?;
    let bits = longest(scalars)?;
    if bits == 0 {
        return Ok(Jacobian::INFINITY);
    }
    let parts = scalars.len().div_ceil(if lanes { simd::tuning::PART } else { tuning::PART }).max(1);
    let sums = (0..parts).map(|part| {
        let (from, to) = (scalars.len() * part / parts, scalars.len() * (part + 1) / parts);
        let chosen = chosen.part(from, to - from);
        if lanes && chosen.scalars.len() >= simd::tuning::LEAST {
            simd::multi_scalar(points, chosen, bits)
        } else if chosen.scalars.len() < tuning::LEAST_FOR_BUCKETS {
            Ok(straus::msm(points, chosen, bits))
        } else {
            Ok(pippenger::msm(points, chosen, bits))
        }
    });
    sums.sum()
}

/// The sum of the points `points[picks[i]]`; a pick may repeat, any point may be infinity. One affine addition a pick,
/// on the caller's pool; 4 bytes a pick and about 1 MB a thread.
///
/// Errors: `Invalid` for a pick that is out of range, or 2^31 and more points or picks.
pub fn sum<F: CurveField>(points: &[Affine<F>], picks: &[u32]) -> Result<Jacobian<F>> {
    sum_on(simd::available(), points, picks)
}

/// [`sum`] on lanes, which must be available, or without.
pub(crate) fn sum_on<F: CurveField>(lanes: bool, points: &[Affine<F>], picks: &[u32]) -> Result<Jacobian<F>> {
    check_count("points", points.len())?;
    check_count("picks", picks.len())?;
    check_picks(points.len(), picks)?;
    if picks.len() < tuning::LEAST_FOR_BUCKETS {
        return Ok(picks.iter().fold(Jacobian::INFINITY, |sum, &i| F::point_add_affine(&sum, &points[i as usize])));
    }
    if lanes && picks.len() >= simd::tuning::LEAST {
        let sums = picks.chunks(simd::tuning::PART).map(|picks| simd::sum(points, picks));
        return sums.sum();
    }
    let sorted = buckets::Sorted::new(1, || picks.iter().map(|pick| (0, 2 * pick)));
    let sums = buckets::sums(points, &[sorted], tuning::PIECE[F::DEGREE - 1]);
    Ok(sums.into_iter().flatten().map(Jacobian::from).sum())
}

/// An upper bound of the memory that [`msm`] takes for so many scalars, less about 4 MB a thread: entries, the buckets of all
/// windows, and on lanes the points in their form.
pub fn bytes<F: CurveField>(scalars: u64) -> u64 {
    let degree = F::DEGREE as u64;
    if simd::available() {
        let scalars = scalars.min(simd::tuning::PART as u64);
        scalars * (128 * degree + 124) + (8 * scalars).min(1 << 19) * 128 * degree
    } else {
        let scalars = scalars.min(tuning::PART as u64);
        scalars * 64 + (scalars * 16 * 96 * degree).min((50 << 20) * degree)
    }
}

fn check<'a>(points: usize, selection: Selection<'a>, scalars: &'a [Scalar]) -> Result<Chosen<'a>> {
    check_count("points", points)?;
    let (wanted, what) = match selection {
        Selection::All => (points, "points"),
        Selection::Picked(picks) => (picks.len(), "picks"),
    };
    if scalars.len() != wanted {
        return Err(Error::invalid(format!("msm: {} scalars for {wanted} {what}", scalars.len())));
    }
    let picks = match selection {
        Selection::All => Err(0),
        Selection::Picked(picks) => {
            check_picks(points, picks)?;
            Ok(picks)
        }
    };
    Ok(Chosen { scalars, picks })
}

/// Indices carry a sign bit in 32 bits.
fn check_count(what: &str, count: usize) -> Result<()> {
    if count < 1 << 31 { Ok(()) } else { Err(Error::invalid(format!("msm: {count} {what}, the limit is 2^31 - 1"))) }
}

fn check_picks(points: usize, picks: &[u32]) -> Result<()> {
    match find(picks, |&pick| pick as usize >= points) {
        Some(i) => Err(Error::invalid(format!("msm: pick {i} is {}, there are {points} points", picks[i]))),
        None => Ok(()),
    }
}

/// The most bits that a scalar has; an error if one is not canonical.
fn longest(scalars: &[Scalar]) -> Result<usize> {
    if let Some(i) = find(scalars, |scalar| !fr::is_canonical(scalar)) {
        return Err(Error::invalid(format!("msm: scalar {i} is not below the group order")));
    }
    let size = par::piece(scalars.len(), 4096);
    let most = par::map(scalars.len().div_ceil(size), |piece| {
        let piece = scalars[piece * size..].iter().take(size);
        digits::bit_length(&piece.fold([0; 4], |all, s| std::array::from_fn(|i| all[i] | s[i])))
    });
    Ok(most.into_iter().max().unwrap_or(0))
}

/// The index of the first item that is `wrong`.
fn find<T: Sync>(items: &[T], wrong: impl Fn(&T) -> bool + Sync + Send) -> Option<usize> {
    let size = par::piece(items.len(), 4096);
    let found = par::map(items.len().div_ceil(size), |piece| {
        let position = items[piece * size..].iter().take(size).position(&wrong);
        position.map(|i| piece * size + i)
    });
    found.into_iter().flatten().next()
}
