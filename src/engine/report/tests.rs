//! Reports on records that are small enough to be worked out by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::engine::core::JobId;
use crate::engine::timeline::{Ended, Gap};

const SECOND: Nanos = 1_000_000_000;

fn span(job: JobId, stage: Stage, lane: usize, start: Nanos, end: Nanos) -> Span {
    Span { job, stage, lane, start: start * SECOND, end: end * SECOND, ok: true }
}

fn ended(job: JobId, start: Nanos, end: Nanos, outcome: Outcome, retries: u32) -> Ended {
    Ended { job, start: start * SECOND, end: end * SECOND, outcome, retries }
}

#[test]
fn percentiles_are_nearest_ranks() {
    let of = |values: &[Nanos]| {
        let Percentiles { count, p50, p90, p99, max } = Percentiles::of(values.to_vec());
        assert_eq!(count, values.len());
        [p50, p90, p99, max]
    };
    assert_eq!(of(&[]), [0; 4]);
    assert_eq!(of(&[7]), [7; 4]);
    assert_eq!(of(&[2, 1]), [1, 2, 2, 2]);
    assert_eq!(of(&[3, 1, 2]), [2, 3, 3, 3]);
    let up_to = |most: Nanos| of(&(1..=most).rev().collect::<Vec<_>>());
    assert_eq!(up_to(10), [5, 9, 10, 10]);
    assert_eq!(up_to(11), [6, 10, 11, 11]);
    assert_eq!(up_to(100), [50, 90, 99, 100]);
    assert_eq!(up_to(101), [51, 91, 100, 101]);
}

#[test]
fn an_empty_record_reports_zeros() {
    let report = Report::new(&Record::new(1));
    assert_eq!(report, Report { devices: vec![Device::default()], ..Report::default() });
    assert_eq!((report.proofs_per_second(), report.kernels.utilisation()), (0.0, 0.0));
    assert!(report.to_string().contains("0 done") && !report.to_string().contains("NaN"));
    assert!(report.to_json()["proofs_per_second"] == 0.0);
    assert_eq!(Report::new(&Record::new(0)), Report::default());
}

#[test]
fn one_job() {
    let mut record = Record::new(1);
    record.gap(Gap { device: 0, cause: IdleCause::NoJobs, start: 0, end: 3 * SECOND });
    record.span(span(1, Stage::Device(0), 0, 3, 5));
    record.span(span(1, Stage::G2, 0, 1, 6));
    record.ended(ended(1, 1, 7, Outcome::Done, 0));
    let report = Report::new(&record);
    assert_eq!((report.done, report.elapsed), (1, 6 * SECOND));
    assert_eq!(report.proofs_per_second(), 1.0 / 6.0);
    assert_eq!(report.latency, Percentiles::of(vec![6 * SECOND]));
    // The gap before the first kernels is outside the window.
    assert_eq!(report.devices[0].kernels, Lane { spans: 1, window: 2 * SECOND, busy: 2 * SECOND });
    assert_eq!((report.devices[0].idle, report.devices[0].unexplained), ([0; 6], 0));
    assert_eq!(report.kernels.utilisation(), 1.0);
    assert_eq!(report.g2_lanes, [Lane { spans: 1, window: 5 * SECOND, busy: 5 * SECOND }]);
    assert_eq!(report.stages[Stage::G2.index()].p50, 5 * SECOND);
}

/// Device 0 runs at 2..4, 5..7 and 9..10 (that one failed), device 1 at 4..8.
fn busy_record() -> Record {
    let mut record = Record::new(2);
    record.submitted(false);
    for (job, device, start, end) in [(1, 0, 2, 4), (2, 0, 5, 7), (3, 1, 4, 8), (4, 0, 9, 10)] {
        let span = span(job, Stage::Device(device), 0, start, end);
        record.span(Span { ok: job != 4, ..span });
    }
    for (cause, start, end) in
        [(IdleCause::NoJobs, 0, 2), (IdleCause::Upload, 4, 5), (IdleCause::G2, 7, 8), (IdleCause::NoJobs, 10, 20)]
    {
        record.gap(Gap { device: 0, cause, start: start * SECOND, end: end * SECOND });
    }
    record.span(span(1, Stage::G2, 0, 1, 3));
    record.span(span(2, Stage::G2, 1, 3, 5));
    record.span(span(3, Stage::G2, 0, 3, 6));
    for (job, end, outcome, retries) in [
        (1, 5, Outcome::Done, 0),
        (2, 8, Outcome::Done, 2),
        (3, 9, Outcome::Failed(Status::Cancelled), 0),
        (4, 11, Outcome::Failed(Status::Device), 1),
    ] {
        record.ended(ended(job, 1, end, outcome, retries));
    }
    record
}

#[test]
fn several_devices_lanes_and_outcomes() {
    let report = Report::new(&busy_record()).with_peaks(Peaks { host: Some(3 << 20), ..Peaks::default() });
    assert_eq!((report.done, report.failed, report.cancelled), (2, 1, 1));
    assert_eq!((report.rejected, report.retries, report.elapsed), (1, 3, 10 * SECOND));
    assert_eq!(report.proofs_per_second(), 0.2);
    assert_eq!((report.latency.p50, report.latency.max), (4 * SECOND, 7 * SECOND));
    let [first, second] = &report.devices[..] else { panic!("two devices") };
    assert_eq!(first.kernels, Lane { spans: 3, window: 8 * SECOND, busy: 5 * SECOND });
    assert_eq!((first.idle[IdleCause::Upload.index()], first.idle[IdleCause::G2.index()]), (SECOND, SECOND));
    assert_eq!((first.idle[IdleCause::NoJobs.index()], first.unexplained), (0, SECOND));
    assert_eq!((second.kernels.utilisation(), second.kernels.rate()), (1.0, 0.25));
    assert_eq!(report.kernels, Lane { spans: 4, window: 16 * SECOND, busy: 9 * SECOND });
    let busy: Vec<_> = report.g2_lanes.iter().map(|lane| (lane.spans, lane.window, lane.busy)).collect();
    assert_eq!(busy, [(2, 5 * SECOND, 5 * SECOND), (1, 5 * SECOND, 2 * SECOND)]);
    // What failed is no measure of its stage.
    assert_eq!(report.stages[Stage::Device(0).index()].count, 3);
}

#[test]
fn text_and_json_tell_the_same() {
    let report = Report::new(&busy_record()).with_peaks(Peaks { host: Some(3 << 20), ..Peaks::default() });
    let text = report.to_string();
    for part in [
        "jobs        2 done, 1 failed, 1 cancelled, 1 refused; 3 retries\n",
        "throughput  0.2000 proofs/s over 10.000 s",
        "device 0     62.50 % busy: 3 kernels in 8.000 s, 0.3750 a second\n",
        "idle: upload 1.000 s, g2 1.000 s, handing over 1.000 s\n",
        "G2 lane 1    40.00 % busy: 1 MSMs\n",
        "peak        host 3.0 MiB\n",
        "  g2              3      2.000 s      3.000 s\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json = report.to_json();
    assert_eq!(json["jobs"]["cancelled"], 1);
    assert_eq!(json["devices"][0]["kernels"]["utilisation"], 0.625);
    assert_eq!(json["devices"][0]["idle_seconds"]["g2"], 1.0);
    assert_eq!(json["latency_seconds"]["p90"], 7.0);
    assert_eq!(json["peak_bytes"]["host"], 3 << 20);
    assert!(json["peak_bytes"]["device"].is_null());
    assert_eq!(json["stage_seconds"]["g2"]["p90"], 3.0);
}

#[test]
fn times_have_units() {
    let texts = [0, 1, 1500, 999_999, 1_000_000, 20_000_000, 999_999_999, SECOND, 123 * SECOND];
    let texts = texts.map(|nanos| Time(nanos).to_string());
    let wanted = ["0 s", "0.0 us", "1.5 us", "1000.0 us", "1.00 ms", "20.00 ms", "1000.00 ms", "1.000 s", "123.000 s"];
    assert_eq!(texts, wanted);
}
