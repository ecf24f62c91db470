//! Synthetic circuits with keys of a known trapdoor: every proof has an exact expected value.
#![allow(clippy::unwrap_used)]

use groth16::formats::bellman_params;
use groth16::formats::proof::Proof;
use groth16::formats::r1cs::{self, R1cs};
use groth16::math::fr::Fr;
use groth16::prover::circuit::{Circuit as Model, Evaluations};
use groth16::prover::density::Density;
use groth16::prover::setup::{self, Trapdoor};
use groth16::prover::synthetic::{self, Rng, Shape};

use crate::handles::Request;

/// How scalars are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// GROTH16_SCALARS_CANONICAL
    Canonical = 0,
    /// GROTH16_SCALARS_MONTGOMERY
    Montgomery = 1,
}

/// A circuit, its key, a witness, and the proof of it.
pub struct Fixture {
    /// The circuit as an iden3 file has it.
    pub r1cs: R1cs,
    /// The circuit as the library has it.
    pub model: Model,
    /// Constant one, inputs, aux.
    pub witness: Vec<Fr>,
    /// The key file.
    pub key: Vec<u8>,
    /// The secret of the key.
    pub trapdoor: Trapdoor,
    /// Blinding scalars.
    pub blinding: [Fr; 2],
    /// What every right prover makes of all this.
    pub proof: Proof,
}

impl Fixture {
    /// A fixture with as many rows, those for the inputs included, as `total`, at least `inputs`.
    pub fn with_rows(total: usize, inputs: usize) -> Self {
        Self::new(&Shape::new(total - inputs, inputs, total as u64))
    }

    /// A fixture of this shape.
    pub fn new(shape: &Shape) -> Self {
        let (r1cs, witness) = synthetic::r1cs(shape).unwrap();
        let model = Model::from_r1cs(&r1cs).unwrap();
        let trapdoor = Trapdoor::from_seed(shape.seed ^ 0xf1f2);
        let mut key = Vec::new();
        bellman_params::write(&setup::setup(&model, &trapdoor).unwrap(), &mut key).unwrap();
        let mut rng = Rng::new(shape.seed ^ 0xb11d);
        let blinding = [rng.fr(), rng.fr()];
        let proof = setup::expected_proof(&model, &trapdoor, &witness, blinding[0], blinding[1]).unwrap();
        Self { r1cs, model, witness, key, trapdoor, blinding, proof }
    }

    /// The bytes of an .r1cs file.
    pub fn r1cs_bytes(&self) -> Vec<u8> {
        r1cs::to_bytes(&self.r1cs)
    }

    /// Inputs, the constant one included.
    pub fn num_inputs(&self) -> usize {
        self.model.num_inputs()
    }

    /// The inputs as `groth16_verify` wants them.
    pub fn public(&self) -> Vec<u8> {
        encode(&self.witness[..self.num_inputs()], Form::Canonical)
    }

    /// A job that proves the witness with a circuit, with the fixed blinding scalars.
    pub fn request(&self, form: Form) -> Request {
        self.request_of(&self.witness, form)
    }

    /// The same for another witness.
    pub fn request_of(&self, witness: &[Fr], form: Form) -> Request {
        let (inputs, aux) = witness.split_at(self.num_inputs());
        Request {
            inputs: encode(inputs, form),
            aux: encode(aux, form),
            blinding: Some(self.blinding.map(|scalar| scalar.to_le_bytes())),
            scalar_form: form as i32,
            ..Request::default()
        }
    }

    /// A job that proves the witness with evaluated rows.
    pub fn evaluated_request(&self, form: Form, with_c: bool) -> Request {
        self.evaluated_request_of(&self.witness, form, with_c)
    }

    /// The same for another witness.
    pub fn evaluated_request_of(&self, witness: &[Fr], form: Form, with_c: bool) -> Request {
        let rows: Evaluations = self.model.evaluate_with_inputs(witness, self.num_inputs()).unwrap();
        let c = if with_c { encode(&rows.c, form) } else { Vec::new() };
        Request { rows: [encode(&rows.a, form), encode(&rows.b, form), c], ..self.request_of(witness, form) }
    }

    /// The words of the densities a_aux, b_inputs and b_aux, with the numbers of variables.
    pub fn density_words(&self) -> [(Vec<u64>, usize); 3] {
        let densities = self.model.densities();
        [densities.a_aux, densities.b_inputs, densities.b_aux].map(|density| words(&density.unwrap()))
    }
}

fn words(density: &Density) -> (Vec<u64>, usize) {
    let mut words = vec![0; density.len().div_ceil(64)];
    density.members().for_each(|i| words[i / 64] |= 1 << (i % 64));
    (words, density.len())
}

/// 32 bytes each.
pub fn encode(values: &[Fr], form: Form) -> Vec<u8> {
    let bytes = |value: &Fr| match form {
        Form::Canonical => value.to_le_bytes(),
        Form::Montgomery => groth16::math::fr::scalar_to_le_bytes(&value.to_montgomery()),
    };
    values.iter().flat_map(bytes).collect()
}
