//! Elements of the picture: bars, texts, hatches, the axis of time.

use std::fmt::{Display, Write};

use groth16::engine::core::{IdleCause, JobId, Nanos};
use groth16::engine::report::Time;

use super::rows::{Bar, Kind, reason, short_reason};

/// Sizes are user units, which viewers take as pixels.
pub const WIDTH: f64 = 1400.0;
/// Where the rows start: their labels lie left of it.
pub const LEFT: f64 = 130.0;
/// Free space at the right.
pub const RIGHT: f64 = 20.0;
/// What is shorter is drawn this wide, or nobody would see it.
const NARROWEST: f64 = 0.8;
/// Outline of what failed.
pub const FAILED: &str = "#d00000";

/// Colours of jobs with the colour of a number on them: the palette of Okabe and Ito, which colour-blind people tell
/// apart, without the red that marks failures; neighbours differ in lightness too.
pub const COLOURS: [(&str, &str); 6] = [
    ("#0072b2", "#ffffff"),
    ("#e69f00", "#000000"),
    ("#009e73", "#ffffff"),
    ("#f0e442", "#000000"),
    ("#cc79a7", "#000000"),
    ("#56b4e9", "#000000"),
];

/// Time to place.
#[derive(Clone, Copy)]
pub struct Scale {
    pub start: Nanos,
    /// Later than `start`.
    pub end: Nanos,
}

impl Scale {
    /// Where a time lies; what is outside lies at the border.
    fn x(self, at: Nanos) -> f64 {
        let part = at.clamp(self.start, self.end).saturating_sub(self.start) as f64;
        LEFT + (WIDTH - LEFT - RIGHT) * part / (self.end - self.start) as f64
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no place for these.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// One element; `content` is markup.
pub fn element(out: &mut String, name: &str, attributes: &[(&str, &dyn Display)], content: &str) {
    // Writing to a String cannot fail.
    let _ = write!(out, "<{name}");
    for (key, value) in attributes {
        let _ = write!(out, " {key}=\"{}\"", escape(&value.to_string()));
    }
    let _ = if content.is_empty() { writeln!(out, "/>") } else { writeln!(out, ">{content}</{name}>") };
}

/// A text; `anchor` is start, middle or end.
pub fn text(out: &mut String, x: f64, y: f64, anchor: &str, size: f64, fill: &str, content: &str) {
    let (x, y) = (two(x), two(y));
    let attributes: [(&str, &dyn Display); 5] =
        [("x", &x), ("y", &y), ("text-anchor", &anchor), ("font-size", &size), ("fill", &fill)];
    element(out, "text", &attributes, &escape(content));
}

/// To two decimals: enough, and the file stays small.
fn two(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn colour(job: JobId) -> (&'static str, &'static str) {
    COLOURS[(job % COLOURS.len() as u64) as usize]
}

pub fn pattern_id(cause: IdleCause) -> String {
    format!("idle-{}", IdleCause::NAMES[cause.index()])
}

/// A hatch for each cause.
pub fn patterns() -> String {
    // Tiles of 8 x 8; lines run on into the neighbouring tiles.
    const RISING: &str = "M-2,2 L2,-2 M0,8 L8,0 M6,10 L10,6";
    const FALLING: &str = "M-2,6 L2,10 M0,0 L8,8 M6,-2 L10,2";
    let hatches = [
        (IdleCause::Fault, "M0,2 L8,2 M0,6 L8,6", FAILED, 1.5),
        (IdleCause::Upload, RISING, "#707070", 1.0),
        (IdleCause::Prepare, FALLING, "#707070", 1.0),
        (IdleCause::Memory, "M2,0 L2,8 M6,0 L6,8", "#707070", 1.0),
        (IdleCause::G2, RISING, "#303030", 2.4),
        (IdleCause::NoJobs, FALLING, "#c0c0c0", 1.0),
    ];
    let mut defs = String::from("<defs>\n");
    for (cause, path, stroke, width) in hatches {
        let mut tile = String::new();
        element(&mut tile, "rect", &[("width", &8), ("height", &8), ("fill", &"#f4f4f4")], "");
        element(&mut tile, "path", &[("d", &path), ("stroke", &stroke), ("stroke-width", &width)], "");
        let id = pattern_id(cause);
        let attributes: [(&str, &dyn Display); 4] =
            [("id", &id), ("width", &8), ("height", &8), ("patternUnits", &"userSpaceOnUse")];
        element(&mut defs, "pattern", &attributes, &tile);
    }
    defs + "</defs>\n"
}

/// A small square of the legend.
pub fn swatch(out: &mut String, x: f64, y: f64, fill: &str, stroke: &str) {
    let attributes: [(&str, &dyn Display); 7] = [
        ("x", &x),
        ("y", &y),
        ("width", &16),
        ("height", &16),
        ("fill", &fill),
        ("stroke", &stroke),
        ("stroke-width", &1.5),
    ];
    element(out, "rect", &attributes, "");
}

/// What a bar is, in full: viewers show it under the pointer.
fn tooltip(bar: &Bar) -> String {
    let what = match bar.kind {
        Kind::Prepare => format!("job {}: prepare", bar.job),
        Kind::Copy => format!("job {}: upload", bar.job),
        Kind::Kernels => format!("job {}: kernels", bar.job),
        Kind::G2 => format!("job {}: G2", bar.job),
        Kind::Finish => format!("job {}: finish", bar.job),
        Kind::Reset => "reset of the device".into(),
        Kind::Idle(cause) => format!("idle: {}", reason(cause)),
    };
    let failed = if bar.ok { "" } else { ", failed" };
    let (length, start, end) = (Time(bar.end.saturating_sub(bar.start)), Time(bar.start), Time(bar.end));
    format!("{what}{failed}, {length} ({start} to {end})")
}

/// Lines of text for a bar, the most telling first; the first choice that fits is drawn.
fn labels(bar: &Bar) -> Vec<Vec<String>> {
    let time = Time(bar.end.saturating_sub(bar.start)).to_string();
    match bar.kind {
        Kind::Idle(cause) => {
            let short = short_reason(cause).to_owned();
            vec![vec![format!("{}, {time}", reason(cause))], vec![short, time.clone()], vec![time]]
        }
        Kind::Reset => vec![vec![format!("reset, {time}")], vec!["reset".into()]],
        _ if bar.ok => vec![vec![bar.job.to_string()]],
        _ => vec![vec![format!("{} failed", bar.job)], vec![bar.job.to_string()]],
    }
}

/// The label of a bar that lies there, if one fits.
fn label(out: &mut String, bar: &Bar, ink: &str, (left, width): (f64, f64), (y, height): (f64, f64)) {
    let size_of = |lines: &[String]| if lines.len() > 1 { 11.0 } else { (height - 4.0).min(12.0) };
    let width_of = |lines: &[String]| {
        let most = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        0.6 * size_of(lines) * most as f64
    };
    let height_of = |lines: &[String]| 1.2 * size_of(lines) * lines.len() as f64;
    let fits =
        |lines: &Vec<String>| size_of(lines) >= 9.0 && width_of(lines) + 4.0 < width && height_of(lines) <= height;
    let Some(lines) = labels(bar).into_iter().find(fits) else { return };
    let (size, middle) = (size_of(&lines), left + width / 2.0);
    let (room, top) = (width_of(&lines) + 2.0, y + (height - height_of(&lines)) / 2.0);
    if matches!(bar.kind, Kind::Idle(_)) {
        // Letters on a hatch cannot be read.
        let sides = [middle - room / 2.0, top, room, height_of(&lines)].map(two);
        let attributes: [(&str, &dyn Display); 5] =
            [("x", &sides[0]), ("y", &sides[1]), ("width", &sides[2]), ("height", &sides[3]), ("fill", &"#ffffff")];
        element(out, "rect", &attributes, "");
    }
    for (index, line) in lines.iter().enumerate() {
        let base = top + 1.2 * size * (index as f64 + 0.8);
        text(out, middle, base, "middle", size, ink, line);
    }
}

/// A bar of this height with its top at `y`.
pub fn bar(out: &mut String, bar: &Bar, scale: Scale, y: f64, height: f64) {
    let (left, right) = (scale.x(bar.start), scale.x(bar.end));
    let width = (right - left).max(NARROWEST);
    let (fill, ink) = match bar.kind {
        Kind::Reset => ("#000000".to_owned(), "#ffffff"),
        Kind::Idle(cause) => (format!("url(#{})", pattern_id(cause)), "#000000"),
        _ => (colour(bar.job).0.to_owned(), colour(bar.job).1),
    };
    // A white edge parts a bar from its neighbour; a narrow bar has no room for it.
    let (stroke, stroke_width) = match (bar.ok, bar.kind, width > 4.0) {
        (false, ..) => (FAILED, 2.0),
        (true, Kind::Idle(_), _) | (true, _, false) => ("none", 0.0),
        (true, _, true) => ("#ffffff", 0.7),
    };
    let inset = if bar.ok { 0.0 } else { (stroke_width / 2.0_f64).min(width / 4.0) };
    let sides = [left + inset, y + inset, width - 2.0 * inset, height - 2.0 * inset].map(two);
    let mut attributes: Vec<(&str, &dyn Display)> =
        vec![("x", &sides[0]), ("y", &sides[1]), ("width", &sides[2]), ("height", &sides[3]), ("fill", &fill)];
    if stroke != "none" {
        attributes.push(("stroke", &stroke));
        attributes.push(("stroke-width", &stroke_width));
    }
    element(out, "rect", &attributes, &format!("<title>{}</title>", escape(&tooltip(bar))));
    label(out, bar, ink, (left, width), (y, height));
}

/// The step between ticks: 1, 2 or 5 times a power of ten, for at most 13 ticks.
fn step(length: Nanos) -> Nanos {
    let mut power: Nanos = 1;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if length / step <= 12 {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// A tick's text, in the unit of the largest.
fn tick_label(at: Nanos, step: Nanos, end: Nanos) -> String {
    let (unit, name) = match end {
        0..1_000_000 => (1_000, "us"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    // As many decimals as the step has.
    let mut decimals = 0;
    let mut scaled = step;
    while !scaled.is_multiple_of(unit) && decimals < 9 {
        scaled = scaled.saturating_mul(10);
        decimals += 1;
    }
    format!("{:.*} {name}", decimals, at as f64 / unit as f64)
}

/// Lines of the grid from `top` to `bottom`, their times below.
pub fn axis(out: &mut String, scale: Scale, top: f64, bottom: f64) {
    let step = step(scale.end - scale.start);
    let first = scale.start.div_ceil(step);
    let ticks = (first..).map_while(|tick| tick.checked_mul(step)).take_while(|at| *at <= scale.end);
    for at in ticks {
        let x = two(scale.x(at));
        let low = bottom + 3.0;
        let attributes: [(&str, &dyn Display); 5] =
            [("x1", &x), ("x2", &x), ("y1", &top), ("y2", &low), ("stroke", &"#d0d0d0")];
        element(out, "line", &attributes, "");
        text(out, x, bottom + 16.0, "middle", 11.0, "#444444", &tick_label(at, step, scale.end));
    }
}
