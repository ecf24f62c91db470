//! Files of proving keys, of whatever format, and what a key needs beside them.

use super::circuit::Circuit;
use super::density::Density;
use super::key::{Densities, ProvingKey, QueryPoints};
use crate::error::{Error, Result};
use crate::formats::bellman_params;
use crate::formats::gnark;
use crate::formats::points::ReadOptions;
use crate::formats::source::Source;
use crate::formats::vk::VerifyingKey;

/// Formats of proving keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFormat {
    /// bellman's parameter files, those of Zcash and Filecoin.
    Bellman,
    /// What gnark's `WriteTo` and `WriteRawTo` write.
    Gnark,
}

impl KeyFormat {
    /// The format of a file by its first bytes; bellman's, which has no header, where it is no other.
    pub fn recognise(source: &Source<'_>) -> Self {
        if gnark::pk::is_one(source) { Self::Gnark } else { Self::Bellman }
    }

    /// Bytes that the points of a key in this file take in memory; reads only counts. `Format` where they do not fit the
    /// file.
    pub fn point_bytes(self, source: &Source<'_>) -> Result<u64> {
        match self {
            Self::Bellman => {
                let sections = bellman_params::sections(source)?;
                Ok(sections.iter().map(|section| section.count * section.point_bytes).sum())
            }
            Self::Gnark => gnark::pk::layout(source).map(|layout| layout.point_bytes()),
        }
    }

    /// Reads a whole file, on the pool of the calling thread, and its BLAKE2b-512 digest where `hash` asks for it; errors
    /// are those of the format's own reader.
    pub fn read(
        self,
        source: &Source<'_>,
        options: &ReadOptions<'_>,
        hash: bool,
    ) -> Result<(KeyFile, Option<[u8; 64]>)> {
        match self {
            Self::Bellman if hash => bellman_params::read_with_digest(source, options)
                .map(|(params, digest)| (KeyFile::Bellman(params), Some(digest))),
            Self::Bellman => bellman_params::read(source, options).map(|params| (KeyFile::Bellman(params), None)),
            Self::Gnark => {
                gnark::pk::read(source, options, hash).map(|(params, digest)| (KeyFile::Gnark(params), digest))
            }
        }
    }
}

/// What a file held.
pub enum KeyFile {
    /// See `KeyFormat::Bellman`.
    Bellman(bellman_params::Params),
    /// See `KeyFormat::Gnark`.
    Gnark(gnark::pk::Params),
}

/// What files lack.
#[derive(Default)]
pub struct Beside<'a> {
    /// The circuit of the key: it gives the densities that bellman's files lack; with other files it is compared.
    pub circuit: Option<&'a Circuit>,
    /// The densities that bellman's files lack, where there is no circuit.
    pub densities: Densities,
    /// The verifying key that gnark's files lack.
    pub vk: Option<VerifyingKey>,
}

impl Beside<'_> {
    /// `Invalid` where something is given that a file of this format has itself.
    pub fn check(&self, format: KeyFormat) -> Result<()> {
        let none = Densities::default();
        let text = match format {
            _ if self.circuit.is_some() && self.densities != none => {
                "densities come from a circuit or from bits, not from both"
            }
            KeyFormat::Bellman if self.vk.is_some() => "a bellman key file holds its verifying key, and one is given",
            KeyFormat::Gnark if self.densities != none => "a gnark key file holds its densities, and others are given",
            _ => return Ok(()),
        };
        Err(Error::invalid(text))
    }
}

impl KeyFile {
    /// The key. `Format` where the file's own counts disagree, `Invalid` where what is given beside it does not fit.
    pub fn into_key(self, beside: Beside<'_>) -> Result<ProvingKey> {
        match (self, beside.circuit) {
            (Self::Bellman(params), Some(circuit)) => ProvingKey::from_bellman_with_circuit(params, circuit),
            (Self::Bellman(params), None) => ProvingKey::from_bellman(params, beside.densities),
            (Self::Gnark(params), circuit) => {
                let key = ProvingKey::from_gnark(params, beside.vk)?;
                circuit.map_or(Ok(()), |circuit| check_gnark_circuit(&key, circuit))?;
                Ok(key)
            }
        }
    }
}

/// gnark leaves out the points of variables that are in no row of a matrix, so the key tells more of its circuit than
/// counts do.
fn check_gnark_circuit(key: &ProvingKey, circuit: &Circuit) -> Result<()> {
    key.check_circuit(circuit)?;
    let densities = circuit.densities();
    let none = || Density::none(0);
    let b = Density::concat(&densities.b_inputs.unwrap_or_else(none), &densities.b_aux.unwrap_or_else(none));
    if *key.b1.density != b {
        let text = "the key is for another circuit: other variables have a coefficient in the matrix B";
        return Err(Error::invalid(text));
    }
    Ok(())
}

impl From<KeyFile> for QueryPoints {
    fn from(file: KeyFile) -> Self {
        match file {
            KeyFile::Bellman(params) => params.into(),
            KeyFile::Gnark(params) => params.into(),
        }
    }
}
