//! Tests of libgroth16 through its C ABI: shared helpers.

pub mod header;
