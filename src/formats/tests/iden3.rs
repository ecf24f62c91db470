use super::{damage, refuse};
use crate::error::Status;
use crate::formats::source::Source;
use crate::formats::{r1cs, wtns};
use crate::math::field::Field;
use crate::math::fr::{self, Fr};
use crate::prover::circuit::Circuit;
use crate::prover::synthetic::{Shape, r1cs as synthetic};

/// Type, size and offset of the content of each section.
fn layout(bytes: &[u8]) -> Vec<(u32, usize, usize)> {
    let (mut out, mut at) = (Vec::new(), 12);
    while at < bytes.len() {
        let kind = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let size = u64::from_le_bytes(bytes[at + 4..at + 12].try_into().unwrap()) as usize;
        out.push((kind, size, at + 12));
        at += 12 + size;
    }
    out
}

/// The file with its sections in another order and with others around them.
fn reordered(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes[..8].to_vec();
    out.extend(5u32.to_le_bytes());
    let section =
        |kind: u32, content: &[u8]| [&kind.to_le_bytes()[..], &(content.len() as u64).to_le_bytes(), content].concat();
    out.extend(section(3, b"wires and labels"));
    for (kind, size, offset) in layout(bytes).into_iter().rev() {
        out.extend(section(kind, &bytes[offset..offset + size]));
    }
    out.extend(section(0, b""));
    out.extend(section(u32::MAX, b"unknown"));
    out
}

fn edges(bytes: &[u8]) -> Vec<usize> {
    let ends = layout(bytes).into_iter().flat_map(|(_, size, offset)| [offset - 12, offset - 8, offset, offset + size]);
    [0, 4, 8, 12].into_iter().chain(ends).collect()
}

fn patched(bytes: &[u8], place: usize, with: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    out[place..place + with.len()].copy_from_slice(with);
    out
}

#[test]
fn r1cs_round_trips_in_any_order() {
    for (rows, inputs) in [(0, 1), (1, 1), (2, 4), (300, 3)] {
        let (file, witness) = synthetic(&Shape::new(rows, inputs, 5)).unwrap();
        let bytes = r1cs::to_bytes(&file);
        assert_eq!(r1cs::read(&Source::Bytes(&bytes)).unwrap(), file);
        let read = r1cs::read(&Source::Bytes(&reordered(&bytes))).unwrap();
        assert_eq!(read, file);
        let circuit = Circuit::from_r1cs(&read).unwrap();
        assert_eq!((circuit.num_rows(), circuit.num_inputs(), circuit.num_aux()), (rows, inputs, rows));
        assert_eq!(circuit.evaluate(&witness).unwrap().first_unsatisfied(), None);
    }
}

#[test]
fn public_outputs_and_inputs_are_the_inputs() {
    let (mut file, _) = synthetic(&Shape::new(6, 5, 5)).unwrap();
    (file.num_public_outputs, file.num_public_inputs, file.num_private_inputs) = (3, 1, 2);
    let read = r1cs::read(&Source::Bytes(&r1cs::to_bytes(&file))).unwrap();
    assert_eq!(read, file);
    let circuit = Circuit::from_r1cs(&read).unwrap();
    assert_eq!((circuit.num_inputs(), circuit.num_aux()), (5, 6));
}

#[test]
fn hostile_r1cs_is_refused() {
    let (file, _) = synthetic(&Shape::new(4, 2, 5)).unwrap();
    let bytes = r1cs::to_bytes(&file);
    damage(r1cs::read, &bytes, &edges(&bytes));
    let (header, constraints) = (layout(&bytes)[0].2, layout(&bytes)[1].2);
    let modulus = fr::scalar_to_le_bytes(&fr::MODULUS);
    let max = u32::MAX.to_le_bytes();
    let cases: Vec<(Vec<u8>, Status, &str)> = vec![
        (patched(&bytes, 0, b"zkey"), Status::Format, "r1cs: offset 0: the file does not start with \"r1cs\""),
        (patched(&bytes, 4, &[2]), Status::Unsupported, "r1cs: offset 4: version 2, only version 1"),
        (patched(&bytes, 8, &max), Status::Format, "r1cs: section 2 of 4294967295: 4 bytes wanted at offset"),
        (patched(&bytes, 8, &[1]), Status::Format, "r1cs: no section of type 2"),
        (patched(&bytes, 12, &[2]), Status::Format, "r1cs: section 1 of 2: a second section of type 2"),
        (patched(&bytes, 16, &[255; 8]), Status::Format, "r1cs: section 0 of 2 (type 1, offset 12): 1844"),
        (patched(&bytes, header, &[8]), Status::Unsupported, "r1cs: header section: field elements of 8 bytes"),
        (patched(&bytes, header + 4, &[2]), Status::Unsupported, "r1cs: header section: the prime is not"),
        (patched(&bytes, header + 36, &[1, 0, 0, 0]), Status::Format, "r1cs: header section: 1 wires, but"),
        (patched(&bytes, header + 40, &max), Status::Format, "r1cs: header section: 6 wires, but"),
        (patched(&bytes, header + 44, &max), Status::Format, "r1cs: header section: 6 wires, but"),
        (patched(&bytes, header + 60, &max), Status::Format, "r1cs: constraints section: 4294967295 constraints"),
        (patched(&bytes, header + 60, &[3]), Status::Format, "r1cs: constraints section: offset "),
        (patched(&bytes, constraints, &max), Status::Format, "r1cs: constraints section: constraint 0, matrix A: 4"),
        (
            patched(&bytes, constraints + 4, &[6]),
            Status::Format,
            "r1cs: constraints section: constraint 0, matrix A: term 0 (offset 104): wire 6, there are 6",
        ),
        (
            patched(&bytes, constraints + 8, &modulus),
            Status::Format,
            "r1cs: constraints section: constraint 0, matrix A: term 0 (offset 104): coefficient is not below r",
        ),
    ];
    for (bytes, status, text) in cases {
        let error = refuse(r1cs::read, &bytes);
        assert!(error.status() == status && error.message().starts_with(text), "{text}\n{error}");
    }
}

#[test]
fn witnesses_round_trip_in_any_order() {
    let (_, witness) = synthetic(&Shape::new(300, 3, 5)).unwrap();
    for witness in [&witness[..], &[Fr::ONE], &[Fr::ONE, -Fr::ONE]] {
        let bytes = wtns::to_bytes(witness).unwrap();
        assert_eq!(**wtns::read(&Source::Bytes(&bytes)).unwrap(), *witness);
        assert_eq!(**wtns::read(&Source::Bytes(&reordered(&bytes))).unwrap(), *witness);
    }
}

#[test]
fn hostile_witnesses_are_refused() {
    let witness = [Fr::ONE, Fr::from(5), -Fr::ONE];
    let bytes = wtns::to_bytes(&witness).unwrap();
    damage(wtns::read, &bytes, &edges(&bytes));
    let (header, values) = (layout(&bytes)[0].2, layout(&bytes)[1].2);
    let five_plus_r = {
        let mut limbs = fr::MODULUS;
        limbs[0] += 5;
        fr::scalar_to_le_bytes(&limbs)
    };
    let cases: Vec<(Vec<u8>, Status, &str)> = vec![
        (patched(&bytes, 4, &[1]), Status::Unsupported, "wtns: offset 4: version 1, only version 2"),
        (
            patched(&bytes, header + 36, &[4]),
            Status::Format,
            "wtns: values section: 4 values need 128 bytes, it has 96",
        ),
        (patched(&bytes, header + 36, &[2]), Status::Format, "wtns: values section: 2 values need 64 bytes, it has 96"),
        (patched(&bytes, header + 36, &[255; 4]), Status::Format, "wtns: values section: 4294967295 values"),
        (patched(&bytes, values, &[2]), Status::Format, "wtns: value 0 is not one"),
        (patched(&bytes, values + 32, &five_plus_r), Status::Format, "wtns: value 1 (offset 108) is not below r"),
        (patched(&bytes, values + 64, &[255; 32]), Status::Format, "wtns: value 2 (offset 140) is not below r"),
    ];
    for (bytes, status, text) in cases {
        let error = refuse(wtns::read, &bytes);
        assert!(error.status() == status && error.message().starts_with(text), "{text}\n{error}");
    }
    let empty = wtns::to_bytes(&[]).unwrap();
    assert_eq!(refuse(wtns::read, &empty).message(), "wtns: value 0 is not one");
}
