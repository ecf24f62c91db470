//! Vectors of secret field elements: on the heap, or in memory of a pool that a device reads fast.

use std::ops::{Deref, DerefMut};

use zeroize::Zeroizing;

use crate::error::{Error, Result, reserve, zeroed};
use crate::math::field::Field;
use crate::math::fr::Fr;

/// Memory of somebody else's, who wipes it when it comes back.
pub trait Lent: Send + Sync {
    /// The elements.
    fn values(&self) -> &[Fr];
    /// The elements.
    fn values_mut(&mut self) -> &mut [Fr];
}

/// Field elements that are wiped when dropped.
pub enum FrBuffer {
    /// On the heap.
    Heap(Zeroizing<Vec<Fr>>),
    /// Lent by a pool; page-locked, so that a device reads it directly.
    Lent(Box<dyn Lent>),
}

/// Lends buffers: `None` where it cannot, so that they come from the heap.
pub type Lender<'a> = &'a (dyn Fn(usize) -> Option<Box<dyn Lent>> + Sync);

impl FrBuffer {
    /// `count` elements of any value. `NoMemory`, with the number, where there is no room for `what`.
    pub fn new(count: usize, what: &str, lender: Lender<'_>) -> Result<Self> {
        if let Some(lent) = lender(count) {
            if lent.values().len() != count {
                return Err(Error::internal(format!("{} elements lent, {count} wanted", lent.values().len())));
            }
            return Ok(Self::Lent(lent));
        }
        Ok(Self::Heap(Zeroizing::new(zeroed(count, Fr::ZERO, what)?)))
    }

    /// Whether a device reads it directly.
    pub fn is_pinned(&self) -> bool {
        matches!(self, Self::Lent(_))
    }

    /// The elements on the heap.
    pub fn into_heap(mut self) -> Result<Zeroizing<Vec<Fr>>> {
        match &mut self {
            Self::Heap(values) => Ok(Zeroizing::new(std::mem::take(&mut **values))),
            Self::Lent(lent) => heap_copy(lent.values()),
        }
    }

    /// A copy on the heap.
    pub fn copy_of(values: &[Fr]) -> Result<Self> {
        heap_copy(values).map(Self::Heap)
    }
}

fn heap_copy(values: &[Fr]) -> Result<Zeroizing<Vec<Fr>>> {
    let mut copy = Zeroizing::new(Vec::new());
    reserve(&mut copy, values.len(), "a copy of field elements")?;
    copy.extend_from_slice(values);
    Ok(copy)
}

impl Default for FrBuffer {
    fn default() -> Self {
        Self::Heap(Zeroizing::default())
    }
}

impl From<Vec<Fr>> for FrBuffer {
    fn from(values: Vec<Fr>) -> Self {
        Self::Heap(Zeroizing::new(values))
    }
}

impl Deref for FrBuffer {
    type Target = [Fr];
    fn deref(&self) -> &[Fr] {
        match self {
            Self::Heap(values) => values,
            Self::Lent(lent) => lent.values(),
        }
    }
}

impl DerefMut for FrBuffer {
    fn deref_mut(&mut self) -> &mut [Fr] {
        match self {
            Self::Heap(values) => values,
            Self::Lent(lent) => lent.values_mut(),
        }
    }
}

impl std::fmt::Debug for FrBuffer {
    /// Shows no values: they are secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} elements", self.len())
    }
}
