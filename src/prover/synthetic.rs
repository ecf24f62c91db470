//! Synthetic circuits with a satisfying witness, for tests, benches and demonstrations. Deterministic by seed.

use super::circuit::Circuit;
use crate::error::{Error, Result};
use crate::formats::r1cs::{R1cs, Rows};
use crate::math::field::Field;
use crate::math::fr::Fr;

/// What a synthetic circuit looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows, without those that a key's form appends for the inputs.
    pub rows: usize,
    /// Inputs, the constant one included: at least 1.
    pub inputs: usize,
    /// Auxiliary variables; with no rows there are none.
    pub aux: usize,
    /// Of 100 auxiliary variables that may be zero or one, how many are. The rest has the full size of the field. With
    /// more variables than rows that is every variable but one per row.
    pub boolean_percent: u32,
    /// Circuits of different seeds differ.
    pub seed: u64,
}

impl Shape {
    /// As many auxiliary variables as rows, half of them zero or one.
    pub fn new(rows: usize, inputs: usize, seed: u64) -> Self {
        Self { rows, inputs, aux: rows, boolean_percent: 50, seed }
    }
}

/// A pseudo-random sequence (SplitMix64, Steele, Lea and Flood 2014). Not for secrets.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0 (slightly biased).
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next_u64() % bound.max(1) as u64) as usize
    }

    /// A uniform field element.
    pub fn fr(&mut self) -> Fr {
        let mut wide = [0u8; 64];
        wide.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&self.next_u64().to_le_bytes()));
        Fr::from_wide_bytes(&wide)
    }
}

/// A circuit of this shape and a witness (constant one, inputs, aux) that satisfies it. Every auxiliary variable is
/// constrained, and no row names a variable twice in one matrix. `Invalid` for no inputs or for variables without rows.
pub fn circuit(shape: &Shape) -> Result<(Circuit, Vec<Fr>)> {
    let (r1cs, witness) = r1cs(shape)?;
    Ok((Circuit::from_r1cs(&r1cs)?, witness))
}

/// The same as the content of an iden3 file: all inputs are public inputs.
pub fn r1cs(shape: &Shape) -> Result<(R1cs, Vec<Fr>)> {
    let count = |value: usize| {
        u32::try_from(value).map_err(|_| Error::invalid(format!("synthetic circuit: {value} is more than 2^32 - 1")))
    };
    if shape.inputs == 0 || (shape.rows == 0 && shape.aux > 0) {
        return Err(Error::invalid(format!("synthetic circuit: no circuit has the shape {shape:?}")));
    }
    let (num_wires, num_constraints) = (count(shape.inputs.saturating_add(shape.aux))?, count(shape.rows)?);
    let mut builder = Builder::new(shape);
    for row in 0..shape.rows {
        // Spread evenly; the products are those of numbers below 2^32.
        let fresh = shape.aux * (row + 1) / shape.rows - shape.aux * row / shape.rows;
        builder.row(fresh, shape.boolean_percent);
    }
    let Builder { a, b, c, witness, .. } = builder;
    let num_public_inputs = count(shape.inputs - 1)?;
    let num_labels = u64::from(num_wires);
    Ok((R1cs { num_wires, num_public_inputs, num_labels, num_constraints, a, b, c, ..R1cs::default() }, witness))
}

struct Builder {
    rng: Rng,
    /// Coefficients to choose from, with their bytes; the first is one, the second minus one.
    palette: Vec<(Fr, [u8; 32])>,
    a: Rows,
    b: Rows,
    c: Rows,
    witness: Vec<Fr>,
}

impl Builder {
    fn new(shape: &Shape) -> Self {
        let mut rng = Rng::new(shape.seed);
        let small = (2..10).map(Fr::from);
        let full: Vec<Fr> = (0..8).map(|_| rng.fr()).collect();
        let palette = [Fr::ONE, -Fr::ONE].into_iter().chain(small).chain(full).map(|k| (k, k.to_le_bytes())).collect();
        let witness = (0..shape.inputs).map(|i| if i == 0 { Fr::ONE } else { rng.fr() }).collect();
        let empty = || Rows { row_starts: vec![0], ..Rows::default() };
        Self { rng, palette, a: empty(), b: empty(), c: empty(), witness }
    }

    /// Appends a row with `fresh` new variables.
    fn row(&mut self, fresh: usize, boolean_percent: u32) {
        let known = self.witness.len();
        if fresh == 1 && self.is_boolean(boolean_percent) {
            // x (x - 1) = 0
            let bit = Fr::from(self.rng.next_u64() & 1);
            self.witness.push(bit);
            self.a.push(known, self.palette[0].1);
            self.b.push(known, self.palette[0].1);
            self.b.push(0, self.palette[1].1);
        } else {
            // (free variables + combination) (combination) = the last new variable, or a constant if there is none
            let mut left = Fr::ZERO;
            for _ in 1..fresh {
                let boolean = self.is_boolean(boolean_percent);
                let value = if boolean { Fr::from(self.rng.next_u64() & 1) } else { self.rng.fr() };
                self.a.push(self.witness.len(), self.palette[0].1);
                self.witness.push(value);
                left += value;
            }
            let combination = self.combination(known);
            left += self.add(Side::Left, &combination);
            let combination = self.combination(known);
            let right = self.add(Side::Right, &combination);
            let product = left * right;
            if fresh == 0 {
                self.c.push(0, product.to_le_bytes());
            } else {
                self.c.push(self.witness.len(), self.palette[0].1);
                self.witness.push(product);
            }
        }
        for matrix in [&mut self.a, &mut self.b, &mut self.c] {
            matrix.row_starts.push(matrix.columns.len() as u64);
        }
    }

    fn is_boolean(&mut self, percent: u32) -> bool {
        self.rng.below(100) < percent as usize
    }

    /// One to three distinct variables below `known`, each with an index into the palette.
    fn combination(&mut self, known: usize) -> Vec<(usize, usize)> {
        let mut terms: Vec<(usize, usize)> = Vec::with_capacity(3);
        for _ in 0..1 + self.rng.below(3) {
            let (column, kind) = (self.rng.below(known), self.rng.below(10));
            let coefficient = if kind < 6 { 0 } else { self.rng.below(self.palette.len()) };
            if terms.iter().all(|(other, _)| *other != column) {
                terms.push((column, coefficient));
            }
        }
        terms
    }

    /// Appends the terms to the row; their value.
    fn add(&mut self, side: Side, terms: &[(usize, usize)]) -> Fr {
        let mut sum = Fr::ZERO;
        for (column, coefficient) in terms {
            let (value, bytes) = self.palette[*coefficient];
            sum += value * self.witness[*column];
            match side {
                Side::Left => self.a.push(*column, bytes),
                Side::Right => self.b.push(*column, bytes),
            }
        }
        sum
    }
}

enum Side {
    Left,
    Right,
}

impl Rows {
    /// Appends a term to the row that is not closed yet. `column` is below 2^32.
    fn push(&mut self, column: usize, value: [u8; 32]) {
        self.columns.push(column as u32);
        self.values.push(value);
    }
}
