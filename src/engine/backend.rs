//! Where proofs are computed: on the CPU, or on GPUs; and where their G2 MSM is.

use std::sync::Arc;
use std::time::Duration;

use super::core::Need;
use super::pool::Pool;
use crate::gpu::host::Host;
use crate::gpu::ops::{KeyId, KeyPoints, KeyShape};
use crate::gpu::pages::Pages;
use crate::gpu::{Gpu, PinnedMemory, Uploaded, Worker};
use crate::math::field::Field;
use crate::math::fr::Fr;
use crate::prover::buffer::Lent;
use crate::prover::device_stage::Rows;
use crate::prover::key::ProvingKey;
use crate::prover::witness::Scalars;
use crate::sync::{AtomicU64, Mutex, Ordering};

/// What an engine proves on.
#[derive(Debug)]
pub enum Backend {
    /// The CPU, which stands for so many devices.
    Cpu(usize),
    /// These GPUs.
    Gpus(Vec<Arc<Gpu>>, G2Placement),
}

/// Where the G2 MSM of a proof on a GPU is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum G2Placement {
    /// On the CPU, beside the kernels.
    Cpu,
    /// On the device, behind the other kernels.
    Device,
    /// On the CPU, unless measured rates say that it would be the bottleneck.
    Auto,
}

/// Where kernels run: what a compute lane owns.
#[derive(Debug)]
pub enum Lane {
    /// The CPU.
    Host(Host),
    /// A GPU.
    Gpu(Box<Worker>),
}

/// What a job's kernels read.
#[derive(Debug)]
pub enum OnDevice {
    /// In host memory.
    Rows(Rows),
    /// In a GPU's.
    Gpu(Box<Uploaded>),
}

/// The GPUs of an engine; none where it proves on the CPU.
#[derive(Debug, Default)]
pub(super) struct Gpus {
    pub gpus: Vec<Arc<Gpu>>,
    pub g2: G2Choice,
    /// Page-locked memory for vectors of jobs, which is dear to make. What a job has when the pool is given up goes with that pool,
    /// since it may be of a context that has ended.
    pinned: Mutex<Option<Arc<Pool<PinnedMemory>>>>,
    pinned_bytes: usize,
}

/// Page-locked memory that a job has of the pool.
struct Borrowed {
    memory: Option<PinnedMemory>,
    count: usize,
    pool: Arc<Pool<PinnedMemory>>,
}

impl Lent for Borrowed {
    fn values(&self) -> &[Fr] {
        self.memory.as_ref().map_or(&[], |memory| memory.values(self.count))
    }

    fn values_mut(&mut self) -> &mut [Fr] {
        self.memory.as_mut().map_or(&mut [], |memory| memory.values_mut(self.count))
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if let Some(mut memory) = self.memory.take() {
            wipe(memory.values_mut(self.count));
            drop(self.pool.give(self.count * size_of::<Fr>(), memory));
        }
    }
}

/// Writes zeros, by several threads where there is much: one alone is slower than a device that computes.
fn wipe(values: &mut [Fr]) {
    let threads = if values.len() < WIPED_ALONE { 1 } else { WIPING_THREADS };
    let chunks = Mutex::new(values.chunks_mut(WIPED_AT_ONCE).collect::<Vec<_>>());
    let work = || {
        let next = || chunks.lock().pop();
        while let Some(chunk) = next() {
            chunk.fill(Fr::ZERO);
            // The compiler must take it that the zeros are read.
            std::hint::black_box(chunk);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Whatever does not start leaves its part to the others.
            let _ = std::thread::Builder::new().name("groth16-wipe".into()).spawn_scoped(scope, work);
        }
        work();
    });
}

/// Vectors of page-locked memory that are kept for the next jobs: those of some jobs of one size.
const KEPT_VECTORS: usize = 32;
/// Elements that one thread wipes at a time, those that are too few for several threads, and how many threads there are.
const WIPED_AT_ONCE: usize = 1 << 16;
const WIPED_ALONE: usize = 1 << 18;
const WIPING_THREADS: usize = 4;
/// Shorter ones are not worth their calls of the driver.
const LEAST_PINNED: usize = 1 << 12;

/// Decides where G2 MSMs go.
#[derive(Debug, Default)]
pub(super) struct G2Choice {
    placement: Option<G2Placement>,
    /// Measured: picoseconds of a unit of work on the CPU (see `work`), and of an element of the domain on a device.
    cpu: AtomicU64,
    device: AtomicU64,
    jobs: AtomicU64,
}

/// Every so many jobs that "auto" would send to the device, one goes to the CPU: its rate may have changed.
const PROBE_EVERY: u64 = 64;
/// What a scalar that is neither zero nor one costs, in additions of a point.
const ADDITIONS_A_SCALAR: u64 = 20;

impl Backend {
    /// The stages' share and the lanes.
    /// At most `pinned_bytes` of page-locked memory are kept for jobs to come.
    pub(super) fn split(self, pinned_bytes: u64) -> (Gpus, Vec<Lane>) {
        match self {
            Self::Cpu(devices) => (Gpus::default(), (0..devices).map(|_| Lane::Host(Host)).collect()),
            Self::Gpus(gpus, placement) => {
                let lanes = gpus.iter().map(|gpu| Lane::Gpu(Box::new(Worker::new(Arc::clone(gpu))))).collect();
                let g2 = G2Choice { placement: Some(placement), ..G2Choice::default() };
                let pinned_bytes = usize::try_from(pinned_bytes).unwrap_or(usize::MAX);
                let pinned = Mutex::new(Some(Arc::new(Pool::new(KEPT_VECTORS, pinned_bytes))));
                (Gpus { gpus, g2, pinned, pinned_bytes }, lanes)
            }
        }
    }
}

impl Gpus {
    /// Lends page-locked vectors, where there are GPUs and the system has any.
    pub fn lender(&self) -> impl Fn(usize) -> Option<Box<dyn Lent>> + Sync + '_ {
        |count| {
            let pool = self.pinned.lock().clone()?;
            if count < LEAST_PINNED {
                return None;
            }
            let bytes = count.checked_mul(size_of::<Fr>())?;
            let fresh = || self.gpus.iter().find_map(|gpu| gpu.pinned(bytes).ok());
            let memory = pool.take(bytes).or_else(fresh)?;
            Some(Box::new(Borrowed { memory: Some(memory), count, pool }))
        }
    }

    /// Page-locks memory of somebody else, if there are GPUs and the system allows it.
    pub fn lock_pages(&self, pages: &mut Pages) {
        // Locked for one, it is for all.
        let _ = self.gpus.iter().find(|gpu| pages.lock(gpu).is_ok());
    }

    /// Whether GPUs read these rows where they are: A w, B w, and C w, which may be empty.
    pub fn read_lent(&self, [a, b, c]: [&Scalars; 3]) -> bool {
        !self.gpus.is_empty() && a.are_locked() && b.are_locked() && (c.is_empty() || c.are_locked())
    }

    /// Gives the page-locked memory back that no job has.
    pub fn forget_pinned(&self) {
        let fresh = (!self.gpus.is_empty()).then(|| Arc::new(Pool::new(KEPT_VECTORS, self.pinned_bytes)));
        let old = std::mem::replace(&mut *self.pinned.lock(), fresh);
        drop(old);
    }

    /// Gives back what they hold, and the page-locked memory.
    pub fn close(&self) {
        self.forget_pinned();
        self.gpus.iter().for_each(|gpu| gpu.close());
    }

    /// Memory that keys and jobs may take of each, in bytes; 0 where there are none.
    pub fn job_limit(&self) -> u64 {
        self.gpus.iter().map(|gpu| gpu.job_limit()).min().unwrap_or(0)
    }

    /// What a job takes of a GPU: the most that any witness of this key takes.
    pub fn need(&self, key: KeyId, shape: &KeyShape) -> Need {
        if self.gpus.is_empty() {
            // The CPU works in host memory.
            return Need { key, ..Need::default() };
        }
        let (key_bytes, device_bytes) = (Gpu::key_bytes(shape, self.g2.may_be_device()), Gpu::job_bytes(shape));
        Need { key, key_bytes, device_bytes }
    }
}

impl G2Choice {
    /// Whether keys need their points in the second group on the device.
    pub fn may_be_device(&self) -> bool {
        matches!(self.placement, Some(G2Placement::Device | G2Placement::Auto))
    }

    /// Whether any job's is computed on the CPU.
    pub fn may_be_cpu(&self) -> bool {
        self.placement != Some(G2Placement::Device)
    }

    /// Whether the device computes it for a job with so many ones and other scalars in a query over a domain of this size.
    pub fn on_device(&self, ones: usize, others: usize, domain_size: usize) -> bool {
        match self.placement {
            None | Some(G2Placement::Cpu) => false,
            Some(G2Placement::Device) => true,
            Some(G2Placement::Auto) => {
                let (cpu, device) = (self.cpu.load(Ordering::Relaxed), self.device.load(Ordering::Relaxed));
                let is_behind = cpu.saturating_mul(work(ones, others)) > device.saturating_mul(domain_size as u64);
                let known = cpu > 0 && device > 0;
                known && is_behind && self.jobs.fetch_add(1, Ordering::Relaxed) % PROBE_EVERY != PROBE_EVERY - 1
            }
        }
    }

    /// A G2 MSM took this long on the CPU.
    pub fn measured_cpu(&self, took: Duration, ones: usize, others: usize) {
        learn(&self.cpu, took, work(ones, others));
    }

    /// The kernels of a proof without G2 took this long.
    pub fn measured_device(&self, took: Duration, domain_size: usize) {
        learn(&self.device, took, domain_size as u64);
    }
}

/// In additions of a point.
fn work(ones: usize, others: usize) -> u64 {
    ones as u64 + ADDITIONS_A_SCALAR * others as u64
}

/// The rate moves a quarter of the way; it is only ever a hint.
fn learn(rate: &AtomicU64, took: Duration, work: u64) {
    let now = u64::try_from(took.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX) / work.max(1);
    let before = rate.load(Ordering::Relaxed);
    let next = if before == 0 { now } else { (before / 4).saturating_mul(3).saturating_add(now / 4) };
    rate.store(next.max(1), Ordering::Relaxed);
}

/// The lengths of a key's sections.
pub(super) fn shape_of(key: &ProvingKey) -> KeyShape {
    KeyShape {
        log_domain: key.log_domain,
        root_generator: key.root_generator,
        queries: [key.num_aux, key.a.density.count(), key.b1.density.count()],
    }
}

/// A key's points.
pub(super) fn points_of(key: &ProvingKey) -> KeyPoints<'_> {
    KeyPoints { h: &key.h, l: &key.l, a: &key.a.points, b1: &key.b1.points, b2: &key.b2.points }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn auto_sends_g2_where_it_is_no_bottleneck() {
        let choice = G2Choice { placement: Some(G2Placement::Auto), ..G2Choice::default() };
        assert!(!choice.on_device(10, 10, 1 << 10), "nothing is known yet");
        choice.measured_cpu(Duration::from_millis(100), 1000, 450);
        choice.measured_device(Duration::from_millis(50), 1 << 10);
        let sent = (0..PROBE_EVERY).filter(|_| choice.on_device(1000, 450, 1 << 10)).count();
        assert_eq!(sent as u64, PROBE_EVERY - 1, "all but one probe");
        assert!(!choice.on_device(100, 45, 1 << 10), "a small one is no bottleneck");
        for placement in [G2Placement::Cpu, G2Placement::Device] {
            let choice = G2Choice { placement: Some(placement), ..G2Choice::default() };
            assert_eq!(choice.on_device(1, 1, 1), placement == G2Placement::Device);
        }
    }
}
