//! Verifying keys in bellman's encoding: alpha1, beta1, beta2, gamma2, delta1, delta2, a big-endian u32 count, then
//! that many points ic; all points uncompressed (96 and 192 bytes).

use super::points::PointForm;
use crate::error::{Error, Result};
use crate::math::curve::Affine;
use crate::math::encoding::EncodedField;
use crate::math::g1::G1Affine;
use crate::math::g2::G2Affine;

/// Bytes of the six points before the count.
pub const FIXED_BYTES: usize = 3 * G1Affine::UNCOMPRESSED_BYTES + 3 * G2Affine::UNCOMPRESSED_BYTES;

/// What a verifier needs. No point is infinity, but for those of `ic` in a key that gnark made: its input is in no row, and a
/// proof does not bind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    /// alpha in the first group.
    pub alpha1: G1Affine,
    /// beta in the first group.
    pub beta1: G1Affine,
    /// beta in the second group.
    pub beta2: G2Affine,
    /// gamma in the second group.
    pub gamma2: G2Affine,
    /// delta in the first group.
    pub delta1: G1Affine,
    /// delta in the second group.
    pub delta2: G2Affine,
    /// (beta A_j + alpha B_j + C_j) / gamma for every input, the constant one first.
    pub ic: Vec<G1Affine>,
}

/// How much is checked of every point that a key file holds. Coordinates are canonical and no point is infinity in any
/// case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointChecks {
    /// On the curve and in the subgroup of order r.
    #[default]
    Subgroup,
    /// On the curve: for files that are trusted.
    OnCurve,
    /// Nothing: for files that are trusted.
    Nothing,
}

impl VerifyingKey {
    /// The key in bellman's encoding.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(FIXED_BYTES + 4 + self.ic.len() * G1Affine::UNCOMPRESSED_BYTES);
        out.extend(self.alpha1.to_uncompressed());
        out.extend(self.beta1.to_uncompressed());
        out.extend(self.beta2.to_uncompressed());
        out.extend(self.gamma2.to_uncompressed());
        out.extend(self.delta1.to_uncompressed());
        out.extend(self.delta2.to_uncompressed());
        // A key has fewer than 2^32 inputs: readers and set-up make sure.
        out.extend((self.ic.len() as u32).to_be_bytes());
        self.ic.iter().for_each(|point| out.extend(point.to_uncompressed()));
        out
    }

    /// A key from exactly its bytes, every point checked, infinity refused. `Format` with section and offset.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let at = |message: String| Error::format(format!("verifying key: {message}"));
        let Some((fixed, rest)) = bytes.split_at_checked(FIXED_BYTES) else {
            return Err(at(format!("got {} bytes, wanted at least {}", bytes.len(), FIXED_BYTES + 4)));
        };
        let mut key = Self::from_fixed(fixed, PointChecks::Subgroup).map_err(|e| e.at("verifying key"))?;
        let Some((count, points)) = rest.split_first_chunk::<4>() else {
            return Err(at(format!("got {} bytes, wanted at least {}", bytes.len(), FIXED_BYTES + 4)));
        };
        let count = u64::from(u32::from_be_bytes(*count));
        if points.len() as u64 != count * G1Affine::UNCOMPRESSED_BYTES as u64 {
            return Err(at(format!("section ic: {count} points, but {} bytes follow the count", points.len())));
        }
        for (i, encoding) in points.chunks_exact(G1Affine::UNCOMPRESSED_BYTES).enumerate() {
            let offset = FIXED_BYTES + 4 + i * G1Affine::UNCOMPRESSED_BYTES;
            let place = format!("section ic, point {i} (offset {offset})");
            key.ic.push(read_point(encoding, PointChecks::Subgroup).map_err(|why| at(format!("{place}: {why}")))?);
        }
        Ok(key)
    }

    /// The six points before the count, `FIXED_BYTES` bytes; `ic` is left empty.
    pub(crate) fn from_fixed(bytes: &[u8], checks: PointChecks) -> Result<Self> {
        const NAMES: [&str; 6] = ["alpha1", "beta1", "beta2", "gamma2", "delta1", "delta2"];
        const OFFSETS: [usize; 7] = [0, 96, 192, 384, 576, 672, FIXED_BYTES];
        fn point<F: EncodedField>(bytes: &[u8], index: usize, checks: PointChecks) -> Result<Affine<F>> {
            let range = OFFSETS[index]..OFFSETS[index + 1];
            read_point(bytes.get(range).unwrap_or_default(), checks)
                .map_err(|why| Error::format(format!("{} (offset {}): {why}", NAMES[index], OFFSETS[index])))
        }
        Ok(Self {
            alpha1: point(bytes, 0, checks)?,
            beta1: point(bytes, 1, checks)?,
            beta2: point(bytes, 2, checks)?,
            gamma2: point(bytes, 3, checks)?,
            delta1: point(bytes, 4, checks)?,
            delta2: point(bytes, 5, checks)?,
            ic: Vec::new(),
        })
    }
}

/// The text for a point at infinity where none may be.
pub(crate) const INFINITY_TEXT: &str = "the point is at infinity";
/// The text for a point outside the subgroup.
pub(crate) const SUBGROUP_TEXT: &str = "the point is not in the subgroup of order r";

/// A point that is not infinity, or why it is none.
fn read_point<F: EncodedField>(bytes: &[u8], checks: PointChecks) -> std::result::Result<Affine<F>, String> {
    let point = PointForm::Uncompressed.decode::<F>(bytes, checks).map_err(|error| error.to_string())?;
    if point.is_infinity() {
        return Err(INFINITY_TEXT.into());
    }
    if checks == PointChecks::Subgroup && !point.is_in_subgroup() {
        return Err(SUBGROUP_TEXT.into());
    }
    Ok(point)
}
