//! What the engine asks of the work that it moves through its pipeline.

use super::budget::Permit;
use super::core::{DeviceId, KeyId, Need};
use crate::error::{Error, Result};
use crate::sync::{AtomicBool, Ordering};

/// What the last stage gives.
#[derive(Debug)]
pub enum Finished<T> {
    /// A proof that may be given out.
    Sound(T),
    /// One that failed its self-check, and what to say of it.
    Unsound(T, Error),
}

/// The stages of a job. The engine decides when and where each runs; the implementation says what it does. All
/// stages are called on worker threads, a panic in one fails its job. `upload`, `run_device` and `finish` may be called a
/// second time for a job, on another device, and `g2`, too; an error of the status `Device` asks for that.
pub trait Stages: Send + Sync + 'static {
    /// What a job starts with; it may borrow memory of the caller, which is released when `evaluate` has consumed it, or,
    /// where rows lend it, when the job ends.
    type Input: Send + 'static;
    /// Split scalars, owned: all that G2 and the device read of the witness.
    type Scalars: Send + Sync + 'static;
    /// What the rows' evaluations can be uploaded from, also a second time.
    type Rows: Send + Sync + 'static;
    /// What was brought into the memory of a device for one job; frees that memory when dropped.
    type Uploaded: Send + 'static;
    /// Where kernels run; one per device, used by one job at a time.
    type Device: Send + 'static;
    /// What the kernels give.
    type DeviceResult: Send + 'static;
    /// What the G2 MSM gives.
    type G2Result: Send + 'static;
    /// A proof.
    type Output: Clone + PartialEq + Send + 'static;

    /// Upper bounds of the host memory that a job takes from start to end, and of that of its key.
    fn host_need(&self, input: &Self::Input) -> HostNeed;
    /// What the job takes of a device.
    fn need(&self, input: &Self::Input) -> Need;
    /// What a key that `drop_key` took from host memory takes there, in bytes.
    fn key_bytes(&self, key: KeyId) -> Result<u64>;
    /// Reads such a key again, on the CPU pool, with leave for its bytes; `stop` is asked when the engine ends.
    fn fetch_key(&self, key: KeyId, permit: Permit, stop: &Stop) -> Result<()>;
    /// What the key takes of host memory, to be dropped elsewhere: the caller holds a lock. No job holds it.
    fn drop_key(&self, key: KeyId) -> Box<dyn Send>;
    /// Splits the scalars.
    fn split(&self, input: &Self::Input) -> Result<Self::Scalars>;
    /// Evaluates the rows. When this returns the caller's memory is read no more, unless the rows lend it.
    fn evaluate(&self, input: Self::Input, scalars: &Self::Scalars, stop: &Stop) -> Result<Self::Rows>;
    /// Whether uploads read memory of the caller.
    fn lends(&self, _rows: &Self::Rows) -> bool {
        false
    }
    /// Brings a job, and its key where that is asked for, into the memory of a device: its copy lane, beside the kernels
    /// of other jobs.
    fn upload(&self, to: Place, scalars: &Self::Scalars, rows: &Self::Rows, stop: &Stop) -> Result<Self::Uploaded>;
    /// Drops a key from the memory of a device; no job uses it there.
    fn evict(&self, device: DeviceId, key: KeyId);
    /// The G2 MSM, on the CPU pool, beside everything that follows.
    fn g2(&self, scalars: &Self::Scalars, stop: &Stop) -> Result<Self::G2Result>;
    /// The kernels: the only stage that holds a device's compute lane.
    fn run_device(
        &self,
        device: &mut Self::Device,
        scalars: &Self::Scalars,
        uploaded: Self::Uploaded,
        stop: &Stop,
    ) -> Result<Self::DeviceResult>;
    /// Whether `run_device` computes on the CPU, and so belongs on the threads of a pool.
    fn needs_pool(&self, device: &Self::Device) -> bool;
    /// Gives a device that failed a new context; what lay in its memory is lost.
    fn reset(&self, device: &mut Self::Device) -> Result<()>;
    /// A device is used no more: what it holds is given back. Nothing runs on it.
    fn retire(&self, device: &mut Self::Device);
    /// The engine has ended: what devices hold is given back, though others may still hold this value.
    fn close(&self);
    /// Joins both into a proof and checks it.
    fn finish(
        &self,
        scalars: &Self::Scalars,
        device: Self::DeviceResult,
        g2: Self::G2Result,
    ) -> Result<Finished<Self::Output>>;
}

/// Host memory, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostNeed {
    /// Of a job alone.
    pub job: u64,
    /// Of its key, which jobs share.
    pub key: u64,
}

/// Where an upload goes.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The device.
    pub device: DeviceId,
    /// Whether the key is not there yet.
    pub load_key: bool,
    /// Whether the key is not to stay: it is brought piece by piece while the kernels run.
    pub streamed: bool,
}

/// Asks the running stages of one job to end early: they look between kernels and MSMs.
#[derive(Debug)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Nobody has asked yet.
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Asks.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has asked.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}
