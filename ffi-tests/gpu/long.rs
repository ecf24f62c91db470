//! What takes a real device and some minutes: memory over many proofs, other programs' memory, keys that do not fit.

use std::time::Instant;

use groth16::engine::Engine;
use groth16::engine::backend::G2Placement;
use groth16::engine::proof::{Groth16, LoadedKey, ProofInput, RowSource};
use groth16::error::{Error, Result, Status};
use groth16::formats::proof::Proof;
use groth16::gpu::cuda::context::Context;
use groth16::gpu::cuda::device::DeviceInfo;
use groth16::gpu::cuda::memory::DeviceMemory;
use groth16::gpu::{self, Gpu};
use groth16::prover::epilogue::Blinding;
use groth16::prover::partition::{self, Partition};
use groth16::prover::witness::{PageValues, ScalarForm, Values};
use std::sync::Arc;

use super::ensure;
use super::proofs::{engine, first, in_pool, result};

/// A partition's job, for any number of proofs.
struct Job {
    key: Arc<LoadedKey>,
    rows: [Values; 3],
    /// The same where the device reads them; every other job has them.
    lent: [PageValues; 3],
    inputs: Values,
    aux: Values,
}

impl Job {
    fn new(engine: &Engine<Groth16>, made: Partition) -> Result<Self> {
        let [a, b, c] = &made.rows;
        let rows = [Values::new(a)?, Values::new(b)?, Values::new(c)?];
        let lend = |values: &Values| {
            PageValues::new(values.as_ref(), ScalarForm::Montgomery, |pages| engine.lock_pages(pages))
        };
        let [a, b, c] = rows.each_ref().map(lend);
        let lent = [a?, b?, c?];
        let (inputs, aux) = (Values::new(&made.inputs)?, Values::new(&made.aux)?);
        let key = engine.load_key(made.key.host_bytes() as u64, || Ok((made.key, None)))?;
        Ok(Self { key, rows, lent, inputs, aux })
    }

    fn input(&self, is_lent: bool) -> Result<ProofInput> {
        let [a, b, c] = if is_lent {
            let [a, b, c] = &self.lent;
            [a.scalars("a")?, b.scalars("b")?, c.scalars("c")?]
        } else {
            let [a, b, c] = &self.rows;
            [a.scalars("a")?, b.scalars("b")?, c.scalars("c")?]
        };
        Ok(ProofInput {
            key: Arc::clone(&self.key),
            rows: RowSource::Given { a, b, c },
            inputs: self.inputs.scalars("inputs")?,
            aux: self.aux.scalars("aux")?,
            blinding: Blinding::random()?,
            self_check: true,
        })
    }

    fn prove(&self, engine: &Engine<Groth16>) -> Result<Proof> {
        result(engine, self.input(true)?)
    }

    /// So many proofs, some at once.
    fn prove_many(&self, engine: &Engine<Groth16>, count: usize) -> Result<()> {
        for _ in 0..count.div_ceil(8) {
            let jobs: Result<Vec<_>> = (0..8)
                .map(|index| {
                    let job = engine.create(self.input(index % 2 == 0)?, None);
                    engine.submit(&job, 0).map(|()| job)
                })
                .collect();
            for job in jobs? {
                job.wait(None);
                job.result().unwrap_or_else(|| Err(Error::internal("no result")))?;
            }
        }
        Ok(())
    }
}

fn made(log_domain: u32) -> Result<Partition> {
    let gpu = Gpu::new(&first()?[0], 0)?;
    in_pool(|| partition::partition(log_domain, 3, Some(&gpu)))
}

/// Free memory of the device after some proofs, and after 500 more. The driver takes memory when a kernel first runs, and by
/// measured rates those of G2 may come late: so there are more proofs before.
pub fn flat() -> Result<Option<String>> {
    let uuid = &first()?[0];
    let mut note = String::new();
    for (placement, warm_up) in [(G2Placement::Device, 24), (G2Placement::Auto, 200)] {
        let engine = engine(&first()?, 0, placement)?;
        let job = Job::new(&engine, made(15)?)?;
        job.prove_many(&engine, warm_up)?;
        let mut free = vec![gpu::free_bytes(uuid)?];
        for count in [250, 254] {
            job.prove_many(&engine, count)?;
            free.push(gpu::free_bytes(uuid)?);
        }
        let retries = engine.record().totals.retries;
        let name =
            format!("{placement:?}, after {warm_up}, 250 and 254 proofs {free:?} bytes are free, {retries} retries");
        ensure(free.iter().all(|now| now.abs_diff(free[0]) < 1 << 20) && retries == 0, name.clone())?;
        note += &format!("; {name}");
    }
    Ok(Some(note))
}

/// Memory of the device that another context takes, all but so many bytes: the proof is right or refused; when it is given back
/// the next is right.
pub fn hog(device: &DeviceInfo) -> Result<Option<String>> {
    let (mut right, mut refused) = (0, 0);
    for left in [1u64 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30, 4 << 30] {
        let engine = engine(&first()?, 0, G2Placement::Device)?;
        let job = Job::new(&engine, made(18)?)?;
        let context = Context::new(device)?;
        let hog = take_all_but(&context, left)?;
        match job.prove(&engine) {
            Ok(_) => right += 1,
            Err(error) => {
                ensure(error.status() == Status::DeviceMemory, format!("{left} bytes left: {error}"))?;
                refused += 1;
            }
        }
        drop(hog);
        job.prove(&engine).map_err(|error| error.at(format!("after {left} bytes were left")))?;
    }
    ensure(right > 0 && refused > 0, format!("{right} right, {refused} refused: one of them was not seen"))?;
    Ok(Some(format!("({right} right, {refused} refused)")))
}

/// Memory in as large pieces as there are.
fn take_all_but(context: &Arc<Context>, left: u64) -> Result<Vec<DeviceMemory>> {
    let mut taken = Vec::new();
    let mut piece = context.memory()?.0;
    while piece >= 1 << 20 {
        let wanted = piece.min(context.memory()?.0.saturating_sub(left));
        match DeviceMemory::new(context, wanted.max(1)) {
            Ok(memory) if wanted > 0 => taken.push(memory),
            Ok(_) => break,
            Err(_) => piece /= 2,
        }
    }
    Ok(taken)
}

/// A partition of 2^22 rows under budgets, resident and streamed.
pub fn budgets() -> Result<Option<String>> {
    let mut note = String::new();
    let partition = made(22)?;
    for (name, bytes) in [("no budget", 0), ("4 GB", 4_000_000_000), ("2 GB", 2_000_000_000)] {
        let engine = engine(&first()?, bytes, G2Placement::Device)?;
        let copy = Partition {
            key: partition.key.clone(),
            inputs: partition.inputs.clone(),
            aux: partition.aux.clone(),
            rows: partition.rows.clone(),
        };
        let job = Job::new(&engine, copy)?;
        job.prove(&engine).map_err(|error| error.at(name))?;
        let begin = Instant::now();
        job.prove_many(&engine, 8).map_err(|error| error.at(name))?;
        note += &format!("; {name}: {:.1} ms a proof", begin.elapsed().as_secs_f64() * 1e3 / 8.0);
    }
    Ok(Some(note))
}
