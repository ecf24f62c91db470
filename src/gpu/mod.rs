//! Devices that run the kernels of a proof.

#[cfg(not(feature = "cuda"))]
mod absent;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod host;
pub mod ops;
pub mod pages;

#[cfg(not(feature = "cuda"))]
pub use self::absent::{Gpu, PageLock, PinnedMemory, Uploaded, Worker};
#[cfg(feature = "cuda")]
pub use self::cuda::{gpu::Gpu, gpu::Uploaded, memory::PinnedMemory, page_lock::PageLock, worker::Worker};

use crate::error::Result;

/// What is known of a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuInfo {
    /// Such as "NVIDIA H200".
    pub name: String,
    /// Such as "GPU-8f6e5a0c-...": names it whatever the order.
    pub uuid: String,
    /// Such as "0000:4b:00.0".
    pub pci_bus_id: String,
    /// Bytes of memory in all.
    pub memory_bytes: u64,
    /// Compute capability, major and minor.
    pub compute: (i32, i32),
}

/// The GPUs that this process is shown and that the kernels can run on; none without a driver, and in a build without the
/// feature `cuda`. `Unsupported` where the driver is too old, `Device` where it fails.
pub fn gpus() -> Result<Vec<GpuInfo>> {
    #[cfg(feature = "cuda")]
    {
        let usable = cuda::device::devices()?.into_iter().filter(|device| device.check().is_ok());
        Ok(usable.map(|device| device.info()).collect())
    }
    #[cfg(not(feature = "cuda"))]
    Ok(Vec::new())
}

/// Bytes of a GPU's memory that are free now; it takes a context for a moment.
pub fn free_bytes(uuid: &str) -> Result<u64> {
    #[cfg(feature = "cuda")]
    {
        Ok(cuda::context::Context::new(&cuda::device::find(uuid)?)?.memory()?.0)
    }
    #[cfg(not(feature = "cuda"))]
    Err(no_such_gpu(uuid))
}

fn no_such_gpu(uuid: &str) -> crate::error::Error {
    let build = if cfg!(feature = "cuda") { "" } else { " (this library was built without CUDA)" };
    crate::error::Error::new(crate::error::Status::NoDevice, format!("no GPU {uuid:?}{build}"))
}
