//! The text against the grammar of the exposition format 0.0.4, and its values against the sums.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::engine::timeline::{Gap, Record, Span, Stage};

/// Samples by name with labels, after every rule of the format was checked that a scraper relies on.
fn parse(text: &str) -> BTreeMap<String, f64> {
    assert!(text.ends_with('\n'));
    let is_name = |name: &str| {
        let mut chars = name.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == ':')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':')
    };
    let mut samples = BTreeMap::new();
    let mut families = BTreeSet::new();
    let (mut family, mut kind) = (String::new(), String::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(is_name(name) && !help.is_empty() && families.insert(name.to_owned()), "{line}");
            family = name.into();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, of) = rest.split_once(' ').unwrap();
            assert!(name == family && ["gauge", "counter", "histogram"].contains(&of), "{line}");
            assert!(of != "counter" || name.ends_with("_total"), "{line}");
            kind = of.into();
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            assert!(name == family || (kind == "histogram" && base == Some(&family)), "{line}");
            for label in labels.strip_suffix('}').unwrap().split(',').filter(|label| !label.is_empty()) {
                let (key, value) = label.split_once('=').unwrap();
                let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap();
                assert!(is_name(key) && !key.contains(':') && !value.contains(['"', '\\']), "{line}");
            }
            let value: f64 = value.parse().unwrap();
            assert!(value >= 0.0 && samples.insert(series.to_owned(), value).is_none(), "{line}");
        }
    }
    samples
}

fn usage() -> Usage {
    Usage {
        queued_jobs: 5,
        running_jobs: 3,
        g2_running: 2,
        host_bytes: (7, 100),
        pinned_bytes: (0, 0),
        peak_bytes: (9, 1),
        device_bytes: 8,
    }
}

fn devices() -> [DeviceStatus; 2] {
    let up = DeviceStatus { up: true, bytes: 8, faults: 0, idle: None };
    [up, DeviceStatus { up: false, bytes: 0, faults: 3, idle: Some((5, IdleCause::Fault)) }]
}

#[test]
fn every_sum_is_a_sample() {
    let mut record = Record::new(2);
    record.submitted(true);
    record.submitted(false);
    for (stage, end) in [
        (Stage::Queued, 4),
        (Stage::Prepare, 2),
        (Stage::Upload(1), 2),
        (Stage::Device(1), 500),
        (Stage::G2, 2000),
        (Stage::Finish, 1),
        (Stage::Reset(0), 400_000),
    ] {
        record.span(Span { job: 1, stage, lane: 0, start: 0, end: end * 1_000_000, ok: true });
    }
    record.gap(Gap { device: 1, cause: IdleCause::G2, start: 1_000_000_000, end: 3_500_000_000 });
    record.totals.retries = 4;
    let samples = parse(&prometheus(&usage(), &devices(), &record.totals, 9_000_000_000));
    for (series, value) in [
        ("up_seconds", 9.0),
        ("queued_jobs", 5.0),
        ("running_jobs", 3.0),
        ("g2_running", 2.0),
        ("jobs_started_total", 1.0),
        ("jobs_rejected_total", 1.0),
        ("job_retries_total", 4.0),
        ("device_busy_seconds_total{device=\"0\"}", 0.0),
        ("device_busy_seconds_total{device=\"1\"}", 0.5),
        ("device_idle_seconds_total{device=\"1\",cause=\"g2\"}", 2.5),
        ("device_idle_seconds_total{device=\"0\",cause=\"no_jobs\"}", 0.0),
        ("memory_used_bytes{kind=\"host\"}", 7.0),
        ("memory_limit_bytes{kind=\"host\"}", 100.0),
        ("memory_peak_bytes{kind=\"host\"}", 9.0),
        ("memory_peak_bytes{kind=\"pinned\"}", 1.0),
        ("device_up{device=\"0\"}", 1.0),
        ("device_up{device=\"1\"}", 0.0),
        ("device_faults{device=\"1\"}", 3.0),
        ("device_memory_used_bytes{device=\"0\"}", 8.0),
        ("stage_seconds_sum{stage=\"g2\"}", 2.0),
        ("stage_seconds_bucket{stage=\"g2\",le=\"1\"}", 0.0),
        ("stage_seconds_bucket{stage=\"g2\",le=\"3\"}", 1.0),
        ("stage_seconds_bucket{stage=\"reset\",le=\"300\"}", 0.0),
        ("stage_seconds_bucket{stage=\"reset\",le=\"+Inf\"}", 1.0),
    ] {
        assert_eq!(samples.get(&format!("groth16_{series}")), Some(&value), "{series}");
    }
}

#[test]
fn histograms_are_cumulative_and_complete() {
    let mut record = Record::new(1);
    for millis in [0, 1, 2, 3, 50, 5000, 400_000] {
        record.span(Span { job: 1, stage: Stage::Finish, lane: 0, start: 0, end: millis * 1_000_000, ok: true });
    }
    let samples = parse(&prometheus(&usage(), &devices(), &record.totals, 1));
    for stage in STAGE_NAMES {
        let bucket =
            |edge: String| samples[&format!("groth16_stage_seconds_bucket{{stage=\"{stage}\",le=\"{edge}\"}}")];
        let counts: Vec<f64> = BUCKET_SECONDS.iter().map(|edge| bucket(edge.to_string())).collect();
        let last = bucket("+Inf".into());
        assert!(counts.is_sorted() && *counts.last().unwrap() <= last);
        assert_eq!(last, samples[&format!("groth16_stage_seconds_count{{stage=\"{stage}\"}}")]);
    }
    assert_eq!(samples["groth16_stage_seconds_bucket{stage=\"finish\",le=\"0.001\"}"], 2.0);
    assert_eq!(samples["groth16_stage_seconds_count{stage=\"finish\"}"], 7.0);
}
