//! The picture that `groth16 bench pipeline` draws, of records that are made here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../src/bin/groth16/pipeline/svg/mod.rs"]
mod svg;

use groth16::engine::core::{IdleCause, JobId, Nanos};
use groth16::engine::report::Report;
use groth16::engine::timeline::{Ended, Gap, Outcome, Record, Span, Stage};
use groth16::error::Status;
use roxmltree::{Document, Node};
use svg::{Panel, render};

const MS: Nanos = 1_000_000;
const PREPARE: Nanos = 20 * MS;
const UPLOAD: Nanos = 50 * MS;
const KERNELS: Nanos = 1800 * MS;
const FINISH: Nanos = 5 * MS;

/// Jobs one after the other through a device: with two slots and `lanes` G2 lanes, or (no lanes) each starts when the one
/// before has ended. Job `fails` fails on the device.
fn run(jobs: JobId, g2: Nanos, lanes: usize, fails: JobId) -> Record {
    let mut record = Record::new(1);
    let mut lane_free = vec![0; lanes.max(1)];
    let (mut slot_free, mut copy_free, mut kernels_free) = ([0; 2], 0, 0);
    for job in 1..=jobs {
        let span =
            |stage: Stage, lane: usize, start: Nanos, end: Nanos| Span { job, stage, lane, start, end, ok: true };
        let slot = slot_free[job as usize % 2];
        let prepared = slot + PREPARE;
        let copy = prepared.max(copy_free);
        let start = (copy + UPLOAD).max(kernels_free);
        let end = start + KERNELS;
        let lane = (0..lane_free.len()).min_by_key(|lane| lane_free[*lane]).unwrap();
        let g2_start = prepared.max(lane_free[lane]);
        let finish = end.max(g2_start + g2);
        record.span(span(Stage::Queued, 0, 0, slot));
        record.span(span(Stage::Prepare, 0, slot, prepared));
        record.span(span(Stage::Upload(0), 0, copy, copy + UPLOAD));
        record.span(Span { ok: job != fails, ..span(Stage::Device(0), 0, start, end) });
        record.span(span(Stage::G2, lane, g2_start, g2_start + g2));
        record.span(span(Stage::Finish, 0, finish, finish + FINISH));
        let waits = [
            (IdleCause::G2, kernels_free, slot),
            (IdleCause::Prepare, slot, prepared),
            (IdleCause::Upload, prepared, copy + UPLOAD),
        ];
        for (cause, from, to) in waits {
            let from = from.max(kernels_free);
            if from < to {
                record.gap(Gap { device: 0, cause, start: from, end: to });
            }
        }
        let outcome = if job == fails { Outcome::Failed(Status::Device) } else { Outcome::Done };
        record.ended(Ended { job, start: 0, end: finish + FINISH, outcome, retries: 0 });
        kernels_free = end;
        copy_free = copy + UPLOAD;
        lane_free[lane] = g2_start + g2;
        if lanes == 0 {
            // G2 follows the kernels, and the next job follows both.
            let g2_span = record.spans.iter_mut().rev().find(|span| span.stage == Stage::G2).unwrap();
            (g2_span.start, g2_span.end) = (end, end + g2);
            lane_free[lane] = end + g2;
            let end = end + g2 + FINISH;
            let finish = record.spans.back_mut().unwrap();
            (finish.start, finish.end) = (end - FINISH, end);
            record.jobs.back_mut().unwrap().end = end;
            slot_free = [end; 2];
        } else {
            slot_free[job as usize % 2] = end;
        }
        if job == fails {
            record.span(Span { job: 0, ..span(Stage::Reset(0), 0, end, end + 400 * MS) });
            kernels_free = end + 400 * MS;
            record.gap(Gap { device: 0, cause: IdleCause::Fault, start: end, end: kernels_free });
        }
    }
    record
}

/// Keeps a picture for people, among the files of the build.
fn keep(name: &str, picture: &str) {
    std::fs::write(format!("{}/{name}.svg", env!("CARGO_TARGET_TMPDIR")), picture).unwrap();
}

fn draw(records: &[(&str, &Record)], window: Option<(Nanos, Nanos)>) -> String {
    let reports: Vec<Report> = records.iter().map(|(_, record)| Report::new(record)).collect();
    let panels = records.iter().zip(&reports).map(|((name, record), report)| Panel { name, record, report });
    render(&panels.collect::<Vec<_>>(), window)
}

fn texts<'a>(document: &'a Document<'_>) -> Vec<&'a str> {
    document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect()
}

/// Bars by the start of their tooltips.
fn bars<'a>(document: &'a Document<'_>, what: &str) -> Vec<Node<'a, 'a>> {
    let titles = document.descendants().filter(|node| node.has_tag_name("title"));
    titles.filter(|title| title.text().is_some_and(|text| text.starts_with(what))).filter_map(|t| t.parent()).collect()
}

fn number(node: &Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

#[test]
fn both_ways_of_a_load_on_one_scale() {
    let (split, monolithic) = (run(100, 1700 * MS, 1, 7), run(100, 1700 * MS, 0, 0));
    let picture = draw(&[("split", &split), ("monolithic", &monolithic)], None);
    keep("pipeline", &picture);
    let document = Document::parse(&picture).unwrap();
    assert!(document.root_element().attribute("viewBox").unwrap().starts_with("0 0 1400 "));
    let texts = texts(&document);
    for label in
        ["device 0 kernels", "device 0 copy", "G2 lane 0", "prepare", "finish", "7 failed", "idle: waits for G2"]
    {
        assert!(texts.contains(&label), "{label}\n{texts:#?}");
    }
    assert!(texts.iter().any(|text| text.starts_with("split: kernels busy ")));
    assert!(texts.iter().any(|text| text.contains("shown: 0 s to ")));
    // A job has one colour in all rows, the next one another.
    let fills = |job: u64| -> Vec<&str> {
        let of_job = bars(&document, &format!("job {job}: "));
        of_job.iter().map(|bar| bar.attribute("fill").unwrap()).collect()
    };
    assert_eq!(fills(3).len(), 10, "five bars in each panel");
    assert!(fills(3).iter().all(|fill| *fill == fills(3)[0]) && fills(3)[0] != fills(4)[0]);
    let failed = bars(&document, "job 7: kernels, failed");
    assert_eq!((failed.len(), failed[0].attribute("stroke")), (1, Some("#d00000")));
    // The scale is one: kernels are as wide here as there.
    let widths: Vec<f64> = bars(&document, "job 2: kernels").iter().map(|bar| number(bar, "width")).collect();
    assert!(widths.len() == 2 && (widths[0] - widths[1]).abs() < 0.1, "{widths:?}");
    // Split, the next job's G2 runs beside the kernels.
    let (kernels, g2) = (&bars(&document, "job 2: kernels")[0], &bars(&document, "job 3: G2")[0]);
    assert!(number(g2, "x") < number(kernels, "x") + number(kernels, "width"));
}

#[test]
fn nothing_sticks_out_and_no_number_is_missing() {
    let record = run(40, 3500 * MS, 3, 5);
    keep("pipeline-lanes", &draw(&[("3 lanes", &record)], None));
    for window in [
        None,
        Some((0, 1)),
        Some((10_000 * MS, 20_000 * MS)),
        Some((0, u64::MAX)),
        Some((5, 5)),
        Some((u64::MAX, u64::MAX)),
    ] {
        let picture = draw(&[("a <b> & \"c\"", &record)], window);
        let document = Document::parse(&picture).unwrap();
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{window:?}");
        for rect in document.descendants().filter(|node| node.has_tag_name("rect") && node.attribute("x").is_some()) {
            let (x, width) = (number(&rect, "x"), number(&rect, "width"));
            assert!(width >= 0.0 && (0.0..=1401.0).contains(&x) && x + width <= 1401.0, "{window:?} {rect:?}");
        }
    }
}

#[test]
fn stages_that_overlap_lie_in_a_few_lines() {
    let mut record = Record::new(1);
    for job in 1..=9 {
        record.span(Span { job, stage: Stage::Prepare, lane: 0, start: job, end: job + 100, ok: true });
    }
    let picture = draw(&[("x", &record)], None);
    let document = Document::parse(&picture).unwrap();
    let mut tops: Vec<&str> = bars(&document, "job").iter().map(|bar| bar.attribute("y").unwrap()).collect();
    assert_eq!(tops.len(), 9);
    tops.dedup();
    assert_eq!(tops.len(), 4);
}

#[test]
fn a_long_run_makes_no_huge_file() {
    let record = run(10_000, 1700 * MS, 2, 0);
    let picture = draw(&[("long", &record), ("again", &record)], Some((0, u64::MAX)));
    assert!(picture.len() < 4 << 20, "{} bytes", picture.len());
    assert!(Document::parse(&picture).is_ok());
    assert!(draw(&[("long", &record)], None).len() < 100_000);
}

#[test]
fn an_empty_record_is_a_picture_too() {
    for devices in [0, 1] {
        let record = Record::new(devices);
        assert!(Document::parse(&draw(&[("nothing", &record)], None)).is_ok());
    }
    assert!(Document::parse(&render(&[], None)).is_ok());
}
