//! Writes small synthetic fixtures for the programs in C, and seeds for the fuzz targets.
//!
//!     make-fixture circuit DIR LOG_ROWS [SEED]
//!     make-fixture recorded DIR FIXTURES KIND
//!     make-fixture seeds DIR
//!
//! `circuit` writes a key (`key.params`), its circuit (`circuit.r1cs`), and of one witness: `witness.wtns`, `inputs`,
//! `aux` (scalars of 32 bytes, little-endian, canonical), `a`, `b`, `c` (the rows' evaluations with those that the key
//! adds), `r`, `s`, `proof` (compressed, what these r and s give) and `masked`: what must not stay in memory, each 32
//! bytes exclusive-or 0xa5: canonical and Montgomery forms of r, s, r s, some values of the witness, some of a and b.
//! `recorded` writes the same, without `masked`, of what `make fixtures` recorded: KIND is spend or output.

use std::error::Error;
use std::fs;
use std::path::Path;

use groth16::formats::points::PointForm;
use groth16::formats::source::Source;
use groth16::formats::{bellman_params, gnark, r1cs, wtns};
use groth16::math::fr::{Fr, MODULUS, scalar_to_le_bytes};
use groth16::prover::circuit::Circuit;
use groth16::prover::setup::{Trapdoor, expected_proof, setup, setup_gnark};
use groth16::prover::synthetic::{self, Rng, Shape};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const MASK: u8 = 0xa5;
const INPUTS: usize = 3;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["circuit", dir, log_rows] => circuit(Path::new(dir), log_rows.parse()?, 1),
        ["circuit", dir, log_rows, seed] => circuit(Path::new(dir), log_rows.parse()?, seed.parse()?),
        ["recorded", dir, fixtures, kind] => recorded(Path::new(dir), Path::new(fixtures), kind),
        ["seeds", dir] => seeds(Path::new(dir)),
        _ => Err("make-fixture circuit DIR LOG_ROWS [SEED] | recorded DIR FIXTURES KIND | seeds DIR".into()),
    }
}

fn circuit(dir: &Path, log_rows: u32, seed: u64) -> Outcome {
    fs::create_dir_all(dir)?;
    let write = |name: &str, bytes: &[u8]| fs::write(dir.join(name), bytes);
    // With the rows that the key adds the domain is full.
    let rows = (1usize << log_rows).saturating_sub(INPUTS).max(1);
    let (file, witness) = synthetic::r1cs(&Shape::new(rows, INPUTS, seed))?;
    let circuit = Circuit::from_r1cs(&file)?;
    let trapdoor = Trapdoor::from_seed(seed);
    let mut rng = Rng::new(seed ^ 0xb11d);
    let (r, s) = (rng.fr(), rng.fr());
    let evaluations = circuit.evaluate_with_inputs(&witness, INPUTS)?;

    let mut params = Vec::new();
    bellman_params::write(&setup(&circuit, &trapdoor)?, &mut params)?;
    write("key.params", &params)?;
    write("circuit.r1cs", &r1cs::to_bytes(&file))?;
    write("witness.wtns", &wtns::to_bytes(&witness)?)?;
    write("inputs", &scalars(&witness[..INPUTS]))?;
    write("aux", &scalars(&witness[INPUTS..]))?;
    write("a", &scalars(&evaluations.a))?;
    write("b", &scalars(&evaluations.b))?;
    write("c", &scalars(&evaluations.c))?;
    write("r", &r.to_le_bytes())?;
    write("s", &s.to_le_bytes())?;
    write("proof", &expected_proof(&circuit, &trapdoor, &witness, r, s)?.to_compressed())?;

    let mut secret = vec![r, s, r * s, -(r * s)];
    secret.extend(spread(&witness[INPUTS..], &circuit));
    secret.extend(spread(&evaluations.a[..rows], &circuit));
    secret.extend(spread(&evaluations.b[..rows], &circuit));
    let masked = secret.iter().flat_map(|value| [value.to_le_bytes(), montgomery(value)]).flatten();
    write("masked", &masked.map(|byte| byte ^ MASK).collect::<Vec<u8>>())?;
    Ok(())
}

/// The files of the first proof of a real circuit.
fn recorded(dir: &Path, fixtures: &Path, kind: &str) -> Outcome {
    fs::create_dir_all(dir)?;
    let copies = [("key.params", ".params"), ("circuit.r1cs", ".r1cs"), ("witness.wtns", "-0.wtns")];
    for (name, from) in copies.into_iter().chain([("r", "-0.r"), ("s", "-0.s"), ("proof", "-0.proof")]) {
        fs::copy(fixtures.join(format!("{kind}{from}")), dir.join(name))?;
    }
    let open = |name: &str| Source::open(&dir.join(name));
    let circuit = Circuit::from_r1cs(&r1cs::read(&open("circuit.r1cs")?)?)?;
    let witness = wtns::read(&open("witness.wtns")?)?;
    let inputs = circuit.num_inputs();
    let evaluations = circuit.evaluate_with_inputs(&witness, inputs)?;
    let (public, aux) = witness.split_at(inputs);
    let files = [("inputs", public), ("aux", aux), ("a", &evaluations.a), ("b", &evaluations.b), ("c", &evaluations.c)];
    for (name, values) in files {
        fs::write(dir.join(name), scalars(values))?;
    }
    Ok(())
}

/// Up to eight values of full size from all over the slice, the last one included; none that is a public number, or one
/// plus or minus a small one.
fn spread(values: &[Fr], circuit: &Circuit) -> Vec<Fr> {
    let top = |value: &Fr| value.to_canonical()[3];
    let mut public: Vec<u64> = circuit.coefficients().iter().map(top).collect();
    public.extend([0, MODULUS[3]]);
    let is_secret = |value: &Fr| !public.contains(&top(value));
    let large: Vec<Fr> = values.iter().copied().filter(is_secret).collect();
    let step = large.len().div_ceil(8).max(1);
    large.iter().rev().step_by(step).copied().collect()
}

fn scalars(values: &[Fr]) -> Vec<u8> {
    values.iter().flat_map(Fr::to_le_bytes).collect()
}

/// The value as the library holds it.
fn montgomery(value: &Fr) -> [u8; 32] {
    scalar_to_le_bytes(&value.to_montgomery())
}

/// Keys of gnark for a circuit, in both forms.
fn gnark_seeds(dir: &Path, circuit: &Path, log_rows: u32) -> Outcome {
    let circuit = Circuit::from_r1cs(&r1cs::read(&Source::open(circuit)?)?)?;
    let (pk, vk) = setup_gnark(&circuit, &Trapdoor::from_seed(1))?;
    for form in [PointForm::Compressed, PointForm::Uncompressed] {
        let name = format!("{log_rows}.{form:?}");
        for target in ["gnark_pk", "gnark_vk"] {
            fs::create_dir_all(dir.join(target))?;
        }
        gnark::pk::write(&pk, form, fs::File::create(dir.join("gnark_pk").join(&name))?)?;
        gnark::vk::write(&vk, form, fs::File::create(dir.join("gnark_vk").join(&name))?)?;
    }
    Ok(())
}

/// For each fuzz target a directory with a few valid inputs.
fn seeds(dir: &Path) -> Outcome {
    for log_rows in [0, 2, 4] {
        let work = dir.join(".work");
        circuit(&work, log_rows, u64::from(log_rows))?;
        for (target, file) in
            [("bellman_params", "key.params"), ("r1cs", "circuit.r1cs"), ("wtns", "witness.wtns"), ("proof", "proof")]
        {
            fs::create_dir_all(dir.join(target))?;
            fs::copy(work.join(file), dir.join(target).join(format!("{log_rows}")))?;
        }
        let key = fs::read(work.join("key.params"))?;
        // The verifying key ends with the section ic: six points, a count, and INPUTS points.
        let vk = key.get(..864 + 4 + 96 * INPUTS).ok_or("a short key")?;
        fs::create_dir_all(dir.join("vk"))?;
        fs::write(dir.join("vk").join(format!("{log_rows}")), vk)?;
        gnark_seeds(dir, &work.join("circuit.r1cs"), log_rows)?;
        let proof = groth16::formats::proof::Proof::from_bytes(&fs::read(work.join("proof"))?)?;
        fs::write(dir.join("proof").join(format!("{log_rows}.uncompressed")), proof.to_uncompressed())?;
        fs::write(dir.join("proof").join(format!("{log_rows}.json")), proof.to_json())?;
        // The target reads small numbers and terms from any bytes: a circuit is as good a source as others.
        fs::create_dir_all(dir.join("csr"))?;
        fs::copy(work.join("circuit.r1cs"), dir.join("csr").join(format!("{log_rows}")))?;
        fs::remove_dir_all(&work)?;
    }
    Ok(())
}
