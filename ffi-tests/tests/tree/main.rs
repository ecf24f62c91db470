//! The source tree and what is built of it: header, layers, exported symbols, layout of the structs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod c_host;
mod faults;
mod layers;
mod shared_object;
mod sources;

use ffi_tests::header;

#[test]
fn the_header_is_the_generated_one() {
    let committed = std::fs::read_to_string(header::root().join("include/groth16.h")).unwrap();
    let generated = header::generate().unwrap();
    if committed == generated {
        return;
    }
    let pairs = committed.lines().zip(generated.lines()).enumerate();
    let first = pairs.into_iter().find(|(_, (is, wanted))| is != wanted);
    panic!("include/groth16.h is not what the sources give: run `make header`. First difference: {first:?}");
}
