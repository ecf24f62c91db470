//! Through the C ABI: a process that forks while its engine has a GPU (the child may do nothing there, and must not disturb the
//! parent), and GPUs that cannot be opened.

use std::ffi::c_void;
use std::mem::size_of;
use std::ptr::null_mut;

use groth16::engine::backend::G2Placement;
use groth16::error::Result;
use groth16::ffi::buffer::{groth16_buffer, groth16_buffer_alloc, groth16_buffer_data, groth16_buffer_free};
use groth16::ffi::engine::{
    groth16_engine, groth16_engine_create, groth16_engine_free, groth16_engine_get_info, groth16_engine_info,
    groth16_engine_options,
};
use groth16::ffi::library::groth16_device_count;

use super::ensure;
use super::proofs::{Case, RowsFrom, engine, first};

/// Of a child that found everything as it shall be.
const GOOD: i32 = 0;
const FORKED: i32 = groth16::error::Status::Forked as i32;
const BYTES: usize = 3 << 20;

/// A struct of the ABI as `GROTH16_INIT` makes it.
fn init<T>() -> T {
    // SAFETY: all bytes zero are a value of the ABI's structs, which begin with their size.
    unsafe {
        let mut value: T = std::mem::zeroed();
        std::ptr::from_mut(&mut value).cast::<usize>().write(size_of::<T>());
        value
    }
}

/// In the child the engine answers FORKED, its buffers hold zeros, and frees return; in the parent the buffer is as it was and the
/// next proof right, from rows that were page-locked before the fork, too.
pub fn fork() -> Result<Option<String>> {
    let case = Case::new(250, 2)?;
    let expected = case.expected()?;
    let proving = engine(&first()?, 0, G2Placement::Device)?;
    let key = case.load(&proving)?;
    let early = case.input(&proving, &key, RowsFrom::Lent)?;
    let mut options = init::<groth16_engine_options>();
    options.backend = 1;
    let (mut raw, mut buffer) = (null_mut::<groth16_engine>(), null_mut::<groth16_buffer>());
    // SAFETY: the options are set up, the pointers are writable.
    let made = unsafe {
        [groth16_engine_create(&raw const options, &raw mut raw), groth16_buffer_alloc(raw, BYTES, &raw mut buffer)]
    };
    ensure(made == [0, 0], format!("an engine and a buffer of the C ABI: {made:?}"))?;
    // SAFETY: the handle is live, and its bytes are this test's.
    let bytes = unsafe { std::slice::from_raw_parts_mut(groth16_buffer_data(buffer).cast::<u8>(), BYTES) };
    bytes.fill(7);
    let code = in_child(|| child(raw, buffer))?;
    ensure(code == GOOD, format!("the child's exit code is {code}"))?;
    ensure(bytes.iter().all(|byte| *byte == 7), "the parent's buffer changed")?;
    ensure(super::proofs::result(&proving, early)? == expected, "another proof after the fork")?;
    ensure(case.prove(&proving, &key, RowsFrom::Copied)? == expected, "the proof after that is another")?;
    // SAFETY: both are live, and used by nobody any more.
    unsafe {
        groth16_buffer_free(buffer);
        groth16_engine_free(raw);
    }
    Ok(None)
}

/// Left to itself the library uses the GPUs that work, and the CPU where none does; who asks for GPUs is told. Of two devices.
pub fn unusable(fail: &dyn Fn(i64)) -> Result<Option<String>> {
    if groth16::gpu::gpus()?.len() != 2 {
        return Ok(Some("(left out: it takes two devices)".into()));
    }
    // Of two devices the second fails, or both.
    for (after, wanted) in [(1, 1), (0, 0)] {
        for (backend, status) in [(0, 0), (1, groth16::error::Status::DeviceMemory as i32)] {
            fail(after);
            let mut options = init::<groth16_engine_options>();
            options.backend = backend;
            let mut raw = null_mut::<groth16_engine>();
            // SAFETY: the options are set up, the pointer is writable.
            let got = unsafe { groth16_engine_create(&raw const options, &raw mut raw) };
            fail(-1);
            ensure(got == status, format!("backend {backend}, {after} contexts first: {got}"))?;
            if got != 0 {
                continue;
            }
            let mut info = init::<groth16_engine_info>();
            // SAFETY: the handle is live, the struct is set up.
            let told = unsafe { groth16_engine_get_info(raw, &raw mut info) };
            ensure(told == 0 && info.num_devices == wanted, format!("{} devices, not {wanted}", info.num_devices))?;
            // SAFETY: a live handle that nobody uses any more.
            unsafe { groth16_engine_free(raw) };
        }
    }
    Ok(None)
}

/// What a host's child might do.
fn child(raw: *mut groth16_engine, buffer: *mut groth16_buffer) -> i32 {
    let (mut count, mut other) = (0, null_mut::<groth16_buffer>());
    // SAFETY: the handles were live when the process forked; the pointers are writable.
    unsafe {
        let data: *const c_void = groth16_buffer_data(buffer);
        if (0..BYTES).any(|at| data.cast::<u8>().add(at).read() != 0) {
            return 1;
        }
        if groth16_engine_get_info(raw, &mut init::<groth16_engine_info>()) != FORKED {
            return 2;
        }
        if groth16_buffer_alloc(raw, BYTES, &raw mut other) != FORKED {
            return 3;
        }
        // The driver does not work in a child; whatever it says, it says at once.
        let _ = groth16_device_count(&raw mut count);
        groth16_buffer_free(buffer);
        groth16_engine_free(raw);
    }
    GOOD
}

/// Runs `child` in a forked process, which an alarm ends where it hangs; its exit code.
fn in_child(child: impl FnOnce() -> i32) -> Result<i32> {
    // SAFETY: the child leaves by _exit, without unwinding into the caller.
    unsafe {
        let process = libc::fork();
        if process == 0 {
            libc::alarm(20);
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(99);
            libc::_exit(code);
        }
        ensure(process > 0, "no fork")?;
        let mut how = 0;
        ensure(libc::waitpid(process, &raw mut how, 0) == process, "no child")?;
        ensure(libc::WIFEXITED(how), format!("the child ended by signal {}", libc::WTERMSIG(how)))?;
        Ok(libc::WEXITSTATUS(how))
    }
}
