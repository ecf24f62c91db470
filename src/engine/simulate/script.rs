//! What a simulation is told.

use crate::engine::core::{KeyId, Limits, Nanos, Need};
use crate::engine::timeline::Stage;
use crate::error::{Error, Status};

/// How long the stages of a job take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Splitting the scalars.
    pub split: Nanos,
    /// Evaluating the rows.
    pub evaluate: Nanos,
    /// Bringing the key to the device, where it is not there.
    pub key_load: Nanos,
    /// Bringing rows and scalars there.
    pub upload: Nanos,
    /// All kernels.
    pub kernels: Nanos,
    /// The G2 MSM.
    pub g2: Nanos,
    /// Epilogue and self-check.
    pub finish: Nanos,
}

/// A stage that fails.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Which stage, whatever its device.
    pub stage: Stage,
    /// In which attempt, from 0.
    pub attempt: usize,
    /// With what.
    pub status: Status,
    /// For a failed self-check of the second attempt: whether the first had the same proof.
    pub repeated: bool,
}

impl Fault {
    pub(super) fn error(&self) -> Error {
        Error::new(self.status, "the script lets this stage fail")
    }
}

/// One job.
#[derive(Clone, Debug, Default)]
pub struct ScriptedJob {
    /// When it is started, in an open load.
    pub start: Nanos,
    /// Its priority.
    pub priority: i32,
    /// Its stages.
    pub times: Times,
    /// What it takes of a device.
    pub need: Need,
    /// What it takes of the host, in bytes.
    pub host_bytes: u64,
    /// So long after its start it is cancelled.
    pub cancel_after: Option<Nanos>,
    /// What fails of it.
    pub faults: Vec<Fault>,
}

impl ScriptedJob {
    pub(super) fn fault(&self, stage: Stage, attempt: usize) -> Option<&Fault> {
        self.faults.iter().find(|fault| fault.stage.index() == stage.index() && fault.attempt == attempt)
    }
}

/// When jobs are started.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// So many are kept waiting in the queue.
    Closed {
        /// At least 1.
        waiting: usize,
    },
    /// Each at its own time.
    Open,
}

/// All that a simulation is told.
#[derive(Clone, Debug)]
pub struct Script {
    /// What the engine is built with.
    pub limits: Limits,
    /// The budget of host memory, in bytes; 0 is none.
    pub host_bytes: u64,
    /// When the jobs come.
    pub load: Load,
    /// The jobs; their identifiers are their places here.
    pub jobs: Vec<ScriptedJob>,
    /// How long a new context of a device takes.
    pub reset: Nanos,
    /// Which resets fail, counted from 0.
    pub failing_resets: Vec<usize>,
    /// When the engine is freed.
    pub shutdown: Option<Nanos>,
    /// Keys that take host memory; others are just there.
    pub keys: Vec<ScriptedKey>,
}

/// A key in host memory.
#[derive(Clone, Debug)]
pub struct ScriptedKey {
    /// Which, as in `Need::key`.
    pub id: KeyId,
    /// What it takes.
    pub bytes: u64,
    /// Whether it can leave and be read again.
    pub has_file: bool,
    /// How long that takes.
    pub read: Nanos,
    /// Which reads fail, counted from 0.
    pub failing_reads: Vec<usize>,
}

impl Script {
    /// `count` equal jobs of which `waiting` are always queued.
    pub fn closed(limits: Limits, waiting: usize, count: usize, job: &ScriptedJob) -> Self {
        Self {
            limits,
            host_bytes: 0,
            load: Load::Closed { waiting },
            jobs: vec![job.clone(); count],
            reset: 0,
            failing_resets: Vec::new(),
            shutdown: None,
            keys: Vec::new(),
        }
    }
}
