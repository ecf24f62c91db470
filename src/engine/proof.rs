//! The stages of a Groth16 proof, as the engine runs them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Instant;

use zeroize::Zeroizing;

use super::backend::{self, Backend, Gpus, Lane, OnDevice};
use super::budget::Permit;
use super::carry_out::Shared;
use super::config::Config;
use super::core::{DeviceId, Event, KeyId, Need};
use super::stages::{Finished, HostNeed, Place, Stages, Stop};
use super::{Engine, Notify};
use crate::error::{Error, Result, Status};
use crate::formats::proof::Proof;
use crate::gpu::Gpu;
use crate::gpu::host;
use crate::gpu::ops::{self, JobData, JobRows, QueryScalars, Upload};
use crate::gpu::pages::Pages;
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::fr::Fr;
use crate::math::g2::G2;
use crate::math::msm;
use crate::math::ntt::Domain;
use crate::prover::buffer::{FrBuffer, Lender};
use crate::prover::circuit::Circuit;
use crate::prover::device_stage::{self, DevicePoints, Rows};
use crate::prover::epilogue::{self, Blinding};
use crate::prover::key::ProvingKey;
use crate::prover::split::SplitWitness;
use crate::prover::verify;
use crate::prover::witness::{self, LentVariables, Scalars, Witness};
use crate::sync::{AtomicU64, Mutex, Ordering};

/// Reads a key again, the same points as before; ends early when it is asked to stop.
pub type Reload = Box<dyn Fn(&Stop) -> Result<ProvingKey> + Send + Sync>;

/// A proving key with what is derived from it once. Its points are in memory while a job uses it; else they may be on disk
/// only.
pub struct LoadedKey {
    id: KeyId,
    /// The key without its points.
    pub shape: ProvingKey,
    /// Its evaluation domain.
    pub domain: Domain,
    points: Mutex<Option<Arc<Points>>>,
    point_bytes: u64,
    reload: Option<Reload>,
    domain_permit: Permit,
    /// Is told when the key is gone, and left the points.
    engine: Weak<Shared<Groth16>>,
}

/// A key with its points, and leave for their memory: it ends with the last job that holds them. Declared in the order in
/// which they are given back.
struct Points {
    key: ProvingKey,
    _permit: Permit,
}

impl fmt::Debug for LoadedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedKey").field("id", &self.id).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl LoadedKey {
    /// Host memory that the key takes with its points, in bytes.
    pub fn host_bytes(&self) -> u64 {
        self.point_bytes + self.domain_permit.bytes()
    }

    /// Whether the points are in memory.
    pub fn is_in_memory(&self) -> bool {
        self.points.lock().is_some()
    }

    /// The key with its points; an error if no job holds it there.
    fn with_points(&self) -> Result<Arc<Points>> {
        let points = self.points.lock().clone();
        points.ok_or_else(|| Error::internal("a job started before its key was in memory"))
    }
}

impl LoadedKey {
    /// Gives a key up and waits until its memory is given back, if nobody else needs it. Not from an observer.
    pub fn free(key: Arc<Self>) {
        let engine = Weak::clone(&key.engine);
        drop(key);
        if let Some(shared) = engine.upgrade() {
            shared.reclaimer.wait();
        }
    }
}

impl Drop for LoadedKey {
    fn drop(&mut self) {
        let Some(shared) = self.engine.upgrade() else { return };
        shared.reclaimer.hand_in(Box::new(self.points.lock().take()));
        shared.stages.keys.lock().remove(&self.id);
        shared.dispatch(Event::KeyFreed { key: self.id });
    }
}

impl Engine<Groth16> {
    /// Starts an engine that proves there. Of each GPU keys and jobs may take what its own limit leaves, whatever `config` says.
    pub fn on(backend: Backend, config: &Config, notify: Notify) -> Result<Self> {
        // Page-locked memory that waits for jobs is in no budget: by default the limit leaves a tenth of what is free. A limit of
        // 0 is none.
        let pinned = if config.host_bytes_limit > 0 { config.host_bytes_limit / 10 } else { u64::MAX };
        let (gpus, lanes) = backend.split(pinned);
        let config = Config { device_bytes_limit: gpus.job_limit(), ..config.clone() };
        Self::new(&config, Groth16 { gpus, ..Groth16::default() }, lanes, notify)
    }

    /// Whether proofs are computed on GPUs.
    pub fn has_gpus(&self) -> bool {
        !self.shared.stages.gpus.gpus.is_empty()
    }

    /// Page-locks memory, so that GPUs read it directly; nothing is done where there are none, or where the system refuses.
    pub fn lock_pages(&self, pages: &mut Pages) {
        self.shared.stages.gpus.lock_pages(pages);
    }

    /// Loads a key whose points take `point_bytes`: `read` gives it, on the engine's threads, and, if it can be read again
    /// when it had to leave host memory, how. `NoMemory` where it does not fit beside what is in use.
    pub fn load_key(
        &self,
        point_bytes: u64,
        read: impl FnOnce() -> Result<(ProvingKey, Option<Reload>)> + Send,
    ) -> Result<Arc<LoadedKey>> {
        let mut permit = self.take_host(point_bytes, "the key", Status::NoMemory)?;
        let (key, reload) = self.install(read)?;
        let domain_bytes = DOMAIN_ELEMENT_BYTES << key.log_domain;
        let domain_permit = self.take_host(domain_bytes, "the key's domain", Status::NoMemory)?;
        let domain = self.install(|| Domain::new(key.log_domain, key.root_generator))?;
        let has_file = reload.is_some();
        if has_file {
            permit.let_leave();
        }
        let loaded = Arc::new(LoadedKey {
            id: self.shared.stages.next_key.fetch_add(1, Ordering::Relaxed) + 1,
            shape: key.without_points(),
            domain,
            points: Mutex::new(Some(Arc::new(Points { key, _permit: permit }))),
            point_bytes,
            reload,
            domain_permit,
            engine: Arc::downgrade(&self.shared),
        });
        self.shared.stages.keys.lock().insert(loaded.id, Arc::downgrade(&loaded));
        self.shared.dispatch(Event::KeyLoaded { key: loaded.id, bytes: point_bytes, has_file });
        Ok(loaded)
    }
}

/// Twiddle factors, of each element of a domain.
const DOMAIN_ELEMENT_BYTES: u64 = 32;
/// Bytes of a scalar, and of the number of a point.
const SCALAR: u64 = 32;
const INDEX: u64 = 4;

/// Where the rows' evaluations come from.
pub enum RowSource {
    /// From the circuit and the witness.
    Circuit(Arc<Circuit>),
    /// From the caller: a, b and perhaps c (else empty), all rows of the key included.
    Given {
        /// A w.
        a: Scalars,
        /// B w.
        b: Scalars,
        /// C w, or empty.
        c: Scalars,
    },
}

/// All that a proof starts with.
pub struct ProofInput {
    /// The key.
    pub key: Arc<LoadedKey>,
    /// The rows.
    pub rows: RowSource,
    /// Public inputs; the first is one.
    pub inputs: Scalars,
    /// The other variables.
    pub aux: Scalars,
    /// Blinding scalars.
    pub blinding: Blinding,
    /// Whether the proof is verified before it is given out.
    pub self_check: bool,
}

impl ProofInput {
    /// Checks all sizes against the key and the circuit, and that the key can verify what shall be: what `start` answers
    /// at once.
    pub fn check_sizes(&self) -> Result<()> {
        let key = &self.key.shape;
        check_count("inputs", self.inputs.len(), "the key wants", key.num_inputs)?;
        check_count("aux", self.aux.len(), "the key wants", key.num_aux)?;
        if self.self_check {
            key.verifying_key().map_err(|error| error.at("the self-check"))?;
        }
        match &self.rows {
            RowSource::Circuit(circuit) => key.check_circuit(circuit),
            RowSource::Given { a, b, c } => {
                self.check_rows("a", a.len())?;
                check_count("b", b.len(), "a has", a.len())?;
                if c.is_empty() { Ok(()) } else { check_count("c", c.len(), "a has", a.len()) }
            }
        }
    }

    fn check_rows(&self, name: &str, rows: usize) -> Result<()> {
        let size = self.key.domain.size();
        if rows.max(1).next_power_of_two() == size {
            return Ok(());
        }
        let message = format!(
            "{name} has {rows} rows, those that the key adds included; the key's domain of {size} takes {} to {size}",
            size / 2 + 1
        );
        Err(Error::invalid(message))
    }
}

fn check_count(name: &str, got: usize, whose: &str, wanted: usize) -> Result<()> {
    if got == wanted {
        return Ok(());
    }
    Err(Error::invalid(format!("{name} has {got} scalars, {whose} {wanted}")))
}

/// What G2, the device and the epilogue read of a job; owned by it.
pub struct ProofScalars {
    loaded: Arc<LoadedKey>,
    points: Arc<Points>,
    inputs: Zeroizing<Vec<Fr>>,
    /// All values, where rows are evaluated from them.
    witness: Option<Witness>,
    split: SplitWitness,
    blinding: Blinding,
    self_check: bool,
    /// Whether the device computes the G2 MSM, too.
    g2_on_device: bool,
}

impl ProofScalars {
    fn queries(&self) -> [&QueryScalars; 3] {
        [&self.split.l, &self.split.a, &self.split.b]
    }
}

/// What rows can be brought to a device from, as often as need be.
pub enum KeptRows {
    /// Evaluated again for a second attempt; the first finds them here.
    Circuit(Arc<Circuit>, Mutex<Option<Rows>>),
    /// The caller's, copied.
    Given(Rows),
    /// The caller's, in page-locked memory, where a GPU reads and checks them: A w, B w and C w.
    Lent([Scalars; 3]),
}

/// The stages of a proof.
#[derive(Debug, Default)]
pub struct Groth16 {
    gpus: Gpus,
    keys: Mutex<BTreeMap<KeyId, Weak<LoadedKey>>>,
    next_key: AtomicU64,
}

impl Groth16 {
    fn key(&self, id: KeyId) -> Option<Arc<LoadedKey>> {
        self.keys.lock().get(&id).and_then(Weak::upgrade)
    }

    fn upload_to(&self, gpu: &Gpu, to: Place, scalars: &ProofScalars, rows: JobRows<'_>) -> Result<OnDevice> {
        let key = &scalars.points.key;
        let uploaded = gpu.upload(&Upload {
            key: scalars.loaded.id,
            shape: backend::shape_of(key),
            points: backend::points_of(key),
            data: JobData { rows, queries: scalars.queries() },
            streamed: to.streamed,
            key_with_b2: self.gpus.g2.may_be_device(),
            with_b2: scalars.g2_on_device,
        })?;
        Ok(OnDevice::Gpu(Box::new(uploaded)))
    }

    fn wanted_key(&self, id: KeyId) -> Result<Arc<LoadedKey>> {
        self.key(id).ok_or_else(|| Error::internal(format!("key {id} is wanted and gone")))
    }
}

impl Stages for Groth16 {
    type Input = ProofInput;
    type Scalars = ProofScalars;
    type Rows = KeptRows;
    type Uploaded = OnDevice;
    type Device = Lane;
    /// With the G2 sum where the device computed it.
    type DeviceResult = (DevicePoints, Option<G2>);
    /// `None` where the device computes it.
    type G2Result = Option<G2>;
    type Output = Proof;

    fn host_need(&self, input: &ProofInput) -> HostNeed {
        let key = &input.key.shape;
        let (variables, size) = (key.num_vars() as u64, input.key.domain.size() as u64);
        let values = match &input.rows {
            RowSource::Circuit(_) => variables,
            RowSource::Given { .. } => key.num_inputs as u64,
        };
        let split = variables * 3 * (SCALAR + 2 * INDEX) + variables.div_ceil(64) * 16;
        let longest = variables.max(size);
        let (vectors, msms) = if self.gpus.gpus.is_empty() {
            // A w and B w, kept and used, C w, the quotient and its scratch; and two MSMs at a time.
            (8, msm::bytes::<Fp>(longest) + msm::bytes::<Fp2>(longest))
        } else {
            let vectors = match &input.rows {
                RowSource::Circuit(_) => 3,
                RowSource::Given { a, b, c } if self.gpus.read_lent([a, b, c]) => 0,
                RowSource::Given { .. } => 2,
            };
            (vectors, if self.gpus.g2.may_be_cpu() { msm::bytes::<Fp2>(longest) } else { 0 })
        };
        let job = values * SCALAR + split + vectors * size * SCALAR + msms;
        HostNeed { job, key: input.key.host_bytes() }
    }

    fn need(&self, input: &ProofInput) -> Need {
        self.gpus.need(input.key.id, &backend::shape_of(&input.key.shape))
    }

    fn key_bytes(&self, id: KeyId) -> Result<u64> {
        self.wanted_key(id).map(|loaded| loaded.point_bytes)
    }

    fn fetch_key(&self, id: KeyId, permit: Permit, stop: &Stop) -> Result<()> {
        let loaded = self.wanted_key(id)?;
        let reload = loaded.reload.as_ref().ok_or_else(|| Error::internal(format!("key {id} has no file")))?;
        // Whatever is wrong with the file now was not when the key was loaded.
        let key = reload(stop)
            .map_err(|e| Error::new(Status::Io, format!("the key cannot be read again: {}", e.message())))?;
        *loaded.points.lock() = Some(Arc::new(Points { key, _permit: permit }));
        Ok(())
    }

    fn drop_key(&self, id: KeyId) -> Box<dyn Send> {
        // The key itself goes along: this may be its last owner.
        Box::new(self.key(id).map(|loaded| {
            let points = loaded.points.lock().take();
            (points, loaded)
        }))
    }

    fn split(&self, input: &ProofInput) -> Result<ProofScalars> {
        let points = input.key.with_points()?;
        let inputs = Zeroizing::new(witness::read_inputs(&input.inputs)?);
        let (witness, split) = match &input.rows {
            RowSource::Circuit(_) => {
                let witness = Witness::read(&input.inputs, &input.aux, &self.gpus.lender())?;
                let split = SplitWitness::new(&points.key, witness.values())?;
                (Some(witness), split)
            }
            // Nothing needs all values.
            RowSource::Given { .. } => {
                (None, SplitWitness::new(&points.key, &LentVariables::new(&input.inputs, &input.aux))?)
            }
        };
        let (loaded, blinding) = (Arc::clone(&input.key), input.blinding.clone());
        let size = loaded.domain.size();
        let g2_on_device = self.gpus.g2.on_device(split.b.ones.len(), split.b.picks.len(), size);
        let self_check = input.self_check;
        Ok(ProofScalars { loaded, points, inputs, witness, split, blinding, self_check, g2_on_device })
    }

    fn evaluate(&self, input: ProofInput, scalars: &ProofScalars, stop: &Stop) -> Result<KeptRows> {
        go_on(stop)?;
        match input.rows {
            RowSource::Circuit(circuit) => {
                let rows = evaluate_circuit(&circuit, scalars)?;
                Ok(KeptRows::Circuit(circuit, Mutex::new(Some(rows))))
            }
            RowSource::Given { a, b, c } if self.gpus.read_lent([&a, &b, &c]) => Ok(KeptRows::Lent([a, b, c])),
            RowSource::Given { a, b, c } => read_rows(&a, &b, &c, &self.gpus.lender()).map(KeptRows::Given),
        }
    }

    fn lends(&self, rows: &KeptRows) -> bool {
        matches!(rows, KeptRows::Lent(_))
    }

    fn upload(&self, to: Place, scalars: &ProofScalars, rows: &KeptRows, stop: &Stop) -> Result<OnDevice> {
        go_on(stop)?;
        match (self.gpus.gpus.get(to.device), rows) {
            (Some(gpu), KeptRows::Given(rows)) => self.upload_to(gpu, to, scalars, rows.for_device()),
            (Some(gpu), KeptRows::Lent(rows)) => {
                self.upload_to(gpu, to, scalars, JobRows::Lent(rows.each_ref().map(Scalars::raw)))
            }
            (Some(gpu), KeptRows::Circuit(circuit, kept)) => {
                self.upload_to(gpu, to, scalars, first_or_again(circuit, kept, scalars)?.for_device())
            }
            (None, KeptRows::Lent(_)) => Err(Error::internal("rows are lent to a CPU")),
            (None, KeptRows::Given(rows)) => {
                Ok(OnDevice::Rows(Rows { a: FrBuffer::copy_of(&rows.a)?, b: FrBuffer::copy_of(&rows.b)? }))
            }
            (None, KeptRows::Circuit(circuit, kept)) => first_or_again(circuit, kept, scalars).map(OnDevice::Rows),
        }
    }

    fn evict(&self, device: DeviceId, key: KeyId) {
        if let Some(gpu) = self.gpus.gpus.get(device) {
            gpu.evict(key);
        }
    }

    fn g2(&self, scalars: &ProofScalars, stop: &Stop) -> Result<Option<G2>> {
        go_on(stop)?;
        if scalars.g2_on_device {
            return Ok(None);
        }
        let (start, query) = (Instant::now(), &scalars.split.b);
        let sum = host::msm_query(&scalars.points.key.b2.points, query)?;
        self.gpus.g2.measured_cpu(start.elapsed(), query.ones.len(), query.picks.len());
        Ok(Some(sum))
    }

    fn run_device(
        &self,
        device: &mut Lane,
        scalars: &ProofScalars,
        uploaded: OnDevice,
        stop: &Stop,
    ) -> Result<(DevicePoints, Option<G2>)> {
        let (key, domain) = (&scalars.points.key, &scalars.loaded.domain);
        let stopped = || stop.is_asked();
        match (device, uploaded) {
            (Lane::Host(host), OnDevice::Rows(rows)) => {
                device_stage::run(host, key, domain, &scalars.split, rows, stopped).map(|points| (points, None))
            }
            (Lane::Gpu(worker), OnDevice::Gpu(job)) => {
                let start = Instant::now();
                let sums = worker.run(*job, &backend::points_of(key), scalars.queries(), stopped)?;
                if !scalars.g2_on_device {
                    self.gpus.g2.measured_device(start.elapsed(), domain.size());
                }
                let [l, a, b1] = sums.queries;
                Ok((DevicePoints { h: sums.h, l, a, b1 }, sums.b2))
            }
            _ => Err(Error::internal("a job was uploaded to another kind of device")),
        }
    }

    fn needs_pool(&self, device: &Lane) -> bool {
        matches!(device, Lane::Host(_))
    }

    fn reset(&self, device: &mut Lane) -> Result<()> {
        match device {
            Lane::Host(_) => Ok(()),
            Lane::Gpu(worker) => {
                // The page-locked memory may be of the context that goes.
                self.gpus.forget_pinned();
                worker.reset()
            }
        }
    }

    fn retire(&self, device: &mut Lane) {
        if let Lane::Gpu(worker) = device {
            worker.retire();
        }
    }

    fn close(&self) {
        self.gpus.close();
    }

    fn finish(
        &self,
        scalars: &ProofScalars,
        (device, on_device): (DevicePoints, Option<G2>),
        g2: Option<G2>,
    ) -> Result<Finished<Proof>> {
        let key = &scalars.points.key;
        let g2 = g2.or(on_device).ok_or_else(|| Error::internal("nobody computed the G2 MSM"))?;
        let proof = epilogue::join(&key.base, &scalars.blinding, &device, &g2);
        if scalars.self_check && !verify::verify(key.verifying_key()?, &scalars.inputs, &proof)? {
            let message = "the proof does not verify and is withheld: the key does not fit the rows, the verifying key \
                           does not fit the key, c was left empty and the witness is wrong, or this machine computed \
                           wrongly";
            return Ok(Finished::Unsound(proof, Error::new(Status::SelfCheck, message)));
        }
        Ok(Finished::Sound(proof))
    }
}

fn go_on(stop: &Stop) -> Result<()> {
    if stop.is_asked() { Err(Error::new(Status::Cancelled, "stopped before the stage began")) } else { Ok(()) }
}

/// The rows that were kept for the first attempt; evaluated again for a second.
fn first_or_again(circuit: &Circuit, kept: &Mutex<Option<Rows>>, scalars: &ProofScalars) -> Result<Rows> {
    let first = kept.lock().take();
    first.map_or_else(|| evaluate_circuit(circuit, scalars), Ok)
}

fn evaluate_circuit(circuit: &Circuit, scalars: &ProofScalars) -> Result<Rows> {
    let witness = scalars.witness.as_ref().ok_or_else(|| Error::internal("a circuit without a witness"))?;
    let (values, added) = (witness.values(), scalars.points.key.num_rows_added());
    let mut evaluations = circuit.evaluate_with_inputs(values, added)?;
    if let Some(row) = evaluations.first_unsatisfied() {
        return Err(ops::unsatisfied(row));
    }
    Ok(Rows { a: std::mem::take(&mut evaluations.a).into(), b: std::mem::take(&mut evaluations.b).into() })
}

fn read_rows(a: &Scalars, b: &Scalars, c: &Scalars, lender: Lender<'_>) -> Result<Rows> {
    let new = || FrBuffer::new(a.len(), "the rows' evaluations", lender);
    let mut rows = Rows { a: new()?, b: new()? };
    match Scalars::read_rows([a, b, c], &mut rows.a, &mut rows.b)? {
        None => Ok(rows),
        Some(row) => Err(ops::unsatisfied(row)),
    }
}
