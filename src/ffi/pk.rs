//! Proving keys.

use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::time::Instant;

use super::callback::{Progress, groth16_progress_fn};
use super::circuit::groth16_circuit;
use super::engine::groth16_engine;
use super::guard;
use super::handle::{self, Handle, Tag};
use super::library::groth16_status;
use super::memory::{self, Borrowed};
use super::options::{choose, groth16_format, groth16_log_level, groth16_point_checks};
use super::sized::{self, SizedStruct};
use crate::engine::proof::{LoadedKey, Reload};
use crate::engine::stages::Stop;
use crate::error::{Error, Result, Status};
use crate::formats::gnark;
use crate::formats::points::{PointChecks, ReadOptions};
use crate::formats::source::Source;
use crate::formats::vk::VerifyingKey;
use crate::prover::density::Density;
use crate::prover::key::{Densities, ProvingKey};
use crate::prover::key_file::{Beside, KeyFormat};

/// A proving key: immutable, shareable.
pub struct groth16_pk {
    pub(super) key: Arc<LoadedKey>,
    format: KeyFormat,
    tag: Arc<Tag>,
}

impl Handle for groth16_pk {
    fn tag(&self) -> &Arc<Tag> {
        &self.tag
    }
}

/// Bit i is (words[i / 64] >> (i % 64)) & 1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_bits {
    pub words: *const u64,
    pub count: usize,
}

/// Where a key comes from and what is checked of it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_pk_options {
    pub struct_size: usize,
    /// a file, or ...
    pub path: *const c_char,
    /// ... bytes, copied before the call returns
    pub data: *const c_void,
    pub data_len: usize,
    /// gives the densities that bellman files lack, or ...
    pub circuit: *const groth16_circuit,
    /// ... the densities themselves: which aux variables have a nonzero coefficient in A, which inputs and which aux
    /// variables in B; default (count 0): all
    pub a_aux: groth16_bits,
    pub b_inputs: groth16_bits,
    pub b_aux: groth16_bits,
    /// GROTH16_FORMAT_...
    pub format: i32,
    /// GROTH16_CHECK_...; less than the default only for a file that you trust, or with ...
    pub point_checks: i32,
    /// ... its expected BLAKE2b-512 digest, 64 bytes
    pub blake2b: *const u8,
    pub progress: groth16_progress_fn,
    pub progress_user: *mut c_void,
    /// for GROTH16_FORMAT_GNARK, whose files lack it: the verifying key that was made with this key, as gnark writes it, in a
    /// file, or ...
    pub vk_path: *const c_char,
    /// ... bytes. Without it no proof of this key can be verified: a job must ask to skip the self-check
    pub vk_data: *const c_void,
    pub vk_data_len: usize,
}

// SAFETY: repr(C), struct_size first; integers, raw pointers and an optional function may be zero.
unsafe impl SizedStruct for groth16_pk_options {
    const NAME: &'static str = "groth16_pk_options";
}

/// What a key holds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_pk_info {
    pub struct_size: usize,
    /// the constant one included
    pub num_inputs: u64,
    pub num_aux: u64,
    pub domain_size: u64,
    /// rows input_i * 0 = 0 that the key's form adds to those of the circuit
    pub num_rows_added: u64,
    pub host_bytes: u64,
    pub device_bytes: u64,
    /// GROTH16_FORMAT_...
    pub format: i32,
    /// 1 if a public input has no influence (its point in IC is infinity): any value of it verifies. Always 0 for
    /// GROTH16_FORMAT_BELLMAN, whose files are refused with such a point, and where no verifying key is known
    pub unconstrained_inputs: i32,
}

// SAFETY: repr(C), struct_size first; integers.
unsafe impl SizedStruct for groth16_pk_info {
    const NAME: &'static str = "groth16_pk_info";
}

/// Loads a key on the engine's threads and checks it. The file of path stays open: while no job uses the key its points may
/// leave memory for others, and a job that needs them waits until they are read again; it fails with GROTH16_E_IO if they
/// cannot be.
///
/// # Safety
/// `engine` and the circuit are live handles; `options` points to `struct_size` readable bytes whose pointers fit
/// their lengths; `pk` is writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_pk_load(
    engine: *mut groth16_engine,
    options: *const groth16_pk_options,
    pk: *mut *mut groth16_pk,
) -> groth16_status {
    guard::waiting_status(|| {
        memory::check_out(pk, "pk")?;
        // SAFETY: by this function's contract.
        let engine = unsafe { handle::borrow(engine, "engine") }?;
        // SAFETY: by this function's contract.
        let options = unsafe { sized::read(options) }?;
        // SAFETY: by this function's contract.
        let loaded = unsafe { load(engine, &options) }?;
        // SAFETY: by this function's contract.
        unsafe { memory::set(pk, handle::give(loaded)) };
        Ok(())
    })
}

/// What a key holds.
///
/// # Safety
/// `pk` is a live handle; `info` points to `struct_size` writable bytes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_pk_get_info(pk: *const groth16_pk, info: *mut groth16_pk_info) -> groth16_status {
    guard::status(|| {
        // SAFETY: by this function's contract.
        let groth16_pk { key: loaded, format, .. } = unsafe { handle::borrow(pk, "pk") }?;
        let key = &loaded.shape;
        let filled = groth16_pk_info {
            struct_size: size_of::<groth16_pk_info>(),
            num_inputs: key.num_inputs as u64,
            num_aux: key.num_aux as u64,
            domain_size: loaded.domain.size() as u64,
            num_rows_added: key.num_rows_added() as u64,
            host_bytes: loaded.host_bytes(),
            device_bytes: 0,
            format: match format {
                KeyFormat::Bellman => groth16_format::GROTH16_FORMAT_BELLMAN,
                KeyFormat::Gnark => groth16_format::GROTH16_FORMAT_GNARK,
            } as i32,
            unconstrained_inputs: key.has_unconstrained_inputs().into(),
        };
        // SAFETY: by this function's contract.
        unsafe { sized::write(info, &filled) }
    })
}

/// The verifying key in bellman's encoding; GROTH16_E_INVALID where it is not known (a gnark key without it). *len is
/// written on OK and on GROTH16_E_TOO_SMALL; buf NULL with cap 0 asks the size.
///
/// # Safety
/// `pk` is a live handle; `buf` is NULL or has `cap` writable bytes; `len` is writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_pk_get_vk(
    pk: *const groth16_pk,
    buf: *mut c_void,
    cap: usize,
    len: *mut usize,
) -> groth16_status {
    guard::status(|| {
        // SAFETY: by this function's contract.
        let bytes = unsafe { handle::borrow(pk, "pk") }?.key.shape.verifying_key()?.to_bytes();
        // SAFETY: by this function's contract.
        unsafe { memory::copy_out(&bytes, buf, cap, len) }
    })
}

/// Releases a key; jobs that need it keep it alive.
///
/// # Safety
/// `pk` is NULL or a handle that is used by nobody else now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_pk_free(pk: *mut groth16_pk) {
    guard::silent(|| {
        // SAFETY: by this function's contract.
        let Some(pk) = (unsafe { handle::take(pk) }) else { return };
        if !guard::in_callback() {
            LoadedKey::free(pk.key);
        }
    });
}

/// # Safety
/// As for `groth16_pk_load`.
unsafe fn load(engine: &groth16_engine, options: &groth16_pk_options) -> Result<groth16_pk> {
    let begin = Instant::now();
    let format = chosen_format(options.format)?;
    let checks = point_checks(options.point_checks)?;
    // SAFETY: by this function's contract.
    let digest = unsafe { memory::array::<64>(options.blake2b) };
    // SAFETY: by this function's contract.
    let data = unsafe { Borrowed::new(options.data, options.data_len, "data") }?;
    // SAFETY: by this function's contract.
    let source = unsafe { open(options.path, &data, "key") }?;
    let format = format.unwrap_or_else(|| KeyFormat::recognise(&source));
    // SAFETY: by this function's contract.
    let circuit = unsafe { options.circuit.as_ref() };
    if let Some(circuit) = circuit {
        circuit.tag().check()?;
        handle::check_together(engine, circuit, "circuit")?;
    }
    // SAFETY: by this function's contract.
    let (densities, vk) = unsafe { (densities(options)?, verifying_key(options)?) };
    let beside = Beside { circuit: circuit.map(|circuit| &*circuit.circuit), densities, vk };
    beside.check(format)?;
    let progress = Progress::new(options.progress, options.progress_user);
    let bytes = format.point_bytes(&source).map_err(|error| source.locate(error))?;
    let key = engine.engine.load_key(bytes, || {
        let report = |done, total| progress.report(done, total);
        let options = ReadOptions { checks, blake2b: digest, progress: Some(&report) };
        // Bytes of the host are not there later: no digest is needed to know them again.
        let is_file = matches!(source, Source::File { .. });
        let (file, digest) = format.read(&source, &options, is_file).map_err(|error| source.locate(error))?;
        let key = file.into_key(beside)?;
        let reload = digest.and_then(|digest| reload(source, format, digest, key.without_points()));
        Ok((key, reload))
    })?;
    let text = format!(
        "key loaded in {} ms: {} inputs, {} aux variables, domain of {}",
        begin.elapsed().as_millis(),
        key.shape.num_inputs,
        key.shape.num_aux,
        key.domain.size()
    );
    engine.logger.log(groth16_log_level::GROTH16_LOG_INFO, &text);
    Ok(groth16_pk { key, format, tag: Arc::clone(engine.tag()) })
}

/// How a key is read again from its file, which stays open: bytes of the same digest need no more checks.
fn reload(source: Source<'_>, format: KeyFormat, digest: [u8; 64], shape: ProvingKey) -> Option<Reload> {
    let Source::File { file, path, len } = source else { return None };
    let source = Source::File { file, path, len };
    Some(Box::new(move |stop: &Stop| {
        let go_on = |_, _| !stop.is_asked();
        let options = ReadOptions { checks: PointChecks::Nothing, blake2b: Some(&digest), progress: Some(&go_on) };
        let (file, _) = format.read(&source, &options, false).map_err(|error| source.locate(error))?;
        shape.with_points(file.into())
    }))
}

/// The format that is asked for; `None` where the file shall tell.
fn chosen_format(format: i32) -> Result<Option<KeyFormat>> {
    use groth16_format::*;
    let formats = [
        GROTH16_FORMAT_AUTO,
        GROTH16_FORMAT_BELLMAN,
        GROTH16_FORMAT_ZKEY,
        GROTH16_FORMAT_GNARK,
        GROTH16_FORMAT_ARKWORKS,
    ];
    match choose(format, &formats, "format")? {
        GROTH16_FORMAT_AUTO => Ok(None),
        GROTH16_FORMAT_BELLMAN => Ok(Some(KeyFormat::Bellman)),
        GROTH16_FORMAT_GNARK => Ok(Some(KeyFormat::Gnark)),
        other => Err(Error::new(Status::Unsupported, format!("{other:?} is not in this version"))),
    }
}

fn point_checks(checks: i32) -> Result<PointChecks> {
    let choices = [PointChecks::Subgroup, PointChecks::OnCurve, PointChecks::Nothing];
    const _: () = assert!(groth16_point_checks::GROTH16_CHECK_NOTHING as i32 == 2);
    choose(checks, &choices, "point_checks")
}

/// The verifying key of the options, if one is given.
///
/// # Safety
/// As for `groth16_pk_load`.
unsafe fn verifying_key(options: &groth16_pk_options) -> Result<Option<VerifyingKey>> {
    if options.vk_path.is_null() && options.vk_data.is_null() && options.vk_data_len == 0 {
        return Ok(None);
    }
    // SAFETY: by this function's contract.
    let data = unsafe { Borrowed::new(options.vk_data, options.vk_data_len, "vk_data") }?;
    // SAFETY: by this function's contract.
    let source = unsafe { open(options.vk_path, &data, "verifying key") }?;
    gnark::vk::read(&source).map(Some).map_err(|error| source.locate(error))
}

/// The bits of the options.
///
/// # Safety
/// Their pointers fit their counts.
unsafe fn densities(options: &groth16_pk_options) -> Result<Densities> {
    let read = |bits: &groth16_bits, name: &str| {
        if bits.count == 0 {
            return Ok(None);
        }
        // SAFETY: by this function's contract.
        let words = unsafe { memory::slice(bits.words, bits.count.div_ceil(64), name) }?;
        Density::from_bits(words, bits.count).map(Some).map_err(|e| e.at(name))
    };
    Ok(Densities {
        a_aux: read(&options.a_aux, "a_aux")?,
        b_inputs: read(&options.b_inputs, "b_inputs")?,
        b_aux: read(&options.b_aux, "b_aux")?,
    })
}

/// A file or bytes, exactly one of them.
///
/// # Safety
/// `path` is NULL or a C string.
pub(super) unsafe fn open<'a>(path: *const c_char, data: &'a Borrowed, what: &str) -> Result<Source<'a>> {
    let bytes = data.as_ref();
    match (path.is_null(), bytes.is_empty()) {
        (true, true) => Err(Error::invalid(format!("no {what}: neither path nor data is set"))),
        (false, false) => Err(Error::invalid(format!("{what}: both path and data are set"))),
        (true, false) => Ok(Source::Bytes(bytes)),
        // SAFETY: by this function's contract.
        (false, true) => Source::open(unsafe { memory::path(path) }),
    }
}
