//! What ran where and when: one bounded record that metrics and traces read.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::core::{DeviceId, JobId, Nanos};
use crate::error::Status;
use crate::sync::Mutex;

/// A stage of a job on some thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Split and evaluation, on the CPU pool.
    Prepare,
    /// The G2 MSM, on the CPU pool.
    G2,
    /// The kernels, on a device.
    Device(DeviceId),
    /// Epilogue and self-check.
    Finish,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With a proof.
    Done,
    /// With this status; `Status::Cancelled` counts apart.
    Failed(Status),
}

/// One stage that ran.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Whose.
    pub job: JobId,
    /// What.
    pub stage: Stage,
    /// From.
    pub start: Nanos,
    /// To.
    pub end: Nanos,
}

/// Spans that are kept; older ones are forgotten, their sums stay.
const KEPT_SPANS: usize = 1 << 16;
/// Upper edges of the histograms' buckets in seconds; one more bucket holds the rest.
pub const BUCKET_SECONDS: [f64; 12] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];
/// Names of the stages in metrics, by `Stage::index`.
pub const STAGE_NAMES: [&str; 4] = ["prepare", "g2", "device", "finish"];

impl Stage {
    /// Position in `STAGE_NAMES`.
    pub fn index(self) -> usize {
        match self {
            Self::Prepare => 0,
            Self::G2 => 1,
            Self::Device(_) => 2,
            Self::Finish => 3,
        }
    }
}

/// Durations of one stage over the engine's life.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// How many spans fell into each bucket.
    pub buckets: [u64; BUCKET_SECONDS.len() + 1],
    /// Sum of their durations.
    pub total: Nanos,
}

impl Histogram {
    /// How many spans there were.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    fn add(&mut self, duration: Nanos) {
        let seconds = duration as f64 / 1e9;
        let bucket = BUCKET_SECONDS.iter().position(|edge| seconds <= *edge).unwrap_or(BUCKET_SECONDS.len());
        self.buckets[bucket] += 1;
        self.total += duration;
    }
}

/// Sums over the engine's life.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Jobs that were admitted.
    pub started: u64,
    /// Jobs that were refused at start.
    pub rejected: u64,
    /// Jobs that ended with a proof.
    pub done: u64,
    /// Jobs that failed.
    pub failed: u64,
    /// Jobs that were cancelled.
    pub cancelled: u64,
    /// By stage.
    pub stages: [Histogram; 4],
    /// Nanoseconds that kernels ran, by device.
    pub device_busy: Vec<Nanos>,
}

/// The record.
#[derive(Debug)]
pub struct Timeline(Mutex<Record>);

#[derive(Debug)]
struct Record {
    spans: VecDeque<Span>,
    totals: Totals,
}

impl Timeline {
    /// An empty record for this many devices.
    pub fn new(devices: usize) -> Self {
        let totals = Totals { device_busy: vec![0; devices], ..Totals::default() };
        Self(Mutex::new(Record { spans: VecDeque::new(), totals }))
    }

    /// A stage ended.
    pub fn add(&self, span: Span) {
        let mut record = self.0.lock();
        let duration = span.end.saturating_sub(span.start);
        record.totals.stages[span.stage.index()].add(duration);
        if let Stage::Device(device) = span.stage
            && let Some(busy) = record.totals.device_busy.get_mut(device)
        {
            *busy += duration;
        }
        if record.spans.len() == KEPT_SPANS {
            record.spans.pop_front();
        }
        record.spans.push_back(span);
    }

    /// A job was admitted or not.
    pub fn submitted(&self, admitted: bool) {
        let totals = &mut self.0.lock().totals;
        if admitted {
            totals.started += 1;
        } else {
            totals.rejected += 1;
        }
    }

    /// A job ended.
    pub fn ended(&self, outcome: Outcome) {
        let totals = &mut self.0.lock().totals;
        match outcome {
            Outcome::Done => totals.done += 1,
            Outcome::Failed(Status::Cancelled) => totals.cancelled += 1,
            Outcome::Failed(_) => totals.failed += 1,
        }
    }

    /// The sums so far.
    pub fn totals(&self) -> Totals {
        self.0.lock().totals.clone()
    }

    /// The spans that are kept, oldest first.
    pub fn spans(&self) -> Vec<Span> {
        self.0.lock().spans.iter().copied().collect()
    }

    /// The spans in the Chrome trace format (JSON object form), which Perfetto opens: a row per lane, times in
    /// microseconds since the engine's creation.
    pub fn chrome_trace(&self) -> Value {
        let spans = self.spans();
        let lane = |stage: Stage| match stage {
            Stage::Prepare => 1,
            Stage::G2 => 2,
            Stage::Finish => 3,
            Stage::Device(device) => 10 + device,
        };
        let row = |name: String, id: usize| json!({ "name": "thread_name", "ph": "M", "pid": 1, "tid": id, "args": { "name": name } });
        let devices = self.0.lock().totals.device_busy.len();
        let mut events = vec![row("prepare".into(), 1), row("G2 MSM".into(), 2), row("finish".into(), 3)];
        events.extend((0..devices).map(|device| row(format!("device {device}"), 10 + device)));
        // Spans of one lane may overlap: asynchronous events show each job of it on a line of its own.
        for (id, span) in spans.iter().enumerate() {
            let event = |phase: &str, at: Nanos| {
                json!({
                    "name": format!("job {} {}", span.job, STAGE_NAMES[span.stage.index()]),
                    "cat": STAGE_NAMES[span.stage.index()],
                    "ph": phase, "id": id, "pid": 1, "tid": lane(span.stage), "ts": at as f64 / 1e3,
                    "args": { "job": span.job },
                })
            };
            if let Stage::Device(_) = span.stage {
                let mut complete = event("X", span.start);
                complete["dur"] = json!(span.end.saturating_sub(span.start) as f64 / 1e3);
                events.push(complete);
            } else {
                events.push(event("b", span.start));
                events.push(event("e", span.end));
            }
        }
        json!({ "displayTimeUnit": "ms", "traceEvents": events })
    }
}
