//! Whether what was uploaded is there: a checksum by the host against one by the device.

use super::context::Stream;
use super::gpu::Loaded;
use super::launch::Symbol;
use super::memory::{Arena, DeviceVec, Plain};
use super::module::{Argument, Kernel, Shape};
use crate::error::{Error, Result, Status};

/// 2^64 over the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const THREADS: u32 = 256;
const SHARED_BYTES: u32 = 2048;
const MOST_BLOCKS: u32 = 1024;

/// The formula of `cuda/kernel/import_kernels.h`, modulo 2^64: a single wrong word is always seen, words in the wrong places
/// nearly always.
pub(super) fn checksum<T: Plain>(values: &[T]) -> u64 {
    words(values).iter().enumerate().fold(0u64, |sum, (index, word)| {
        let weight = (index as u64).wrapping_mul(FACTOR) | 1;
        sum.wrapping_add((word ^ (word >> 32)).wrapping_mul(weight))
    })
}

/// The values as words; all types here are made of them.
fn words<T: Plain>(values: &[T]) -> &[u64] {
    const { assert!(size_of::<T>().is_multiple_of(8) && align_of::<T>() >= 8) };
    // SAFETY: aligned and as long, by the assertion; a Plain type is its bytes, all of them initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values) / 8) }
}

/// Uploads to be compared.
pub(super) struct Checksums {
    kernel: Kernel,
    _arena: Arena,
    sums: DeviceVec<u64>,
    wanted: Vec<(&'static str, u64)>,
}

impl Checksums {
    /// For at most `count` vectors.
    pub fn new(loaded: &Loaded, count: usize) -> Result<Self> {
        let kernel = loaded.module.kernel(Symbol { file: "checksum", name: "g16_checksum" })?;
        let mut arena = Arena::new(&loaded.context, Arena::bytes_for::<u64>(count))?;
        let sums = arena.take(count)?;
        Ok(Self { kernel, _arena: arena, sums, wanted: Vec::new() })
    }

    /// Has the device compute that of a vector, behind its upload, and the host that of its values.
    pub fn add<T: Plain>(
        &mut self,
        name: &'static str,
        vector: &DeviceVec<T>,
        values: &[T],
        stream: &Stream,
    ) -> Result<()> {
        let sum = self.sums.part(self.wanted.len(), 1)?;
        sum.fill(0, stream)?;
        let words = words(values).len() as u64;
        if words > 0 {
            let blocks = u32::try_from(words.div_ceil(512)).unwrap_or(MOST_BLOCKS).min(MOST_BLOCKS);
            let shape = Shape { blocks, threads: THREADS, shared_bytes: SHARED_BYTES };
            // The kernel counts words of 32 bits, and takes 64-bit numbers as addresses are passed.
            let numbers = [2 * words, 0].map(Argument::Address);
            let arguments = [Argument::element(&sum, 0)?, Argument::element(vector, 0)?, numbers[0], numbers[1]];
            // SAFETY: the arguments are the kernel's parameters; the vector has so many words.
            unsafe { self.kernel.launch(stream, shape, &arguments) }?;
        }
        self.wanted.push((name, checksum(values)));
        Ok(())
    }

    /// `Device`, with the name, where one differs. Waits for the stream.
    pub fn compare(self, stream: &Stream) -> Result<()> {
        let mut got = vec![0; self.wanted.len()];
        self.sums.download(&mut got, stream)?;
        match self.wanted.iter().zip(&got).find(|((_, wanted), got)| wanted != *got) {
            None => Ok(()),
            Some(((name, wanted), got)) => {
                let text = format!("{name} came to the device with the checksum {got:#x} instead of {wanted:#x}");
                Err(Error::new(Status::Device, text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_or_moved_word_is_seen() {
        let values: Vec<u64> = (0..1000u64).map(|i| i.wrapping_mul(0x1234_5678_9abc_def1)).collect();
        let sum = checksum(&values);
        for index in [0, 1, 500, 999] {
            for bit in [0, 31, 32, 63] {
                let mut changed = values.clone();
                changed[index] ^= 1 << bit;
                assert_ne!(checksum(&changed), sum);
            }
        }
        let mut moved = values.clone();
        moved.swap(3, 4);
        assert_ne!(checksum(&moved), sum);
        assert_eq!(checksum::<u64>(&[]), 0);
    }
}
