//! Link arguments of the shared library and, with the feature `cuda`, the loader and the kernels.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target_os = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if target_os == "linux" {
        // The number is GROTH16_ABI_MAJOR. nodelete: worker threads and thread-local destructors of the library may
        // outlive a dlclose.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgroth16.so.1");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    #[cfg(feature = "cuda")]
    cuda::build();
}

/// What the feature `cuda` adds. Of the environment it reads
///
/// - `GROTH16_NVCC`, the compiler; else `nvcc`, or what `make cuda-toolkit` fetched. "none" leaves the kernels out: for tests
///   over cuda/emulate/driver.cc, which has them;
/// - `GROTH16_CUDA_ARCHS`, the architectures that get machine code, such as "90"; the default is "80 90 100 120" (86 and 89
///   run the code for 80);
/// - `GROTH16_CUDA_PTX`, the architecture whose PTX goes along, for those to come; the default is the oldest, "80"; "" leaves it out,
///   which is for quick builds.
#[cfg(feature = "cuda")]
mod cuda {
    use std::env;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::SystemTime;

    const ARCHITECTURES: &str = "80 90 100 120";
    const PTX: &str = "80";

    pub fn build() {
        let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
        println!("cargo:rerun-if-changed=cuda");
        println!("cargo:rerun-if-env-changed=GROTH16_NVCC");
        println!("cargo:rerun-if-env-changed=GROTH16_CUDA_ARCHS");
        println!("cargo:rerun-if-env-changed=GROTH16_CUDA_PTX");
        let mut loader = cc::Build::new();
        loader.file("cuda/loader/loader.c").std("c11").flag_if_supported("-fvisibility=hidden");
        loader.compile("groth16_cuda_loader");
        stub(&loader.get_compiler(), &out);
        kernels(&out.join("kernels"));
    }

    /// cuda-driver-sys asks for -lcuda. Where no driver is, the linker finds this empty library; nothing of it is used, so
    /// it, or the driver's, is not among those that the result needs.
    fn stub(compiler: &cc::Tool, out: &Path) {
        let folder = out.join("stub");
        let source = folder.join("empty.c");
        write(&source, "typedef int empty;\n");
        let mut command = compiler.to_command();
        command.args(["-shared", "-Wl,-soname,libcuda.so.1", "-o"]).arg(folder.join("libcuda.so")).arg(&source);
        run(command);
        println!("cargo:rustc-link-search=native={}", folder.display());
    }

    /// Compiles each file of cuda/kernel into a fatbin, as many at a time as cargo has jobs, and lists them in kernels.rs.
    fn kernels(folder: &Path) {
        let sources = files("cuda/kernel", "cu");
        let headers = ["field", "curve", "kernel", "tuning"].map(|name| files(&format!("cuda/{name}"), "h")).concat();
        let newest = headers.iter().filter_map(|path| modified(path)).max();
        let list: String = sources
            .iter()
            .map(|source| {
                let name = source.file_stem().unwrap_or_default();
                format!("    ({name:?}, include_bytes!({:?})),\n", fatbin(folder, source))
            })
            .collect();
        write(&folder.join("kernels.rs"), &format!("&[\n{list}]\n"));
        let jobs = env::var("NUM_JOBS").ok().and_then(|text| text.parse().ok()).unwrap_or(1usize);
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, sources.len()) {
                scope.spawn(|| {
                    while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                        compile(source, &fatbin(folder, source), newest.max(modified(source)));
                    }
                });
            }
        });
    }

    /// Unless the fatbin is newer than `changed` and came of the same command.
    fn compile(source: &Path, fatbin: &Path, changed: Option<SystemTime>) {
        let nvcc = nvcc();
        if nvcc.as_os_str() == "none" {
            let _ = std::fs::remove_file(fatbin.with_extension("command"));
            return write(fatbin, "none\0");
        }
        let architectures = env::var("GROTH16_CUDA_ARCHS").unwrap_or_else(|_| ARCHITECTURES.to_owned());
        let mut command = Command::new(nvcc);
        for architecture in architectures.split_whitespace() {
            command.arg("-gencode").arg(format!("arch=compute_{architecture},code=sm_{architecture}"));
        }
        let ptx = env::var("GROTH16_CUDA_PTX").unwrap_or_else(|_| PTX.to_owned());
        if !ptx.is_empty() {
            command.arg("-gencode").arg(format!("arch=compute_{ptx},code=compute_{ptx}"));
        }
        command.args(["-std=c++20", "-O3", "-compress-mode=size", "-fatbin", "-o"]).arg(fatbin).arg(source);
        let (stamp, text) = (fatbin.with_extension("command"), format!("{command:?}"));
        let is_same = std::fs::read_to_string(&stamp).is_ok_and(|before| before == text);
        if is_same && modified(fatbin) > changed {
            return;
        }
        let _ = std::fs::remove_file(&stamp);
        run(command);
        write(&stamp, &text);
    }

    fn fatbin(folder: &Path, source: &Path) -> PathBuf {
        folder.join(source.file_name().unwrap_or_default()).with_extension("fatbin")
    }

    /// The files of a folder with this extension, in order.
    fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|error| fail(&format!("{folder}: {error}")));
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<PathBuf> =
            paths.filter(|path| path.extension().is_some_and(|end| end == extension)).collect();
        paths.sort();
        paths
    }

    fn modified(path: &Path) -> Option<SystemTime> {
        path.metadata().and_then(|data| data.modified()).ok()
    }

    fn write(path: &Path, text: &str) {
        let folder = path.parent().unwrap_or(Path::new(""));
        let made = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text));
        made.unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
    }

    fn nvcc() -> PathBuf {
        if let Some(path) = env::var_os("GROTH16_NVCC") {
            return path.into();
        }
        let fetched = PathBuf::from("target/cuda/toolkit/nvidia/cu13/bin/nvcc");
        if fetched.exists() { fetched } else { "nvcc".into() }
    }

    fn run(mut command: Command) {
        let failed = match command.status() {
            Ok(status) if status.success() => return,
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        fail(&format!("{command:?}: {failed}"));
    }

    /// A build script may end so: cargo shows the text.
    fn fail(text: &str) -> ! {
        println!(
            "cargo:warning=the feature cuda needs nvcc of CUDA 13.0 or newer and a C compiler: `make cuda-toolkit`"
        );
        println!("cargo:warning={text}");
        #[allow(clippy::exit)]
        std::process::exit(1)
    }
}
