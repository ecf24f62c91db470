//! `groth16 bench pipeline`: a load through the pipeline; what its record says, as figures, picture and trace.

mod load;
mod real;
mod scripted;
mod svg;

use std::fmt::Write;
use std::path::Path;

use groth16::engine::core::Mode;
use groth16::engine::report::{Peaks, Report};
use groth16::engine::timeline::Record;
use groth16::error::{Error, Result};
use serde_json::{Value, json};

use crate::args::{Device, Modes, Pipeline};
use crate::output::{self, Console, Output};
use load::{Arrivals, Load, name};
use svg::Panel;

/// What came of a load.
struct Measured {
    record: Record,
    peaks: Peaks,
}

/// A mode, measured.
struct Run {
    mode: Mode,
    record: Record,
    report: Report,
}

pub fn run(options: &Pipeline, console: &Console) -> Result<u8> {
    let load = Load::new(options);
    if options.svg.is_some() && options.svg == options.trace {
        return Err(Error::invalid("--svg and --trace name the same file"));
    }
    // What cannot be written fails before the work.
    let svg = options.svg.as_deref().map(|path| file("--svg", path)).transpose()?;
    let trace = options.trace.as_deref().map(|path| file("--trace", path)).transpose()?;
    let modes: &[Mode] = match options.mode {
        Modes::Split => &[Mode::Split],
        Modes::Monolithic => &[Mode::Monolithic],
        Modes::Both => &[Mode::Split, Mode::Monolithic],
    };
    let real = match options.device {
        Device::Scripted => None,
        device => Some(real::Real::new(&options.real, device, console)?),
    };
    let measure = |mode: &Mode| {
        let Measured { record, peaks } = match &real {
            None => scripted::run(&load, *mode)?,
            Some(real) => real.run(&load, *mode, console)?,
        };
        let report = Report::new(&record).with_peaks(peaks);
        Ok(Run { mode: *mode, record, report })
    };
    let runs = modes.iter().map(measure).collect::<Result<Vec<Run>>>()?;
    if let Some(svg) = svg {
        let panels = runs.iter().map(|run| Panel { name: name(run.mode), record: &run.record, report: &run.report });
        svg.write_bytes(svg::render(&panels.collect::<Vec<_>>(), options.window).as_bytes())?;
    }
    if let Some(trace) = trace {
        trace.write_bytes(chrome_trace(&runs).to_string().as_bytes())?;
    }
    output::text(&if options.json { as_json(&load, &runs) } else { as_text(&load, &runs) })?;
    Ok(0)
}

/// A file for an option; stdout is taken.
fn file(option: &str, path: &Path) -> Result<Output> {
    if path.as_os_str() == "-" {
        return Err(Error::invalid(format!("{option}: the result goes to stdout, give the name of a file")));
    }
    Output::create(path, &[])
}

/// All runs in one trace: each is a process of it.
fn chrome_trace(runs: &[Run]) -> Value {
    let mut all = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let mut trace = run.record.chrome_trace();
        let Some(events) = trace["traceEvents"].as_array_mut() else { continue };
        for event in events.iter_mut() {
            event["pid"] = json!(index + 1);
            if event["name"] == "process_name" {
                event["args"]["name"] = json!(name(run.mode));
            }
        }
        all.append(events);
    }
    json!({ "displayTimeUnit": "ms", "traceEvents": all })
}

/// Proofs per second of split over those of monolithic, where both were measured.
fn ratio(runs: &[Run]) -> Option<f64> {
    let rate = |mode: Mode| runs.iter().find(|run| run.mode == mode).map(|run| run.report.proofs_per_second());
    let (split, monolithic) = (rate(Mode::Split)?, rate(Mode::Monolithic)?);
    (monolithic > 0.0).then(|| split / monolithic)
}

fn as_text(load: &Load, runs: &[Run]) -> String {
    let mut text = String::new();
    for run in runs {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}: {}\n{}", name(run.mode), describe(load, run.mode), run.report);
    }
    if let Some(ratio) = ratio(runs) {
        let _ = writeln!(text, "RATIO pipeline_split_vs_monolithic {ratio:.3}");
    }
    text
}

fn describe(load: &Load, mode: Mode) -> String {
    let count = |count: usize, name: &str| format!("{count} {name}{}", if count == 1 { "" } else { "s" });
    let arrivals = match load.arrivals {
        Arrivals::Closed { waiting } => format!("{waiting} always waiting"),
        Arrivals::Open { per_second, poisson: None } => format!("{per_second} a second, evenly"),
        Arrivals::Open { per_second, poisson: Some(_) } => format!("{per_second} a second, at random"),
    };
    let slots = count(load.slots(mode), "slot");
    let (jobs, devices, lanes) = (count(load.jobs, "job"), count(load.devices, "device"), load.g2_lanes);
    format!("{jobs}, {arrivals}; {devices}, {slots} each, {}", count(lanes, "G2 lane"))
}

fn as_json(load: &Load, runs: &[Run]) -> String {
    let (waiting, rate) = match load.arrivals {
        Arrivals::Closed { waiting } => (Some(waiting), None),
        Arrivals::Open { per_second, .. } => (None, Some(per_second)),
    };
    let mut object = json!({
        "load": {
            "jobs": load.jobs, "waiting": waiting, "per_second": rate, "devices": load.devices,
            "slots": load.slots(Mode::Split), "g2_lanes": load.g2_lanes,
        },
    });
    for run in runs {
        object[name(run.mode)] = run.report.to_json();
    }
    if let Some(ratio) = ratio(runs) {
        object["split_vs_monolithic"] = json!(ratio);
    }
    format!("{object:#}\n")
}
