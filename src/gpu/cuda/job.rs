//! What a job brings into a device's memory.

use super::context::Stream;
use super::memory::{Arena, DeviceVec};
use super::staging::Staging;
use crate::error::{Error, Result};
use crate::gpu::ops::{JobData, KeyShape, QueryScalars};
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
    /// Scratch of the quotient, as long as the domain.
    pub u: DeviceVec<Fr>,
    pub queries: [DeviceQuery; 3],
}

impl JobVectors {
    /// Zeros for the rows that are not there. Not by the upload: a fill needs multiprocessors, which kernels of another job hold.
    pub fn pad(&self, stream: &Stream) -> Result<()> {
        for vector in [self.a, self.b] {
            vector.part(self.rows, vector.len().saturating_sub(self.rows))?.fill(0, stream)?;
        }
        Ok(())
    }
}

/// Bytes that any job of this shape takes at most: rows, scratch, and scalars of which none is zero or one.
pub(super) fn most_bytes(shape: &KeyShape) -> u64 {
    let query = |points: usize| 2 * Arena::bytes_for::<u32>(points) + Arena::bytes_for::<Scalar>(points);
    3 * Arena::bytes_for::<Fr>(shape.domain_size()) + shape.queries.iter().map(|points| query(*points)).sum::<u64>()
}

/// Brings a job there, in the stream's order. Returns when the data was read.
pub(super) fn upload(
    arena: &mut Arena,
    shape: &KeyShape,
    data: &JobData<'_>,
    staging: &mut Staging,
    stream: &Stream,
) -> Result<JobVectors> {
    let mut rows = |values: &[Fr]| -> Result<DeviceVec<Fr>> {
        let vector = arena.take(shape.domain_size())?;
        if data.is_pinned {
            // SAFETY: the upload is waited for before its data is given back.
            unsafe { vector.part(0, values.len())?.upload(values, stream) }?;
        } else {
            staging.upload(&vector, values, stream)?;
        }
        Ok(vector)
    };
    let (a, b) = (rows(data.a)?, rows(data.b)?);
    let u = arena.take(shape.domain_size())?;
    let [l_query, a_query, b_query] = data.queries;
    let mut query = |scalars: &QueryScalars| -> Result<DeviceQuery> {
        Ok(DeviceQuery {
            ones: staging.bring(arena, &scalars.ones, stream)?,
            picks: staging.bring(arena, &scalars.picks, stream)?,
            scalars: staging.bring(arena, &scalars.scalars, stream)?,
        })
    };
    let rows = data.a.len();
    if data.b.len() != rows {
        return Err(Error::internal(format!("{rows} rows of a and {} of b", data.b.len())));
    }
    Ok(JobVectors { a, b, rows, u, queries: [query(l_query)?, query(a_query)?, query(b_query)?] })
}
