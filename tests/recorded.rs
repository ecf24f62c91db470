//! The library reads what the recorder writes, and its textbook prover gives bellman's bytes on the real key.
//!
//! A test of this package, not of the recorder's, whose dependencies would have the library compiled anew with other features of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use groth16::formats::bellman_params::{self, PointChecks, ReadOptions};
use groth16::formats::proof::Proof;
use groth16::formats::source::Source;
use groth16::formats::{r1cs, wtns};
use groth16::math::fr::Fr;
use groth16::prover::circuit::Circuit;
use groth16::prover::key::ProvingKey;
use groth16::prover::{reference, verify};

fn open(path: &Path) -> Source<'static> {
    Source::open(path).unwrap()
}

fn load(files: &Path) -> (Circuit, ProvingKey) {
    let circuit = Circuit::from_r1cs(&r1cs::read(&open(&files.with_extension("r1cs"))).unwrap()).unwrap();
    let options = ReadOptions { checks: PointChecks::OnCurve, ..ReadOptions::default() };
    let params = bellman_params::read(&open(&files.with_extension("params")), &options).unwrap();
    let key = ProvingKey::from_bellman_with_circuit(params, &circuit).unwrap();
    (circuit, key)
}

fn scalar(path: &Path) -> Fr {
    Fr::from_le_bytes(&std::fs::read(path).unwrap().try_into().unwrap()).unwrap()
}

#[test]
#[ignore = "needs the files of `make fixtures`"]
fn the_library_reads_the_fixtures_and_gives_the_same_proof() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fixtures");
    assert!(dir.join("manifest").exists(), "{} is not there: `make fixtures`", dir.display());
    for (kind, shape) in [("spend", (98_777, 8, 98_638)), ("output", (7_827, 6, 7_821))] {
        let file = |extension| dir.join(format!("{kind}-0.{extension}"));
        // The real key fits the densities of the recorded circuit.
        let (circuit, key) = load(&dir.join(kind));
        assert_eq!((circuit.num_rows(), circuit.num_inputs(), circuit.num_aux()), shape);
        let witness = wtns::read(&open(&file("wtns"))).unwrap();
        assert_eq!(circuit.evaluate(&witness).unwrap().first_unsatisfied(), None);

        let proof = Proof::from_bytes(&std::fs::read(file("proof")).unwrap()).unwrap();
        assert!(verify::verify(key.verifying_key().unwrap(), &witness[..circuit.num_inputs()], &proof).unwrap());
        // Quadratic in the domain size: too slow for the other circuit.
        if kind == "output" {
            let own = reference::prove(&key, &circuit, &witness, scalar(&file("r")), scalar(&file("s"))).unwrap();
            assert_eq!(own.to_compressed(), proof.to_compressed());
        }
    }
}
