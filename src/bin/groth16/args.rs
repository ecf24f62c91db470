//! What the command takes. The texts here are its help and its man pages.

mod pipeline;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use groth16::engine::backend::G2Placement;
use groth16::engine::config::Config;
use groth16::formats::bellman_params::PointChecks;
use zeroize::Zeroizing;

pub use self::pipeline::{Device, Modes, Pipeline, Real};

const STATUS_HELP: &str = "\
Exit status:
  0  done; the proof is valid
  1  no: the proof is INVALID, or the witness does not satisfy the circuit
  2  an error, told on stderr as `groth16: MESSAGE`

Example:
  groth16 setup --circuit c.r1cs --out dev.params
  groth16 prove --key dev.params --circuit c.r1cs --witness w.wtns --proof p.bin --public public.json
  groth16 verify --key dev.params --public public.json --proof p.bin";

/// Groth16 proofs over BLS12-381.
#[derive(Debug, Parser)]
#[command(name = "groth16", version, arg_required_else_help = true, after_help = STATUS_HELP)]
pub struct Arguments {
    /// No progress, no line of result; errors, warnings and verdicts stay
    #[arg(short, long, global = true, display_order = 100)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Prove(Box<Prove>),
    Verify(Verify),
    Info(Info),
    Setup(Setup),
    Bench(Bench),
    /// Write the man pages
    #[command(hide = true)]
    Man {
        /// Where to
        directory: PathBuf,
    },
}

/// Make a proof.
///
/// The proof is verified before it is written. Files are replaced as a whole: one that was there stays
/// until the new one is complete.
#[derive(Args, Debug)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Example:
  groth16 prove --key spend.params --circuit spend.r1cs --witness w.wtns --proof p.bin --public public.json
  groth16 prove --key spend.params --circuit spend.r1cs --witness w.wtns --format json > proof.json"
)]
pub struct Prove {
    /// Proving key: parameters of bellman, Zcash or Filecoin, or a key of gnark
    #[arg(long, value_name = "F.params")]
    pub key: PathBuf,
    /// Verifying key of a key of gnark, which does not hold it
    #[arg(long, value_name = "F.vk")]
    pub vk: Option<PathBuf>,
    /// Circuit: iden3 .r1cs over the BLS12-381 scalar field
    #[arg(long, value_name = "F.r1cs")]
    pub circuit: PathBuf,
    /// Witness: iden3 .wtns
    #[arg(long, value_name = "F.wtns")]
    pub witness: PathBuf,
    /// Where the proof goes; `-` is stdout
    #[arg(long, value_name = "OUT", default_value = "-")]
    pub proof: PathBuf,
    /// Where the public inputs go, as JSON like snarkjs's public.json; `-` is stdout
    #[arg(long, value_name = "OUT")]
    pub public: Option<PathBuf>,
    /// Form of the proof; default: json where OUT ends in .json, else compressed
    #[arg(long, value_enum)]
    pub format: Option<ProofFormat>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub place: Place,
    /// Blinding scalar r, for tests only: a hexadecimal number, highest digit first
    #[arg(long, value_name = "HEX", hide = true, requires = "s", value_parser = hex_scalar)]
    pub r: Option<Zeroizing<[u8; 32]>>,
    /// Blinding scalar s, for tests only
    #[arg(long, value_name = "HEX", hide = true, requires = "r", value_parser = hex_scalar)]
    pub s: Option<Zeroizing<[u8; 32]>>,
    #[command(flatten)]
    pub trust: Trust,
}

/// How far the key's file is trusted.
#[derive(Args, Debug)]
pub struct Trust {
    /// What is checked of every point of the key; less than `subgroup` only for a file that you trust
    #[arg(long, value_enum, default_value = "subgroup")]
    pub check: Check,
    /// BLAKE2b-512 that the key's file must have, 128 hexadecimal digits
    #[arg(long, value_name = "BLAKE2B-HEX", value_parser = hex_digest)]
    pub digest: Option<[u8; 64]>,
}

/// Verify a proof.
///
/// Prints `valid` or `INVALID` and ends with 0 or 1.
#[derive(Args, Debug)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Example:
  groth16 verify --key spend.params --public public.json --proof p.bin && echo welcome"
)]
pub struct Verify {
    /// Parameters, or a verifying key of bellman or gnark
    #[arg(long, value_name = "F")]
    pub key: PathBuf,
    /// Public inputs without the constant one as JSON like snarkjs's public.json (`-` is stdin), or a .wtns
    #[arg(long, value_name = "F")]
    pub public: PathBuf,
    /// The proof, in any form that `prove` writes; `-` is stdin
    #[arg(long, value_name = "F")]
    pub proof: PathBuf,
}

/// Tell what is in files.
///
/// Recognises parameters, keys of gnark, verifying keys, circuits (.r1cs), witnesses (.wtns), proofs and public inputs
/// by their content. Never shows values of a witness.
#[derive(Args, Debug)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Example:
  groth16 info spend.params spend.r1cs
  groth16 info --digest --json spend.params | jq -r '.[0].blake2b'"
)]
pub struct Info {
    /// Files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// BLAKE2b-512 of each file too
    #[arg(long)]
    pub digest: bool,
    /// One JSON array with an object per file
    #[arg(long)]
    pub json: bool,
}

/// Make an INSECURE key for development.
///
/// Whoever runs this could keep the secret numbers behind the key and forge proofs under it. A key that
/// anybody shall trust comes from a multi-party ceremony.
#[derive(Args, Debug)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Example:
  groth16 setup --circuit c.r1cs --out dev.params --vk dev.vk"
)]
pub struct Setup {
    /// Circuit: iden3 .r1cs over the BLS12-381 scalar field
    #[arg(long, value_name = "F.r1cs")]
    pub circuit: PathBuf,
    /// Where the parameters go, in bellman's format; `-` is stdout
    #[arg(long, value_name = "F.params")]
    pub out: PathBuf,
    /// Where the verifying key alone goes too
    #[arg(long, value_name = "F.vk")]
    pub vk: Option<PathBuf>,
    #[command(flatten)]
    pub threads: Threads,
}

/// Measure proofs of a synthetic circuit, or the pipeline under load.
///
/// Half of the witness is zeros and ones, as in real circuits; the key is a development key. Every
/// proof is verified. Jobs overlap as they do in a service, so the phases of one job wait for those of
/// others.
#[derive(Args, Debug)]
#[command(
    verbatim_doc_comment,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "\
Example:
  groth16 bench --rows 2^17 --jobs 10 --threads 8
  groth16 bench pipeline --svg timeline.svg"
)]
pub struct Bench {
    #[command(subcommand)]
    pub what: Option<BenchCommand>,
    /// Rows, the 8 for the inputs included: a number or 2^k
    #[arg(long, value_name = "N|2^K", default_value = "2^14", value_parser = row_count)]
    pub rows: usize,
    /// Proofs that count; one more before them does not
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub jobs: u32,
    /// Jobs in the pipeline at once
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub slots: u8,
    /// The shape of a Filecoin partition instead of a circuit: rows are given, 98 of 100 values are zero or one
    #[arg(long, conflicts_with = "save")]
    pub partition: bool,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub place: Place,
    /// Folder to which the circuit and its witness go too, as circuit.r1cs and witness.wtns
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// The result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    Pipeline(Box<Pipeline>),
}

#[derive(Args, Clone, Copy, Debug)]
pub struct Threads {
    /// Threads of the CPU; default: all cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=Config::MAX_CPU_THREADS as i64))]
    pub threads: Option<u16>,
}

/// What proves.
#[derive(Args, Clone, Copy, Debug)]
pub struct Place {
    /// What proves; auto: all GPUs, or the CPU where there is none
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: BackendChoice,
    #[command(flatten)]
    pub gpus: OnGpus,
}

/// How GPUs prove.
#[derive(Args, Clone, Copy, Debug)]
pub struct OnGpus {
    /// Where the G2 MSM of a proof on a GPU runs; auto: on the CPU unless that is the bottleneck
    #[arg(long = "g2-on", id = "g2_on", value_enum, default_value = "auto")]
    pub g2: G2,
    /// Memory of each GPU that may be taken; default: nine tenths of what is free
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub device_memory: Option<u64>,
}

impl Place {
    /// The CPU.
    pub const CPU: Self = Self { backend: BackendChoice::Cpu, gpus: OnGpus { g2: G2::Auto, device_memory: None } };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BackendChoice {
    Auto,
    Gpu,
    Cpu,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum G2 {
    Auto,
    Cpu,
    Device,
}

impl From<G2> for G2Placement {
    fn from(choice: G2) -> Self {
        match choice {
            G2::Auto => Self::Auto,
            G2::Cpu => Self::Cpu,
            G2::Device => Self::Device,
        }
    }
}

/// How a proof is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProofFormat {
    /// 192 bytes, as Zcash and Filecoin use it
    Compressed,
    /// 384 bytes
    Uncompressed,
    /// snarkjs's JSON
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Check {
    /// On the curve and in the subgroup
    Subgroup,
    /// On the curve
    Curve,
    /// Nothing
    Nothing,
}

impl From<Check> for PointChecks {
    fn from(check: Check) -> Self {
        match check {
            Check::Subgroup => Self::Subgroup,
            Check::Curve => Self::OnCurve,
            Check::Nothing => Self::Nothing,
        }
    }
}

/// Bytes from exactly `2 N` hexadecimal digits.
fn hex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut out = [0; N];
    if digits.len() != 2 * N {
        return None;
    }
    for (byte, pair) in out.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
    }
    Some(out)
}

fn hex_digest(text: &str) -> Result<[u8; 64], String> {
    hex(text).ok_or_else(|| "not 128 hexadecimal digits".into())
}

/// 32 bytes, little-endian.
fn hex_scalar(text: &str) -> Result<Zeroizing<[u8; 32]>, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let padded = Zeroizing::new(format!("{digits:0>64}"));
    let bytes = hex::<32>(&padded).filter(|_| !digits.is_empty());
    let mut bytes = Zeroizing::new(bytes.ok_or("not 1 to 64 hexadecimal digits")?);
    bytes.reverse();
    Ok(bytes)
}

fn row_count(text: &str) -> Result<usize, String> {
    let rows = match text.strip_prefix("2^") {
        Some(exponent) => exponent.parse().ok().and_then(|exponent| 1usize.checked_shl(exponent)),
        None => text.parse().ok(),
    };
    let range = 16..=1 << 27;
    rows.filter(|rows| range.contains(rows)).ok_or_else(|| "not a number of 16 to 2^27, such as 1000 or 2^14".into())
}
