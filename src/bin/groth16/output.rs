//! All that the command prints and writes.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use groth16::error::{Error, Result, Status};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// One line on stderr, whatever is in the text.
pub fn error(text: &str) {
    line(&format!("groth16: {text}"));
}

/// A warning on stderr.
pub fn warning(text: &str) {
    line(&format!("groth16: warning: {text}"));
}

/// What cannot be told on stderr cannot be told at all.
fn line(text: &str) {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = writeln!(io::stderr(), "{text}");
}

/// Text on stdout. A reader that has gone away (`| head`) has read enough; any other failure is an error.
pub fn text(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(io_error("stdout", &error)),
        _ => Ok(()),
    }
}

/// An `Io` error at a place.
pub fn io_error(place: impl std::fmt::Display, error: &io::Error) -> Error {
    Error::new(Status::Io, format!("{place}: {error}"))
}

/// Progress and results on stderr.
pub struct Console {
    quiet: bool,
}

impl Console {
    pub fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// The line of result.
    pub fn result(&self, text: &str) {
        if !self.quiet {
            line(text);
        }
    }

    /// A bar over `total` bytes; seen on a terminal only.
    pub fn bytes(&self, what: &'static str, total: u64) -> ProgressBar {
        self.bar(ProgressBar::new(total), what, "{prefix:<8} [{bar:40}] {bytes}/{total_bytes} {eta}")
    }

    /// A bar over `total` jobs.
    pub fn jobs(&self, what: &'static str, total: u64) -> ProgressBar {
        self.bar(ProgressBar::new(total), what, "{prefix:<8} [{bar:40}] {pos}/{len} {eta}")
    }

    /// A line with a time, for work of unknown length.
    pub fn spinner(&self, what: &'static str) -> ProgressBar {
        let spinner = self.bar(ProgressBar::new_spinner(), what, "{prefix:<8} {spinner} {msg} {elapsed}");
        spinner.enable_steady_tick(Duration::from_millis(100));
        spinner
    }

    fn bar(&self, bar: ProgressBar, what: &'static str, template: &str) -> ProgressBar {
        // Both are hidden by themselves where stderr is no terminal.
        bar.set_draw_target(if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() });
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.with_prefix(what)
    }
}

/// Where a result goes. A file is written beside its place and moved there when it is complete, so that no reader ever
/// sees half of it and one that was there before survives a failure.
pub enum Output {
    Stdout,
    /// Something that cannot be replaced, such as a device or a pipe.
    Special(File, PathBuf),
    File(Pending),
}

/// A file that is not there yet, and the name that it has until it is complete.
pub struct Pending {
    temporary: PathBuf,
    place: PathBuf,
}

/// Removes the temporary file; once that has moved to its place, there is none.
struct Remove<'a>(&'a Path);

impl Drop for Remove<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0);
    }
}

impl Output {
    /// Prepares to write to `path` (`-` is stdout), so that what would fail fails before the work. `Invalid` where it is
    /// one of the files that are read.
    pub fn create(path: &Path, inputs: &[&Path]) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdout);
        }
        // A link stays, what it points to is replaced.
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == place)) {
            return Err(Error::invalid(format!("{}: is read and cannot be written too", path.display())));
        }
        let failed = |error: io::Error| io_error(path.display(), &error);
        if let Ok(metadata) = place.metadata()
            && !metadata.is_file()
        {
            let file = OpenOptions::new().write(true).open(&place).map_err(failed)?;
            return Ok(Self::Special(file, path.to_owned()));
        }
        let name = place.file_name().ok_or_else(|| Error::invalid(format!("{}: is no file name", path.display())))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}", std::process::id()));
        let temporary = place.with_file_name(hidden);
        // Tried, but not left: whoever interrupts long work leaves nothing behind.
        create_new(&temporary).map_err(failed)?;
        drop(Remove(&temporary));
        Ok(Self::File(Pending { temporary, place }))
    }

    /// Whether bytes would go to a terminal.
    pub fn is_terminal(&self) -> bool {
        match self {
            Self::Stdout => io::stdout().is_terminal(),
            Self::Special(file, _) => file.is_terminal(),
            Self::File(_) => false,
        }
    }

    /// Lets `write` write, and puts the file into its place. What was written where, as text.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<String> {
        match self {
            Self::Stdout => {
                let mut out = io::BufWriter::new(io::stdout().lock());
                write(&mut out)?;
                out.flush().map_err(|error| io_error("stdout", &error))?;
                Ok("stdout".into())
            }
            Self::Special(file, path) => {
                let mut out = io::BufWriter::new(file);
                write(&mut out).map_err(|error| error.at(path.display()))?;
                out.flush().map_err(|error| io_error(path.display(), &error))?;
                Ok(path.display().to_string())
            }
            Self::File(pending) => {
                let failed = |error: io::Error| io_error(pending.place.display(), &error);
                let file = create_new(&pending.temporary).map_err(failed)?;
                let _remove = Remove(&pending.temporary);
                let mut out = io::BufWriter::new(file);
                write(&mut out).map_err(|error| error.at(pending.place.display()))?;
                out.flush().map_err(failed)?;
                drop(out);
                let existed = pending.place.exists();
                std::fs::rename(&pending.temporary, &pending.place).map_err(failed)?;
                Ok(format!("{}{}", pending.place.display(), if existed { " (replaced)" } else { "" }))
            }
        }
    }

    /// Writes these bytes.
    pub fn write_bytes(self, bytes: &[u8]) -> Result<String> {
        self.write(|out| out.write_all(bytes).map_err(|error| Error::new(Status::Io, error.to_string())))
    }
}

fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
