//! What transforms and products of vectors ask of eight lanes; [`super::scalar52`] and [`super::avx2`] provide it.
//!
//! Transforms are linear, so vectors keep the factor 2^256 that they have in memory: a product of such a value with a
//! *factor*, whose Montgomery form is by R, is again one.

use zeroize::Zeroize;

use super::lanes::{Lanes, Row};
use crate::math::fr::Fr;

/// Lanes, and what they are to the scalar field. Values are integers that stand for elements; columns are what their sums
/// and differences are before carries are taken. Bounds are in the module's documentation.
pub trait ScalarLanes: Lanes {
    /// Eight values below 35 r.
    type Scalars: Copy + Send + Sync + Zeroize + 'static;
    /// Eight values as the second factor of a product.
    type Factor: Copy;
    /// What is added where something is subtracted.
    type Bound: Copy;
    /// Values that were reduced, of sums of four, and so all values of a backward transform stay below so many r.
    const BACKWARD: usize;
    /// So many r exceed what `reduce` makes of values below 8 r.
    const REDUCED: usize;

    /// Elements as values, in the Montgomery form of memory.
    fn load(elements: &[Fr; 8]) -> Self::Scalars;
    /// The same times R / 2^256, which makes up for a product with a factor whose form is that of memory: below 32 r.
    fn load_scaled(elements: &[Fr; 8]) -> Self::Scalars;
    /// Stores values below 35 r as elements.
    fn store_elements(x: &Self::Scalars, elements: &mut [Fr; 8]);
    /// Zero in every lane.
    fn zeros() -> Self::Scalars;

    /// k r, for k up to 16, from which normalised values that are clearly smaller may be subtracted.
    fn bound_of_values(k: usize) -> Self::Bound;
    /// The same for sums of two normalised values.
    fn bound_of_sums(k: usize) -> Self::Bound;
    /// Columns of `a + b`.
    fn plus(a: &Self::Scalars, b: &Self::Scalars) -> Self::Scalars;
    /// Columns of `a - b + bound`.
    fn subtract(a: &Self::Scalars, b: &Self::Scalars, bound: &Self::Bound) -> Self::Scalars;
    /// Takes the carries of columns.
    fn normalise_scalars(x: Self::Scalars) -> Self::Scalars;
    /// Columns of one sum or difference of normalised values, as the first factor of a product.
    fn ready(x: Self::Scalars) -> Self::Scalars;
    /// A smaller value, normalised, for columns of a sum of at most four normalised values of a backward transform.
    fn reduce_scalars(x: Self::Scalars) -> Self::Scalars;
    /// `U` Montgomery products, below 2 r if both values' multiples of r have a product of at most 35.
    fn products<const U: usize>(a: [&Self::Scalars; U], b: [&Self::Factor; U]) -> [Self::Scalars; U];

    /// (a, b) to (a + t b, a - t b).
    #[inline(always)]
    fn forward_2(a: &mut Self::Scalars, b: &mut Self::Scalars, t: &Self::Factor) {
        let bound = Self::bound_of_values(2);
        let [product] = Self::products([b], [t]);
        (*a, *b) = (
            Self::normalise_scalars(Self::plus(a, &product)),
            Self::normalise_scalars(Self::subtract(a, &product, &bound)),
        );
    }
    /// (a, b) to (a + b, t (a - b)).
    #[inline(always)]
    fn backward_2(a: &mut Self::Scalars, b: &mut Self::Scalars, t: &Self::Factor) {
        let bound = Self::bound_of_values(Self::BACKWARD);
        let difference = Self::ready(Self::subtract(a, b, &bound));
        *a = Self::reduce_scalars(Self::plus(a, b));
        [*b] = Self::products([&difference], [t]);
    }
    /// Two levels: (a, c) and (b, d) with the factor t, then (a, b) with `s[0]` and (c, d) with `s[1]`.
    #[inline(always)]
    fn forward_4([a, b, c, d]: [&mut Self::Scalars; 4], t: &Self::Factor, s: [&Self::Factor; 2]) {
        let bound = Self::bound_of_values(2);
        let [tc, td] = Self::products([c, d], [t, t]);
        let (b1, d1) = (Self::ready(Self::plus(b, &td)), Self::ready(Self::subtract(b, &td, &bound)));
        let products = Self::products([&b1, &d1], s);
        let (a1, c1) = (Self::plus(a, &tc), Self::subtract(a, &tc, &bound));
        Self::last_of_4([a, b, c, d], [a1, c1], products, &bound);
    }
    /// (a + b, a - b, c + d, c - d) of columns a, c and values b, d below the bound.
    #[inline(always)]
    fn last_of_4(
        out: [&mut Self::Scalars; 4],
        [a, c]: [Self::Scalars; 2],
        [b, d]: [Self::Scalars; 2],
        bound: &Self::Bound,
    ) {
        *out[0] = Self::normalise_scalars(Self::plus(&a, &b));
        *out[1] = Self::normalise_scalars(Self::subtract(&a, &b, bound));
        *out[2] = Self::normalise_scalars(Self::plus(&c, &d));
        *out[3] = Self::normalise_scalars(Self::subtract(&c, &d, bound));
    }
    /// The transpose of [`ScalarLanes::forward_4`]. Values below [`ScalarLanes::BACKWARD`] r stay so.
    #[inline(always)]
    fn backward_4([a, b, c, d]: [&mut Self::Scalars; 4], t: &Self::Factor, s: [&Self::Factor; 2]) {
        let (bound, double) = (Self::bound_of_values(Self::BACKWARD), Self::bound_of_sums(2 * Self::BACKWARD));
        let (a1, b1) = (Self::plus(a, b), Self::ready(Self::subtract(a, b, &bound)));
        let (c1, d1) = (Self::plus(c, d), Self::ready(Self::subtract(c, d, &bound)));
        let [b1, d1] = Self::products([&b1, &d1], s);
        *a = Self::reduce_scalars(Self::plus(&a1, &c1));
        *b = Self::normalise_scalars(Self::plus(&b1, &d1));
        let c2 = Self::normalise_scalars(Self::subtract(&a1, &c1, &double));
        let d2 = Self::ready(Self::subtract(&b1, &d1, &bound));
        [*c, *d] = Self::products([&c2, &d2], [t, t]);
    }

    /// An element, in Montgomery form by R, as it stands in a table.
    fn pack_factor(x: &Fr) -> [u64; 5];
    /// An element of a table as a factor in every lane.
    fn splat_factor(words: &[u64; 5]) -> Self::Factor;
    /// Eight elements of a table.
    fn load_factors(rows: &[Row; 5]) -> Self::Scalars;
    /// Normalised values as factors.
    fn factor(x: &Self::Scalars) -> Self::Factor;

    /// The even ones and the odd ones of the sixteen lanes of both.
    fn deinterleave_scalars(a: &Self::Scalars, b: &Self::Scalars) -> [Self::Scalars; 2];
    /// Lane i of value j becomes lane j of value i, of eight values.
    fn transpose_scalars(group: &[Self::Scalars]) -> [Self::Scalars; 8];
}

/// Factors for the lanes: factor k is lane k mod 8 of block k / 8.
#[derive(Clone, Debug, Default)]
pub struct Factors(Vec<[Row; 5]>);

impl Factors {
    /// From elements, for one kind of lanes; missing ones of the last block are zero.
    pub fn new<L: ScalarLanes>(elements: &[Fr]) -> Self {
        let block = |elements: &[Fr]| {
            let mut rows = [Row([0; 8]); 5];
            for (lane, x) in elements.iter().enumerate() {
                let words = L::pack_factor(x);
                for j in 0..5 {
                    rows[j].0[lane] = words[j];
                }
            }
            rows
        };
        let blocks = elements.len().div_ceil(8);
        Self(crate::par::map_many(blocks, |i| block(&elements[8 * i..elements.len().min(8 * i + 8)])))
    }

    /// Factor `k` in every lane.
    #[inline(always)]
    pub fn splat<L: ScalarLanes>(&self, k: usize) -> L::Factor {
        let rows = &self.0[k / 8];
        let mut words = [0; 5];
        for j in 0..5 {
            words[j] = rows[j].0[k % 8];
        }
        L::splat_factor(&words)
    }

    /// Factors `8 block .. 8 block + 8`.
    #[inline(always)]
    pub fn block<L: ScalarLanes>(&self, block: usize) -> L::Scalars {
        L::load_factors(&self.0[block])
    }
}
