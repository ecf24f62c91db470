//! Compiles sppark.cu with the nvcc that NVCC names, for the architecture that ARCH names (90).

use std::env;

fn main() {
    for name in ["NVCC", "ARCH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=src/sppark.cu");
    let arch = env::var("ARCH").unwrap_or_else(|_| "90".to_owned());
    let mut nvcc = cc::Build::new();
    nvcc.cuda(true).cudart("none").opt_level(3).flag(format!("-gencode=arch=compute_{arch},code=sm_{arch}"));
    nvcc.flag("-std=c++17").define("FEATURE_BLS12_381", None).define("NDEBUG", None);
    for root in ["DEP_SPPARK_ROOT", "DEP_BLST_C_SRC"] {
        nvcc.include(env::var_os(root).unwrap_or_else(|| panic!("{root} is not set: no nvcc?")));
    }
    nvcc.file("src/sppark.cu").compile("sppark_msm");
}
