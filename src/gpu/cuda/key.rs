//! The points of a key in a device's memory.

use super::checksum::Checksums;
use super::context::Stream;
use super::gpu::Loaded;
use super::memory::{Arena, DeviceVec};
use super::msm;
use super::staging::Staging;
use super::steps::Section;
use crate::error::Result;
use crate::gpu::ops::{KeyPoints, KeyShape};
use crate::math::g1::G1Affine;
use crate::math::g2::G2Affine;

/// A resident key; its memory is freed with its last owner.
#[derive(Debug)]
pub struct DeviceKey {
    _arena: Arena,
    h: DeviceVec<G1Affine>,
    queries: [DeviceVec<G1Affine>; 3],
    b2: Option<DeviceVec<G2Affine>>,
}

impl DeviceKey {
    /// Bytes that a key of this shape takes, with or without the points in the second group.
    pub fn bytes(shape: &KeyShape, with_b2: bool) -> u64 {
        let g1 = |count: usize| Arena::bytes_for::<G1Affine>(count);
        let b2 = if with_b2 { Arena::bytes_for::<G2Affine>(shape.queries[2]) } else { 0 };
        g1(shape.domain_size()) + shape.queries.iter().map(|count| g1(*count)).sum::<u64>() + b2
    }

    /// Brings the points there, in the stream's order, and compares checksums. `Device` where one is wrong.
    pub(super) fn load(
        loaded: &Loaded,
        shape: &KeyShape,
        points: &KeyPoints<'_>,
        with_b2: bool,
        staging: &mut Staging,
        stream: &Stream,
    ) -> Result<Self> {
        let mut arena = Arena::new(&loaded.context, Self::bytes(shape, with_b2).max(1))?;
        let mut sums = Checksums::new(loaded, Section::ALL.len())?;
        let mut bring = |name, values: &[G1Affine]| -> Result<DeviceVec<G1Affine>> {
            let vector = staging.bring(&mut arena, values, stream)?;
            sums.add(name, &vector, values, stream)?;
            Ok(vector)
        };
        let h = bring("section h of the key", points.h)?;
        let l = bring("section l of the key", points.l)?;
        let queries = [l, bring("section a of the key", points.a)?, bring("section b1 of the key", points.b1)?];
        let b2 = if with_b2 {
            let vector = staging.bring(&mut arena, points.b2, stream)?;
            sums.add("section b2 of the key", &vector, points.b2, stream)?;
            Some(vector)
        } else {
            None
        };
        sums.compare(stream)?;
        Ok(Self { _arena: arena, h, queries, b2 })
    }

    /// Whether it has the points in the second group.
    pub fn has_b2(&self) -> bool {
        self.b2.is_some()
    }

    /// The address of point 0 of a section; `None` for one that is not there.
    pub(super) fn address(&self, section: Section) -> Result<Option<u64>> {
        match (section, section.query()) {
            (Section::B2, _) => self.b2.as_ref().map(|points| msm::address(points, 0)).transpose(),
            (_, Some(query)) => msm::address(&self.queries[query], 0).map(Some),
            (_, None) => msm::address(&self.h, 0).map(Some),
        }
    }
}
