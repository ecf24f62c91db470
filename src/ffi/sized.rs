//! Structs that carry their size, so that fields can be appended without breaking older callers.

use std::mem::{MaybeUninit, size_of};

use crate::error::{Error, Result, Status};

/// A struct of the ABI whose first field is its `struct_size`.
///
/// # Safety
/// The type is `repr(C)`, its first field is a `usize`, and all bytes zero are a valid value of it.
pub(super) unsafe trait SizedStruct: Copy {
    /// Its C name, for messages.
    const NAME: &'static str;
}

/// Larger sizes are not from `GROTH16_INIT`: memory is not searched for new fields beyond this.
const MAX_STRUCT_BYTES: usize = 4096;

/// Reads the caller's `struct_size`.
///
/// # Safety
/// `pointer` is NULL or points to at least a `usize`.
unsafe fn size_of_callers<T: SizedStruct>(pointer: *const T) -> Result<usize> {
    if pointer.is_null() {
        return Err(Error::invalid(format!("{} is NULL", T::NAME)));
    }
    // SAFETY: not NULL, and the contract gives a readable `usize`; it need not be aligned.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    if !(size_of::<usize>()..=MAX_STRUCT_BYTES).contains(&size) {
        let message = format!("{}.struct_size is {size}: set the struct up by GROTH16_INIT", T::NAME);
        return Err(Error::invalid(message));
    }
    Ok(size)
}

/// Copies a struct in: fields that an older caller lacks are zero, newer fields that are not zero are refused.
///
/// # Safety
/// `pointer` is NULL or points to `struct_size` readable bytes.
pub(super) unsafe fn read<T: SizedStruct>(pointer: *const T) -> Result<T> {
    // SAFETY: by this function's contract.
    let size = unsafe { size_of_callers(pointer) }?;
    let mut value = MaybeUninit::<T>::zeroed();
    let known = size.min(size_of::<T>());
    // SAFETY: `known` bytes are readable there and fit here; the regions are distinct.
    unsafe { pointer.cast::<u8>().copy_to_nonoverlapping(value.as_mut_ptr().cast(), known) };
    for offset in known..size {
        // SAFETY: below `struct_size`.
        if unsafe { pointer.cast::<u8>().add(offset).read() } != 0 {
            let message = format!(
                "{} has a field at byte {offset} that this version does not know and that is not zero",
                T::NAME
            );
            return Err(Error::new(Status::Unsupported, message));
        }
    }
    // SAFETY: all bytes zero are a valid T, and the bytes copied are the caller's T.
    Ok(unsafe { value.assume_init() })
}

/// Copies a struct out: as much as the caller has room for, the rest of its struct zeroed; `struct_size` stays.
///
/// # Safety
/// `pointer` is NULL or points to `struct_size` writable bytes.
pub(super) unsafe fn write<T: SizedStruct>(pointer: *mut T, value: &T) -> Result<()> {
    // SAFETY: by this function's contract.
    let size = unsafe { size_of_callers(pointer) }?;
    let bytes = pointer.cast::<u8>();
    let head = size_of::<usize>();
    let known = size.min(size_of::<T>());
    // SAFETY: `size` bytes are writable there; `known` are readable here; the regions are distinct.
    unsafe {
        std::ptr::from_ref(value).cast::<u8>().add(head).copy_to_nonoverlapping(bytes.add(head), known - head);
        bytes.add(known).write_bytes(0, size - known);
    }
    Ok(())
}
