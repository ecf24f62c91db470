//! Circuits.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use super::engine::groth16_engine;
use super::guard;
use super::handle::{self, Handle, Tag};
use super::library::groth16_status;
use super::memory::{self, Borrowed};
use super::pk::open;
use super::sized::{self, SizedStruct};
use crate::error::{Error, Result};
use crate::formats::r1cs;
use crate::prover::circuit::{Circuit, Csr};

/// R1CS matrices: immutable, shareable.
pub struct groth16_circuit {
    pub(super) circuit: Arc<Circuit>,
    tag: Arc<Tag>,
}

impl Handle for groth16_circuit {
    fn tag(&self) -> &Arc<Tag> {
        &self.tag
    }
}

/// Compressed rows; column 0 is the constant one, then inputs, then aux.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_matrix {
    /// num_rows + 1: where each row's terms start, then the number of terms
    pub row_starts: *const u64,
    pub columns: *const u32,
    /// 32 bytes each, little-endian canonical
    pub values: *const c_void,
}

/// Where a circuit comes from.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_circuit_options {
    pub struct_size: usize,
    /// an iden3 .r1cs file over the BLS12-381 scalar field, or ...
    pub path: *const c_char,
    /// ... its bytes, or ...
    pub data: *const c_void,
    pub data_len: usize,
    /// ... the matrices, copied before the call returns
    pub a: groth16_matrix,
    pub b: groth16_matrix,
    pub c: groth16_matrix,
    pub num_rows: u64,
    /// the constant one included
    pub num_inputs: u64,
    pub num_aux: u64,
}

// SAFETY: repr(C), struct_size first; integers and raw pointers may be zero.
unsafe impl SizedStruct for groth16_circuit_options {
    const NAME: &'static str = "groth16_circuit_options";
}

/// What a circuit holds; num_inputs counts the constant one, num_terms the terms of all matrices, zeros included.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct groth16_circuit_info {
    pub struct_size: usize,
    pub num_rows: u64,
    pub num_inputs: u64,
    pub num_aux: u64,
    pub num_terms: u64,
}

// SAFETY: repr(C), struct_size first; integers.
unsafe impl SizedStruct for groth16_circuit_info {
    const NAME: &'static str = "groth16_circuit_info";
}

/// Loads a circuit and checks it.
///
/// # Safety
/// `engine` is a live handle; `options` points to `struct_size` readable bytes whose pointers fit their lengths;
/// `circuit` is writable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_circuit_load(
    engine: *mut groth16_engine,
    options: *const groth16_circuit_options,
    circuit: *mut *mut groth16_circuit,
) -> groth16_status {
    guard::waiting_status(|| {
        memory::check_out(circuit, "circuit")?;
        // SAFETY: by this function's contract.
        let engine = unsafe { handle::borrow(engine, "engine") }?;
        // SAFETY: by this function's contract.
        let options = unsafe { sized::read(options) }?;
        // SAFETY: by this function's contract.
        let loaded = unsafe { load(engine, &options) }?;
        let loaded = groth16_circuit { circuit: Arc::new(loaded), tag: Arc::clone(engine.tag()) };
        // SAFETY: by this function's contract.
        unsafe { memory::set(circuit, handle::give(loaded)) };
        Ok(())
    })
}

/// What a circuit holds.
///
/// # Safety
/// `circuit` is a live handle; `info` points to `struct_size` writable bytes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn groth16_circuit_get_info(
    circuit: *const groth16_circuit,
    info: *mut groth16_circuit_info,
) -> groth16_status {
    guard::status(|| {
        // SAFETY: by this function's contract.
        let circuit = &unsafe { handle::borrow(circuit, "circuit") }?.circuit;
        let filled = groth16_circuit_info {
            struct_size: size_of::<groth16_circuit_info>(),
            num_rows: circuit.num_rows() as u64,
            num_inputs: circuit.num_inputs() as u64,
            num_aux: circuit.num_aux() as u64,
            num_terms: circuit.num_terms() as u64,
        };
        // SAFETY: by this function's contract.
        unsafe { sized::write(info, &filled) }
    })
}

/// Releases a circuit; jobs that need it keep it alive.
///
/// # Safety
/// `circuit` is NULL or a handle that is used by nobody else now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_circuit_free(circuit: *mut groth16_circuit) {
    // SAFETY: by this function's contract.
    guard::silent(|| drop(unsafe { handle::take(circuit) }));
}

/// # Safety
/// As for `groth16_circuit_load`.
unsafe fn load(engine: &groth16_engine, options: &groth16_circuit_options) -> Result<Circuit> {
    let has_matrices = [&options.a, &options.b, &options.c].iter().any(|matrix| !matrix.row_starts.is_null());
    if has_matrices && (!options.path.is_null() || options.data_len > 0) {
        return Err(Error::invalid("circuit: both a file and matrices are set"));
    }
    if !has_matrices {
        // SAFETY: by this function's contract.
        let data = unsafe { Borrowed::new(options.data, options.data_len, "data") }?;
        // SAFETY: by this function's contract.
        let source = unsafe { open(options.path, &data, "circuit") }?;
        return engine.engine.install(|| {
            r1cs::read(&source).and_then(|file| Circuit::from_r1cs(&file)).map_err(|error| source.locate(error))
        });
    }
    let size = |value: u64, name: &str| {
        usize::try_from(value).map_err(|_| Error::invalid(format!("{name} is {value}, which no memory holds")))
    };
    let rows = size(options.num_rows, "num_rows")?;
    // SAFETY: by this function's contract.
    let matrices = unsafe {
        [
            matrix(&options.a, rows, "matrix A")?,
            matrix(&options.b, rows, "matrix B")?,
            matrix(&options.c, rows, "matrix C")?,
        ]
    };
    let (inputs, aux) = (size(options.num_inputs, "num_inputs")?, size(options.num_aux, "num_aux")?);
    engine.engine.install(|| Circuit::from_csr(rows, inputs, aux, matrices))
}

/// # Safety
/// The pointers fit `rows` and the number of terms.
unsafe fn matrix<'a>(matrix: &groth16_matrix, rows: usize, name: &str) -> Result<Csr<'a>> {
    let starts = rows.checked_add(1).ok_or_else(|| Error::invalid("num_rows is too large"))?;
    // SAFETY: by this function's contract.
    let row_starts: &[u64] = unsafe { memory::slice(matrix.row_starts, starts, name) }?;
    let terms = row_starts.last().copied().unwrap_or(0);
    let terms = usize::try_from(terms).map_err(|_| Error::invalid(format!("{name}: {terms} terms are impossible")))?;
    Ok(Csr {
        row_starts,
        // SAFETY: by this function's contract.
        columns: unsafe { memory::slice(matrix.columns, terms, name) }?,
        // SAFETY: by this function's contract.
        values: unsafe { memory::slice(matrix.values.cast(), terms, name) }?,
    })
}
