//! What benches prove, again and again.

use std::path::Path;
use std::sync::Arc;

use groth16::engine::Engine;
use groth16::engine::proof::{Groth16, LoadedKey, ProofInput, RowSource};
use groth16::error::{Error, Result};
use groth16::formats::r1cs::{self, R1cs};
use groth16::formats::source::Source;
use groth16::formats::wtns;
use groth16::gpu::{self, Gpu};
use groth16::math::fr::Fr;
use groth16::prover::circuit::Circuit;
use groth16::prover::epilogue::Blinding;
use groth16::prover::key::ProvingKey;
use groth16::prover::partition;
use groth16::prover::setup::{self, Trapdoor};
use groth16::prover::synthetic::{self, Shape};
use groth16::prover::witness::{PageValues, ScalarForm, Values};

use crate::args::{Check, Trust};
use crate::files::{self, at};
use crate::output::{self, Console, Output};

/// Inputs of the synthetic circuit, the constant one included.
const INPUTS: usize = 8;
const SEED: u64 = 1;

/// A key and a job of it.
pub struct Work {
    pub key: Arc<LoadedKey>,
    rows: Rows,
    inputs: Values,
    aux: Values,
}

/// The rows' evaluations a, b and c, where GPUs read them.
pub type LentRows = [PageValues; 3];

enum Rows {
    Circuit(Arc<Circuit>),
    Given([Values; 3]),
}

impl Work {
    /// Of the shape of a partition with so many rows, rounded up to a power of two.
    pub fn partition(engine: &Engine<Groth16>, rows: usize, console: &Console) -> Result<Self> {
        let spinner = console.spinner("key");
        // A GPU makes the points much faster, whatever proves.
        let found = gpu::gpus().unwrap_or_default();
        let gpu = found.first().and_then(|gpu| Gpu::new(&gpu.uuid, 0).ok());
        let log_domain = rows.next_power_of_two().ilog2();
        let made = engine.install(|| partition::partition(log_domain, SEED, gpu.as_deref()))?;
        drop(gpu);
        let (inputs, aux) = (Values::new(&made.inputs)?, Values::new(&made.aux)?);
        let [a, b, c] = &made.rows;
        let rows = Rows::Given([Values::new(a)?, Values::new(b)?, Values::new(c)?]);
        let key = files::loaded(engine, made.key)?;
        spinner.finish_and_clear();
        Ok(Self { key, rows, inputs, aux })
    }

    /// Of a synthetic circuit of so many rows, those for its inputs included; circuit and witness are saved there.
    pub fn synthetic(
        engine: &Engine<Groth16>,
        rows: usize,
        directory: Option<&Path>,
        console: &Console,
    ) -> Result<Self> {
        let spinner = console.spinner("key");
        let (circuit, key, inputs, aux) = engine.install(|| {
            let (r1cs, witness) = synthetic::r1cs(&Shape::new(rows - INPUTS, INPUTS, SEED))?;
            if let Some(directory) = directory {
                save(directory, &r1cs, &witness)?;
            }
            let circuit = Circuit::from_r1cs(&r1cs)?;
            let params = setup::setup(&circuit, &Trapdoor::from_seed(SEED))?;
            let key = ProvingKey::from_bellman_with_circuit(params, &circuit)?;
            let (inputs, aux) = witness.split_at(INPUTS);
            Ok::<_, Error>((circuit, key, Values::new(inputs)?, Values::new(aux)?))
        })?;
        let key = files::loaded(engine, key)?;
        spinner.finish_and_clear();
        Ok(Self { key, rows: Rows::Circuit(Arc::new(circuit)), inputs, aux })
    }

    /// From files, as `prove` reads them.
    pub fn from_files(
        engine: &Engine<Groth16>,
        key: &Path,
        circuit: &Path,
        witness: &Path,
        console: &Console,
    ) -> Result<Self> {
        let key_source = Source::open(key)?;
        let circuit_source = Source::open(circuit)?;
        let values = at(witness, wtns::read(&Source::open(witness)?))?;
        let rows = engine.install(|| files::circuit(circuit, &circuit_source))?;
        at(witness, rows.check_witness(&values))?;
        let trust = Trust { check: Check::Subgroup, digest: None };
        let key = files::key(engine, key, &key_source, None, &trust, &rows, console)?;
        let (inputs, aux) = values.split_at(rows.num_inputs());
        let (inputs, aux) = (Values::new(inputs)?, Values::new(aux)?);
        Ok(Self { key, rows: Rows::Circuit(Arc::new(rows)), inputs, aux })
    }

    /// The rows' evaluations in page-locked memory, as in groth16_buffers of the engine; `None` where a circuit gives them.
    pub fn lend(&self, engine: &Engine<Groth16>) -> Result<Option<LentRows>> {
        let Rows::Given(rows) = &self.rows else { return Ok(None) };
        let lend = |values: &Values| {
            PageValues::new(values.as_ref(), ScalarForm::Montgomery, |pages| engine.lock_pages(pages))
        };
        let [a, b, c] = rows.each_ref().map(lend);
        Ok(Some([a?, b?, c?]))
    }

    /// For one job. `lent`: in place of its own rows.
    pub fn input(&self, lent: Option<&LentRows>) -> Result<ProofInput> {
        let rows = match (&self.rows, lent) {
            (Rows::Circuit(circuit), _) => RowSource::Circuit(Arc::clone(circuit)),
            (Rows::Given([a, b, c]), None) => {
                RowSource::Given { a: a.scalars("a")?, b: b.scalars("b")?, c: c.scalars("c")? }
            }
            (Rows::Given(_), Some([a, b, c])) => {
                RowSource::Given { a: a.scalars("a")?, b: b.scalars("b")?, c: c.scalars("c")? }
            }
        };
        Ok(ProofInput {
            key: Arc::clone(&self.key),
            rows,
            inputs: self.inputs.scalars("inputs")?,
            aux: self.aux.scalars("aux")?,
            blinding: Blinding::random()?,
            self_check: true,
        })
    }
}

fn save(directory: &Path, r1cs: &R1cs, witness: &[Fr]) -> Result<()> {
    std::fs::create_dir_all(directory).map_err(|error| output::io_error(directory.display(), &error))?;
    Output::create(&directory.join("circuit.r1cs"), &[])?.write_bytes(&r1cs::to_bytes(r1cs))?;
    Output::create(&directory.join("witness.wtns"), &[])?.write_bytes(&wtns::to_bytes(witness)?)?;
    Ok(())
}
