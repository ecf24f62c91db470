//! The Chrome trace of a small record.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn span(job: JobId, stage: Stage, lane: usize, start: Nanos, end: Nanos) -> Span {
    Span { job, stage, lane, start, end, ok: true }
}

/// Two jobs on device 1 of 2, with two G2 lanes, a failed kernel and a reset.
fn record() -> Record {
    let mut record = Record::new(2);
    for job in 1..=2 {
        let at = job * 1_000_000;
        record.span(span(job, Stage::Queued, 0, 0, at));
        record.span(span(job, Stage::Prepare, 0, at, at + 10));
        record.span(span(job, Stage::Upload(1), 0, at + 10, at + 20));
        record.span(Span { ok: job == 1, ..span(job, Stage::Device(1), 0, at + 20, at + 1520) });
        record.span(span(job, Stage::G2, job as usize - 1, at, at + 500));
        record.span(span(job, Stage::Finish, 0, at + 1520, at + 1530));
    }
    record.span(span(0, Stage::Reset(1), 0, 3_000_000, 3_000_100));
    record.gap(Gap { device: 1, cause: IdleCause::Upload, start: 1_001_520, end: 2_000_020 });
    record
}

#[test]
fn a_trace_has_a_row_for_each_lane() {
    let trace = record().chrome_trace();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut names = BTreeMap::new();
    for event in events.iter().filter(|e| e["name"] == "thread_name") {
        names.insert(event["tid"].as_u64().unwrap(), event["args"]["name"].as_str().unwrap());
    }
    let in_order: Vec<&str> = names.values().copied().collect();
    let devices = ["device 0 copy", "device 0 kernels", "device 0 idle", "device 1 copy", "device 1 kernels"];
    let last = ["device 1 idle", "G2 lane 0", "G2 lane 1", "finish"];
    assert_eq!(in_order, [&["queue", "prepare"][..], &devices, &last].concat());
    let sorted = events.iter().filter(|e| e["name"] == "thread_sort_index");
    assert!(sorted.clone().all(|e| e["args"]["sort_index"] == e["tid"]) && sorted.count() == names.len());

    let of = |row: &str| -> Vec<&Value> {
        events.iter().filter(|e| e["ph"] != "M" && names[&e["tid"].as_u64().unwrap()] == row).collect()
    };
    assert_eq!(of("device 1 copy")[0]["name"], "job 1 upload");
    let kernels = of("device 1 kernels");
    assert_eq!(kernels.len(), 3);
    assert_eq!(
        (&kernels[0]["name"], &kernels[0]["dur"], &kernels[0]["args"]["job"]),
        (&"job 1 device".into(), &1.5.into(), &1.into())
    );
    assert_eq!((&kernels[1]["name"], &kernels[1]["args"]["ok"]), (&"job 2 device (failed)".into(), &false.into()));
    assert_eq!((&kernels[2]["name"], &kernels[2]["ts"]), (&"reset".into(), &3000.0.into()));
    assert_eq!(
        (of("G2 lane 0")[0]["args"]["job"].as_u64(), of("G2 lane 1")[0]["args"]["job"].as_u64()),
        (Some(1), Some(2))
    );
    let idle = of("device 1 idle");
    assert_eq!((&idle[0]["name"], &idle[0]["dur"]), (&"idle: upload".into(), &998.5.into()));
    assert!(of("device 0 kernels").is_empty());
}

#[test]
fn asynchronous_events_come_in_pairs_and_jobs_keep_their_colour() {
    let trace = record().chrome_trace();
    let events = trace["traceEvents"].as_array().unwrap();
    let key = |e: &Value| (e["cat"].as_str().unwrap().to_owned(), e["id"].as_u64().unwrap());
    let all = |phase: &str| -> Vec<_> { events.iter().filter(|e| e["ph"] == phase).map(key).collect() };
    let (begins, ends) = (all("b"), all("e"));
    assert_eq!((begins.len(), &begins), (6, &ends));
    assert_eq!(begins.iter().collect::<BTreeSet<_>>().len(), 6, "an id is used once");
    let colours: BTreeSet<&str> =
        events.iter().filter(|e| e["args"]["job"] == 1).map(|e| e["cname"].as_str().unwrap()).collect();
    assert_eq!(colours.len(), 1);
    let failed = events.iter().find(|e| e["args"]["ok"] == false).unwrap();
    assert_eq!(failed["cname"], "terrible");
}

#[test]
fn an_empty_record_is_a_trace_too() {
    let trace = Record::new(0).chrome_trace();
    assert!(trace["traceEvents"].as_array().unwrap().iter().all(|e| e["ph"] == "M"));
}

#[test]
fn a_record_since_another_has_only_what_began_later() {
    let mut before = Record::new(1);
    let span = |job, start, end| Span { job, stage: Stage::Device(0), lane: 0, start, end, ok: true };
    before.span(span(1, 0, 10));
    before.ended(Ended { job: 1, start: 0, end: 12, outcome: Outcome::Done, retries: 0 });
    let mut all = before.clone();
    all.gap(Gap { device: 0, cause: IdleCause::NoJobs, start: 10, end: 15 });
    all.span(span(2, 15, 40));
    all.ended(Ended { job: 2, start: 11, end: 41, outcome: Outcome::Done, retries: 1 });
    let later = all.since(&before);
    assert_eq!(later.spans, [span(2, 5, 30)]);
    assert_eq!(later.gaps, [Gap { device: 0, cause: IdleCause::NoJobs, start: 0, end: 5 }]);
    assert_eq!((later.jobs.len(), later.totals.done, later.totals.retries), (1, 1, 1));
    assert_eq!(later.totals.device_busy, [25]);
    assert_eq!(all.since(&Record::default()).spans, all.spans);
}
