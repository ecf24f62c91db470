//! What a record says about a run: outcomes, throughput, latencies, how busy devices and G2 lanes were, and what idle
//! devices waited for. Pure; as text and as JSON.
//!
//! All of it is of the entries that the record still keeps: a run that shall be told whole must be shorter than that.

use std::fmt;

use serde_json::{Value, json};

use super::core::{DeviceId, IdleCause, Nanos};
use super::timeline::{Outcome, Record, STAGE_NAMES, Span, Stage};
use crate::error::Status;

/// The most bytes that were held at once; `None` where nobody measured it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peaks {
    /// Host memory.
    pub host: Option<u64>,
    /// Page-locked memory.
    pub pinned: Option<u64>,
    /// Memory of the fullest device.
    pub device: Option<u64>,
}

/// Percentiles by nearest rank: p is the smallest value that at least p % of the values do not exceed. All 0 of nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Percentiles {
    /// How many values there were.
    pub count: usize,
    /// Median.
    pub p50: Nanos,
    /// 90 %.
    pub p90: Nanos,
    /// 99 %.
    pub p99: Nanos,
    /// The largest.
    pub max: Nanos,
}

impl Percentiles {
    /// Of values in any order.
    pub fn of(mut values: Vec<Nanos>) -> Self {
        values.sort_unstable();
        let rank = |percent: usize| (values.len() * percent).div_ceil(100).saturating_sub(1);
        let at = |percent: usize| values.get(rank(percent)).copied().unwrap_or(0);
        Self { count: values.len(), p50: at(50), p90: at(90), p99: at(99), max: at(100) }
    }
}

/// A serial lane over a window of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// Spans that ran in it.
    pub spans: usize,
    /// Length of the window.
    pub window: Nanos,
    /// Sum of the spans' durations.
    pub busy: Nanos,
}

impl Lane {
    /// `busy / window`, from 0 to 1; 0 without a window.
    pub fn utilisation(&self) -> f64 {
        ratio(self.busy as f64, self.window as f64)
    }

    /// Spans per second of the window.
    pub fn rate(&self) -> f64 {
        ratio(self.spans as f64, seconds(self.window))
    }
}

/// A device, from the start of its first kernels to the end of its last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Its compute lane.
    pub kernels: Lane,
    /// Idle time within the window, by `IdleCause::index`.
    pub idle: [Nanos; IdleCause::NAMES.len()],
    /// Idle time within the window that no gap explains: from the end of one job's kernels to the start of those that
    /// follow at once (threads hand over), and gaps that the record has forgotten.
    pub unexplained: Nanos,
}

/// What a record says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Jobs that ended with a proof.
    pub done: usize,
    /// Jobs that failed.
    pub failed: usize,
    /// Jobs that were cancelled.
    pub cancelled: usize,
    /// Jobs that were refused at start, over the engine's life.
    pub rejected: u64,
    /// Times that stages of these jobs were run again.
    pub retries: u64,
    /// From the first start of these jobs to their last end.
    pub elapsed: Nanos,
    /// From start to end, of the jobs that ended with a proof.
    pub latency: Percentiles,
    /// By device.
    pub devices: Vec<Device>,
    /// All compute lanes together, from the first kernels' start on any device to the last kernels' end on any: `busy`
    /// and `window` count each device.
    pub kernels: Lane,
    /// Lanes of the G2 MSM, from the first start in any of them to the last end in any.
    pub g2_lanes: Vec<Lane>,
    /// Durations of stages that gave what was asked for, by `Stage::index`.
    pub stages: [Percentiles; STAGE_NAMES.len()],
    /// As the caller measured them.
    pub peaks: Peaks,
}

impl Report {
    /// Reads the record; no peaks.
    pub fn new(record: &Record) -> Self {
        let jobs = &record.jobs;
        let count = |wanted: fn(Outcome) -> bool| jobs.iter().filter(|job| wanted(job.outcome)).count();
        let start = jobs.iter().map(|job| job.start).min().unwrap_or(0);
        let end = jobs.iter().map(|job| job.end).max().unwrap_or(0);
        let proofs = jobs.iter().filter(|job| job.outcome == Outcome::Done);
        let cancelled = Outcome::Failed(Status::Cancelled);
        let stages = std::array::from_fn(|index| {
            let spans = record.spans.iter().filter(|span| span.ok && span.stage.index() == index);
            Percentiles::of(spans.map(duration).collect())
        });
        Self {
            done: count(|outcome| outcome == Outcome::Done),
            failed: count(|outcome| !matches!(outcome, Outcome::Done | Outcome::Failed(Status::Cancelled))),
            cancelled: jobs.iter().filter(|job| job.outcome == cancelled).count(),
            rejected: record.totals.rejected,
            retries: jobs.iter().map(|job| u64::from(job.retries)).sum(),
            elapsed: end.saturating_sub(start),
            latency: Percentiles::of(proofs.map(|job| job.end.saturating_sub(job.start)).collect()),
            devices: (0..record.devices()).map(|index| device(record, index)).collect(),
            kernels: all_kernels(record),
            g2_lanes: g2_lanes(record),
            stages,
            peaks: Peaks::default(),
        }
    }

    /// The same with these peaks.
    pub fn with_peaks(self, peaks: Peaks) -> Self {
        Self { peaks, ..self }
    }

    /// Proofs per second from the first start to the last end.
    pub fn proofs_per_second(&self) -> f64 {
        ratio(self.done as f64, seconds(self.elapsed))
    }

    /// As a JSON object; times in seconds, sizes in bytes, utilisations from 0 to 1.
    pub fn to_json(&self) -> Value {
        let percentiles = |p: &Percentiles| {
            json!({
                "count": p.count, "p50": seconds(p.p50), "p90": seconds(p.p90), "p99": seconds(p.p99),
                "max": seconds(p.max),
            })
        };
        let lane = |lane: &Lane| {
            json!({
                "spans": lane.spans, "window_seconds": seconds(lane.window), "busy_seconds": seconds(lane.busy),
                "utilisation": lane.utilisation(), "per_second": lane.rate(),
            })
        };
        let device = |device: &Device| {
            let causes = IdleCause::NAMES.iter().zip(device.idle);
            let idle: serde_json::Map<_, _> =
                causes.map(|(cause, idle)| ((*cause).to_owned(), json!(seconds(idle)))).collect();
            json!({
                "kernels": lane(&device.kernels), "idle_seconds": idle,
                "unexplained_seconds": seconds(device.unexplained),
            })
        };
        let stages = STAGE_NAMES.iter().zip(&self.stages);
        let stages: serde_json::Map<_, _> =
            stages.map(|(name, stage)| ((*name).to_owned(), percentiles(stage))).collect();
        json!({
            "jobs": {
                "done": self.done, "failed": self.failed, "cancelled": self.cancelled, "rejected": self.rejected,
                "retries": self.retries,
            },
            "seconds": seconds(self.elapsed),
            "proofs_per_second": self.proofs_per_second(),
            "latency_seconds": percentiles(&self.latency),
            "kernels": lane(&self.kernels),
            "devices": self.devices.iter().map(device).collect::<Vec<_>>(),
            "g2_lanes": self.g2_lanes.iter().map(lane).collect::<Vec<_>>(),
            "stage_seconds": stages,
            "peak_bytes": { "host": self.peaks.host, "pinned": self.peaks.pinned, "device": self.peaks.device },
        })
    }
}

fn seconds(nanos: Nanos) -> f64 {
    nanos as f64 / 1e9
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn duration(span: &Span) -> Nanos {
    span.end.saturating_sub(span.start)
}

/// From the first start to the last end.
fn window<'a>(spans: impl Iterator<Item = &'a Span>) -> (Nanos, Nanos) {
    spans.map(|span| (span.start, span.end)).reduce(|(a, b), (c, d)| (a.min(c), b.max(d))).unwrap_or((0, 0))
}

fn lane<'a>((start, end): (Nanos, Nanos), spans: impl Iterator<Item = &'a Span>) -> Lane {
    let empty = Lane { window: end.saturating_sub(start), ..Lane::default() };
    spans.fold(empty, |lane, span| Lane { spans: lane.spans + 1, busy: lane.busy + duration(span), ..lane })
}

fn device(record: &Record, index: DeviceId) -> Device {
    let spans = || record.spans.iter().filter(|span| span.stage == Stage::Device(index));
    let (start, end) = window(spans());
    let kernels = lane((start, end), spans());
    let mut idle = [0; IdleCause::NAMES.len()];
    for gap in record.gaps.iter().filter(|gap| gap.device == index) {
        idle[gap.cause.index()] += gap.end.min(end).saturating_sub(gap.start.max(start));
    }
    let explained = kernels.busy + idle.iter().sum::<Nanos>();
    Device { kernels, idle, unexplained: kernels.window.saturating_sub(explained) }
}

fn all_kernels(record: &Record) -> Lane {
    let spans = || record.spans.iter().filter(|span| matches!(span.stage, Stage::Device(_)));
    let lane = lane(window(spans()), spans());
    Lane { window: lane.window * record.devices() as u64, ..lane }
}

fn g2_lanes(record: &Record) -> Vec<Lane> {
    let spans = || record.spans.iter().filter(|span| span.stage == Stage::G2);
    let window = window(spans());
    let count = spans().map(|span| span.lane + 1).max().unwrap_or(0);
    (0..count).map(|index| lane(window, spans().filter(|span| span.lane == index))).collect()
}

/// A table for people, one line ending each row.
impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused = if self.rejected > 0 { format!(", {} refused", self.rejected) } else { String::new() };
        let (done, failed, cancelled, retries) = (self.done, self.failed, self.cancelled, self.retries);
        writeln!(out, "jobs        {done} done, {failed} failed, {cancelled} cancelled{refused}; {retries} retries")?;
        let (rate, total) = (self.proofs_per_second(), Time(self.elapsed));
        writeln!(out, "throughput  {rate:.4} proofs/s over {total}, from the first start to the last end")?;
        let Percentiles { p50, p90, p99, max, .. } = self.latency;
        let [p50, p90, p99, max] = [p50, p90, p99, max].map(Time);
        writeln!(out, "latency     p50 {p50}, p90 {p90}, p99 {p99}, max {max}, from start to proof")?;
        for (index, device) in self.devices.iter().enumerate() {
            let Lane { spans, window, .. } = device.kernels;
            let (percent, rate) = (100.0 * device.kernels.utilisation(), device.kernels.rate());
            let name = format!("device {index}");
            let window = Time(window);
            writeln!(out, "{name:<12}{percent:6.2} % busy: {spans} kernels in {window}, {rate:.4} a second")?;
            let causes = IdleCause::NAMES.iter().zip(device.idle).chain([(&"handing_over", device.unexplained)]);
            let causes: Vec<String> = causes
                .filter(|(_, idle)| *idle > 0)
                .map(|(cause, idle)| format!("{} {}", cause.replace('_', " "), Time(idle)))
                .collect();
            if !causes.is_empty() {
                writeln!(out, "{:<12}  idle: {}", "", causes.join(", "))?;
            }
        }
        for (index, lane) in self.g2_lanes.iter().enumerate() {
            let name = format!("G2 lane {index}");
            writeln!(out, "{name:<12}{:6.2} % busy: {} MSMs", 100.0 * lane.utilisation(), lane.spans)?;
        }
        let peaks = [("host", self.peaks.host), ("pinned", self.peaks.pinned), ("device", self.peaks.device)];
        let peaks: Vec<String> = peaks
            .into_iter()
            .filter_map(|(name, bytes)| bytes.map(|bytes| format!("{name} {:.1} MiB", bytes as f64 / 1048576.0)))
            .collect();
        if !peaks.is_empty() {
            writeln!(out, "peak        {}", peaks.join(", "))?;
        }
        writeln!(out, "stage         count       median          p90")?;
        for (name, stage) in STAGE_NAMES.iter().zip(&self.stages).filter(|(_, stage)| stage.count > 0) {
            let [p50, p90] = [stage.p50, stage.p90].map(|nanos| Time(nanos).to_string());
            writeln!(out, "  {name:<10}{:>7}{p50:>13}{p90:>13}", stage.count)?;
        }
        Ok(())
    }
}

/// A duration with a unit, to four or five digits.
#[derive(Clone, Copy, Debug)]
pub struct Time(pub Nanos);

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(out, "0 s"),
            1..1_000_000 => write!(out, "{:.1} us", self.0 as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(out, "{:.2} ms", self.0 as f64 / 1e6),
            _ => write!(out, "{:.3} s", seconds(self.0)),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
