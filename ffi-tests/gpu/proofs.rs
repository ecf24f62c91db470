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
use groth16::math::fr::Fr;
use groth16::prover::circuit::Circuit;
use groth16::prover::epilogue::Blinding;
use groth16::prover::key::ProvingKey;
use groth16::prover::partition;
use groth16::prover::setup::{Trapdoor, setup};
use groth16::prover::synthetic::{self, Shape};
use groth16::prover::witness::Scalars;

/// Runs on all cores.
pub fn in_pool<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().build().map_err(|error| Error::internal(error.to_string()))?;
    pool.install(work)
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

    /// A proof with fixed blinding. `given`: the rows come from the caller, not from the circuit.
    pub fn prove(&self, engine: &Engine<Groth16>, key: &Arc<LoadedKey>, given: bool) -> Result<Proof> {
        let job = engine.create(self.input(key, given)?, None);
        engine.submit(&job, 0)?;
        job.wait(None);
        job.result().unwrap_or_else(|| Err(Error::internal("a job that ended has no result")))
    }

    pub fn input(&self, key: &Arc<LoadedKey>, given: bool) -> Result<ProofInput> {
        let (inputs, aux) = self.witness.split_at(self.circuit.num_inputs());
        let rows = if given {
            let all = self.circuit.evaluate_with_inputs(&self.witness, self.key.num_rows_added())?;
            let scalars = |name, values: &[Fr]| Scalars::from_values(name, values);
            RowSource::Given { a: scalars("a", &all.a)?, b: scalars("b", &all.b)?, c: scalars("c", &all.c)? }
        } else {
            RowSource::Circuit(Arc::clone(&self.circuit))
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
        self.prove(&engine, &self.load(&engine)?, false)
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
    let [a, b, c] = &made.rows;
    let given = |name, values: &[Fr]| Scalars::from_values(name, values);
    let input = ProofInput {
        key,
        rows: RowSource::Given { a: given("a", a)?, b: given("b", b)?, c: given("c", c)? },
        inputs: given("inputs", &made.inputs)?,
        aux: given("aux", &made.aux)?,
        blinding: Blinding::random()?,
        self_check: true,
    };
    let job = engine.create(input, None);
    engine.submit(&job, 0)?;
    job.wait(None);
    job.result().unwrap_or_else(|| Err(Error::internal("a job that ended has no result")))?;
    Ok(Some(format!("(key in {seconds:.2} s)")))
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
            for given in [false, true] {
                if quick && given == (turn % 2 == 1) {
                    continue;
                }
                let proof = case.prove(&engine, &key, given);
                let place = format!("{jobs} and {workspace} bytes, {placement:?}, given {given}");
                super::ensure(proof.map_err(|error| error.at(&place))? == expected, format!("{place}: another proof"))?;
                tried += 1;
            }
        }
    }
    Ok(Some(format!("({tried} proofs)")))
}
