//! One device: its slots, its two lanes, what its memory holds, and whether it works.

use std::collections::{BTreeMap, BTreeSet};

use super::queue::Queue;
use super::{IdleCause, JobId, KeyId, Nanos, Need};

/// Whether a device takes work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    Up,
    /// It failed and gets a new context once its lanes are empty.
    Suspect,
    /// It gets a new context.
    Resetting,
    /// It is used no more.
    Out,
}

/// A key in the memory of a device.
#[derive(Debug)]
struct Resident {
    bytes: u64,
    /// Jobs with a slot that need it.
    users: usize,
    /// Whether it is there, rather than on its way.
    loaded: bool,
    /// When it was used last, by `Device::uses`.
    last_use: u64,
    /// Nobody else wants it: it goes with its last user.
    freed: bool,
}

/// How a job's memory fits into a device.
#[derive(Debug)]
pub(super) struct Fit {
    /// 0: its key is there, or streamed; 1: there is room for the key; 2: if these keys leave.
    pub level: usize,
    pub evict: Vec<KeyId>,
    pub streamed: bool,
}

#[derive(Debug)]
pub(super) struct Device {
    limit: u64,
    pub health: Health,
    /// How often it failed since the last proof.
    pub faults: u32,
    /// Jobs that hold a slot: from the start of preparing to the end of the kernels.
    pub slots: BTreeSet<JobId>,
    /// Prepared jobs that wait for the copy lane.
    pub to_upload: Queue,
    /// The job that is uploaded now.
    pub copying: Option<JobId>,
    /// Uploaded jobs that wait for the compute lane.
    pub ready: Queue,
    /// The job whose kernels run.
    pub computing: Option<JobId>,
    /// Since when no kernel runs, and why.
    pub idle: Option<(Nanos, IdleCause)>,
    keys: BTreeMap<KeyId, Resident>,
    job_bytes: u64,
    uses: u64,
}

impl Device {
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            health: Health::Up,
            faults: 0,
            slots: BTreeSet::new(),
            to_upload: Queue::default(),
            copying: None,
            ready: Queue::default(),
            computing: None,
            idle: Some((0, IdleCause::NoJobs)),
            keys: BTreeMap::new(),
            job_bytes: 0,
            uses: 0,
        }
    }

    pub fn is_up(&self) -> bool {
        self.health == Health::Up
    }

    pub fn is_out(&self) -> bool {
        self.health == Health::Out
    }

    pub fn has_free_slot(&self, slots: usize) -> bool {
        self.slots.len() < slots.max(1)
    }

    pub fn bytes(&self) -> u64 {
        self.job_bytes + self.keys.values().map(|key| key.bytes).sum::<u64>()
    }

    pub fn has_key(&self, key: KeyId) -> bool {
        self.keys.contains_key(&key)
    }

    /// Whether the key can never be resident beside the job.
    pub fn streams(&self, need: &Need) -> bool {
        self.limit > 0 && need.key_bytes.saturating_add(need.device_bytes) > self.limit
    }

    /// How the job fits beside what the device holds; `None` if it does not now.
    pub fn fit(&self, need: &Need) -> Option<Fit> {
        let streamed = self.streams(need);
        let there = streamed || self.has_key(need.key) || need.key_bytes == 0;
        let level = usize::from(!there);
        let wanted = need.device_bytes + if there { 0 } else { need.key_bytes };
        if self.limit == 0 || self.bytes().saturating_add(wanted) <= self.limit {
            return Some(Fit { level, evict: Vec::new(), streamed });
        }
        // A key that the job could use where it is stays, unless it leaves the job no room at all.
        let mut unused: Vec<_> =
            self.keys.iter().filter(|(id, key)| key.users == 0 && (streamed || **id != need.key)).collect();
        unused.sort_by_key(|(_, key)| key.last_use);
        let mut missing = self.bytes().saturating_add(wanted) - self.limit;
        let mut evict = Vec::new();
        for (id, key) in unused {
            evict.push(*id);
            missing = missing.saturating_sub(key.bytes);
            if missing == 0 {
                return Some(Fit { level: 2, evict, streamed });
            }
        }
        None
    }

    /// Takes the memory of a job that fits, and of its key if that is not there.
    pub fn hold(&mut self, need: &Need, streamed: bool) {
        self.job_bytes += need.device_bytes;
        self.uses += 1;
        if streamed || need.key_bytes == 0 {
            return;
        }
        let key = self.keys.entry(need.key).or_insert(Resident {
            bytes: need.key_bytes,
            users: 0,
            loaded: false,
            last_use: 0,
            freed: false,
        });
        key.users += 1;
        key.last_use = self.uses;
    }

    /// Gives back the memory of a job. The key stays, unless it was never loaded or nobody wants it: then it is named.
    pub fn release(&mut self, need: &Need, streamed: bool) -> Option<KeyId> {
        self.job_bytes = self.job_bytes.saturating_sub(need.device_bytes);
        if streamed {
            return None;
        }
        let key = self.keys.get_mut(&need.key)?;
        key.users = key.users.saturating_sub(1);
        if key.users > 0 || (key.loaded && !key.freed) {
            return None;
        }
        let loaded = key.loaded;
        self.keys.remove(&need.key);
        loaded.then_some(need.key)
    }

    pub fn evict(&mut self, key: KeyId) {
        self.keys.remove(&key);
    }

    /// Whether the upload of this job has to bring the key, too.
    pub fn must_load(&self, need: &Need, streamed: bool) -> bool {
        !streamed && self.keys.get(&need.key).is_some_and(|key| !key.loaded)
    }

    pub fn loaded(&mut self, key: KeyId) {
        if let Some(key) = self.keys.get_mut(&key) {
            key.loaded = true;
        }
    }

    /// Nobody but jobs that run wants the key: whether it can leave now.
    pub fn free_key(&mut self, id: KeyId) -> bool {
        let Some(key) = self.keys.get_mut(&id) else { return false };
        key.freed = true;
        if key.users == 0 {
            self.keys.remove(&id);
            return true;
        }
        false
    }

    /// The memory is lost: keys that jobs need have to be loaded again, others are gone.
    pub fn forget_memory(&mut self) {
        self.keys.retain(|_, key| {
            key.loaded = false;
            key.users > 0
        });
    }
}
