//! Multi-scalar multiplications and sums of points on a device.

use std::sync::Arc;

use super::context::Stream;
use super::memory::{DeviceVec, Plain};
use super::module::{Argument, Kernel, Module};
use super::msm_plan::{Buffer, Group, KernelName, Msm, Slot, Task, Tuning};
use crate::error::{Error, Result};

/// The kernels for both groups, with the shared memory that they may take.
#[derive(Debug)]
pub struct MsmKernels {
    groups: [Vec<Kernel>; 2],
    compute: (i32, i32),
    multiprocessors: u32,
}

/// What one run reads and writes. The addresses are of device memory; the stream's order must keep it until the run has
/// ended.
#[derive(Clone, Copy, Debug)]
pub struct MsmBuffers {
    /// The address of point 0, which need not be there where picks name others.
    pub points: u64,
    /// The first canonical scalar, four u64 each.
    pub scalars: u64,
    /// The first pick.
    pub picks: u64,
    /// A point by its Jacobian coordinates.
    pub result: u64,
    /// Scratch of `Msm::workspace_bytes`.
    pub workspace: u64,
    /// Bytes that there are at `workspace`.
    pub workspace_bytes: u64,
}

/// The most scalars of one run.
pub const MOST: u32 = 1 << 26;

impl MsmKernels {
    /// Finds the kernels.
    pub fn new(module: &Arc<Module>, compute: (i32, i32), multiprocessors: i32) -> Result<Self> {
        let load = |group| {
            KernelName::ALL.iter().map(|kernel| module.kernel(kernel.symbol(group))).collect::<Result<Vec<_>>>()
        };
        let multiprocessors = u32::try_from(multiprocessors).unwrap_or(1).max(1);
        let kernels = Self { groups: [load(Group::G1)?, load(Group::G2)?], compute, multiprocessors };
        for group in [Group::G1, Group::G2] {
            kernels.allow_shared_bytes(group)?;
        }
        Ok(kernels)
    }

    /// Once for the runs of all sizes: shared memory grows with the bits of a digit, which are the same up to a power of two.
    fn allow_shared_bytes(&self, group: Group) -> Result<()> {
        let mut most = [0; KernelName::ALL.len()];
        for log in 0..=MOST.ilog2() {
            let plan = self.plan(Task { group, sum: false, count: 1 << log, picks: false });
            for launch in plan.launches() {
                let most = &mut most[launch.kernel as usize];
                *most = launch.shape.shared_bytes.max(*most);
            }
        }
        for (kernel, bytes) in KernelName::ALL.into_iter().zip(most).filter(|(_, bytes)| *bytes > 48 << 10) {
            self.kernel(group, kernel)?.allow_shared_bytes(bytes)?;
        }
        Ok(())
    }

    /// The launches of a task.
    pub fn plan(&self, task: Task) -> Msm {
        Msm::new(task, Tuning::of(task.group, self.compute, self.multiprocessors))
    }

    /// Puts a run into the stream.
    ///
    /// # Safety
    /// The buffers are as `MsmBuffers` says, for the plan's task, and stay until the stream has come there.
    pub unsafe fn run(&self, plan: &Msm, buffers: &MsmBuffers, stream: &Stream) -> Result<()> {
        if plan.workspace_bytes() > buffers.workspace_bytes {
            let (wanted, got) = (plan.workspace_bytes(), buffers.workspace_bytes);
            return Err(Error::internal(format!("{wanted} bytes of workspace wanted, {got} given")));
        }
        for launch in plan.launches() {
            let arguments: Vec<Argument> = launch.arguments.iter().map(|slot| buffers.argument(*slot)).collect();
            // SAFETY: the plan is that of cuda/kernel/msm_plan.h, whose arguments are the kernels' parameters; the rest is this
            // function's contract.
            unsafe { self.kernel(plan.task().group, launch.kernel)?.launch(stream, launch.shape, &arguments) }?;
        }
        Ok(())
    }

    fn kernel(&self, group: Group, name: KernelName) -> Result<&Kernel> {
        self.groups[group as usize].get(name as usize).ok_or_else(|| Error::internal("a kernel is missing"))
    }
}

impl MsmBuffers {
    fn argument(&self, slot: Slot) -> Argument {
        match slot {
            Slot::Number(number) => Argument::Number(number),
            Slot::Null => Argument::Address(0),
            Slot::At(buffer, byte) => {
                let base = match buffer {
                    Buffer::Points => self.points,
                    Buffer::Scalars => self.scalars,
                    Buffer::Picks => self.picks,
                    Buffer::Result => self.result,
                    Buffer::Workspace => self.workspace,
                };
                Argument::Address(base + byte)
            }
        }
    }
}

/// The address of an element, for `MsmBuffers`.
pub(super) fn address<T: Plain>(vector: &DeviceVec<T>, index: usize) -> Result<u64> {
    vector.address_of(index as u64)
}
