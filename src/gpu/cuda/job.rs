//! What a job brings into a device's memory.

use super::context::Stream;
use super::memory::{Arena, DeviceVec};
use super::staging::Staging;
use crate::error::{Error, Result};
use crate::gpu::ops::{JobData, JobRows, KeyShape, QueryScalars, RawScalars};
use crate::math::fr::{Fr, Scalar};

/// The scalars of one query.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceQuery {
    pub ones: DeviceVec<u32>,
    pub picks: DeviceVec<u32>,
    pub scalars: DeviceVec<Scalar>,
}

/// The vectors of a job, in an arena that is not theirs.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobVectors {
    /// As long as the domain, but only the first `rows` elements are there.
    pub a: DeviceVec<Fr>,
    pub b: DeviceVec<Fr>,
    pub rows: usize,
    /// Scratch of the quotient, as long as the domain; before that C w, where it was lent.
    pub u: DeviceVec<Fr>,
    /// Where the rows are as the host gave them.
    pub lent: Option<LentRows>,
    pub queries: [DeviceQuery; 3],
}

/// Rows that the device checks.
#[derive(Clone, Copy, Debug)]
pub(super) struct LentRows {
    /// Whether A w, B w and C w are canonical numbers.
    pub is_canonical: [bool; 3],
    /// Whether C w is there.
    pub has_c: bool,
    /// Of each the first index that is not below r, or the largest number.
    pub first_bad: DeviceVec<u32>,
}

impl JobVectors {
    /// The vectors of rows that are there, with the scratch where it holds C w.
    pub fn row_vectors(&self) -> impl Iterator<Item = DeviceVec<Fr>> {
        let has_c = self.lent.is_some_and(|lent| lent.has_c);
        [self.a, self.b].into_iter().chain(has_c.then_some(self.u))
    }

    /// Zeros for the rows that are not there. Not by the upload: a fill needs multiprocessors, which kernels of another job hold.
    pub fn pad(&self, stream: &Stream) -> Result<()> {
        for vector in self.row_vectors() {
            vector.part(self.rows, vector.len().saturating_sub(self.rows))?.fill(0, stream)?;
        }
        Ok(())
    }
}

/// Bytes that any job of this shape takes at most: rows, scratch, and scalars of which none is zero or one.
pub(super) fn most_bytes(shape: &KeyShape) -> u64 {
    let query = |points: usize| 2 * Arena::bytes_for::<u32>(points) + Arena::bytes_for::<Scalar>(points);
    let rows = 3 * Arena::bytes_for::<Fr>(shape.domain_size()) + Arena::bytes_for::<u32>(3);
    rows + shape.queries.iter().map(|points| query(*points)).sum::<u64>()
}

/// Brings a job there, in the stream's order. Returns when the data was read.
pub(super) fn upload(
    arena: &mut Arena,
    shape: &KeyShape,
    data: &JobData<'_>,
    staging: &mut Staging,
    stream: &Stream,
) -> Result<JobVectors> {
    let size = shape.domain_size();
    let [a, b, u] = [arena.take(size)?, arena.take(size)?, arena.take(size)?];
    let (rows, lent) = match data.rows {
        JobRows::Checked { a: left, b: right, is_pinned } => {
            check_rows([left.len(), right.len(), 0], size)?;
            for (vector, values) in [(a, left), (b, right)] {
                if is_pinned {
                    // SAFETY: the upload is waited for before its data is given back.
                    unsafe { vector.part(0, values.len())?.upload(values, stream) }?;
                } else {
                    staging.upload(&vector, values, stream)?;
                }
            }
            (left.len(), None)
        }
        JobRows::Lent(rows) => {
            check_rows(rows.map(|row| row.len()), size)?;
            (rows[0].len(), Some(lend(arena, [a, b, u], rows, stream)?))
        }
    };
    let [l_query, a_query, b_query] = data.queries;
    let mut query = |scalars: &QueryScalars| -> Result<DeviceQuery> {
        Ok(DeviceQuery {
            ones: staging.bring(arena, &scalars.ones, stream)?,
            picks: staging.bring(arena, &scalars.picks, stream)?,
            scalars: staging.bring(arena, &scalars.scalars, stream)?,
        })
    };
    Ok(JobVectors { a, b, rows, u, lent, queries: [query(l_query)?, query(a_query)?, query(b_query)?] })
}

fn check_rows([a, b, c]: [usize; 3], size: usize) -> Result<()> {
    if a != b || (c != 0 && c != a) || a > size {
        return Err(Error::internal(format!("{a} rows of a, {b} of b and {c} of c in a domain of {size}")));
    }
    Ok(())
}

/// Brings rows as they are.
fn lend(arena: &mut Arena, to: [DeviceVec<Fr>; 3], rows: [RawScalars<'_>; 3], stream: &Stream) -> Result<LentRows> {
    for (vector, row) in to.iter().zip(rows) {
        // SAFETY: the upload is waited for before its data is given back.
        unsafe { vector.upload_bytes(row.bytes, stream) }?;
    }
    Ok(LentRows {
        is_canonical: rows.map(|row| row.is_canonical),
        has_c: !rows[2].is_empty(),
        first_bad: arena.take(rows.len())?,
    })
}
