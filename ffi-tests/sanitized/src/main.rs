//! `storm.c` with the library linked in, so that one sanitizer watches both. With `canary` as its only argument it does
//! what the sanitizer must report.

use std::ffi::{CString, c_char, c_int};

// The C program calls it.
use groth16 as _;

unsafe extern "C" {
    fn storm_main(argc: c_int, argv: *const *const c_char) -> c_int;
}

fn main() {
    let arguments: Vec<CString> = std::env::args().filter_map(|argument| CString::new(argument).ok()).collect();
    if arguments.get(1).is_some_and(|argument| argument.as_bytes() == b"canary") {
        canary();
        return;
    }
    let mut pointers: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
    pointers.push(std::ptr::null());
    // SAFETY: as the system calls main: as many strings as the number says, and a NULL; they outlive the call.
    let status = unsafe { storm_main(arguments.len() as c_int, pointers.as_ptr()) };
    std::process::exit(status);
}

/// A data race, then a read of freed memory: each is found by one of the sanitizers.
fn canary() {
    struct Address(*mut u64);
    // SAFETY: not at all: the race is wanted.
    unsafe impl Send for Address {}
    let mut shared = Box::new(0u64);
    let address = Address(&raw mut *shared);
    let other = std::thread::spawn(move || {
        let address = address;
        // SAFETY: the box lives until the thread is joined; the race is wanted.
        unsafe { address.0.write_volatile(address.0.read_volatile() + 1) };
    });
    let own = &raw mut *shared;
    // SAFETY: as above.
    unsafe { own.write_volatile(own.read_volatile() + 1) };
    let _ = other.join();
    drop(shared);
    // SAFETY: not at all: the memory was freed, which is to be found.
    println!("{}", unsafe { own.read_volatile() });
}
