//! A hint to the processor that a value will be read soon.

/// Asks for the cache lines of `value`. Only a hint: no effect on any result, and nothing on other processors than x86-64.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(value).cast::<i8>();
        // The last byte may lie in a line of its own.
        for offset in (0..size_of::<T>()).step_by(64).chain(size_of::<T>().checked_sub(1)) {
            // SAFETY: the instruction (SSE, in every x86-64) reads nothing that the program sees and cannot fault; the
            // pointer stays inside `value`.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
