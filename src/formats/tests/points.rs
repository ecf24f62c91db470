use super::outside_subgroup;
use crate::math::curve::{Affine, CurveField};
use crate::math::encoding::*;
use crate::math::field::Field;
use crate::math::fp::{self, Fp};
use crate::math::fp2::Fp2;
use crate::math::g1::G1Affine;
use crate::math::g2::G2Affine;

fn round_trip<F: EncodedField>() {
    let mut compressed = vec![0xaa; F::BYTES];
    let mut uncompressed = vec![0xaa; 2 * F::BYTES];
    let mut signs = [0, 0];
    for k in 0..40 {
        let point = F::GENERATOR.mul(&[k, 0, 0, 0]).to_affine();
        for point in [point, -point, outside_subgroup()] {
            write_compressed(&point, &mut compressed);
            write_uncompressed(&point, &mut uncompressed);
            assert_eq!(read_compressed(&compressed), Ok(point));
            assert_eq!(read_uncompressed(&uncompressed), Ok(point));
            assert_eq!(read_uncompressed_unchecked(&uncompressed), Ok(point));
            signs[usize::from(compressed[0] & 0x20 != 0)] += 1;
        }
    }
    assert!(signs[0] >= 40 && signs[1] >= 39, "{signs:?}");
}

#[test]
fn points_round_trip() {
    round_trip::<Fp>();
    round_trip::<Fp2>();
}

/// The generators as the IETF draft "BLS Signatures" and zkcrypto's `bls12_381` write them.
#[test]
fn generators_have_their_known_encodings() {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let g1 = "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb";
    assert_eq!(hex(&Fp::GENERATOR.to_compressed()), g1);
    let g2 = "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e\
              024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8";
    assert_eq!(hex(&Fp2::GENERATOR.to_compressed()), g2);
    assert_eq!(hex(&G1Affine::INFINITY.to_compressed()), format!("c0{}", "00".repeat(47)));
    assert_eq!(hex(&G2Affine::INFINITY.to_uncompressed()), format!("40{}", "00".repeat(191)));
}

fn modulus_bytes() -> [u8; 48] {
    let mut out = [0; 48];
    out.chunks_exact_mut(8).zip(fp::MODULUS.iter().rev()).for_each(|(o, l)| o.copy_from_slice(&l.to_be_bytes()));
    out
}

#[test]
fn wrong_flags_are_refused() {
    let compressed = Fp::GENERATOR.to_compressed();
    let uncompressed = Fp::GENERATOR.to_uncompressed();
    for flags in 0..8u8 {
        let mut bytes = compressed;
        bytes[0] = (bytes[0] & 0x1f) | (flags << 5);
        match flags {
            0b100 => assert_eq!(G1Affine::from_compressed(&bytes), Ok(Fp::GENERATOR)),
            0b101 => assert_eq!(G1Affine::from_compressed(&bytes), Ok(-Fp::GENERATOR)),
            0b110 => assert_eq!(G1Affine::from_compressed(&bytes), Err(DecodeError::InfinityNotZero)),
            bits => assert_eq!(G1Affine::from_compressed(&bytes), Err(DecodeError::Flags { bits })),
        }
        let mut bytes = uncompressed;
        bytes[0] = (bytes[0] & 0x1f) | (flags << 5);
        match flags {
            0b000 => assert_eq!(G1Affine::from_uncompressed(&bytes), Ok(Fp::GENERATOR)),
            0b010 => assert_eq!(G1Affine::from_uncompressed(&bytes), Err(DecodeError::InfinityNotZero)),
            bits => assert_eq!(G1Affine::from_uncompressed(&bytes), Err(DecodeError::Flags { bits })),
        }
    }
    let mut infinity = G2Affine::INFINITY.to_compressed();
    assert_eq!(G2Affine::from_compressed(&infinity), Ok(Affine::INFINITY));
    infinity[95] = 1;
    assert_eq!(G2Affine::from_compressed(&infinity), Err(DecodeError::InfinityNotZero));
    infinity[95] = 0;
    infinity[0] |= 0x20;
    assert_eq!(G2Affine::from_compressed(&infinity), Err(DecodeError::Flags { bits: 0b111 }));
    assert_eq!(read_compressed::<Fp>(&compressed[1..]), Err(DecodeError::Length { got: 47, wanted: 48 }));
    assert_eq!(read_uncompressed::<Fp2>(&[]), Err(DecodeError::Length { got: 0, wanted: 192 }));
}

#[test]
fn coordinates_that_are_not_below_p_are_refused() {
    // p and p + x stand for 0 and x: a second encoding of the same point.
    let p = modulus_bytes();
    let mut x_plus_p = Fp::GENERATOR.to_uncompressed();
    x_plus_p[..48].copy_from_slice(&p);
    assert_eq!(G1Affine::from_uncompressed(&x_plus_p), Err(DecodeError::XNotBelowP));
    let mut y = Fp::GENERATOR.to_uncompressed();
    y[48..].copy_from_slice(&p);
    assert_eq!(G1Affine::from_uncompressed(&y), Err(DecodeError::YNotBelowP));
    // Flags in the second coordinate are part of the number.
    let mut y = Fp::GENERATOR.to_uncompressed();
    y[48] |= 0x80;
    assert_eq!(G1Affine::from_uncompressed(&y), Err(DecodeError::YNotBelowP));
    let mut compressed = p;
    compressed[0] |= 0x80;
    assert_eq!(G1Affine::from_compressed(&compressed), Err(DecodeError::XNotBelowP));
    for (part, wanted) in [
        (0, DecodeError::XNotBelowP),
        (48, DecodeError::XNotBelowP),
        (96, DecodeError::YNotBelowP),
        (144, DecodeError::YNotBelowP),
    ] {
        let mut bytes = Fp2::GENERATOR.to_uncompressed();
        bytes[part..part + 48].copy_from_slice(&p);
        assert_eq!(G2Affine::from_uncompressed(&bytes), Err(wanted));
        assert_eq!(read_uncompressed_unchecked::<Fp2>(&bytes), Err(wanted));
    }
}

#[test]
fn points_off_the_curve_are_refused() {
    let mut bytes = Fp::GENERATOR.to_uncompressed();
    bytes[95] ^= 1;
    assert_eq!(G1Affine::from_uncompressed(&bytes), Err(DecodeError::NotOnCurve));
    assert!(read_uncompressed_unchecked::<Fp>(&bytes).is_ok());
    // (0, 0) without the flag is not infinity.
    assert_eq!(G1Affine::from_uncompressed(&[0; 96]), Err(DecodeError::NotOnCurve));
    assert_eq!(read_uncompressed_unchecked::<Fp2>(&[0; 192]), Err(DecodeError::NotOnCurve));
    let off = (1..).map(Fp::from_small).find(|x| (x.square() * *x + Fp::B).square_root().is_none()).unwrap();
    let mut bytes = off.to_be_bytes();
    bytes[0] |= 0x80;
    assert_eq!(G1Affine::from_compressed(&bytes), Err(DecodeError::NotOnCurve));
}

impl Fp {
    fn from_small(value: u64) -> Self {
        Self::from_canonical([value, 0, 0, 0, 0, 0]).unwrap()
    }
}
