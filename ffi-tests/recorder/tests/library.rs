//! The library reads what the recorder writes, and its textbook prover gives bellman's bytes on the real key.

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
use recorder::fixtures::{Contents, instance_file, kind_file, record};
use recorder::sapling::Kind;

fn open(path: &Path) -> Source<'static> {
    Source::open(path).unwrap()
}

fn load(dir: &Path, kind: Kind) -> (Circuit, ProvingKey) {
    let circuit = Circuit::from_r1cs(&r1cs::read(&open(&kind_file(dir, kind, "r1cs"))).unwrap()).unwrap();
    let options = ReadOptions { checks: PointChecks::OnCurve, ..ReadOptions::default() };
    let params = bellman_params::read(&open(&kind_file(dir, kind, "params")), &options).unwrap();
    let key = ProvingKey::from_bellman_with_circuit(params, &circuit).unwrap();
    (circuit, key)
}

fn scalar(path: &Path) -> Fr {
    Fr::from_le_bytes(&std::fs::read(path).unwrap().try_into().unwrap()).unwrap()
}

#[test]
fn the_library_reads_the_fixtures_and_gives_the_same_proof() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    record(dir, &Contents { seed: 5, spends: 1, outputs: 1 }).unwrap();
    for kind in Kind::ALL {
        let file = |extension| instance_file(dir, kind, 0, extension);
        // The real key fits the densities of the recorded circuit.
        let (circuit, key) = load(dir, kind);
        assert_eq!((circuit.num_rows(), circuit.num_inputs(), circuit.num_aux()), kind.shape());
        let witness = wtns::read(&open(&file("wtns"))).unwrap();
        assert_eq!(circuit.evaluate(&witness).unwrap().first_unsatisfied(), None);

        let proof = Proof::from_bytes(&std::fs::read(file("proof")).unwrap()).unwrap();
        assert!(verify::verify(key.verifying_key().unwrap(), &witness[..circuit.num_inputs()], &proof).unwrap());
        // Quadratic in the domain size: too slow for the other circuit.
        if kind == Kind::Output {
            let own = reference::prove(&key, &circuit, &witness, scalar(&file("r")), scalar(&file("s"))).unwrap();
            assert_eq!(own.to_compressed(), proof.to_compressed());
        }
    }
}
