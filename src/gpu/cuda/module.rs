//! The kernels, as nvcc made them, and how they are launched.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use cuda_driver_sys::{CUfunction, CUfunction_attribute, CUmodule};

use super::context::{Context, Stream};
use super::driver::call;
use super::launch::Symbol;
use super::memory::{DeviceVec, Plain};
use crate::error::{Error, Result};

/// Of each file of cuda/kernel, by its name: machine code for the architectures that this library was built for, and PTX for
/// later ones.
static KERNELS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/kernels/kernels.rs"));

/// The kernels in a context.
#[derive(Debug)]
pub struct Module {
    /// One per file, by its name.
    raw: Vec<(&'static str, CUmodule)>,
    context: Arc<Context>,
}

// SAFETY: modules may be used from any thread; these are only their addresses.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// One kernel; it keeps its module.
#[derive(Clone, Debug)]
pub struct Kernel {
    raw: CUfunction,
    name: &'static str,
    module: Arc<Module>,
}

// SAFETY: functions may be used from any thread; this is only an address.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// What a kernel is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A number of 32 bits.
    Number(u32),
    /// An address on the device, 0 for none.
    Address(u64),
}

impl Argument {
    /// The address of an element.
    pub fn element<T: Plain>(vector: &DeviceVec<T>, index: u64) -> Result<Self> {
        vector.address_of(index).map(Self::Address)
    }
}

/// How a kernel is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks.
    pub blocks: u32,
    /// Threads of each.
    pub threads: u32,
    /// Bytes of shared memory of each, beside what the kernel declares.
    pub shared_bytes: u32,
}

impl Module {
    /// Loads the kernels. `Unsupported` where they have no code for the device, or the driver cannot compile their PTX.
    pub fn new(context: &Arc<Context>) -> Result<Arc<Self>> {
        let _entered = context.enter()?;
        let mut module = Self { raw: Vec::with_capacity(KERNELS.len()), context: Arc::clone(context) };
        for (file, fatbin) in KERNELS {
            let mut raw = null_mut();
            // SAFETY: `raw` is writable; a fatbin knows its own length.
            unsafe { call!(cuModuleLoadData(&raw mut raw, fatbin.as_ptr().cast())) }.map_err(|error| {
                error.at(format!("the kernels on {} ({})", context.info().name, context.info().uuid))
            })?;
            module.raw.push((file, raw));
        }
        Ok(Arc::new(module))
    }

    /// A kernel by its file and name. `Internal` where there is none.
    pub fn kernel(self: &Arc<Self>, Symbol { file, name }: Symbol) -> Result<Kernel> {
        let module = self.raw.iter().find(|(other, _)| *other == file).map(|(_, module)| *module);
        let module = module.ok_or_else(|| Error::internal(format!("no kernels of the file {file}")))?;
        let c_name = CString::new(name).map_err(|_| Error::internal("a kernel's name with a NUL"))?;
        let _entered = self.context.enter()?;
        let mut raw = null_mut();
        // SAFETY: `raw` is writable, the module lives, the name ends with a NUL.
        unsafe { call!(cuModuleGetFunction(&raw mut raw, module, c_name.as_ptr())) }
            .map_err(|error| error.at(format!("kernel {name} of {file}")))?;
        Ok(Kernel { raw, name, module: Arc::clone(self) })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let Ok(_entered) = self.context.enter() else { return };
        for (_, module) in self.raw.drain(..) {
            // SAFETY: it was loaded, and is unloaded once; kernels keep it alive.
            let _ = unsafe { call!(cuModuleUnload(module)) };
        }
    }
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Lets a block use so many bytes of shared memory; more than 48 KiB must be asked for.
    pub fn allow_shared_bytes(&self, bytes: u32) -> Result<()> {
        let _entered = self.module.context.enter()?;
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = i32::try_from(bytes).map_err(|_| Error::internal("shared memory of 2 GiB"))?;
        // SAFETY: the function lives as long as its module.
        unsafe { call!(cuFuncSetAttribute(self.raw, attribute, bytes)) }.map_err(|error| error.at(self.name))
    }

    /// Puts a run of it into the stream.
    ///
    /// # Safety
    /// Number, order and kinds of the arguments are the kernel's parameters, and what their addresses point to is long enough
    /// and stays until the run has ended.
    pub unsafe fn launch(&self, stream: &Stream, shape: Shape, arguments: &[Argument]) -> Result<()> {
        let _entered = stream.context.enter()?;
        let mut parameters: Vec<*mut c_void> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Number(number) => (&raw const *number).cast_mut().cast(),
                Argument::Address(address) => (&raw const *address).cast_mut().cast(),
            })
            .collect();
        let Shape { blocks, threads, shared_bytes } = shape;
        // SAFETY: by this function's contract; the driver reads the parameters before it returns, and does not write them.
        unsafe {
            call!(cuLaunchKernel(
                self.raw,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                shared_bytes,
                stream.raw,
                parameters.as_mut_ptr(),
                null_mut(),
            ))
        }
        .map_err(|error| error.at(format!("kernel {} ({blocks} blocks of {threads})", self.name)))
    }
}
