use std::ffi::CString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::Status;
use crate::formats::source::{Reader, Source};

#[test]
fn only_regular_files_with_bytes_are_opened() {
    let directory = tempfile::tempdir().unwrap();
    let refuse = |path: &Path| {
        let error = Source::open(path).unwrap_err();
        assert!(error.message().starts_with(path.to_str().unwrap()), "{error}");
        (error.status(), error.message().to_owned())
    };
    let missing = refuse(&directory.path().join("missing"));
    assert_eq!(missing.0, Status::Io);
    let (status, message) = refuse(directory.path());
    assert!(status == Status::Io && message.ends_with("is a directory"), "{message}");
    let empty = directory.path().join("empty");
    std::fs::write(&empty, []).unwrap();
    let (status, message) = refuse(&empty);
    assert!(status == Status::Format && message.ends_with("is empty"), "{message}");
    let (status, message) = refuse(Path::new("/dev/zero"));
    assert!(status == Status::Io && message.ends_with("is not a regular file"), "{message}");
    // A FIFO that nobody writes to must not block.
    let fifo = directory.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success() && CString::new(fifo.as_os_str().as_bytes()).is_ok());
    let (status, message) = refuse(&fifo);
    assert!(status == Status::Io && message.ends_with("is not a regular file"), "{message}");
}

#[test]
fn reads_are_by_position_and_notice_a_shorter_file() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"0123456789").unwrap();
    let source = Source::open(file.path()).unwrap();
    assert_eq!(source.len(), 10);
    for source in [&source, &Source::Bytes(b"0123456789")] {
        let mut buffer = [0; 3];
        source.read_exact_at(7, &mut buffer).unwrap();
        assert_eq!(&buffer, b"789");
        for offset in [8, 10, 11, u64::MAX, u64::MAX - 2] {
            let error = source.read_exact_at(offset, &mut buffer).unwrap_err();
            assert_eq!(error.status(), Status::Format);
        }
        source.read_exact_at(10, &mut []).unwrap();
    }
    file.as_file().set_len(5).unwrap();
    let error = source.read_exact_at(4, &mut [0; 4]).unwrap_err();
    assert_eq!(error.status(), Status::Io);
    let path = file.path().display().to_string();
    assert_eq!(error.message(), format!("{path}: reading 4 bytes at offset 4: the file has become shorter"));
}

#[test]
fn sequential_reads_cross_the_buffer() {
    // Larger than one refill, and a stretch that starts and ends inside the source.
    let bytes: Vec<u8> = (0..(5 << 20) + 8).map(|i| (i % 251) as u8).collect();
    let source = Source::Bytes(&bytes);
    let mut reader = Reader::new(&source, 3, (5 << 20) + 1);
    let mut at = 3;
    while reader.remaining() >= 7 {
        assert_eq!(reader.position(), at as u64);
        assert_eq!(reader.bytes::<7>().unwrap(), bytes[at..at + 7]);
        at += 7;
    }
    let left = reader.remaining();
    let error = reader.bytes::<7>().unwrap_err();
    assert_eq!(error.message(), format!("7 bytes wanted at offset {at}, only {left} are left"));
    for _ in 0..left {
        assert_eq!(reader.bytes::<1>().unwrap()[0], bytes[at]);
        at += 1;
    }
    assert_eq!((reader.remaining(), at), (0, (5 << 20) + 4));
}
