//! What an engine is built with.

/// All numbers are final here: defaults were filled in before.
#[derive(Clone, Debug)]
pub struct Config {
    /// Threads of the CPU pool; at least 1.
    pub cpu_threads: usize,
    /// Jobs that share one device; at least 1.
    pub jobs_per_device: usize,
    /// Jobs that may wait for a slot; at least 1.
    pub max_queued_jobs: usize,
    /// Host memory that keys and jobs may take, in bytes; 0 is no limit.
    pub host_bytes_limit: u64,
}

impl Config {
    /// More CPU threads than this are refused: no machine has them, and a typing error would exhaust the host.
    pub const MAX_CPU_THREADS: usize = 1024;
    /// More slots than this are refused.
    pub const MAX_JOBS_PER_DEVICE: usize = 64;
}

impl Default for Config {
    /// All cores that the process may run on, two slots, 64 waiting jobs.
    fn default() -> Self {
        let cpu_threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { cpu_threads, jobs_per_device: 2, max_queued_jobs: 64, host_bytes_limit: 0 }
    }
}
