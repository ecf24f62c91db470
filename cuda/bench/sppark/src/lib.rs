//! Nothing of Rust's: the crates bring code for C++ to link.

extern crate blst;
extern crate sppark;
