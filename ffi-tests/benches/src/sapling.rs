//! Whole Sapling proofs by this library and by bellman with groth16 (zkcrypto), the prover that Zcash ships, where nothing but
//! this program and the shared library is: it records the circuits, makes their keys by this library's set-up, of the published
//! ones' shape (`make bench` takes the published keys), and writes both to a folder that it removes.
//!
//! Arguments: --library FILE (libgroth16.so), --threads N (2), --rounds N (5). Both prove the same witness with the same randomness
//! in turn, from the witness to the proof; bellman gets witness and constraints as recorded, so that it computes no witness. The proofs
//! must be equal byte for byte. A line `RATIO sapling_spend_T2_vs_bellman value` a circuit: how many times faster, by each one's
//! best time, this library's with its own verification.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use bls12_381::{Bls12, Scalar};
use groth16::formats::source::Source;
use groth16::formats::{bellman_params, r1cs as iden3_r1cs};
use groth16::prover::circuit::Circuit;
use groth16::prover::setup::{Trapdoor, setup};
use recorder::fixtures::kind_file;
use recorder::iden3::write_r1cs;
use recorder::library::{Library, Prover};
use recorder::r1cs::{R1cs, Replay, Witness};
use recorder::sapling::{Instance, Kind, proof_bytes};
use zkcrypto_groth16::{Parameters, create_proof};

struct Options {
    library: PathBuf,
    threads: u32,
    rounds: u64,
}

fn options() -> Options {
    let mut options = Options { library: "libgroth16.so".into(), threads: 2, rounds: 5 };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().expect("an option's value");
        match argument.as_str() {
            "--library" => options.library = value.into(),
            "--threads" => options.threads = value.parse().unwrap(),
            "--rounds" => options.rounds = value.parse().unwrap(),
            _ => panic!("{argument}: not an option"),
        }
    }
    options
}

/// A folder that goes with this value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("sapling-bench-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes a circuit and a key for it.
fn write(folder: &Path, kind: Kind, r1cs: &R1cs) {
    let path = kind_file(folder, kind, "r1cs");
    let mut out = BufWriter::new(File::create(&path).unwrap());
    write_r1cs(r1cs, &mut out).unwrap();
    out.flush().unwrap();
    // On the global pool, where this library's kernels run on several threads too.
    let params = rayon::scope(|_| {
        let circuit = Circuit::from_r1cs(&iden3_r1cs::read(&Source::open(&path).unwrap()).unwrap()).unwrap();
        setup(&circuit, &Trapdoor::from_seed(1)).unwrap()
    });
    let mut out = BufWriter::new(File::create(kind_file(folder, kind, "params")).unwrap());
    bellman_params::write(&params, &mut out).unwrap();
    out.flush().unwrap();
}

/// One proof by bellman, and its milliseconds.
fn bellman(key: &Parameters<Bls12>, r1cs: &R1cs, witness: &Witness, r: Scalar, s: Scalar) -> ([u8; 192], f64) {
    let start = Instant::now();
    let proof = proof_bytes(&create_proof(Replay { r1cs, witness }, key, r, s).unwrap()).unwrap();
    (proof, start.elapsed().as_secs_f64() * 1e3)
}

fn compare(options: &Options, library: &Library, folder: &Path, kind: Kind) {
    let witness = Instance::random(kind, 1, 0).unwrap().witness().unwrap();
    let r1cs = kind.r1cs().unwrap();
    write(folder, kind, &r1cs);
    let file = BufReader::new(File::open(kind_file(folder, kind, "params")).unwrap());
    let key = Parameters::<Bls12>::read(file, false).unwrap();
    let prover = Prover::new(library, folder, kind, options.threads).unwrap();
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for round in 0..=options.rounds {
        let (r, s) = (Scalar::from(2 * round + 3).square(), Scalar::from(2 * round + 5).square());
        let (proof, time) = bellman(&key, &r1cs, &witness, r, s);
        let own = prover.prove(&witness, r, s).unwrap();
        assert!(own.proof == proof, "{kind}: this library's proof differs from bellman's");
        // Round 0 warms up caches and pools.
        if round > 0 {
            (ours, theirs) = (ours.min(own.time.as_secs_f64() * 1e3), theirs.min(time));
        }
    }
    let threads = options.threads;
    println!("RATIO sapling_{kind}_T{threads}_vs_bellman {:.3}   ({ours:.1} ms against {theirs:.1} ms)", theirs / ours);
}

fn main() {
    let options = options();
    // bellman works on the global pool.
    rayon::ThreadPoolBuilder::new().num_threads(options.threads as usize).build_global().unwrap();
    println!("vector instructions: {}", groth16::math::simd::instructions());
    let (library, folder) = (Library::open(&options.library).unwrap(), Folder::new());
    for kind in Kind::ALL {
        compare(&options, &library, &folder.0, kind);
    }
}
