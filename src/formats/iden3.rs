//! What iden3's binary files (`.r1cs`, `.wtns`) share: a magic word, a version, a number of sections, and the
//! sections in any order, each a type (u32) and a size (u64) and that many bytes; all numbers little-endian.

use super::source::{Reader, Source};
use crate::error::{Error, Result, Status};
use crate::math::fr;

/// Bytes of a field element.
pub(crate) const ELEMENT_BYTES: u32 = 32;

/// Offset and size of the sections of types 1 to `N`; types beyond are skipped, a section that is missing or there
/// twice is refused.
pub(crate) fn sections<'a, const N: usize>(
    source: &'a Source<'a>,
    magic: &[u8; 4],
    version: u32,
) -> Result<[Reader<'a>; N]> {
    let mut reader = Reader::new(source, 0, source.len().min(12));
    let (got_magic, got_version) = (reader.bytes::<4>()?, reader.u32()?);
    if got_magic != *magic {
        let wanted = String::from_utf8_lossy(magic).into_owned();
        return Err(Error::format(format!("offset 0: the file does not start with \"{wanted}\"")));
    }
    if got_version != version {
        let text = format!("offset 4: version {got_version}, only version {version} is known");
        return Err(Error::new(Status::Unsupported, text));
    }
    let count = reader.u32()?;
    let mut offset = 12u64;
    let mut found = [None; N];
    for index in 0..count {
        // Each turn moves the offset on, so that a huge count ends with the file.
        let mut head = Reader::new(source, offset, source.len().saturating_sub(offset).min(12));
        let at = |e: Error| e.at(format!("section {index} of {count}"));
        let (kind, size) = (head.u32().map_err(at)?, head.u64().map_err(at)?);
        let left = source.len() - offset - 12;
        if size > left {
            return Err(Error::format(format!(
                "section {index} of {count} (type {kind}, offset {offset}): {size} bytes, only {left} are left"
            )));
        }
        if let Some(slot) = (kind as usize).checked_sub(1).and_then(|slot| found.get_mut(slot)) {
            if slot.is_some() {
                return Err(Error::format(format!("section {index} of {count}: a second section of type {kind}")));
            }
            *slot = Some((offset + 12, size));
        }
        offset += 12 + size;
    }
    if let Some(missing) = found.iter().position(Option::is_none) {
        return Err(Error::format(format!("no section of type {}", missing + 1)));
    }
    Ok(found.map(|place| {
        let (offset, size) = place.unwrap_or_default();
        Reader::new(source, offset, size)
    }))
}

/// Reads the size of an element and the prime, which must be those of the scalar field of BLS12-381.
pub(crate) fn check_prime(header: &mut Reader<'_>) -> Result<()> {
    let size = header.u32()?;
    if size != ELEMENT_BYTES {
        let text = format!("field elements of {size} bytes, those of BLS12-381 have {ELEMENT_BYTES}");
        return Err(Error::new(Status::Unsupported, text));
    }
    if header.bytes::<32>()? != fr::scalar_to_le_bytes(&fr::MODULUS) {
        return Err(Error::new(Status::Unsupported, "the prime is not the order r of BLS12-381's groups"));
    }
    Ok(())
}

/// `Format` unless the section was read to its end.
pub(crate) fn check_end(reader: &Reader<'_>) -> Result<()> {
    match reader.remaining() {
        0 => Ok(()),
        left => Err(Error::format(format!("offset {}: {left} bytes left over", reader.position()))),
    }
}

/// A file of these sections, in this order.
pub(crate) fn assemble(magic: &[u8; 4], version: u32, sections: &[(u32, &[u8])]) -> Vec<u8> {
    // Allocated once: growing would leave copies of a witness behind.
    let mut out = Vec::with_capacity(12 + sections.iter().map(|(_, bytes)| 12 + bytes.len()).sum::<usize>());
    out.extend(magic);
    out.extend(version.to_le_bytes());
    out.extend((sections.len() as u32).to_le_bytes());
    for (kind, bytes) in sections {
        out.extend(kind.to_le_bytes());
        out.extend((bytes.len() as u64).to_le_bytes());
        out.extend(*bytes);
    }
    out
}
