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
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "1") {
            let text = std::fs::read_to_string(&path).map_err(failed)?;
            std::fs::write(&path, keep_lines(&text)).map_err(failed)?;
        }
    }
    Ok(0)
}

/// The text after the help stands in a section EXTRA as running text; its examples must keep their lines.
fn keep_lines(page: &str) -> String {
    let Some((before, extra)) = page.split_once(".SH EXTRA\n") else { return page.to_owned() };
    let (extra, after) = extra.split_at(extra.find(".SH ").unwrap_or(extra.len()));
    format!("{before}.SH EXAMPLES\n.nf\n{extra}.fi\n{after}")
}
