//! Whole proofs on a GPU against those of the CPU, byte for byte.

use std::sync::Arc;
use std::time::Instant;

use groth16::engine::Engine;
use groth16::engine::backend::{Backend, G2Placement};
use groth16::engine::config::Config;
use groth16::engine::proof::{Groth16, LoadedKey, ProofInput, RowSource};
use groth16::error::{Error, Result};
use groth16::formats::proof::Proof;
use groth16::gpu::ops::KeyShape;
use groth16::gpu::{self, Gpu};
use groth16::math::fr::{self, Fr};
use groth16::prover::circuit::Circuit;
use groth16::prover::epilogue::Blinding;
use groth16::prover::key::ProvingKey;
use groth16::prover::partition;
use groth16::prover::setup::{Trapdoor, setup};
use groth16::prover::synthetic::{self, Shape};
use groth16::prover::witness::{PageValues, ScalarForm, Scalars};

/// Runs on all cores.
pub fn in_pool<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().build().map_err(|error| Error::internal(error.to_string()))?;
    pool.install(work)
}

/// Where a job has its rows from.
#[derive(Clone, Copy, Debug)]
pub enum RowsFrom {
    Circuit,
    /// The caller's heap.
    Copied,
    /// The caller's page-locked memory.
    Lent,
}

/// Proves.
pub fn result(engine: &Engine<Groth16>, input: ProofInput) -> Result<Proof> {
    let job = engine.create(input, None);
    engine.submit(&job, 0)?;
    job.wait(None);
    job.result().unwrap_or_else(|| Err(Error::internal("a job that ended has no result")))
}

/// 32 bytes each.
pub fn le_bytes(values: &[Fr], canonical: bool) -> Vec<u8> {
    let limbs = |value: &Fr| if canonical { value.to_canonical() } else { value.to_montgomery() };
    values.iter().flat_map(|value| fr::scalar_to_le_bytes(&limbs(value))).collect()
}

/// Rows in pages that the engine has locked.
pub fn lent(engine: &Engine<Groth16>, rows: [Vec<u8>; 3], form: ScalarForm) -> Result<RowSource> {
    let [a, b, c] = rows.map(|bytes| PageValues::new(&bytes, form, |pages| engine.lock_pages(pages)));
    Ok(RowSource::Given { a: a?.scalars("a")?, b: b?.scalars("b")?, c: c?.scalars("c")? })
}

/// A circuit with its key and a witness.
pub struct Case {
    circuit: Arc<Circuit>,
    witness: Vec<Fr>,
    key: ProvingKey,
}

impl Case {
    /// One of so many rows, those for the inputs not counted.
    pub fn new(rows: usize, inputs: usize) -> Result<Self> {
        let (circuit, witness) = synthetic::circuit(&Shape::new(rows, inputs, 11))?;
        let params = in_pool(|| setup(&circuit, &Trapdoor::from_seed(5)))?;
        let key = ProvingKey::from_bellman_with_circuit(params, &circuit)?;
        Ok(Self { circuit: Arc::new(circuit), witness, key })
    }

    pub fn load(&self, engine: &Engine<Groth16>) -> Result<Arc<LoadedKey>> {
        let key = self.key.clone();
        engine.load_key(key.host_bytes() as u64, || Ok((key, None)))
    }

    /// A proof with fixed blinding.
    pub fn prove(&self, engine: &Engine<Groth16>, key: &Arc<LoadedKey>, rows: RowsFrom) -> Result<Proof> {
        result(engine, self.input(engine, key, rows)?)
    }

    /// A, B and C times the witness, the key's own rows included.
    pub fn rows(&self) -> Result<[Vec<Fr>; 3]> {
        let all = self.circuit.evaluate_with_inputs(&self.witness, self.key.num_rows_added())?;
        Ok([all.a.clone(), all.b.clone(), all.c.clone()])
    }

    pub fn input(&self, engine: &Engine<Groth16>, key: &Arc<LoadedKey>, rows: RowsFrom) -> Result<ProofInput> {
        let (inputs, aux) = self.witness.split_at(self.circuit.num_inputs());
        let scalars = |name, values: &[Fr]| Scalars::from_values(name, values);
        let rows = match rows {
            RowsFrom::Circuit => RowSource::Circuit(Arc::clone(&self.circuit)),
            RowsFrom::Copied => {
                let [a, b, c] = self.rows()?;
                RowSource::Given { a: scalars("a", &a)?, b: scalars("b", &b)?, c: scalars("c", &c)? }
            }
            RowsFrom::Lent => lent(engine, self.rows()?.map(|row| le_bytes(&row, false)), ScalarForm::Montgomery)?,
        };
        Ok(ProofInput {
            key: Arc::clone(key),
            rows,
            inputs: Scalars::from_values("inputs", inputs)?,
            aux: Scalars::from_values("aux", aux)?,
            blinding: Blinding::new(&Fr::from(7), &Fr::from(9))?,
            self_check: true,
        })
    }

    /// What the CPU makes of it.
    pub fn expected(&self) -> Result<Proof> {
        let engine = Engine::on(Backend::Cpu(1), &Config::default(), Box::new(|_| ()))?;
        self.prove(&engine, &self.load(&engine)?, RowsFrom::Circuit)
    }
}

/// A GPU's development key, whose proof is verified by itself.
pub fn partition(log_domain: u32) -> Result<Option<String>> {
    let (uuids, begin) = (first()?, Instant::now());
    let gpu = Gpu::new(&uuids[0], 0)?;
    let made = in_pool(|| partition::partition(log_domain, 3, Some(&gpu)))?;
    let seconds = begin.elapsed().as_secs_f64();
    if log_domain < 12 {
        let same = partition::partition(log_domain, 3, None)?.key;
        let is_same = same.h == made.key.h && same.l == made.key.l && same.b2.points == made.key.b2.points;
        super::ensure(is_same && same.a.points == made.key.a.points, "the GPU's key is another than the CPU's")?;
    }
    let engine = engine(&uuids, 0, G2Placement::Device)?;
    let key = engine.load_key(made.key.host_bytes() as u64, || Ok((made.key, None)))?;
    let begin = Instant::now();
    let rows = lent(&engine, made.rows.each_ref().map(|row| le_bytes(row, false)), ScalarForm::Montgomery)?;
    let lent_after = begin.elapsed().as_secs_f64();
    let given = |name, values: &[Fr]| Scalars::from_values(name, values);
    let input = ProofInput {
        key,
        rows,
        inputs: given("inputs", &made.inputs)?,
        aux: given("aux", &made.aux)?,
        blinding: Blinding::random()?,
        self_check: true,
    };
    result(&engine, input)?;
    Ok(Some(format!("(key in {seconds:.2} s, rows locked and copied in {lent_after:.2} s)")))
}

/// An engine on GPUs, with so much memory of each (0: most of it).
pub fn engine(uuids: &[String], bytes: u64, placement: G2Placement) -> Result<Engine<Groth16>> {
    let gpus = uuids.iter().map(|uuid| Gpu::new(uuid, bytes)).collect::<Result<Vec<_>>>()?;
    Engine::on(Backend::Gpus(gpus, placement), &Config::default(), Box::new(|_| ()))
}

/// The first GPU of this machine.
pub fn first() -> Result<Vec<String>> {
    Ok(gpu::gpus()?.into_iter().take(1).map(|gpu| gpu.uuid).collect())
}

/// Every plan for one size: resident and streamed keys, large and small runs, G2 here and there. `quick`: some of them.
pub fn same_under_every_plan(rows: usize, inputs: usize, quick: bool) -> Result<Option<String>> {
    let case = Case::new(rows, inputs)?;
    let expected = case.expected()?;
    let shape = KeyShape {
        log_domain: case.key.log_domain,
        root_generator: case.key.root_generator,
        queries: [case.key.l.len(), case.key.a.points.len(), case.key.b1.points.len()],
    };
    let (job, key) = (Gpu::job_bytes(&shape), Gpu::key_bytes(&shape, true));
    // By room for keys and jobs, and for the workspace: all there is; a key that is streamed; runs that are cut; both.
    let plans = [(0, 0), (job + key / 4, 128 << 20), (2 * (job + key), 96 << 20), (job + key / 4, 96 << 20)];
    let (mut tried, mut turn) = (0, 0);
    for (jobs, workspace) in plans {
        for placement in [G2Placement::Cpu, G2Placement::Device, G2Placement::Auto] {
            turn += 1;
            if quick && turn % 3 != 1 {
                continue;
            }
            let uuid = &first()?[0];
            let gpu = if jobs == 0 { Gpu::new(uuid, 0) } else { Gpu::with_limits(uuid, jobs, workspace) }?;
            let engine = Engine::on(Backend::Gpus(vec![gpu], placement), &Config::default(), Box::new(|_| ()))?;
            let key = case.load(&engine)?;
            let all = [RowsFrom::Circuit, RowsFrom::Copied, RowsFrom::Lent];
            for (index, rows) in all.into_iter().enumerate() {
                if quick && index == turn % 3 {
                    continue;
                }
                let proof = case.prove(&engine, &key, rows);
                let place = format!("{jobs} and {workspace} bytes, {placement:?}, {rows:?}");
                super::ensure(proof.map_err(|error| error.at(&place))? == expected, format!("{place}: another proof"))?;
                tried += 1;
            }
        }
    }
    Ok(Some(format!("({tried} proofs)")))
}

/// Rows that break the circuit, and scalars that are not below r: the same error wherever they are checked, and the next proof is
/// right.
pub fn bad_rows(rows: usize) -> Result<Option<String>> {
    let case = Case::new(rows, 2)?;
    let expected = case.expected()?;
    let cpu = Engine::on(Backend::Cpu(1), &Config::default(), Box::new(|_| ()))?;
    let gpu = engine(&first()?, 0, G2Placement::Device)?;
    let keys = [case.load(&cpu)?, case.load(&gpu)?];
    let good = case.rows()?;
    let count = good[0].len();
    let mut tried = 0;
    for canonical in [false, true] {
        let form = if canonical { ScalarForm::Canonical } else { ScalarForm::Montgomery };
        let same = |change: &dyn Fn(&mut [Vec<u8>; 3])| -> Result<()> {
            let mut errors = Vec::new();
            for (engine, key) in [&cpu, &gpu].into_iter().zip(&keys) {
                let mut bytes = good.each_ref().map(|row| le_bytes(row, canonical));
                change(&mut bytes);
                let mut input = case.input(engine, key, RowsFrom::Circuit)?;
                input.rows = lent(engine, bytes, form)?;
                errors.push(result(engine, input).err().map(|error| (error.status(), error.message().to_owned())));
            }
            super::ensure(errors[0].is_some() && errors[0] == errors[1], format!("{errors:?}"))
        };
        let modulus = fr::scalar_to_le_bytes(&fr::MODULUS);
        for row in [0, count / 2, count - 1] {
            for vector in 0..3 {
                same(&|bytes| bytes[vector][32 * row..][..32].copy_from_slice(&modulus))?;
                same(&|bytes| bytes[vector][32 * row..][..32].fill(0xff))?;
            }
            // Two bad vectors, the later one earlier; and a product that is wrong.
            same(&|bytes| {
                bytes[0][32 * (count - 1)..].fill(0xff);
                bytes[2][32 * row..][..32].fill(0xff);
            })?;
            same(&|bytes| bytes[2][32 * row] ^= 1)?;
            tried += 8;
        }
        // Without C w: only the proof is wrong.
        same(&|bytes| {
            bytes[2].truncate(0);
            bytes[0][32] ^= 1;
        })?;
        let proof = case.prove(&gpu, &keys[1], RowsFrom::Lent)?;
        super::ensure(proof == expected, "the next proof is another")?;
    }
    Ok(Some(format!("({tried} errors)")))
}
