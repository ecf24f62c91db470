//! Keys and circuits from damaged or missing files.

use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ffi_tests::handles::{Key, Outcome, c_path};
use ffi_tests::memory::Watchdog;
use groth16::formats::bellman_params::{Section, sections};
use groth16::formats::source::Source;
use groth16::prover::synthetic::{Rng, Shape};

use super::{Setup, assert_fails, status};

/// Reads that end in an error take no longer.
const SOON: Duration = Duration::from_secs(2);

fn load(setup: &Setup, bytes: &[u8]) -> Outcome<Key> {
    let begin = Instant::now();
    let result = setup.engine.key_from_bytes(bytes, &setup.circuit);
    assert!(begin.elapsed() < SOON, "took {:?}", begin.elapsed());
    result
}

fn sections_of(setup: &Setup) -> [Section; 6] {
    sections(&Source::Bytes(&setup.fixture.key)).unwrap()
}

#[test]
fn both_path_and_data() {
    let setup = Setup::small();
    let path = CString::new("/dev/null").unwrap();
    let (key, r1cs) = (&setup.fixture.key, setup.fixture.r1cs_bytes());
    let pk = setup.engine.key(|o| {
        (o.path, o.data, o.data_len) = (path.as_ptr(), key.as_ptr().cast(), key.len());
    });
    assert_fails(pk, status::INVALID, &["both path and data"]);
    let circuit = setup.engine.circuit(|o| {
        (o.path, o.data, o.data_len) = (path.as_ptr(), r1cs.as_ptr().cast(), r1cs.len());
    });
    assert_fails(circuit, status::INVALID, &["both path and data"]);
}

#[test]
fn paths_that_are_no_key() {
    let _watchdog = Watchdog::new("paths", 30);
    let setup = Setup::small();
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert_eq!(unsafe { libc::mkfifo(c_path(&fifo).as_ptr(), 0o600) }, 0);
    let empty = folder.path().join("empty");
    std::fs::write(&empty, b"").unwrap();
    let long = folder.path().join("x".repeat(5000));
    let not_utf8 = folder.path().join(std::ffi::OsStr::from_bytes(b"no\xffne"));
    let cases: [(&Path, i32, &[&str]); 8] = [
        (&folder.path().join("missing.params"), status::IO, &["missing.params", "No such file"]),
        (folder.path(), status::IO, &["is a directory"]),
        (&fifo, status::IO, &["fifo", "not a regular file"]),
        (Path::new("/dev/zero"), status::IO, &["/dev/zero", "not a regular file"]),
        (&empty, status::FORMAT, &["empty"]),
        (Path::new(""), status::IO, &[]),
        (&long, status::IO, &["too long"]),
        (&not_utf8, status::IO, &["No such file"]),
    ];
    for (path, status, texts) in cases {
        let begin = Instant::now();
        assert_fails(setup.engine.key_from_file(path, &setup.circuit), status, texts);
        let path = c_path(path);
        assert_fails(setup.engine.circuit(|o| o.path = path.as_ptr()), status, texts);
        assert!(begin.elapsed() < SOON);
    }
    setup.check_health();
}

/// Cuts the file, or puts other bytes into it, when it is told of progress.
struct Meddler {
    path: std::path::PathBuf,
    length: u64,
    bytes: Vec<u8>,
}

unsafe extern "C" fn meddle(user: *mut c_void, _: u64, _: u64) -> i32 {
    let meddler = unsafe { &*user.cast::<Meddler>() };
    let file = std::fs::OpenOptions::new().write(true).open(&meddler.path).unwrap();
    file.write_all_at(&meddler.bytes, 864).unwrap();
    file.set_len(meddler.length).unwrap();
    0
}

#[test]
fn a_file_that_changes_while_it_is_read() {
    let setup = Setup::new(&Shape::new(30, 4, 2));
    let key = &setup.fixture.key;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.params");
    let load = |length: usize, bytes: &[u8]| {
        std::fs::write(&path, key).unwrap();
        let mut meddler = Meddler { path: path.clone(), length: length as u64, bytes: bytes.to_vec() };
        let c_path = c_path(&path);
        setup.engine.key(|o| {
            (o.path, o.circuit) = (c_path.as_ptr(), setup.circuit.raw());
            o.progress = Some(meddle);
            o.progress_user = (&raw mut meddler).cast();
        })
    };
    assert!(load(key.len(), &[]).is_ok());
    for length in [0, 100, 866, 2000, key.len() - 1] {
        assert_fails(load(length, &[]), status::IO, &["key.params", "the file has become shorter"]);
    }
    // A count that was checked is another when it is read.
    for count in [0u32, 3, 5, u32::MAX] {
        assert_fails(load(key.len(), &count.to_be_bytes()), status::IO, &["section ic", "changed"]);
    }
    setup.check_health();
}

#[test]
fn keys_of_other_formats() {
    let setup = Setup::small();
    let (zkey, key) = ([b"zkey\x01\0\0\0".as_slice(), &[1; 2000]].concat(), &setup.fixture.key);
    for format in [2, 4] {
        for bytes in [&zkey, key] {
            let loaded = setup.engine.key(|o| {
                (o.data, o.data_len, o.format) = (bytes.as_ptr().cast(), bytes.len(), format);
                o.circuit = setup.circuit.raw();
            });
            assert_fails(loaded, status::UNSUPPORTED, &["GROTH16_FORMAT_", "not in this version"]);
        }
    }
    // Taken for the format without a header: never for a key.
    assert_fails(load(&setup, &zkey), status::FORMAT, &["bellman params"]);
    setup.check_health();
}

#[test]
fn truncated_keys() {
    let setup = Setup::new(&Shape::new(30, 4, 2));
    let key = &setup.fixture.key;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.params");
    let mut rng = Rng::new(1);
    let mut lengths: Vec<usize> = (0..100).map(|_| 1 + rng.below(key.len() - 1)).collect();
    for section in sections_of(&setup) {
        let end = section.offset + section.count * section.point_bytes;
        for edge in [section.offset - 4, section.offset, end] {
            lengths.extend([edge - 1, edge, edge + 1].map(|length| length as usize));
        }
    }
    for length in lengths.into_iter().filter(|length| *length < key.len()) {
        assert_fails(load(&setup, &key[..length]), status::FORMAT, &["section ", "offset "]);
        std::fs::write(&path, &key[..length]).unwrap();
        assert_fails(setup.engine.key_from_file(&path, &setup.circuit), status::FORMAT, &["section ", "offset "]);
    }
    // A transcript may follow.
    assert!(load(&setup, &[key.as_slice(), &[0xee; 1000]].concat()).is_ok());
    setup.check_health();
}

#[test]
fn wrong_counts_in_each_section() {
    let setup = Setup::new(&Shape::new(30, 4, 2));
    for section in sections_of(&setup) {
        let at = (section.offset - 4) as usize;
        let count = section.count as u32;
        for wrong in [u32::MAX, 0x7fff_ffff, 1 << 24, count + 1, count.wrapping_sub(1), 0] {
            let mut key = setup.fixture.key.clone();
            key[at..at + 4].copy_from_slice(&wrong.to_be_bytes());
            let failure = load(&setup, &key).map(drop).unwrap_err();
            let statuses = [status::FORMAT, status::INVALID];
            assert!(statuses.contains(&failure.status), "{}: {wrong}: {failure:?}", section.name);
            assert!(failure.message.contains("section"), "{}: {wrong}: {failure:?}", section.name);
            if wrong >= 1 << 24 {
                let place = format!("section {}: {wrong} points need", section.name);
                assert!(failure.message.contains(&place), "{place}: {failure:?}");
            }
        }
    }
}

#[test]
fn damaged_points_in_each_section() {
    let setup = Setup::new(&Shape::new(30, 4, 2));
    for section in sections_of(&setup) {
        for index in [0, section.count / 2, section.count - 1] {
            let offset = section.offset + index * section.point_bytes;
            let place = format!("section {}, point {index} (offset {offset})", section.name);
            for damage in [3, section.point_bytes - 1] {
                let mut key = setup.fixture.key.clone();
                key[(offset + damage) as usize] ^= 1;
                assert_fails(load(&setup, &key), status::FORMAT, &[&place]);
            }
            let mut key = setup.fixture.key.clone();
            let point = &mut key[offset as usize..][..section.point_bytes as usize];
            point.fill(0);
            point[0] = 0x40;
            assert_fails(load(&setup, &key), status::FORMAT, &[&place, "infinity"]);
        }
    }
    for (name, offset) in
        [("alpha1", 0), ("beta1", 96), ("beta2", 192), ("gamma2", 384), ("delta1", 576), ("delta2", 672)]
    {
        let mut key = setup.fixture.key.clone();
        key[offset + 50] ^= 4;
        assert_fails(load(&setup, &key), status::FORMAT, &[&format!("{name} (offset {offset})")]);
    }
    setup.check_health();
}

#[test]
fn damaged_circuits() {
    let setup = Setup::small();
    let bytes = setup.fixture.r1cs_bytes();
    let mut rng = Rng::new(3);
    for length in (0..40).chain((0..60).map(|_| rng.below(bytes.len()))) {
        let begin = Instant::now();
        let refused = setup.engine.circuit_from_bytes(&bytes[..length]);
        assert_fails(refused, if length == 0 { status::INVALID } else { status::FORMAT }, &[]);
        assert!(begin.elapsed() < SOON);
    }
    // Any byte at all: an error or a circuit, never more.
    for _ in 0..2000 {
        let mut damaged = bytes.clone();
        let place = rng.below(damaged.len());
        damaged[place] = [0, 0xff, 0x7f, damaged[place] ^ 1][rng.below(4)];
        if let Err(failure) = setup.engine.circuit_from_bytes(&damaged) {
            assert!([status::FORMAT, status::UNSUPPORTED, status::INVALID].contains(&failure.status), "{failure:?}");
            assert!(failure.message.contains("r1cs") || failure.message.contains("circuit"), "{failure:?}");
        }
    }
    setup.check_health();
}

#[test]
fn digests() {
    let setup = Setup::small();
    let mut key = setup.fixture.key.clone();
    key.extend([1, 2, 3]);
    let load = |digest: &[u8; 64], checks| {
        setup.engine.key(|o| {
            (o.data, o.data_len) = (key.as_ptr().cast(), key.len());
            (o.circuit, o.blake2b, o.point_checks) = (setup.circuit.raw(), digest.as_ptr(), checks);
        })
    };
    let right = *blake2b_simd::blake2b(&key).as_array();
    for checks in 0..3 {
        assert!(load(&right, checks).is_ok());
        for place in [0, 31, 63] {
            let mut wrong = right;
            wrong[place] ^= 1;
            assert_fails(load(&wrong, checks), status::FORMAT, &["BLAKE2b", "wanted"]);
        }
    }
    let of_the_key_alone = *blake2b_simd::blake2b(&setup.fixture.key).as_array();
    assert_fails(load(&of_the_key_alone, 0), status::FORMAT, &["BLAKE2b"]);
}

/// What a progress function was told, and after how many calls it shall stop the work.
#[derive(Default)]
struct Progress {
    calls: Vec<(u64, u64)>,
    stop_at: usize,
}

unsafe extern "C" fn report(user: *mut c_void, done: u64, total: u64) -> i32 {
    let progress = unsafe { &*user.cast::<Mutex<Progress>>() };
    let mut progress = progress.lock().unwrap();
    progress.calls.push((done, total));
    i32::from(progress.calls.len() == progress.stop_at)
}

#[test]
fn progress_that_goes_on_or_stops() {
    let setup = Setup::small();
    let key = &setup.fixture.key;
    let load = |stop_at| {
        let progress = Mutex::new(Progress { calls: Vec::new(), stop_at });
        let loaded = setup.engine.key(|o| {
            (o.data, o.data_len, o.circuit) = (key.as_ptr().cast(), key.len(), setup.circuit.raw());
            o.progress = Some(report);
            o.progress_user = (&raw const progress).cast_mut().cast();
        });
        (loaded, progress.into_inner().unwrap().calls)
    };
    let (loaded, calls) = load(usize::MAX);
    assert!(loaded.is_ok());
    let total = key.len() as u64;
    assert!(calls.iter().all(|call| call.1 == total && call.0 <= total), "{calls:?}");
    assert!(calls.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{calls:?}");
    assert_eq!(calls.last(), Some(&(total, total)));
    for stop_at in 1..=calls.len() {
        let (loaded, calls) = load(stop_at);
        assert_fails(loaded, status::CANCELLED, &["cancelled"]);
        assert_eq!(calls.len(), stop_at, "called after it said stop");
    }
    setup.check_health();
}
