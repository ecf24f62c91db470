//! Link arguments of the shared library.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target_os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if target_os == "linux" {
        // The number is GROTH16_ABI_MAJOR. nodelete: worker threads and thread-local destructors of the library may
        // outlive a dlclose.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgroth16.so.1");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
