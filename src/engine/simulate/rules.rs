//! What the core promises to the threads, checked at every event and action.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::core::{Action, Event, JobId, Limits, Phase};
use crate::error::{Error, Result};

/// Which stages of a job run and have run.
#[derive(Debug, Default)]
struct Seen {
    preparing: bool,
    split: bool,
    uploaded: bool,
    kernels_done: bool,
    g2_done: bool,
    finishing: bool,
    terminal: u32,
}

#[derive(Debug)]
pub(super) struct Rules {
    copying: Vec<Option<JobId>>,
    computing: Vec<Option<JobId>>,
    resetting: BTreeSet<usize>,
    g2: Vec<Option<JobId>>,
    jobs: BTreeMap<JobId, Seen>,
    completed: BTreeSet<JobId>,
}

fn broken(message: String) -> Error {
    Error::internal(format!("a rule of the engine is broken: {message}"))
}

impl Rules {
    pub fn new(limits: &Limits) -> Self {
        Self {
            copying: vec![None; limits.devices],
            computing: vec![None; limits.devices],
            resetting: BTreeSet::new(),
            g2: vec![None; limits.g2_lanes],
            jobs: BTreeMap::new(),
            completed: BTreeSet::new(),
        }
    }

    pub fn submitted(&mut self, id: JobId) {
        self.jobs.insert(id, Seen::default());
    }

    pub fn event(&mut self, event: &Event) -> Result<()> {
        let free = |lanes: &mut Vec<Option<JobId>>, job: JobId| {
            lanes.iter_mut().filter(|lane| **lane == Some(job)).for_each(|lane| *lane = None);
        };
        match event {
            Event::ScalarsSplit { job } => self.seen(*job)?.split = true,
            Event::Prepared { job, .. } => self.seen(*job)?.preparing = false,
            Event::Uploaded { job, result } => {
                free(&mut self.copying, *job);
                self.seen(*job)?.uploaded = result.is_ok();
            }
            Event::DeviceDone { job, result } => {
                free(&mut self.computing, *job);
                let seen = self.seen(*job)?;
                (seen.kernels_done, seen.uploaded) = (result.is_ok(), false);
            }
            Event::G2Done { job, result } => {
                free(&mut self.g2, *job);
                self.seen(*job)?.g2_done = result.is_ok();
            }
            Event::Finished { job, .. } => self.seen(*job)?.finishing = false,
            Event::DeviceReset { device, .. } => {
                self.resetting.remove(device);
            }
            _ => {}
        }
        Ok(())
    }

    fn seen(&mut self, id: JobId) -> Result<&mut Seen> {
        self.jobs.get_mut(&id).ok_or_else(|| broken(format!("job {id} is not alive")))
    }

    pub fn action(&mut self, action: &Action) -> Result<()> {
        match action {
            Action::Reject { job, .. } => drop(self.jobs.remove(job)),
            Action::Enter { job, phase, .. } => {
                let terminal = *phase == Phase::Terminal;
                self.seen(*job)?.terminal += u32::from(terminal);
            }
            Action::Prepare { job } => self.seen(*job)?.preparing = true,
            Action::Upload { job, device, .. } => {
                self.take_lane(*device, *job, true)?;
                if self.seen(*job)?.preparing {
                    return Err(broken(format!("job {job} is uploaded while it prepares")));
                }
            }
            Action::RunDevice { job, device } => {
                self.take_lane(*device, *job, false)?;
                if !self.seen(*job)?.uploaded {
                    return Err(broken(format!("kernels of job {job} run before it is uploaded")));
                }
            }
            Action::Discard { job, .. } => self.seen(*job)?.uploaded = false,
            Action::StartG2 { job, lane } => {
                if self.g2[*lane].replace(*job).is_some() {
                    return Err(broken(format!("G2 lane {lane} is used twice")));
                }
                if !self.seen(*job)?.split {
                    return Err(broken(format!("G2 of job {job} runs before its scalars are split")));
                }
            }
            Action::Finish { job } => {
                let seen = self.seen(*job)?;
                if !(seen.kernels_done && seen.g2_done) || seen.finishing {
                    return Err(broken(format!("job {job} is finished before its stages")));
                }
                seen.finishing = true;
            }
            Action::Retry { job, g2 } => {
                let seen = self.seen(*job)?;
                seen.kernels_done = false;
                seen.g2_done &= !g2;
            }
            Action::ResetDevice { device } => {
                if self.copying[*device].is_some() || self.computing[*device].is_some() {
                    return Err(broken(format!("device {device} is reset while it works")));
                }
                self.resetting.insert(*device);
            }
            Action::Complete { job, .. } => {
                let seen = self.seen(*job)?;
                if seen.terminal != 1 || seen.uploaded || seen.preparing || seen.finishing {
                    return Err(broken(format!("job {job} ends as {seen:?}")));
                }
                self.jobs.remove(job);
                if !self.completed.insert(*job) {
                    return Err(broken(format!("job {job} ends twice")));
                }
            }
            Action::FetchKey { .. }
            | Action::EvictKey { .. }
            | Action::DeviceOut { .. }
            | Action::Gap { .. }
            | Action::Stop { .. } => {}
        }
        Ok(())
    }

    fn take_lane(&mut self, device: usize, job: JobId, copy: bool) -> Result<()> {
        let lanes = if copy { &mut self.copying } else { &mut self.computing };
        if self.resetting.contains(&device) || lanes[device].replace(job).is_some() {
            let lane = if copy { "copy" } else { "compute" };
            return Err(broken(format!("the {lane} lane of device {device} is used twice")));
        }
        Ok(())
    }

    pub fn at_the_end(&self) -> Result<()> {
        let lanes = self.copying.iter().chain(&self.computing).chain(&self.g2);
        if lanes.flatten().next().is_some() || !self.jobs.is_empty() {
            return Err(broken(format!("something runs when all has ended: {self:?}")));
        }
        Ok(())
    }
}
