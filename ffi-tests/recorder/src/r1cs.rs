//! R1CS matrices and witnesses of bellman circuits.

use bellman::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use bls12_381::Scalar;
use ff::Field;

/// Marks an auxiliary variable while the number of inputs is not known yet. Inputs sort before it.
const AUX: u32 = 1 << 31;

/// A sparse matrix over the scalar field of BLS12-381, in compressed rows.
///
/// Within a row, columns ascend strictly and no value is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// Where each row starts in `columns` and `values`, and at the end their length: one more entry than rows.
    pub row_starts: Vec<usize>,
    /// Column of each term: 0 is the constant one, then the other inputs, then the auxiliary variables.
    pub columns: Vec<u32>,
    /// Coefficient of each term.
    pub values: Vec<Scalar>,
}

impl Default for Matrix {
    fn default() -> Self {
        Self { row_starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }
}

impl Matrix {
    /// The terms of row `row` as (column, coefficient).
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (u32, &Scalar)> {
        let range = self.row_starts[row]..self.row_starts[row + 1];
        self.columns[range.clone()].iter().copied().zip(&self.values[range])
    }

    /// The number of rows.
    pub fn num_rows(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Appends a row; equal columns are added up and zeros dropped. `terms` is scratch and comes back empty.
    fn push_row(&mut self, terms: &mut Vec<(u32, Scalar)>) {
        terms.sort_by_key(|term| term.0);
        for equal in terms.chunk_by(|x, y| x.0 == y.0) {
            let sum: Scalar = equal.iter().map(|term| term.1).sum();
            if !sum.is_zero_vartime() {
                self.columns.push(equal[0].0);
                self.values.push(sum);
            }
        }
        self.row_starts.push(self.columns.len());
        terms.clear();
    }

    fn resolve_columns(&mut self, num_inputs: u32) {
        for column in &mut self.columns {
            if *column & AUX != 0 {
                *column = (*column ^ AUX) + num_inputs;
            }
        }
    }

    fn dot(&self, row: usize, witness: &Witness) -> Scalar {
        self.row(row).map(|(column, value)| *value * witness.get(column)).sum()
    }
}

/// The constraints A w * B w = C w, one per row, without the rows that key formats add for the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct R1cs {
    /// Left factors.
    pub a: Matrix,
    /// Right factors.
    pub b: Matrix,
    /// Products.
    pub c: Matrix,
    /// Number of inputs, the constant one included.
    pub num_inputs: usize,
    /// Number of auxiliary (private) variables.
    pub num_aux: usize,
}

impl R1cs {
    /// The number of constraints.
    pub fn num_rows(&self) -> usize {
        self.a.num_rows()
    }

    /// Whether `witness` has the right sizes and satisfies every row; the error says which one it breaks first.
    pub fn check(&self, witness: &Witness) -> anyhow::Result<()> {
        anyhow::ensure!(
            (witness.inputs.len(), witness.aux.len()) == (self.num_inputs, self.num_aux),
            "the witness has {} inputs and {} aux, the circuit {} and {}",
            witness.inputs.len(),
            witness.aux.len(),
            self.num_inputs,
            self.num_aux
        );
        anyhow::ensure!(witness.inputs[0] == Scalar::ONE, "the witness does not begin with one");
        for row in 0..self.num_rows() {
            let product = self.a.dot(row, witness) * self.b.dot(row, witness);
            anyhow::ensure!(product == self.c.dot(row, witness), "the witness breaks constraint {row}");
        }
        Ok(())
    }
}

/// Values of all variables of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The constant one, then the public inputs.
    pub inputs: Vec<Scalar>,
    /// The auxiliary (private) variables.
    pub aux: Vec<Scalar>,
}

impl Witness {
    fn get(&self, column: u32) -> Scalar {
        let column = column as usize;
        if column < self.inputs.len() { self.inputs[column] } else { self.aux[column - self.inputs.len()] }
    }

    /// All values in the order of the matrices' columns.
    pub fn iter(&self) -> impl Iterator<Item = &Scalar> {
        self.inputs.iter().chain(&self.aux)
    }
}

/// Records the matrices of `circuit`, which may lack a witness: its closures for values are not called.
pub fn record_matrices(circuit: impl Circuit<Scalar>) -> Result<R1cs, SynthesisError> {
    let mut recorder = Recorder { matrices: Some(Default::default()), ..Recorder::default() };
    recorder.synthesize(circuit)?;
    Ok(recorder.into_r1cs())
}

/// Records the values that `circuit` gives its variables; its closures for constraints are not called.
pub fn record_witness(circuit: impl Circuit<Scalar>) -> Result<Witness, SynthesisError> {
    let mut recorder =
        Recorder { witness: Some(Witness { inputs: Vec::new(), aux: Vec::new() }), ..Recorder::default() };
    recorder.synthesize(circuit)?;
    Ok(recorder.witness.unwrap_or(Witness { inputs: Vec::new(), aux: Vec::new() }))
}

/// A constraint system that keeps what a circuit does: the matrices, the witness, or both.
#[derive(Default)]
struct Recorder {
    matrices: Option<[Matrix; 3]>,
    witness: Option<Witness>,
    num_inputs: usize,
    num_aux: usize,
    terms: Vec<(u32, Scalar)>,
}

impl Recorder {
    fn synthesize(&mut self, circuit: impl Circuit<Scalar>) -> Result<(), SynthesisError> {
        self.alloc_input(|| "one", || Ok(Scalar::ONE))?;
        circuit.synthesize(self)
    }

    fn into_r1cs(self) -> R1cs {
        let mut matrices = self.matrices.unwrap_or_default();
        for matrix in &mut matrices {
            matrix.resolve_columns(self.num_inputs as u32);
        }
        let [a, b, c] = matrices;
        R1cs { a, b, c, num_inputs: self.num_inputs, num_aux: self.num_aux }
    }
}

fn column(variable: Variable) -> u32 {
    match variable.get_unchecked() {
        Index::Input(i) => i as u32,
        Index::Aux(i) => i as u32 | AUX,
    }
}

impl ConstraintSystem<Scalar> for Recorder {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        if let Some(witness) = &mut self.witness {
            witness.aux.push(value()?);
        }
        self.num_aux += 1;
        Ok(Variable::new_unchecked(Index::Aux(self.num_aux - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        if let Some(witness) = &mut self.witness {
            witness.inputs.push(value()?);
        }
        self.num_inputs += 1;
        Ok(Variable::new_unchecked(Index::Input(self.num_inputs - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let Some(matrices) = &mut self.matrices else { return };
        let zero = LinearCombination::zero;
        for (matrix, combination) in matrices.iter_mut().zip([a(zero()), b(zero()), c(zero())]) {
            self.terms.extend(combination.as_ref().iter().map(|(variable, value)| (column(*variable), *value)));
            matrix.push_row(&mut self.terms);
        }
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}

/// A bellman circuit that plays a recording back: the constraints of the matrices with the values of the witness,
/// so that a prover's time contains no computation of the witness.
#[derive(Clone, Copy, Debug)]
pub struct Replay<'a> {
    /// The constraints.
    pub r1cs: &'a R1cs,
    /// The values.
    pub witness: &'a Witness,
}

impl Circuit<Scalar> for Replay<'_> {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut variables = vec![CS::one()];
        for value in &self.witness.inputs[1..] {
            variables.push(cs.alloc_input(|| "", || Ok(*value))?);
        }
        for value in &self.witness.aux {
            variables.push(cs.alloc(|| "", || Ok(*value))?);
        }
        let combination = |matrix: &Matrix, row: usize, zero: LinearCombination<Scalar>| {
            matrix.row(row).fold(zero, |sum, (column, value)| sum + (*value, variables[column as usize]))
        };
        for row in 0..self.r1cs.num_rows() {
            cs.enforce(
                || "",
                |zero| combination(&self.r1cs.a, row, zero),
                |zero| combination(&self.r1cs.b, row, zero),
                |zero| combination(&self.r1cs.c, row, zero),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    /// x * x = y with y public, written with duplicates and a term that cancels; an input follows an aux.
    struct Square(Option<u64>);

    impl Circuit<Scalar> for Square {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let value = |v: Option<u64>| v.map(Scalar::from).ok_or(SynthesisError::AssignmentMissing);
            let x = cs.alloc(|| "x", || value(self.0))?;
            let y = cs.alloc_input(|| "y", || value(self.0).map(|x| x.square()))?;
            cs.enforce(
                || "",
                |lc| lc + x + x - (Scalar::from(2), y) + (Scalar::from(2), y),
                |lc| lc + x,
                |lc| lc + (Scalar::from(3), y) - y + CS::one() - CS::one(),
            );
            Ok(())
        }
    }

    #[test]
    fn duplicates_are_added_up_and_zeros_dropped() {
        let r1cs = record_matrices(Square(None)).unwrap();
        assert_eq!((r1cs.num_inputs, r1cs.num_aux, r1cs.num_rows()), (2, 1, 1));
        let row = |matrix: &Matrix| matrix.row(0).map(|(column, value)| (column, *value)).collect::<Vec<_>>();
        assert_eq!(row(&r1cs.a), [(2, Scalar::from(2))]);
        assert_eq!(row(&r1cs.b), [(2, Scalar::ONE)]);
        assert_eq!(row(&r1cs.c), [(1, Scalar::from(2))]);
    }

    #[test]
    fn a_wrong_value_is_found() {
        let r1cs = record_matrices(Square(None)).unwrap();
        let mut witness = record_witness(Square(Some(5))).unwrap();
        r1cs.check(&witness).unwrap();
        witness.inputs[1] += Scalar::ONE;
        assert!(r1cs.check(&witness).unwrap_err().to_string().contains("constraint 0"));
        witness.inputs.pop();
        assert!(r1cs.check(&witness).is_err());
    }

    #[test]
    fn a_replay_records_the_same() {
        let r1cs = record_matrices(Square(None)).unwrap();
        let witness = record_witness(Square(Some(7))).unwrap();
        let replay = Replay { r1cs: &r1cs, witness: &witness };
        assert_eq!(record_matrices(replay).unwrap(), r1cs);
        assert_eq!(record_witness(replay).unwrap(), witness);
    }
}
