//! The scripted device: the engine's decisions in virtual time.

use groth16::error::{Error, Result, Status};

use super::Measured;
use super::load::{Load, Mode};

/// Runs the load.
pub fn run(load: &Load, mode: Mode) -> Result<Measured> {
    let _ = (load, mode);
    Err(Error::new(Status::Unsupported, "--device scripted: not supported yet"))
}
