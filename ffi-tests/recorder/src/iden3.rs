//! The binary formats of iden3 (circom, snarkjs): `.r1cs` version 1 and `.wtns` version 2, over the scalar field of
//! BLS12-381. All integers are little-endian, field elements 32 bytes, canonical.
//!
//! Sources: github.com/iden3/r1csfile, doc/r1cs_bin_format.md, and github.com/iden3/snarkjs, src/wtns_utils.js.

use std::io::{self, Write};

use anyhow::{Context, ensure};
use bls12_381::Scalar;
use ff::{Field, PrimeField};

use crate::r1cs::{Matrix, R1cs, Witness};

const FIELD_SIZE: u32 = 32;

/// The modulus r, 32 bytes little-endian.
fn prime() -> [u8; 32] {
    let mut bytes = (-Scalar::ONE).to_repr();
    bytes[0] += 1; // r - 1 is even
    bytes
}

fn section(out: &mut impl Write, kind: u32, size: u64) -> io::Result<()> {
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&size.to_le_bytes())
}

/// Writes `r1cs` with the wires one, public inputs, private. All public wires are declared as public inputs (none as
/// outputs) and all auxiliary ones as private inputs; labels are the wires' own numbers.
pub fn write_r1cs(r1cs: &R1cs, out: &mut impl Write) -> io::Result<()> {
    let matrices = [&r1cs.a, &r1cs.b, &r1cs.c];
    let wires = (r1cs.num_inputs + r1cs.num_aux) as u64;
    out.write_all(b"r1cs")?;
    out.write_all(&1u32.to_le_bytes())?;
    out.write_all(&3u32.to_le_bytes())?;

    section(out, 1, 4 + 32 + 4 * 4 + 8 + 4)?;
    out.write_all(&FIELD_SIZE.to_le_bytes())?;
    out.write_all(&prime())?;
    let public_outputs = 0u32;
    for count in [wires as u32, public_outputs, r1cs.num_inputs as u32 - 1, r1cs.num_aux as u32] {
        out.write_all(&count.to_le_bytes())?;
    }
    out.write_all(&wires.to_le_bytes())?;
    out.write_all(&(r1cs.num_rows() as u32).to_le_bytes())?;

    let terms: usize = matrices.iter().map(|matrix| matrix.columns.len()).sum();
    section(out, 2, 3 * 4 * r1cs.num_rows() as u64 + 36 * terms as u64)?;
    for row in 0..r1cs.num_rows() {
        for matrix in matrices {
            write_combination(matrix, row, out)?;
        }
    }

    section(out, 3, 8 * wires)?;
    for label in 0..wires {
        out.write_all(&label.to_le_bytes())?;
    }
    Ok(())
}

fn write_combination(matrix: &Matrix, row: usize, out: &mut impl Write) -> io::Result<()> {
    let terms = matrix.row(row);
    out.write_all(&(terms.len() as u32).to_le_bytes())?;
    for (column, value) in terms {
        out.write_all(&column.to_le_bytes())?;
        out.write_all(&value.to_repr())?;
    }
    Ok(())
}

/// Writes `witness`: one, the public inputs, the auxiliary values.
pub fn write_wtns(witness: &Witness, out: &mut impl Write) -> io::Result<()> {
    let count = (witness.inputs.len() + witness.aux.len()) as u32;
    out.write_all(b"wtns")?;
    out.write_all(&2u32.to_le_bytes())?;
    out.write_all(&2u32.to_le_bytes())?;

    section(out, 1, 4 + 32 + 4)?;
    out.write_all(&FIELD_SIZE.to_le_bytes())?;
    out.write_all(&prime())?;
    out.write_all(&count.to_le_bytes())?;

    section(out, 2, 32 * u64::from(count))?;
    for value in witness.iter() {
        out.write_all(&value.to_repr())?;
    }
    Ok(())
}

/// Where the values begin in a file that [`write_wtns`] wrote.
const WTNS_VALUES: usize = 12 + 12 + 40 + 12;

/// The values in a `.wtns` file that [`write_wtns`] wrote (sections in that order); not a reader of any such file.
pub fn read_wtns(bytes: &[u8]) -> anyhow::Result<Vec<Scalar>> {
    ensure!(bytes.len() >= WTNS_VALUES && bytes.starts_with(b"wtns"), "not a .wtns file");
    ensure!(bytes[28..60] == prime(), "the prime is not that of BLS12-381");
    let values = &bytes[WTNS_VALUES..];
    let count = u32::from_le_bytes([bytes[60], bytes[61], bytes[62], bytes[63]]) as usize;
    ensure!(values.len() == 32 * count, "the header says {count} values, the file has {} bytes of them", values.len());
    let scalar = |(index, bytes): (usize, &[u8])| {
        let repr: [u8; 32] = bytes.try_into()?;
        Option::from(Scalar::from_repr(repr)).with_context(|| format!("value {index} is not below r"))
    };
    values.chunks_exact(32).enumerate().map(scalar).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn the_prime_is_r() {
        let mut big_endian = prime();
        big_endian.reverse();
        assert_eq!(hex::encode(big_endian), "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001");
    }

    #[test]
    fn a_witness_comes_back() {
        let witness = Witness { inputs: vec![Scalar::ONE, Scalar::from(7)], aux: vec![-Scalar::ONE, Scalar::ZERO] };
        let mut bytes = Vec::new();
        write_wtns(&witness, &mut bytes).unwrap();
        assert_eq!(read_wtns(&bytes).unwrap(), witness.iter().copied().collect::<Vec<_>>());
        for len in 0..bytes.len() {
            assert!(read_wtns(&bytes[..len]).is_err());
        }
        bytes[WTNS_VALUES..WTNS_VALUES + 32].copy_from_slice(&prime());
        assert!(read_wtns(&bytes).unwrap_err().to_string().contains("value 0"));
    }

    #[test]
    fn a_matrix_is_written_byte_by_byte() {
        let one = Matrix { row_starts: vec![0, 1], columns: vec![1], values: vec![Scalar::from(3)] };
        let r1cs = R1cs {
            a: one.clone(),
            b: Matrix { row_starts: vec![0, 0], ..Matrix::default() },
            c: one,
            num_inputs: 2,
            num_aux: 1,
        };
        let mut bytes = Vec::new();
        write_r1cs(&r1cs, &mut bytes).unwrap();
        let mut term = vec![1, 0, 0, 0, 3];
        term.resize(36, 0);
        let constraint = [&[1, 0, 0, 0][..], &term, &[0; 4], &[1, 0, 0, 0], &term].concat();
        let labels = [0u64, 1, 2].map(u64::to_le_bytes).concat();
        let expected = [
            &b"r1cs\x01\0\0\0\x03\0\0\0\x01\0\0\0\x40\0\0\0\0\0\0\0\x20\0\0\0"[..],
            &prime(),
            b"\x03\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x03\0\0\0\0\0\0\0\x01\0\0\0",
            b"\x02\0\0\0\x54\0\0\0\0\0\0\0",
            &constraint,
            b"\x03\0\0\0\x18\0\0\0\0\0\0\0",
            &labels,
        ]
        .concat();
        assert_eq!(bytes, expected);
    }
}
