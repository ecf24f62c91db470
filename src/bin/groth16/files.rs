//! Files that commands read, with the file's name in every message, and the engine that works on them.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use groth16::engine::Engine;
use groth16::engine::backend::Backend;
use groth16::engine::config::Config;
use groth16::engine::proof::{Groth16, LoadedKey};
use groth16::error::{Error, Result, Status};
use groth16::formats::points::ReadOptions;
use groth16::formats::proof::{COMPRESSED_BYTES, Proof, UNCOMPRESSED_BYTES};
use groth16::formats::source::Source;
use groth16::formats::vk::{FIXED_BYTES, VerifyingKey};
use groth16::formats::{bellman_params, gnark, r1cs, wtns};
use groth16::gpu::{self, Gpu};
use groth16::math::field::Field;
use groth16::math::fr::Fr;
use groth16::math::g1::G1Affine;
use groth16::prover::circuit::Circuit;
use groth16::prover::key::ProvingKey;
use groth16::prover::key_file::{Beside, KeyFormat};
use num_bigint::BigUint;
use serde_json::Value;

use crate::args::{BackendChoice, Place, Threads, Trust};
use crate::output::{Console, io_error};

/// Proofs and public inputs larger than this are none.
pub const MOST_BYTES: u64 = 64 << 20;

/// Puts the name of the file before a message.
pub fn at<T>(path: &Path, result: Result<T>) -> Result<T> {
    result.map_err(|error| error.at(path.display()))
}

/// What was chosen to prove on: at most so many of the GPUs, where they are chosen.
pub fn backend(place: Place, most: usize) -> Result<Backend> {
    let gpus = match place.backend {
        BackendChoice::Cpu => Vec::new(),
        BackendChoice::Auto | BackendChoice::Gpu => gpu::gpus()?,
    };
    if gpus.is_empty() {
        if place.backend == BackendChoice::Gpu {
            let build = if cfg!(feature = "cuda") { "" } else { ": it was built without CUDA" };
            return Err(Error::new(Status::NoDevice, format!("there is no GPU that this command can use{build}")));
        }
        return Ok(Backend::Cpu(1));
    }
    let bytes = place.gpus.device_memory.map_or(0, |mebibytes| mebibytes << 20);
    let gpus = gpus.iter().take(most).map(|gpu| Gpu::new(&gpu.uuid, bytes)).collect::<Result<Vec<_>>>()?;
    Ok(Backend::Gpus(gpus, place.gpus.g2.into()))
}

/// An engine for `jobs` jobs, `slots` of them at once on each device.
pub fn engine(threads: Threads, place: Place, slots: usize, jobs: usize) -> Result<Engine<Groth16>> {
    let mut config = Config { jobs_per_device: slots, max_queued_jobs: jobs, ..Config::default() };
    config.cpu_threads = threads.threads.map_or(config.cpu_threads, usize::from);
    Engine::on(backend(place, usize::MAX)?, &config, Box::new(|_| ()))
}

/// The circuit in an opened file.
pub fn circuit(path: &Path, source: &Source<'_>) -> Result<Circuit> {
    at(path, r1cs::read(source).and_then(|r1cs| Circuit::from_r1cs(&r1cs)))
}

/// The key in an opened file, with the verifying key that files of gnark lack, with a bar; on the engine's threads.
pub fn key(
    engine: &Engine<Groth16>,
    path: &Path,
    source: &Source<'_>,
    vk: Option<VerifyingKey>,
    trust: &Trust,
    circuit: &Circuit,
    console: &Console,
) -> Result<Arc<LoadedKey>> {
    let format = KeyFormat::recognise(source);
    let beside = Beside { circuit: Some(circuit), vk, ..Beside::default() };
    at(path, beside.check(format))?;
    let bar = console.bytes("key", source.len());
    let report = |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        true
    };
    let file = engine.install(|| {
        let options =
            ReadOptions { checks: trust.check.into(), blake2b: trust.digest.as_ref(), progress: Some(&report) };
        format.read(source, &options, false)
    });
    bar.finish_and_clear();
    let key = file.and_then(|(file, _)| file.into_key(beside));
    loaded(engine, at(path, key)?)
}

/// A key with what is derived from it.
pub fn loaded(engine: &Engine<Groth16>, key: ProvingKey) -> Result<Arc<LoadedKey>> {
    engine.load_key(key.host_bytes() as u64, || Ok((key, None)))
}

/// The whole of a small file; `-` is stdin. It may be a pipe.
pub fn small(path: &Path) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| io_error(path.display(), &error);
    let mut bytes = Vec::new();
    let is_stdin = path.as_os_str() == "-";
    let mut reader: Box<dyn Read> =
        if is_stdin { Box::new(std::io::stdin()) } else { Box::new(File::open(path).map_err(failed)?) };
    reader.by_ref().take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::format(format!("{}: more than {MOST_BYTES} bytes", path.display())));
    }
    Ok(bytes)
}

/// Whether the file starts like this.
pub fn starts_with(source: &Source<'_>, start: &[u8]) -> bool {
    let mut bytes = vec![0; start.len()];
    source.read_exact_at(0, &mut bytes).is_ok() && bytes == start
}

/// The verifying key at the front of a parameter file, or in a file of its own, of bellman or gnark.
pub fn verifying_key(source: &Source<'_>) -> Result<VerifyingKey> {
    if gnark::vk::is_one(source) {
        return gnark::vk::read(source);
    }
    if gnark::pk::is_one(source) {
        return Err(Error::invalid(
            "a proving key of gnark, which does not hold its verifying key: give that one's file",
        ));
    }
    let len = verifying_key_bytes(source)?;
    if source.len() > len {
        // More follows: it must be the rest of a parameter file.
        bellman_params::sections(source)?;
    }
    let mut bytes = vec![0; len as usize];
    source.read_exact_at(0, &mut bytes)?;
    VerifyingKey::from_bytes(&bytes)
}

/// How many bytes the verifying key at the front takes; the file has so many.
pub fn verifying_key_bytes(source: &Source<'_>) -> Result<u64> {
    let mut count = [0; 4];
    source.read_exact_at(FIXED_BYTES as u64, &mut count).map_err(|error| error.at("verifying key"))?;
    let count = u64::from(u32::from_be_bytes(count));
    let len = FIXED_BYTES as u64 + 4 + count * G1Affine::UNCOMPRESSED_BYTES as u64;
    if len > source.len() {
        let text =
            format!("verifying key: section ic: {count} points end at byte {len}, there are only {}", source.len());
        return Err(Error::format(text));
    }
    Ok(len)
}

/// A proof in any of its forms, told by the content; `Format` where it has the shape of none. The inner error says why
/// what has the shape of a proof is none: its points are no points.
pub fn proof(bytes: &[u8]) -> Result<Result<Proof>> {
    let found = match bytes.len() {
        COMPRESSED_BYTES | UNCOMPRESSED_BYTES => Proof::from_bytes(bytes),
        len => {
            let is_json = serde_json::from_slice::<Value>(bytes).is_ok_and(|value| value["pi_a"].is_array());
            if !is_json {
                return Err(Error::format(format!(
                    "no proof: {len} bytes, wanted {COMPRESSED_BYTES} (compressed), {UNCOMPRESSED_BYTES} \
                     (uncompressed) or snarkjs's JSON"
                )));
            }
            Proof::from_json(&String::from_utf8_lossy(bytes))
        }
    };
    match found {
        Err(error) if error.status() != Status::Format => Err(error),
        found => Ok(found),
    }
}

/// Public inputs as snarkjs writes them: decimal strings, without the constant one.
pub fn public_json(inputs: &[Fr]) -> String {
    let items: Vec<String> = inputs.iter().skip(1).map(|input| format!("\n \"{}\"", decimal(input))).collect();
    if items.is_empty() { "[]\n".into() } else { format!("[{}\n]\n", items.join(",")) }
}

fn decimal(value: &Fr) -> String {
    BigUint::from_bytes_le(&value.to_le_bytes()).to_string()
}

/// The same back, the constant one put in front.
pub fn read_public_json(bytes: &[u8]) -> Result<Vec<Fr>> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| Error::format(format!("public inputs: not JSON: {error}")))?;
    let Some(items) = value.as_array() else {
        return Err(Error::format("public inputs: the JSON is not an array of decimal strings"));
    };
    let mut inputs = vec![Fr::ONE];
    for (index, item) in items.iter().enumerate() {
        let text = item.as_str().map(str::to_owned).or_else(|| item.as_u64().map(|number| number.to_string()));
        // r has 77 decimal digits; some leading zeros are no harm.
        let digits =
            text.filter(|text| (1..=100).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits.and_then(|digits| BigUint::parse_bytes(digits.as_bytes(), 10));
        let number = number
            .ok_or_else(|| Error::format(format!("public inputs: element {index} is no string of decimal digits")))?;
        let mut bytes = number.to_bytes_le();
        bytes.resize(bytes.len().max(32), 0);
        let value = <[u8; 32]>::try_from(bytes).ok().and_then(|bytes| Fr::from_le_bytes(&bytes));
        inputs.push(
            value.ok_or_else(|| {
                Error::format(format!("public inputs: element {index} is not below the group order r"))
            })?,
        );
    }
    Ok(inputs)
}

/// The public inputs, the constant one included: from JSON, or the first `count` values of a witness.
pub fn public_inputs(path: &Path, count: usize) -> Result<Vec<Fr>> {
    if path.as_os_str() != "-"
        && let Ok(source) = Source::open(path)
        && starts_with(&source, b"wtns")
    {
        let witness = at(path, wtns::read(&source))?;
        let Some(inputs) = witness.get(..count) else {
            let text = format!("the witness has {} values, the key {count} inputs", witness.len());
            return at(path, Err(Error::invalid(text)));
        };
        return Ok(inputs.to_vec());
    }
    at(path, read_public_json(&small(path)?))
}
