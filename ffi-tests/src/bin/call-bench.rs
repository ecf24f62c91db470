//! How long the calls of a host take while the engine is saturated: groth16_start, groth16_poll and
//! groth16_engine_get_info, through the shared library, with 64 jobs waiting and all cores proving. One line a call, in
//! microseconds: `CALL name median p99 max`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ffi_tests::capi::{api, init};
use ffi_tests::fixture::{Fixture, Form};
use ffi_tests::handles::{Engine, check, poll};
use groth16::ffi::engine::groth16_engine_info;

const ROWS: usize = 1 << 12;
const WAITING: usize = 64;
/// Jobs that are started while the engine is saturated.
const STARTS: usize = 200;
/// Between two looks at the engine: as hosts do, which have other work.
const PAUSE: Duration = Duration::from_micros(500);
const TERMINAL: i32 = 16;

fn timed<T>(times: &mut Vec<f64>, call: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = call();
    times.push(begin.elapsed().as_secs_f64() * 1e6);
    result
}

fn print(name: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() as f64 * share) as usize).min(times.len() - 1)];
    let (median, p99, max) = (at(0.5), at(0.99), at(1.0));
    println!("CALL {name:<24} median {median:>8.2} us  p99 {p99:>8.1} us  max {max:>8.1} us  ({} calls)", times.len());
}

fn main() {
    let fixture = Fixture::with_rows(ROWS, 8);
    let engine = Engine::new(|options| options.max_queued_jobs = 4096).unwrap();
    let circuit = engine.circuit_from_matrices(&fixture.r1cs).unwrap();
    let key = engine.key_from_bytes(&fixture.key, &circuit).unwrap();
    let request = Arc::new(fixture.request(Form::Canonical));
    let start = || engine.start(&key, Some(&circuit), &request).unwrap();

    let mut jobs: VecDeque<_> = (0..WAITING + 2).map(|_| start()).collect();
    let (mut starts, mut polls, mut infos) = (Vec::new(), Vec::new(), Vec::new());
    while starts.len() < STARTS {
        for job in &jobs {
            // SAFETY: the handle is live.
            timed(&mut polls, || unsafe { poll(job.raw()) });
        }
        let mut info = init::<groth16_engine_info>();
        // SAFETY: the handle is live, the struct is set up.
        check(timed(&mut infos, || unsafe { (api().groth16_engine_get_info)(engine.raw(), &raw mut info) })).unwrap();
        while info.queued_jobs < WAITING as u64 {
            jobs.push_back(timed(&mut starts, start));
            info.queued_jobs += 1;
        }
        while jobs.front().is_some_and(|job| job.poll().state >= TERMINAL) {
            let job = jobs.pop_front().unwrap();
            assert_eq!(job.finalize().unwrap().len(), 192);
        }
        std::thread::sleep(PAUSE);
    }
    print("groth16_start", starts);
    print("groth16_poll", polls);
    print("groth16_engine_get_info", infos);
}
