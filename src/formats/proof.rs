//! Proofs: A, B, C compressed (48 + 96 + 48 bytes, as Zcash and Filecoin use it), uncompressed (96 + 192 + 96), and as
//! snarkjs's JSON.

use num_bigint::BigUint;
use serde_json::{Value, json};

use super::vk::{INFINITY_TEXT, SUBGROUP_TEXT};
use crate::error::{Error, Result, Status};
use crate::math::curve::Affine;
use crate::math::encoding::{DecodeError, EncodedField, read_compressed, read_uncompressed};
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::g1::G1Affine;
use crate::math::g2::G2Affine;

/// Bytes of the compressed encoding.
pub const COMPRESSED_BYTES: usize = 192;
/// Bytes of the uncompressed encoding.
pub const UNCOMPRESSED_BYTES: usize = 384;

/// A proof. Points that were decoded are in their subgroups and not infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// A.
    pub a: G1Affine,
    /// B.
    pub b: G2Affine,
    /// C.
    pub c: G1Affine,
}

impl Proof {
    /// The three points compressed, one after the other.
    pub fn to_compressed(&self) -> [u8; COMPRESSED_BYTES] {
        let mut out = [0; COMPRESSED_BYTES];
        out[..48].copy_from_slice(&self.a.to_compressed());
        out[48..144].copy_from_slice(&self.b.to_compressed());
        out[144..].copy_from_slice(&self.c.to_compressed());
        out
    }

    /// The three points uncompressed, one after the other.
    pub fn to_uncompressed(&self) -> [u8; UNCOMPRESSED_BYTES] {
        let mut out = [0; UNCOMPRESSED_BYTES];
        out[..96].copy_from_slice(&self.a.to_uncompressed());
        out[96..288].copy_from_slice(&self.b.to_uncompressed());
        out[288..].copy_from_slice(&self.c.to_uncompressed());
        out
    }

    /// A proof from either binary encoding, told by its length. `Format` names the point that is refused: one that is
    /// not canonical, not on the curve, not in the subgroup, or infinity (which zkcrypto's and Zcash's readers refuse).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match bytes.len() {
            COMPRESSED_BYTES => Ok(Self {
                a: check("A", read_compressed(&bytes[..48]))?,
                b: check("B", read_compressed(&bytes[48..144]))?,
                c: check("C", read_compressed(&bytes[144..]))?,
            }),
            UNCOMPRESSED_BYTES => Ok(Self {
                a: check("A", read_uncompressed(&bytes[..96]))?,
                b: check("B", read_uncompressed(&bytes[96..288]))?,
                c: check("C", read_uncompressed(&bytes[288..]))?,
            }),
            got => Err(Error::format(format!(
                "proof: got {got} bytes, wanted {COMPRESSED_BYTES} (compressed) or {UNCOMPRESSED_BYTES} (uncompressed)"
            ))),
        }
    }

    /// snarkjs's JSON: projective coordinates as decimal strings, of extension elements the real part first.
    pub fn to_json(&self) -> String {
        let g1 = |p: &G1Affine| {
            if p.is_infinity() { json!(["0", "1", "0"]) } else { json!([decimal(&p.x), decimal(&p.y), "1"]) }
        };
        let pair = |e: &Fp2| json!([decimal(&e.c0), decimal(&e.c1)]);
        let g2 = |p: &G2Affine| {
            if p.is_infinity() {
                json!([["0", "0"], ["1", "0"], ["0", "0"]])
            } else {
                json!([pair(&p.x), pair(&p.y), ["1", "0"]])
            }
        };
        let proof = json!({
            "pi_a": g1(&self.a), "pi_b": g2(&self.b), "pi_c": g1(&self.c), "protocol": "groth16", "curve": "bls12381",
        });
        proof.to_string()
    }

    /// A proof from snarkjs's JSON, with the checks of `from_bytes`. `Unsupported` for another protocol or curve.
    pub fn from_json(text: &str) -> Result<Self> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| Error::format(format!("proof: not JSON: {error}")))?;
        for (key, wanted) in [("protocol", "groth16"), ("curve", "bls12381")] {
            match &value[key] {
                Value::String(text) if text == wanted => {}
                // No name of a protocol or curve is longer; what is, is not echoed.
                Value::String(text) if text.len() <= 40 => {
                    let text = format!("proof: \"{key}\" is \"{text}\", wanted \"{wanted}\"");
                    return Err(Error::new(Status::Unsupported, text));
                }
                _ => return Err(Error::format(format!("proof: \"{key}\" is not a name, wanted \"{wanted}\""))),
            }
        }
        let g1 = |key: &str| {
            let read = |i: usize| fp_from(&value[key][i]).map_err(|e| e.at(format!("proof: {key}[{i}]")));
            if value[key][2] != "1" {
                return Err(Error::format(format!("proof: {key}[2] is not \"1\"")));
            }
            check(key, on_curve(Affine { x: read(0)?, y: read(1)? }))
        };
        let part =
            |i: usize, j: usize| fp_from(&value["pi_b"][i][j]).map_err(|e| e.at(format!("proof: pi_b[{i}][{j}]")));
        if value["pi_b"][2] != json!(["1", "0"]) {
            return Err(Error::format("proof: pi_b[2] is not [\"1\",\"0\"]"));
        }
        let x = Fp2 { c0: part(0, 0)?, c1: part(0, 1)? };
        let y = Fp2 { c0: part(1, 0)?, c1: part(1, 1)? };
        Ok(Self { a: g1("pi_a")?, b: check("pi_b", on_curve(Affine { x, y }))?, c: g1("pi_c")? })
    }
}

fn on_curve<F: EncodedField>(point: Affine<F>) -> std::result::Result<Affine<F>, DecodeError> {
    if point.is_on_curve() { Ok(point) } else { Err(DecodeError::NotOnCurve) }
}

fn check<F: EncodedField>(name: &str, point: std::result::Result<Affine<F>, DecodeError>) -> Result<Affine<F>> {
    let refuse = |why: &str| Error::format(format!("proof: {name}: {why}"));
    let point = point.map_err(|error| refuse(&error.to_string()))?;
    if point.is_infinity() {
        return Err(refuse(INFINITY_TEXT));
    }
    if point.is_in_subgroup() { Ok(point) } else { Err(refuse(SUBGROUP_TEXT)) }
}

fn decimal(element: &Fp) -> String {
    BigUint::from_bytes_be(&element.to_be_bytes()).to_string()
}

/// An element from a decimal string of at most 115 digits, as many as p has.
fn fp_from(value: &Value) -> Result<Fp> {
    let digits = value.as_str().filter(|text| (1..=115).contains(&text.len()));
    let number = digits
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| BigUint::parse_bytes(text.as_bytes(), 10))
        .ok_or_else(|| Error::format("not a string of decimal digits"))?;
    let bytes = number.to_bytes_be();
    let mut padded = [0u8; 48];
    let start = padded.len().checked_sub(bytes.len());
    start
        .and_then(|start| {
            padded[start..].copy_from_slice(&bytes);
            Fp::from_be_bytes(&padded)
        })
        .ok_or_else(|| Error::format("not below p"))
}
