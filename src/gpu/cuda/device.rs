//! The GPUs of this machine.

use std::ffi::{CStr, c_char};

use cuda_driver_sys::{CUdevice, CUdevice_attribute, CUuuid};

use super::driver::call;
use crate::error::{Error, Result, Status};
use crate::gpu::{GpuInfo, no_such_gpu};

/// The oldest driver whose PTX compiler and API fit this library's kernels: that of CUDA 13.0.
pub const MIN_DRIVER: i32 = 13000;
/// The oldest compute capability that the kernels are compiled for.
pub const MIN_COMPUTE: (i32, i32) = (8, 0);

/// What is known of a GPU without using it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The driver's number of it, which environment variables of the host change.
    pub(super) handle: CUdevice,
    /// Such as "NVIDIA H200".
    pub name: String,
    /// Such as "GPU-8f6e5a0c-...": what names a GPU whatever the order.
    pub uuid: String,
    /// Such as "0000:4b:00.0".
    pub pci_bus_id: String,
    /// Bytes of memory in all.
    pub memory_bytes: u64,
    /// Compute capability, major and minor.
    pub compute: (i32, i32),
    /// Multiprocessors.
    pub multiprocessors: i32,
}

/// All GPUs that the driver shows this process; none where there is no driver. `Unsupported` where the driver is too old,
/// `Device` where it fails.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    if !init()? {
        return Ok(Vec::new());
    }
    let mut count = 0;
    // SAFETY: `count` is writable.
    unsafe { call!(cuDeviceGetCount(&raw mut count)) }?;
    (0..count).map(DeviceInfo::of).collect()
}

/// The GPU with this UUID. `NoDevice` where it is not there; else as `devices`.
pub fn find(uuid: &str) -> Result<DeviceInfo> {
    let found = devices()?.into_iter().find(|device| device.uuid == uuid);
    found.ok_or_else(|| no_such_gpu(uuid))
}

/// Starts the driver; false where there is none, or no device. It may be called often, from any thread.
fn init() -> Result<bool> {
    // SAFETY: flags are zero, as they must be.
    match unsafe { call!(cuInit(0)) } {
        Err(error) if error.status() == Status::NoDevice => return Ok(false),
        result => result?,
    }
    let mut version = 0;
    // SAFETY: `version` is writable.
    unsafe { call!(cuDriverGetVersion(&raw mut version)) }?;
    if version < MIN_DRIVER {
        let text = |version: i32| format!("{}.{}", version / 1000, version % 1000 / 10);
        return Err(Error::new(
            Status::Unsupported,
            format!("the driver is for CUDA {}, this library needs {} or newer", text(version), text(MIN_DRIVER)),
        ));
    }
    Ok(true)
}

impl DeviceInfo {
    fn of(ordinal: i32) -> Result<Self> {
        let at = |error: Error| error.at(format!("GPU {ordinal}"));
        let mut handle = 0;
        // SAFETY: `handle` is writable.
        unsafe { call!(cuDeviceGet(&raw mut handle, ordinal)) }.map_err(at)?;
        let attribute = |which| attribute(handle, which).map_err(at);
        let mut memory = 0usize;
        // SAFETY: `memory` is writable, the handle is the driver's.
        unsafe { call!(cuDeviceTotalMem_v2(&raw mut memory, handle)) }.map_err(at)?;
        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: `uuid` is writable, the handle is the driver's.
        unsafe { call!(cuDeviceGetUuid(&raw mut uuid, handle)) }.map_err(at)?;
        use CUdevice_attribute::*;
        Ok(Self {
            handle,
            // SAFETY: the driver writes at most `len` bytes, with a NUL.
            name: text(|out, len| unsafe { call!(cuDeviceGetName(out, len, handle)) }).map_err(at)?,
            uuid: uuid_text(&uuid.bytes.map(|byte| byte as u8)),
            // SAFETY: the driver writes at most `len` bytes, with a NUL.
            pci_bus_id: text(|out, len| unsafe { call!(cuDeviceGetPCIBusId(out, len, handle)) }).map_err(at)?,
            memory_bytes: memory as u64,
            compute: (
                attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        })
    }

    /// What others may know of it.
    pub fn info(&self) -> GpuInfo {
        GpuInfo {
            name: self.name.clone(),
            uuid: self.uuid.clone(),
            pci_bus_id: self.pci_bus_id.clone(),
            memory_bytes: self.memory_bytes,
            compute: self.compute,
        }
    }

    /// `Unsupported`, with the name, unless the kernels can run on it.
    pub fn check(&self) -> Result<()> {
        if self.compute >= MIN_COMPUTE {
            return Ok(());
        }
        let ((major, minor), (min_major, min_minor)) = (self.compute, MIN_COMPUTE);
        Err(Error::new(
            Status::Unsupported,
            format!(
                "{} ({}) has compute capability {major}.{minor}, the kernels need {min_major}.{min_minor}",
                self.name, self.uuid
            ),
        ))
    }
}

fn attribute(device: CUdevice, which: CUdevice_attribute) -> Result<i32> {
    let mut value = 0;
    // SAFETY: `value` is writable, the handle is the driver's.
    unsafe { call!(cuDeviceGetAttribute(&raw mut value, which, device)) }?;
    Ok(value)
}

/// A text that the driver writes into a buffer.
fn text(write: impl FnOnce(*mut c_char, i32) -> Result<()>) -> Result<String> {
    let mut buffer = [0u8; 256];
    write(buffer.as_mut_ptr().cast(), buffer.len() as i32 - 1)?;
    let text = CStr::from_bytes_until_nul(&buffer).map_err(|_| Error::internal("the driver's text has no end"))?;
    Ok(text.to_string_lossy().into_owned())
}

/// As nvidia-smi writes it.
fn uuid_text(bytes: &[u8; 16]) -> String {
    let hex = |range: std::ops::Range<usize>| bytes[range].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("GPU-{}-{}-{}-{}-{}", hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16))
}

#[cfg(test)]
mod tests {
    #[test]
    fn uuids_read_like_those_of_nvidia_smi() {
        let bytes: [u8; 16] = std::array::from_fn(|i| i as u8 * 17);
        assert_eq!(super::uuid_text(&bytes), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    }
}
