//! Keys in host memory, and on disk only.
//!
//! A key that came from a file may leave host memory while no job holds it: its file stays open. A job holds its key from
//! its slot to its end; jobs that are queued do not, so that keys which do not fit together can take turns. A queued job
//! whose key is on disk has it read. Where there is no room, the key is tried again whenever a job has ended, that of the
//! first job in the queue first; jobs that pass are counted, and at `MAX_PASSED` slots stay empty until the others' keys
//! can leave. A key that has come stays until a job of it has had its slot. Whoever admits jobs sees to it that each key
//! fits beside all jobs (`Core::check_room`), so this ends.

use super::{Action, Actions, Core, JobId, KeyId};
use crate::error::{Error, Result, Status};

/// Where a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Memory,
    /// It is read.
    Coming,
    /// On disk only.
    Disk,
}

#[derive(Debug)]
pub(super) struct HostKey {
    place: Place,
    /// Whether there was no room when it was wanted last.
    no_room: bool,
    bytes: u64,
    /// Whether it can be read again.
    has_file: bool,
    /// Jobs that were admitted and have not ended.
    wanted: usize,
    /// Those of them that had a slot.
    held: usize,
    /// It was read for a job that has not had its slot yet.
    promised: bool,
    last_use: u64,
    /// `Core::ended_jobs` when it was asked for.
    asked_at: u64,
}

impl HostKey {
    fn may_leave(&self) -> bool {
        let promised = self.promised && self.wanted > 0;
        self.has_file && self.place == Place::Memory && self.held == 0 && !promised
    }
}

impl Core {
    /// A key is in host memory. Keys of which the core is not told count as there for ever.
    pub(super) fn key_loaded(&mut self, id: KeyId, bytes: u64, has_file: bool) {
        self.key_uses += 1;
        let (place, last_use) = (Place::Memory, self.key_uses);
        let key = HostKey {
            place,
            no_room: false,
            bytes,
            has_file,
            wanted: 0,
            held: 0,
            promised: false,
            last_use,
            asked_at: 0,
        };
        self.keys.insert(id, key);
    }

    /// Whether jobs of this key can start.
    pub(super) fn is_key_in_memory(&self, id: KeyId) -> bool {
        self.keys.get(&id).is_none_or(|key| key.place == Place::Memory)
    }

    /// Whether the key lacks room, so that jobs that pass one of this key make it wait longer.
    pub(super) fn has_key_no_room(&self, id: KeyId) -> bool {
        self.keys.get(&id).is_some_and(|key| key.no_room)
    }

    /// Whether the key was read for a job that has not had its slot yet.
    pub(super) fn is_key_promised(&self, id: KeyId) -> bool {
        self.keys.get(&id).is_some_and(|key| key.promised)
    }

    /// A job was admitted that will need the key.
    pub(super) fn want_key(&mut self, id: KeyId, actions: &mut Actions) {
        let Some(key) = self.keys.get_mut(&id) else { return };
        key.wanted += 1;
        self.ask_for_key(id, actions);
    }

    /// Has the key read if it is on disk.
    pub(super) fn ask_for_key(&mut self, id: KeyId, actions: &mut Actions) {
        let ended = self.ended_jobs;
        let Some(key) = self.keys.get_mut(&id) else { return };
        if key.place == Place::Disk && key.wanted > 0 {
            key.place = Place::Coming;
            key.asked_at = ended;
            actions.push(Action::FetchKey { key: id });
        }
    }

    /// A job has its slot: the key stays until the job has ended.
    pub(super) fn hold_key(&mut self, id: KeyId) {
        self.key_uses += 1;
        let Some(key) = self.keys.get_mut(&id) else { return };
        key.held += 1;
        key.promised = false;
        key.last_use = self.key_uses;
    }

    /// A job has ended, which held its key or not: there may be room for others.
    pub(super) fn leave_key(&mut self, id: KeyId, held: bool, actions: &mut Actions) {
        if let Some(key) = self.keys.get_mut(&id) {
            key.wanted = key.wanted.saturating_sub(1);
            key.held = key.held.saturating_sub(usize::from(held));
            key.no_room &= key.wanted > 0;
        }
        self.retry_keys(actions);
    }

    /// Asks again for the key of the first job in the queue that had no room.
    pub(super) fn retry_keys(&mut self, actions: &mut Actions) {
        self.ended_jobs += 1;
        if self.keys.values().all(|key| !key.no_room) {
            return;
        }
        let mut waiting = self.queue.iter().filter_map(|id| Some(self.jobs.get(&id)?.need.key));
        let first = waiting.find(|id| self.has_key_no_room(*id));
        drop(waiting);
        if let Some(id) = first {
            self.ask_for_key(id, actions);
        }
    }

    pub(super) fn key_fetched(&mut self, id: KeyId, result: Result<()>, actions: &mut Actions) {
        let others_run = self.others_run(id);
        let ended = self.ended_jobs;
        let Some(key) = self.keys.get_mut(&id) else { return };
        match result {
            Ok(()) => {
                (key.place, key.no_room, key.promised) = (Place::Memory, false, true);
            }
            Err(error) if error.status() == Status::QueueFull => {
                (key.place, key.no_room) = (Place::Disk, key.wanted > 0);
                if key.asked_at != ended {
                    // Jobs have ended since: the answer is old.
                    self.ask_for_key(id, actions);
                } else if !others_run {
                    self.fail_jobs_of(id, &Error::new(Status::NoMemory, error.message()), actions);
                }
            }
            Err(error) => {
                (key.place, key.no_room) = (Place::Disk, false);
                self.fail_jobs_of(id, &error, actions);
            }
        }
    }

    /// Whether a job of another key runs or can.
    fn others_run(&self, id: KeyId) -> bool {
        self.jobs.values().any(|job| {
            let place = self.keys.get(&job.need.key).map_or(Place::Memory, |key| key.place);
            job.need.key != id && (job.holds_key || matches!(place, Place::Memory | Place::Coming))
        })
    }

    fn fail_jobs_of(&mut self, id: KeyId, error: &Error, actions: &mut Actions) {
        // A job that had a slot has what it needs of the key.
        let waits = |job: &super::job::Job| job.need.key == id && !job.holds_key;
        let jobs: Vec<JobId> = self.jobs.iter().filter(|(_, job)| waits(job)).map(|(id, _)| *id).collect();
        for job in jobs {
            self.abandon(job, error.clone(), actions);
        }
    }

    /// The key that was used longest ago of those that no job holds and that have a file; it counts as on disk from now
    /// on. `except` stays.
    pub fn drop_oldest_key(&mut self, except: KeyId) -> Option<KeyId> {
        let unused = self.keys.iter_mut().filter(|(id, key)| **id != except && key.may_leave());
        let (id, key) = unused.min_by_key(|(_, key)| key.last_use)?;
        key.place = Place::Disk;
        Some(*id)
    }

    /// Whether every key that a live job needs, and `id`, can still come when `staying` bytes of host memory are taken
    /// beside those of keys that have a file, which leave sooner or later. Else `busy`, with the numbers. A `limit` of 0 is
    /// none.
    pub fn check_room(&self, staying: u64, limit: u64, id: KeyId, busy: Status) -> Result<()> {
        let wanted = self.keys.iter().filter(|(other, key)| key.has_file && (key.wanted > 0 || **other == id));
        let most = wanted.map(|(_, key)| key.bytes).max().unwrap_or(0);
        if limit == 0 || staying.saturating_add(most) <= limit {
            return Ok(());
        }
        let message =
            format!("{staying} bytes of host memory would stay in use, and {most} of {limit} must be left for a key");
        Err(Error::new(busy, message))
    }

    pub(super) fn forget_key(&mut self, id: KeyId) {
        self.keys.remove(&id);
    }
}
