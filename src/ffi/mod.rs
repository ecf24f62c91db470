//! The C ABI: the only exported symbols, and the only reader of raw C memory.
//!
//! Every exported function is a thin shell: it turns C arguments into checked Rust values, calls down, and turns the
//! result into a status with a message (`guard`). Types carry their C names, since the header is generated from here.
#![allow(non_camel_case_types)]

mod backend;
pub mod buffer;
pub mod callback;
pub mod circuit;
pub mod engine;
mod guard;
mod handle;
pub mod job;
pub mod library;
mod memory;
pub mod options;
pub mod pk;
mod sized;
pub mod verify;
