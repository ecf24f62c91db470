use super::{damage, outside_subgroup, refuse};
use crate::error::{Error, Result, Status};
use crate::formats::proof::Proof;
use crate::formats::source::Source;
use crate::math::curve::{Affine, CurveField};
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;

fn example() -> Proof {
    let g1 = |k| Fp::GENERATOR.mul(&[k, 1, 2, 3]).to_affine();
    Proof { a: g1(1), b: Fp2::GENERATOR.mul(&[5, 6, 7, 8]).to_affine(), c: g1(2) }
}

fn read(source: &Source<'_>) -> Result<Proof> {
    match source {
        Source::Bytes(bytes) => Proof::from_bytes(bytes),
        Source::File { .. } => Err(Error::internal("no file here")),
    }
}

#[test]
fn proofs_round_trip() {
    let proof = example();
    assert_eq!(Proof::from_bytes(&proof.to_compressed()), Ok(proof));
    assert_eq!(Proof::from_bytes(&proof.to_uncompressed()), Ok(proof));
    assert_eq!(Proof::from_json(&proof.to_json()), Ok(proof));
    for len in [0, 1, 191, 193, 383, 385] {
        let error = Proof::from_bytes(&vec![0; len]).unwrap_err();
        assert!(error.message().starts_with(&format!("proof: got {len} bytes")), "{error}");
    }
    damage(read, &proof.to_compressed(), &[0, 48, 144]);
    damage(read, &proof.to_uncompressed(), &[0, 96, 288]);
}

#[test]
fn json_has_the_fields_and_digits_of_snarkjs() {
    let value: serde_json::Value = serde_json::from_str(&example().to_json()).unwrap();
    let mut keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["curve", "pi_a", "pi_b", "pi_c", "protocol"]);
    assert_eq!((&value["protocol"], &value["curve"]), (&"groth16".into(), &"bls12381".into()));
    let generator = Proof { a: Fp::GENERATOR, b: Fp2::GENERATOR, c: Fp::GENERATOR };
    let value: serde_json::Value = serde_json::from_str(&generator.to_json()).unwrap();
    // The generator's coordinates in decimal, from the curve's definition.
    assert_eq!(
        value["pi_a"][0],
        "3685416753713387016781088315183077757961620795782546409894578378688607592378376318836054947676345821548104185464507"
    );
    assert_eq!(
        value["pi_b"][0][0],
        "352701069587466618187139116011060144890029952792775240219908644239793785735715026873347600343865175952761926303160"
    );
    assert_eq!((&value["pi_a"][2], &value["pi_b"][2]), (&"1".into(), &serde_json::json!(["1", "0"])));
}

#[test]
fn bad_json_is_refused_with_its_place() {
    let text = example().to_json();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let x = value["pi_a"][0].as_str().unwrap();
    let p = "4002409555221667393417789825735904156556882819939007885332058136124031650490837864442687629129015664037894272559787";
    let cases: [(&str, &str, Status, &str); 9] = [
        ("groth16", "plonk", Status::Unsupported, "proof: \"protocol\" is \"plonk\""),
        ("bls12381", "bn128", Status::Unsupported, "proof: \"curve\" is \"bn128\""),
        ("\"curve\":\"bls12381\",", "", Status::Format, "proof: \"curve\" is not a name"),
        (x, p, Status::Format, "proof: pi_a[0]: not below p"),
        (x, "-1", Status::Format, "proof: pi_a[0]: not a string of decimal digits"),
        (x, "", Status::Format, "proof: pi_a[0]: not a string of decimal digits"),
        (x, "1", Status::Format, "proof: pi_a: the point is not on the curve"),
        ("pi_b", "pi_d", Status::Format, "proof: pi_b[2] is not [\"1\",\"0\"]"),
        ("{", "[", Status::Format, "proof: not JSON"),
    ];
    for (from, to, status, message) in cases {
        let error = Proof::from_json(&text.replacen(from, to, 1)).unwrap_err();
        assert!(error.status() == status && error.message().starts_with(message), "{message}: {error}");
    }
    let long = text.replacen(x, &"9".repeat(1_000_000), 1);
    assert_eq!(Proof::from_json(&long).unwrap_err().message(), "proof: pi_a[0]: not a string of decimal digits");
}

#[test]
fn infinity_and_points_outside_the_subgroup_are_refused() {
    let good = example();
    for (name, json_name, which) in [("A", "pi_a", 0), ("B", "pi_b", 1), ("C", "pi_c", 2)] {
        for infinity in [true, false] {
            let mut proof = good;
            match which {
                0 => proof.a = if infinity { Affine::INFINITY } else { outside_subgroup() },
                1 => proof.b = if infinity { Affine::INFINITY } else { outside_subgroup() },
                _ => proof.c = if infinity { Affine::INFINITY } else { outside_subgroup() },
            }
            let why = if infinity { "the point is at infinity" } else { "the point is not in the subgroup of order r" };
            for bytes in [&proof.to_compressed()[..], &proof.to_uncompressed()[..]] {
                assert_eq!(refuse(read, bytes).message(), format!("proof: {name}: {why}"));
            }
            let error = Proof::from_json(&proof.to_json()).unwrap_err();
            if infinity {
                assert!(error.message().starts_with(&format!("proof: {json_name}[2] is ")), "{error}");
            } else {
                assert_eq!(error.message(), format!("proof: {json_name}: {why}"));
            }
        }
    }
}
