//! What of a record is drawn in which row.

use groth16::engine::core::{DeviceId, IdleCause, JobId, Nanos};
use groth16::engine::timeline::{Record, Span, Stage};

/// Stages that overlap are drawn in as many lines as they need, but no more than this; the rest shares the last one.
const LINES: usize = 4;

/// What a bar shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Prepare,
    Copy,
    Kernels,
    Reset,
    G2,
    Finish,
    Idle(IdleCause),
}

/// A span or a gap.
#[derive(Clone, Debug)]
pub struct Bar {
    pub kind: Kind,
    pub job: JobId,
    pub start: Nanos,
    pub end: Nanos,
    pub ok: bool,
}

/// A lane.
pub struct Row {
    pub label: String,
    /// With the line of the row, from 0, in which each lies. What comes later lies above.
    pub bars: Vec<(usize, Bar)>,
    lines: usize,
    pub line_height: f64,
}

impl Row {
    pub fn height(&self) -> f64 {
        self.lines as f64 * self.line_height
    }
}

/// Why a device idles, for people.
pub fn reason(cause: IdleCause) -> &'static str {
    match cause {
        IdleCause::Fault => "fault",
        IdleCause::Upload => "waits for upload",
        IdleCause::Prepare => "waits for prepare",
        IdleCause::Memory => "waits for memory",
        IdleCause::G2 => "waits for G2",
        IdleCause::NoJobs => "no jobs",
    }
}

/// The same where there is less room.
pub fn short_reason(cause: IdleCause) -> &'static str {
    match cause {
        IdleCause::Fault => "fault",
        IdleCause::Upload => "upload wait",
        IdleCause::Prepare => "prep. wait",
        IdleCause::Memory => "mem. wait",
        IdleCause::G2 => "G2 wait",
        IdleCause::NoJobs => "no jobs",
    }
}

/// The spans that have a row.
pub fn drawn<'a>(spans: impl IntoIterator<Item = &'a Span>) -> impl Iterator<Item = &'a Span> {
    spans.into_iter().filter(|span| span.stage != Stage::Queued)
}

/// When the kernels of the `count`-th job ended; `None` where there are no more than so many.
pub fn kernels_end(record: &Record, count: usize) -> Option<Nanos> {
    let kernels = record.spans.iter().filter(|span| matches!(span.stage, Stage::Device(_)));
    let mut ends: Vec<Nanos> = kernels.map(|span| span.end).collect();
    ends.sort_unstable();
    if ends.len() > count { ends.get(count - 1).copied() } else { None }
}

/// Starts of all bars that lie in the window, at least partly.
pub fn starts(record: &Record, start: Nanos, end: Nanos) -> Vec<Nanos> {
    let spans = drawn(&record.spans).map(|span| (span.start, span.end));
    let all = spans.chain(record.gaps.iter().map(|gap| (gap.start, gap.end)));
    all.filter(|(from, to)| *from < end && *to > start).map(|(from, _)| from).collect()
}

/// The rows from top to bottom, as jobs go through them.
pub fn rows(record: &Record, start: Nanos, end: Nanos) -> Vec<Row> {
    let is_seen = |from: Nanos, to: Nanos| from < end && to > start;
    let spans: Vec<&Span> = drawn(&record.spans).filter(|span| is_seen(span.start, span.end)).collect();
    let pick = |kind: Kind, wanted: &dyn Fn(&Span) -> bool| -> Vec<Bar> {
        let spans = spans.iter().filter(|span| wanted(span));
        spans.map(|s| Bar { kind, job: s.job, start: s.start, end: s.end, ok: s.ok }).collect()
    };
    let mut rows = vec![stacked("prepare".into(), pick(Kind::Prepare, &|span| span.stage == Stage::Prepare))];
    for device in 0..record.devices() {
        let uploads = pick(Kind::Copy, &|span| span.stage == Stage::Upload(device));
        rows.push(serial(format!("device {device} copy"), uploads, 14.0));
        let mut bars = idle(record, device);
        bars.retain(|bar| is_seen(bar.start, bar.end));
        bars.extend(pick(Kind::Kernels, &|span| span.stage == Stage::Device(device)));
        bars.extend(pick(Kind::Reset, &|span| span.stage == Stage::Reset(device)));
        rows.push(serial(format!("device {device} kernels"), bars, 34.0));
    }
    // Lanes of the whole record: a lane that rests in this window is seen to rest.
    let g2 = record.spans.iter().filter(|span| span.stage == Stage::G2);
    let lanes = g2.map(|span| span.lane + 1).max().unwrap_or(0);
    for lane in 0..lanes {
        let bars = pick(Kind::G2, &|span| span.stage == Stage::G2 && span.lane == lane);
        rows.push(serial(format!("G2 lane {lane}"), bars, 24.0));
    }
    rows.push(stacked("finish".into(), pick(Kind::Finish, &|span| span.stage == Stage::Finish)));
    rows
}

fn idle(record: &Record, device: DeviceId) -> Vec<Bar> {
    let gaps = record.gaps.iter().filter(|gap| gap.device == device);
    gaps.map(|gap| Bar { kind: Kind::Idle(gap.cause), job: 0, start: gap.start, end: gap.end, ok: true }).collect()
}

fn serial(label: String, bars: Vec<Bar>, height: f64) -> Row {
    Row { label, bars: bars.into_iter().map(|bar| (0, bar)).collect(), lines: 1, line_height: height }
}

/// Each bar goes to the first line that is free at its start.
fn stacked(label: String, mut bars: Vec<Bar>) -> Row {
    bars.sort_by_key(|bar| bar.start);
    let mut free_from: Vec<Nanos> = Vec::new();
    let place = |bar: Bar| {
        let free = free_from.iter().position(|free| *free <= bar.start);
        let line = free.unwrap_or_else(|| {
            if free_from.len() < LINES {
                free_from.push(0);
            }
            free_from.len() - 1
        });
        free_from[line] = free_from[line].max(bar.end);
        (line, bar)
    };
    let bars = bars.into_iter().map(place).collect();
    let lines = free_from.len().max(1);
    Row { label, bars, lines, line_height: if lines == 1 { 14.0 } else { 8.0 } }
}
