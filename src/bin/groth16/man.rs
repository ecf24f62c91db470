//! `groth16 man`: the man pages, from the same texts as the help.

use std::path::Path;

use clap::CommandFactory;
use groth16::error::Result;

use crate::args::Arguments;
use crate::output::io_error;

pub fn run(directory: &Path) -> Result<u8> {
    let failed = |error: std::io::Error| io_error(directory.display(), &error);
    std::fs::create_dir_all(directory).map_err(failed)?;
    let command = Arguments::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, directory).map_err(failed)?;
    Ok(0)
}
