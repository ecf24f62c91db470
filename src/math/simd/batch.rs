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
pub trait Addends<L, const D: usize> {
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
pub struct Sums<L, const D: usize> {
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
pub struct Scratch<L, const D: usize> {
    denominators: Vec<Loose<L, D>>,
    products: Vec<Element<L, D>>,
    special: Vec<Special>,
}

impl<L: Lanes, const D: usize> Scratch<L, D> {
    /// For batches of so many vectors.
    #[inline(always)]
    pub fn new(vectors: usize) -> Self {
        let one = Element::one();
        Self {
            denominators: vec![Loose::from(one); vectors],
            products: vec![one; vectors],
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
    let mut product = [Element::one(); 2];
    let mut v = 0;
    while v < vectors {
        for u in v..v + 2 {
            addends.fetch_x(u + AHEAD);
            let (denominator, special) = denominator(&sums.points[u], sums.infinite[u], addends, u);
            scratch.denominators[u] = denominator;
            scratch.special[u] = special;
            scratch.products[u] = product[u - v];
        }
        product = mul_pair([&product[0], &product[1]], [&scratch.denominators[v], &scratch.denominators[v + 1]]);
        v += 2;
    }
    let mut inverse = invert::<L, F, D>(&product);
    while v > 0 {
        v -= 2;
        for u in v..v + 2 {
            addends.fetch_y(u.wrapping_sub(AHEAD));
        }
        let inverted = mul_pair([&inverse[0], &inverse[1]], [&scratch.products[v], &scratch.products[v + 1]]);
        inverse = mul_pair([&inverse[0], &inverse[1]], [&scratch.denominators[v], &scratch.denominators[v + 1]]);
        finish(&mut sums.points[v..v + 2], &mut sums.infinite[v..v + 2], addends, v, &inverted, scratch);
    }
}

/// What the slope of the line through both points is divided by, never zero; one where no line is drawn.
#[inline(always)]
fn denominator<L: Lanes, const D: usize>(
    sum: &Points<L, D>,
    infinite: u8,
    addends: &impl Addends<L, D>,
    v: usize,
) -> (Loose<L, D>, Special) {
    let difference = addends.x(v).difference(&sum.x);
    let kept = addends.absent(v);
    let none = kept | infinite;
    let suspects = difference.suspects() & !none;
    if none | suspects == 0 {
        return (difference, Special::default());
    }
    let mut special = Special { kept, taken: infinite & !kept, doubled: 0, cancelled: 0 };
    let equal = if suspects == 0 { 0 } else { difference.zeros() & !none };
    let mut denominator = Loose::select(none | equal, &Element::one().into(), &difference);
    if equal != 0 {
        special.doubled = equal & addends.y_less(v, &sum.y).zeros();
        special.cancelled = equal & !special.doubled;
        // Not zero: no curve here has a point of order two.
        denominator = Loose::select(special.doubled, &sum.y.double(), &denominator);
    }
    (denominator, special)
}

/// The sums of two vectors, given the inverses of their denominators.
#[inline(always)]
fn finish<L: Lanes, const D: usize>(
    points: &mut [Points<L, D>],
    infinite: &mut [u8],
    addends: &impl Addends<L, D>,
    v: usize,
    inverses: &[Element<L, D>; 2],
    scratch: &Scratch<L, D>,
) {
    let special = [scratch.special[v], scratch.special[v + 1]];
    let mut rises = [addends.y_less(v, &points[0].y), addends.y_less(v + 1, &points[1].y)];
    let mut runs = [scratch.denominators[v], scratch.denominators[v + 1]];
    for u in 0..2 {
        let Special { kept, taken, doubled, cancelled } = special[u];
        if kept | taken | doubled | cancelled != 0 {
            runs[u] = Loose::select(kept | taken | doubled | cancelled, &Loose::twice_p(), &runs[u]);
            if doubled != 0 {
                let [square, _] = square_pair([&points[u].x, &points[u].x]);
                rises[u] = Loose::select(doubled, &square.triple(), &rises[u]);
            }
        }
    }
    let slopes = mul_pair([&rises[0], &rises[1]], [&inverses[0], &inverses[1]]);
    let squares = square_pair([&slopes[0], &slopes[1]]);
    let x = [squares[0].third_abscissa(&points[0].x, &runs[0]), squares[1].third_abscissa(&points[1].x, &runs[1])];
    let back = [points[0].x.difference(&x[0]), points[1].x.difference(&x[1])];
    let products = mul_pair([&slopes[0], &slopes[1]], [&back[0], &back[1]]);
    for u in 0..2 {
        let mut sum = Points { x: x[u], y: products[u].minus(&points[u].y) };
        let Special { kept, taken, cancelled, .. } = special[u];
        if kept | taken | cancelled != 0 {
            sum.x = Element::select(kept, &points[u].x, &sum.x);
            sum.y = Element::select(kept, &points[u].y, &sum.y);
            if taken != 0 {
                sum.x = Element::select(taken, &addends.x(v + u), &sum.x);
                sum.y = Element::select(taken, &addends.y(v + u), &sum.y);
            }
            infinite[u] = infinite[u] & !taken | cancelled;
        }
        points[u] = sum;
    }
}
