//! Fields, groups, transforms and multi-scalar multiplication of BLS12-381 on the CPU.

pub mod blst_calls;
pub mod curve;
pub mod encoding;
pub mod field;
pub mod fp;
pub mod fp2;
pub mod fr;
pub mod g1;
pub mod g2;
pub mod limbs;
pub mod msm;
pub mod ntt;
pub mod prefetch;
pub mod quotient;
pub mod simd;
pub mod subgroup;

#[cfg(test)]
pub(crate) mod tests;
