//! `groth16 setup`.

use std::time::Instant;

use groth16::error::{Error, Result};
use groth16::formats::bellman_params;
use groth16::formats::source::Source;
use groth16::prover::setup::{self, Trapdoor};

use crate::args::{Place, Setup};
use crate::files;
use crate::output::{self, Console, Output};

pub fn run(options: &Setup, console: &Console) -> Result<u8> {
    let begin = Instant::now();
    output::warning(
        "this key is INSECURE, for development only: whoever ran this command can forge proofs under it. A key that \
         others shall trust comes from a multi-party ceremony",
    );
    if options.vk.as_ref().is_some_and(|vk| *vk == options.out) {
        return Err(Error::invalid(format!("--out and --vk both write to {}", options.out.display())));
    }
    let inputs = [&*options.circuit];
    let out = Output::create(&options.out, &inputs)?;
    if out.is_terminal() {
        return Err(Error::invalid("the key is binary: give --out FILE"));
    }
    let vk_out = options.vk.as_deref().map(|path| Output::create(path, &inputs)).transpose()?;
    let engine = files::engine(options.threads, Place::CPU, 1, 1)?;
    let spinner = console.spinner("key");
    let source = Source::open(&options.circuit)?;
    let params = engine.install(|| {
        let circuit = files::circuit(&options.circuit, &source)?;
        setup::setup(&circuit, &Trapdoor::random()?).map_err(|error| error.at(options.circuit.display()))
    })?;
    spinner.finish_and_clear();
    let mut text = format!(
        "key for {} public inputs and {} auxiliary variables, domain of {} -> {}",
        params.vk.ic.len() - 1,
        params.l.len(),
        params.h.len() + 1,
        out.write(|out| bellman_params::write(&params, out))?
    );
    if let Some(out) = vk_out {
        text += &format!("; verifying key -> {}", out.write_bytes(&params.vk.to_bytes())?);
    }
    console.result(&format!("{text}; {:.2} s", begin.elapsed().as_secs_f64()));
    Ok(0)
}
