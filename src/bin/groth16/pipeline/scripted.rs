//! The scripted device: the engine's decisions in virtual time.

use groth16::engine::core::{Limits, Mode};
use groth16::engine::report::Peaks;
use groth16::engine::simulate::{self, Fault, Outcome, Script, ScriptedJob, Times};
use groth16::engine::timeline::Stage;
use groth16::error::{Result, Status};

use super::Measured;
use super::load::{Arrivals, Load};

/// How long a device that failed takes for its new context; a CUDA context takes some tenths of a second.
const RESET: u64 = 300_000_000;

/// Runs the load.
pub fn run(load: &Load, mode: Mode) -> Result<Measured> {
    let (waiting, arrivals) = match load.arrivals {
        Arrivals::Closed { waiting } => (waiting, simulate::Load::Closed { waiting }),
        Arrivals::Open { .. } => (load.jobs, simulate::Load::Open),
    };
    let limits = Limits { mode, ..Limits::new(waiting, load.devices, load.slots(mode), load.g2_lanes) };
    let phases = load.phases;
    let times = Times {
        split: phases.prepare,
        upload: phases.upload,
        kernels: phases.kernels,
        g2: phases.g2,
        finish: phases.finish,
        ..Times::default()
    };
    let fault = Fault { stage: Stage::Device(0), attempt: 0, status: Status::Device, repeated: false };
    let job = |(start, is_faulty): (u64, bool)| ScriptedJob {
        start,
        times,
        faults: if is_faulty { vec![fault] } else { Vec::new() },
        ..ScriptedJob::default()
    };
    let jobs: Vec<ScriptedJob> = load.starts().into_iter().zip(load.faulty()).map(job).collect();
    let script =
        Script { load: arrivals, jobs, reset: RESET, ..Script::closed(limits, waiting, 0, &ScriptedJob::default()) };
    // Nothing is said of memory, so there is no peak of it.
    let Outcome { record, .. } = simulate::run(&script)?;
    Ok(Measured { record, peaks: Peaks::default() })
}
