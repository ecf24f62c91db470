//! Named constants of every choice, and their checks.

use crate::error::{Error, Result};

/// Where kernels run.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum groth16_backend {
    /// GPUs if there are any, else the CPU.
    GROTH16_BACKEND_AUTO = 0,
    GROTH16_BACKEND_GPU = 1,
    GROTH16_BACKEND_CPU = 2,
}

/// Where the G2 MSM runs.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum groth16_g2_placement {
    GROTH16_G2_AUTO = 0,
    GROTH16_G2_CPU = 1,
    GROTH16_G2_DEVICE = 2,
}

/// How much is logged; 0 is the default, GROTH16_LOG_INFO.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum groth16_log_level {
    GROTH16_LOG_ERROR = 1,
    GROTH16_LOG_WARN = 2,
    GROTH16_LOG_INFO = 3,
    GROTH16_LOG_DEBUG = 4,
    GROTH16_LOG_TRACE = 5,
}

/// The form of a key file.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum groth16_format {
    GROTH16_FORMAT_AUTO = 0,
    /// Parameters of bellman, Zcash and Filecoin.
    GROTH16_FORMAT_BELLMAN = 1,
    GROTH16_FORMAT_ZKEY = 2,
    GROTH16_FORMAT_GNARK = 3,
    GROTH16_FORMAT_ARKWORKS = 4,
}

/// What is checked of a key's points.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum groth16_point_checks {
    /// On the curve and in the subgroup of prime order.
    GROTH16_CHECK_SUBGROUP = 0,
    GROTH16_CHECK_ON_CURVE = 1,
    GROTH16_CHECK_NOTHING = 2,
}

/// How a job's scalars are encoded.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum groth16_scalar_form {
    /// The value itself, below the group order.
    GROTH16_SCALARS_CANONICAL = 0,
    /// The value times 2^256 modulo the group order, as blst_fr.
    GROTH16_SCALARS_MONTGOMERY = 1,
}

/// How a proof is written.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum groth16_proof_format {
    /// A, B, C compressed: 192 bytes, as Zcash and Filecoin use them.
    GROTH16_PROOF_COMPRESSED = 0,
    /// A, B, C uncompressed: 384 bytes.
    GROTH16_PROOF_UNCOMPRESSED = 1,
    /// snarkjs's JSON, no NUL at the end.
    GROTH16_PROOF_JSON = 2,
}

/// `choices[value]`; `Status::Invalid` if there is none.
pub(super) fn choose<T: Copy>(value: impl TryInto<usize>, choices: &[T], name: &str) -> Result<T> {
    let index = value.try_into().ok();
    let choice = index.and_then(|i: usize| choices.get(i).copied());
    choice.ok_or_else(|| Error::invalid(format!("{name} is none of its named constants (0 to {})", choices.len() - 1)))
}
