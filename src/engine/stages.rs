//! What the engine asks of the work that it moves through its pipeline.

use crate::error::Result;
use crate::sync::{AtomicBool, Ordering};

/// The stages of a job. The engine decides when and where each runs; the implementation says what it does. All
/// stages are called on worker threads, a panic in one fails its job.
pub trait Stages: Send + Sync + 'static {
    /// What a job starts with; it may borrow memory of the caller, which is released when `evaluate` has consumed it.
    type Input: Send + 'static;
    /// Split scalars, owned: all that G2 and the device read of the witness.
    type Scalars: Send + Sync + 'static;
    /// What is left to upload: the rows' evaluations.
    type Evaluations: Send + 'static;
    /// Where kernels run; one per device, used by one job at a time.
    type Device: Send + 'static;
    /// What the kernels give.
    type DeviceResult: Send + 'static;
    /// What the G2 MSM gives.
    type G2Result: Send + 'static;
    /// A proof.
    type Output: Clone + Send + 'static;

    /// An upper bound of the host memory that a job takes from start to end, in bytes.
    fn host_bytes(&self, input: &Self::Input) -> u64;
    /// Splits the scalars.
    fn split(&self, input: &Self::Input) -> Result<Self::Scalars>;
    /// Evaluates the rows. When this returns the caller's memory is read no more.
    fn evaluate(&self, input: Self::Input, scalars: &Self::Scalars, stop: &Stop) -> Result<Self::Evaluations>;
    /// The G2 MSM, on the CPU pool, beside everything that follows.
    fn g2(&self, scalars: &Self::Scalars, stop: &Stop) -> Result<Self::G2Result>;
    /// The kernels: the only stage that holds a device's compute lane.
    fn run_device(
        &self,
        device: &mut Self::Device,
        scalars: &Self::Scalars,
        evaluations: Self::Evaluations,
        stop: &Stop,
    ) -> Result<Self::DeviceResult>;
    /// Joins both into a proof and checks it.
    fn finish(&self, scalars: &Self::Scalars, device: Self::DeviceResult, g2: Self::G2Result) -> Result<Self::Output>;
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
