//! The encoding of points that Zcash, Filecoin and the IETF drafts share (written down in the crate pairing's
//! `bls12_381/README.md`): big-endian canonical coordinates, of an extension element the imaginary part first, with
//! three flags in the free top bits of the first byte: bit 7 compressed (x alone), bit 6 infinity (all other bits
//! zero), bit 5, compressed only, y is the larger of the two roots.

use std::fmt;

use super::curve::{Affine, CurveField};
use super::field::Field;
use super::fp::Fp;
use super::fp2::Fp2;
use super::limbs;

const COMPRESSED: u8 = 0x80;
const INFINITY: u8 = 0x40;
const LARGER_Y: u8 = 0x20;
const FLAGS: u8 = COMPRESSED | INFINITY | LARGER_Y;

/// Why bytes are not the encoding of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The number of bytes is wrong.
    Length {
        /// Bytes given.
        got: usize,
        /// Bytes of the encoding.
        wanted: usize,
    },
    /// The three top bits of the first byte contradict each other or the wanted encoding.
    Flags {
        /// The flag bits, as the number 0 to 7.
        bits: u8,
    },
    /// Infinity whose other bits are not all zero.
    InfinityNotZero,
    /// The abscissa, or a part of it, is not below p.
    XNotBelowP,
    /// The ordinate, or a part of it, is not below p.
    YNotBelowP,
    /// No point of the curve has these coordinates.
    NotOnCurve,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { got, wanted } => write!(f, "got {got} bytes, wanted {wanted}"),
            Self::Flags { bits } => write!(f, "wrong flag bits {bits:03b}"),
            Self::InfinityNotZero => f.write_str("infinity with other bits set"),
            Self::XNotBelowP => f.write_str("x is not below p"),
            Self::YNotBelowP => f.write_str("y is not below p"),
            Self::NotOnCurve => f.write_str("the point is not on the curve"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// What the encoding asks of a base field.
pub trait EncodedField: CurveField {
    /// Bytes of an element.
    const BYTES: usize;
    /// Writes `BYTES` bytes, big-endian, canonical.
    fn write_be(&self, out: &mut [u8]);
    /// Reads `BYTES` bytes; `None` if a part is not below p.
    fn read_be(bytes: &[u8]) -> Option<Self>;
    /// Whether this is larger than its negative, compared as the encodings.
    fn is_larger_root(&self) -> bool;
    /// A square root, if there is one.
    fn square_root(&self) -> Option<Self>;
}

impl EncodedField for Fp {
    const BYTES: usize = 48;

    fn write_be(&self, out: &mut [u8]) {
        out.copy_from_slice(&self.to_be_bytes());
    }

    #[inline]
    fn read_be(bytes: &[u8]) -> Option<Self> {
        Self::from_be_bytes(bytes.try_into().ok()?)
    }

    fn is_larger_root(&self) -> bool {
        limbs::less(&(-*self).to_canonical(), &self.to_canonical())
    }

    fn square_root(&self) -> Option<Self> {
        super::blst_calls::fp_sqrt(self)
    }
}

impl EncodedField for Fp2 {
    const BYTES: usize = 96;

    fn write_be(&self, out: &mut [u8]) {
        let (c1, c0) = out.split_at_mut(Fp::BYTES);
        self.c1.write_be(c1);
        self.c0.write_be(c0);
    }

    #[inline]
    fn read_be(bytes: &[u8]) -> Option<Self> {
        let (c1, c0) = bytes.split_at_checked(Fp::BYTES)?;
        Some(Self { c0: Fp::read_be(c0)?, c1: Fp::read_be(c1)? })
    }

    fn is_larger_root(&self) -> bool {
        if self.c1.is_zero() { self.c0.is_larger_root() } else { self.c1.is_larger_root() }
    }

    fn square_root(&self) -> Option<Self> {
        super::blst_calls::fp2_sqrt(self)
    }
}

/// Writes both coordinates: `2 F::BYTES` bytes, which must be the length of `out`.
pub fn write_uncompressed<F: EncodedField>(point: &Affine<F>, out: &mut [u8]) {
    if point.is_infinity() {
        out.fill(0);
        out[0] = INFINITY;
    } else {
        let (x, y) = out.split_at_mut(F::BYTES);
        point.x.write_be(x);
        point.y.write_be(y);
    }
}

/// Writes x and the sign of y: `F::BYTES` bytes, which must be the length of `out`.
pub fn write_compressed<F: EncodedField>(point: &Affine<F>, out: &mut [u8]) {
    if point.is_infinity() {
        out.fill(0);
        out[0] = COMPRESSED | INFINITY;
    } else {
        point.x.write_be(out);
        out[0] |= if point.y.is_larger_root() { COMPRESSED | LARGER_Y } else { COMPRESSED };
    }
}

/// Reads `2 F::BYTES` bytes. The coordinates are canonical, but the point need neither be on the curve nor in the
/// subgroup.
#[inline]
pub fn read_uncompressed_unchecked<F: EncodedField>(bytes: &[u8]) -> Result<Affine<F>, DecodeError> {
    check_length(bytes, 2 * F::BYTES)?;
    match bytes[0] & FLAGS {
        // A set flag makes a coordinate larger than p, so that without flags nothing need be masked.
        0 => {
            let x = F::read_be(&bytes[..F::BYTES]).ok_or(DecodeError::XNotBelowP)?;
            let y = F::read_be(&bytes[F::BYTES..]).ok_or(DecodeError::YNotBelowP)?;
            // (0, 0) is this library's mark for infinity and on no curve.
            let point = Affine { x, y };
            if point.is_infinity() { Err(DecodeError::NotOnCurve) } else { Ok(point) }
        }
        INFINITY => read_infinity(bytes),
        flags => Err(DecodeError::Flags { bits: flags >> 5 }),
    }
}

/// Reads `2 F::BYTES` bytes: a point of the curve, or infinity. It need not be in the subgroup.
#[inline]
pub fn read_uncompressed<F: EncodedField>(bytes: &[u8]) -> Result<Affine<F>, DecodeError> {
    let point = read_uncompressed_unchecked::<F>(bytes)?;
    if point.is_on_curve() { Ok(point) } else { Err(DecodeError::NotOnCurve) }
}

/// Reads `F::BYTES` bytes: a point of the curve, or infinity. It need not be in the subgroup.
pub fn read_compressed<F: EncodedField>(bytes: &[u8]) -> Result<Affine<F>, DecodeError> {
    check_length(bytes, F::BYTES)?;
    let flags = bytes[0] & FLAGS;
    if flags == COMPRESSED | INFINITY {
        return read_infinity(bytes);
    }
    if flags & COMPRESSED == 0 || flags & INFINITY != 0 {
        return Err(DecodeError::Flags { bits: flags >> 5 });
    }
    let mut masked = [0u8; Fp2::BYTES];
    masked[..F::BYTES].copy_from_slice(bytes);
    masked[0] &= !FLAGS;
    let x = F::read_be(&masked[..F::BYTES]).ok_or(DecodeError::XNotBelowP)?;
    let y = (x.square() * x + F::B).square_root().ok_or(DecodeError::NotOnCurve)?;
    let y = if y.is_larger_root() == (flags & LARGER_Y != 0) { y } else { -y };
    Ok(Affine { x, y })
}

fn read_infinity<F: EncodedField>(bytes: &[u8]) -> Result<Affine<F>, DecodeError> {
    if bytes[0] & !FLAGS == 0 && bytes[1..].iter().all(|byte| *byte == 0) {
        Ok(Affine::INFINITY)
    } else {
        Err(DecodeError::InfinityNotZero)
    }
}

fn check_length(bytes: &[u8], wanted: usize) -> Result<(), DecodeError> {
    if bytes.len() == wanted { Ok(()) } else { Err(DecodeError::Length { got: bytes.len(), wanted }) }
}

/// The encoding as methods over arrays.
macro_rules! encoded_point {
    ($point:ty, $compressed:literal, $uncompressed:literal) => {
        impl $point {
            /// Bytes of the compressed encoding.
            pub const COMPRESSED_BYTES: usize = $compressed;
            /// Bytes of the uncompressed encoding.
            pub const UNCOMPRESSED_BYTES: usize = $uncompressed;

            /// The compressed Zcash encoding: x, big-endian, and flags.
            pub fn to_compressed(&self) -> [u8; $compressed] {
                let mut out = [0; $compressed];
                $crate::math::encoding::write_compressed(self, &mut out);
                out
            }

            /// The uncompressed Zcash encoding: x and y, big-endian.
            pub fn to_uncompressed(&self) -> [u8; $uncompressed] {
                let mut out = [0; $uncompressed];
                $crate::math::encoding::write_uncompressed(self, &mut out);
                out
            }

            /// A point of the curve, or infinity, from its compressed encoding; not checked for the subgroup.
            pub fn from_compressed(bytes: &[u8; $compressed]) -> Result<Self, $crate::math::encoding::DecodeError> {
                $crate::math::encoding::read_compressed(bytes)
            }

            /// A point of the curve, or infinity, from its uncompressed encoding; not checked for the subgroup.
            pub fn from_uncompressed(bytes: &[u8; $uncompressed]) -> Result<Self, $crate::math::encoding::DecodeError> {
                $crate::math::encoding::read_uncompressed(bytes)
            }
        }
    };
}
pub(crate) use encoded_point;
