//! From the caller's choices to what an engine proves on.

use std::ffi::CStr;
use std::sync::Arc;

use super::engine::groth16_engine_options;
use super::memory;
use super::options::{choose, groth16_backend, groth16_g2_placement};
use crate::engine::backend::{Backend, G2Placement};
use crate::error::{Error, Result, Status};
use crate::gpu::{self, Gpu};

/// What was chosen, in words for the log, and what an engine tells of it.
pub(super) struct Chosen {
    pub backend: Backend,
    pub kind: groth16_backend,
    pub num_devices: u32,
    /// Of each GPU, in bytes; 0 on the CPU.
    pub device_bytes_limit: u64,
    pub text: String,
    /// Why GPUs are not used though nobody asked for the CPU.
    pub warning: Option<String>,
}

/// The caller's numbers, checked.
struct Wanted<'a> {
    backend: groth16_backend,
    placement: groth16_g2_placement,
    uuids: Vec<&'a str>,
    device_bytes_limit: u64,
}

/// What `options` ask for; NULL asks for all defaults.
pub(super) fn chosen(options: Option<&groth16_engine_options>) -> Result<Chosen> {
    let wanted = options.map_or_else(|| Ok(Wanted::default()), Wanted::new)?;
    if wanted.backend == groth16_backend::GROTH16_BACKEND_CPU {
        return wanted.cpu(None);
    }
    let is_asked = wanted.backend == groth16_backend::GROTH16_BACKEND_GPU || !wanted.uuids.is_empty();
    let found = gpu::gpus().map(|gpus| gpus.into_iter().map(|gpu| gpu.uuid).collect::<Vec<_>>());
    match found {
        // By itself the library uses what works, and says what does not.
        Err(error) if !is_asked => wanted.cpu(Some(format!("no GPU is used: {error}"))),
        Err(error) => Err(error.at("backend GPU")),
        Ok(all) if all.is_empty() && !is_asked => wanted.cpu(None),
        Ok(_) if is_asked && !cfg!(feature = "cuda") => {
            Err(Error::new(Status::NoDevice, "backend GPU: this library was built without CUDA"))
        }
        Ok(all) if all.is_empty() && wanted.uuids.is_empty() => {
            Err(Error::new(Status::NoDevice, "backend GPU: there is none that this process is shown"))
        }
        Ok(all) => wanted.gpus(&all, is_asked),
    }
}

impl Default for Wanted<'_> {
    fn default() -> Self {
        Self {
            backend: groth16_backend::GROTH16_BACKEND_AUTO,
            placement: groth16_g2_placement::GROTH16_G2_AUTO,
            uuids: Vec::new(),
            device_bytes_limit: 0,
        }
    }
}

impl<'a> Wanted<'a> {
    fn new(options: &'a groth16_engine_options) -> Result<Self> {
        use groth16_backend::{GROTH16_BACKEND_AUTO, GROTH16_BACKEND_CPU, GROTH16_BACKEND_GPU};
        use groth16_g2_placement::{GROTH16_G2_AUTO, GROTH16_G2_CPU, GROTH16_G2_DEVICE};

        let backends = [GROTH16_BACKEND_AUTO, GROTH16_BACKEND_GPU, GROTH16_BACKEND_CPU];
        let placements = [GROTH16_G2_AUTO, GROTH16_G2_CPU, GROTH16_G2_DEVICE];
        let backend = choose(options.backend, &backends, "backend")?;
        let placement = choose(options.g2_placement, &placements, "g2_placement")?;
        // SAFETY: the options' contract: so many C strings that are unchanged during the call.
        let pointers = unsafe { memory::slice(options.device_uuids, options.num_device_uuids, "device_uuids") }?;
        let uuids = pointers.iter().enumerate().map(|(index, pointer)| {
            memory::check_out(pointer.cast_mut(), &format!("device_uuids[{index}]"))?;
            // SAFETY: not NULL, and a C string by the options' contract.
            let text = unsafe { CStr::from_ptr(*pointer) };
            text.to_str().map_err(|_| Error::invalid(format!("device_uuids[{index}] is not UTF-8")))
        });
        let uuids = uuids.collect::<Result<Vec<&str>>>()?;
        if let Some(index) = (1..uuids.len()).find(|index| uuids[..*index].contains(&uuids[*index])) {
            return Err(Error::invalid(format!("device_uuids[{index}]: {:?} is there twice", uuids[index])));
        }
        if backend == GROTH16_BACKEND_CPU && !uuids.is_empty() {
            return Err(Error::invalid("device_uuids are given with the backend CPU"));
        }
        Ok(Self { backend, placement, uuids, device_bytes_limit: options.device_bytes_limit })
    }

    fn cpu(&self, warning: Option<String>) -> Result<Chosen> {
        if self.placement == groth16_g2_placement::GROTH16_G2_DEVICE {
            return Err(Error::new(Status::Unsupported, "g2_placement: there is no device for the G2 MSM"));
        }
        Ok(Chosen {
            backend: Backend::Cpu(1),
            kind: groth16_backend::GROTH16_BACKEND_CPU,
            num_devices: 0,
            device_bytes_limit: 0,
            text: "the CPU".into(),
            warning,
        })
    }

    /// `is_asked`: all that are named must work; else those that do are used, and the CPU where none does.
    fn gpus(&self, all: &[String], is_asked: bool) -> Result<Chosen> {
        let placement = match self.placement {
            groth16_g2_placement::GROTH16_G2_AUTO => G2Placement::Auto,
            groth16_g2_placement::GROTH16_G2_CPU => G2Placement::Cpu,
            groth16_g2_placement::GROTH16_G2_DEVICE => G2Placement::Device,
        };
        let named: Vec<&str> =
            if self.uuids.is_empty() { all.iter().map(String::as_str).collect() } else { self.uuids.clone() };
        let (mut gpus, mut unusable): (Vec<Arc<Gpu>>, _) = (Vec::new(), Vec::new());
        for uuid in named {
            match Gpu::new(uuid, self.device_bytes_limit) {
                Ok(gpu) => gpus.push(gpu),
                Err(error) if is_asked => return Err(error.at("backend GPU")),
                Err(error) => unusable.push(format!("the GPU {uuid} is not used: {error}")),
            }
        }
        let warning = (!unusable.is_empty()).then(|| unusable.join("; "));
        if gpus.is_empty() {
            return self.cpu(warning);
        }
        let names: Vec<&str> = gpus.iter().map(|gpu| gpu.name()).collect();
        let (text, num_devices) = (names.join(", "), u32::try_from(gpus.len()).unwrap_or(u32::MAX));
        let device_bytes_limit = gpus.iter().map(|gpu| gpu.limit()).min().unwrap_or(0);
        Ok(Chosen {
            backend: Backend::Gpus(gpus, placement),
            kind: groth16_backend::GROTH16_BACKEND_GPU,
            num_devices,
            device_bytes_limit,
            text,
            warning,
        })
    }
}
