//! The header and the shared object as C and C++ compilers take them.

use std::path::Path;
use std::process::{Command, Output};

use ffi_tests::capi::api;
use ffi_tests::header::root;
use ffi_tests::layout;

/// A compiler: that of the environment variable, or the system's. `None`, with a note, where there is none.
#[allow(clippy::print_stderr)]
fn compiler(variable: &str, default: &str) -> Option<Command> {
    let name = std::env::var(variable).unwrap_or_else(|_| default.to_owned());
    if Command::new(&name).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Some(Command::new(name));
    }
    eprintln!("no {name}: this test does nothing");
    None
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

#[test]
fn the_header_is_c99_and_cpp11() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#include \"groth16.h\"\n#include \"groth16.h\"\n\
                int main(void) { groth16_engine_options o; GROTH16_INIT(&o); return (int)o.struct_size; }\n";
    let c = [("CC", "cc", "c99"), ("CC", "cc", "c11"), ("CXX", "c++", "c++11"), ("CXX", "c++", "c++17")];
    for (variable, default, standard) in c {
        let source = folder.path().join(if default == "cc" { "host.c" } else { "host.cpp" });
        std::fs::write(&source, text).unwrap();
        let Some(mut compiler) = compiler(variable, default) else { continue };
        let include = root().join("include");
        run(compiler
            .arg(format!("-std={standard}"))
            .args(STRICT)
            .arg("-fsyntax-only")
            .arg("-I")
            .arg(include)
            .arg(source));
    }
}

/// Builds `c/smoke.c` as a host would, against the shared object, and runs it.
fn smoke(folder: &Path, argument: &str) -> Option<String> {
    let mut compiler = compiler("CC", "cc")?;
    for name in ["libgroth16.so".to_owned(), format!("libgroth16.so.{}", groth16::ffi::library::GROTH16_ABI_MAJOR)] {
        std::os::unix::fs::symlink(api().path(), folder.join(name)).unwrap();
    }
    let program = folder.join("smoke");
    let source = root().join("ffi-tests/c/smoke.c");
    compiler.arg("-std=c99").args(STRICT).arg("-I").arg(root().join("include")).arg(source);
    run(compiler.arg("-L").arg(folder).arg("-lgroth16").arg("-o").arg(&program));
    let output = run(Command::new(program).arg(argument).env("LD_LIBRARY_PATH", folder));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_host_in_c_works() {
    let folder = tempfile::tempdir().unwrap();
    if let Some(printed) = smoke(folder.path(), "run") {
        assert_eq!(printed, "");
    }
}

#[test]
fn structs_lie_in_memory_as_in_c_and_as_before() {
    let golden = std::fs::read_to_string(root().join("include/groth16.layout")).unwrap();
    let text = layout::text();
    assert_eq!(text, golden, "left: Rust's layout, right: include/groth16.layout, which only grows by appended fields");
    let folder = tempfile::tempdir().unwrap();
    if let Some(printed) = smoke(folder.path(), "layout") {
        assert_eq!(printed, golden, "left: C's layout, right: include/groth16.layout");
    }
}

#[test]
fn structs_have_no_padding_and_start_with_their_size() {
    for layout in layout::structs() {
        let mut end = 0;
        for (field, offset, size) in &layout.fields {
            assert_eq!(*offset, end, "{}: padding before {field}", layout.name);
            end += size;
        }
        assert_eq!(end, layout.size, "{}: padding at the end", layout.name);
        let grows = layout.fields.iter().any(|(field, ..)| *field == "struct_size");
        assert!(!grows || layout.fields[0].0 == "struct_size", "{}", layout.name);
    }
}
