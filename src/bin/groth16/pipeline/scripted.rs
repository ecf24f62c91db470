//! The scripted device: the engine's decisions in virtual time.

use groth16::engine::core::{self, Limits};
use groth16::engine::report::Peaks;
use groth16::engine::simulate::{self, Fault, Script, ScriptedJob, Times};
use groth16::engine::timeline::Stage;
use groth16::error::{Result, Status};

use super::Measured;
use super::load::{Arrivals, Load, Mode};

/// Runs the load.
pub fn run(load: &Load, mode: Mode) -> Result<Measured> {
    let phases = load.phases;
    let times = Times {
        split: phases.prepare / 2,
        evaluate: phases.prepare - phases.prepare / 2,
        key_load: 0,
        upload: phases.upload,
        kernels: phases.kernels,
        g2: phases.g2,
        finish: phases.finish,
    };
    let fault = Fault { stage: Stage::Device(0), attempt: 0, status: Status::Device, repeated: false };
    let jobs = load.starts().into_iter().zip(load.faulty()).map(|(start, faulty)| {
        let faults = if faulty { vec![fault] } else { Vec::new() };
        ScriptedJob { start, times, faults, host_bytes: 1, ..ScriptedJob::default() }
    });
    let limits = Limits {
        mode: match mode {
            Mode::Split => core::Mode::Split,
            Mode::Monolithic => core::Mode::Monolithic,
        },
        ..Limits::new(usize::MAX, load.devices, load.slots(mode), load.g2_lanes)
    };
    let script = Script {
        limits,
        host_bytes: 0,
        load: match load.arrivals {
            Arrivals::Closed { waiting } => simulate::Load::Closed { waiting },
            Arrivals::Open { .. } => simulate::Load::Open,
        },
        jobs: jobs.collect(),
        reset: RESET,
        failing_resets: Vec::new(),
        shutdown: None,
    };
    let outcome = simulate::run(&script)?;
    // Jobs of a script take no bytes that mean anything.
    Ok(Measured { record: outcome.record, peaks: Peaks::default() })
}

/// How long a device takes for a new context, in nanoseconds.
const RESET: core::Nanos = 500_000_000;
