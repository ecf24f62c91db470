//! Jobs that wait for the same thing.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{JobId, Nanos, TOP_PRIORITY};

/// Highest priority first, then first in first out; unique, since the second part is.
pub(super) type QueueKey = (Reverse<i32>, u64);

/// Of so many turns, an aged job gets one.
const AGED_EVERY: u32 = 4;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    priority: Reverse<i32>,
    job: JobId,
    submitted: Nanos,
}

/// Jobs by priority and by age.
#[derive(Debug, Default)]
pub(super) struct Queue {
    by_priority: BTreeMap<QueueKey, JobId>,
    by_age: BTreeMap<u64, Waiting>,
    /// Turns since an aged job had one.
    turns: u32,
}

impl Queue {
    pub fn len(&self) -> usize {
        self.by_priority.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_priority.is_empty()
    }

    /// The highest priority that waits.
    pub fn top(&self) -> Option<i32> {
        self.by_priority.first_key_value().map(|((Reverse(priority), _), _)| *priority)
    }

    pub fn insert(&mut self, key: QueueKey, job: JobId, submitted: Nanos) {
        self.by_priority.insert(key, job);
        self.by_age.insert(key.1, Waiting { priority: key.0, job, submitted });
    }

    pub fn remove(&mut self, key: QueueKey) {
        self.by_priority.remove(&key);
        self.by_age.remove(&key.1);
    }

    /// All jobs, the first to go first.
    pub fn iter(&self) -> impl Iterator<Item = JobId> + '_ {
        self.by_priority.values().copied()
    }

    /// The oldest job, if it was submitted before `aged`, it is the turn of such a job, and none of `TOP_PRIORITY` waits.
    pub fn aged(&self, aged: Option<Nanos>) -> Option<JobId> {
        let (Reverse(top), _) = self.by_priority.first_key_value()?.0;
        if self.turns + 1 < AGED_EVERY || *top == TOP_PRIORITY {
            return None;
        }
        let (_, oldest) = self.by_age.first_key_value()?;
        (oldest.submitted <= aged?).then_some(oldest.job)
    }

    /// A job has had its turn.
    pub fn turn(&mut self, was_aged: bool) {
        self.turns = if was_aged { 0 } else { self.turns.saturating_add(1) };
    }

    /// Takes the next job for a lane: the first, or an aged one if it is its turn.
    pub fn take(&mut self, aged: Option<Nanos>) -> Option<JobId> {
        let old = self.aged(aged);
        let (key, job) = if old.is_some() {
            self.by_age.first_key_value().map(|(order, oldest)| ((oldest.priority, *order), oldest.job))
        } else {
            self.by_priority.first_key_value().map(|(key, job)| (*key, *job))
        }?;
        self.turn(old.is_some());
        self.remove(key);
        Some(job)
    }

    pub fn drain(&mut self) -> Vec<JobId> {
        self.by_age.clear();
        std::mem::take(&mut self.by_priority).into_values().collect()
    }
}
