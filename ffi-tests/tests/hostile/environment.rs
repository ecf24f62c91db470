//! What is around the process: environment variables, a user without rights, file systems that cannot be written, a
//! fork before the first call. Each in a process of its own: this binary again, with only the test `child`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use ffi_tests::capi::{api, init};
use ffi_tests::handles::Engine;
use groth16::ffi::engine::groth16_engine_info;

use super::fork::in_child;
use super::{Setup, status};

/// Says what `child` does.
const TASK: &str = "GROTH16_TEST_CHILD";

/// Variables that provers, their dependencies, the CUDA driver and thread pools read.
const VARIABLES: [&str; 25] = [
    "BELLMAN_NO_GPU",
    "BELLMAN_CUSTOM_GPU",
    "BELLMAN_CPU_UTILIZATION",
    "BELLMAN_GPU_FRAMEWORK",
    "BELLMAN_NUM_CPUS",
    "BELLMAN_PROVER",
    "BELLMAN_VERIFIER",
    "BELLMAN_WORKING_DIR",
    "RUST_GPU_TOOLS_CUSTOM_GPU",
    "EC_GPU_NUM_THREADS",
    "FIL_PROOFS_USE_MULTICORE_SDR",
    "RAYON_NUM_THREADS",
    "RAYON_RS_NUM_CPUS",
    "OMP_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_CACHE_PATH",
    "NVIDIA_VISIBLE_DEVICES",
    "ICICLE_BACKEND_INSTALL_DIR",
    "BLST_PORTABLE",
    "GROTH16_THREADS",
    "GROTH16_BACKEND",
    "RUST_LOG",
    "XDG_CACHE_HOME",
    "TMPDIR",
];

/// What the child printed, without the lines of the test harness.
fn run(task: &str, configure: impl FnOnce(&mut Command)) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["environment::child", "--exact", "--nocapture", "--test-threads=1"]).env(TASK, task);
    configure(&mut command);
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{task}: {}\n{printed}\n{errors}", output.status);
    let lines: Vec<&str> =
        printed.lines().filter_map(|line| line.split_once("child: ").map(|(_, said)| said)).collect();
    assert!(!lines.is_empty(), "{task} said nothing: {printed}");
    lines.join("\n")
}

/// Does what the variable says, in a process of its own; without it nothing.
#[test]
#[allow(clippy::print_stdout)]
fn child() {
    match std::env::var(TASK).as_deref() {
        Ok("prove") => println!("\nchild: {}", prove()),
        Ok("bare") => println!("\nchild: {}", prove_with_nothing()),
        Ok("fork") => println!("\nchild: {}", fork_first()),
        _ => (),
    }
}

/// Threads by default and by wish, of the whole process too, and the log.
fn prove() -> String {
    let setup = Setup::small();
    setup.check_health();
    let by_default = Engine::new(|options| options.backend = 0).unwrap();
    let mut info = init::<groth16_engine_info>();
    assert_eq!(unsafe { (api().groth16_engine_get_info)(by_default.raw(), &raw mut info) }, 0);
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().count();
    format!("backend {}, {} threads, {} slots, {tasks} tasks", info.backend, info.cpu_threads, info.jobs_per_device)
}

#[test]
fn environment_variables_change_nothing() {
    let clean = |command: &mut Command| {
        VARIABLES.iter().for_each(|variable| {
            command.env_remove(variable);
        });
    };
    let wanted = run("prove", clean);
    for value in
        ["", "0", "1", "false", "-1", "99", "/nowhere"].map(str::as_bytes).into_iter().chain([&b"\xff%n\x01"[..]])
    {
        let got = run("prove", |command| {
            VARIABLES.iter().for_each(|variable| {
                command.env(variable, OsStr::from_bytes(value));
            });
        });
        assert_eq!(got, wanted, "all variables set to {:?}", String::from_utf8_lossy(value));
    }
    let got = run("prove", |command| {
        command.env_clear().env(TASK, "prove");
    });
    assert_eq!(got, wanted, "without an environment");
}

/// As a user without rights, no file can be written: where the system lets us, /tmp is mounted read-only, and a file that
/// grows ends the process by a signal.
fn prove_with_nothing() -> &'static str {
    api();
    let mounted = unsafe { mount_read_only(c"/tmp") } && std::fs::write("/tmp/groth16-test", b"").is_err();
    let nothing = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    unsafe {
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const nothing), 0);
        if libc::geteuid() == 0 {
            assert_eq!(libc::setresgid(65534, 65534, 65534), 0);
            assert_eq!(libc::setresuid(65534, 65534, 65534), 0);
        }
    }
    let setup = Setup::small();
    setup.check_health();
    if mounted { "proved, /tmp read-only" } else { "proved" }
}

/// In a mount namespace of this thread, which threads that it starts inherit.
unsafe fn mount_read_only(path: &std::ffi::CStr) -> bool {
    let none = std::ptr::null();
    let mount = |from: *const libc::c_char, to: &std::ffi::CStr, flags| unsafe {
        libc::mount(from, to.as_ptr(), none, flags, none.cast()) == 0
    };
    let own = unsafe { libc::unshare(libc::CLONE_NEWNS) } == 0;
    own && mount(none, c"/", libc::MS_REC | libc::MS_PRIVATE)
        && mount(path.as_ptr(), path, libc::MS_BIND | libc::MS_REC)
        && mount(none, path, libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY)
}

#[test]
#[allow(clippy::print_stderr)]
fn nothing_is_written_and_no_rights_are_needed() {
    let said = run("bare", |command| {
        command.env_remove("HOME").env("TMPDIR", "/nowhere").current_dir("/");
    });
    if said != "proved, /tmp read-only" {
        eprintln!("the system mounts nothing for us: only writes were forbidden");
    }
}

/// The library is loaded, and nothing was called.
fn fork_first() -> &'static str {
    api();
    let code = in_child(|| {
        Setup::small().check_health();
        0
    });
    assert_eq!(code, 0, "the child of a fork before the first call");
    let setup = Setup::small();
    setup.check_health();
    let code = in_child(|| {
        let answer = unsafe { (api().groth16_engine_get_info)(setup.engine.raw(), &mut init()) };
        i32::from(answer != status::FORKED)
    });
    assert_eq!(code, 0, "the child of a fork after it");
    setup.check_health();
    "proved in both"
}

#[test]
fn a_fork_before_the_first_call_works_and_one_after_it_is_noticed() {
    assert_eq!(run("fork", |_| ()), "proved in both");
}
