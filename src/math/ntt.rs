//! Number-theoretic transforms over the scalar field, in place and without bit reversal.
//!
//! The forward one takes natural order to bit-reversed order ("NR", Cooley-Tukey on blocks: block k of any level
//! reduces a polynomial modulo x^(2m) - t^2 to those modulo x^m - t and x^m + t, with t = `T[k]`, `T[k]` = w^(bit
//! reversal of k), whatever the level). The other one takes bit-reversed order to natural order ("RN") and is its
//! transpose: the matrix of a transform is symmetric, so it computes the same. One table serves all levels and all
//! smaller sizes. Source: D. Harvey, "Faster arithmetic for number-theoretic transforms", 2014, and the block
//! ("twiddle-free inner loop") form of P. Longa and M. Naehrig, "Speeding up the number theoretic transform", 2016.
//!
//! A transform of size d takes d/2 log2(d) - d + 1 products: the first block of each level has t = 1.

use super::field::Field;
use super::fr::{Fr, TWO_ADICITY};
use super::simd;
use crate::error::{Error, Result, Status, reserve};
use crate::par;

/// Elements of a block that one thread transforms by itself.
const LEAF: usize = 1 << 11;

/// The d-th roots of unity, d a power of two, with the tables to transform over them.
#[derive(Clone, Debug)]
pub struct Domain {
    log_size: u32,
    generator: Fr,
    root: Fr,
    inverse_size: Fr,
    /// `root^bitrev(k)` for k < d/2, and the same for the root's inverse.
    forward: Factors,
    backward: Factors,
}

/// The factors of a transform, for the way that it goes on this machine.
#[derive(Clone, Debug)]
enum Factors {
    Plain(Vec<Fr>),
    Lanes(simd::Factors),
}

impl Factors {
    fn new(base: Fr, log_size: u32, lanes: bool) -> Result<Self> {
        let table = powers_bit_reversed(base, 1 << log_size.saturating_sub(1))?;
        if lanes && log_size >= simd::LEAST_TRANSFORM {
            Ok(Self::Lanes(simd::factors(&table)))
        } else {
            Ok(Self::Plain(table))
        }
    }

    fn nr(&self, values: &mut [Fr]) {
        match self {
            Self::Plain(table) => nr(values, 0, table),
            Self::Lanes(factors) => simd::nr(values, factors),
        }
    }

    fn rn(&self, values: &mut [Fr]) {
        match self {
            Self::Plain(table) => rn(values, 0, table),
            Self::Lanes(factors) => simd::rn(values, factors),
        }
    }
}

impl Domain {
    /// The domain of size 2^`log_size` whose root of unity is a power of `generator`: 7 for bellman, arkworks and gnark
    /// keys, 5 for iden3's. Takes 32 bytes an element for its tables, 40 where transforms run on lanes.
    ///
    /// Errors: `Unsupported` above 2^32 elements; `NoMemory`; `Invalid` if the generator is a square modulo r.
    pub fn new(log_size: u32, generator: u64) -> Result<Self> {
        Self::new_on(simd::available(), log_size, generator)
    }

    /// The same on lanes, which must be available then, or without.
    pub(super) fn new_on(lanes: bool, log_size: u32, generator: u64) -> Result<Self> {
        let too_large = || Error::new(Status::Unsupported, format!("domain of 2^{log_size} elements"));
        let root = Fr::root_of_unity(generator, log_size).ok_or_else(too_large)?;
        let full = Fr::root_of_unity(generator, TWO_ADICITY).ok_or_else(too_large)?;
        if (1..TWO_ADICITY).fold(full, |x, _| x.square()) != -Fr::ONE {
            return Err(Error::invalid(format!("{generator} is a square modulo r, so it gives no domain")));
        }
        let inverse_size = Fr::from(2).inverse().pow(&[u64::from(log_size)]);
        let factors = |root: Fr| Factors::new(root, log_size, lanes);
        let (forward, backward) = par::join(|| factors(root), || factors(root.inverse()));
        let (forward, backward) = (forward?, backward?);
        Ok(Self { log_size, generator: Fr::from(generator), root, inverse_size, forward, backward })
    }

    /// Whether its transforms run on lanes.
    pub(super) fn on_lanes(&self) -> bool {
        matches!(self.forward, Factors::Lanes(_))
    }

    /// The number of elements, d.
    pub fn size(&self) -> usize {
        1 << self.log_size
    }

    /// log2 of the number of elements.
    pub fn log_size(&self) -> u32 {
        self.log_size
    }

    /// The generator that the root of unity is a power of; it lies outside every domain, so it shifts to a coset.
    pub fn generator(&self) -> Fr {
        self.generator
    }

    /// The primitive d-th root of unity, element 1.
    pub fn root(&self) -> Fr {
        self.root
    }

    /// 1 / d.
    pub fn inverse_size(&self) -> Fr {
        self.inverse_size
    }

    /// The element with this index, `root^index`.
    pub fn element(&self, index: u64) -> Fr {
        self.root.pow(&[index])
    }

    /// All elements in natural order.
    pub fn elements(&self) -> impl Iterator<Item = Fr> + '_ {
        std::iter::successors(Some(Fr::ONE), |x| Some(*x * self.root)).take(self.size())
    }

    fn check(&self, values: &[Fr]) -> Result<()> {
        if values.len() == self.size() {
            return Ok(());
        }
        Err(Error::internal(format!("transform of {} elements over a domain of {}", values.len(), self.size())))
    }

    /// Coefficients in natural order to values in bit-reversed order: `values[bitrev(i)] = f(root^i)`. `values` must
    /// hold d elements (else `Internal`).
    pub fn forward_nr(&self, values: &mut [Fr]) -> Result<()> {
        self.check(values)?;
        self.forward.nr(values);
        Ok(())
    }

    /// Coefficients in bit-reversed order to values in natural order. `values` must hold d
    /// elements (else `Internal`).
    pub fn forward_rn(&self, values: &mut [Fr]) -> Result<()> {
        self.check(values)?;
        self.forward.rn(values);
        Ok(())
    }

    /// Values in natural order to coefficients *times d* in bit-reversed order. `values` must hold d
    /// elements (else `Internal`).
    pub fn inverse_nr_unscaled(&self, values: &mut [Fr]) -> Result<()> {
        self.check(values)?;
        self.backward.nr(values);
        Ok(())
    }

    /// Values in bit-reversed order to coefficients *times d* in natural order. `values` must hold d
    /// elements (else `Internal`).
    pub fn inverse_rn_unscaled(&self, values: &mut [Fr]) -> Result<()> {
        self.check(values)?;
        self.backward.rn(values);
        Ok(())
    }
}

/// Index `i` with its lowest `bits` bits in reverse.
pub fn reverse_bits(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}

/// Takes a vector of a power of two elements from natural to bit-reversed order, or back.
pub fn permute(values: &mut [Fr]) {
    let bits = values.len().max(1).ilog2();
    for i in 0..values.len() {
        let j = reverse_bits(i, bits);
        if i < j {
            values.swap(i, j);
        }
    }
}

/// `base^bitrev(k)` for k below `count`, a power of two: each doubling of the table appends it times the square root of
/// the last factor.
pub(super) fn powers_bit_reversed(base: Fr, count: usize) -> Result<Vec<Fr>> {
    let bits = count.ilog2();
    // Entry 2^j is base^(count / 2^(j + 1)).
    let mut squares: Vec<Fr> = std::iter::successors(Some(base), |x| Some(x.square())).take(bits as usize).collect();
    let mut table = Vec::new();
    reserve(&mut table, count, "a table of roots of unity")?;
    table.push(Fr::ONE);
    while let Some(factor) = squares.pop() {
        let low = par::map_many(table.len(), |k| table[k] * factor);
        table.extend(low);
    }
    Ok(table)
}

/// Transforms the block `values`, which is block `k` of its level.
pub(super) fn nr(values: &mut [Fr], k: usize, table: &[Fr]) {
    if values.len() <= LEAF {
        return nr_leaf(values, k, table);
    }
    let (low, high) = values.split_at_mut(values.len() / 2);
    let size = par::piece(low.len(), LEAF / 2);
    par::for_each_chunk_pair_mut(low, high, size, |_, low, high| nr_step(low, high, k, table));
    par::join(|| nr(low, 2 * k, table), || nr(high, 2 * k + 1, table));
}

/// The transpose of [`nr`].
pub(super) fn rn(values: &mut [Fr], k: usize, table: &[Fr]) {
    if values.len() <= LEAF {
        return rn_leaf(values, k, table);
    }
    let (low, high) = values.split_at_mut(values.len() / 2);
    par::join(|| rn(low, 2 * k, table), || rn(high, 2 * k + 1, table));
    let size = par::piece(low.len(), LEAF / 2);
    par::for_each_chunk_pair_mut(low, high, size, |_, low, high| rn_step(low, high, k, table));
}

fn nr_leaf(values: &mut [Fr], k: usize, table: &[Fr]) {
    let mut blocks = 1;
    let mut size = values.len();
    while size > 1 {
        for (j, block) in values.chunks_exact_mut(size).enumerate() {
            let (low, high) = block.split_at_mut(size / 2);
            nr_step(low, high, k * blocks + j, table);
        }
        (blocks, size) = (2 * blocks, size / 2);
    }
}

fn rn_leaf(values: &mut [Fr], k: usize, table: &[Fr]) {
    let mut size = 2;
    let mut blocks = values.len() / 2;
    while blocks > 0 {
        for (j, block) in values.chunks_exact_mut(size).enumerate() {
            let (low, high) = block.split_at_mut(size / 2);
            rn_step(low, high, k * blocks + j, table);
        }
        (blocks, size) = (blocks / 2, 2 * size);
    }
}

/// (low, high) to (low + t high, low - t high).
#[inline]
fn nr_step(low: &mut [Fr], high: &mut [Fr], k: usize, table: &[Fr]) {
    let t = table[k];
    if k == 0 {
        add_subtract(low, high);
        return;
    }
    for (a, b) in low.iter_mut().zip(high) {
        let product = t * *b;
        *b = *a - product;
        *a += product;
    }
}

/// (low, high) to (low + high, t (low - high)).
#[inline]
fn rn_step(low: &mut [Fr], high: &mut [Fr], k: usize, table: &[Fr]) {
    let t = table[k];
    if k == 0 {
        add_subtract(low, high);
        return;
    }
    for (a, b) in low.iter_mut().zip(high) {
        let difference = *a - *b;
        *a += *b;
        *b = t * difference;
    }
}

/// (low, high) to (low + high, low - high).
#[inline]
fn add_subtract(low: &mut [Fr], high: &mut [Fr]) {
    for (a, b) in low.iter_mut().zip(high) {
        let difference = *a - *b;
        *a += *b;
        *b = difference;
    }
}
