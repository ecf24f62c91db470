//! Products of vectors of scalar field elements, element by element. Lengths are multiples of eight.

use super::lanes::Task;
use super::scalar::ScalarLanes;
use crate::math::fr::Fr;

/// `out = a b`.
pub fn product<L: ScalarLanes>(out: &mut [Fr], a: &[Fr], b: &[Fr]) {
    L::run(Product::<L> { out, a, b, lanes: Default::default() });
}

/// `a *= b`.
pub fn multiply<L: ScalarLanes>(a: &mut [Fr], b: &[Fr]) {
    L::run(Multiply::<L> { a, b, lanes: Default::default() });
}

/// Multiplies both by `high * low[i]`, element by element; `low` is as long as both.
pub fn shift<L: ScalarLanes>(a: &mut [Fr], b: &mut [Fr], low: &[Fr], high: &Fr) {
    L::run(Shift::<L> { a, b, low, high: L::pack_factor(high), lanes: Default::default() });
}

/// `v = high * low[i] * v - scale * u`, element by element; all are as long as `low`.
pub fn unshift<L: ScalarLanes>(v: &mut [Fr], u: &[Fr], low: &[Fr], high: &Fr, scale: &Fr) {
    L::run(Unshift::<L> {
        v,
        u,
        low,
        high: L::pack_factor(high),
        scale: L::pack_factor(scale),
        lanes: Default::default(),
    });
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
fn product_of<L: ScalarLanes>(a: &[Fr; 8], b: &[Fr; 8]) -> L::Scalars {
    let [product] = L::products([&L::load_scaled(a)], [&L::factor(&L::load(b))]);
    product
}

impl<L: ScalarLanes> Task for Product<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let inputs = self.a.as_chunks::<8>().0.iter().zip(self.b.as_chunks::<8>().0);
        for (out, (a, b)) in self.out.as_chunks_mut::<8>().0.iter_mut().zip(inputs) {
            L::store_elements(&product_of::<L>(a, b), out);
        }
    }
}

impl<L: ScalarLanes> Task for Multiply<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (a, b) in self.a.as_chunks_mut::<8>().0.iter_mut().zip(self.b.as_chunks::<8>().0) {
            L::store_elements(&product_of::<L>(a, b), a);
        }
    }
}

impl<L: ScalarLanes> Task for Shift<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let high = L::splat_factor(&self.high);
        let vectors = self.a.as_chunks_mut::<8>().0.iter_mut().zip(self.b.as_chunks_mut::<8>().0);
        for ((a, b), low) in vectors.zip(self.low.as_chunks::<8>().0) {
            let [power] = L::products([&L::load_scaled(low)], [&high]);
            let (x, y, power) = (L::load(a), L::load(b), L::factor(&power));
            let [x, y] = L::products([&x, &y], [&power, &power]);
            L::store_elements(&x, a);
            L::store_elements(&y, b);
        }
    }
}

impl<L: ScalarLanes> Task for Unshift<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (high, scale) = (L::splat_factor(&self.high), L::splat_factor(&self.scale));
        let bound = L::bound_of_values(2);
        let vectors = self.v.as_chunks_mut::<8>().0.iter_mut().zip(self.u.as_chunks::<8>().0);
        for ((v, u), low) in vectors.zip(self.low.as_chunks::<8>().0) {
            let [power] = L::products([&L::load_scaled(low)], [&high]);
            let (x, y) = (L::load(v), L::load(u));
            let [x, y] = L::products([&x, &y], [&L::factor(&power), &scale]);
            L::store_elements(&L::subtract(&x, &y, &bound), v);
        }
    }
}
