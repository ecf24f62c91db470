//! iden3's `.r1cs`, version 1 (<https://github.com/iden3/r1csfile/blob/master/doc/r1cs_bin_format.md>): section 1 the
//! numbers, section 2 the constraints; the map from wires to labels and all else is skipped. Wires are the constant
//! one, the public outputs, the public inputs, then the private wires: this library's inputs and auxiliary variables.

use super::iden3;
use super::source::{Reader, Source};
use crate::error::{Error, Result, reserve};
use crate::math::fr;

const MAGIC: &[u8; 4] = b"r1cs";
const VERSION: u32 = 1;
/// Bytes of a term: wire and coefficient.
const TERM_BYTES: u64 = 4 + iden3::ELEMENT_BYTES as u64;

/// A sparse matrix in compressed rows, as the file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Where each row's terms start, then the number of terms.
    pub row_starts: Vec<u64>,
    /// The wire of each term.
    pub columns: Vec<u32>,
    /// The coefficient of each term: 32 bytes, little-endian, below r.
    pub values: Vec<[u8; 32]>,
}

/// A constraint system as the file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct R1cs {
    /// All wires, the constant one included.
    pub num_wires: u32,
    /// Public outputs, which follow the constant one.
    pub num_public_outputs: u32,
    /// Public inputs, which follow the public outputs.
    pub num_public_inputs: u32,
    /// Private inputs, which follow the public inputs; the rest is intermediate.
    pub num_private_inputs: u32,
    /// Labels of the compiler, of no use here.
    pub num_labels: u64,
    /// Rows of each matrix.
    pub num_constraints: u32,
    /// Left factors.
    pub a: Rows,
    /// Right factors.
    pub b: Rows,
    /// Products.
    pub c: Rows,
}

/// Reads a file. `Unsupported` for another version or prime, `Format` with section, constraint and offset for
/// malformed bytes.
pub fn read(source: &Source<'_>) -> Result<R1cs> {
    read_all(source).map_err(|e| e.at("r1cs"))
}

fn read_all(source: &Source<'_>) -> Result<R1cs> {
    let [mut header, mut constraints] = iden3::sections(source, MAGIC, VERSION)?;
    let mut r1cs = read_header(&mut header).map_err(|e| e.at("header section"))?;
    let rows = r1cs.num_constraints;
    if u64::from(rows) * 12 > constraints.remaining() {
        return Err(Error::format(format!(
            "constraints section: {rows} constraints need at least {} bytes, it has {}",
            u64::from(rows) * 12,
            constraints.remaining()
        )));
    }
    for matrix in [&mut r1cs.a, &mut r1cs.b, &mut r1cs.c] {
        reserve(&mut matrix.row_starts, rows as usize + 1, "the rows")?;
        matrix.row_starts.push(0);
    }
    for row in 0..rows {
        for (name, matrix) in [("A", &mut r1cs.a), ("B", &mut r1cs.b), ("C", &mut r1cs.c)] {
            read_row(&mut constraints, matrix, r1cs.num_wires)
                .map_err(|e| e.at(format!("constraints section: constraint {row}, matrix {name}")))?;
        }
    }
    iden3::check_end(&constraints).map_err(|e| e.at("constraints section"))?;
    Ok(r1cs)
}

fn read_header(header: &mut Reader<'_>) -> Result<R1cs> {
    iden3::check_prime(header)?;
    let r1cs = R1cs {
        num_wires: header.u32()?,
        num_public_outputs: header.u32()?,
        num_public_inputs: header.u32()?,
        num_private_inputs: header.u32()?,
        num_labels: header.u64()?,
        num_constraints: header.u32()?,
        ..R1cs::default()
    };
    iden3::check_end(header)?;
    let named =
        1 + u64::from(r1cs.num_public_outputs) + u64::from(r1cs.num_public_inputs) + u64::from(r1cs.num_private_inputs);
    if named > u64::from(r1cs.num_wires) {
        return Err(Error::format(format!(
            "{} wires, but the constant one, outputs and inputs are {named}",
            r1cs.num_wires
        )));
    }
    Ok(r1cs)
}

fn read_row(reader: &mut Reader<'_>, matrix: &mut Rows, num_wires: u32) -> Result<()> {
    let offset = reader.position();
    let terms = reader.u32()?;
    if u64::from(terms) * TERM_BYTES > reader.remaining() {
        return Err(Error::format(format!(
            "{terms} terms (offset {offset}) need {} bytes, only {} are left",
            u64::from(terms) * TERM_BYTES,
            reader.remaining()
        )));
    }
    // Doubling, as `push` does, but with an error in place of an abort.
    let grown = (matrix.columns.len() + terms as usize).next_power_of_two();
    if matrix.columns.capacity() < matrix.columns.len() + terms as usize {
        let more = grown - matrix.columns.len();
        reserve(&mut matrix.columns, more, "the terms")?;
        reserve(&mut matrix.values, more, "the terms")?;
    }
    for term in 0..terms {
        let offset = reader.position();
        let wire = reader.u32()?;
        let value = reader.bytes::<32>()?;
        let at = |text: String| Error::format(format!("term {term} (offset {offset}): {text}"));
        if wire >= num_wires {
            return Err(at(format!("wire {wire}, there are {num_wires}")));
        }
        if !fr::is_canonical(&fr::scalar_from_le_bytes(&value)) {
            return Err(at("coefficient is not below r".into()));
        }
        matrix.columns.push(wire);
        matrix.values.push(value);
    }
    matrix.row_starts.push(matrix.columns.len() as u64);
    Ok(())
}

/// The file's bytes, without a map of wires to labels. The matrices must have `num_constraints` consistent rows.
pub fn to_bytes(r1cs: &R1cs) -> Vec<u8> {
    let mut header = iden3::ELEMENT_BYTES.to_le_bytes().to_vec();
    header.extend(fr::scalar_to_le_bytes(&fr::MODULUS));
    let numbers = [r1cs.num_wires, r1cs.num_public_outputs, r1cs.num_public_inputs, r1cs.num_private_inputs];
    numbers.iter().for_each(|number| header.extend(number.to_le_bytes()));
    header.extend(r1cs.num_labels.to_le_bytes());
    header.extend(r1cs.num_constraints.to_le_bytes());
    let mut constraints = Vec::new();
    for row in 0..r1cs.num_constraints as usize {
        for matrix in [&r1cs.a, &r1cs.b, &r1cs.c] {
            let terms = matrix.row_starts[row] as usize..matrix.row_starts[row + 1] as usize;
            constraints.extend((terms.len() as u32).to_le_bytes());
            for term in terms {
                constraints.extend(matrix.columns[term].to_le_bytes());
                constraints.extend(matrix.values[term]);
            }
        }
    }
    iden3::assemble(MAGIC, VERSION, &[(1, &header), (2, &constraints)])
}
