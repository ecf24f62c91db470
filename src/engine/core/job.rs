//! What the core knows of a job.

use super::queue::QueueKey;
use super::{DeviceId, Nanos, Need};
use crate::error::Error;

/// How far one stage of a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Waiting,
    Running,
    Done,
}

/// A job that was admitted and has not ended.
#[derive(Debug)]
pub(super) struct Job {
    pub key: QueueKey,
    pub need: Need,
    pub submitted: Nanos,
    /// The device whose slot it holds, or held last.
    pub device: Option<DeviceId>,
    /// Whether it had a slot, and so holds its key in host memory.
    pub holds_key: bool,
    /// Whether it holds a slot there.
    pub has_slot: bool,
    /// Whether its key is streamed, since it can never be resident beside the job.
    pub streamed: bool,
    pub split: bool,
    pub prepare: Progress,
    pub upload: Progress,
    pub kernels: Progress,
    pub g2: Progress,
    pub finish: Progress,
    /// Whether it has left its device and waits for its G2 MSM.
    pub behind: bool,
    pub failure: Option<Error>,
    pub retries: u32,
    /// The device of a first attempt that failed.
    pub failed_on: Option<DeviceId>,
    /// Whether the first attempt failed its self-check, so that the outcome of the second tells who is to blame.
    pub unsound_once: bool,
    /// How many jobs got a slot while it did not fit.
    pub passed: u32,
}

impl Job {
    pub fn new(key: QueueKey, need: Need, submitted: Nanos) -> Self {
        let waiting = Progress::Waiting;
        Self {
            key,
            need,
            submitted,
            device: None,
            holds_key: false,
            has_slot: false,
            streamed: false,
            split: false,
            prepare: waiting,
            upload: waiting,
            kernels: waiting,
            g2: waiting,
            finish: waiting,
            behind: false,
            failure: None,
            retries: 0,
            failed_on: None,
            unsound_once: false,
            passed: 0,
        }
    }

    pub fn is_running(&self) -> bool {
        [self.prepare, self.upload, self.kernels, self.g2, self.finish].contains(&Progress::Running)
    }

    pub fn is_preparing(&self) -> bool {
        self.prepare == Progress::Running
    }

    /// Whether nothing of it runs that needs its slot.
    pub fn may_leave_slot(&self) -> bool {
        ![self.prepare, self.upload, self.kernels].contains(&Progress::Running)
    }
}
