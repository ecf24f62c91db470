//! The state of an engine as Prometheus text (exposition format 0.0.4).

use std::fmt::Write;

use super::Usage;
use super::core::{DeviceStatus, IdleCause, Nanos};
use super::timeline::{BUCKET_SECONDS, STAGE_NAMES, Totals};

/// All metrics; names start with `groth16_`, times are seconds, sizes bytes.
pub fn prometheus(usage: &Usage, devices: &[DeviceStatus], totals: &Totals, up: Nanos) -> String {
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, f64)]| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# HELP groth16_{name} {help}\n# TYPE groth16_{name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(text, "groth16_{name}{labels} {value}");
        }
    };
    let plain = |value: f64| [(String::new(), value)];
    let seconds = |nanos: Nanos| nanos as f64 / 1e9;

    metric("up_seconds", "gauge", "Age of the engine.", &plain(seconds(up)));
    metric("queued_jobs", "gauge", "Jobs that wait for a slot.", &plain(usage.queued_jobs as f64));
    metric("running_jobs", "gauge", "Jobs between slot and end.", &plain(usage.running_jobs as f64));
    metric("g2_running", "gauge", "G2 MSMs that run now.", &plain(f64::from(usage.g2_running)));
    metric("jobs_started_total", "counter", "Jobs admitted.", &plain(totals.started as f64));
    metric("jobs_rejected_total", "counter", "Jobs refused at start.", &plain(totals.rejected as f64));
    let ended = [("done", totals.done), ("failed", totals.failed), ("cancelled", totals.cancelled)];
    let ended = ended.map(|(result, count)| (format!("{{result=\"{result}\"}}"), count as f64));
    metric("jobs_ended_total", "counter", "Jobs ended, by result.", &ended);

    metric("job_retries_total", "counter", "Times that stages of a job were run again.", &plain(totals.retries as f64));
    let device = |(index, value): (usize, f64)| (format!("{{device=\"{index}\"}}"), value);
    let busy: Vec<_> = totals.device_busy.iter().map(|busy| seconds(*busy)).enumerate().map(device).collect();
    metric("device_busy_seconds_total", "counter", "Time that kernels ran; counted when they have ended.", &busy);
    let idle = totals.device_idle.iter().enumerate().flat_map(|(index, causes)| {
        IdleCause::NAMES
            .iter()
            .zip(causes)
            .map(move |(cause, idle)| (format!("{{device=\"{index}\",cause=\"{cause}\"}}"), seconds(*idle)))
    });
    let idle: Vec<_> = idle.collect();
    let help = "Time that no kernel ran, by what the device waited for; counted when it has ended.";
    metric("device_idle_seconds_total", "counter", help, &idle);

    let memory = [("host", usage.host_bytes), ("pinned", usage.pinned_bytes)];
    let used = memory.map(|(kind, (used, _))| (format!("{{kind=\"{kind}\"}}"), used as f64));
    metric("memory_used_bytes", "gauge", "Memory that permits hold.", &used);
    let limits = memory.map(|(kind, (_, limit))| (format!("{{kind=\"{kind}\"}}"), limit as f64));
    metric("memory_limit_bytes", "gauge", "Limit of that memory; 0 is none.", &limits);

    let peaks = [("host", usage.peak_bytes.0), ("pinned", usage.peak_bytes.1)];
    let peaks = peaks.map(|(kind, peak)| (format!("{{kind=\"{kind}\"}}"), peak as f64));
    metric("memory_peak_bytes", "gauge", "The most of that memory that was held at once.", &peaks);

    let each =
        |value: fn(&DeviceStatus) -> f64| -> Vec<_> { devices.iter().map(value).enumerate().map(device).collect() };
    metric("device_up", "gauge", "1 if the device takes jobs.", &each(|status| f64::from(u8::from(status.up))));
    let help = "Failures of the device since its last proof.";
    metric("device_faults", "gauge", help, &each(|status| f64::from(status.faults)));
    let help = "Memory of the device that keys and jobs hold.";
    metric("device_memory_used_bytes", "gauge", help, &each(|status| status.bytes as f64));

    histograms(&mut text, totals);
    text
}

fn histograms(text: &mut String, totals: &Totals) {
    let name = "groth16_stage_seconds";
    let _ = writeln!(text, "# HELP {name} Durations of the stages of jobs.\n# TYPE {name} histogram");
    for (stage, histogram) in STAGE_NAMES.iter().zip(&totals.stages) {
        let mut count = 0;
        for (edge, bucket) in BUCKET_SECONDS.iter().zip(&histogram.buckets) {
            count += bucket;
            let _ = writeln!(text, "{name}_bucket{{stage=\"{stage}\",le=\"{edge}\"}} {count}");
        }
        let count = histogram.count();
        let _ = writeln!(text, "{name}_bucket{{stage=\"{stage}\",le=\"+Inf\"}} {count}");
        let _ = writeln!(text, "{name}_sum{{stage=\"{stage}\"}} {}", histogram.total as f64 / 1e9);
        let _ = writeln!(text, "{name}_count{{stage=\"{stage}\"}} {count}");
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
