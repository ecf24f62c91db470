//! The command `groth16`: a thin layer over the library. It prints through `output` alone, which survives a reader that
//! has gone, and ends with 0 (done), 1 (the answer is no) or 2 (an error).

mod args;
mod bench;
mod files;
mod info;
mod man;
mod output;
mod pipeline;
mod prove;
mod setup;
mod verify;
mod work;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;
use groth16::error::Status;

use args::{Arguments, BenchCommand, Command};

/// The answer is no: the proof is not valid, the witness does not satisfy the circuit.
const NO: u8 = 1;
/// Usage or any other failure.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    // A bug is reported as every other error is: in one line.
    std::panic::set_hook(Box::new(|_| {}));
    let code = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        output::error(&format!("internal error, please report it: {text}"));
        FAILED
    });
    ExitCode::from(code)
}

fn run() -> u8 {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to stdout with 0, usage to stderr with 2. A reader that has gone is no failure.
            let _ = error.print();
            return if error.use_stderr() { FAILED } else { 0 };
        }
    };
    let console = output::Console::new(arguments.quiet);
    let result = match &arguments.command {
        Command::Prove(options) => prove::run(options, &console),
        Command::Verify(options) => verify::run(options, &console),
        Command::Info(options) => info::run(options),
        Command::Setup(options) => setup::run(options, &console),
        Command::Bench(options) => match &options.what {
            Some(BenchCommand::Pipeline(options)) => pipeline::run(options, &console),
            None => bench::run(options, &console),
        },
        Command::Man { directory } => man::run(directory),
    };
    result.unwrap_or_else(|error| {
        output::error(error.message());
        if error.status() == Status::Unsatisfied { NO } else { FAILED }
    })
}
