use super::{damage, outside_subgroup, refuse};
use crate::error::Status;
use crate::formats::gnark::{pk, vk};
use crate::formats::points::{PointChecks, PointForm, ReadOptions};
use crate::formats::source::Source;
use crate::formats::vk::VerifyingKey;
use crate::math::curve::Affine;
use crate::math::field::Field;
use crate::math::fr::Fr;
use crate::prover::circuit::{Circuit, Csr};
use crate::prover::key::ProvingKey;
use crate::prover::setup::{Trapdoor, setup_gnark};
use crate::prover::synthetic::{Shape, circuit};

const FORMS: [PointForm; 2] = [PointForm::Compressed, PointForm::Uncompressed];

fn written(params: &pk::Params, form: PointForm) -> Vec<u8> {
    let mut bytes = Vec::new();
    pk::write(params, form, &mut bytes).unwrap();
    bytes
}

fn written_vk(key: &VerifyingKey, form: PointForm) -> Vec<u8> {
    let mut bytes = Vec::new();
    vk::write(key, form, &mut bytes).unwrap();
    bytes
}

fn example(rows: usize) -> (pk::Params, VerifyingKey) {
    let (circuit, _) = circuit(&Shape::new(rows, 3, 8)).unwrap();
    setup_gnark(&circuit, &Trapdoor::from_seed(4)).unwrap()
}

fn checked(source: &Source<'_>) -> crate::error::Result<pk::Params> {
    pk::read(source, &ReadOptions::default(), false).map(|(params, _)| params)
}

/// Two inputs and four aux variables; input 1 and aux 3 are in no row, aux 0 only in A, aux 1 only in B, aux 2 only in C.
fn sparse() -> Circuit {
    let columns = [[2, 0], [3, 0], [4, 0]];
    let ones = [Fr::ONE.to_le_bytes(); 2];
    let matrix = |i: usize| Csr { row_starts: &[0, 1, 2], columns: &columns[i], values: &ones };
    Circuit::from_csr(2, 2, 4, [matrix(0), matrix(1), matrix(2)]).unwrap()
}

#[test]
fn keys_round_trip_in_both_forms() {
    for rows in [1, 2, 13, 200] {
        let (params, key) = example(rows);
        for form in FORMS {
            let bytes = written(&params, form);
            let source = Source::Bytes(&bytes);
            assert!(pk::is_one(&source));
            let layout = pk::layout(&source).unwrap();
            assert_eq!((layout.form, layout.num_public(), layout.num_commitments), (form, 3, 0));
            for checks in [PointChecks::Subgroup, PointChecks::OnCurve, PointChecks::Nothing] {
                let options = ReadOptions { checks, ..ReadOptions::default() };
                assert!(pk::read(&source, &options, false).unwrap().0 == params);
            }
            let (_, digest) = pk::read(&source, &ReadOptions::default(), true).unwrap();
            assert_eq!(digest, Some(*blake2b_simd::blake2b(&bytes).as_array()));
            let bytes = written_vk(&key, form);
            assert!(vk::is_one(&Source::Bytes(&bytes)) && vk::read(&Source::Bytes(&bytes)).unwrap() == key);
        }
        // bellman's encoding ends with the points.
        let bytes = key.to_bytes();
        assert!(!vk::is_one(&Source::Bytes(&bytes)) && vk::read(&Source::Bytes(&bytes)).unwrap() == key);
    }
}

#[test]
fn variables_of_one_matrix_or_none_are_told() {
    let (params, key) = setup_gnark(&sparse(), &Trapdoor::from_seed(5)).unwrap();
    assert_eq!((params.a_wires[0], params.b_wires[0]), (0b000101, 0b001001));
    assert!(params.l[3].is_infinity() && key.ic[1].is_infinity());
    for form in FORMS {
        let (params, key) = (written(&params, form), written_vk(&key, form));
        let params = checked(&Source::Bytes(&params)).unwrap();
        let key = ProvingKey::from_gnark(params, Some(vk::read(&Source::Bytes(&key)).unwrap())).unwrap();
        assert!(key.has_unconstrained_inputs());
        assert_eq!((key.a.density.count(), key.b1.density.count(), key.num_inputs, key.num_aux), (2, 2, 2, 4));
    }
}

#[test]
fn truncated_and_damaged_keys_are_refused() {
    let (params, key) = example(3);
    for form in FORMS {
        let bytes = written(&params, form);
        let layout = pk::layout(&Source::Bytes(&bytes)).unwrap();
        let mut edges: Vec<usize> =
            layout.sections.iter().flat_map(|s| [s.offset as usize - 4, s.offset as usize, s.end() as usize]).collect();
        edges.extend([0, 8, 40, 72, 168, 169, bytes.len() - 4, bytes.len()]);
        damage(checked, &bytes, &edges);
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(refuse(checked, &longer).message().contains("1 bytes follow the end of the key"));
        let bytes = written_vk(&key, form);
        damage(vk::read, &bytes[..bytes.len() - 8], &[0, 48, 96, 192, 384, 576, 672, 864, bytes.len() - 8]);
        (1..8).for_each(|cut| drop(refuse(vk::read, &bytes[..bytes.len() - cut])));
        let cut = vk::read(&Source::Bytes(&bytes[..bytes.len() - 8]));
        assert_eq!(cut.is_ok(), form == PointForm::Uncompressed, "that is bellman's encoding, which is not compressed");
        let mut bytes = bytes;
        *bytes.last_mut().unwrap() = 1;
        assert_eq!(refuse(vk::read, &bytes).status(), Status::Format);
        bytes.extend([0; 100]);
        assert_eq!(refuse(vk::read, &bytes).status(), Status::Unsupported);
    }
}

#[test]
fn counts_that_disagree_are_named() {
    let (params, _) = example(5);
    let bytes = written(&params, PointForm::Uncompressed);
    let layout = pk::layout(&Source::Bytes(&bytes)).unwrap();
    let wires_at = layout.sections[4].end() as usize;
    let cases: [(usize, &[u8], &str); 13] = [
        (0, &[0xff; 8], "domain: 18446744073709551615 elements, wanted a power of two"),
        (0, &3u64.to_be_bytes(), "domain: 3 elements"),
        (0, &(1u64 << 40).to_be_bytes(), "domain: 1099511627776 elements"),
        (8, &[0xff; 32], "domain (offset 8): not the inverse of"),
        (40, &[0; 32], "domain (offset 40): the root is not 7^"),
        (72, &[0; 32], "domain (offset 72): not the inverse"),
        (104, &[0; 32], "domain (offset 104): the coset's generator"),
        (136, &[0; 32], "domain (offset 136): not the inverse"),
        (168, &[2], "domain (offset 168): the mark is 2"),
        (wires_at, &[0; 8], "0 wires, wanted 1 to"),
        (wires_at, &[0xff; 8], "18446744073709551615 wires"),
        (wires_at + 8, &[0xff; 8], "section a has"),
        (wires_at + 24, &[2], "mark of wire 0 in a is 2, wanted 0 or 1"),
    ];
    for (place, value, text) in cases {
        let mut bytes = bytes.clone();
        bytes[place..place + value.len()].copy_from_slice(value);
        let error = refuse(checked, &bytes);
        assert!(error.status() == Status::Format && error.message().contains(text), "{text}: {error}");
    }
    for section in layout.sections {
        for count in [u32::MAX, 0x7fff_ffff, section.count as u32 + 1] {
            let mut bytes = bytes.clone();
            let place = section.offset as usize - 4;
            bytes[place..place + 4].copy_from_slice(&count.to_be_bytes());
            assert_eq!(refuse(checked, &bytes).status(), Status::Format, "{} {count}", section.name);
        }
    }
    // A wire that is marked otherwise than the points tell.
    let mut other = bytes.clone();
    other[wires_at + 24] ^= 1;
    assert!(refuse(checked, &other).message().contains("wires are marked so"));
    // Commitments, and a memory dump.
    let mut other = bytes.clone();
    *other.last_mut().unwrap() = 1;
    assert_eq!(refuse(checked, &other).status(), Status::Unsupported);
    let mut other = bytes.clone();
    other[..8].copy_from_slice(&0xdead_beef_u64.to_le_bytes());
    let error = refuse(checked, &other);
    assert!(error.status() == Status::Unsupported && error.message().contains("WriteDump"), "{error}");
}

#[test]
fn infinity_and_points_outside_the_subgroup_are_found() {
    let (params, key) = example(3);
    type Change = fn(&mut pk::Params);
    let changes: [(&str, Change); 9] = [
        ("alpha (offset 169): the point is at infinity", |p| p.alpha1 = Affine::INFINITY),
        ("delta in G2 (offset", |p| p.delta2 = Affine::INFINITY),
        ("section z, point 0 (offset", |p| p.h[0] = Affine::INFINITY),
        ("beta (offset", |p| p.beta1 = outside_subgroup()),
        ("section a, point 1", |p| p.a[1] = outside_subgroup()),
        ("section b, point 0", |p| p.b_g1[0] = outside_subgroup()),
        // In a domain of four, 2 is 1 with its bits reversed.
        ("section z, point 2", |p| p.h[1] = outside_subgroup()),
        ("section k, point 0", |p| p.l[0] = outside_subgroup()),
        ("section b_g2, point 2", |p| p.b_g2[2] = outside_subgroup()),
    ];
    for (text, change) in changes {
        let mut params = params.clone();
        change(&mut params);
        for form in FORMS {
            let error = refuse(checked, &written(&params, form));
            assert!(error.message().contains(text), "{text}: {error}");
        }
    }
    let mut key = key;
    key.gamma2 = Affine::INFINITY;
    assert!(refuse(vk::read, &written_vk(&key, PointForm::Compressed)).message().contains("gamma in G2 (offset 192)"));
}

#[test]
fn a_verifying_key_of_another_key_is_refused() {
    let (params, key) = example(3);
    let mut wrong = key.clone();
    wrong.delta2 = key.gamma2;
    let mut longer = key.clone();
    longer.ic.push(key.ic[0]);
    for (vk, text) in [(wrong, "its delta in G2 is another"), (longer, "it has 4 inputs")] {
        let error = ProvingKey::from_gnark(params.clone(), Some(vk)).unwrap_err();
        assert!(error.status() == Status::Invalid && error.message().contains(text), "{error}");
    }
}
