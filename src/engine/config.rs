//! What an engine is built with.

use super::core::{Limits, Mode, Nanos};

/// All numbers are final here: defaults were filled in before.
#[derive(Clone, Debug)]
pub struct Config {
    /// Threads of the CPU pool; at least 1.
    pub cpu_threads: usize,
    /// Threads of a pool of its own for each device that computes on the CPU; 0: it shares the CPU pool.
    pub device_threads: usize,
    /// G2 MSMs that run at once, each on all threads of the pool that are free; at least 1.
    pub g2_lanes: usize,
    /// Jobs that share one device; at least 1.
    pub jobs_per_device: usize,
    /// Jobs that may wait for a slot; at least 1.
    pub max_queued_jobs: usize,
    /// Host memory that keys and jobs may take, in bytes; 0 is no limit.
    pub host_bytes_limit: u64,
    /// Memory of each device that keys and jobs may take, in bytes; 0 is no limit.
    pub device_bytes_limit: u64,
    /// After this time a queued job is aged: it gets one of any four slots.
    pub aging: Nanos,
    /// Split, but for comparisons.
    pub mode: Mode,
    /// Entries of each kind that the record keeps; older ones are forgotten, their sums stay.
    pub record_entries: usize,
}

impl Config {
    /// More CPU threads than this are refused: no machine has them, and a typing error would exhaust the host.
    pub const MAX_CPU_THREADS: usize = 1024;
    /// More slots than this are refused.
    pub const MAX_JOBS_PER_DEVICE: usize = 64;

    /// What the core is built with.
    pub(super) fn limits(&self, devices: usize) -> Limits {
        Limits {
            device_bytes: self.device_bytes_limit,
            aging: self.aging,
            mode: self.mode,
            ..Limits::new(self.max_queued_jobs, devices, self.jobs_per_device, self.g2_lanes)
        }
    }
}

impl Default for Config {
    /// All cores that the process may run on, two slots, 64 waiting jobs, aged after 5 minutes.
    fn default() -> Self {
        let cpu_threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            cpu_threads,
            device_threads: 0,
            g2_lanes: 1,
            jobs_per_device: 2,
            max_queued_jobs: 64,
            host_bytes_limit: 0,
            device_bytes_limit: 0,
            aging: 300_000_000_000,
            mode: Mode::Split,
            record_entries: 1 << 14,
        }
    }
}
