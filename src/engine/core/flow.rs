//! What follows from the end of each stage.

use super::job::Progress;
use super::{Action, Actions, Core, DeviceId, JobId, KeyId, Mode, Nanos, Phase};
use crate::error::{Error, Result, Status};

impl Core {
    pub(super) fn scalars_split(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.split = true;
        if self.limits.mode == Mode::Split {
            self.queue_g2(id);
        }
    }

    /// The job's G2 MSM waits for a lane.
    pub(super) fn queue_g2(&mut self, id: JobId) {
        let Some(job) = self.jobs.get(&id) else { return };
        if job.failure.is_none() && job.split && job.g2 == Progress::Waiting {
            self.g2_queue.insert(job.key, id, job.submitted);
        }
    }

    /// Gives free G2 lanes to the jobs that wait for them.
    pub(super) fn start_g2(&mut self, now: Nanos, actions: &mut Actions) {
        for lane in 0..self.g2_lanes.len() {
            if self.g2_lanes[lane].is_some() {
                continue;
            }
            let Some(id) = self.g2_queue.take(self.aged_before(now)) else { return };
            self.g2_lanes[lane] = Some(id);
            if let Some(job) = self.jobs.get_mut(&id) {
                job.g2 = Progress::Running;
            }
            actions.push(Action::StartG2 { job: id, lane });
        }
    }

    pub(super) fn prepared(&mut self, id: JobId, result: Result<()>, actions: &mut Actions) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.prepare = Progress::Done;
        if let Err(error) = result {
            self.abandon(id, error, actions);
        } else if job.failure.is_some() {
            self.settle(id, actions);
        } else if let Some(index) = job.device {
            if self.devices[index].is_out() {
                self.requeue(id, actions);
            } else {
                self.devices[index].to_upload.insert(job.key, id, job.submitted);
            }
        }
    }

    /// Gives a free copy lane to the first job that waits for it.
    pub(super) fn start_upload(&mut self, index: DeviceId, now: Nanos, actions: &mut Actions) {
        let aged = self.aged_before(now);
        let device = &mut self.devices[index];
        if device.copying.is_some() || !device.is_up() {
            return;
        }
        let Some(id) = device.to_upload.take(aged) else { return };
        let Some(job) = self.jobs.get_mut(&id) else { return };
        device.copying = Some(id);
        job.upload = Progress::Running;
        let (load_key, streamed) = (device.must_load(&job.need, job.streamed), job.streamed);
        actions.push(Action::Upload { job: id, device: index, load_key, streamed });
    }

    pub(super) fn uploaded(&mut self, id: JobId, result: Result<()>, actions: &mut Actions) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let Some(index) = job.device else { return };
        let device = &mut self.devices[index];
        device.copying = None;
        job.upload = if result.is_ok() { Progress::Done } else { Progress::Waiting };
        if let Err(error) = result {
            self.device_failed_job(id, index, error, actions);
            return;
        }
        if !job.streamed {
            device.loaded(job.need.key);
        }
        if job.failure.is_some() {
            self.settle(id, actions);
        } else if device.is_out() {
            self.requeue(id, actions);
        } else {
            device.ready.insert(job.key, id, job.submitted);
        }
    }

    /// Gives a free compute lane to the first job that is ready for it.
    pub(super) fn start_kernels(&mut self, index: DeviceId, now: Nanos, actions: &mut Actions) {
        let aged = self.aged_before(now);
        let device = &mut self.devices[index];
        if device.computing.is_some() || !device.is_up() {
            return;
        }
        let Some(id) = device.ready.take(aged) else { return };
        device.computing = Some(id);
        if let Some(job) = self.jobs.get_mut(&id) {
            job.kernels = Progress::Running;
        }
        actions.push(Action::Enter { job: id, phase: Phase::OnDevice, device: Some(index) });
        actions.push(Action::RunDevice { job: id, device: index });
    }

    pub(super) fn device_done(&mut self, id: JobId, result: Result<()>, now: Nanos, actions: &mut Actions) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let Some(index) = job.device else { return };
        job.kernels = Progress::Done;
        self.devices[index].computing = None;
        if let Err(error) = result {
            self.device_failed_job(id, index, error, actions);
            return;
        }
        // The lane is given on before anything else is done for the job that leaves it.
        self.start_kernels(index, now, actions);
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.behind = job.g2 != Progress::Done;
        self.behind += usize::from(job.behind);
        if self.limits.mode == Mode::Split || job.failure.is_some() {
            self.leave_slot(id, actions);
        } else {
            self.queue_g2(id);
        }
        actions.push(Action::Enter { job: id, phase: Phase::Finishing, device: Some(index) });
        self.finish_or_settle(id, actions);
    }

    pub(super) fn g2_done(&mut self, id: JobId, result: Result<()>, actions: &mut Actions) {
        if let Some(lane) = self.g2_lanes.iter_mut().find(|lane| **lane == Some(id)) {
            *lane = None;
        }
        self.leave_behind(id);
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.g2 = Progress::Done;
        match result {
            Err(error) => self.abandon(id, error, actions),
            Ok(()) => self.finish_or_settle(id, actions),
        }
    }

    /// The job waits for its G2 MSM no more.
    pub(super) fn leave_behind(&mut self, id: JobId) {
        if let Some(job) = self.jobs.get_mut(&id) {
            self.behind -= usize::from(std::mem::take(&mut job.behind));
        }
    }

    fn finish_or_settle(&mut self, id: JobId, actions: &mut Actions) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.failure.is_some() {
            self.settle(id, actions);
        } else if job.kernels == Progress::Done && job.g2 == Progress::Done {
            job.finish = Progress::Running;
            actions.push(Action::Finish { job: id });
        }
    }

    pub(super) fn finished(&mut self, id: JobId, result: Result<()>, repeated: bool, actions: &mut Actions) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.finish = Progress::Done;
        let result = match (result, job.failure.take()) {
            (Ok(()), _) => {
                self.sound(id, actions);
                Ok(())
            }
            (Err(_), Some(cancelled)) => Err(cancelled),
            (Err(error), None) if error.status() == Status::SelfCheck => {
                match self.unsound(id, error, repeated, actions) {
                    Some(error) => Err(error),
                    // It is tried again.
                    None => return,
                }
            }
            (error, None) => error,
        };
        self.end(id, result, actions);
    }

    /// The job shall not become a proof: it completes at once if nothing of it runs, else when the last stage ends.
    /// A job whose epilogue runs is left to it, but not tried again.
    pub(super) fn abandon(&mut self, id: JobId, error: Error, actions: &mut Actions) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.finish == Progress::Running {
            job.failure.get_or_insert(error);
            return;
        }
        if job.failure.is_none() {
            job.failure = Some(error);
            self.g2_queue.remove(job.key);
            self.queue.remove(job.key);
            if job.is_running() {
                actions.push(Action::Stop { job: id });
            }
        }
        self.settle(id, actions);
    }

    /// Gives back what a failed job holds, and completes it if no stage of it runs.
    pub(super) fn settle(&mut self, id: JobId, actions: &mut Actions) {
        let Some(job) = self.jobs.get(&id) else { return };
        if job.may_leave_slot() {
            self.leave_slot(id, actions);
        }
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.is_running() {
            return;
        }
        if let Some(error) = job.failure.take() {
            self.end(id, Err(error), actions);
        }
    }

    /// The one place where a job ends.
    fn end(&mut self, id: JobId, result: Result<()>, actions: &mut Actions) {
        self.leave_slot(id, actions);
        self.leave_behind(id);
        let Some(job) = self.jobs.remove(&id) else { return };
        actions.push(Action::Enter { job: id, phase: Phase::Terminal, device: None });
        actions.push(Action::Complete { job: id, result, retries: job.retries });
        self.leave_key(job.need.key, job.holds_key, actions);
    }

    pub(super) fn key_freed(&mut self, key: KeyId, actions: &mut Actions) {
        self.forget_key(key);
        self.retry_keys(actions);
        for (index, device) in self.devices.iter_mut().enumerate() {
            if device.free_key(key) {
                actions.push(Action::EvictKey { device: index, key });
            }
        }
    }

    /// Jobs whose kernels run or have run come to their end; the others fail.
    pub(super) fn shut_down(&mut self, actions: &mut Actions) {
        self.shutting_down = true;
        let waiting: Vec<JobId> =
            self.jobs.iter().filter(|(_, job)| job.kernels == Progress::Waiting).map(|(id, _)| *id).collect();
        for id in waiting {
            self.abandon(id, shut_down_error(), actions);
        }
    }
}

pub(super) fn shut_down_error() -> Error {
    Error::new(Status::Shutdown, "the engine was freed before the job ran")
}
