//! The GPU against the CPU: needs a driver and a device, nothing else. Ends with `N passed, N failed`.
//!
//!     gpu-test [LARGEST_LOG_SIZE, default 20] [--no-fault] [--quick] [--long] [--step N] [--only PART_OF_A_NAME]
//!
//! `--no-fault` leaves out what a memory checker would rightly report, `--quick` two of three plans of whole proofs. Over the emulated
//! driver (cuda/emulate/driver.cc) and over the machine's behind cuda/emulate/faulty.cc calls fail as the tests of `faults` want, two of
//! which take two devices; `--step`: of all calls every N-th fails once (41; every one where sizes go to 2^10 and more).

// A program may print.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod faults;
mod host;
mod long;
mod proofs;

use std::sync::Arc;
use std::time::Instant;

use groth16::error::{Result, Status};
use groth16::gpu::cuda::context::{Context, Stream};
use groth16::gpu::cuda::device::{DeviceInfo, devices};
use groth16::gpu::cuda::memory::{Arena, DeviceVec};
use groth16::gpu::cuda::module::{Argument, Module, Shape};
use groth16::gpu::cuda::plan::KernelName;
use groth16::gpu::cuda::transforms::{DeviceDomain, QuotientVectors};
use groth16::math::field::Field;
use groth16::math::fr::Fr;
use groth16::math::ntt::Domain;
use groth16::math::quotient;
use groth16::prover::synthetic::Rng;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut largest, mut with_fault, mut quick, mut is_long, mut step, mut only) =
        (20, true, false, false, None, None);
    while let Some(text) = arguments.next() {
        match text.as_str() {
            "--no-fault" => with_fault = false,
            "--quick" => quick = true,
            "--long" => is_long = true,
            "--step" => step = arguments.next().map(|text| text.parse().unwrap()),
            "--only" => only = arguments.next(),
            size => largest = size.parse().unwrap(),
        }
    }
    let found = devices().unwrap();
    for device in &found {
        let (major, minor) = device.compute;
        let gib = device.memory_bytes as f64 / f64::from(1 << 30);
        println!("{} {} {} {major}.{minor}, {gib:.1} GiB", device.name, device.uuid, device.pci_bus_id);
    }
    let mut counts = Counts { only, ..Counts::default() };
    let Some(device) = found.first() else {
        println!("no device\n0 passed, 1 failed");
        std::process::exit(1)
    };
    kernels(device, largest, &mut counts);
    counts.check("a process that forks", host::fork);
    let hooks = faults::Hooks::find();
    whole_proofs(largest, quick || hooks.is_some(), &mut counts);
    if let Some(hooks) = hooks {
        // The full test of every call is long.
        let step = step.unwrap_or(if largest >= 10 { 1 } else { 41 });
        counts.check("any call fails", || faults::any_call(&hooks, step));
        counts.check("an allocation fails", || faults::allocations(&hooks, step));
        counts.check("others take memory", || faults::hog(&hooks));
        counts.check("an engine that has ended", || faults::ended(&hooks));
        counts.check("a flipped bit", || faults::flipped_bit(&hooks));
        counts.check("a lost device", || faults::lost(&hooks));
        counts.check("GPUs that cannot be opened", || host::unusable(&|after| hooks.fail_contexts(after)));
    } else {
        if is_long {
            counts.check("memory over 500 proofs", long::flat);
            counts.check("memory that others take", || long::hog(device));
            counts.check("a partition under budgets", long::budgets);
        }
        if with_fault {
            counts.check("an error that loses a context", || lost(device));
        }
    }
    println!("{} passed, {} failed", counts.passed, counts.failed);
    std::process::exit(i32::from(counts.failed > 0));
}

fn kernels(device: &DeviceInfo, largest: u32, counts: &mut Counts) {
    counts.check("contexts of their own", || contexts(device));
    for generator in [7, 5] {
        for log_size in 0..=largest {
            // The other generator, and the large sizes of it, show nothing new.
            if generator == 5 && log_size > 12 {
                continue;
            }
            let name = format!("quotient, d = 2^{log_size}, generator {generator}");
            counts.check(&name, || quotients(device, log_size, generator));
        }
    }
}

fn whole_proofs(largest: u32, quick: bool, counts: &mut Counts) {
    // Rows are those of the circuit; one per input comes to them.
    for (rows, inputs) in
        [(1, 1), (2, 2), (6, 2), (7, 3), (30, 1), (61, 3), (250, 2), (1000, 3), (5000, 2), (1 << 17, 5)]
    {
        if rows < 1 << largest {
            counts.check(&format!("proofs of {rows} rows"), || proofs::same_under_every_plan(rows, inputs, quick));
        }
    }
    for rows in [6, 1000].into_iter().filter(|rows| *rows < 1 << largest) {
        counts.check(&format!("bad rows of {rows}"), || proofs::bad_rows(rows));
    }
    for log_domain in [5, 9, 18, 22, 24].into_iter().filter(|log| *log <= largest) {
        counts.check(&format!("a partition of 2^{log_domain} rows"), || proofs::partition(log_domain));
    }
}

#[derive(Default)]
struct Counts {
    passed: u32,
    failed: u32,
    /// Tests whose name has this.
    only: Option<String>,
}

impl Counts {
    fn check(&mut self, name: &str, test: impl FnOnce() -> Result<Option<String>>) {
        if self.only.as_ref().is_some_and(|only| !name.contains(only)) {
            return;
        }
        let begin = Instant::now();
        match test() {
            Ok(note) => {
                println!("ok      {name} {} {:.1} s", note.unwrap_or_default(), begin.elapsed().as_secs_f64());
                self.passed += 1;
            }
            Err(error) => {
                println!("FAILED  {name}: {error}");
                self.failed += 1;
            }
        }
    }
}

/// `Internal` with the text unless it holds.
pub(crate) fn ensure(holds: bool, text: impl Into<String>) -> Result<()> {
    if holds { Ok(()) } else { Err(groth16::error::Error::internal(text)) }
}

struct Gpu {
    stream: Stream,
    module: Arc<Module>,
}

impl Gpu {
    fn new(device: &DeviceInfo) -> Result<Self> {
        let context = Context::new(device)?;
        Ok(Self { stream: Stream::new(&context)?, module: Module::new(&context)? })
    }
}

/// Several contexts at once, on several threads, each with its own memory.
fn contexts(device: &DeviceInfo) -> Result<Option<String>> {
    let begin = Instant::now();
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|index| {
                scope.spawn(move || {
                    let context = Context::new(device)?;
                    let stream = Stream::new(&context)?;
                    let mut arena = Arena::new(&context, 1 << 20)?;
                    let vector: DeviceVec<u32> = arena.take(1000)?;
                    let values: Vec<u32> = (0..500).map(|i| i * 4 + index).collect();
                    // SAFETY: pageable memory, copied when the call returns.
                    unsafe { vector.upload(&values, &stream) }?;
                    let mut out = vec![1; 1000];
                    vector.download(&mut out, &stream)?;
                    ensure(
                        out[..500] == values && out[500..].iter().all(|value| *value == 0),
                        "other values came back",
                    )?;
                    ensure(arena.take::<u32>(1 << 20).is_err(), "an arena gave more than it has")?;
                    context.synchronize()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    results.into_iter().collect::<Result<Vec<()>>>()?;
    let all = Context::new(device)?.memory()?;
    ensure(all.0 > 0 && all.0 <= all.1, "free memory")?;
    Ok(Some(format!("({:.2} s for five)", begin.elapsed().as_secs_f64())))
}

/// Random rows, rows of extremes, and all but a few zero; each quotient in all its coefficients, and a row that is wrong.
fn quotients(device: &DeviceInfo, log_size: u32, generator: u64) -> Result<Option<String>> {
    let gpu = Gpu::new(device)?;
    let size = 1usize << log_size;
    let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
    let cpu = pool.install(|| Domain::new(log_size, generator))?;
    let domain = DeviceDomain::new(&gpu.module, &gpu.stream, log_size, generator)?;
    let mut arena = Arena::new(gpu.stream.context(), 4 * Arena::bytes_for::<Fr>(size))?;
    let vectors = QuotientVectors {
        a: arena.take(size)?,
        b: arena.take(size)?,
        c: Some(arena.take(size)?),
        u: arena.take(size)?,
    };
    let mut rng = Rng::new(u64::from(log_size) + 1000 * generator);
    let extremes = [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(2), -Fr::from(2)];
    let kinds = if log_size > 20 { 1 } else { 4 };
    let mut note = String::new();
    for kind in 0..kinds {
        // Fewer rows than the domain has elements, except where all are there.
        let rows = if kind == 1 { size } else { size - size / 3 };
        let mut value = |i: usize| match kind {
            0 | 1 => rng.fr(),
            2 => extremes[(i * 7 + i / 5) % 5],
            _ => {
                if i == rows / 2 {
                    Fr::from(3)
                } else {
                    Fr::ZERO
                }
            }
        };
        let a: Vec<Fr> = (0..rows).map(&mut value).collect();
        let b: Vec<Fr> = (0..rows).map(&mut value).collect();
        let mut c: Vec<Fr> = a.iter().zip(&b).map(|(a, b)| *a * *b).collect();
        let run = |c: &[Fr]| -> Result<(Vec<Fr>, Option<u32>, f64)> {
            // SAFETY: pageable memory, copied when the calls return.
            unsafe {
                vectors.a.upload(&a, &gpu.stream)?;
                vectors.b.upload(&b, &gpu.stream)?;
                vectors.c.as_ref().unwrap().upload(c, &gpu.stream)?;
            }
            let start = gpu.stream.record()?;
            domain.quotient(&vectors, &gpu.stream)?;
            let end = gpu.stream.record()?;
            let mut h = vec![Fr::ZERO; size];
            vectors.b.download(&mut h, &gpu.stream)?;
            Ok((h, domain.first_unsatisfied(&gpu.stream)?, end.seconds_since(&start)?))
        };
        let (h, first, _) = run(&c)?;
        let expected = pool.install(|| quotient::quotient(&cpu, a.clone(), b.clone()))?;
        let differs = expected.iter().zip(&h).position(|(expected, got)| expected != got);
        ensure(differs.is_none(), format!("kind {kind}: coefficient {differs:?} is another"))?;
        ensure(h[size - 1] == Fr::ZERO, format!("kind {kind}: the last coefficient is not zero"))?;
        ensure(first.is_none(), format!("kind {kind}: row {first:?} is said to be wrong"))?;
        for wrong in [rows - 1, rows / 2, 0] {
            c[wrong] += Fr::ONE;
            let (_, first, seconds) = run(&c)?;
            ensure(first == Some(wrong as u32), format!("kind {kind}: row {first:?} instead of {wrong}"))?;
            note = format!("({:.3} ms)", seconds * 1e3);
        }
    }
    Ok(Some(note))
}

/// A kernel that writes where nothing is loses its context. What that means for others in the process is said, not judged:
/// it depends on the driver.
fn lost(device: &DeviceInfo) -> Result<Option<String>> {
    let (bad, other) = (Gpu::new(device)?, Gpu::new(device)?);
    let kernel = bad.module.kernel(KernelName::Product.symbol())?;
    let nowhere = [Argument::Address(0x10); 4];
    let arguments = [&nowhere[..], &[Argument::Number(1), Argument::Address(0)]].concat();
    // SAFETY: none: the kernel's addresses are wrong, which is what this is about; the device refuses them.
    unsafe { kernel.launch(&bad.stream, Shape { blocks: 1, threads: 32, shared_bytes: 0 }, &arguments) }?;
    let error = bad.stream.synchronize().unwrap_err();
    ensure(error.status() == Status::Device, format!("another status: {error}"))?;
    ensure(bad.stream.context().is_lost(), "the context is not known to be lost")?;
    let earlier = !other.stream.context().is_lost();
    let beside = quotients(device, 5, 7).is_ok();
    drop((kernel, bad));
    let after = quotients(device, 5, 7).is_ok();
    drop(other);
    let alone = quotients(device, 5, 7).is_ok();
    let text = format!(
        "({error}; works: a context from before {earlier}, a new one {beside}, one made when the lost one is gone {after}, \
         when all are gone {alone})"
    );
    Ok(Some(text))
}
