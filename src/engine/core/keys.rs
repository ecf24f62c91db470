//! Keys in host memory, and on disk only.
//!
//! A key that came from a file may leave host memory when nobody uses it and others need the room: its file stays open.
//! A job of such a key waits in the queue while the key is read again. Where there is no room for it, it is tried again
//! whenever a job has ended; when no job is left that could make room, it fails.

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
    /// On disk only, and there was no room when a job wanted it.
    NoRoom,
}

#[derive(Debug)]
pub(super) struct HostKey {
    place: Place,
    /// Jobs that were admitted and have not ended.
    users: usize,
    last_use: u64,
    /// Whether it can be read again.
    has_file: bool,
}

impl Core {
    /// A key is in host memory. Keys of which the core is not told count as there for ever.
    pub(super) fn key_loaded(&mut self, id: KeyId, has_file: bool) {
        self.key_uses += 1;
        let key = HostKey { place: Place::Memory, users: 0, last_use: self.key_uses, has_file };
        self.keys.insert(id, key);
    }

    /// Whether jobs of this key can start.
    pub(super) fn is_key_in_memory(&self, id: KeyId) -> bool {
        self.keys.get(&id).is_none_or(|key| key.place == Place::Memory)
    }

    /// A job needs the key from now on.
    pub(super) fn use_key(&mut self, id: KeyId, actions: &mut Actions) {
        self.key_uses += 1;
        let Some(key) = self.keys.get_mut(&id) else { return };
        key.users += 1;
        key.last_use = self.key_uses;
        if key.place == Place::Disk {
            key.place = Place::Coming;
            actions.push(Action::FetchKey { key: id });
        }
    }

    /// A job that needed the key has ended: there may be room for others.
    pub(super) fn leave_key(&mut self, id: KeyId, actions: &mut Actions) {
        if let Some(key) = self.keys.get_mut(&id) {
            key.users = key.users.saturating_sub(1);
        }
        for (id, key) in &mut self.keys {
            if key.place == Place::NoRoom {
                key.place = if key.users > 0 { Place::Coming } else { Place::Disk };
                if key.users > 0 {
                    actions.push(Action::FetchKey { key: *id });
                }
            }
        }
    }

    pub(super) fn key_fetched(&mut self, id: KeyId, result: Result<()>, actions: &mut Actions) {
        let wait = matches!(&result, Err(error) if error.status() == Status::QueueFull) && self.may_make_room(id);
        let Some(key) = self.keys.get_mut(&id) else { return };
        key.place = match result {
            Ok(()) => Place::Memory,
            Err(_) if wait => Place::NoRoom,
            Err(_) => Place::Disk,
        };
        if let (Err(error), false) = (result, wait) {
            let no_room = error.status() == Status::QueueFull;
            let error = if no_room { Error::new(Status::NoMemory, error.message()) } else { error };
            self.fail_jobs_of(id, &error, actions);
        }
    }

    /// Whether a job runs, or will, whose end could make room for the key.
    fn may_make_room(&self, id: KeyId) -> bool {
        self.jobs.values().any(|job| {
            let place = self.keys.get(&job.need.key).map_or(Place::Memory, |key| key.place);
            job.need.key != id && matches!(place, Place::Memory | Place::Coming)
        })
    }

    fn fail_jobs_of(&mut self, id: KeyId, error: &Error, actions: &mut Actions) {
        let jobs: Vec<JobId> = self.jobs.iter().filter(|(_, job)| job.need.key == id).map(|(id, _)| *id).collect();
        for job in jobs {
            self.abandon(job, error.clone(), actions);
        }
    }

    /// The key that was used longest ago of those that nobody uses and that have a file; it counts as on disk from now on.
    /// `except` stays.
    pub fn drop_oldest_key(&mut self, except: KeyId) -> Option<KeyId> {
        let may_go = |key: &HostKey| key.users == 0 && key.has_file && key.place == Place::Memory;
        let unused = self.keys.iter_mut().filter(|(id, key)| **id != except && may_go(key));
        let (id, key) = unused.min_by_key(|(_, key)| key.last_use)?;
        key.place = Place::Disk;
        Some(*id)
    }

    pub(super) fn forget_key(&mut self, id: KeyId) {
        self.keys.remove(&id);
    }
}
