//! Scalars as callers give them: 32 little-endian bytes each, in one of two forms.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::buffer::{FrBuffer, Lender};
use crate::error::{Error, Result, reserve};
use crate::math::fr::{Fr, scalar_from_le_bytes};
use crate::par;

/// How scalars are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarForm {
    /// The value itself, below r.
    Canonical,
    /// The value times 2^256 modulo r, as `blst_fr` holds it.
    Montgomery,
}

/// Bytes of a caller, alive as long as this value.
pub type ScalarBytes = Box<dyn AsRef<[u8]> + Send + Sync>;

/// A run of scalars of a caller.
pub struct Scalars {
    name: &'static str,
    bytes: ScalarBytes,
    form: ScalarForm,
}

/// Bytes of values for any number of jobs; wiped with their last owner.
#[derive(Clone)]
pub struct Values(Arc<Zeroizing<Vec<u8>>>);

impl Values {
    /// Copies of values; `NoMemory` where there is no room for them.
    pub fn new(values: &[Fr]) -> Result<Self> {
        // One allocation of the final size: growing would leave unwiped copies behind.
        let mut bytes = Zeroizing::new(Vec::new());
        reserve(&mut bytes, values.len().saturating_mul(SCALAR_BYTES), "the scalars")?;
        values.iter().for_each(|value| value.to_montgomery().iter().for_each(|limb| bytes.extend(limb.to_le_bytes())));
        Ok(Self(Arc::new(bytes)))
    }

    /// As a job takes them.
    pub fn scalars(&self, name: &'static str) -> Result<Scalars> {
        Scalars::new(name, Box::new(self.clone()), ScalarForm::Montgomery)
    }
}

impl AsRef<[u8]> for Values {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Rows that one thread reads at a time.
const ROWS_AT_ONCE: usize = 1 << 12;
/// Bytes of one scalar.
pub const SCALAR_BYTES: usize = 32;

impl Scalars {
    /// The scalars called `name` in messages; `Status::Invalid` if the bytes are not whole scalars.
    pub fn new(name: &'static str, bytes: ScalarBytes, form: ScalarForm) -> Result<Self> {
        let length = (*bytes).as_ref().len();
        if !length.is_multiple_of(SCALAR_BYTES) {
            let message = format!("{name}: {length} bytes are not a whole number of scalars of {SCALAR_BYTES} bytes");
            return Err(Error::invalid(message));
        }
        Ok(Self { name, bytes, form })
    }

    /// Copies of values, which are wiped with the last owner.
    pub fn from_values(name: &'static str, values: &[Fr]) -> Result<Self> {
        Values::new(values)?.scalars(name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        (*self.bytes).as_ref().len() / SCALAR_BYTES
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes all of them to `out`, which has as many elements. `Status::Invalid`, naming the first index, if one is not
    /// below r.
    pub fn read_to(&self, out: &mut [Fr]) -> Result<()> {
        let bytes = (*self.bytes).as_ref();
        if out.len() != self.len() {
            return Err(Error::internal(format!("{} places for {} scalars {}", out.len(), self.len(), self.name)));
        }
        let size = par::piece(self.len(), 4096);
        let first_bad = crate::sync::Mutex::new(None::<usize>);
        par::for_each_chunk_mut(out, size, |offset, chunk| {
            for (i, value) in chunk.iter_mut().enumerate() {
                match self.decode(bytes, offset + i) {
                    Some(scalar) => *value = scalar,
                    None => {
                        let mut first = first_bad.lock();
                        *first = Some(first.map_or(offset + i, |known| known.min(offset + i)));
                        return;
                    }
                }
            }
        });
        let first_bad = *first_bad.lock();
        match first_bad {
            Some(index) => Err(not_below(self.name, index)),
            None => Ok(()),
        }
    }

    /// Writes `a` and `b` to vectors of their length, and compares their products with `c`, unless that is empty, while they are in
    /// the caches. `c` is as long, and is kept nowhere. The first row that breaks the circuit; `Status::Invalid`, naming the
    /// vector and the first index, if a scalar is not below r.
    pub fn read_rows([a, b, c]: [&Self; 3], a_out: &mut [Fr], b_out: &mut [Fr]) -> Result<Option<usize>> {
        let rows = a.len();
        if [b.len(), a_out.len(), b_out.len()] != [rows; 3] || !(c.is_empty() || c.len() == rows) {
            return Err(Error::internal(format!("{rows} rows of a, {} of b, {} of c", b.len(), c.len())));
        }
        let bytes = [a, b, c].map(|scalars| (*scalars.bytes).as_ref());
        // By vector the first scalar that is not below r, and the first row that is wrong.
        let first = crate::sync::Mutex::new([None::<usize>; 4]);
        let note = |kind: usize, row: usize| {
            let mut first = first.lock();
            first[kind] = Some(first[kind].map_or(row, |known| known.min(row)));
        };
        par::for_each_chunk_pair_mut(a_out, b_out, ROWS_AT_ONCE, |start, a_chunk, b_chunk| {
            for (i, (a_out, b_out)) in a_chunk.iter_mut().zip(b_chunk).enumerate() {
                let row = start + i;
                let (Some(left), Some(right)) = (a.decode(bytes[0], row), b.decode(bytes[1], row)) else {
                    return note(usize::from(a.decode(bytes[0], row).is_some()), row);
                };
                (*a_out, *b_out) = (left, right);
                if c.is_empty() {
                    continue;
                }
                match c.decode(bytes[2], row) {
                    None => return note(2, row),
                    Some(product) if product != left * right => note(3, row),
                    Some(_) => {}
                }
            }
        });
        let [bad_a, bad_b, bad_c, wrong] = *first.lock();
        for (scalars, bad) in [(a, bad_a), (b, bad_b), (c, bad_c)] {
            if let Some(index) = bad {
                return Err(not_below(scalars.name, index));
            }
        }
        Ok(wrong)
    }

    /// All of them, when they are no secret.
    pub fn read_public(&self) -> Result<Vec<Fr>> {
        let mut values = Vec::new();
        reserve(&mut values, self.len(), self.name)?;
        values.resize(self.len(), Fr::default());
        self.read_to(&mut values)?;
        Ok(values)
    }

    fn decode(&self, bytes: &[u8], index: usize) -> Option<Fr> {
        let chunk = bytes.get(index * SCALAR_BYTES..)?.first_chunk::<SCALAR_BYTES>()?;
        let limbs = scalar_from_le_bytes(chunk);
        match self.form {
            ScalarForm::Canonical => Fr::from_canonical(limbs),
            ScalarForm::Montgomery => Fr::from_montgomery(limbs),
        }
    }
}

fn not_below(name: &str, index: usize) -> Error {
    Error::invalid(format!("{name}[{index}] is not below the group order r"))
}

impl std::fmt::Debug for Scalars {
    /// Never shows the scalars.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} scalars {} ({:?})", self.len(), self.name, self.form)
    }
}

/// Values of all variables: one, the other inputs, aux. Wiped when dropped.
#[derive(Debug)]
pub struct Witness {
    values: FrBuffer,
}

impl Witness {
    /// Reads inputs and aux. `Status::Invalid` if a scalar is not below r or the first input is not one.
    pub fn read(inputs: &Scalars, aux: &Scalars, lender: Lender<'_>) -> Result<Self> {
        let mut values = FrBuffer::new(inputs.len() + aux.len(), "the witness", lender)?;
        let (first, others) = values.split_at_mut(inputs.len());
        inputs.read_to(first)?;
        match first.first() {
            Some(one) if *one == <Fr as crate::math::field::Field>::ONE => {}
            Some(_) => return Err(Error::invalid("inputs[0] is not one")),
            None => return Err(Error::invalid("inputs is empty; inputs[0] must be one")),
        }
        aux.read_to(others)?;
        Ok(Self { values })
    }

    /// All values, Montgomery form.
    pub fn values(&self) -> &[Fr] {
        &self.values
    }
}
