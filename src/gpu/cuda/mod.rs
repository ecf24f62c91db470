//! NVIDIA GPUs through the driver API. Every call of CUDA is in this folder; the kernels are in `cuda/`.

mod checksum;
pub mod context;
pub mod device;
mod driver;
pub mod fixed_base;
pub mod gpu;
mod job;
pub mod key;
pub mod launch;
pub mod memory;
pub mod module;
pub mod msm;
pub mod msm_plan;
pub mod page_lock;
pub mod plan;
pub mod staging;
pub mod steps;
pub mod transforms;
pub mod worker;
