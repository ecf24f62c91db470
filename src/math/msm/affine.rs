//! Additions of affine points in batches that share one inversion (Montgomery's trick): five products, one square and
//! a part of an inversion each, where a mixed Jacobian addition takes eleven products.
//!
//! Every pair is added rightly: equal points are doubled, opposite ones (a point of order two and itself among them)
//! give infinity.

use crate::math::curve::{Affine, CurveField};

/// Points of one bucket that wait to be added up: `length` of them from index `start` on.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Index of the first point.
    pub start: u32,
    /// How many points there are.
    pub length: u32,
    /// Where the sum belongs; this module only carries it along.
    pub target: u32,
}

/// Room for the denominators of one batch and their running products; reused from batch to batch.
#[derive(Debug)]
pub struct Scratch<F> {
    denominators: Vec<F>,
    products: Vec<F>,
}

impl<F: CurveField> Scratch<F> {
    /// Room for `additions` of them without growing.
    pub fn new(additions: usize) -> Self {
        Self { denominators: Vec::with_capacity(additions), products: Vec::with_capacity(additions) }
    }

    /// Adds a factor to the batch; `product` is that of all factors before.
    #[inline(always)]
    fn push(&mut self, product: &mut F, denominator: F) {
        self.denominators.push(denominator);
        self.products.push(*product);
        *product *= denominator;
    }

    /// The inverse of the factor pushed last; `inverse` is that of the product of all that are left.
    #[inline(always)]
    fn pop(&mut self, inverse: &mut F) -> F {
        match (self.products.pop(), self.denominators.pop()) {
            (Some(before), Some(denominator)) => {
                let mut inverted = before;
                inverted *= *inverse;
                *inverse *= denominator;
                inverted
            }
            _ => F::ZERO,
        }
    }
}

/// Adds the points of every run in pairs: each run's length is halved, rounding up, or shrinks further where opposite
/// points met. `points` may hold no infinity inside the runs; the runs may not overlap.
pub fn halve_runs<F: CurveField>(points: &mut [Affine<F>], runs: &mut [Run], scratch: &mut Scratch<F>) {
    // The products are built up from the last pair to the first, so that the sums come out from the first to the last:
    // then a sum's place, which is never behind its own pair, has been read when it is written.
    let mut product = F::ONE;
    for run in runs.iter().rev() {
        let start = run.start as usize;
        let paired = run.length as usize & !1;
        for pair in points[start..start + paired].chunks_exact(2).rev() {
            scratch.push(&mut product, denominator(&pair[0], &pair[1]));
        }
    }
    let mut inverse = product.inverse();
    for run in runs.iter_mut() {
        let run_points = &mut points[run.start as usize..][..run.length as usize];
        let mut written = 0;
        for pair in 0..run_points.len() / 2 {
            let (p, q) = (&run_points[2 * pair], &run_points[2 * pair + 1]);
            let inverted = scratch.pop(&mut inverse);
            if let Some(sum) = add(p, q, inverted) {
                run_points[written] = sum;
                written += 1;
            }
        }
        if run_points.len() % 2 == 1 {
            run_points[written] = run_points[run_points.len() - 1];
            written += 1;
        }
        run.length = written as u32;
    }
}

/// `targets[i] += addends[i]`, infinities allowed in both.
pub fn add_each<F: CurveField>(targets: &mut [Affine<F>], addends: &[Affine<F>], scratch: &mut Scratch<F>) {
    let mut product = F::ONE;
    for (p, q) in targets.iter().zip(addends).rev() {
        if !p.is_infinity() && !q.is_infinity() {
            scratch.push(&mut product, denominator(p, q));
        }
    }
    let mut inverse = product.inverse();
    for (p, q) in targets.iter_mut().zip(addends) {
        if p.is_infinity() {
            *p = *q;
        } else if !q.is_infinity() {
            let inverted = scratch.pop(&mut inverse);
            *p = add(p, q, inverted).unwrap_or(Affine::INFINITY);
        }
    }
}

/// What the slope of the line through both points is divided by; never zero (one where the sum is infinity).
#[inline(always)]
fn denominator<F: CurveField>(p: &Affine<F>, q: &Affine<F>) -> F {
    let difference = q.x - p.x;
    if difference.is_zero() { tangent_denominator(p, q) } else { difference }
}

#[cold]
fn tangent_denominator<F: CurveField>(p: &Affine<F>, q: &Affine<F>) -> F {
    if p.y == q.y && !p.y.is_zero() { p.y.double() } else { F::ONE }
}

/// `p + q` of finite points, given the inverse of their [`denominator`]; `None` for infinity.
#[inline(always)]
fn add<F: CurveField>(p: &Affine<F>, q: &Affine<F>, inverse: F) -> Option<Affine<F>> {
    if p.x == q.x {
        return double(p, q, inverse);
    }
    let mut slope = q.y - p.y;
    slope *= inverse;
    Some(chord(p, &q.x, slope))
}

#[cold]
fn double<F: CurveField>(p: &Affine<F>, q: &Affine<F>, inverse: F) -> Option<Affine<F>> {
    if p.y != q.y || p.y.is_zero() {
        return None;
    }
    let square = p.x.square();
    Some(chord(p, &q.x, (square.double() + square) * inverse))
}

/// The third point of the line of this slope through p and a point at `x`, mirrored.
#[inline(always)]
fn chord<F: CurveField>(p: &Affine<F>, x: &F, slope: F) -> Affine<F> {
    let x = slope.square() - p.x - *x;
    let mut y = p.x - x;
    y *= slope;
    Affine { x, y: y - p.y }
}
