//! The quotient polynomial h = (a b - c) / (x^d - 1) from the values of a and b on the domain, with six transforms.
//!
//! Since c = a b on the domain and deg(a b) <= 2d - 2, h is the upper half of a b. With u = a b mod (x^d - 1), which
//! the pointwise products on the domain give, and v = a b mod (x^d - g^d), which those on the coset g give, a b =
//! h (x^d - 1) + u, so v = h (g^d - 1) + u and h = (v - u) / (g^d - 1). c itself is not needed.

use std::ops::{Deref, DerefMut};

use zeroize::Zeroize;

use crate::error::{Error, Result, reserve};
use crate::math::field::Field;
use crate::math::fr::Fr;
use crate::math::ntt::{Domain, permute, reverse_bits};
use crate::math::simd;
use crate::par;

/// The size of vectors, a power of two, from which on lanes work on them.
const LEAST_ON_LANES: usize = 256;

/// The coefficients of h, d - 1 of them, lowest first; none for d = 1.
///
/// `a` and `b` are values on the domain in natural order, at most d of them; missing ones are zero. Both are used as
/// scratch, and they are zeroised; one more vector of d elements is taken. The caller should zeroise the result.
///
/// Errors: `Invalid` if there are more values than the domain has elements; `NoMemory`.
pub fn quotient(domain: &Domain, a: Vec<Fr>, b: Vec<Fr>) -> Result<Vec<Fr>> {
    let d = domain.size();
    // Both belong to what wipes them before either may be an error.
    let (a, b) = (Secret(a), Secret(b));
    let (mut a, mut b) = (padded("a", a, d)?, padded("b", b, d)?);
    let mut u = Secret::default();
    reserve(&mut u, d, "the quotient")?;
    u.resize(d, Fr::ZERO);
    let lanes = domain.on_lanes() && d >= LEAST_ON_LANES;
    product(lanes, &mut u, &a, &b);
    domain.inverse_nr_unscaled(&mut a)?;
    domain.inverse_nr_unscaled(&mut b)?;
    domain.inverse_nr_unscaled(&mut u)?;

    // All three are bit-reversed now, and too large by the factor d.
    let g = domain.generator();
    shift(lanes, domain.inverse_size(), g, &mut a, &mut b);
    domain.forward_rn(&mut a)?;
    domain.forward_rn(&mut b)?;
    multiply(lanes, &mut a, &b);
    domain.inverse_nr_unscaled(&mut a)?;

    // g lies outside of the domain, so this is no division by zero.
    let scale = domain.inverse_size() * (g.pow(&[d as u64]) - Fr::ONE).inverse();
    unshift_and_subtract(lanes, scale, g.inverse(), &mut a, &mut u);
    natural_order(&mut b, &a);
    let mut h = std::mem::take(&mut *b);
    // a b has no coefficient of degree 2d - 1.
    h.truncate(d - 1);
    Ok(h)
}

/// A vector that is zeroised when it is dropped, by all threads of the caller's pool.
#[derive(Default)]
struct Secret(Vec<Fr>);

impl Deref for Secret {
    type Target = Vec<Fr>;
    fn deref(&self) -> &Vec<Fr> {
        &self.0
    }
}

impl DerefMut for Secret {
    fn deref_mut(&mut self) -> &mut Vec<Fr> {
        &mut self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        let size = par::piece(self.0.len(), 1 << 14);
        par::for_each_chunk_mut(&mut self.0, size, |_, piece| piece.zeroize());
        self.0.spare_capacity_mut().zeroize();
    }
}

/// The first row where a b is not c, if any; missing values are zero.
pub fn first_unsatisfied(a: &[Fr], b: &[Fr], c: &[Fr]) -> Option<usize> {
    let rows = a.len().max(b.len()).max(c.len());
    let value = |values: &[Fr], row: usize| values.get(row).copied().unwrap_or(Fr::ZERO);
    let size = par::piece(rows, 1024);
    let found = par::map(rows.div_ceil(size), |piece| {
        let mut rows = piece * size..rows.min((piece + 1) * size);
        rows.find(|&row| value(a, row) * value(b, row) != value(c, row))
    });
    found.into_iter().flatten().next()
}

/// The values with zeros up to the domain's size. A vector that has to move leaves no copy behind.
fn padded(name: &str, mut values: Secret, d: usize) -> Result<Secret> {
    if values.len() > d {
        return Err(Error::invalid(format!("{} values of {name} on a domain of {d}", values.len())));
    }
    if values.capacity() < d {
        let mut larger = Secret::default();
        reserve(&mut larger, d, name)?;
        larger.extend_from_slice(&values);
        values = larger;
    }
    values.resize(d, Fr::ZERO);
    Ok(values)
}

/// `out[i] = values[bitrev(i)]`, for vectors of one length, a power of two. Not in place, so that threads share it.
fn natural_order(out: &mut [Fr], values: &[Fr]) {
    let bits = values.len().max(1).ilog2();
    let size = par::piece(out.len(), 1024);
    par::for_each_chunk_mut(out, size, |start, out| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = values[reverse_bits(start + i, bits)];
        }
    });
}

/// `out = a b`, element by element, for vectors of one length.
fn product(lanes: bool, out: &mut [Fr], a: &[Fr], b: &[Fr]) {
    let size = par::piece(out.len(), 1024).next_multiple_of(8);
    par::for_each_chunk_mut(out, size, |start, out| {
        let (a, b) = (&a[start..start + out.len()], &b[start..start + out.len()]);
        if lanes {
            simd::product(out, a, b);
        } else {
            out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = *a * *b);
        }
    });
}

/// `a *= b`, element by element, for vectors of one length.
fn multiply(lanes: bool, a: &mut [Fr], b: &[Fr]) {
    let size = par::piece(a.len(), 1024).next_multiple_of(8);
    par::for_each_chunk_mut(a, size, |start, a| {
        let b = &b[start..start + a.len()];
        if lanes {
            simd::multiply(a, b);
        } else {
            a.iter_mut().zip(b).for_each(|(a, b)| *a *= *b);
        }
    });
}

/// Multiplies element p of both vectors, in bit-reversed order, by `scale * g^bitrev(p)`.
fn shift(lanes: bool, scale: Fr, g: Fr, a: &mut [Fr], b: &mut [Fr]) {
    let powers = Powers::new(scale, g, a.len());
    par::for_each_chunk_pair_mut(a, b, powers.low.len(), |start, a, b| {
        let high = powers.high(start);
        if lanes {
            return simd::shift(a, b, &powers.low, &high);
        }
        for ((a, b), low) in a.iter_mut().zip(b).zip(&powers.low) {
            let power = high * *low;
            *a *= power;
            *b *= power;
        }
    });
}

/// `v[p] = scale * (g^bitrev(p) v[p] - u[p])`.
fn unshift_and_subtract(lanes: bool, scale: Fr, g: Fr, v: &mut [Fr], u: &mut [Fr]) {
    let powers = Powers::new(scale, g, v.len());
    par::for_each_chunk_pair_mut(v, u, powers.low.len(), |start, v, u| {
        let high = powers.high(start);
        if lanes {
            return simd::unshift(v, u, &powers.low, &high, &scale);
        }
        for ((v, u), low) in v.iter_mut().zip(u).zip(&powers.low) {
            *v = high * *low * *v - scale * *u;
        }
    });
}

/// `scale * g^bitrev(p)` for p below 2^bits, as products of one factor for the low bits of p and one for the others.
struct Powers {
    low: Vec<Fr>,
    bits: u32,
    scale: Fr,
    g: Fr,
}

impl Powers {
    fn new(scale: Fr, g: Fr, size: usize) -> Self {
        let bits = size.max(1).ilog2();
        // The low bits of p are the high ones of the exponent.
        let low_bits = bits.min(8.max(bits / 2));
        let step = g.pow(&[1 << (bits - low_bits)]);
        let mut low: Vec<_> = std::iter::successors(Some(Fr::ONE), |x| Some(*x * step)).take(1 << low_bits).collect();
        permute(&mut low);
        Self { low, bits, scale, g }
    }

    /// The factor of the elements from `start` on, a multiple of the length of `low`.
    fn high(&self, start: usize) -> Fr {
        self.scale * self.g.pow(&[reverse_bits(start, self.bits) as u64])
    }
}
