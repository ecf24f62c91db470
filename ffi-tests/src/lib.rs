//! Tests of libgroth16 through its C ABI.
