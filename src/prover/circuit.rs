//! Rank-1 constraint systems: rows (A w) (B w) = C w over the witness w = (1, inputs..., aux...).

use std::collections::HashMap;
use std::fmt;

use zeroize::Zeroize;

use super::density::Density;
use super::key::Densities;
use crate::error::{Error, Result, Status, reserve};
use crate::formats::r1cs::{R1cs, Rows};
use crate::math::field::Field;
use crate::math::fr::Fr;
use crate::math::quotient;
use crate::par;

/// Index of the coefficient 1 in a circuit's table of coefficients.
pub const PLUS_ONE: u32 = 0;
/// Index of the coefficient -1 in a circuit's table of coefficients.
pub const MINUS_ONE: u32 = 1;

/// A sparse matrix as its caller has it, unchecked: compressed rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csr<'a> {
    /// Where each row's terms start, then the number of terms: rows + 1 entries, the first 0.
    pub row_starts: &'a [u64],
    /// A variable per term: 0 is the constant one, then inputs, then aux.
    pub columns: &'a [u32],
    /// A coefficient per term: 32 bytes, little-endian, canonical.
    pub values: &'a [[u8; 32]],
}

/// A sparse matrix in compressed rows, checked against its circuit's numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    row_starts: Vec<u64>,
    columns: Vec<u32>,
    coefficients: Vec<u32>,
}

impl Matrix {
    /// Where each row's terms start, then the number of terms.
    pub fn row_starts(&self) -> &[u64] {
        &self.row_starts
    }

    /// The variable of each term.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The coefficient of each term, as an index into `Circuit::coefficients`.
    pub fn coefficients(&self) -> &[u32] {
        &self.coefficients
    }

    /// Variable and coefficient index of the terms of a row.
    #[inline]
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, u32)> + Clone + '_ {
        let terms = self.row_starts[row] as usize..self.row_starts[row + 1] as usize;
        let columns = self.columns[terms.clone()].iter().map(|column| *column as usize);
        columns.zip(self.coefficients[terms].iter().copied())
    }
}

/// A constraint system, immutable and consistent. The rows that a key's form appends for the inputs are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    num_rows: usize,
    num_inputs: usize,
    num_aux: usize,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    coefficients: Vec<Fr>,
}

/// A w, B w and C w: one element per row, without the rows that a key's form appends. Zeroised on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct Evaluations {
    /// A w.
    pub a: Vec<Fr>,
    /// B w.
    pub b: Vec<Fr>,
    /// C w.
    pub c: Vec<Fr>,
}

impl Evaluations {
    /// The first row where a b differs from c.
    pub fn first_unsatisfied(&self) -> Option<usize> {
        quotient::first_unsatisfied(&self.a, &self.b, &self.c)
    }
}

impl Drop for Evaluations {
    fn drop(&mut self) {
        self.a.zeroize();
        self.b.zeroize();
        self.c.zeroize();
    }
}

impl fmt::Debug for Evaluations {
    /// Shows no values: they are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Evaluations of {} rows", self.a.len())
    }
}

impl Circuit {
    /// A circuit of `num_rows` rows over `num_inputs` inputs (the constant one included) and `num_aux` auxiliary
    /// variables. `Invalid` where counts disagree or exceed 2^32 - 1 variables or rows, `Format` where row starts
    /// fall, a column is out of range or a value is not below r; the message names matrix, row and term.
    pub fn from_csr(num_rows: usize, num_inputs: usize, num_aux: usize, matrices: [Csr<'_>; 3]) -> Result<Self> {
        let num_vars = num_inputs.checked_add(num_aux).filter(|count| u32::try_from(*count).is_ok());
        let Some(num_vars) = num_vars else {
            return Err(Error::invalid(format!(
                "circuit: {num_inputs} inputs and {num_aux} auxiliary variables are more than 2^32 - 1"
            )));
        };
        if num_inputs == 0 {
            return Err(Error::invalid("circuit: 0 inputs; the constant one counts as the first"));
        }
        if u32::try_from(num_rows).is_err() {
            return Err(Error::invalid(format!("circuit: {num_rows} rows are more than 2^32 - 1")));
        }
        let mut table = CoefficientTable::new();
        let [a, b, c] = matrices;
        let a = matrix_from_csr(&a, num_rows, num_vars, &mut table).map_err(|e| e.at("circuit: matrix A"))?;
        let b = matrix_from_csr(&b, num_rows, num_vars, &mut table).map_err(|e| e.at("circuit: matrix B"))?;
        let c = matrix_from_csr(&c, num_rows, num_vars, &mut table).map_err(|e| e.at("circuit: matrix C"))?;
        Ok(Self { num_rows, num_inputs, num_aux, a, b, c, coefficients: table.values })
    }

    /// The circuit of an iden3 file: its inputs are the constant one, the public outputs and the public inputs, the
    /// other wires are auxiliary variables. Fails as `from_csr` does.
    pub fn from_r1cs(r1cs: &R1cs) -> Result<Self> {
        let public = u64::from(r1cs.num_public_outputs) + u64::from(r1cs.num_public_inputs);
        let num_inputs = 1 + public as usize;
        let Some(num_aux) = (r1cs.num_wires as usize).checked_sub(num_inputs) else {
            return Err(Error::format(format!("circuit: {public} public wires of {} in all", r1cs.num_wires)));
        };
        let matrices = [csr(&r1cs.a), csr(&r1cs.b), csr(&r1cs.c)];
        Self::from_csr(r1cs.num_constraints as usize, num_inputs, num_aux, matrices)
    }

    /// Rows, without those that a key's form appends.
    pub fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// Inputs, the constant one included.
    pub fn num_inputs(&self) -> usize {
        self.num_inputs
    }

    /// Auxiliary variables.
    pub fn num_aux(&self) -> usize {
        self.num_aux
    }

    /// Inputs and auxiliary variables.
    pub fn num_vars(&self) -> usize {
        self.num_inputs + self.num_aux
    }

    /// Terms of the three matrices.
    pub fn num_terms(&self) -> usize {
        self.a.columns.len() + self.b.columns.len() + self.c.columns.len()
    }

    /// The matrix of the left factors.
    pub fn a(&self) -> &Matrix {
        &self.a
    }

    /// The matrix of the right factors.
    pub fn b(&self) -> &Matrix {
        &self.b
    }

    /// The matrix of the products.
    pub fn c(&self) -> &Matrix {
        &self.c
    }

    /// The distinct coefficients; the first two are always 1 and -1.
    pub fn coefficients(&self) -> &[Fr] {
        &self.coefficients
    }

    /// Which variables a key in bellman's form has points for: in A all inputs, by the rows `input_i * 0 = 0`, and in
    /// A and B the variables with a coefficient that is not zero once the terms of the same variable in one row are
    /// added up.
    pub fn densities(&self) -> Densities {
        let split = |density: Density| {
            let inputs = (0..self.num_inputs).map(|i| density.get(i)).collect();
            let aux = (self.num_inputs..self.num_vars()).map(|i| density.get(i)).collect();
            (inputs, aux)
        };
        let (_, a_aux) = split(self.density(&self.a));
        let (b_inputs, b_aux): (Density, Density) = split(self.density(&self.b));
        Densities { a_aux: Some(a_aux), b_inputs: Some(b_inputs), b_aux: Some(b_aux) }
    }

    fn density(&self, matrix: &Matrix) -> Density {
        let mut words = vec![0u64; self.num_vars().div_ceil(64)];
        let mut row_terms: Vec<(usize, u32)> = Vec::new();
        for row in 0..self.num_rows {
            row_terms.clear();
            row_terms.extend(matrix.row(row));
            row_terms.sort_unstable();
            for same in row_terms.chunk_by(|x, y| x.0 == y.0) {
                let sum = same.iter().fold(Fr::ZERO, |sum, (_, k)| sum + self.coefficients[*k as usize]);
                if !sum.is_zero() {
                    words[same[0].0 / 64] |= 1 << (same[0].0 % 64);
                }
            }
        }
        Density::from_words(words, self.num_vars())
    }

    /// A w, B w and C w. `witness` holds the constant one, the other inputs and the auxiliary variables; `Invalid` if
    /// their number is wrong or the first is not one.
    pub fn evaluate(&self, witness: &[Fr]) -> Result<Evaluations> {
        self.evaluate_with_inputs(witness, 0)
    }

    /// As `evaluate`, followed by rows `input_i * 0 = 0` for the first `added` inputs, which some keys append.
    pub fn evaluate_with_inputs(&self, witness: &[Fr], added: usize) -> Result<Evaluations> {
        self.check_witness(witness)?;
        let Some(inputs) = witness.get(..added) else {
            return Err(Error::internal(format!("{added} rows for {} inputs", self.num_inputs)));
        };
        let evaluate = |matrix| self.evaluate_matrix(matrix, witness, added);
        let (a, (b, c)) = par::join(|| evaluate(&self.a), || par::join(|| evaluate(&self.b), || evaluate(&self.c)));
        let mut evaluations = Evaluations { a: a?, b: b?, c: c? };
        evaluations.a[self.num_rows..].copy_from_slice(inputs);
        Ok(evaluations)
    }

    /// `Invalid` unless `witness` has an element per variable, the first of them one.
    pub fn check_witness(&self, witness: &[Fr]) -> Result<()> {
        if witness.len() != self.num_vars() {
            return Err(Error::invalid(format!(
                "witness: got {} values, the circuit has {} inputs and {} auxiliary variables",
                witness.len(),
                self.num_inputs,
                self.num_aux
            )));
        }
        if witness.first() != Some(&Fr::ONE) {
            return Err(Error::invalid("witness: value 0 is not one"));
        }
        Ok(())
    }

    fn evaluate_matrix(&self, matrix: &Matrix, witness: &[Fr], added: usize) -> Result<Vec<Fr>> {
        let mut out = Vec::new();
        reserve(&mut out, self.num_rows + added, "the rows' evaluations")?;
        out.resize(self.num_rows + added, Fr::ZERO);
        par::for_each_chunk_mut(&mut out[..self.num_rows], par::piece(self.num_rows, 256), |start, chunk| {
            for (i, value) in chunk.iter_mut().enumerate() {
                *value = self.evaluate_row(matrix, start + i, witness);
            }
        });
        Ok(out)
    }

    #[inline]
    fn evaluate_row(&self, matrix: &Matrix, row: usize, witness: &[Fr]) -> Fr {
        matrix.row(row).fold(Fr::ZERO, |sum, (column, coefficient)| match coefficient {
            PLUS_ONE => sum + witness[column],
            MINUS_ONE => sum - witness[column],
            other => sum + self.coefficients[other as usize] * witness[column],
        })
    }
}

/// Gives equal coefficients the same index.
struct CoefficientTable {
    indices: HashMap<[u8; 32], u32>,
    values: Vec<Fr>,
    one: [u8; 32],
    minus_one: [u8; 32],
}

impl CoefficientTable {
    fn new() -> Self {
        let values = vec![Fr::ONE, -Fr::ONE];
        Self { indices: HashMap::new(), one: values[0].to_le_bytes(), minus_one: values[1].to_le_bytes(), values }
    }

    /// `Ok(None)` for a value that is not below r. There are fewer than 2^32 distinct values: each needs 32 bytes of the
    /// caller's, and more do not fit the memory of one machine beside the index.
    fn index(&mut self, value: &[u8; 32]) -> Result<Option<u32>> {
        if *value == self.one {
            return Ok(Some(PLUS_ONE));
        }
        if *value == self.minus_one {
            return Ok(Some(MINUS_ONE));
        }
        if let Some(index) = self.indices.get(value) {
            return Ok(Some(*index));
        }
        let (Ok(index), Some(element)) = (u32::try_from(self.values.len()), Fr::from_le_bytes(value)) else {
            return Ok(None);
        };
        let room = self.values.len();
        if self.values.capacity() == room {
            reserve(&mut self.values, room, "the coefficients")?;
        }
        if self.indices.try_reserve(1).is_err() {
            return Err(Error::new(Status::NoMemory, format!("no memory for {room} different coefficients")));
        }
        self.values.push(element);
        self.indices.insert(*value, index);
        Ok(Some(index))
    }
}

fn csr(rows: &Rows) -> Csr<'_> {
    Csr { row_starts: &rows.row_starts, columns: &rows.columns, values: &rows.values }
}

fn matrix_from_csr(csr: &Csr<'_>, num_rows: usize, num_vars: usize, table: &mut CoefficientTable) -> Result<Matrix> {
    let terms = csr.columns.len();
    if csr.values.len() != terms {
        return Err(Error::invalid(format!("got {terms} columns but {} values", csr.values.len())));
    }
    if csr.row_starts.len() != num_rows + 1 {
        return Err(Error::invalid(format!("got {} row starts, wanted {}", csr.row_starts.len(), num_rows + 1)));
    }
    if csr.row_starts[0] != 0 {
        return Err(Error::format(format!("row 0 starts at term {}, not at 0", csr.row_starts[0])));
    }
    if let Some(row) = csr.row_starts.windows(2).position(|pair| pair[0] > pair[1]) {
        let (start, end) = (csr.row_starts[row], csr.row_starts[row + 1]);
        return Err(Error::format(format!("row {row} starts at term {start} but ends at term {end}")));
    }
    if csr.row_starts[num_rows] != terms as u64 {
        return Err(Error::format(format!(
            "the last row ends at term {}, got {terms} terms",
            csr.row_starts[num_rows]
        )));
    }
    let place = |term: usize| {
        let row = csr.row_starts.partition_point(|start| *start <= term as u64) - 1;
        format!("row {row}, term {} (term {term} of the matrix)", term as u64 - csr.row_starts[row])
    };
    if let Some(term) = csr.columns.iter().position(|column| *column as usize >= num_vars) {
        let column = csr.columns[term];
        return Err(Error::format(format!("{}: column {column}, there are {num_vars} variables", place(term))));
    }
    let mut matrix = Matrix { row_starts: Vec::new(), columns: Vec::new(), coefficients: Vec::new() };
    reserve(&mut matrix.row_starts, csr.row_starts.len(), "the rows")?;
    reserve(&mut matrix.columns, terms, "the terms")?;
    reserve(&mut matrix.coefficients, terms, "the terms")?;
    for (term, value) in csr.values.iter().enumerate() {
        let Some(index) = table.index(value)? else {
            return Err(Error::format(format!("{}: value is not below r", place(term))));
        };
        matrix.coefficients.push(index);
    }
    matrix.row_starts.extend_from_slice(csr.row_starts);
    matrix.columns.extend_from_slice(csr.columns);
    Ok(matrix)
}
