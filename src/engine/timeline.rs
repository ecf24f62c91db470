//! What ran where and when: one bounded record that metrics, traces and the bench read.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::core::{DeviceId, IdleCause, JobId, Nanos};
use crate::error::Status;
use crate::sync::Mutex;

/// A phase of a job, or work for its sake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// From start to a slot.
    Queued,
    /// Split and evaluation, on the CPU pool.
    Prepare,
    /// The key's way into the memory of a device, and the rows' way there: the device's copy lane.
    Upload(DeviceId),
    /// The kernels: the device's compute lane.
    Device(DeviceId),
    /// The G2 MSM on the CPU pool, in one of its lanes.
    G2,
    /// Epilogue and self-check.
    Finish,
    /// A failed device gets a new context; of no job.
    Reset(DeviceId),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Whose; 0 where `stage` is of no job.
    pub job: JobId,
    /// What.
    pub stage: Stage,
    /// Which of several equal lanes, from 0: that of the G2 MSM; else 0.
    pub lane: usize,
    /// From.
    pub start: Nanos,
    /// To.
    pub end: Nanos,
    /// Whether it gave what was asked for.
    pub ok: bool,
}

/// Time in which no kernel ran on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Where.
    pub device: DeviceId,
    /// What the device waited for.
    pub cause: IdleCause,
    /// From.
    pub start: Nanos,
    /// To.
    pub end: Nanos,
}

/// A job that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which.
    pub job: JobId,
    /// When it was admitted.
    pub start: Nanos,
    /// When it ended.
    pub end: Nanos,
    /// How.
    pub outcome: Outcome,
    /// How many times its stages were run again.
    pub retries: u32,
}

/// Upper edges of the histograms' buckets in seconds; one more bucket holds the rest.
pub const BUCKET_SECONDS: [f64; 12] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];
/// Names of the stages in metrics, by `Stage::index`.
pub const STAGE_NAMES: [&str; 7] = ["queued", "prepare", "upload", "device", "g2", "finish", "reset"];

impl Stage {
    /// Position in `STAGE_NAMES`.
    pub fn index(self) -> usize {
        match self {
            Self::Queued => 0,
            Self::Prepare => 1,
            Self::Upload(_) => 2,
            Self::Device(_) => 3,
            Self::G2 => 4,
            Self::Finish => 5,
            Self::Reset(_) => 6,
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
    /// Times that a job's stages were run again.
    pub retries: u64,
    /// By stage.
    pub stages: [Histogram; STAGE_NAMES.len()],
    /// Nanoseconds that kernels ran, by device.
    pub device_busy: Vec<Nanos>,
    /// Nanoseconds that no kernel ran, by device and `IdleCause::index`; a gap counts when it has ended.
    pub device_idle: Vec<[Nanos; IdleCause::NAMES.len()]>,
}

/// What was recorded.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The newest stages that ended, in the order of their ends.
    pub spans: VecDeque<Span>,
    /// The newest gaps that ended.
    pub gaps: VecDeque<Gap>,
    /// The newest jobs that ended.
    pub jobs: VecDeque<Ended>,
    /// Sums over all of them, forgotten ones included.
    pub totals: Totals,
    /// How many entries of each kind are kept.
    most: usize,
}

impl Record {
    /// An empty record for this many devices, which forgets nothing.
    pub fn new(devices: usize) -> Self {
        Self::bounded(devices, usize::MAX)
    }

    /// The same, with the newest `most` entries of each kind; at least 1.
    pub fn bounded(devices: usize, most: usize) -> Self {
        let totals = Totals {
            device_busy: vec![0; devices],
            device_idle: vec![[0; IdleCause::NAMES.len()]; devices],
            ..Totals::default()
        };
        Self { totals, most: most.max(1), ..Self::default() }
    }

    /// How many devices there are.
    pub fn devices(&self) -> usize {
        self.totals.device_busy.len()
    }

    /// A stage ended.
    pub fn span(&mut self, span: Span) {
        let duration = span.end.saturating_sub(span.start);
        self.totals.stages[span.stage.index()].add(duration);
        if let Stage::Device(device) = span.stage
            && let Some(busy) = self.totals.device_busy.get_mut(device)
        {
            *busy += duration;
        }
        keep(&mut self.spans, span, self.most);
    }

    /// A gap ended.
    pub fn gap(&mut self, gap: Gap) {
        if let Some(idle) = self.totals.device_idle.get_mut(gap.device) {
            idle[gap.cause.index()] += gap.end.saturating_sub(gap.start);
        }
        keep(&mut self.gaps, gap, self.most);
    }

    /// A job was admitted or not.
    pub fn submitted(&mut self, admitted: bool) {
        if admitted {
            self.totals.started += 1;
        } else {
            self.totals.rejected += 1;
        }
    }

    /// A job ended.
    pub fn ended(&mut self, ended: Ended) {
        self.totals.retries += u64::from(ended.retries);
        match ended.outcome {
            Outcome::Done => self.totals.done += 1,
            Outcome::Failed(Status::Cancelled) => self.totals.cancelled += 1,
            Outcome::Failed(_) => self.totals.failed += 1,
        }
        keep(&mut self.jobs, ended, self.most);
    }

    /// What began after all that `before` tells of had ended; times count from then.
    pub fn since(&self, before: &Self) -> Self {
        let ends = before.spans.iter().map(|span| span.end).chain(before.gaps.iter().map(|gap| gap.end));
        let origin = ends.max().unwrap_or(0);
        let mut out = Self::bounded(self.devices(), self.most);
        let later = |start: Nanos| start.checked_sub(origin);
        for span in &self.spans {
            if let Some(start) = later(span.start) {
                out.span(Span { start, end: span.end - origin, ..*span });
            }
        }
        for gap in &self.gaps {
            if let Some(start) = later(gap.start) {
                out.gap(Gap { start, end: gap.end - origin, ..*gap });
            }
        }
        for job in &self.jobs {
            if let Some(start) = later(job.start) {
                out.submitted(true);
                out.ended(Ended { start, end: job.end - origin, ..*job });
            }
        }
        out
    }

    /// The record in the Chrome trace format (JSON object form), which Perfetto opens: a row per lane, times in
    /// microseconds since the engine's creation. Serial lanes (copy, kernels, each G2 lane) and the gaps of a device
    /// hold complete events; stages that overlap each other (queued, prepare, finish) are asynchronous ones, which
    /// viewers spread over as many lines as they need.
    pub fn chrome_trace(&self) -> Value {
        let rows = Rows::of(self);
        let mut events = rows.names();
        for (id, span) in self.spans.iter().enumerate() {
            let row = rows.of_span(span);
            if matches!(span.stage, Stage::Queued | Stage::Prepare | Stage::Finish) {
                // One name for a whole stage: viewers give each name of asynchronous events a group of its own.
                let event = |phase: &str, at: Nanos| {
                    let mut event = trace_event(STAGE_NAMES[span.stage.index()], phase, row, at, span);
                    event["id"] = json!(id);
                    event
                };
                events.push(event("b", span.start));
                events.push(event("e", span.end));
            } else {
                let failed = if span.ok { "" } else { " (failed)" };
                let stage = STAGE_NAMES[span.stage.index()];
                let name = match span.stage {
                    Stage::Reset(_) => format!("{stage}{failed}"),
                    _ => format!("job {} {stage}{failed}", span.job),
                };
                let mut event = trace_event(&name, "X", row, span.start, span);
                event["dur"] = json!(micros(span.end.saturating_sub(span.start)));
                events.push(event);
            }
        }
        events.extend(self.gaps.iter().map(|gap| {
            json!({
                "name": format!("idle: {}", IdleCause::NAMES[gap.cause.index()]), "cat": "idle", "ph": "X", "pid": 1,
                "tid": rows.idle(gap.device), "ts": micros(gap.start), "cname": "grey",
                "dur": micros(gap.end.saturating_sub(gap.start)),
                "args": { "device": gap.device, "cause": IdleCause::NAMES[gap.cause.index()] },
            })
        }));
        json!({ "displayTimeUnit": "ms", "traceEvents": events })
    }
}

/// The numbers of a trace's rows, in the order in which they are shown.
struct Rows {
    devices: usize,
    g2_lanes: usize,
}

impl Rows {
    const QUEUED: usize = 1;
    const PREPARE: usize = 2;
    /// Copy, kernels and idle of the first device; three for each further one.
    const DEVICES: usize = 3;

    fn of(record: &Record) -> Self {
        let places = record.spans.iter().map(|span| match span.stage {
            Stage::Upload(device) | Stage::Device(device) | Stage::Reset(device) => (device + 1, 0),
            Stage::G2 => (0, span.lane + 1),
            Stage::Queued | Stage::Prepare | Stage::Finish => (0, 0),
        });
        let gaps = record.gaps.iter().map(|gap| (gap.device + 1, 0));
        let most = |(a, b): (usize, usize), (c, d): (usize, usize)| (a.max(c), b.max(d));
        let (devices, g2_lanes) = places.chain(gaps).fold((record.devices(), 1), most);
        Self { devices, g2_lanes }
    }

    fn copy(device: DeviceId) -> usize {
        Self::DEVICES + 3 * device
    }

    fn kernels(device: DeviceId) -> usize {
        Self::copy(device) + 1
    }

    fn idle(&self, device: DeviceId) -> usize {
        Self::copy(device) + 2
    }

    fn g2(&self, lane: usize) -> usize {
        Self::DEVICES + 3 * self.devices + lane
    }

    fn finish(&self) -> usize {
        self.g2(self.g2_lanes)
    }

    fn of_span(&self, span: &Span) -> usize {
        match span.stage {
            Stage::Queued => Self::QUEUED,
            Stage::Prepare => Self::PREPARE,
            Stage::Upload(device) => Self::copy(device),
            Stage::Device(device) | Stage::Reset(device) => Self::kernels(device),
            Stage::G2 => self.g2(span.lane),
            Stage::Finish => self.finish(),
        }
    }

    /// Metadata that names and sorts the rows.
    fn names(&self) -> Vec<Value> {
        let mut rows = vec![(Self::QUEUED, "queue".to_owned()), (Self::PREPARE, "prepare".into())];
        for device in 0..self.devices {
            rows.push((Self::copy(device), format!("device {device} copy")));
            rows.push((Self::kernels(device), format!("device {device} kernels")));
            rows.push((self.idle(device), format!("device {device} idle")));
        }
        rows.extend((0..self.g2_lanes).map(|lane| (self.g2(lane), format!("G2 lane {lane}"))));
        rows.push((self.finish(), "finish".into()));
        let mut events =
            vec![json!({ "name": "process_name", "ph": "M", "pid": 1, "args": { "name": "groth16 engine" } })];
        for (row, name) in rows {
            let about =
                |what: &str, args: Value| json!({ "name": what, "ph": "M", "pid": 1, "tid": row, "args": args });
            events.push(about("thread_name", json!({ "name": name })));
            events.push(about("thread_sort_index", json!({ "sort_index": row })));
        }
        events
    }
}

fn micros(nanos: Nanos) -> f64 {
    nanos as f64 / 1e3
}

/// The parts that all events of spans share. A job has one colour (of those that Chrome's viewer knows) in every row.
fn trace_event(name: &str, phase: &str, row: usize, at: Nanos, span: &Span) -> Value {
    const COLOURS: [&str; 6] = [
        "thread_state_running",
        "thread_state_iowait",
        "thread_state_runnable",
        "rail_response",
        "rail_animation",
        "rail_load",
    ];
    let colour = match (span.ok, span.stage) {
        (false, _) => "terrible",
        (true, Stage::Reset(_)) => "black",
        (true, _) => COLOURS[(span.job % COLOURS.len() as u64) as usize],
    };
    json!({
        "name": name, "cat": STAGE_NAMES[span.stage.index()], "ph": phase, "pid": 1, "tid": row, "ts": micros(at),
        "cname": colour, "args": { "job": span.job, "ok": span.ok },
    })
}

fn keep<T>(kept: &mut VecDeque<T>, entry: T, most: usize) {
    if kept.len() >= most.max(1) {
        kept.pop_front();
    }
    kept.push_back(entry);
}

/// The record of an engine, shared by its threads.
#[derive(Debug)]
pub struct Timeline(Mutex<Record>);

impl Timeline {
    /// An empty record for this many devices, of the newest `most` entries of each kind.
    pub fn new(devices: usize, most: usize) -> Self {
        Self(Mutex::new(Record::bounded(devices, most)))
    }

    /// Adds to the record.
    pub fn add<T>(&self, add: impl FnOnce(&mut Record) -> T) -> T {
        add(&mut self.0.lock())
    }

    /// A copy of the sums.
    pub fn totals(&self) -> Totals {
        self.0.lock().totals.clone()
    }

    /// A copy of the record.
    pub fn record(&self) -> Record {
        self.0.lock().clone()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
