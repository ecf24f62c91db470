//! `recorder`: writes fixtures of real circuits and verifies proofs of them.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};
use recorder::fixtures::{Contents, record};
use recorder::verify::filter;

/// Fixtures of the Sapling circuits, and an independent verifier for proofs of them.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write keys, circuits, random valid witnesses and expected proofs; a complete directory is left alone.
    Record {
        /// Directory to write to
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Number of Spend witnesses
        #[arg(long, default_value_t = 8)]
        spends: u64,
        /// Number of Output witnesses
        #[arg(long, default_value_t = 8)]
        outputs: u64,
        /// Seed of all randomness: the same one gives the same files
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Copy standard input and check each line `proof KIND INDEX HEX REST`; fails if one is wrong or none came.
    Verify {
        /// Directory that `record` wrote
        #[arg(long, value_name = "DIR")]
        fixtures: PathBuf,
    },
}

#[expect(clippy::print_stderr, reason = "a program for the command line")]
fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Record { out, spends, outputs, seed } => {
            let start = Instant::now();
            record(&out, &Contents { seed, spends, outputs }).map(|written| {
                let seconds = start.elapsed().as_secs_f64();
                let what = if written { format!("recorded in {seconds:.1} s") } else { "already complete".into() };
                eprintln!("{}: fixtures {what}", out.display());
                true
            })
        }
        Command::Verify { fixtures } => {
            // The program at the pipe's other end may have a line of progress on the same terminal: wipe it.
            let prefix = if io::stdout().is_terminal() { "\r\x1b[K" } else { "" };
            filter(&fixtures, prefix, io::stdin().lock(), io::stdout().lock()).map(|tally| tally.is_success())
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("recorder: {error:#}");
            ExitCode::FAILURE
        }
    }
}
