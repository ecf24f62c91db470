//! What each fuzz target does with its bytes. Whatever they are, a parser answers with a value or an error; what it
//! takes it gives back unchanged, and what is built of it does not panic either.

use groth16::formats::bellman_params::{self, PointChecks, ReadOptions};
use groth16::formats::gnark;
use groth16::formats::points::PointForm;
use groth16::formats::proof::Proof;
use groth16::formats::r1cs::{self, R1cs};
use groth16::formats::source::Source;
use groth16::formats::vk::VerifyingKey;
use groth16::formats::wtns;
use groth16::math::field::Field;
use groth16::math::fr::Fr;
use groth16::prover::circuit::{Circuit, Csr};
use groth16::prover::key::{Densities, ProvingKey};

/// A target.
pub type Target = fn(&[u8]);

/// All of them, by name.
pub const TARGETS: [(&str, Target); 8] = [
    ("bellman_params", bellman_params),
    ("gnark_pk", gnark_pk),
    ("gnark_vk", gnark_vk),
    ("r1cs", r1cs),
    ("wtns", wtns),
    ("proof", proof),
    ("vk", vk),
    ("csr", csr),
];

/// A key file; the checks are chosen by its length.
pub fn bellman_params(data: &[u8]) {
    let checks = [PointChecks::Nothing, PointChecks::OnCurve, PointChecks::Subgroup][data.len() % 3];
    let source = Source::Bytes(data);
    let sections = bellman_params::sections(&source);
    let options = ReadOptions { checks, ..ReadOptions::default() };
    let Ok(params) = bellman_params::read(&source, &options) else { return };
    assert!(sections.is_ok(), "read, but its sections were refused");
    let mut bytes = Vec::new();
    bellman_params::write(&params, &mut bytes).expect("what was read can be written");
    assert_eq!(Some(bytes.as_slice()), data.get(..bytes.len()), "written otherwise than it was read");
    if let Ok(key) = ProvingKey::from_bellman(params, Densities::default()) {
        assert!(key.domain_size() > key.h.len());
    }
}

/// A proving key of gnark; the checks are chosen by its length.
pub fn gnark_pk(data: &[u8]) {
    let checks = [PointChecks::Nothing, PointChecks::OnCurve, PointChecks::Subgroup][data.len() % 3];
    let source = Source::Bytes(data);
    let layout = gnark::pk::layout(&source);
    let options = ReadOptions { checks, ..ReadOptions::default() };
    let Ok((params, _)) = gnark::pk::read(&source, &options, false) else { return };
    let layout = layout.expect("read, but its layout was refused");
    let mut bytes = Vec::new();
    gnark::pk::write(&params, layout.form, &mut bytes).expect("what was read can be written");
    // Of the domain's numbers those that follow from its size are not compared with it.
    assert_eq!(bytes[169..], data[169..], "written otherwise than it was read");
    let key = ProvingKey::from_gnark(params, None).expect("counts were checked");
    assert_eq!(key.num_inputs as u64, layout.num_public());
    assert_eq!(key.host_bytes() as u64, layout.point_bytes());
}

/// A verifying key of gnark.
pub fn gnark_vk(data: &[u8]) {
    let source = Source::Bytes(data);
    let Ok(key) = gnark::vk::read(&source) else { return };
    let form = if data[0] & 0x80 == 0 { PointForm::Uncompressed } else { PointForm::Compressed };
    let mut bytes = Vec::new();
    gnark::vk::write(&key, form, &mut bytes).expect("what was read can be written");
    assert!(bytes.starts_with(data), "written otherwise than it was read");
}

/// A circuit's file.
pub fn r1cs(data: &[u8]) {
    let Ok(file) = r1cs::read(&Source::Bytes(data)) else { return };
    let bytes = r1cs::to_bytes(&file);
    assert!(r1cs::read(&Source::Bytes(&bytes)).expect("what was written can be read") == file);
    let variables = file.num_wires as usize;
    if let Ok(circuit) = Circuit::from_r1cs(&file) {
        use_circuit(&circuit);
        assert_eq!(circuit.num_vars(), variables);
    }
}

/// Evaluates and measures a circuit, if it is small.
fn use_circuit(circuit: &Circuit) {
    if circuit.num_vars() > 1 << 16 {
        return;
    }
    let witness = vec![Fr::ONE; circuit.num_vars()];
    let evaluations = circuit.evaluate(&witness).expect("as many values as variables");
    assert_eq!(evaluations.a.len(), circuit.num_rows());
    let _ = evaluations.first_unsatisfied();
    let densities = circuit.densities();
    assert_eq!(densities.a_aux.map(|density| density.len()), Some(circuit.num_aux()));
}

/// A witness file.
pub fn wtns(data: &[u8]) {
    let Ok(witness) = wtns::read(&Source::Bytes(data)) else { return };
    let bytes = wtns::to_bytes(&witness).expect("no more values than were read");
    assert!(*wtns::read(&Source::Bytes(&bytes)).expect("what was written can be read") == *witness);
}

/// A proof in any of its forms.
pub fn proof(data: &[u8]) {
    if let Ok(proof) = Proof::from_bytes(data) {
        let same = if data.len() == 192 { proof.to_compressed().to_vec() } else { proof.to_uncompressed().to_vec() };
        assert_eq!(same, data, "a proof has one encoding of each form");
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(proof) = Proof::from_json(text) {
        assert_eq!(Proof::from_json(&proof.to_json()), Ok(proof));
    }
}

/// A verifying key.
pub fn vk(data: &[u8]) {
    if let Ok(key) = VerifyingKey::from_bytes(data) {
        assert_eq!(key.to_bytes(), data, "a key has one encoding");
    }
}

/// Matrices whose structure is arbitrary: numbers and terms are taken from the bytes as they come.
pub fn csr(data: &[u8]) {
    let mut bytes = data.iter().copied();
    let mut next = || bytes.next().unwrap_or(0);
    let (rows, inputs, aux) = (next() as usize % 8, next() as usize % 5, next() as usize % 9);
    // Mostly consistent, so that what lies behind the checks is reached, too.
    let mut matrices: [Matrix; 3] = Default::default();
    for matrix in &mut matrices {
        matrix.row_starts.push(u64::from(next() & 0xf7 == 0xf7));
        for _ in 0..rows {
            let terms = next();
            let start = matrix.columns.len() as u64;
            for _ in 0..terms % 5 {
                let column = next();
                matrix.columns.push(if column == 255 {
                    u32::MAX
                } else {
                    u32::from(column) % (inputs + aux + 1) as u32
                });
                let (kind, mut value) = (next(), [0; 32]);
                value[usize::from(kind) % 32] = next();
                matrix.values.push(if kind == 255 { [255; 32] } else { value });
            }
            let end = matrix.columns.len() as u64;
            matrix.row_starts.push(if terms > 250 { start.wrapping_sub(u64::from(terms)) } else { end });
        }
        if next() == 254 {
            matrix.values.pop();
        }
    }
    let [a, b, c] = &matrices;
    if let Ok(circuit) = Circuit::from_csr(rows, inputs, aux, [a.csr(), b.csr(), c.csr()]) {
        use_circuit(&circuit);
    }
    // The file's form of the same matrices is not checked: only that it is refused, not that it panics.
    let file = R1cs { num_wires: (inputs + aux) as u32, num_constraints: rows as u32, ..R1cs::default() };
    let _ = Circuit::from_r1cs(&file);
}

#[derive(Default)]
struct Matrix {
    row_starts: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<[u8; 32]>,
}

impl Matrix {
    fn csr(&self) -> Csr<'_> {
        Csr { row_starts: &self.row_starts, columns: &self.columns, values: &self.values }
    }
}
