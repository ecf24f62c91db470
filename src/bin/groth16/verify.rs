//! `groth16 verify`.

use groth16::error::Result;
use groth16::formats::source::Source;
use groth16::prover::verify;

use crate::NO;
use crate::args::Verify;
use crate::files::{self, at};
use crate::output::{self, Console};

pub fn run(options: &Verify, console: &Console) -> Result<u8> {
    let proof = at(&options.proof, files::proof(&files::small(&options.proof)?))?;
    let key = at(&options.key, files::verifying_key(&Source::open(&options.key)?))?;
    let inputs = files::public_inputs(&options.public, key.ic.len())?;
    // The inputs are checked whatever the proof is: INVALID is said of a question that makes sense.
    let is_valid = match proof {
        Ok(proof) => at(&options.public, verify::verify(&key, &inputs, &proof))?,
        Err(error) => {
            console.result(&format!("{}: {error}", options.proof.display()));
            false
        }
    };
    output::text(if is_valid { "valid\n" } else { "INVALID\n" })?;
    Ok(if is_valid { 0 } else { NO })
}
