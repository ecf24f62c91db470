//! Uploads from memory that is not pinned: by pieces, through two pinned buffers in turn. One piece is copied by the CPU
//! while the bus carries the other.

use std::sync::Arc;

use super::context::{Context, Event, Stream};
use super::memory::{Arena, DeviceVec, PinnedMemory, Plain};
use crate::error::Result;

/// Bytes of a piece: long enough that the bus is busy, short enough for the caches of a large CPU.
const PIECE_BYTES: usize = 8 << 20;
const BUFFERS: usize = 2;

/// Two pinned buffers, for one thread at a time.
#[derive(Debug)]
pub struct Staging {
    buffers: [PinnedMemory; BUFFERS],
    /// When the device has read each.
    read: [Option<Event>; BUFFERS],
    /// Bytes of each that were written since the last wipe.
    written: [usize; BUFFERS],
    next: usize,
}

impl Staging {
    /// Takes pinned memory.
    pub fn new(context: &Arc<Context>) -> Result<Self> {
        let buffer = || PinnedMemory::new(context, PIECE_BYTES);
        Ok(Self { buffers: [buffer()?, buffer()?], read: [None, None], written: [0; BUFFERS], next: 0 })
    }

    /// A vector of the arena with these values, as `upload` brings them.
    pub fn bring<T: Plain>(&mut self, arena: &mut Arena, values: &[T], stream: &Stream) -> Result<DeviceVec<T>> {
        let vector = arena.take(values.len())?;
        self.upload(&vector, values, stream)?;
        Ok(vector)
    }

    /// Copies `values` to the front of the vector, in the stream's order. Returns when `values` was read, which may be before the
    /// device has them.
    pub fn upload<T: Plain>(&mut self, to: &DeviceVec<T>, values: &[T], stream: &Stream) -> Result<()> {
        let each = PIECE_BYTES / size_of::<T>();
        for (index, piece) in values.chunks(each).enumerate() {
            let turn = self.next;
            self.next = (turn + 1) % BUFFERS;
            if let Some(read) = self.read[turn].take() {
                read.synchronize()?;
            }
            self.written[turn] = self.written[turn].max(size_of_val(piece));
            let pinned = self.buffers[turn].write(piece);
            let part = to.part(index * each, piece.len())?;
            // SAFETY: the buffer is written again only after the event below.
            unsafe { part.upload(pinned, stream) }?;
            self.read[turn] = Some(stream.record()?);
        }
        Ok(())
    }

    /// Wipes what was copied; the streams must have come there.
    pub fn wipe(&mut self) -> Result<()> {
        let mut ended = Ok(());
        for (index, buffer) in self.buffers.iter_mut().enumerate() {
            if let Some(read) = self.read[index].take() {
                ended = ended.and(read.synchronize());
            }
            buffer.wipe(std::mem::take(&mut self.written[index]));
        }
        ended
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The device may still read. Where it fails nobody is there for the error, and nothing reads any more.
        for read in self.read.iter().flatten() {
            let _ = read.synchronize();
        }
    }
}
