//! What goes wrong on a device, over a driver whose calls fail as a test wants: the emulated one (cuda/emulate/driver.cc), or the
//! machine's own behind cuda/emulate/faulty.cc.

use std::ffi::{CString, c_char, c_int, c_long, c_void};

use groth16::engine::backend::G2Placement;
use groth16::error::{Error, Result, Status};
use groth16::gpu;

use super::ensure;
use super::proofs::{Case, RowsFrom, engine, first};

const OUT_OF_MEMORY: c_int = 2;
const ILLEGAL_ADDRESS: c_int = 700;
const LAUNCH_FAILED: c_int = 719;

type Fail = unsafe extern "C" fn(*const c_char, c_long, c_long, c_int, c_int);
type Calls = unsafe extern "C" fn() -> c_long;
type Hog = unsafe extern "C" fn(c_int, usize, c_int);
type Used = unsafe extern "C" fn(c_int) -> usize;
type Registered = unsafe extern "C" fn() -> usize;
type Flip = unsafe extern "C" fn(c_long);
type Mend = unsafe extern "C" fn();

/// The hooks of such a driver.
pub struct Hooks {
    fail: Fail,
    calls: Calls,
    hog: Hog,
    used: Used,
    registered: Registered,
    flip: Flip,
    mend: Mend,
}

impl Hooks {
    /// `None` over the machine's driver alone.
    pub fn find() -> Option<Self> {
        // SAFETY: the name is a C string; the driver was opened before, so nothing is initialised here.
        let library = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
        let symbol = |name: &std::ffi::CStr| -> Option<*mut c_void> {
            // SAFETY: the library is open and stays so.
            let address = unsafe { libc::dlsym(library, name.as_ptr()) };
            (!library.is_null() && !address.is_null()).then_some(address)
        };
        // SAFETY: the functions of driver.cc and faulty.cc with these names have these types.
        unsafe {
            Some(Self {
                fail: std::mem::transmute::<*mut c_void, Fail>(symbol(c"g16_driver_fail")?),
                calls: std::mem::transmute::<*mut c_void, Calls>(symbol(c"g16_driver_calls")?),
                hog: std::mem::transmute::<*mut c_void, Hog>(symbol(c"g16_driver_hog")?),
                used: std::mem::transmute::<*mut c_void, Used>(symbol(c"g16_driver_used")?),
                registered: std::mem::transmute::<*mut c_void, Registered>(symbol(c"g16_driver_registered")?),
                flip: std::mem::transmute::<*mut c_void, Flip>(symbol(c"g16_driver_flip")?),
                mend: std::mem::transmute::<*mut c_void, Mend>(symbol(c"g16_driver_mend")?),
            })
        }
    }

    /// The call `name`, or any where it is empty, fails `times` times after `after` others; if `loses`, its device for ever.
    fn fail(&self, name: &str, after: c_long, times: c_long, result: c_int, loses: bool) {
        let name = CString::new(name).unwrap();
        // SAFETY: a C string that is copied.
        unsafe { (self.fail)(name.as_ptr(), after, times, result, loses.into()) };
    }

    /// Nothing fails any more, and lost devices are back.
    fn mend(&self) {
        // SAFETY: no arguments.
        unsafe { (self.mend)() };
    }

    fn calls(&self) -> c_long {
        // SAFETY: no arguments.
        unsafe { (self.calls)() }
    }

    /// Pieces of host memory that are page-locked.
    pub fn registered(&self) -> usize {
        // SAFETY: no arguments.
        unsafe { (self.registered)() }
    }

    fn used(&self, device: c_int) -> usize {
        // SAFETY: a device that is there.
        unsafe { (self.used)(device) }
    }
}

impl Hooks {
    /// From now on contexts cannot be made, after so many that can; below 0 all can.
    pub fn fail_contexts(&self, after: i64) {
        if after < 0 { self.mend() } else { self.fail("cuCtxCreate_v2", after, 1000, OUT_OF_MEMORY, false) }
    }
}

/// What a caller may see of a fault.
fn is_clear(error: &Error) -> bool {
    matches!(error.status(), Status::Device | Status::DeviceMemory | Status::NoMemory | Status::SelfCheck)
}

/// One call fails, whichever: the proof is right, since the job is tried again with a new context, or a clear error; the
/// next one is right. Of all calls of an engine's life with one proof, every `step`-th is tried.
pub fn any_call(hooks: &Hooks, step: usize) -> Result<Option<String>> {
    let case = Case::new(6, 2)?;
    let expected = case.expected()?;
    let proofs = |fail_after: Option<c_long>| -> Result<(c_long, bool)> {
        let begin = hooks.calls();
        if let Some(after) = fail_after {
            hooks.fail("", after, 1, LAUNCH_FAILED, false);
        }
        let made = first().and_then(|uuids| engine(&uuids, 0, G2Placement::Device));
        let engine = match made {
            Ok(engine) => engine,
            Err(error) => {
                hooks.mend();
                ensure(is_clear(&error), format!("the engine: {error}"))?;
                return Ok((0, false));
            }
        };
        let key = case.load(&engine)?;
        let first = case.prove(&engine, &key, RowsFrom::Lent);
        let calls = hooks.calls() - begin;
        hooks.mend();
        let failed = match first {
            Ok(proof) => {
                ensure(proof == expected, "another proof")?;
                false
            }
            Err(error) => {
                ensure(is_clear(&error), format!("the proof: {error}"))?;
                true
            }
        };
        ensure(case.prove(&engine, &key, RowsFrom::Lent)? == expected, "the next proof is another")?;
        Ok((calls, failed))
    };
    let (calls, _) = proofs(None)?;
    let mut failed = 0;
    for after in (0..calls).step_by(step) {
        let (_, has_failed) =
            proofs(Some(after)).map_err(|error| error.at(format!("call {after} of {calls} fails")))?;
        failed += u32::from(has_failed);
    }
    ensure(hooks.used(0) == 0, format!("{} bytes were not given back", hooks.used(0)))?;
    ensure(hooks.registered() == 0, format!("{} pieces are still page-locked", hooks.registered()))?;
    Ok(Some(format!("({calls} calls, every {step}. tried, {failed} proofs failed with an error)")))
}

/// The k-th allocation fails, for every k (or every third), once or from then on: the proof is right or `DeviceMemory`, the next is right.
pub fn allocations(hooks: &Hooks, step: usize) -> Result<Option<String>> {
    let case = Case::new(30, 2)?;
    let expected = case.expected()?;
    let (mut right, mut refused) = (0, 0);
    for times in [1, 1000] {
        for after in (0..12).step_by(step.min(3)) {
            let engine = engine(&first()?, 0, G2Placement::Device)?;
            let key = case.load(&engine)?;
            hooks.fail("cuMemAlloc_v2", after, times, OUT_OF_MEMORY, false);
            let got = case.prove(&engine, &key, RowsFrom::Copied);
            hooks.mend();
            match got {
                Ok(proof) => {
                    ensure(proof == expected, format!("allocation {after}, {times} times: another proof"))?;
                    right += 1;
                }
                Err(error) => {
                    let text = format!("allocation {after}, {times} times: {error}");
                    ensure(error.status() == Status::DeviceMemory, text)?;
                    refused += 1;
                }
            }
            ensure(case.prove(&engine, &key, RowsFrom::Copied)? == expected, "the next proof is another")?;
        }
    }
    ensure(right > 0 && refused > 0, format!("{right} right, {refused} refused: one of them was not seen"))?;
    Ok(Some(format!("({right} right, {refused} refused)")))
}

/// Another program takes memory: each proof is right or refused, and right when the other has gone.
pub fn hog(hooks: &Hooks) -> Result<Option<String>> {
    let case = Case::new(250, 2)?;
    let expected = case.expected()?;
    let total = gpu::gpus()?[0].memory_bytes as usize;
    let (mut right, mut refused) = (0, 0);
    for left in [0, 64 << 10, 512 << 10, 2 << 20, 8 << 20, 64 << 20] {
        let engine = engine(&first()?, 0, G2Placement::Cpu)?;
        let key = case.load(&engine)?;
        let taken = total - hooks.used(0) - left;
        // SAFETY: device 0 is there.
        unsafe { (hooks.hog)(0, taken, 0) };
        let got = case.prove(&engine, &key, RowsFrom::Copied);
        // SAFETY: as above.
        unsafe { (hooks.hog)(0, taken, 1) };
        match got {
            Ok(proof) => {
                ensure(proof == expected, format!("{left} bytes left: another proof"))?;
                right += 1;
            }
            Err(error) => {
                ensure(error.status() == Status::DeviceMemory, format!("{left} bytes left: {error}"))?;
                refused += 1;
            }
        }
        ensure(case.prove(&engine, &key, RowsFrom::Copied)? == expected, "the next proof is another")?;
    }
    ensure(right > 0 && refused > 0, format!("{right} right, {refused} refused: one of them was not seen"))?;
    Ok(Some(format!("({right} right, {refused} refused)")))
}

/// An engine that has ended holds nothing of a device, though handles of its jobs and keys are still there.
pub fn ended(hooks: &Hooks) -> Result<Option<String>> {
    let case = Case::new(30, 2)?;
    let engine = engine(&first()?, 0, G2Placement::Device)?;
    let key = case.load(&engine)?;
    let job = engine.create(case.input(&engine, &key, RowsFrom::Lent)?, None);
    engine.submit(&job, 0)?;
    job.wait(None);
    let held = hooks.used(0);
    let jobs = engine.jobs();
    drop(engine);
    ensure(held > 0 && hooks.used(0) == 0, format!("{held} bytes were held, {} are", hooks.used(0)))?;
    drop((jobs, job, key));
    Ok(None)
}

/// A bit of what comes back is wrong: the self-check finds it, and the second attempt is right.
pub fn flipped_bit(hooks: &Hooks) -> Result<Option<String>> {
    let case = Case::new(30, 2)?;
    let expected = case.expected()?;
    let engine = engine(&first()?, 0, G2Placement::Device)?;
    let key = case.load(&engine)?;
    for bit in [0, 1, 100, 383, 384, 700] {
        // SAFETY: any number may be given.
        unsafe { (hooks.flip)(bit) };
        ensure(case.prove(&engine, &key, RowsFrom::Lent)? == expected, format!("bit {bit}: another proof"))?;
        // A device that is wrong three times in a row is taken out.
        ensure(case.prove(&engine, &key, RowsFrom::Lent)? == expected, "the next proof is another")?;
    }
    let retries = engine.record().totals.retries;
    ensure(retries >= 6, format!("{retries} second attempts"))?;
    Ok(Some(format!("({retries} second attempts)")))
}

/// A device is lost for good: with another one no job is lost; without, an error says so, and nothing hangs or ends.
pub fn lost(hooks: &Hooks) -> Result<Option<String>> {
    let case = Case::new(30, 2)?;
    let expected = case.expected()?;
    let uuids: Vec<String> = gpu::gpus()?.into_iter().map(|gpu| gpu.uuid).collect();
    if uuids.len() < 2 {
        return Ok(Some("(left out: it takes two devices)".into()));
    }
    for name in ["cuLaunchKernel", "cuMemHostAlloc", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize", "cuMemAlloc_v2"] {
        let both = engine(&uuids, 0, G2Placement::Cpu)?;
        let key = case.load(&both)?;
        ensure(case.prove(&both, &key, RowsFrom::Copied)? == expected, "another proof")?;
        hooks.fail(name, 0, 1, ILLEGAL_ADDRESS, true);
        let jobs: Result<Vec<_>> = (0..6)
            .map(|_| {
                let job = both.create(case.input(&both, &key, RowsFrom::Lent)?, None);
                both.submit(&job, 0).map(|()| job)
            })
            .collect();
        for job in jobs? {
            job.wait(None);
            let proof = job.result().unwrap_or_else(|| Err(Error::internal("no result")));
            ensure(proof.map_err(|error| error.at(name))? == expected, format!("{name}: another proof"))?;
        }
        hooks.mend();
        let alone = engine(&uuids[..1], 0, G2Placement::Cpu)?;
        let key = case.load(&alone)?;
        hooks.fail(name, 0, 1, ILLEGAL_ADDRESS, true);
        for _ in 0..3 {
            let error = case.prove(&alone, &key, RowsFrom::Copied).err();
            let is_clear = error.as_ref().is_some_and(|error| error.status() == Status::Device);
            ensure(is_clear, format!("{name}, the only device: {error:?}"))?;
        }
        drop((key, alone));
        hooks.mend();
    }
    Ok(None)
}
