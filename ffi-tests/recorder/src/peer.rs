//! bellman with the crate groth16 (zkcrypto), the prover that Zcash ships, as a peer to measure against.

use std::time::{Duration, Instant};

use anyhow::ensure;
use bls12_381::{Bls12, Scalar};
use zkcrypto_groth16::{Parameters, create_proof};

use crate::r1cs::{R1cs, Replay, Witness};
use crate::sapling::{Instance, Kind, proof_bytes};

/// Makes bellman prove on `threads` threads.
///
/// bellman works on rayon's process-wide pool and cannot work inside another one (its `Waiter::wait` refuses), so the
/// number can be set once in a process: another number is an error.
pub fn set_bellman_threads(threads: usize) -> anyhow::Result<()> {
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    let present = rayon::current_num_threads();
    ensure!(built.is_ok() || present == threads, "bellman's threads are {present} in this process already");
    Ok(())
}

/// A circuit with a witness and the real key, ready to be proved by bellman.
pub struct Bellman {
    instance: Instance,
    r1cs: R1cs,
    witness: Witness,
    parameters: Parameters<Bls12>,
}

/// One proof: its compressed bytes and how long it took.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// A, B, C in 48, 96 and 48 bytes.
    pub proof: [u8; 192],
    /// From the call to the encoded proof.
    pub time: Duration,
}

impl Bellman {
    /// Loads the key and makes the instance `index` of `seed`.
    pub fn new(kind: Kind, seed: u64, index: u64) -> anyhow::Result<Self> {
        let instance = Instance::random(kind, seed, index)?;
        let witness = instance.witness()?;
        Ok(Self { r1cs: kind.r1cs()?, witness, parameters: kind.parameters()?, instance })
    }

    /// The witness that is proved.
    pub fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Proves with the witness and the constraints given: no gadget computes anything, which is the least that
    /// bellman's interface allows.
    pub fn prove_recorded(&self, r: Scalar, s: Scalar) -> anyhow::Result<Timed> {
        let start = Instant::now();
        let replay = Replay { r1cs: &self.r1cs, witness: &self.witness };
        let proof = proof_bytes(&create_proof(replay, &self.parameters, r, s)?)?;
        Ok(Timed { proof, time: start.elapsed() })
    }

    /// Proves as Zcash does: the circuit's gadgets compute the witness on the way.
    pub fn prove_synthesized(&self, r: Scalar, s: Scalar) -> anyhow::Result<Timed> {
        let start = Instant::now();
        let proof = self.instance.prove(&self.parameters, r, s)?;
        Ok(Timed { proof, time: start.elapsed() })
    }
}

/// Times of `runs` whole proofs as Zcash makes them, on `threads` threads (see [`set_bellman_threads`]).
pub fn bellman_prove_time(kind: Kind, threads: usize, runs: usize) -> anyhow::Result<Vec<Duration>> {
    set_bellman_threads(threads)?;
    let bellman = Bellman::new(kind, 1, 0)?;
    let (r, s) = bellman.instance.randomness();
    (0..runs).map(|_| Ok(bellman.prove_synthesized(r, s)?.time)).collect()
}
