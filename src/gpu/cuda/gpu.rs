//! One GPU as the engine uses it: keys and jobs come into its memory on a copy stream, one job at a time computes on another.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;

use super::context::{Context, Stream};
use super::device::{DeviceInfo, find};
use super::fixed_base;
use super::job::{self, JobVectors};
use super::key::DeviceKey;
use super::launch::Symbol;
use super::memory::{Arena, PinnedMemory};
use super::module::{Kernel, Module};
use super::msm::MsmKernels;
use super::page_lock::PageLock;
use super::staging::Staging;
use super::transforms::DeviceDomain;
use crate::error::{Error, Result, Status};
use crate::gpu::ops::{KeyId, KeyShape, Upload};
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::fr::Scalar;
use crate::math::g1::G1Affine;
use crate::math::g2::G2Affine;
use crate::sync::Mutex;

/// A GPU. What is in its memory is lost with a `reset`.
pub struct Gpu {
    info: DeviceInfo,
    /// Memory that keys and jobs may take, and what the workspace of the kernels may, in bytes.
    job_limit: u64,
    workspace_limit: u64,
    /// Gone when the GPU was closed.
    loaded: Mutex<Option<Arc<Loaded>>>,
}

/// All that belongs to one context.
pub(super) struct Loaded {
    pub context: Arc<Context>,
    pub msm: MsmKernels,
    /// Montgomery form to canonical form.
    pub canonical: Kernel,
    /// A host's scalars to elements.
    pub read_scalars: Kernel,
    pub module: Arc<Module>,
    copy: Stream,
    /// Taken by an upload while it runs: one at a time.
    staging: Mutex<Option<Staging>>,
    keys: Mutex<BTreeMap<KeyId, Arc<DeviceKey>>>,
    domains: Mutex<Vec<Arc<DeviceDomain>>>,
    /// Arenas of jobs that ended, for others of the same size.
    arenas: Mutex<Vec<Arena>>,
}

/// A job in the memory of a GPU, with all that its kernels need; that memory is wiped and given back when this is dropped.
pub struct Uploaded {
    pub(super) loaded: Arc<Loaded>,
    pub(super) shape: KeyShape,
    pub(super) vectors: JobVectors,
    pub(super) domain: Arc<DeviceDomain>,
    /// `None`: its points are streamed.
    pub(super) key: Option<Arc<DeviceKey>>,
    pub(super) with_b2: bool,
    arena: Option<Arena>,
}

/// Arenas that are kept beside those in use.
const KEPT_ARENAS: usize = 2;
/// Bit 31 of a point's number is its sign.
const MOST_POINTS: usize = 1 << 31;

impl Gpu {
    /// The GPU with this UUID and its kernels. It may take `limit` bytes of its memory; 0: nine tenths of what is free now.
    /// `NoDevice` where it is not there, `Unsupported` where driver or device is not served.
    pub fn new(uuid: &str, limit: u64) -> Result<Arc<Self>> {
        let info = find(uuid)?;
        let loaded = Loaded::new(&info)?;
        let (free, total) = loaded.context.memory()?;
        let limit = if limit > 0 { limit.min(total) } else { free / 10 * 9 };
        Ok(Self::of(info, loaded, limit - limit / 4, limit / 4))
    }

    /// The same with limits for keys and jobs, and for the workspace.
    pub fn with_limits(uuid: &str, job_limit: u64, workspace_limit: u64) -> Result<Arc<Self>> {
        let info = find(uuid)?;
        let loaded = Loaded::new(&info)?;
        Ok(Self::of(info, loaded, job_limit, workspace_limit))
    }

    fn of(info: DeviceInfo, loaded: Loaded, job_limit: u64, workspace_limit: u64) -> Arc<Self> {
        // A limit of 0 would be none.
        let (job_limit, loaded) = (job_limit.max(1), Mutex::new(Some(Arc::new(loaded))));
        Arc::new(Self { info, job_limit, workspace_limit, loaded })
    }

    /// Such as "NVIDIA H200".
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// Memory that everything may take, in bytes.
    pub fn limit(&self) -> u64 {
        self.job_limit.saturating_add(self.workspace_limit)
    }

    /// Memory that keys and jobs may take, in bytes.
    pub fn job_limit(&self) -> u64 {
        self.job_limit
    }

    /// Memory that the workspace of the kernels may take, in bytes.
    pub fn workspace_limit(&self) -> u64 {
        self.workspace_limit
    }

    /// What a key of this shape takes where it is resident, in bytes.
    pub fn key_bytes(shape: &KeyShape, with_b2: bool) -> u64 {
        DeviceKey::bytes(shape, with_b2)
    }

    /// What a job takes besides its key and the workspace, in bytes.
    pub fn job_bytes(shape: &KeyShape) -> u64 {
        job::most_bytes(shape)
    }

    pub(super) fn loaded(&self) -> Result<Arc<Loaded>> {
        self.loaded.lock().clone().ok_or_else(|| Error::internal(format!("{} was closed", self.info.uuid)))
    }

    /// Gives its memory and its context back, whoever still holds this value. No job may be on it.
    pub fn close(&self) {
        let gone = self.loaded.lock().take();
        drop(gone);
    }

    /// Brings a job there, and its key where it is to stay and does not yet. Where the key finds no room it is streamed.
    /// `DeviceMemory` where the job finds none.
    pub fn upload(&self, upload: &Upload<'_>) -> Result<Uploaded> {
        self.loaded()?
            .upload(upload)
            .map_err(|error| error.of_device().at(format!("{} ({})", self.info.name, self.info.uuid)))
    }

    /// Page-locked memory that every GPU reads directly, of `bytes` bytes, not none.
    pub fn pinned(&self, bytes: usize) -> Result<PinnedMemory> {
        PinnedMemory::new(&self.loaded()?.context, bytes)
    }

    /// Page-locks memory of the host for every GPU, until the answer is dropped or this GPU's context ends.
    ///
    /// # Safety
    /// `bytes` bytes, not none, are mapped there until the answer is dropped.
    pub unsafe fn lock_pages(&self, start: NonNull<u8>, bytes: usize) -> Result<PageLock> {
        // SAFETY: by this function's contract.
        unsafe { PageLock::new(&self.loaded()?.context, start, bytes) }
    }

    /// The generator of the first group times each scalar, canonical.
    pub fn multiples_g1(&self, scalars: &[Scalar]) -> Result<Vec<G1Affine>> {
        fixed_base::multiples::<Fp>(&*self.loaded()?, scalars)
    }

    /// The generator of the second group times each scalar.
    pub fn multiples_g2(&self, scalars: &[Scalar]) -> Result<Vec<G2Affine>> {
        fixed_base::multiples::<Fp2>(&*self.loaded()?, scalars)
    }

    /// Drops a key; jobs that use it keep it until they end.
    pub fn evict(&self, key: KeyId) {
        let Ok(loaded) = self.loaded() else { return };
        // Dropped after the lock: the driver may wait for kernels.
        let gone = loaded.keys.lock().remove(&key);
        drop(gone);
    }

    /// Gives it a new context. `Device` where none helps, since the driver has given the device up for this process.
    pub fn reset(&self) -> Result<()> {
        if self.loaded()?.context.is_lost() {
            return Err(Error::new(Status::Device, format!("{} is lost to this process", self.info.uuid)));
        }
        // First what lies there: a new context needs memory, too.
        let old = self.loaded.lock().take();
        drop(old);
        let fresh = Arc::new(Loaded::new(&self.info)?);
        *self.loaded.lock() = Some(fresh);
        Ok(())
    }
}

impl Loaded {
    fn new(info: &DeviceInfo) -> Result<Self> {
        let context = Context::new(info)?;
        let module = Module::new(&context)?;
        Ok(Self {
            msm: MsmKernels::new(&module, info.compute, info.multiprocessors)?,
            canonical: module.kernel(Symbol { file: "split", name: "g16_to_canonical" })?,
            read_scalars: module.kernel(Symbol { file: "split", name: "g16_read_scalars" })?,
            copy: Stream::urgent(&context)?,
            staging: Mutex::new(None),
            keys: Mutex::new(BTreeMap::new()),
            domains: Mutex::new(Vec::new()),
            arenas: Mutex::new(Vec::new()),
            module,
            context,
        })
    }

    fn upload(self: &Arc<Self>, upload: &Upload<'_>) -> Result<Uploaded> {
        let kept = self.staging.lock().take();
        let mut staging = kept.map_or_else(|| Staging::new(&self.context), Ok)?;
        let result = self.upload_through(upload, &mut staging);
        // Also after an error the device may still read what was staged.
        self.copy.synchronize().and_then(|()| staging.wipe())?;
        *self.staging.lock() = Some(staging);
        result
    }

    fn upload_through(self: &Arc<Self>, upload: &Upload<'_>, staging: &mut Staging) -> Result<Uploaded> {
        let Upload { shape, data, with_b2, .. } = *upload;
        if let Some(points) = shape.queries.iter().find(|points| **points > MOST_POINTS) {
            let text = format!("a query of {points} points; the kernels number at most {MOST_POINTS}");
            return Err(Error::new(Status::Unsupported, text));
        }
        let domain = self.with_room(|| self.domain(&shape))?;
        let key = if upload.streamed { None } else { self.key(upload, staging)? };
        let mut arena = self.arena(job::most_bytes(&shape))?;
        let vectors = match job::upload(&mut arena, &shape, &data, staging, &self.copy) {
            Ok(vectors) => vectors,
            Err(error) => {
                // What came so far is wiped before the memory is given back, which waits for it.
                let _ = arena.wipe(&self.copy);
                return Err(error);
            }
        };
        // Only now: where the upload fails, whoever counts on keys counts this one as not loaded.
        if let Some(key) = &key {
            let old = self.keys.lock().insert(upload.key, Arc::clone(key));
            drop(old);
        }
        Ok(Uploaded { loaded: Arc::clone(self), shape, vectors, domain, key, with_b2, arena: Some(arena) })
    }

    /// The resident key; `None` where there is no room for it.
    fn key(&self, upload: &Upload<'_>, staging: &mut Staging) -> Result<Option<Arc<DeviceKey>>> {
        let there = self.keys.lock().get(&upload.key).cloned();
        if let Some(key) = there.filter(|key| key.has_b2() || !upload.key_with_b2) {
            return Ok(Some(key));
        }
        let load =
            || DeviceKey::load(self, &upload.shape, &upload.points, upload.key_with_b2, &mut *staging, &self.copy);
        match self.with_room(load) {
            Ok(key) => Ok(Some(Arc::new(key))),
            Err(error) if error.status() == Status::DeviceMemory => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn domain(&self, shape: &KeyShape) -> Result<Arc<DeviceDomain>> {
        let is_it = |domain: &Arc<DeviceDomain>| domain.is_of(shape.log_domain, shape.root_generator);
        if let Some(domain) = self.domains.lock().iter().find(|domain| is_it(domain)) {
            return Ok(Arc::clone(domain));
        }
        let domain = DeviceDomain::new(&self.module, &self.copy, shape.log_domain, shape.root_generator)?;
        let domain = Arc::new(domain);
        self.domains.lock().push(Arc::clone(&domain));
        Ok(domain)
    }

    /// An arena of this size, one that was used before if there is one.
    fn arena(&self, bytes: u64) -> Result<Arena> {
        let kept = {
            let mut arenas = self.arenas.lock();
            let index = arenas.iter().position(|arena| arena.bytes() == bytes);
            index.map(|index| arenas.swap_remove(index))
        };
        kept.map_or_else(|| self.with_room(|| Arena::new(&self.context, bytes.max(1))), Ok)
    }

    /// What `allocate` gives; where memory ends, again after what is kept for others is given back: memory of ended jobs, then
    /// tables, then keys that no job uses, which come again when one wants them.
    pub(super) fn with_room<T>(&self, mut allocate: impl FnMut() -> Result<T>) -> Result<T> {
        let give_back: [&dyn Fn() -> bool; 3] = [&|| self.drop_arenas(), &|| self.drop_domains(), &|| self.drop_keys()];
        let mut result = allocate();
        for give_back in give_back {
            match result {
                Err(error) if error.status() == Status::DeviceMemory => {
                    result = if give_back() { allocate() } else { Err(error) };
                }
                other => return other,
            }
        }
        result
    }

    fn drop_arenas(&self) -> bool {
        let gone = std::mem::take(&mut *self.arenas.lock());
        !gone.is_empty()
    }

    fn drop_domains(&self) -> bool {
        let gone: Vec<Arc<DeviceDomain>> = {
            let mut domains = self.domains.lock();
            let (unused, used) = domains.drain(..).partition(|domain| Arc::strong_count(domain) == 1);
            *domains = used;
            unused
        };
        !gone.is_empty()
    }

    fn drop_keys(&self) -> bool {
        let gone: Vec<Arc<DeviceKey>> = {
            let mut keys = self.keys.lock();
            let unused: Vec<KeyId> =
                keys.iter().filter(|(_, key)| Arc::strong_count(key) == 1).map(|(id, _)| *id).collect();
            unused.iter().filter_map(|id| keys.remove(id)).collect()
        };
        !gone.is_empty()
    }
}

impl Uploaded {
    /// Wipes its memory behind what the stream has done with it, which must be waited for before this is dropped.
    pub(super) fn wipe(&mut self, stream: &Stream) -> Result<()> {
        if let Some(arena) = &mut self.arena {
            arena.wipe(stream)?;
        }
        Ok(())
    }
}

impl Drop for Uploaded {
    fn drop(&mut self) {
        let Some(mut arena) = self.arena.take() else { return };
        // The witness was there. Where the device fails, the memory is lost with its context.
        if arena.wipe(&self.loaded.copy).is_err() {
            return;
        }
        arena.clear();
        let gone = {
            let mut arenas = self.loaded.arenas.lock();
            arenas.push(arena);
            if arenas.len() > KEPT_ARENAS { Some(arenas.remove(0)) } else { None }
        };
        drop(gone);
    }
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.info.name, self.info.uuid)
    }
}

impl std::fmt::Debug for Uploaded {
    /// Shows nothing of the job.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Uploaded {:?}", self.shape)
    }
}
