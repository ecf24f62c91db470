//! Checks the proofs in a stream of lines with the crate groth16 (zkcrypto), which is what Zcash itself uses.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use bls12_381::Bls12;
use zkcrypto_groth16::{PreparedVerifyingKey, Proof, VerifyingKey, prepare_verifying_key, verify_proof};

use crate::fixtures::{instance_file, kind_file};
use crate::iden3::read_wtns;
use crate::sapling::Kind;

/// How many proofs came, and how many of them were right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Lines that announced a proof.
    pub proofs: usize,
    /// Those whose proof verified.
    pub verified: usize,
}

impl Tally {
    /// At least one proof came and none was wrong.
    pub fn is_success(self) -> bool {
        self.proofs > 0 && self.verified == self.proofs
    }
}

/// Copies lines from `input` to `output`; a line `proof KIND INDEX HEX REST` is replaced by kind, index, rest and the
/// verdict on the proof of 192 bytes for the public inputs in `KIND-INDEX.wtns`. A line of totals ends the output.
/// `prefix` goes in front of every line.
pub fn filter(fixtures: &Path, prefix: &str, input: impl BufRead, mut output: impl Write) -> anyhow::Result<Tally> {
    let mut verifier = Verifier { fixtures: fixtures.to_owned(), keys: HashMap::new() };
    let mut tally = Tally::default();
    for line in input.lines() {
        let line = line?;
        match line.strip_prefix("proof ") {
            Some(announced) => {
                tally.proofs += 1;
                let (text, verdict) = verifier.judge(announced);
                tally.verified += usize::from(verdict.is_ok());
                match verdict {
                    Ok(()) => writeln!(output, "{prefix}{text}  verified")?,
                    Err(reason) => writeln!(output, "{prefix}{text}  WRONG: {reason:#}")?,
                }
            }
            None => writeln!(output, "{prefix}{line}")?,
        }
        output.flush()?;
    }
    writeln!(output, "{prefix}{} of {} proofs verified by groth16 (zkcrypto)", tally.verified, tally.proofs)?;
    output.flush()?;
    Ok(tally)
}

struct Verifier {
    fixtures: PathBuf,
    keys: HashMap<Kind, PreparedVerifyingKey<Bls12>>,
}

impl Verifier {
    /// What to show for the words that follow `proof`, and whether the proof holds.
    fn judge(&mut self, announced: &str) -> (String, anyhow::Result<()>) {
        let mut words = announced.splitn(4, ' ');
        let [kind, index, proof, rest] = std::array::from_fn(|_| words.next().unwrap_or_default());
        (format!("{kind:<6} {index:>3}  {rest}"), self.check(kind, index, proof))
    }

    fn check(&mut self, kind: &str, index: &str, proof: &str) -> anyhow::Result<()> {
        let kind = Kind::from_name(kind).context("no such circuit")?;
        let path = instance_file(&self.fixtures, kind, index.parse().context("no index")?, "wtns");
        let bytes = hex::decode(proof).context("the proof is not hexadecimal")?;
        ensure!(bytes.len() == 192, "the proof has {} bytes instead of 192", bytes.len());
        let proof = Proof::read(&bytes[..])?;

        let witness = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let witness = read_wtns(&witness).with_context(|| format!("{}", path.display()))?;
        let (_, num_inputs, _) = kind.shape();
        let public_inputs = witness.get(1..num_inputs).context("the witness is too short")?;
        Ok(verify_proof(self.key(kind)?, &proof, public_inputs)?)
    }

    fn key(&mut self, kind: Kind) -> anyhow::Result<&PreparedVerifyingKey<Bls12>> {
        if !self.keys.contains_key(&kind) {
            let path = kind_file(&self.fixtures, kind, "params");
            // The verifying key is the beginning of the file.
            let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let key = VerifyingKey::read(BufReader::new(file)).with_context(|| format!("{}", path.display()))?;
            self.keys.insert(kind, prepare_verifying_key(&key));
        }
        self.keys.get(&kind).context("the key was not kept")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use crate::fixtures::{Contents, record};

    fn run(dir: &Path, input: &str) -> (Tally, String) {
        let mut output = Vec::new();
        let tally = filter(dir, "", input.as_bytes(), &mut output).unwrap();
        (tally, String::from_utf8(output).unwrap())
    }

    #[test]
    fn right_proofs_pass_and_wrong_ones_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        record(dir, &Contents { seed: 4, spends: 0, outputs: 2 }).unwrap();
        let proof = std::fs::read(dir.join("output-0.proof")).unwrap();
        let line = |index: usize, proof: &[u8]| format!("proof output {index} {} total 3 ms\n", hex::encode(proof));

        let (tally, text) = run(dir, &format!("hello\n{}", line(0, &proof)));
        assert_eq!(text, "hello\noutput   0  total 3 ms  verified\n1 of 1 proofs verified by groth16 (zkcrypto)\n");
        assert!(tally.is_success());

        // Another witness's public inputs, a swapped point, no proof at all, bad words.
        let swapped = [&proof[144..], &proof[48..144], &proof[..48]].concat();
        for wrong in [
            line(1, &proof),
            line(0, &swapped),
            line(0, &proof[..191]),
            line(7, &proof),
            "proof \n".into(),
            "proof output 0 zz\n".into(),
        ] {
            let (tally, text) = run(dir, &(wrong + &line(0, &proof)));
            assert_eq!(tally, Tally { proofs: 2, verified: 1 });
            assert!(!tally.is_success() && text.contains("WRONG"));
        }
        assert!(!run(dir, "nothing\n").0.is_success());
    }
}
