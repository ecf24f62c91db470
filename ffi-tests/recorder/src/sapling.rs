//! Random valid instances of the Sapling circuits, and the real parameters.

use std::fmt;

use anyhow::{Context, ensure};
use bellman::gadgets::multipack::{bytes_to_bits_le, compute_multipacking};
use bls12_381::{Bls12, Scalar};
use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use ff::{Field, PrimeField};
use group::Curve;
use jubjub::{AffinePoint, ExtendedPoint};
use sapling_crypto::circuit::{Output, Spend, ValueCommitmentOpening};
use sapling_crypto::keys::ExpandedSpendingKey;
use sapling_crypto::value::{NoteValue, ValueCommitTrapdoor, ValueCommitment};
use sapling_crypto::{Diversifier, Note, PaymentAddress, ProofGenerationKey, Rseed, merkle_hash};
use zkcrypto_groth16::{Parameters, Proof};

use crate::r1cs::{R1cs, Witness, record_matrices, record_witness};

/// Depth of the note commitment tree.
const TREE_DEPTH: usize = 32;
/// Notes are worth at most 21 million ZEC, in zatoshi.
const MAX_MONEY: u64 = 2_100_000_000_000_000;

/// Which of the two circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Spends a note: domain size 2^17.
    Spend,
    /// Creates a note: domain size 2^13.
    Output,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Spend, Self::Output];

    /// As it begins file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spend => "spend",
            Self::Output => "output",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Constraints, inputs (one included) and auxiliary variables of the circuit.
    pub fn shape(self) -> (usize, usize, usize) {
        match self {
            Self::Spend => (98_777, 8, 98_638),
            Self::Output => (7_827, 6, 7_821),
        }
    }

    /// The circuit's matrices.
    pub fn r1cs(self) -> anyhow::Result<R1cs> {
        let r1cs = match self {
            Self::Spend => record_matrices(blank_spend())?,
            Self::Output => record_matrices(blank_output())?,
        };
        let shape = (r1cs.num_rows(), r1cs.num_inputs, r1cs.num_aux);
        ensure!(shape == self.shape(), "{self}: the circuit has shape {shape:?}, expected {:?}", self.shape());
        Ok(r1cs)
    }

    /// The proving key of Zcash's main network, as the bytes of its `.params` file.
    pub fn parameter_bytes(self) -> Vec<u8> {
        let (spend, output) = wagyu_zcash_parameters::load_sapling_parameters();
        match self {
            Self::Spend => spend,
            Self::Output => output,
        }
    }

    /// The same, parsed by the crate groth16 (zkcrypto).
    pub fn parameters(self) -> anyhow::Result<Parameters<Bls12>> {
        // Points are not checked: that takes 14 s, and the bytes come from a crate with a checksum.
        Ok(Parameters::read(&self.parameter_bytes()[..], false)?)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[derive(Clone)]
enum Circuit {
    Spend(Box<Spend>),
    Output(Box<Output>),
}

/// A circuit with a valid witness.
#[derive(Clone)]
pub struct Instance {
    circuit: Circuit,
    /// The public inputs (without the one), computed outside of the circuit as a verifier of transactions does.
    public_inputs: Vec<Scalar>,
    /// Randomness of a proof.
    r: Scalar,
    s: Scalar,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("kind", &self.kind()).finish_non_exhaustive()
    }
}

impl Instance {
    /// The instance number `index` of a kind: random, yet always the same for a seed.
    pub fn random(kind: Kind, seed: u64, index: u64) -> anyhow::Result<Self> {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&index.to_le_bytes());
        key[16] = kind as u8;
        let mut rng = ChaCha20Rng::from_seed(key);
        let (circuit, public_inputs) = match kind {
            Kind::Spend => random_spend(&mut rng)?,
            Kind::Output => random_output(&mut rng)?,
        };
        Ok(Self { circuit, public_inputs, r: Scalar::random(&mut rng), s: Scalar::random(&mut rng) })
    }

    /// Which circuit it is.
    pub fn kind(&self) -> Kind {
        match self.circuit {
            Circuit::Spend(_) => Kind::Spend,
            Circuit::Output(_) => Kind::Output,
        }
    }

    /// Random r and s for a proof of this instance.
    pub fn randomness(&self) -> (Scalar, Scalar) {
        (self.r, self.s)
    }

    /// The values of all variables, checked against the public inputs.
    pub fn witness(&self) -> anyhow::Result<Witness> {
        let witness = match self.circuit.clone() {
            Circuit::Spend(spend) => record_witness(*spend)?,
            Circuit::Output(output) => record_witness(*output)?,
        };
        let kind = self.kind();
        ensure!(witness.inputs[1..] == self.public_inputs, "{kind}: the circuit computes other public inputs");
        Ok(witness)
    }

    /// The proof by the crate groth16 (zkcrypto) with the randomness `r` and `s`, which determine it.
    pub fn prove(&self, parameters: &Parameters<Bls12>, r: Scalar, s: Scalar) -> anyhow::Result<[u8; 192]> {
        let proof = match self.circuit.clone() {
            Circuit::Spend(spend) => zkcrypto_groth16::create_proof(*spend, parameters, r, s)?,
            Circuit::Output(output) => zkcrypto_groth16::create_proof(*output, parameters, r, s)?,
        };
        proof_bytes(&proof)
    }
}

/// The compressed encoding of a proof: A, B, C in 48, 96 and 48 bytes.
pub fn proof_bytes(proof: &Proof<Bls12>) -> anyhow::Result<[u8; 192]> {
    let mut bytes = [0; 192];
    proof.write(&mut bytes[..])?;
    Ok(bytes)
}

fn blank_spend() -> Spend {
    Spend {
        value_commitment_opening: None,
        proof_generation_key: None,
        payment_address: None,
        commitment_randomness: None,
        ar: None,
        auth_path: vec![None; TREE_DEPTH],
        anchor: None,
    }
}

fn blank_output() -> Output {
    Output { value_commitment_opening: None, payment_address: None, commitment_randomness: None, esk: None }
}

fn bytes<const N: usize>(rng: &mut ChaCha20Rng) -> [u8; N] {
    let mut bytes = [0; N];
    rng.fill_bytes(&mut bytes);
    bytes
}

fn random_key(rng: &mut ChaCha20Rng) -> anyhow::Result<ProofGenerationKey> {
    let key: [u8; 32] = bytes(rng);
    Ok(ExpandedSpendingKey::from_spending_key(&key)
        .context("a random spending key was refused")?
        .proof_generation_key())
}

fn random_address(key: &ProofGenerationKey, rng: &mut ChaCha20Rng) -> PaymentAddress {
    let view = key.to_viewing_key();
    // About every second diversifier is a valid one.
    loop {
        if let Some(address) = view.to_payment_address(Diversifier(bytes(rng))) {
            return address;
        }
    }
}

/// A random note for `address` with the opening of its value commitment.
fn random_note(address: PaymentAddress, rng: &mut ChaCha20Rng) -> (Note, ValueCommitmentOpening, ValueCommitment) {
    let value = NoteValue::from_raw(rng.next_u64() % MAX_MONEY + 1);
    let note = address.create_note(value, Rseed::AfterZip212(bytes(rng)));
    let trapdoor = ValueCommitTrapdoor::random(&mut *rng);
    let opening = ValueCommitmentOpening { value, randomness: trapdoor.inner() };
    (note, opening, ValueCommitment::derive(value, trapdoor))
}

fn scalar(bytes: [u8; 32]) -> anyhow::Result<Scalar> {
    Option::from(Scalar::from_repr(bytes)).context("not a canonical scalar")
}

fn coordinates(point: &ExtendedPoint) -> [Scalar; 2] {
    let point = point.to_affine();
    [point.get_u(), point.get_v()]
}

fn random_spend(rng: &mut ChaCha20Rng) -> anyhow::Result<(Circuit, Vec<Scalar>)> {
    let key = random_key(rng)?;
    let address = random_address(&key, rng);
    let (note, opening, value_commitment) = random_note(address, rng);
    let ar = jubjub::Fr::random(&mut *rng);
    let position = rng.next_u64() >> (64 - TREE_DEPTH);

    let mut node = note.cmu().to_bytes();
    let mut auth_path = Vec::with_capacity(TREE_DEPTH);
    for level in 0..TREE_DEPTH {
        let sibling = Scalar::random(&mut *rng);
        let on_the_right = (position >> level) & 1 == 1;
        node = if on_the_right {
            merkle_hash(level, &sibling.to_repr(), &node)
        } else {
            merkle_hash(level, &node, &sibling.to_repr())
        };
        auth_path.push(Some((sibling, on_the_right)));
    }
    let anchor = scalar(node)?;

    let view = key.to_viewing_key();
    let rk: AffinePoint = Option::from(AffinePoint::from_bytes(view.rk(ar).into())).context("rk is not a point")?;
    let nullifier = compute_multipacking(&bytes_to_bits_le(&note.nf(view.nk(), position).0));
    let public_inputs =
        [&coordinates(&rk.into())[..], &coordinates(value_commitment.as_inner()), &[anchor], &nullifier].concat();

    let spend = Spend {
        value_commitment_opening: Some(opening),
        proof_generation_key: Some(key),
        payment_address: Some(address),
        commitment_randomness: Some(note.rcm()),
        ar: Some(ar),
        auth_path,
        anchor: Some(anchor),
    };
    Ok((Circuit::Spend(Box::new(spend)), public_inputs))
}

fn random_output(rng: &mut ChaCha20Rng) -> anyhow::Result<(Circuit, Vec<Scalar>)> {
    let address = random_address(&random_key(rng)?, rng);
    let (note, opening, value_commitment) = random_note(address, rng);
    let esk = jubjub::Fr::random(&mut *rng);

    let g_d = address.diversifier().g_d().context("the diversifier has no base point")?;
    let epk = ExtendedPoint::from(g_d * esk);
    let cmu = scalar(note.cmu().to_bytes())?;
    let public_inputs = [&coordinates(value_commitment.as_inner())[..], &coordinates(&epk), &[cmu]].concat();

    let output = Output {
        value_commitment_opening: Some(opening),
        payment_address: Some(address),
        commitment_randomness: Some(note.rcm()),
        esk: Some(esk),
    };
    Ok((Circuit::Output(Box::new(output)), public_inputs))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use crate::r1cs::Replay;

    #[test]
    fn instances_are_valid_and_depend_on_seed_and_index() {
        for kind in Kind::ALL {
            let r1cs = kind.r1cs().unwrap();
            let witness = |seed, index| Instance::random(kind, seed, index).unwrap().witness().unwrap();
            let witnesses = [witness(1, 0), witness(1, 1), witness(2, 0)];
            for witness in &witnesses {
                r1cs.check(witness).unwrap();
            }
            assert_ne!(witnesses[0], witnesses[1]);
            assert_ne!(witnesses[0], witnesses[2]);
            assert_eq!(witnesses[0], witness(1, 0));
        }
    }

    #[test]
    fn a_replayed_circuit_gives_the_same_proof() {
        let instance = Instance::random(Kind::Output, 3, 0).unwrap();
        let parameters = Kind::Output.parameters().unwrap();
        let (r, s) = instance.randomness();
        let (r1cs, witness) = (Kind::Output.r1cs().unwrap(), instance.witness().unwrap());
        let replay = Replay { r1cs: &r1cs, witness: &witness };
        let replayed = zkcrypto_groth16::create_proof(replay, &parameters, r, s).unwrap();
        assert_eq!(proof_bytes(&replayed).unwrap(), instance.prove(&parameters, r, s).unwrap());
        let verifying_key = zkcrypto_groth16::prepare_verifying_key(&parameters.vk);
        zkcrypto_groth16::verify_proof(&verifying_key, &replayed, &instance.public_inputs).unwrap();
    }
}
