//! What the readers of key files share: sections of points, read in order, in batches that the threads of the calling
//! pool decode and check together.

use std::io::Write;

use super::source::Source;
pub use super::vk::PointChecks;
use super::vk::{INFINITY_TEXT, SUBGROUP_TEXT};
use crate::error::{Error, Result, Status, reserve};
use crate::math::curve::Affine;
use crate::math::encoding::{
    DecodeError, EncodedField, read_compressed, read_uncompressed, read_uncompressed_unchecked, write_compressed,
    write_uncompressed,
};
use crate::math::subgroup;
use crate::par;

/// How much of the file is read, then decoded in parallel, at once: a multiple of all point sizes.
const BATCH_BYTES: usize = 12 << 20;
/// Points that are tested for their subgroup at once; between batches a caller can cancel.
const SUBGROUP_BATCH: usize = 1 << 20;
/// Bytes of a section's count.
pub(crate) const COUNT_BYTES: u64 = 4;

/// How a file is read.
#[derive(Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// How much is checked of every point.
    pub checks: PointChecks,
    /// The BLAKE2b-512 digest that the whole file must have.
    pub blake2b: Option<&'a [u8; 64]>,
    /// Called on the calling thread with the bytes done and in all; false stops the reading.
    pub progress: Option<&'a dyn Fn(u64, u64) -> bool>,
}

/// The encoding of a file's points (see `math::encoding`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointForm {
    /// x and a flag for y.
    Compressed,
    /// x and y.
    Uncompressed,
}

impl PointForm {
    /// Bytes of a point over `F`.
    pub(crate) fn bytes<F: EncodedField>(self) -> usize {
        match self {
            Self::Compressed => F::BYTES,
            Self::Uncompressed => 2 * F::BYTES,
        }
    }

    /// Decodes a point with all checks but that of the subgroup.
    #[inline]
    pub(crate) fn decode<F: EncodedField>(
        self,
        bytes: &[u8],
        checks: PointChecks,
    ) -> std::result::Result<Affine<F>, DecodeError> {
        match (self, checks) {
            (Self::Compressed, _) => read_compressed(bytes),
            (Self::Uncompressed, PointChecks::Nothing) => read_uncompressed_unchecked(bytes),
            (Self::Uncompressed, _) => read_uncompressed(bytes),
        }
    }

    /// Writes a point.
    pub(crate) fn write<F: EncodedField>(self, point: &Affine<F>, out: &mut impl Write) -> std::io::Result<()> {
        let mut bytes = [0; 4 * 48];
        let bytes = &mut bytes[..self.bytes::<F>()];
        match self {
            Self::Compressed => write_compressed(point, bytes),
            Self::Uncompressed => write_uncompressed(point, bytes),
        }
        out.write_all(bytes)
    }
}

/// Where a section stands: a big-endian u32 count, then that many points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// What its points are.
    pub name: &'static str,
    /// The number of points.
    pub count: u64,
    /// Bytes of a point.
    pub point_bytes: u64,
    /// Offset of the first point; the count stands before it.
    pub offset: u64,
    /// The encoding of its points.
    pub form: PointForm,
    /// Whether points at infinity are taken.
    pub takes_infinity: bool,
}

impl Section {
    /// The section whose count stands at `offset`; the count is checked against the size of the file. `Format` where the
    /// file is too short.
    pub(crate) fn find<F: EncodedField>(
        source: &Source<'_>,
        name: &'static str,
        offset: u64,
        form: PointForm,
        takes_infinity: bool,
    ) -> Result<Self> {
        let len = source.len();
        if len < offset.saturating_add(COUNT_BYTES) {
            let text = format!("section {name}: no count at offset {offset}, there are only {len} bytes");
            return Err(Error::format(text));
        }
        let mut count = [0; COUNT_BYTES as usize];
        source.read_exact_at(offset, &mut count).map_err(|e| e.at(format!("section {name}")))?;
        let count = u64::from(u32::from_be_bytes(count));
        let point_bytes = form.bytes::<F>() as u64;
        let offset = offset + COUNT_BYTES;
        let (needed, left) = (count * point_bytes, len - offset);
        if needed > left {
            return Err(Error::format(format!(
                "section {name}: {count} points need {needed} bytes at offset {offset}, only {left} are left"
            )));
        }
        Ok(Self { name, count, point_bytes, offset, form, takes_infinity })
    }

    /// The offset behind the last point.
    pub fn end(&self) -> u64 {
        self.offset + self.count * self.point_bytes
    }

    fn point_error(&self, index: usize, why: &str) -> Error {
        let offset = self.offset + index as u64 * self.point_bytes;
        Error::format(format!("section {}, point {index} (offset {offset}): {why}", self.name))
    }
}

/// A file from its first byte to its last, each read once: what is hashed is what is decoded.
pub(crate) struct PointStream<'a> {
    source: &'a Source<'a>,
    options: &'a ReadOptions<'a>,
    hasher: Option<blake2b_simd::State>,
    buffer: Vec<u8>,
    position: u64,
    total: u64,
}

impl<'a> PointStream<'a> {
    /// From the first byte to `end`, or, where the file is hashed (`hash`), to its end.
    pub(crate) fn new(source: &'a Source<'a>, options: &'a ReadOptions<'a>, hash: bool, end: u64) -> Result<Self> {
        let hasher = hash.then(blake2b_simd::State::new);
        let total = if hash { source.len() } else { end };
        let stream = Self { source, options, hasher, buffer: Vec::new(), position: 0, total };
        stream.report()?;
        Ok(stream)
    }

    /// The next `len` bytes, at most `BATCH_BYTES`.
    pub(crate) fn bytes(&mut self, len: usize) -> Result<&[u8]> {
        self.fill(len)?;
        self.hash();
        Ok(&self.buffer)
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.bytes(N)?);
        Ok(out)
    }

    /// The next `count` bytes in pieces, each with its place among them.
    pub(crate) fn pieces(&mut self, count: usize, mut each: impl FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
        let mut done = 0;
        while done < count {
            let len = (count - done).min(BATCH_BYTES);
            each(done, self.bytes(len)?)?;
            done += len;
            self.report()?;
        }
        Ok(())
    }

    /// Reads the next `len` bytes, at most `BATCH_BYTES`, into the buffer.
    fn fill(&mut self, len: usize) -> Result<()> {
        self.buffer.resize(len, 0);
        self.source.read_exact_at(self.position, &mut self.buffer)?;
        self.position += len as u64;
        Ok(())
    }

    fn hash(&mut self) {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&self.buffer);
        }
    }

    fn report(&self) -> Result<()> {
        match self.options.progress {
            Some(progress) if !progress(self.position, self.total) => {
                Err(Error::new(Status::Cancelled, "reading was cancelled"))
            }
            _ => Ok(()),
        }
    }

    /// A point by itself, which is not infinity.
    pub(crate) fn point<F: EncodedField>(&mut self, name: &str, form: PointForm) -> Result<Affine<F>> {
        let (offset, checks) = (self.position, self.options.checks);
        let bytes = self.bytes(form.bytes::<F>())?;
        let why = match form.decode::<F>(bytes, checks) {
            Ok(point) if point.is_infinity() => INFINITY_TEXT.to_owned(),
            Ok(point) if checks == PointChecks::Subgroup && !point.is_in_subgroup() => SUBGROUP_TEXT.to_owned(),
            Ok(point) => return Ok(point),
            Err(error) => error.to_string(),
        };
        Err(Error::format(format!("{name} (offset {offset}): {why}")))
    }

    /// The next section, which was found before.
    pub(crate) fn section<F: EncodedField>(&mut self, section: &Section) -> Result<Vec<Affine<F>>> {
        // The points of a file that changes meanwhile would not be those that the counts were checked for.
        if self.array()? != (section.count as u32).to_be_bytes() {
            return Err(Error::new(
                Status::Io,
                format!("section {}: the file changed while it was read", section.name),
            ));
        }
        let (count, checks) = (section.count as usize, self.options.checks);
        let mut points = Vec::new();
        reserve(&mut points, count, "points").map_err(|e| e.at(format!("section {}", section.name)))?;
        points.resize(count, Affine::INFINITY);
        let size = section.form.bytes::<F>();
        let per_batch = BATCH_BYTES / size;
        for (batch_index, batch) in points.chunks_mut(per_batch).enumerate() {
            self.fill(batch.len() * size)?;
            let (hasher, buffer) = (&mut self.hasher, &self.buffer);
            let ((), failed) = par::join(
                || {
                    if let Some(hasher) = hasher {
                        hasher.update(buffer);
                    }
                },
                || decode_batch(buffer, section, checks, batch),
            );
            if let Some((index, why)) = failed {
                return Err(section.point_error(batch_index * per_batch + index, &why));
            }
            self.report()?;
        }
        self.check_subgroup(section, &points)?;
        Ok(points)
    }

    /// After the whole section is read: the batch test costs less a point the more points it gets.
    fn check_subgroup<F: EncodedField>(&self, section: &Section, points: &[Affine<F>]) -> Result<()> {
        if self.options.checks != PointChecks::Subgroup {
            return Ok(());
        }
        for (batch_index, batch) in points.chunks(SUBGROUP_BATCH).enumerate() {
            if let Some(index) = subgroup::find_outside_subgroup(batch)? {
                return Err(section.point_error(batch_index * SUBGROUP_BATCH + index, SUBGROUP_TEXT));
            }
            self.report()?;
        }
        Ok(())
    }

    /// Hashes what follows the last section, if anything is hashed, and compares the digest with the one wanted.
    pub(crate) fn finish(mut self) -> Result<Option<[u8; 64]>> {
        while self.position < self.total {
            self.bytes((self.total - self.position).min(BATCH_BYTES as u64) as usize)?;
            self.report()?;
        }
        let Some(got) = self.hasher.map(|hasher| *hasher.finalize().as_array()) else { return Ok(None) };
        match self.options.blake2b {
            Some(wanted) if *wanted != got => {
                let hex = |digest: &[u8; 64]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
                Err(Error::format(format!("the file's BLAKE2b digest is {}, wanted {}", hex(&got), hex(wanted))))
            }
            _ => Ok(Some(got)),
        }
    }
}

/// Decodes and checks the points of `bytes` into `points`; the first that is refused, by index, and why.
fn decode_batch<F: EncodedField>(
    bytes: &[u8],
    section: &Section,
    checks: PointChecks,
    points: &mut [Affine<F>],
) -> Option<(usize, String)> {
    let size = section.form.bytes::<F>();
    let decode = |i: usize| section.form.decode::<F>(&bytes[i * size..(i + 1) * size], checks);
    // Infinity marks the points that cannot be decoded, too; they are told apart below.
    par::for_each_chunk_mut(points, par::piece(points.len(), 64), |start, chunk| {
        for (i, point) in chunk.iter_mut().enumerate() {
            *point = decode(start + i).unwrap_or(Affine::INFINITY);
        }
    });
    let marked = points.iter().enumerate().filter(|(_, point)| point.is_infinity());
    marked.map(|(index, _)| (index, decode(index))).find_map(|(index, decoded)| match decoded {
        Ok(_) if section.takes_infinity => None,
        Ok(_) => Some((index, INFINITY_TEXT.to_owned())),
        Err(error) => Some((index, error.to_string())),
    })
}
