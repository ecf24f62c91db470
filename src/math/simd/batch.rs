//! Additions of affine points, eight at once, in batches that share one inversion (Montgomery's trick): per addition six
//! products, one of them a square. Every case is added rightly: equal points are doubled, opposite ones give infinity.

use super::element::{Element, Loose, Points, mul_pair, square_pair};
use super::lanes::{Lanes, Row};
use super::table::invert;
use crate::math::curve::CurveField;
use crate::math::prefetch::prefetch;

/// Vectors of addends that are fetched ahead.
const AHEAD: usize = 3;

/// An entry that names no point.
pub const NONE: u32 = u32::MAX;

/// What is added to accumulators, by the index of the vector.
pub trait Addends<L: Lanes, const D: usize> {
    /// Lanes where there is nothing to add.
    fn absent(&self, v: usize) -> u8;
    /// The abscissas.
    fn x(&self, v: usize) -> Element<L, D>;
    /// The ordinates.
    fn y(&self, v: usize) -> Element<L, D>;
    /// The ordinates less `y`.
    fn y_less(&self, v: usize, y: &Element<L, D>) -> Loose<L, D>;
    /// Says that the abscissas are wanted soon.
    fn fetch_x(&self, _v: usize) {}
    /// Says that the ordinates are wanted soon.
    fn fetch_y(&self, _v: usize) {}
}

/// Points of a table: entries are twice an index, plus one where the point is subtracted, or [`NONE`].
#[derive(Clone, Copy)]
pub struct Gathered<'a> {
    /// The table's rows; there is at least one point.
    pub rows: &'a [Row],
    /// Entries, by vector and lane.
    pub entries: &'a [[u32; 8]],
}

impl Gathered<'_> {
    #[inline(always)]
    fn at<const D: usize>(&self, v: usize, offset: usize) -> [usize; 8] {
        let mut at = [0; 8];
        for i in 0..8 {
            let entry = self.entries[v][i];
            let index = if entry == NONE { 0 } else { (entry >> 1) as usize };
            at[i] = index * 2 * D + offset;
        }
        at
    }

    /// Lanes whose point is subtracted.
    #[inline(always)]
    pub fn negative(&self, v: usize) -> u8 {
        let mut mask = 0;
        for i in 0..8 {
            mask |= ((self.entries[v][i] & 1) as u8) << i;
        }
        mask
    }

    #[inline(always)]
    fn fetch<const D: usize>(&self, v: usize, offset: usize) {
        if v < self.entries.len() {
            for start in self.at::<D>(v, offset) {
                for k in 0..D {
                    prefetch(&self.rows[start + k]);
                }
            }
        }
    }
}

impl<L: Lanes, const D: usize> Addends<L, D> for Gathered<'_> {
    #[inline(always)]
    fn absent(&self, v: usize) -> u8 {
        let mut mask = 0;
        for i in 0..8 {
            mask |= u8::from(self.entries[v][i] == NONE) << i;
        }
        mask
    }
    #[inline(always)]
    fn x(&self, v: usize) -> Element<L, D> {
        Element::gather(self.rows, &self.at::<D>(v, 0))
    }
    #[inline(always)]
    fn y(&self, v: usize) -> Element<L, D> {
        Element::gather(self.rows, &self.at::<D>(v, D)).negate_where(self.negative(v))
    }
    #[inline(always)]
    fn y_less(&self, v: usize, y: &Element<L, D>) -> Loose<L, D> {
        Element::gather(self.rows, &self.at::<D>(v, D)).signed_difference(self.negative(v), y)
    }
    #[inline(always)]
    fn fetch_x(&self, v: usize) {
        self.fetch::<D>(v, 0);
    }
    #[inline(always)]
    fn fetch_y(&self, v: usize) {
        self.fetch::<D>(v, D);
    }
}

/// Points in vectors, as many as are to be added, an even number of vectors.
pub struct Sums<L: Lanes, const D: usize> {
    /// The points; where one is infinite, anything.
    pub points: Vec<Points<L, D>>,
    /// Lanes that are infinite.
    pub infinite: Vec<u8>,
}

impl<L: Lanes, const D: usize> Sums<L, D> {
    /// All infinite; the number of lanes is rounded up to a multiple of 16.
    #[inline(always)]
    pub fn new(lanes: usize) -> Self {
        let vectors = vectors(lanes);
        let one = Element::one();
        Self { points: vec![Points { x: one, y: one }; vectors], infinite: vec![0xff; vectors] }
    }
}

impl<L: Lanes, const D: usize> Addends<L, D> for Sums<L, D> {
    #[inline(always)]
    fn absent(&self, v: usize) -> u8 {
        self.infinite[v]
    }
    #[inline(always)]
    fn x(&self, v: usize) -> Element<L, D> {
        self.points[v].x
    }
    #[inline(always)]
    fn y(&self, v: usize) -> Element<L, D> {
        self.points[v].y
    }
    #[inline(always)]
    fn y_less(&self, v: usize, y: &Element<L, D>) -> Loose<L, D> {
        self.points[v].y.difference(y)
    }
}

/// Vectors for so many lanes, an even number.
pub fn vectors(lanes: usize) -> usize {
    2 * lanes.div_ceil(16)
}

/// Which lanes of a vector are not added by the chord.
#[derive(Clone, Copy, Debug, Default)]
struct Special {
    /// Nothing is added.
    kept: u8,
    /// The sum so far is infinite: the addend replaces it.
    taken: u8,
    /// Both are equal.
    doubled: u8,
    /// They are opposite.
    cancelled: u8,
}

/// Room for the denominators of one batch and their running products.
pub struct Scratch<L: Lanes, const D: usize> {
    /// By pair of vectors.
    denominators: Vec<[Loose<L, D>; 2]>,
    /// By pair of vectors: the product of all denominators before it.
    products: Vec<[Element<L, D>; 2]>,
    /// By vector.
    special: Vec<Special>,
}

impl<L: Lanes, const D: usize> Scratch<L, D> {
    /// For batches of so many vectors.
    #[inline(always)]
    pub fn new(vectors: usize) -> Self {
        let one = Element::one();
        Self {
            denominators: vec![[Loose::from(one); 2]; vectors / 2],
            products: vec![[one; 2]; vectors / 2 + 1],
            special: vec![Special::default(); vectors],
        }
    }
}

/// Adds the addends to the first `vectors` (an even number) vectors of `sums`.
#[inline(always)]
pub fn add<L: Lanes, F: CurveField, const D: usize>(
    sums: &mut Sums<L, D>,
    vectors: usize,
    addends: &impl Addends<L, D>,
    scratch: &mut Scratch<L, D>,
) {
    let pairs = vectors / 2;
    let Scratch { denominators, products, special } = scratch;
    products[0] = [Element::one(); 2];
    for pair in 0..pairs {
        for u in 0..2 {
            let v = 2 * pair + u;
            addends.fetch_x(v + AHEAD);
            special[v] = denominator(&mut denominators[pair][u], &sums.points[v], sums.infinite[v], addends, v);
        }
        let (before, after) = products.split_at_mut(pair + 1);
        let [product, product2] = &before[pair];
        mul_pair(&mut after[0], [product, product2], [&denominators[pair][0], &denominators[pair][1]]);
    }
    let mut inverses = [invert::<L, F, D>(&products[pairs]); 2];
    let mut inverted = inverses[0];
    let mut work = Work { slopes: inverted, squares: inverted, x: inverted };
    for pair in (0..pairs).rev() {
        for u in 0..2 {
            addends.fetch_y((2 * pair + u).wrapping_sub(AHEAD));
        }
        // The inverse of the product up to a pair, and where that of the product before it goes.
        let [even, odd] = &mut inverses;
        let (inverse, before) = if pair % 2 == 0 { (even, odd) } else { (odd, even) };
        let denominators = &denominators[pair];
        mul_pair(&mut inverted, [&inverse[0], &inverse[1]], [&products[pair][0], &products[pair][1]]);
        mul_pair(before, [&inverse[0], &inverse[1]], [&denominators[0], &denominators[1]]);
        let v = 2 * pair;
        let special = [special[v], special[v + 1]];
        let (points, infinite) = (&mut sums.points[v..v + 2], &mut sums.infinite[v..v + 2]);
        finish(points, infinite, addends, v, &inverted, denominators, special, &mut work);
    }
}

/// Writes what the slope of the line through both points is divided by, never zero; one where no line is drawn.
#[inline(always)]
fn denominator<L: Lanes, const D: usize>(
    out: &mut Loose<L, D>,
    sum: &Points<L, D>,
    infinite: u8,
    addends: &impl Addends<L, D>,
    v: usize,
) -> Special {
    *out = addends.x(v).difference(&sum.x);
    let kept = addends.absent(v);
    let none = kept | infinite;
    let suspects = out.suspects() & !none;
    if none | suspects == 0 {
        return Special::default();
    }
    let mut special = Special { kept, taken: infinite & !kept, doubled: 0, cancelled: 0 };
    let equal = if suspects == 0 { 0 } else { out.zeros() & !none };
    *out = Loose::select(none | equal, &Element::one().into(), out);
    if equal != 0 {
        special.doubled = equal & addends.y_less(v, &sum.y).zeros();
        special.cancelled = equal & !special.doubled;
        // Not zero: no curve here has a point of order two.
        *out = Loose::select(special.doubled, &sum.y.double(), out);
    }
    special
}

/// Places for what [`finish`] computes.
struct Work<L: Lanes, const D: usize> {
    slopes: [Element<L, D>; 2],
    squares: [Element<L, D>; 2],
    x: [Element<L, D>; 2],
}

/// The sums of a pair of vectors, given their denominators and the inverses of those.
#[inline(always)]
fn finish<L: Lanes, const D: usize>(
    points: &mut [Points<L, D>],
    infinite: &mut [u8],
    addends: &impl Addends<L, D>,
    v: usize,
    inverses: &[Element<L, D>; 2],
    denominators: &[Loose<L, D>; 2],
    special: [Special; 2],
    work: &mut Work<L, D>,
) {
    let any = |s: &Special| s.kept | s.taken | s.doubled | s.cancelled;
    let mut rises = [addends.y_less(v, &points[0].y), addends.y_less(v + 1, &points[1].y)];
    for u in 0..2 {
        if special[u].doubled != 0 {
            let mut squares = [Element::zero(); 2];
            square_pair(&mut squares, [&points[u].x, &points[u].x]);
            rises[u] = Loose::select(special[u].doubled, &squares[0].triple(), &rises[u]);
        }
    }
    let Work { slopes, squares, x } = work;
    mul_pair(slopes, [&rises[0], &rises[1]], [&inverses[0], &inverses[1]]);
    square_pair(squares, [&slopes[0], &slopes[1]]);
    for u in 0..2 {
        x[u] = if any(&special[u]) == 0 {
            squares[u].third_abscissa(&points[u].x, &denominators[u])
        } else {
            let run = Loose::select(any(&special[u]), &Loose::twice_p(), &denominators[u]);
            squares[u].third_abscissa(&points[u].x, &run)
        };
        rises[u] = points[u].x.difference(&x[u]);
    }
    let products = squares;
    mul_pair(products, [&slopes[0], &slopes[1]], [&rises[0], &rises[1]]);
    for u in 0..2 {
        let y = products[u].minus(&points[u].y);
        let Special { kept, taken, cancelled, .. } = special[u];
        if kept | taken | cancelled == 0 {
            points[u] = Points { x: x[u], y };
            continue;
        }
        let mut sum = Points { x: x[u], y };
        sum.x = Element::select(kept, &points[u].x, &sum.x);
        sum.y = Element::select(kept, &points[u].y, &sum.y);
        if taken != 0 {
            sum.x = Element::select(taken, &addends.x(v + u), &sum.x);
            sum.y = Element::select(taken, &addends.y(v + u), &sum.y);
        }
        infinite[u] = infinite[u] & !taken | cancelled;
        points[u] = sum;
    }
}
