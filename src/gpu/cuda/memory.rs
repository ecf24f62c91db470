//! Memory of a device, and memory of the host that a device reads directly.

use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

use super::context::{Context, Stream};
use super::driver::call;
use crate::error::{Error, Result, Status};
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::fr::Fr;
use crate::math::g1::{G1, G1Affine};
use crate::math::g2::{G2, G2Affine};
use cuda_driver_sys::CUdeviceptr;

/// Every address of the device is usable, and addresses of arenas are multiples of this.
const ALIGNMENT: u64 = 256;
/// Pinned memory that all contexts may use.
const HOST_ALLOC_PORTABLE: u32 = 1;

/// Types whose values may be copied to a device and back as bytes: no padding, no address, every pattern of bits valid.
///
/// # Safety
/// The type is as said.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}
// SAFETY: integers.
unsafe impl Plain for u8 {}
// SAFETY: integers.
unsafe impl Plain for u32 {}
// SAFETY: integers.
unsafe impl Plain for u64 {}
// SAFETY: an array of integers.
unsafe impl Plain for [u64; 4] {}
// SAFETY: an array of integers behind a transparent type. One that is not below the modulus makes results wrong, not unsound.
unsafe impl Plain for Fr {}
// SAFETY: an array of integers behind a transparent type, as above.
unsafe impl Plain for Fp {}
// SAFETY: two of them behind a type of a fixed layout.
unsafe impl Plain for Fp2 {}
// SAFETY: two such arrays behind types of a fixed layout.
unsafe impl Plain for G1Affine {}
// SAFETY: four such arrays.
unsafe impl Plain for G2Affine {}
// SAFETY: three such arrays.
unsafe impl Plain for G1 {}
// SAFETY: six such arrays.
unsafe impl Plain for G2 {}

/// A piece of device memory, freed when dropped.
#[derive(Debug)]
pub struct DeviceMemory {
    address: CUdeviceptr,
    bytes: u64,
    context: Arc<Context>,
}

impl DeviceMemory {
    /// `bytes` bytes, not 0, with arbitrary content. `DeviceMemory` where the device has not so much.
    pub fn new(context: &Arc<Context>, bytes: u64) -> Result<Self> {
        let _entered = context.enter()?;
        let size = usize::try_from(bytes).map_err(|_| Error::internal("more bytes than addresses"))?;
        let mut address = 0;
        // SAFETY: `address` is writable.
        unsafe { call!(cuMemAlloc_v2(&raw mut address, size)) }
            .map_err(|error| error.at(format!("{bytes} bytes on {}", context.info().name)))?;
        Ok(Self { address, bytes, context: Arc::clone(context) })
    }

    /// How many bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: it was allocated in this context, and is freed once. The driver waits for what uses it.
            let _ = unsafe { call!(cuMemFree_v2(self.address)) };
        }
    }
}

/// One allocation from which a job's vectors are cut: allocating takes the driver milliseconds and stalls all streams.
#[derive(Debug)]
pub struct Arena {
    memory: DeviceMemory,
    used: u64,
    /// The most that was taken since the last wipe.
    touched: u64,
}

/// Where a vector lies on the device. It is valid while its arena is there and has not been cleared; who launches kernels
/// with it sees to that.
#[derive(Debug)]
pub struct DeviceVec<T> {
    address: CUdeviceptr,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Clone for DeviceVec<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DeviceVec<T> {}

impl Arena {
    /// An arena of `bytes` bytes.
    pub fn new(context: &Arc<Context>, bytes: u64) -> Result<Self> {
        Ok(Self { memory: DeviceMemory::new(context, bytes)?, used: 0, touched: 0 })
    }

    /// Bytes that `take` needs for `len` elements.
    pub fn bytes_for<T: Plain>(len: usize) -> u64 {
        (len as u64).saturating_mul(size_of::<T>() as u64).div_ceil(ALIGNMENT).saturating_mul(ALIGNMENT)
    }

    /// A vector with arbitrary content; `Internal` where the arena is too small.
    pub fn take<T: Plain>(&mut self, len: usize) -> Result<DeviceVec<T>> {
        let bytes = Self::bytes_for::<T>(len);
        if bytes > self.memory.bytes - self.used {
            let text = format!("{bytes} bytes of an arena wanted, {} of {} taken", self.used, self.memory.bytes);
            return Err(Error::internal(text));
        }
        let address = self.memory.address + self.used;
        self.used += bytes;
        self.touched = self.touched.max(self.used);
        Ok(DeviceVec { address, len, element: PhantomData })
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes
    }

    /// All is free again. No kernel may still use what was taken.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Writes zeros over all that was ever taken since the last time; secrets may have been there.
    pub fn wipe(&mut self, stream: &Stream) -> Result<()> {
        if self.touched == 0 {
            return Ok(());
        }
        let _entered = stream.context.enter()?;
        let size = usize::try_from(self.touched).unwrap_or(usize::MAX);
        // SAFETY: the stretch is the arena's.
        unsafe { call!(cuMemsetD8Async(self.memory.address, 0, size, stream.raw)) }?;
        self.touched = 0;
        Ok(())
    }
}

impl<T: Plain> DeviceVec<T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of an element; the end is one.
    pub(super) fn address_of(&self, index: u64) -> Result<CUdeviceptr> {
        if index > self.len as u64 {
            return Err(Error::internal(format!("element {index} of {} on a device", self.len)));
        }
        Ok(self.address + index * size_of::<T>() as u64)
    }

    /// `len` elements from `start` on, as a vector; `Internal` where they are not there.
    pub fn part(&self, start: usize, len: usize) -> Result<Self> {
        match start.checked_add(len) {
            Some(end) if end <= self.len => {
                Ok(Self { address: self.address_of(start as u64)?, len, element: PhantomData })
            }
            _ => Err(Error::internal(format!("elements from {start} on, {len}, of {} on a device", self.len))),
        }
    }

    /// The same memory for elements of another type, no longer ones.
    pub(super) fn reinterpret<U: Plain>(&self) -> Result<DeviceVec<U>> {
        if size_of::<U>() > size_of::<T>() {
            return Err(Error::internal("a vector on a device seen as one of longer elements"));
        }
        Ok(DeviceVec { address: self.address, len: self.len, element: PhantomData })
    }

    /// Copies bytes to the front, in the stream's order; they are whole elements as the device has them.
    ///
    /// # Safety
    /// Page-locked bytes stay unchanged until the stream has come there.
    pub unsafe fn upload_bytes(&self, bytes: &[u8], stream: &Stream) -> Result<()> {
        if bytes.len() > self.len * size_of::<T>() {
            return Err(Error::internal(format!("{} bytes for {} elements on a device", bytes.len(), self.len)));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let _entered = stream.context.enter()?;
        // SAFETY: the stretch is at least as long as the bytes; the contract keeps them there.
        unsafe { call!(cuMemcpyHtoDAsync_v2(self.address, bytes.as_ptr().cast(), bytes.len(), stream.raw)) }
    }

    /// Copies `values` to the front, in the stream's order, and fills the rest with zero bytes. Returns when `values` may be
    /// changed: at once where they are pinned, and they must stay until the stream was waited for; else when they are copied.
    ///
    /// # Safety
    /// Pinned `values` stay unchanged until the stream has come there.
    pub unsafe fn upload(&self, values: &[T], stream: &Stream) -> Result<()> {
        if values.len() > self.len {
            return Err(Error::internal(format!("{} values for {} elements on a device", values.len(), self.len)));
        }
        let _entered = stream.context.enter()?;
        let bytes = size_of_val(values);
        if bytes > 0 {
            // SAFETY: the stretch is as long as the values; the contract keeps them there.
            unsafe { call!(cuMemcpyHtoDAsync_v2(self.address, values.as_ptr().cast(), bytes, stream.raw)) }?;
        }
        let rest = (self.len - values.len()) * size_of::<T>();
        if rest > 0 {
            // SAFETY: the stretch is the rest of the vector.
            unsafe { call!(cuMemsetD8Async(self.address + bytes as u64, 0, rest, stream.raw)) }?;
        }
        Ok(())
    }

    /// Sets all bytes.
    pub fn fill(&self, byte: u8, stream: &Stream) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let _entered = stream.context.enter()?;
        // SAFETY: the stretch is the vector.
        unsafe { call!(cuMemsetD8Async(self.address, byte, self.len * size_of::<T>(), stream.raw)) }
    }

    /// Copies the first elements back and waits for them.
    pub fn download(&self, out: &mut [T], stream: &Stream) -> Result<()> {
        if out.len() > self.len {
            return Err(Error::internal(format!("{} of {} elements on a device", out.len(), self.len)));
        }
        if !out.is_empty() {
            let _entered = stream.context.enter()?;
            // SAFETY: `out` is as long as what is copied, and borrowed until the copy is waited for below.
            unsafe {
                call!(cuMemcpyDtoHAsync_v2(out.as_mut_ptr().cast(), self.address, size_of_val(out), stream.raw))
            }?;
        }
        stream.synchronize()
    }
}

/// Page-locked memory of the host: copies to and from it run at the full rate of the bus, beside kernels. Wiped and freed
/// when dropped.
#[derive(Debug)]
pub struct PinnedMemory {
    start: NonNull<u8>,
    bytes: usize,
    context: Arc<Context>,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for PinnedMemory {}
// SAFETY: shared use only reads.
unsafe impl Sync for PinnedMemory {}

impl PinnedMemory {
    /// `bytes` zero bytes, not none. `NoMemory` where the system has not so much.
    pub fn new(context: &Arc<Context>, bytes: usize) -> Result<Self> {
        let _entered = context.enter()?;
        let mut raw = null_mut();
        // SAFETY: `raw` is writable.
        unsafe { call!(cuMemHostAlloc(&raw mut raw, bytes, HOST_ALLOC_PORTABLE)) }.map_err(|error| {
            // Its memory is the host's; whatever else fails is the device's.
            let status = if error.status() == Status::DeviceMemory { Status::NoMemory } else { error.status() };
            Error::new(status, format!("{bytes} bytes of pinned memory: {}", error.message()))
        })?;
        let start = NonNull::new(raw.cast::<u8>()).ok_or_else(|| Error::internal("the driver gives no address"))?;
        // SAFETY: so many bytes are there, and nobody else's.
        unsafe { start.as_ptr().write_bytes(0, bytes) };
        Ok(Self { start, bytes, context: Arc::clone(context) })
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: so many initialised bytes are there while this value is.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    /// Copies values to the front, as many as fit, and gives them as they stand there.
    pub fn write<T: Plain>(&mut self, values: &[T]) -> &[T] {
        let count = values.len().min(self.bytes / size_of::<T>());
        let start = self.start.cast::<T>();
        // SAFETY: so many values fit; pages are aligned for every type; a Plain type is its bytes; the borrow is this value's.
        unsafe {
            std::ptr::copy_nonoverlapping(values.as_ptr(), start.as_ptr(), count);
            std::slice::from_raw_parts(start.as_ptr(), count)
        }
    }

    /// The values from its start on, as many as `count` or as fit.
    pub fn values<T: Plain>(&self, count: usize) -> &[T] {
        let count = count.min(self.bytes / size_of::<T>());
        // SAFETY: so many fit, pages are aligned for every type, and every pattern of bits is a value of a Plain type.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), count) }
    }

    /// The same, to be written.
    pub fn values_mut<T: Plain>(&mut self, count: usize) -> &mut [T] {
        let count = count.min(self.bytes / size_of::<T>());
        // SAFETY: as above, and borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), count) }
    }

    /// Writes zeros over the first `bytes` bytes.
    pub fn wipe(&mut self, bytes: usize) {
        let count = bytes.min(self.bytes);
        let wiped = &mut self.as_mut_slice()[..count];
        wiped.fill(0);
        // The compiler must take it that the zeros are read.
        std::hint::black_box(wiped);
    }

    /// The bytes.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        self.wipe(self.bytes);
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: it was allocated by the driver, and is freed once.
            let _ = unsafe { call!(cuMemFreeHost(self.start.as_ptr().cast())) };
        }
    }
}
