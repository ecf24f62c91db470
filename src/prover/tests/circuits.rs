use crate::error::Status;
use crate::math::field::Field;
use crate::math::fr::{self, Fr};
use crate::prover::circuit::{Circuit, Csr, MINUS_ONE, PLUS_ONE};

/// Terms: variable and coefficient.
pub type Combination = Vec<(u32, i64)>;
/// A, B and C of every row.
pub type Rows = Vec<(Combination, Combination, Combination)>;

pub fn fr(value: i64) -> Fr {
    let magnitude = Fr::from(value.unsigned_abs());
    if value < 0 { -magnitude } else { magnitude }
}

/// A circuit from its rows.
pub fn build(num_inputs: usize, num_aux: usize, rows: &Rows) -> Circuit {
    let matrices = [0, 1, 2].map(|which| {
        let (mut starts, mut columns, mut values) = (vec![0u64], Vec::new(), Vec::new());
        for row in rows {
            for (column, value) in [&row.0, &row.1, &row.2][which] {
                columns.push(*column);
                values.push(fr(*value).to_le_bytes());
            }
            starts.push(columns.len() as u64);
        }
        (starts, columns, values)
    });
    let csr = |i: usize| Csr { row_starts: &matrices[i].0, columns: &matrices[i].1, values: &matrices[i].2 };
    Circuit::from_csr(rows.len(), num_inputs, num_aux, [csr(0), csr(1), csr(2)]).unwrap()
}

#[test]
fn rows_are_evaluated_and_ones_recognised() {
    let rows: Rows = vec![
        (vec![(0, 3), (1, 1), (1, -1)], vec![(2, -5)], vec![]),
        (vec![], vec![(0, 1)], vec![(1, 7), (2, 1), (2, 1)]),
    ];
    let circuit = build(1, 2, &rows);
    assert_eq!((circuit.num_terms(), circuit.num_vars()), (8, 3));
    assert_eq!(circuit.coefficients()[..2], [Fr::ONE, -Fr::ONE]);
    assert_eq!(circuit.coefficients().len(), 5);
    assert_eq!(circuit.a().coefficients()[1..], [PLUS_ONE, MINUS_ONE]);
    let values = circuit.evaluate(&[Fr::ONE, fr(10), fr(100)]).unwrap();
    assert_eq!(values.a, [fr(3), fr(0)]);
    assert_eq!(values.b, [fr(-500), fr(1)]);
    assert_eq!(values.c, [fr(0), fr(270)]);
    assert_eq!(values.first_unsatisfied(), Some(0));
}

#[test]
fn evaluation_in_a_pool_is_the_same() {
    use crate::prover::synthetic::{Shape, circuit};
    let (circuit, mut witness) = circuit(&Shape::new(5000, 3, 4)).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let alone = circuit.evaluate(&witness).unwrap();
    assert_eq!(alone.first_unsatisfied(), None);
    assert!(pool.install(|| circuit.evaluate(&witness)).unwrap() == alone);
    *witness.last_mut().unwrap() += fr(2);
    let wrong = circuit.evaluate(&witness).unwrap();
    assert_eq!(wrong.first_unsatisfied(), Some(4999));
    assert_eq!(pool.install(|| wrong.first_unsatisfied()), Some(4999));
}

#[test]
fn malformed_matrices_are_refused_with_their_place() {
    let one = Fr::ONE.to_le_bytes();
    let modulus = fr::scalar_to_le_bytes(&fr::MODULUS);
    let good = Csr { row_starts: &[0, 1, 3], columns: &[0, 1, 2], values: &[one; 3] };
    let with = |csr: Csr<'_>| Circuit::from_csr(2, 1, 2, [good, csr, good]);
    assert!(with(good).is_ok());
    let cases: [(Csr<'_>, Status, &str); 9] = [
        (Csr { row_starts: &[0, 3], ..good }, Status::Invalid, "got 2 row starts, wanted 3"),
        (Csr { row_starts: &[0, 1, 3, 3], ..good }, Status::Invalid, "got 4 row starts, wanted 3"),
        (Csr { row_starts: &[1, 1, 3], ..good }, Status::Format, "row 0 starts at term 1, not at 0"),
        (Csr { row_starts: &[0, 4, 3], ..good }, Status::Format, "row 1 starts at term 4 but ends at term 3"),
        (Csr { row_starts: &[0, 1, 2], ..good }, Status::Format, "the last row ends at term 2, got 3 terms"),
        (Csr { row_starts: &[0, 1, u64::MAX], ..good }, Status::Format, "the last row ends at term 1844"),
        (Csr { columns: &[0, 1, 3], ..good }, Status::Format, "row 1, term 1 (term 2 of the matrix): column 3"),
        (Csr { values: &[one, modulus, one], ..good }, Status::Format, "row 1, term 0 (term 1 of the matrix): value"),
        (Csr { values: &[one; 2], ..good }, Status::Invalid, "got 3 columns but 2 values"),
    ];
    for (csr, status, text) in cases {
        let error = with(csr).unwrap_err();
        let place = error.message().strip_prefix("circuit: matrix B: ");
        assert!(error.status() == status && place.is_some_and(|m| m.starts_with(text)), "{error}");
    }
    assert!(Circuit::from_csr(0, 0, 2, [Csr::default(); 3]).is_err());
    assert!(Circuit::from_csr(usize::MAX, 1, 2, [Csr::default(); 3]).is_err());
    assert!(Circuit::from_csr(1, usize::MAX, usize::MAX, [Csr::default(); 3]).is_err());
    assert!(Circuit::from_csr(1, 1, u32::MAX as usize, [Csr::default(); 3]).is_err());
}
