//! Where a parser's bytes come from: a file, or memory.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::error::{Error, Result, Status};

/// How much a sequential reader asks the system for at once.
const READ_BYTES: usize = 4 << 20;

/// Bytes at offsets. A file is opened once and read by position, never mapped: a file that shrinks under a mapping
/// kills the process, one that shrinks under this is an error.
#[derive(Debug)]
pub enum Source<'a> {
    /// A regular file.
    File {
        /// The open file.
        file: File,
        /// Its name, for messages.
        path: PathBuf,
        /// Its length when it was opened.
        len: u64,
    },
    /// Bytes in memory.
    Bytes(&'a [u8]),
}

impl Source<'_> {
    /// Opens a regular file that is not empty. `Io` where the system refuses or the path names something else
    /// (a directory, a pipe, a device), `Format` where the file is empty. Never waits for another process.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |error: std::io::Error| Error::new(Status::Io, format!("{}: {error}", path.display()));
        // Without O_NONBLOCK opening a FIFO waits for a writer. Reads of regular files do not change by it.
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        if !metadata.is_file() {
            let kind = if metadata.is_dir() { "is a directory" } else { "is not a regular file" };
            return Err(Error::new(Status::Io, format!("{}: {kind}", path.display())));
        }
        if metadata.len() == 0 {
            return Err(Error::format(format!("{}: the file is empty", path.display())));
        }
        Ok(Self::File { file, path: path.to_owned(), len: metadata.len() })
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::File { len, .. } => *len,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// Puts the file's name in front of an error about what is in it; errors of reading have it already.
    pub fn locate(&self, error: Error) -> Error {
        match self {
            Self::File { path, .. } if error.status() != Status::Io => error.at(path.display()),
            _ => error,
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buffer` from `offset`. `Format` where the bytes end before, `Io` where the system fails or the file has
    /// become shorter since it was opened.
    pub fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let end = offset.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.len()) {
            return Err(Error::format(format!(
                "{} bytes wanted at offset {offset}, there are only {} in all",
                buffer.len(),
                self.len()
            )));
        }
        match self {
            Self::File { file, path, .. } => file.read_exact_at(buffer, offset).map_err(|error| {
                let shrunk = error.kind() == std::io::ErrorKind::UnexpectedEof;
                let text = if shrunk { "the file has become shorter".to_owned() } else { error.to_string() };
                let place = format!("{}: reading {} bytes at offset {offset}", path.display(), buffer.len());
                Error::new(Status::Io, format!("{place}: {text}"))
            }),
            Self::Bytes(bytes) => {
                // In range by the check above, so that the conversion cannot lose bits.
                buffer.copy_from_slice(&bytes[offset as usize..offset as usize + buffer.len()]);
                Ok(())
            }
        }
    }
}

/// Reads a stretch of a source in order, through a buffer that is zeroised on drop.
pub(crate) struct Reader<'a> {
    source: &'a Source<'a>,
    buffer: Zeroizing<Vec<u8>>,
    /// Unread bytes are `buffer[start..]`.
    start: usize,
    /// The offset of the first byte that is not in the buffer yet, and the end of the stretch.
    next: u64,
    end: u64,
}

impl<'a> Reader<'a> {
    /// Reads `len` bytes from `offset`, which must lie inside the source (checked on reading).
    pub(crate) fn new(source: &'a Source<'a>, offset: u64, len: u64) -> Self {
        Self { source, buffer: Zeroizing::default(), start: 0, next: offset, end: offset.saturating_add(len) }
    }

    /// The offset of the next byte.
    pub(crate) fn position(&self) -> u64 {
        self.next - (self.buffer.len() - self.start) as u64
    }

    /// Bytes left in the stretch.
    pub(crate) fn remaining(&self) -> u64 {
        self.end - self.position()
    }

    /// The next `N` bytes.
    pub(crate) fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        if self.buffer.len() - self.start < N {
            self.refill(N)?;
        }
        let mut out = [0; N];
        out.copy_from_slice(&self.buffer[self.start..self.start + N]);
        self.start += N;
        Ok(out)
    }

    /// The next four bytes, little-endian.
    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    /// The next eight bytes, little-endian.
    pub(crate) fn u64(&mut self) -> Result<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// Brings at least `wanted` bytes into the buffer, which is below `READ_BYTES`.
    fn refill(&mut self, wanted: usize) -> Result<()> {
        if self.remaining() < wanted as u64 {
            let (position, left) = (self.position(), self.remaining());
            return Err(Error::format(format!("{wanted} bytes wanted at offset {position}, only {left} are left")));
        }
        let kept = self.buffer.len() - self.start;
        let fresh = (self.end - self.next).min((READ_BYTES - kept) as u64) as usize;
        // Not grown in place: that could leave a copy of secret bytes behind.
        if self.buffer.capacity() < kept + fresh {
            let mut larger = Zeroizing::new(Vec::with_capacity(kept + fresh));
            larger.extend_from_slice(&self.buffer[self.start..]);
            self.buffer = larger;
        } else {
            self.buffer.copy_within(self.start.., 0);
            self.buffer.truncate(kept);
        }
        self.start = 0;
        self.buffer.resize(kept + fresh, 0);
        let read = self.source.read_exact_at(self.next, &mut self.buffer[kept..]);
        if read.is_err() {
            self.buffer.truncate(kept);
        }
        read?;
        self.next += fresh as u64;
        Ok(())
    }
}
