//! What is asked of the pipeline.

use groth16::engine::core::{Mode, Nanos};

use crate::args::Pipeline;

/// A mode's name in tables and JSON.
pub fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Split => "split",
        Mode::Monolithic => "monolithic",
    }
}

/// When jobs come.
#[derive(Clone, Copy, Debug)]
pub enum Arrivals {
    /// So many always wait.
    Closed { waiting: usize },
    /// At times of their own; `poisson` is the seed of random ones.
    Open { per_second: f64, poisson: Option<u64> },
}

/// Durations of the stages of every job.
#[derive(Clone, Copy, Debug)]
pub struct Phases {
    pub prepare: Nanos,
    pub upload: Nanos,
    pub kernels: Nanos,
    pub g2: Nanos,
    pub finish: Nanos,
}

/// A load, whoever runs it.
#[derive(Clone, Debug)]
pub struct Load {
    pub jobs: usize,
    pub arrivals: Arrivals,
    pub devices: usize,
    slots: usize,
    pub g2_lanes: usize,
    /// Of a scripted device.
    pub phases: Phases,
    faults_per_mille: u16,
    seed: u64,
}

impl Load {
    pub fn new(options: &Pipeline) -> Self {
        let closed = Arrivals::Closed { waiting: options.waiting as usize };
        let open = |per_second| Arrivals::Open { per_second, poisson: options.poisson };
        let script = options.script;
        Self {
            jobs: options.jobs as usize,
            arrivals: options.rate.map_or(closed, open),
            devices: options.devices.into(),
            slots: options.slots.into(),
            g2_lanes: options.g2_lanes.into(),
            phases: Phases {
                prepare: script.prepare,
                upload: script.upload,
                kernels: script.kernels,
                g2: script.g2,
                finish: script.finish,
            },
            faults_per_mille: script.faults,
            seed: script.seed,
        }
    }

    /// Jobs that share a device.
    pub fn slots(&self, mode: Mode) -> usize {
        match mode {
            Mode::Split => self.slots,
            Mode::Monolithic => 1,
        }
    }

    /// When each job comes, in an open load; all at 0 in a closed one.
    pub fn starts(&self) -> Vec<Nanos> {
        let Arrivals::Open { per_second, poisson } = self.arrivals else { return vec![0; self.jobs] };
        let mut random = Random(poisson.unwrap_or(0));
        let mut at = 0.0;
        let next = |_| {
            let start = at;
            // The time between two arrivals of a Poisson process is exponentially distributed.
            at += if poisson.is_some() { -(1.0 - random.unit()).ln() } else { 1.0 };
            (start / per_second * 1e9).round() as Nanos
        };
        (0..self.jobs).map(next).collect()
    }

    /// Which jobs' kernels fail at the first try.
    pub fn faulty(&self) -> Vec<bool> {
        let mut random = Random(self.seed);
        (0..self.jobs).map(|_| random.unit() * 1000.0 < f64::from(self.faults_per_mille)).collect()
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): equal seeds give equal loads on every machine.
struct Random(u64);

impl Random {
    /// From 0 (possible) to 1 (not), in steps of 2^-53.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
