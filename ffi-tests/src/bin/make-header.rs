//! Writes include/groth16.h.

fn main() -> Result<(), String> {
    let path = ffi_tests::header::root().join("include/groth16.h");
    let text = ffi_tests::header::generate()?;
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}
