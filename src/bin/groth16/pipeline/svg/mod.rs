//! Timelines as one SVG picture, readable without script: lanes as rows, a colour for each job, idle devices hatched.
//!
//! Panels lie below each other on one time scale, so that what takes longer looks longer.

mod draw;
mod rows;

use std::collections::BTreeSet;

use groth16::engine::core::{IdleCause, Nanos};
use groth16::engine::report::{Report, Time};
use groth16::engine::timeline::Record;

use draw::{LEFT, RIGHT, Scale, WIDTH, bar, element, text};
use rows::{Kind, Row, rows};

/// One timeline of the picture.
pub struct Panel<'a> {
    /// What it is, as its title starts.
    pub name: &'a str,
    /// What is drawn.
    pub record: &'a Record,
    /// The figures of its title.
    pub report: &'a Report,
}

/// A window that nobody chose ends with this many jobs' kernels of one panel: more are too narrow for their numbers.
const JOBS: usize = 20;
/// A window is cut where more bars than this would start in a panel: the file stays below some two megabytes.
const BARS: usize = 4000;

/// Height of a panel's title, and of its time axis with what separates it from the next panel.
const TITLE: f64 = 50.0;
const AXIS: f64 = 44.0;
const LEGEND: f64 = 40.0;
/// Between rows.
const SPACE: f64 = 5.0;

/// The picture of the panels from `window.0` to `window.1`; without a window from the first span on.
pub fn render(panels: &[Panel<'_>], window: Option<(Nanos, Nanos)>) -> String {
    let scale = choose(panels, window);
    let mut body = String::new();
    let mut seen = Seen::default();
    let mut y = 10.0;
    for panel in panels {
        y = draw_panel(&mut body, panel, scale, y, &mut seen);
    }
    legend(&mut body, y, &seen);
    let height = y + LEGEND;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>Timeline of the proving pipeline</title>\n"
    );
    svg += &draw::patterns();
    element(&mut svg, "rect", &[("width", &WIDTH), ("height", &height), ("fill", &"#ffffff")], "");
    svg + &body + "</svg>\n"
}

/// What the legend must explain.
#[derive(Default)]
struct Seen {
    causes: BTreeSet<IdleCause>,
    failed: bool,
    reset: bool,
}

fn choose(panels: &[Panel<'_>], window: Option<(Nanos, Nanos)>) -> Scale {
    let spans = || panels.iter().flat_map(|panel| &panel.record.spans);
    let first = rows::drawn(spans()).map(|span| span.start).min().unwrap_or(0);
    let last = rows::drawn(spans()).map(|span| span.end).max().unwrap_or(0);
    let (start, mut end) = window.unwrap_or_else(|| {
        // Where jobs are left out, the fastest panel decides: the others have done less by then, and it shows.
        let cuts = panels.iter().filter_map(|panel| rows::kernels_end(panel.record, JOBS));
        let end = cuts.min().unwrap_or(last);
        // The axis starts with 0 where that costs next to no room.
        (if first < end / 32 { 0 } else { first }, end)
    });
    end = end.min(last);
    for panel in panels {
        let mut starts = rows::starts(panel.record, start, end);
        if starts.len() > BARS {
            starts.sort_unstable();
            end = starts[BARS];
        }
    }
    let start = start.min(last);
    Scale { start, end: end.max(start + 1) }
}

/// Draws from `y` down; where the next panel may start.
fn draw_panel(body: &mut String, panel: &Panel<'_>, scale: Scale, y: f64, seen: &mut Seen) -> f64 {
    title(body, panel, scale, y);
    let top = y + TITLE;
    let rows = rows(panel.record, scale.start, scale.end);
    let bottom = top + rows.iter().map(|row| row.height() + SPACE).sum::<f64>();
    let mut y = top;
    for row in &rows {
        background(body, row, y);
        y += row.height() + SPACE;
    }
    draw::axis(body, scale, top, bottom);
    y = top;
    for row in &rows {
        draw_row(body, row, scale, y, seen);
        y += row.height() + SPACE;
    }
    bottom + AXIS
}

fn title(body: &mut String, panel: &Panel<'_>, scale: Scale, y: f64) {
    let report = panel.report;
    let headline = format!(
        "{}: kernels busy {:.2} % of the time, {:.4} proofs/s",
        panel.name,
        100.0 * report.kernels.utilisation(),
        report.proofs_per_second()
    );
    text(body, LEFT, y + 18.0, "start", 17.0, "#000000", &headline);
    let Report { latency, elapsed, done, .. } = report;
    let spans = || rows::drawn(&panel.record.spans);
    let is_cut = spans().any(|span| span.start < scale.start || span.end > scale.end);
    let shown = if is_cut {
        let (start, end) = (Time(scale.start), Time(scale.end));
        let last = Time(spans().map(|span| span.end).max().unwrap_or(0));
        format!("; shown: {start} to {end}, the run ends at {last}")
    } else {
        String::new()
    };
    let (p50, p99, elapsed) = (Time(latency.p50), Time(latency.p99), Time(*elapsed));
    let line = format!("{done} proofs in {elapsed}, latency p50 {p50}, p99 {p99}{shown}");
    text(body, LEFT, y + 36.0, "start", 12.0, "#444444", &line);
}

/// A lane without its bars.
fn background(body: &mut String, row: &Row, y: f64) {
    let (width, height) = (WIDTH - LEFT - RIGHT, row.height());
    let attributes: [(&str, &dyn std::fmt::Display); 5] =
        [("x", &LEFT), ("y", &y), ("width", &width), ("height", &height), ("fill", &"#f2f2f2")];
    element(body, "rect", &attributes, "");
    text(body, LEFT - 8.0, y + height / 2.0 + 4.0, "end", 12.0, "#000000", &row.label);
}

fn draw_row(body: &mut String, row: &Row, scale: Scale, y: f64, seen: &mut Seen) {
    for (line, item) in &row.bars {
        match item.kind {
            Kind::Idle(cause) => {
                seen.causes.insert(cause);
            }
            Kind::Reset => seen.reset = true,
            _ => seen.failed |= !item.ok,
        }
        bar(body, item, scale, y + *line as f64 * row.line_height, row.line_height);
    }
}

fn legend(body: &mut String, y: f64, seen: &Seen) {
    let mut x = LEFT;
    let mut entry = |swatches: &[(&str, &str)], label: &str| {
        for (fill, stroke) in swatches {
            draw::swatch(body, x, y, fill, stroke);
            x += 18.0;
        }
        text(body, x + 4.0, y + 12.0, "start", 12.0, "#000000", label);
        x += 20.0 + 6.6 * label.chars().count() as f64;
    };
    let jobs: Vec<(&str, &str)> = draw::COLOURS.iter().take(3).map(|(fill, _)| (*fill, "none")).collect();
    entry(&jobs, "a colour is a job, the same in every row");
    for cause in &seen.causes {
        entry(
            &[(&format!("url(#{})", draw::pattern_id(*cause)), "#999999")],
            &format!("idle: {}", rows::reason(*cause)),
        );
    }
    if seen.failed {
        entry(&[("#eeeeee", draw::FAILED)], "failed");
    }
    if seen.reset {
        entry(&[("#000000", "none")], "reset of the device");
    }
}
