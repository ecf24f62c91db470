//! Which job gets a slot, and where.

use std::cmp::Reverse;

use super::device::{Device, Fit};
use super::job::{Job, Progress};
use super::{Action, Actions, Core, DeviceId, JobId, MAX_PASSED, Nanos, Need, Phase, TOP_PRIORITY};
use crate::error::{Error, Status};

/// Jobs that are looked at for one slot: the queue may be long, and a caller waits.
const LOOKED_AT: usize = 256;

impl Core {
    pub(super) fn submit(&mut self, id: JobId, priority: i32, need: Need, now: Nanos, actions: &mut Actions) {
        if let Err(error) = self.admit(&need) {
            actions.push(Action::Reject { job: id, error });
            return;
        }
        let key = (Reverse(priority), self.next_order);
        self.next_order += 1;
        self.jobs.insert(id, Job::new(key, need, now));
        self.queue.insert(key, id, now);
        self.want_key(need.key, actions);
    }

    fn admit(&self, need: &Need) -> Result<(), Error> {
        if self.shutting_down {
            return Err(super::flow::shut_down_error());
        }
        if !self.has_devices() {
            return Err(super::faults::no_device_error());
        }
        let limit = self.limits.device_bytes;
        if limit > 0 && need.device_bytes > limit {
            let message =
                format!("the job needs {} bytes of device memory, the limit is {limit} bytes", need.device_bytes);
            return Err(Error::new(Status::DeviceMemory, message));
        }
        let queued = self.queue.len();
        if queued >= self.limits.max_queued_jobs {
            let message = format!("{queued} jobs are queued, which is the engine's limit");
            return Err(Error::new(Status::QueueFull, message));
        }
        Ok(())
    }

    /// Gives free slots to jobs of the queue.
    pub(super) fn fill_slots(&mut self, now: Nanos, actions: &mut Actions) {
        // A job of the highest priority is let in before those that wait for their G2 MSM.
        while !self.queue.is_empty() && (!self.is_held_back() || self.queue.top() == Some(TOP_PRIORITY)) {
            if !self.devices.iter().any(|d| d.is_up() && d.has_free_slot(self.limits.jobs_per_device)) {
                return;
            }
            let Some((id, index, fit)) = self.next_for_slot(now, actions) else { return };
            self.give_slot(id, index, fit, actions);
        }
    }

    /// The first job that fits, with its place. Jobs that are passed are counted, and stop the others in the end.
    fn next_for_slot(&mut self, now: Nanos, actions: &mut Actions) -> Option<(JobId, DeviceId, Fit)> {
        let aged = self.queue.aged(self.aged_before(now));
        let order: Vec<JobId> =
            aged.into_iter().chain(self.queue.iter().filter(|id| aged != Some(*id))).take(LOOKED_AT).collect();
        let mut passed = Vec::new();
        let mut is_held = false;
        for id in order {
            let Some(job) = self.jobs.get(&id) else { continue };
            let key = job.need.key;
            if is_held && !job.holds_key && !self.is_key_promised(key) {
                continue;
            }
            let place = if self.is_key_in_memory(key) { self.place(job) } else { None };
            if let Some((index, fit)) = place {
                for other in passed {
                    if let Some(other) = self.jobs.get_mut(&other) {
                        other.passed += 1;
                    }
                }
                self.queue.turn(aged == Some(id));
                return Some((id, index, fit));
            }
            // A key that is read already comes anyway: who passes its job does not make it wait longer.
            if self.is_key_in_memory(key) || self.has_key_no_room(key) {
                // From here on only jobs go whose key would else stay in the way: read for them, or held since a first attempt.
                is_held |= job.passed >= MAX_PASSED;
                passed.push(id);
            } else {
                self.ask_for_key(key, actions);
            }
        }
        None
    }

    /// The best device for a job: one where its key is and few jobs are; `None` if it fits nowhere now. A key drives out
    /// others only where it is on no device, or when its job was passed often.
    fn place(&self, job: &Job) -> Option<(DeviceId, Fit)> {
        let others_up = self.devices.iter().enumerate().any(|(i, d)| d.is_up() && job.failed_on != Some(i));
        let usable = |index: DeviceId, device: &Device| device.is_up() && !(others_up && job.failed_on == Some(index));
        let is_somewhere = self.devices.iter().enumerate().any(|(i, d)| usable(i, d) && d.has_key(job.need.key));
        let fits = self.devices.iter().enumerate().filter_map(|(index, device)| {
            if !usable(index, device) || !device.has_free_slot(self.limits.jobs_per_device) {
                return None;
            }
            let fit = device.fit(&job.need)?;
            let moves = !fit.evict.is_empty() && is_somewhere && !device.has_key(job.need.key);
            if moves && job.passed < MAX_PASSED {
                return None;
            }
            Some((2 * device.slots.len() + fit.level, index, fit))
        });
        fits.min_by_key(|(cost, index, _)| (*cost, *index)).map(|(_, index, fit)| (index, fit))
    }

    fn give_slot(&mut self, id: JobId, index: DeviceId, fit: Fit, actions: &mut Actions) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        self.queue.remove(job.key);
        let device = &mut self.devices[index];
        for key in fit.evict {
            device.evict(key);
            actions.push(Action::EvictKey { device: index, key });
        }
        device.hold(&job.need, fit.streamed);
        device.slots.insert(id);
        job.device = Some(index);
        job.has_slot = true;
        let holds_key = std::mem::replace(&mut job.holds_key, true);
        job.streamed = fit.streamed;
        actions.push(Action::Enter { job: id, phase: Phase::Preparing, device: Some(index) });
        if job.prepare == Progress::Waiting {
            job.prepare = Progress::Running;
            actions.push(Action::Prepare { job: id });
        } else {
            device.to_upload.insert(job.key, id, job.submitted);
        }
        let key = job.need.key;
        if !holds_key {
            self.hold_key(key);
        }
    }

    /// Takes the slot of a job, and its memory, for others. What was uploaded of it is dropped.
    pub(super) fn leave_slot(&mut self, id: JobId, actions: &mut Actions) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let (true, Some(index)) = (job.has_slot, job.device) else { return };
        job.has_slot = false;
        let device = &mut self.devices[index];
        device.slots.remove(&id);
        device.to_upload.remove(job.key);
        device.ready.remove(job.key);
        if job.upload == Progress::Done && job.kernels != Progress::Done {
            actions.push(Action::Discard { job: id, device: index });
        }
        if let Some(key) = device.release(&job.need, job.streamed) {
            actions.push(Action::EvictKey { device: index, key });
        }
    }
}
