//! The command `groth16`, as a shell calls it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use groth16::formats::points::PointForm;
use groth16::formats::proof::Proof;
use groth16::formats::{bellman_params, gnark, r1cs, wtns};
use groth16::math::curve::Affine;
use groth16::math::fr::Fr;
use groth16::prover::circuit::Circuit;
use groth16::prover::setup::{Trapdoor, expected_proof, setup, setup_gnark};
use groth16::prover::synthetic::{self, Shape};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with a circuit of 60 rows and 4 inputs, a witness, and a key of a known trapdoor.
struct Case {
    directory: TempDir,
    circuit: Circuit,
    witness: Vec<Fr>,
    trapdoor: Trapdoor,
}

impl Case {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let (file, witness) = synthetic::r1cs(&Shape::new(60, 4, 3)).unwrap();
        let circuit = Circuit::from_r1cs(&file).unwrap();
        let trapdoor = Trapdoor::from_seed(9);
        let mut params = Vec::new();
        bellman_params::write(&setup(&circuit, &trapdoor).unwrap(), &mut params).unwrap();
        let case = Self { directory, circuit, witness, trapdoor };
        case.write("c.r1cs", &r1cs::to_bytes(&file));
        case.write("w.wtns", &wtns::to_bytes(&case.witness).unwrap());
        case.write("k.params", &params);
        case
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Runs the command in the folder.
    fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Output {
        command(self.directory.path(), arguments).output().unwrap()
    }

    /// `prove` with two threads and more options.
    fn prove(&self, more: &[&str]) -> Output {
        let fixed = ["prove", "--key", "k.params", "--circuit", "c.r1cs", "--witness", "w.wtns", "--threads", "2"];
        self.run(&[&fixed, more].concat())
    }

    fn verify(&self, key: &str, public: &str, proof: &str) -> Output {
        self.run(&["verify", "--key", key, "--public", public, "--proof", proof])
    }

    /// Every name in the folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

fn command<S: AsRef<OsStr>>(directory: &Path, arguments: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groth16"));
    command.current_dir(directory).args(arguments).env("RUST_BACKTRACE", "1");
    command
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[track_caller]
fn succeeds(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(output), stderr(output));
}

/// Ended with `code` and one line on stderr that starts like this; nothing on stdout.
#[track_caller]
fn fails(output: &Output, code: i32, text: &str) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
    let lines: Vec<&str> = stderr(output).lines().collect();
    assert!(lines.len() == 1 && lines[0].starts_with(&format!("groth16: {text}")), "{text}\n{lines:#?}");
    assert!(output.stdout.is_empty(), "{}", stdout(output));
}

#[track_caller]
fn is_invalid(output: &Output) {
    assert_eq!((output.status.code(), stdout(output)), (Some(1), "INVALID\n"), "{}", stderr(output));
}

#[track_caller]
fn is_valid(output: &Output) {
    assert_eq!((output.status.code(), stdout(output)), (Some(0), "valid\n"), "{}", stderr(output));
}

#[test]
fn set_up_prove_verify() {
    let case = Case::new();
    let made = case.run(&["setup", "--circuit", "c.r1cs", "--out", "k.params", "--vk", "k.vk", "--threads", "2"]);
    succeeds(&made);
    assert!(stderr(&made).starts_with("groth16: warning: this key is INSECURE"), "{}", stderr(&made));
    assert!(stderr(&made).contains("k.params (replaced)"), "{}", stderr(&made));
    for (format, name, size) in [("compressed", "p.192", 192), ("uncompressed", "p.384", 384), ("json", "p.json", 0)] {
        let made = case.prove(&["--proof", name, "--public", "public.json", "--format", format]);
        succeeds(&made);
        assert!(stderr(&made).contains(name) && stderr(&made).contains("device"), "{}", stderr(&made));
        assert!(size == 0 || case.read(name).len() == size);
        for key in ["k.params", "k.vk"] {
            for public in ["public.json", "w.wtns"] {
                is_valid(&case.verify(key, public, name));
            }
        }
    }
    assert!(Proof::from_json(std::str::from_utf8(&case.read("p.json")).unwrap()).is_ok());
    // No temporary file is left.
    assert!(case.names().iter().all(|name| !name.starts_with('.')), "{:?}", case.names());
}

#[test]
fn the_proof_is_the_expected_one() {
    let case = Case::new();
    let (r, s) = (Fr::from(0x1234), -Fr::from(5));
    let minus_five = "73eda753299d7d483339d80809a1d80553bda402fffe5bfefffffffefffffffc";
    let output = case.prove(&["--r", "0x1234", "--s", minus_five, "--proof", "-", "--public", "public.json"]);
    succeeds(&output);
    let expected = expected_proof(&case.circuit, &case.trapdoor, &case.witness, r, s).unwrap();
    assert_eq!(output.stdout, expected.to_compressed());
    let public: Vec<String> = serde_json::from_slice(&case.read("public.json")).unwrap();
    assert_eq!(public.len(), 3);
    for (text, value) in public.iter().zip(&case.witness[1..]) {
        let number = num_bigint::BigUint::from_bytes_le(&value.to_le_bytes());
        assert_eq!(*text, number.to_string());
    }
    // Without --r and --s no two proofs are equal.
    let proofs = [case.prove(&[]), case.prove(&[])];
    assert!(proofs[0].stdout.len() == 192 && proofs[0].stdout != proofs[1].stdout);
    // JSON by the name of the file.
    succeeds(&case.prove(&["--proof", "proof.json"]));
    assert_eq!(case.read("proof.json")[0], b'{');
}

#[test]
fn keys_of_gnark_prove_with_their_verifying_key() {
    let case = Case::new();
    let (pk, vk) = setup_gnark(&case.circuit, &case.trapdoor).unwrap();
    for (form, name) in [(PointForm::Compressed, "compressed"), (PointForm::Uncompressed, "raw")] {
        let (mut key, mut verifying) = (Vec::new(), Vec::new());
        gnark::pk::write(&pk, form, &mut key).unwrap();
        gnark::vk::write(&vk, form, &mut verifying).unwrap();
        case.write("k.params", &key);
        case.write("g.vk", &verifying);
        fails(&case.prove(&[]), 2, "the self-check: the key was loaded without its verifying key");
        succeeds(&case.prove(&["--vk", "g.vk", "--proof", "p", "--public", "public.json"]));
        is_valid(&case.verify("g.vk", "public.json", "p"));
        fails(&case.verify("k.params", "public.json", "p"), 2, "k.params: a proving key of gnark");
        let told = case.run(&["info", "k.params", "g.vk"]);
        succeeds(&told);
        for text in ["proving key (gnark)", "verifying key (gnark)", name, "b_g2"] {
            assert!(stdout(&told).contains(text), "{text}: {}", stdout(&told));
        }
    }
    fails(&case.prove(&["--vk", "c.r1cs"]), 2, "c.r1cs: ");
}

#[test]
fn wrong_proofs_are_invalid() {
    let case = Case::new();
    succeeds(&case.prove(&["--proof", "p", "--public", "public.json"]));
    let good = case.read("p");
    for place in [0, 1, 47, 48, 100, 143, 144, 191] {
        let mut bad = good.clone();
        bad[place] ^= 1;
        case.write("bad", &bad);
        is_invalid(&case.verify("k.params", "public.json", "bad"));
    }
    // Points that are points, but not these.
    let mut swapped = Proof::from_bytes(&good).unwrap();
    std::mem::swap(&mut swapped.a, &mut swapped.c);
    case.write("bad", &swapped.to_uncompressed());
    is_invalid(&case.verify("k.params", "public.json", "bad"));
    case.write("bad", swapped.to_json().as_bytes());
    is_invalid(&case.verify("k.params", "public.json", "bad"));
    case.write("bad", swapped.to_json().replace("pi_c\":[\"", "pi_c\":[\"1").as_bytes());
    is_invalid(&case.verify("k.params", "public.json", "bad"));
    // Other public inputs.
    let mut inputs: Vec<String> = serde_json::from_slice(&case.read("public.json")).unwrap();
    inputs[2] = "7".into();
    case.write("other.json", serde_json::to_string(&inputs).unwrap().as_bytes());
    is_invalid(&case.verify("k.params", "other.json", "p"));
    // No proofs, no questions: errors.
    case.write("short", &good[..191]);
    fails(&case.verify("k.params", "public.json", "short"), 2, "short: no proof: 191 bytes, wanted 192");
    case.write("fewer.json", br#"["1"]"#);
    let output = case.verify("k.params", "fewer.json", "p");
    fails(&output, 2, "fewer.json: verify: got 2 inputs, the key has 4 (the constant one included)");
    let r = "52435875175126190479447740508185965837690552500527637822603658699938581184513";
    case.write("large.json", format!("[\"1\", \"2\", \"{r}\"]").as_bytes());
    let output = case.verify("k.params", "large.json", "p");
    fails(&output, 2, "large.json: public inputs: element 2 is not below the group order r");
    for text in ["", "{}", "[1.5]", "[-1]", "[\"0x1\"]", "[[]]", "[\"\"]"] {
        case.write("bad.json", text.as_bytes());
        fails(&case.verify("k.params", "bad.json", "p"), 2, "bad.json: public inputs: ");
    }
}

#[test]
fn wrong_files_are_named() {
    let case = Case::new();
    let prove = |option: &str, name: &str| {
        let mut arguments =
            ["prove", "--key", "k.params", "--circuit", "c.r1cs", "--witness", "w.wtns"].map(str::to_owned);
        let place = arguments.iter().position(|argument| argument == option).unwrap();
        arguments[place + 1] = name.to_owned();
        case.run(&[&arguments[..], &["--proof".into(), "out".into()]].concat())
    };
    let key = case.read("k.params");
    case.write("empty", b"");
    case.write("short.params", &key[..key.len() - 1]);
    let mut flipped = key.clone();
    flipped[864 + 4 + 50] ^= 1;
    case.write("flipped.params", &flipped);
    for option in ["--key", "--circuit", "--witness"] {
        fails(&prove(option, "missing"), 2, "missing: No such file or directory");
        fails(&prove(option, "."), 2, ".: is a directory");
        fails(&prove(option, "/dev/zero"), 2, "/dev/zero: is not a regular file");
        fails(&prove(option, "empty"), 2, "empty: the file is empty");
    }
    fails(&prove("--key", "short.params"), 2, "short.params: bellman params: section b_g2: ");
    fails(&prove("--key", "flipped.params"), 2, "flipped.params: bellman params: section ic, point 0 (offset 868): ");
    fails(&prove("--circuit", "w.wtns"), 2, "w.wtns: r1cs: offset 0: the file does not start with \"r1cs\"");
    fails(&prove("--witness", "c.r1cs"), 2, "c.r1cs: wtns: offset 0: the file does not start with \"wtns\"");

    // A witness that is none of this circuit, and one that breaks a row.
    case.write("few.wtns", &wtns::to_bytes(&case.witness[..10]).unwrap());
    fails(&prove("--witness", "few.wtns"), 2, "few.wtns: witness: got 10 values, the circuit has 4 inputs and 60");
    let mut wrong = case.witness.clone();
    wrong[63] += Fr::from(1);
    case.write("wrong.wtns", &wtns::to_bytes(&wrong).unwrap());
    fails(&prove("--witness", "wrong.wtns"), 1, "wrong.wtns: the witness does not satisfy row ");

    // The circuit of another key, digests, and places to write that are none.
    let (other, _) = synthetic::r1cs(&Shape::new(60, 5, 3)).unwrap();
    case.write("other.r1cs", &r1cs::to_bytes(&other));
    fails(&prove("--circuit", "other.r1cs"), 2, "w.wtns: witness: got 64 values, the circuit has 5 inputs");
    fails(&case.prove(&["--digest", &"0".repeat(128)]), 2, "k.params: bellman params: the file's BLAKE2b digest is ");
    fails(&case.prove(&["--proof", "no/where"]), 2, "no/where: No such file or directory");
    fails(&case.prove(&["--proof", "w.wtns"]), 2, "w.wtns: is read and cannot be written too");
    fails(&case.prove(&["--proof", "x", "--public", "x"]), 2, "--proof and --public both write to x");
    fails(
        &case.run(&["setup", "--circuit", "c.r1cs", "--out", "./c.r1cs", "--quiet"]).without_warning(),
        2,
        "./c.r1cs: is read",
    );
    assert!(!case.names().contains(&"out".into()) && case.names().iter().all(|name| !name.starts_with('.')));
}

trait WithoutWarning {
    fn without_warning(self) -> Self;
}

impl WithoutWarning for Output {
    /// Drops the first line of stderr, which must be a warning.
    fn without_warning(mut self) -> Self {
        let text = stderr(&self).to_owned();
        let (warning, rest) = text.split_once('\n').unwrap();
        assert!(warning.starts_with("groth16: warning: "), "{warning}");
        self.stderr = rest.as_bytes().to_vec();
        self
    }
}

#[test]
fn usage_errors_and_help() {
    let case = Case::new();
    let no_arguments: [&str; 0] = [];
    for arguments in [
        &no_arguments[..],
        &["prove"],
        &["nonsense"],
        &["bench", "--rows", "15"],
        &["bench", "--rows", "2^64"],
        &["bench", "--threads", "0"],
        &["bench", "--jobs", "0"],
        &["prove", "--key", "k", "--circuit", "c", "--witness", "w", "--r", "1"],
        &["prove", "--key", "k", "--circuit", "c", "--witness", "w", "--r", "", "--s", "1"],
        &["prove", "--key", "k", "--circuit", "c", "--witness", "w", "--digest", "00"],
        &["prove", "--key", "k", "--circuit", "c", "--witness", "w", "--digest", &"é".repeat(64)],
    ] {
        let output = case.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && stderr(&output).contains("--help"), "{arguments:?}\n{}", stderr(&output));
    }
    for command in ["prove", "verify", "info", "setup", "bench", "bench pipeline"] {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let output = case.run(&words);
        succeeds(&output);
        assert!(stdout(&output).contains(&format!("Example:\n  groth16 {command}")), "{}", stdout(&output));
        assert!(stdout(&output).lines().all(|line| line.len() <= 130), "{}", stdout(&output));
    }
    assert_eq!(stdout(&case.run(&["--version"])), format!("groth16 {}\n", env!("CARGO_PKG_VERSION")));
    let r = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
    fails(&case.prove(&["--r", r, "--s", "0"]).without_warning(), 2, "--r is not below the group order r");
}

#[test]
fn info_tells_what_files_hold() {
    let case = Case::new();
    succeeds(&case.prove(&["--proof", "p", "--public", "public.json"]));
    succeeds(&case.prove(&["--proof", "p.json"]));
    case.write("k.vk", &case.read("k.params")[..864 + 4 + 4 * 96]);
    let files = ["k.params", "k.vk", "c.r1cs", "w.wtns", "p", "p.json", "public.json"];
    let output = case.run(&[&["info", "--json", "--digest"], &files[..]].concat());
    succeeds(&output);
    let reports: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let kinds: Vec<&str> = reports.iter().map(|report| report["kind"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "parameters (bellman)",
            "verifying key (bellman)",
            "circuit (.r1cs)",
            "witness (.wtns)",
            "proof",
            "proof",
            "public inputs (JSON)"
        ]
    );
    for (report, name) in reports.iter().zip(files) {
        assert_eq!((report["file"].as_str(), report["warnings"].as_array().unwrap().len()), (Some(name), 0));
        assert_eq!(report["bytes"], case.read(name).len());
        let digest = blake2b_simd::blake2b(&case.read(name)).to_hex();
        assert_eq!(report["blake2b"], *digest);
    }
    assert_eq!(
        (&reports[0]["public_inputs"], &reports[0]["aux"], &reports[0]["domain"]),
        (&3.into(), &60.into(), &64.into())
    );
    assert_eq!((&reports[0]["sections"][0]["name"], &reports[0]["sections"][0]["offset"]), (&"ic".into(), &868.into()));
    assert_eq!((&reports[0]["sections"][1]["points"], &reports[1]["public_inputs"]), (&63.into(), &3.into()));
    assert_eq!(
        (&reports[2]["rows"], &reports[2]["public_inputs"], &reports[3]["values"]),
        (&60.into(), &3.into(), &64.into())
    );
    // The digest is what `prove` wants.
    succeeds(&case.prove(&["--digest", reports[0]["blake2b"].as_str().unwrap()]));

    let output = case.run(&[&["info"], &files[..]].concat());
    succeeds(&output);
    assert!(stdout(&output).contains("k.params: parameters (bellman)\n"), "{}", stdout(&output));
    // Nothing of the witness.
    let secret = num_bigint::BigUint::from_bytes_le(&case.witness[30].to_le_bytes()).to_string();
    assert!(secret.len() == 1 || !stdout(&output).contains(&secret));

    // A public input that no row binds.
    let mut key = case.read("k.params");
    key[868 + 2 * 96..868 + 3 * 96].copy_from_slice(&Affine::<groth16::math::fp::Fp>::INFINITY.to_uncompressed());
    case.write("unbound.params", &key);
    let output = case.run(&["info", "unbound.params"]);
    succeeds(&output);
    let wanted = "WARNING: section ic, point 2 is at infinity: a proof does not bind public input 2\n";
    assert!(stdout(&output).contains(wanted), "{}", stdout(&output));

    // One that is nothing fails, the others are told.
    case.write("noise", &[7; 5000]);
    let output = case.run(&["info", "noise", "c.r1cs"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("groth16: noise: not a file that this command knows"), "{}", stderr(&output));
    assert!(stdout(&output).contains("c.r1cs: circuit"));
}

#[test]
fn bench_reports_and_saves() {
    let case = Case::new();
    let output = case.run(&["bench", "--rows", "2^7", "--jobs", "3", "--threads", "2", "--json", "--save", "saved"]);
    succeeds(&output);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["jobs"], &report["domain"], &report["threads"]), (&3.into(), &128.into(), &2.into()));
    assert!(report["proofs_per_second"].as_f64().unwrap() > 0.0);
    for stage in ["prepare", "g2", "device", "finish"] {
        assert!(report["stage_median_seconds"][stage].as_f64().unwrap() > 0.0, "{stage}");
    }
    let key = case.path("saved/k.params");
    let circuit = case.path("saved/circuit.r1cs");
    let arguments = [OsStr::new("setup"), OsStr::new("--circuit"), circuit.as_ref(), OsStr::new("--out"), key.as_ref()];
    succeeds(&case.run(&arguments));
    let fixed =
        ["prove", "--key", "saved/k.params", "--circuit", "saved/circuit.r1cs", "--witness", "saved/witness.wtns"];
    succeeds(&case.run(&[&fixed[..], &["--proof", "p"]].concat()));
    is_valid(&case.verify("saved/k.params", "saved/witness.wtns", "p"));
}

#[test]
fn wrong_loads_are_refused() {
    let case = Case::new();
    for arguments in [
        &["--waiting", "5", "--rate", "1"][..],
        &["--poisson", "1"],
        &["--window", "1..2"],
        &["--svg", "x", "--window", "2..1"],
        &["--svg", "x", "--window", "2"],
        &["--kernels", "-1"],
        &["--g2", "nan"],
        &["--prepare", "inf"],
        &["--rate", "0"],
        &["--faults", "1001"],
        &["--devices", "0"],
        &["--jobs", "0"],
        &["--mode", "other"],
        &["--key", "k.params"],
        &["--rows", "64", "--key", "k.params", "--circuit", "c.r1cs", "--witness", "w.wtns"],
    ] {
        let output = case.run(&[&["bench", "pipeline"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && stderr(&output).contains("--help"), "{arguments:?}\n{}", stderr(&output));
    }
    let mixed = case.run(&["bench", "--rows", "64", "pipeline"]);
    assert!(mixed.status.code() == Some(2) && stderr(&mixed).contains("cannot be used with"), "{}", stderr(&mixed));
    fails(&case.run(&["bench", "pipeline", "--svg", "-"]), 2, "--svg: the result goes to stdout");
    fails(&case.run(&["bench", "pipeline", "--trace", "no/such/folder"]), 2, "no/such/folder");
}

#[test]
fn a_scripted_load_is_told_in_figures_picture_and_trace() {
    let case = Case::new();
    let outputs = ["--svg", "t.svg", "--trace", "t.json"];
    let output = case.run(&[&["bench", "pipeline"][..], &outputs].concat());
    succeeds(&output);
    let text = stdout(&output);
    assert!(text.starts_with("split: 100 jobs, 20 always waiting; 1 device, 2 slots each, 1 G2 lane\n"), "{text}");
    let ratio = text.lines().last().unwrap().strip_prefix("RATIO pipeline_split_vs_monolithic ").unwrap();
    assert!(ratio.parse::<f64>().unwrap() >= 1.9, "{text}");
    let svg = String::from_utf8(case.read("t.svg")).unwrap();
    let picture = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = picture.descendants().filter_map(|node| node.text()).collect();
    assert!(texts.iter().any(|text| text.starts_with("monolithic: kernels busy 50.")), "{texts:?}");
    let trace: Value = serde_json::from_slice(&case.read("t.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    for (pid, name) in [(1, "split"), (2, "monolithic")] {
        let kernels = events.iter().filter(|e| e["pid"] == pid && e["cat"] == "device");
        assert_eq!(kernels.count(), 100);
        let process = events.iter().find(|e| e["pid"] == pid && e["name"] == "process_name").unwrap();
        assert_eq!(process["args"]["name"], name);
    }

    let json = |more: &[&str]| -> Value {
        let output = case.run(&[&["bench", "pipeline", "--json"], more].concat());
        succeeds(&output);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let report = json(&[]);
    let split = &report["split"];
    assert!(split["kernels"]["utilisation"].as_f64().unwrap() >= 0.99, "{split:#}");
    assert_eq!((&split["jobs"]["done"], &report["load"]["waiting"]), (&100.into(), &20.into()));
    assert!(report["split_vs_monolithic"].as_f64().unwrap() >= 1.9);
    // More G2 lanes than needed: the device decides; fewer: G2 does.
    let rate = |more: &[&str]| {
        let report = json(&[&["--mode", "split", "--jobs", "400"], more].concat());
        assert!(report["monolithic"].is_null());
        report["split"]["proofs_per_second"].as_f64().unwrap()
    };
    assert!((rate(&["--g2", "7", "--g2-lanes", "4"]) - 1.0 / 1.8).abs() < 0.006);
    assert!((rate(&["--g2", "7", "--g2-lanes", "2"]) - 2.0 / 7.0).abs() < 0.003);
    // Open loads come at their rate, and equal seeds give equal runs.
    assert!((rate(&["--rate", "0.25"]) - 0.25).abs() < 0.003);
    let random = ["--rate", "0.25", "--poisson", "5", "--faults", "50"];
    assert_eq!(json(&random), json(&random));
    assert_ne!(json(&random)["split"], json(&["--rate", "0.25", "--poisson", "6", "--faults", "50"])["split"]);
    assert!(json(&random)["split"]["jobs"]["retries"].as_u64().unwrap() > 0);
}

#[test]
fn the_cpu_runs_a_load_too() {
    let case = Case::new();
    let fixed = ["bench", "pipeline", "--device", "cpu", "--threads", "1", "--jobs", "5", "--json"];
    let files = ["--key", "k.params", "--circuit", "c.r1cs", "--witness", "w.wtns"];
    for more in [&["--rows", "2^7", "--waiting", "2"][..], &files, &["--rows", "64", "--rate", "100"]] {
        let output = case.run(&[&fixed[..], more].concat());
        succeeds(&output);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        for mode in ["split", "monolithic"] {
            let report = &report[mode];
            assert_eq!((&report["jobs"]["done"], &report["stage_seconds"]["g2"]["count"]), (&5.into(), &5.into()));
            assert!(report["peak_bytes"]["host"].as_u64().unwrap() > 0);
        }
        assert!(report["split_vs_monolithic"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn a_reader_that_has_gone_is_no_crash() {
    let case = Case::new();
    let closed = |arguments: &[&str]| {
        let mut child =
            command(case.directory.path(), arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        child.wait_with_output().unwrap()
    };
    for arguments in [&["info", "k.params"][..], &["--help"], &["bench", "--rows", "64", "--jobs", "1"]] {
        let output = closed(arguments);
        assert!(output.stderr.is_empty() && output.status.code() == Some(0), "{arguments:?} {}", stderr(&output));
    }
    // A proof that nobody got is not made.
    let output = closed(&["prove", "--key", "k.params", "--circuit", "c.r1cs", "--witness", "w.wtns"]);
    fails(&output, 2, "stdout: Broken pipe");
    // Nor is an answer that cannot be written.
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(case.directory.path(), &["info", "k.params"]).stdout(full).output().unwrap();
    fails(&output, 2, "stdout: No space left on device");
}

#[test]
fn standard_input_and_pages() {
    let case = Case::new();
    let proof = case.prove(&["--public", "public.json"]).stdout;
    let mut child =
        command(case.directory.path(), &["verify", "--key", "k.params", "--public", "public.json", "--proof", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    child.stdin.take().unwrap().write_all(&proof).unwrap();
    is_valid(&child.wait_with_output().unwrap());

    succeeds(&case.run(&["man", "pages"]));
    let page = String::from_utf8(case.read("pages/groth16-prove.1")).unwrap();
    assert!(page.contains("Make a proof") && !page.contains("blinding"), "{page}");
    let page = String::from_utf8(case.read("pages/groth16-bench-pipeline.1")).unwrap();
    assert!(page.contains("virtual time") && page.contains("\n  groth16 bench pipeline"), "{page}");
    assert!(case.path("pages/groth16.1").exists() && !case.path("pages/groth16-man.1").exists());
}
