//! What stands for GPUs in a build without CUDA: there are none, so nothing here can be called.

use std::sync::Arc;

use super::no_such_gpu;
use super::ops::{KeyPoints, KeyShape, QueryScalars, Sums, Upload};
use crate::error::Result;
use crate::math::fr::Scalar;
use crate::math::g1::G1Affine;
use crate::math::g2::G2Affine;

/// A GPU.
#[derive(Debug)]
pub enum Gpu {}

/// A job in the memory of a GPU.
#[derive(Debug)]
pub enum Uploaded {}

/// Page-locked memory.
#[derive(Debug)]
pub enum PinnedMemory {}

#[allow(missing_docs)]
impl PinnedMemory {
    pub fn values<T>(&self, _count: usize) -> &[T] {
        match *self {}
    }

    pub fn values_mut<T>(&mut self, _count: usize) -> &mut [T] {
        match *self {}
    }

    pub fn wipe(&mut self, _bytes: usize) {
        match *self {}
    }
}

/// Keeps host memory page-locked.
#[derive(Debug)]
pub enum PageLock {}

#[allow(missing_docs)]
impl PageLock {
    pub fn holds(&self) -> bool {
        match *self {}
    }
}

/// The compute lane of a GPU.
#[derive(Debug)]
pub enum Worker {}

#[allow(missing_docs)]
impl Gpu {
    pub fn new(uuid: &str, _limit: u64) -> Result<Arc<Self>> {
        Err(no_such_gpu(uuid))
    }

    pub fn name(&self) -> &str {
        match *self {}
    }

    pub fn limit(&self) -> u64 {
        match *self {}
    }

    pub fn job_limit(&self) -> u64 {
        match *self {}
    }

    pub fn key_bytes(_shape: &KeyShape, _with_b2: bool) -> u64 {
        0
    }

    pub fn job_bytes(_shape: &KeyShape) -> u64 {
        0
    }

    pub fn upload(&self, _upload: &Upload<'_>) -> Result<Uploaded> {
        match *self {}
    }

    pub fn multiples_g1(&self, _scalars: &[Scalar]) -> Result<Vec<G1Affine>> {
        match *self {}
    }

    pub fn multiples_g2(&self, _scalars: &[Scalar]) -> Result<Vec<G2Affine>> {
        match *self {}
    }

    pub fn pinned(&self, _bytes: usize) -> Result<PinnedMemory> {
        match *self {}
    }

    /// # Safety
    /// There is no GPU to call it of.
    pub unsafe fn lock_pages(&self, _start: std::ptr::NonNull<u8>, _bytes: usize) -> Result<PageLock> {
        match *self {}
    }

    pub fn close(&self) {
        match *self {}
    }

    pub fn evict(&self, _key: u64) {
        match *self {}
    }
}

#[allow(missing_docs)]
impl Worker {
    pub fn new(gpu: Arc<Gpu>) -> Self {
        match *gpu {}
    }

    pub fn retire(&mut self) {
        match *self {}
    }

    pub fn reset(&mut self) -> Result<()> {
        match *self {}
    }

    pub fn run(
        &mut self,
        _job: Uploaded,
        _points: &KeyPoints<'_>,
        _queries: [&QueryScalars; 3],
        _stopped: impl Fn() -> bool,
    ) -> Result<Sums> {
        match *self {}
    }
}
