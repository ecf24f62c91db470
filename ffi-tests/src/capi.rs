//! The shared object as its hosts see it: the struct types are those of the sources, the code is that of the built
//! `libgroth16.so`.
#![allow(clippy::panic)]

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use groth16::ffi::buffer::groth16_buffer;
use groth16::ffi::circuit::{groth16_circuit, groth16_circuit_info, groth16_circuit_options};
use groth16::ffi::engine::{groth16_engine, groth16_engine_info, groth16_engine_options};
use groth16::ffi::job::{groth16_job, groth16_job_options, groth16_progress, groth16_scalars};
use groth16::ffi::library::groth16_device_info;
use groth16::ffi::pk::{groth16_pk, groth16_pk_info, groth16_pk_options};
use libloading::Library;

/// File name of the shared object where cargo puts it.
const FILE_NAME: &str = "libgroth16.so";

macro_rules! functions {
    ($($name:ident: $type:ty;)*) => {
        /// The exported functions.
        #[allow(missing_docs)]
        pub struct Api {
            $(pub $name: $type,)*
            path: PathBuf,
            /// Keeps the code mapped.
            _library: Library,
        }

        /// Names of all exported functions.
        pub const FUNCTIONS: &[&str] = &[$(stringify!($name)),*];

        impl Api {
            fn load(path: PathBuf) -> Result<Self, String> {
                // SAFETY: loading runs only the initialisers of Rust's runtime.
                let library = unsafe { Library::new(&path) }.map_err(|e| format!("{}: {e}", path.display()))?;
                Ok(Self {
                    // SAFETY: the types below are those of the header.
                    $($name: *unsafe { library.get::<$type>(concat!(stringify!($name), "\0").as_bytes()) }
                        .map_err(|e| format!("{}: {e}", path.display()))?,)*
                    path,
                    _library: library,
                })
            }
        }
    };
}

functions! {
    groth16_abi_version: unsafe extern "C" fn() -> u32;
    groth16_version: unsafe extern "C" fn() -> *const c_char;
    groth16_status_name: unsafe extern "C" fn(i32) -> *const c_char;
    groth16_last_error: unsafe extern "C" fn(*mut c_char, usize) -> usize;
    groth16_device_count: unsafe extern "C" fn(*mut usize) -> i32;
    groth16_device_get: unsafe extern "C" fn(usize, *mut groth16_device_info) -> i32;
    groth16_engine_create: unsafe extern "C" fn(*const groth16_engine_options, *mut *mut groth16_engine) -> i32;
    groth16_engine_free: unsafe extern "C" fn(*mut groth16_engine);
    groth16_engine_get_info: unsafe extern "C" fn(*const groth16_engine, *mut groth16_engine_info) -> i32;
    groth16_engine_metrics: unsafe extern "C" fn(*const groth16_engine, *mut c_char, usize, *mut usize) -> i32;
    groth16_engine_trace: unsafe extern "C" fn(*const groth16_engine, *const c_char) -> i32;
    groth16_engine_memory_pressure: unsafe extern "C" fn(*const groth16_engine) -> u32;
    groth16_circuit_load:
        unsafe extern "C" fn(*mut groth16_engine, *const groth16_circuit_options, *mut *mut groth16_circuit) -> i32;
    groth16_circuit_get_info: unsafe extern "C" fn(*const groth16_circuit, *mut groth16_circuit_info) -> i32;
    groth16_circuit_free: unsafe extern "C" fn(*mut groth16_circuit);
    groth16_pk_load: unsafe extern "C" fn(*mut groth16_engine, *const groth16_pk_options, *mut *mut groth16_pk) -> i32;
    groth16_pk_get_info: unsafe extern "C" fn(*const groth16_pk, *mut groth16_pk_info) -> i32;
    groth16_pk_get_vk: unsafe extern "C" fn(*const groth16_pk, *mut c_void, usize, *mut usize) -> i32;
    groth16_pk_free: unsafe extern "C" fn(*mut groth16_pk);
    groth16_buffer_alloc: unsafe extern "C" fn(*mut groth16_engine, usize, *mut *mut groth16_buffer) -> i32;
    groth16_buffer_data: unsafe extern "C" fn(*mut groth16_buffer) -> *mut c_void;
    groth16_buffer_free: unsafe extern "C" fn(*mut groth16_buffer);
    groth16_start: unsafe extern "C" fn(
        *mut groth16_engine, *mut groth16_pk, *const groth16_job_options, *mut *mut groth16_job) -> i32;
    groth16_poll: unsafe extern "C" fn(*const groth16_job, *mut groth16_progress) -> i32;
    groth16_wait: unsafe extern "C" fn(*const groth16_job, i64) -> i32;
    groth16_cancel: unsafe extern "C" fn(*mut groth16_job);
    groth16_finalize: unsafe extern "C" fn(*const groth16_job, *mut c_void, usize, *mut usize) -> i32;
    groth16_free: unsafe extern "C" fn(*mut groth16_job);
    groth16_verify: unsafe extern "C" fn(*const groth16_pk, groth16_scalars, *const c_void, usize, *mut i32) -> i32;
}

impl Api {
    /// Where the shared object was found.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text of this thread's last failed call.
    pub fn last_error(&self) -> String {
        // SAFETY: NULL with a capacity of 0 asks for the length; then the buffer has the capacity that is told.
        let bytes = unsafe {
            let length = (self.groth16_last_error)(std::ptr::null_mut(), 0);
            let mut buffer = vec![0u8; length + 1];
            (self.groth16_last_error)(buffer.as_mut_ptr().cast(), buffer.len());
            buffer.truncate(length);
            buffer
        };
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The name of a status.
    pub fn status_name(&self, status: i32) -> String {
        // SAFETY: the result is a static string.
        unsafe { CStr::from_ptr((self.groth16_status_name)(status)) }.to_string_lossy().into_owned()
    }
}

/// The library, loaded once. Panics with a text that says what to do where it is not there.
pub fn api() -> &'static Api {
    static API: OnceLock<Api> = OnceLock::new();
    API.get_or_init(|| find().and_then(Api::load).unwrap_or_else(|error| panic!("{error}")))
}

/// The shared object beside the running test: cargo builds it as a dependency, into target/<profile>/deps.
fn find() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|e| format!("cannot tell where this test is: {e}"))?;
    let found = program.ancestors().skip(1).map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file());
    found.ok_or_else(|| {
        format!("no {FILE_NAME} in a folder above {}: run `cargo test --release -p ffi-tests`", program.display())
    })
}

/// A struct of the ABI that starts with its `struct_size`, set up as `GROTH16_INIT` does.
pub fn init<T: SizedStruct>() -> T {
    // SAFETY: all bytes zero are a valid value of these structs, and the first field is a usize.
    unsafe {
        let mut value: T = std::mem::zeroed();
        std::ptr::from_mut(&mut value).cast::<usize>().write(size_of::<T>());
        value
    }
}

/// # Safety
/// The struct starts with a usize, its size, and may be all zero.
pub unsafe trait SizedStruct: Copy {
    /// Its name in C.
    const NAME: &'static str;
}

macro_rules! sized_structs {
    ($($name:ident),*) => {
        // SAFETY: so the header says of each.
        $(unsafe impl SizedStruct for $name { const NAME: &'static str = stringify!($name); })*
    };
}

sized_structs!(
    groth16_device_info,
    groth16_engine_options,
    groth16_engine_info,
    groth16_circuit_options,
    groth16_circuit_info,
    groth16_pk_options,
    groth16_pk_info,
    groth16_job_options,
    groth16_progress
);
