//! What a device does for a proof. The CPU implements it in `host`.

use zeroize::Zeroize;

use crate::error::{Error, Result, Status};
use crate::math::fr::{Fr, Scalar};
use crate::math::g1::{G1, G1Affine};
use crate::math::g2::{G2, G2Affine};
use crate::math::ntt::Domain;

/// The scalars of one query, by what they cost: zeros are left out, ones are summed, the rest is an MSM.
#[derive(Debug, Default)]
pub struct QueryScalars {
    /// Indices of the query's points whose scalar is one.
    pub ones: Vec<u32>,
    /// Indices of the query's points whose scalar is neither zero nor one.
    pub picks: Vec<u32>,
    /// The scalars of `picks`, canonical.
    pub scalars: Vec<Scalar>,
}

impl Drop for QueryScalars {
    /// All of it tells about the witness.
    fn drop(&mut self) {
        self.ones.zeroize();
        self.picks.zeroize();
        self.scalars.zeroize();
    }
}

/// The points of a key, for a device.
#[derive(Clone, Copy, Debug)]
pub struct KeyPoints<'a> {
    /// d - 1 for a domain of d.
    pub h: &'a [G1Affine],
    /// One per auxiliary variable.
    pub l: &'a [G1Affine],
    /// One per variable of the A query.
    pub a: &'a [G1Affine],
    /// One per variable of the B query.
    pub b1: &'a [G1Affine],
    /// The same in the second group.
    pub b2: &'a [G2Affine],
}

/// How long a key's sections are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyShape {
    /// log2 of the domain's size.
    pub log_domain: u32,
    /// The base of the domain's root of unity.
    pub root_generator: u64,
    /// Points of the queries L, A and B.
    pub queries: [usize; 3],
}

impl KeyShape {
    /// Elements of the domain.
    pub fn domain_size(&self) -> usize {
        1 << self.log_domain
    }
}

/// What a job brings to a device: the rows' evaluations, and the scalars of the queries L, A and B.
#[derive(Clone, Copy, Debug)]
pub struct JobData<'a> {
    /// At most d rows; those that lack are zero.
    pub rows: JobRows<'a>,
    /// Of the queries L, A and B.
    pub queries: [&'a QueryScalars; 3],
}

/// The rows' evaluations of a job.
#[derive(Clone, Copy, Debug)]
pub enum JobRows<'a> {
    /// Elements that were checked.
    Checked {
        /// A w.
        a: &'a [Fr],
        /// B w, as many.
        b: &'a [Fr],
        /// Whether both are in page-locked memory, so that the device reads them directly.
        is_pinned: bool,
    },
    /// A w, B w and C w, which may be empty, as the host gave them, in page-locked memory. The device checks that they are below
    /// r, and where C w is given that it is their product.
    Lent([RawScalars<'a>; 3]),
}

/// Scalars as a host gives them.
#[derive(Clone, Copy)]
pub struct RawScalars<'a> {
    /// 32 little-endian bytes each.
    pub bytes: &'a [u8],
    /// Whether these are canonical numbers, not Montgomery form.
    pub is_canonical: bool,
}

impl RawScalars<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / size_of::<Scalar>()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Debug for RawScalars<'_> {
    /// Never shows the scalars.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} scalars", self.len())
    }
}

/// What `start` calls the rows' vectors.
pub const ROW_NAMES: [&str; 3] = ["a", "b", "c"];

/// A row whose product is another.
pub fn unsatisfied(row: usize) -> Error {
    Error::new(Status::Unsatisfied, format!("the witness does not satisfy row {row}: a * b is not c there"))
}

/// A scalar of a vector with this name.
pub fn not_below_order(name: &str, index: usize) -> Error {
    Error::invalid(format!("{name}[{index}] is not below the group order r"))
}

/// Names a key; whoever loads keys gives the numbers.
pub type KeyId = u64;

/// How a job is to be brought to a GPU.
#[derive(Clone, Copy, Debug)]
pub struct Upload<'a> {
    /// The key's name.
    pub key: KeyId,
    /// Its sections' lengths.
    pub shape: KeyShape,
    /// Its points.
    pub points: KeyPoints<'a>,
    /// The job's rows and scalars.
    pub data: JobData<'a>,
    /// Whether the key is not to stay there.
    pub streamed: bool,
    /// Whether a key that stays is there with its points in the second group.
    pub key_with_b2: bool,
    /// Whether this job's sum in the second group is computed there, too.
    pub with_b2: bool,
}

/// The sums that a proof's device phase gives.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// `sum h_i H_i`.
    pub h: G1,
    /// Over the queries L, A and B1.
    pub queries: [G1; 3],
    /// Over the query B2, where that was asked for.
    pub b2: Option<G2>,
}

/// One device; it is used by one job at a time.
pub trait Ops: Send {
    /// Coefficients of the quotient, where the device keeps them; wiped when dropped.
    type Quotient;

    /// `h = (a b - c) / (x^d - 1)` for the polynomials with the evaluations `a`, `b` and `c = a b` on `domain`. Rows
    /// beyond the end of `a` and `b`, which have one length of at most d, count as zero. d - 1 coefficients.
    fn quotient(&mut self, domain: &Domain, a: Vec<Fr>, b: Vec<Fr>) -> Result<Self::Quotient>;

    /// `sum h_i points_i`; as many points as coefficients.
    fn msm_quotient(&mut self, points: &[G1Affine], quotient: &Self::Quotient) -> Result<G1>;

    /// The sum over a query's points, each times its scalar.
    fn msm_query(&mut self, points: &[G1Affine], scalars: &QueryScalars) -> Result<G1>;
}
