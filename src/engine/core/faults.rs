//! Devices that fail, and the second attempt of their jobs.
//!
//! An error of a device marks it: it starts nothing more and gets a new context when its lanes are empty; what lay in its
//! memory is brought there again. The job is tried once more, on another device if there is one. A job that found too little
//! memory, which others may have taken, is tried once more where there is another device; one whose rows a device refuses, since a bit
//! may have changed on their way there, is so once in any case. A proof that fails its
//! self-check is tried once more, too, with its G2 MSM. If the second attempt gives another outcome, the first device
//! computed wrongly and is marked; if it gives the same wrong proof, the key or the rows are wrong and no device is to
//! blame: so nobody can take a device out by a bad witness. A device that is marked `MAX_FAULTS` times without a sound
//! proof in between is taken out.

use super::device::Health;
use super::job::Progress;
use super::{Action, Actions, Core, DeviceId, JobId, MAX_FAULTS};
use crate::error::{Error, Result, Status};

impl Core {
    /// Whether any device is there or may come back.
    pub(super) fn has_devices(&self) -> bool {
        self.devices.iter().any(|device| !device.is_out())
    }

    /// A stage on a device failed: only errors of the device itself mark it. They are worth a second attempt; so are memory that
    /// another device may have, and rows that a device refuses.
    pub(super) fn device_failed_job(&mut self, id: JobId, index: DeviceId, error: Error, actions: &mut Actions) {
        let is_other = |(other, device): (DeviceId, &super::device::Device)| other != index && device.is_up();
        let elsewhere = error.status() == Status::DeviceMemory && self.devices.iter().enumerate().any(is_other);
        // What a device says of rows that it reads itself may come of its own fault.
        let is_verdict = matches!(error.status(), Status::Invalid | Status::Unsatisfied);
        if error.status() != Status::Device && !elsewhere && !is_verdict {
            self.abandon(id, error, actions);
            return;
        }
        let again = self.jobs.get(&id).is_some_and(|job| job.failure.is_none() && job.retries == 0);
        if again {
            self.retry(id, false, actions);
        } else {
            self.abandon(id, error.clone(), actions);
        }
        if error.status() == Status::Device {
            self.mark(index, &error, actions);
        }
    }

    /// Puts a job back into the queue, for its second attempt.
    fn retry(&mut self, id: JobId, g2: bool, actions: &mut Actions) {
        self.leave_behind(id);
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.retries += 1;
        job.failed_on = job.device;
        job.finish = Progress::Waiting;
        if g2 {
            job.g2 = Progress::Waiting;
        }
        actions.push(Action::Retry { job: id, g2 });
        self.requeue(id, actions);
        if g2 && self.limits.mode == super::Mode::Split {
            self.queue_g2(id);
        }
    }

    /// Back to the queue, at the place that it had.
    pub(super) fn requeue(&mut self, id: JobId, actions: &mut Actions) {
        self.leave_slot(id, actions);
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.upload = Progress::Waiting;
        job.kernels = Progress::Waiting;
        self.queue.insert(job.key, id, job.submitted);
        if self.shutting_down {
            self.abandon(id, super::flow::shut_down_error(), actions);
        } else if !self.has_devices() {
            self.abandon(id, no_device_error(), actions);
        }
    }

    /// A proof failed its self-check. The error if the job ends with it; `None` if it is tried again.
    pub(super) fn unsound(&mut self, id: JobId, error: Error, repeated: bool, actions: &mut Actions) -> Option<Error> {
        let job = self.jobs.get_mut(&id)?;
        if job.retries == 0 && !self.shutting_down {
            job.unsound_once = true;
            self.retry(id, true, actions);
            return None;
        }
        let (first, second) = (job.failed_on.filter(|_| job.unsound_once), job.device);
        // Where the first attempt ended by a device error, nothing tells who is to blame for this one.
        if !repeated && job.unsound_once {
            for device in [first, second].into_iter().flatten() {
                self.mark(device, &error, actions);
            }
        }
        Some(error)
    }

    /// A proof passed its self-check.
    pub(super) fn sound(&mut self, id: JobId, actions: &mut Actions) {
        let Some(job) = self.jobs.get(&id) else { return };
        let (first, last) = (job.failed_on.filter(|_| job.unsound_once), job.device);
        if let Some(index) = last
            && first != last
        {
            self.devices[index].faults = 0;
        }
        if let Some(index) = first {
            let error = Error::new(Status::SelfCheck, "a proof was wrong, and right when it was made again");
            self.mark(index, &error, actions);
        }
    }

    fn mark(&mut self, index: DeviceId, error: &Error, actions: &mut Actions) {
        let device = &mut self.devices[index];
        if device.is_out() {
            return;
        }
        device.faults += 1;
        if device.faults >= MAX_FAULTS {
            self.take_out(index, error, actions);
        } else if device.health == Health::Up {
            device.health = Health::Suspect;
        }
    }

    /// Resets a device that failed once nothing runs on it.
    pub(super) fn start_reset(&mut self, index: DeviceId, actions: &mut Actions) {
        let device = &mut self.devices[index];
        if device.health == Health::Suspect && device.copying.is_none() && device.computing.is_none() {
            device.health = Health::Resetting;
            actions.push(Action::ResetDevice { device: index });
        }
    }

    pub(super) fn device_reset(&mut self, index: DeviceId, result: Result<()>, actions: &mut Actions) {
        let Some(device) = self.devices.get_mut(index) else { return };
        if device.health != Health::Resetting {
            return;
        }
        if let Err(error) = result {
            self.take_out(index, &error, actions);
            return;
        }
        device.health = Health::Up;
        device.forget_memory();
        for id in device.ready.drain() {
            if let Some(job) = self.jobs.get_mut(&id) {
                job.upload = Progress::Waiting;
                device.to_upload.insert(job.key, id, job.submitted);
                actions.push(Action::Discard { job: id, device: index });
            }
        }
    }

    /// The device is used no more: its jobs go elsewhere, and if there is nowhere to go, fail.
    fn take_out(&mut self, index: DeviceId, error: &Error, actions: &mut Actions) {
        let device = &mut self.devices[index];
        device.health = Health::Out;
        let mut waiting = device.to_upload.drain();
        waiting.extend(device.ready.drain());
        actions.push(Action::DeviceOut { device: index, error: error.clone() });
        for id in waiting {
            self.requeue(id, actions);
        }
        if !self.has_devices() {
            let queued: Vec<JobId> = self.queue.iter().collect();
            for id in queued {
                self.abandon(id, no_device_error(), actions);
            }
        }
    }
}

pub(super) fn no_device_error() -> Error {
    Error::new(Status::Device, "every device has failed and was taken out")
}
