//! A directory of fixtures, as `ffi-tests/README.md` describes it.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use ff::PrimeField;
use indicatif::{ProgressBar, ProgressStyle};

use crate::iden3::{write_r1cs, write_wtns};
use crate::sapling::{Instance, Kind};

/// Written last: a directory with it is complete.
const MANIFEST: &str = "manifest";
/// Counts up whenever the same seed gives other files.
const FORMAT: u64 = 1;

/// What a directory of fixtures holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Seed of all randomness.
    pub seed: u64,
    /// Number of Spend witnesses.
    pub spends: u64,
    /// Number of Output witnesses.
    pub outputs: u64,
}

impl Contents {
    /// The number of witnesses of a kind.
    pub fn count(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Spend => self.spends,
            Kind::Output => self.outputs,
        }
    }

    /// Reads the manifest of a complete directory.
    pub fn read(dir: &Path) -> anyhow::Result<Self> {
        let path = dir.join(MANIFEST);
        let text = fs::read_to_string(&path)
            .with_context(|| format!("{}: no complete fixtures here (run `make fixtures`)", path.display()))?;
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|value| value.parse().ok()).with_context(|| format!("{}: no {name}", path.display()))
        };
        let format: u64 = value("format")?;
        anyhow::ensure!(format == FORMAT, "{}: format {format}, expected {FORMAT}", path.display());
        Ok(Self { seed: value("seed")?, spends: value("spends")?, outputs: value("outputs")? })
    }

    fn write(&self, dir: &Path) -> io::Result<()> {
        let Self { seed, spends, outputs } = self;
        let text = format!("format {FORMAT}\nseed {seed}\nspends {spends}\noutputs {outputs}\n");
        let unfinished = dir.join("manifest.tmp");
        fs::write(&unfinished, text)?;
        fs::rename(unfinished, dir.join(MANIFEST))
    }

    /// Whether a directory that holds `self` has all that `wanted` asks for.
    fn covers(&self, wanted: &Self) -> bool {
        self.seed == wanted.seed && self.spends >= wanted.spends && self.outputs >= wanted.outputs
    }
}

/// `dir/spend.params`, for instance.
pub fn kind_file(dir: &Path, kind: Kind, extension: &str) -> PathBuf {
    dir.join(format!("{kind}.{extension}"))
}

/// `dir/spend-3.wtns`, for instance.
pub fn instance_file(dir: &Path, kind: Kind, index: u64, extension: &str) -> PathBuf {
    dir.join(format!("{kind}-{index}.{extension}"))
}

/// Writes fixtures into `dir`, unless it already has them; shows progress on a terminal. Returns whether it wrote.
pub fn record(dir: &Path, contents: &Contents) -> anyhow::Result<bool> {
    if Contents::read(dir).is_ok_and(|present| present.covers(contents)) {
        return Ok(false);
    }
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    if let Err(error) = fs::remove_file(dir.join(MANIFEST))
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error).context("cannot remove the old manifest");
    }
    let steps: u64 = Kind::ALL.iter().map(|kind| 3 + contents.count(*kind)).sum();
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed} {msg}")?;
    let progress = ProgressBar::new(steps).with_style(style);
    for kind in Kind::ALL {
        record_kind(dir, kind, contents, &progress)?;
    }
    progress.finish_and_clear();
    contents.write(dir)?;
    Ok(true)
}

fn record_kind(dir: &Path, kind: Kind, contents: &Contents, progress: &ProgressBar) -> anyhow::Result<()> {
    progress.set_message(format!("{kind}: key"));
    write_file(&kind_file(dir, kind, "params"), |out| out.write_all(&kind.parameter_bytes()))?;
    progress.inc(1);

    progress.set_message(format!("{kind}: circuit"));
    let r1cs = kind.r1cs()?;
    write_file(&kind_file(dir, kind, "r1cs"), |out| write_r1cs(&r1cs, out))?;
    progress.inc(1);

    for index in 0..contents.count(kind) {
        progress.set_message(format!("{kind}: witness {index}"));
        let witness = Instance::random(kind, contents.seed, index)?.witness()?;
        r1cs.check(&witness).with_context(|| format!("{kind} {index}"))?;
        write_file(&instance_file(dir, kind, index, "wtns"), |out| write_wtns(&witness, out))?;
        progress.inc(1);
    }

    progress.set_message(format!("{kind}: expected proof"));
    if contents.count(kind) > 0 {
        record_proof(dir, &Instance::random(kind, contents.seed, 0)?)?;
    }
    progress.inc(1);
    Ok(())
}

/// r, s and the proof that bellman makes with them, of the first instance of a kind.
fn record_proof(dir: &Path, instance: &Instance) -> anyhow::Result<()> {
    let kind = instance.kind();
    let (r, s) = instance.randomness();
    let proof = instance.prove(&kind.parameters()?, r, s)?;
    write_file(&instance_file(dir, kind, 0, "r"), |out| out.write_all(&r.to_repr()))?;
    write_file(&instance_file(dir, kind, 0, "s"), |out| out.write_all(&s.to_repr()))?;
    write_file(&instance_file(dir, kind, 0, "proof"), |out| out.write_all(&proof))
}

fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> anyhow::Result<()> {
    let result = File::create(path).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        write(&mut out)?;
        out.flush()
    });
    result.with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn a_complete_directory_is_left_alone_and_an_incomplete_one_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let contents = Contents { seed: 9, spends: 0, outputs: 2 };
        assert!(record(dir, &contents).unwrap());
        let first = fs::read(dir.join("output-1.wtns")).unwrap();
        assert!(!record(dir, &Contents { outputs: 1, ..contents }).unwrap());
        fs::remove_file(dir.join(MANIFEST)).unwrap();
        fs::remove_file(dir.join("output-1.wtns")).unwrap();
        assert!(record(dir, &contents).unwrap());
        assert_eq!(fs::read(dir.join("output-1.wtns")).unwrap(), first);
        assert!(record(dir, &Contents { seed: 10, ..contents }).unwrap());
        assert_ne!(fs::read(dir.join("output-1.wtns")).unwrap(), first);
    }
}
