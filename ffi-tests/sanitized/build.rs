//! Compiles `storm.c` with the sanitizer that the environment names, as rustc was told to instrument the library.

fn main() {
    println!("cargo::rerun-if-env-changed=SANITIZER");
    for file in ["storm.c", "common.h"] {
        println!("cargo::rerun-if-changed=../c/{file}");
    }
    let mut build = cc::Build::new();
    build.file("../c/storm.c").include("../../include").define("main", "storm_main").debug(true).warnings(true);
    if let Ok(sanitizer) = std::env::var("SANITIZER") {
        build.flag(format!("-fsanitize={sanitizer}")).flag("-fno-omit-frame-pointer");
    }
    build.compile("storm");
}
