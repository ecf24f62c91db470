//! Tests of libgroth16 through its C ABI: shared helpers.

pub mod capi;
pub mod fixture;
pub mod handles;
pub mod header;
pub mod layout;
pub mod memory;
pub mod status;
