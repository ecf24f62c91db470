//! Products of vectors of scalar field elements, element by element. Lengths are multiples of eight.

use super::lanes::{Lanes52, Task};
use super::scalar::{Limbs, canonical, factor, from_words, mul, multiple, splat, subtract, to_words};
use crate::math::fr::Fr;

/// `out = a b`.
pub fn product<L: Lanes52>(out: &mut [Fr], a: &[Fr], b: &[Fr]) {
    L::run(Product::<L> { out, a, b, lanes: Default::default() });
}

/// `a *= b`.
pub fn multiply<L: Lanes52>(a: &mut [Fr], b: &[Fr]) {
    L::run(Multiply::<L> { a, b, lanes: Default::default() });
}

/// Multiplies both by `high * low[i]`, element by element; `low` is as long as both.
pub fn shift<L: Lanes52>(a: &mut [Fr], b: &mut [Fr], low: &[Fr], high: &Fr) {
    L::run(Shift::<L> { a, b, low, high: factor(high), lanes: Default::default() });
}

/// `v = high * low[i] * v - scale * u`, element by element; all are as long as `low`.
pub fn unshift<L: Lanes52>(v: &mut [Fr], u: &[Fr], low: &[Fr], high: &Fr, scale: &Fr) {
    L::run(Unshift::<L> { v, u, low, high: factor(high), scale: factor(scale), lanes: Default::default() });
}

struct Product<'t, L> {
    out: &'t mut [Fr],
    a: &'t [Fr],
    b: &'t [Fr],
    lanes: std::marker::PhantomData<L>,
}

struct Multiply<'t, L> {
    a: &'t mut [Fr],
    b: &'t [Fr],
    lanes: std::marker::PhantomData<L>,
}

struct Shift<'t, L> {
    a: &'t mut [Fr],
    b: &'t mut [Fr],
    low: &'t [Fr],
    high: [u64; 5],
    lanes: std::marker::PhantomData<L>,
}

struct Unshift<'t, L> {
    v: &'t mut [Fr],
    u: &'t [Fr],
    low: &'t [Fr],
    high: [u64; 5],
    scale: [u64; 5],
    lanes: std::marker::PhantomData<L>,
}

#[inline(always)]
fn store<L: Lanes52>(x: Limbs<L>, out: &mut [Fr; 8]) {
    L::store_words(to_words(&canonical(x)), out);
}

/// The factor 16 makes up for the Montgomery forms: 2^256 2^256 16 / 2^260.
#[inline(always)]
fn product_of<L: Lanes52>(a: &[Fr; 8], b: &[Fr; 8]) -> Limbs<L> {
    let [product] = mul([&from_words(L::load_words(b), false)], [&from_words(L::load_words(a), true)]);
    product
}

impl<L: Lanes52> Task for Product<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let inputs = self.a.as_chunks::<8>().0.iter().zip(self.b.as_chunks::<8>().0);
        for (out, (a, b)) in self.out.as_chunks_mut::<8>().0.iter_mut().zip(inputs) {
            store(product_of::<L>(a, b), out);
        }
    }
}

impl<L: Lanes52> Task for Multiply<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (a, b) in self.a.as_chunks_mut::<8>().0.iter_mut().zip(self.b.as_chunks::<8>().0) {
            store(product_of::<L>(a, b), a);
        }
    }
}

impl<L: Lanes52> Task for Shift<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let high = splat::<L>(&self.high);
        let vectors = self.a.as_chunks_mut::<8>().0.iter_mut().zip(self.b.as_chunks_mut::<8>().0);
        for ((a, b), low) in vectors.zip(self.low.as_chunks::<8>().0) {
            let [power] = mul([&high], [&from_words(L::load_words(low), true)]);
            let (x, y) = (from_words(L::load_words(a), false), from_words(L::load_words(b), false));
            let [x, y] = mul([&x, &y], [&power, &power]);
            store(x, a);
            store(y, b);
        }
    }
}

impl<L: Lanes52> Task for Unshift<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (high, scale) = (splat::<L>(&self.high), splat::<L>(&self.scale));
        let bound = multiple::<L>(2);
        let vectors = self.v.as_chunks_mut::<8>().0.iter_mut().zip(self.u.as_chunks::<8>().0);
        for ((v, u), low) in vectors.zip(self.low.as_chunks::<8>().0) {
            let [power] = mul([&high], [&from_words(L::load_words(low), true)]);
            let (x, y) = (from_words(L::load_words(v), false), from_words(L::load_words(u), false));
            let [x, y] = mul([&x, &y], [&power, &scale]);
            store(subtract(&x, &y, &bound), v);
        }
    }
}
