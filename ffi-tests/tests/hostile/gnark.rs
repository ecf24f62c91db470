//! Keys of gnark, with and without the verifying keys that they lack.

use std::ffi::c_void;
use std::sync::Arc;

use ffi_tests::capi::api;
use ffi_tests::fixture::{Form, encode};
use ffi_tests::handles::{Engine, Key, Outcome, Request, c_path};
use ffi_tests::status;
use groth16::ffi::pk::groth16_pk_options;
use groth16::formats::gnark;
use groth16::formats::points::PointForm;
use groth16::formats::proof::Proof;
use groth16::formats::source::Source;
use groth16::math::fr::Fr;
use groth16::prover::key::InputRows;
use groth16::prover::setup::{Trapdoor, expected_proof_with, setup_gnark};
use groth16::prover::synthetic::Shape;

use super::{Setup, assert_fails, outcome};

const GNARK: i32 = 3;

/// A key in both forms, its verifying key in all of its three.
struct Files {
    keys: [Vec<u8>; 2],
    vks: [Vec<u8>; 3],
}

fn files(setup: &Setup) -> Files {
    let (pk, vk) = setup_gnark(&setup.fixture.model, &setup.fixture.trapdoor).unwrap();
    let forms = [PointForm::Compressed, PointForm::Uncompressed];
    let keys = forms.map(|form| {
        let mut bytes = Vec::new();
        gnark::pk::write(&pk, form, &mut bytes).unwrap();
        bytes
    });
    let [compressed, raw] = forms.map(|form| {
        let mut bytes = Vec::new();
        gnark::vk::write(&vk, form, &mut bytes).unwrap();
        bytes
    });
    Files { keys, vks: [compressed, raw, vk.to_bytes()] }
}

fn put(options: &mut groth16_pk_options, key: &[u8], vk: &[u8]) {
    (options.data, options.data_len) = (key.as_ptr().cast(), key.len());
    (options.vk_data, options.vk_data_len) = (vk.as_ptr().cast(), vk.len());
    if vk.is_empty() {
        options.vk_data = std::ptr::null();
    }
}

fn load(engine: &Engine, key: &[u8], vk: &[u8], format: i32) -> Outcome<Key> {
    engine.key(|options| {
        put(options, key, vk);
        options.format = format;
    })
}

fn expected(setup: &Setup) -> Proof {
    let fixture = &setup.fixture;
    let [r, s] = fixture.blinding;
    expected_proof_with(&fixture.model, InputRows::None, &fixture.trapdoor, &fixture.witness, r, s).unwrap()
}

/// A job with the rows' evaluations, of which gnark adds none.
fn rows(setup: &Setup, form: Form, with_c: bool) -> Request {
    let values = setup.fixture.model.evaluate(&setup.fixture.witness).unwrap();
    let c: &[Fr] = if with_c { &values.c } else { &[] };
    Request { rows: [&values.a, &values.b, c].map(|rows| encode(rows, form)), ..setup.fixture.request(form) }
}

#[test]
fn proofs_of_all_forms_and_inputs_are_the_expected_ones() {
    for shape in [Shape::new(1, 1, 3), Shape::new(30, 4, 2), Shape::new(64, 1, 5), Shape::new(5, 70, 6)] {
        let setup = Setup::new(&shape);
        let Files { keys, vks } = files(&setup);
        let proof = expected(&setup).to_compressed();
        for (key, vk, format) in [(0, 1, GNARK), (1, 0, 0), (0, 2, 0), (1, 2, GNARK)] {
            let key = load(&setup.engine, &keys[key], &vks[vk], format).unwrap();
            for form in [Form::Canonical, Form::Montgomery] {
                for request in [setup.fixture.request(form), rows(&setup, form, true), rows(&setup, form, false)] {
                    let circuit = request.rows[0].is_empty().then_some(&setup.circuit);
                    let job = setup.engine.start(&key, circuit, &Arc::new(request)).unwrap();
                    assert_eq!(job.finalize().unwrap(), proof, "{shape:?}");
                }
            }
            assert!(key.verify(&setup.fixture.public(), &proof).unwrap());
        }
        setup.check_health();
    }
}

#[test]
fn without_a_verifying_key_nothing_is_verified() {
    let setup = Setup::small();
    let Files { keys, vks } = files(&setup);
    let bare = load(&setup.engine, &keys[0], &[], GNARK).unwrap();
    let start = |request| setup.engine.start(&bare, Some(&setup.circuit), &Arc::new(request));
    assert_fails(start(setup.fixture.request(Form::Canonical)), status::INVALID, &["self-check", "verifying key"]);
    let unchecked = Request { skip_self_check: 1, ..setup.fixture.request(Form::Canonical) };
    let proof = start(unchecked).unwrap().finalize().unwrap();
    assert_eq!(proof, expected(&setup).to_compressed());
    assert_fails(bare.verify(&setup.fixture.public(), &proof), status::INVALID, &["verifying key"]);
    let mut len = 99;
    let got = unsafe { (api().groth16_pk_get_vk)(bare.raw(), std::ptr::null_mut(), 0, &raw mut len) };
    assert_fails(outcome(got), status::INVALID, &["verifying key"]);
    assert_eq!(len, 99);
    let with = load(&setup.engine, &keys[0], &vks[0], GNARK).unwrap();
    assert!(with.verify(&setup.fixture.public(), &proof).unwrap());
    setup.check_health();
}

#[test]
fn verifying_keys_that_do_not_belong_there_are_refused() {
    let setup = Setup::small();
    let Files { keys, vks } = files(&setup);
    let other = setup_gnark(&setup.fixture.model, &Trapdoor::from_seed(77)).unwrap().1.to_bytes();
    assert_fails(
        load(&setup.engine, &keys[0], &other, GNARK),
        status::INVALID,
        &["another proving key", "alpha in G1"],
    );
    assert_fails(load(&setup.engine, &keys[0], &keys[0], GNARK), status::FORMAT, &["gnark verifying key"]);
    for cut in [1, 7, 9, 100, vks[1].len() - 1] {
        let short = &vks[1][..vks[1].len() - cut];
        assert_fails(load(&setup.engine, &keys[1], short, GNARK), status::FORMAT, &["gnark verifying key"]);
    }
    // Files of bellman have theirs.
    let fixture = &setup.fixture;
    assert_fails(load(&setup.engine, &fixture.key, &vks[2], 0), status::INVALID, &["holds its verifying key"]);
    // A pointer without a length, a length without a pointer, bytes and a path.
    let path = c_path(std::path::Path::new("/no/such/vk"));
    type Change = fn(&mut groth16_pk_options);
    let changes: [(Change, &str); 2] = [
        (|o| (o.vk_data, o.vk_data_len) = (std::ptr::null::<c_void>(), 5), "vk_data"),
        (|o| o.vk_data_len = 0, "verifying key"),
    ];
    for (change, text) in changes {
        let loaded = setup.engine.key(|o| {
            put(o, &keys[0], &vks[0]);
            change(o);
        });
        assert_fails(loaded, status::INVALID, &[text]);
    }
    let both = setup.engine.key(|o| {
        put(o, &keys[0], &vks[0]);
        o.vk_path = path.as_ptr();
    });
    assert_fails(both, status::INVALID, &["both path and data"]);
    let absent = setup.engine.key(|o| {
        put(o, &keys[0], &[]);
        o.vk_path = path.as_ptr();
    });
    assert_fails(absent, status::IO, &["/no/such/vk"]);
    // Densities are in the file; a circuit is compared with it.
    let word = [u64::MAX; 4];
    let dense = setup.engine.key(|o| {
        put(o, &keys[0], &vks[0]);
        (o.a_aux.words, o.a_aux.count) = (word.as_ptr(), 8);
    });
    assert_fails(dense, status::INVALID, &["holds its densities"]);
    let elsewhere = Setup::new(&Shape::new(20, 3, 22));
    let circuit = elsewhere.fixture.r1cs_bytes();
    let circuit = setup.engine.circuit_from_bytes(&circuit).unwrap();
    let loaded = setup.engine.key(|o| {
        put(o, &keys[0], &vks[0]);
        o.circuit = circuit.raw();
    });
    assert_fails(loaded, status::INVALID, &["another circuit"]);
    setup.check_health();
}

#[test]
fn truncated_and_damaged_keys_of_gnark() {
    let setup = Setup::small();
    let Files { keys, vks } = files(&setup);
    for bytes in &keys {
        let layout = gnark::pk::layout(&Source::Bytes(bytes)).unwrap();
        let mut lengths: Vec<usize> = (1..50).map(|i| i * bytes.len() / 50).collect();
        for section in layout.sections {
            for edge in [section.offset - 4, section.offset, section.end()] {
                lengths.extend([edge - 1, edge, edge + 1].map(|length| length as usize));
            }
        }
        for length in lengths.into_iter().filter(|length| (169..bytes.len()).contains(length)) {
            let place = &["gnark proving key: "];
            assert_fails(load(&setup.engine, &bytes[..length], &vks[0], 0), status::FORMAT, place);
        }
        for section in layout.sections {
            let at = (section.offset - 4) as usize;
            for wrong in [u32::MAX, 0x7fff_ffff, section.count as u32 + 1] {
                let mut key = bytes.clone();
                key[at..at + 4].copy_from_slice(&wrong.to_be_bytes());
                assert_fails(load(&setup.engine, &key, &vks[0], 0), status::FORMAT, &["section"]);
            }
        }
    }
    // With the format named, what is none is told so; without it, it is taken for bellman's.
    assert_fails(load(&setup.engine, &setup.fixture.key, &[], GNARK), status::FORMAT, &["gnark proving key: domain"]);
    setup.check_health();
}

/// Two keys fit beside a job; one that left memory is read again, by its digest.
#[test]
fn a_key_of_a_file_is_read_again() {
    let setup = Setup::small();
    let Files { keys, vks } = files(&setup);
    let folder = tempfile::tempdir().unwrap();
    let limited = Engine::new(|o| (o.cpu_threads, o.host_bytes_limit) = (2, 200_000)).unwrap();
    let circuit = limited.circuit_from_bytes(&setup.fixture.r1cs_bytes()).unwrap();
    let loaded: Vec<Key> = (0..8)
        .map(|index| {
            let path = folder.path().join(format!("{index}.pk"));
            std::fs::write(&path, &keys[index % 2]).unwrap();
            let path = c_path(&path);
            let key = limited.key(|o| {
                o.path = path.as_ptr();
                (o.vk_data, o.vk_data_len) = (vks[0].as_ptr().cast(), vks[0].len());
            });
            key.unwrap()
        })
        .collect();
    for key in loaded.iter().chain(&loaded) {
        let job = limited.start(key, Some(&circuit), &Arc::new(setup.fixture.request(Form::Canonical))).unwrap();
        assert_eq!(job.finalize().unwrap(), expected(&setup).to_compressed());
    }
    std::fs::write(folder.path().join("0.pk"), vec![0; keys[0].len()]).unwrap();
    std::fs::write(folder.path().join("1.pk"), vec![0; keys[1].len()]).unwrap();
    let start = |key| limited.start(key, Some(&circuit), &Arc::new(setup.fixture.request(Form::Canonical)));
    let outcomes: Vec<_> = loaded[..2].iter().map(|key| start(key).and_then(|job| job.finalize())).collect();
    assert!(outcomes.iter().any(Result::is_err), "both keys stayed in memory, so this test shows nothing");
    for failed in outcomes.into_iter().filter(Result::is_err) {
        assert_fails(failed, status::IO, &["cannot be read again"]);
    }
    setup.check_health();
}
