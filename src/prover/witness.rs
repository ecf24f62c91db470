//! Scalars as callers give them: 32 little-endian bytes each, in one of two forms.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::buffer::{FrBuffer, Lender};
use crate::error::{Error, Result, reserve};
use crate::gpu::ops::{self, RawScalars};
use crate::gpu::pages::Pages;
use crate::math::field::Field;
use crate::math::fr::{Fr, Scalar, scalar_from_le_bytes};
use crate::par::{self, First};

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
    is_locked: bool,
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

/// Numbers of one form in whole pages, for any number of jobs: as in a groth16_buffer.
#[derive(Clone, Debug)]
pub struct PageValues {
    pages: Arc<Pages>,
    len: usize,
    form: ScalarForm,
}

impl PageValues {
    /// A copy of `bytes`. `lock` may page-lock the pages, so that GPUs read them where they are.
    pub fn new(bytes: &[u8], form: ScalarForm, lock: impl FnOnce(&mut Pages)) -> Result<Self> {
        let mut pages = Pages::new(bytes.len().max(1))?;
        lock(&mut pages);
        pages.as_mut_slice()[..bytes.len()].copy_from_slice(bytes);
        Ok(Self { pages: Arc::new(pages), len: bytes.len(), form })
    }

    /// As a job takes them.
    pub fn scalars(&self, name: &'static str) -> Result<Scalars> {
        Ok(Scalars::new(name, Box::new(self.clone()), self.form)?.in_pages(self.pages.is_locked()))
    }
}

impl AsRef<[u8]> for PageValues {
    fn as_ref(&self) -> &[u8] {
        &(*self.pages).as_ref()[..self.len]
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
        Ok(Self { name, bytes, form, is_locked: false })
    }

    /// The same; `is_locked`: they lie in page-locked memory, which a device reads directly.
    pub fn in_pages(self, is_locked: bool) -> Self {
        Self { is_locked, ..self }
    }

    /// Whether a device may read them where they are.
    pub fn are_locked(&self) -> bool {
        self.is_locked
    }

    /// As a device takes them.
    pub fn raw(&self) -> RawScalars<'_> {
        RawScalars { bytes: (*self.bytes).as_ref(), is_canonical: self.form == ScalarForm::Canonical }
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
        let first_bad = First::default();
        par::for_each_chunk_mut(out, size, |offset, chunk| {
            for (i, value) in chunk.iter_mut().enumerate() {
                match self.decode(bytes, offset + i) {
                    Some(scalar) => *value = scalar,
                    None => return first_bad.note(offset + i),
                }
            }
        });
        match first_bad.get() {
            Some(index) => Err(ops::not_below_order(self.name, index)),
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
        let first = [(); 4].map(|()| First::default());
        par::for_each_chunk_pair_mut(a_out, b_out, ROWS_AT_ONCE, |start, a_chunk, b_chunk| {
            for (i, (a_out, b_out)) in a_chunk.iter_mut().zip(b_chunk).enumerate() {
                let row = start + i;
                let (left, right) = (a.decode(bytes[0], row), b.decode(bytes[1], row));
                let product = if c.is_empty() { None } else { Some(c.decode(bytes[2], row)) };
                let bad = [left.is_none(), right.is_none(), product == Some(None)];
                first.iter().zip(bad).filter(|(_, bad)| *bad).for_each(|(first, _)| first.note(row));
                let (Some(left), Some(right)) = (left, right) else { continue };
                (*a_out, *b_out) = (left, right);
                if product.flatten().is_some_and(|product| product != left * right) {
                    first[3].note(row);
                }
            }
        });
        let [bad_a, bad_b, bad_c, wrong] = first.map(First::get);
        for (scalars, bad) in [(a, bad_a), (b, bad_b), (c, bad_c)] {
            if let Some(index) = bad {
                return Err(ops::not_below_order(scalars.name, index));
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
        let limbs = limbs_at(bytes, index)?;
        match self.form {
            ScalarForm::Canonical => Fr::from_canonical(limbs),
            ScalarForm::Montgomery => Fr::from_montgomery(limbs),
        }
    }
}

impl std::fmt::Debug for Scalars {
    /// Never shows the scalars.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} scalars {} ({:?})", self.len(), self.name, self.form)
    }
}

#[inline]
fn limbs_at(bytes: &[u8], index: usize) -> Option<Scalar> {
    bytes.get(index * SCALAR_BYTES..)?.first_chunk::<SCALAR_BYTES>().map(scalar_from_le_bytes)
}

/// The values of all variables, inputs first, as numbers that are not checked yet.
pub trait Variables: Sync {
    /// How many there are.
    fn count(&self) -> usize;
    /// The form of one.
    fn form(&self, variable: usize) -> ScalarForm;
    /// The limbs of one; zero where there is none.
    fn limbs(&self, variable: usize) -> Scalar;
    /// What to say of one that is not below r.
    fn not_below_order(&self, variable: usize) -> Error;
}

/// Variables where the caller has them.
pub struct LentVariables<'a> {
    num_inputs: usize,
    inputs: (&'a Scalars, &'a [u8]),
    aux: (&'a Scalars, &'a [u8]),
}

impl<'a> LentVariables<'a> {
    /// Of a job.
    pub fn new(inputs: &'a Scalars, aux: &'a Scalars) -> Self {
        let [inputs, aux] = [inputs, aux].map(|scalars| (scalars, (*scalars.bytes).as_ref()));
        Self { num_inputs: inputs.0.len(), inputs, aux }
    }
}

impl Variables for LentVariables<'_> {
    fn count(&self) -> usize {
        self.num_inputs + self.aux.0.len()
    }

    #[inline]
    fn form(&self, variable: usize) -> ScalarForm {
        if variable < self.num_inputs { self.inputs.0.form } else { self.aux.0.form }
    }

    #[inline]
    fn limbs(&self, variable: usize) -> Scalar {
        let (bytes, index) = match variable.checked_sub(self.num_inputs) {
            Some(index) => (self.aux.1, index),
            None => (self.inputs.1, variable),
        };
        limbs_at(bytes, index).unwrap_or_default()
    }

    fn not_below_order(&self, variable: usize) -> Error {
        match variable.checked_sub(self.num_inputs) {
            Some(index) => ops::not_below_order(self.aux.0.name, index),
            None => ops::not_below_order(self.inputs.0.name, variable),
        }
    }
}

impl Variables for [Fr] {
    fn count(&self) -> usize {
        self.len()
    }

    fn form(&self, _variable: usize) -> ScalarForm {
        ScalarForm::Montgomery
    }

    #[inline]
    fn limbs(&self, variable: usize) -> Scalar {
        self.get(variable).map(Fr::to_montgomery).unwrap_or_default()
    }

    fn not_below_order(&self, variable: usize) -> Error {
        ops::not_below_order("witness", variable)
    }
}

/// Reads inputs, which are no secret. `Status::Invalid` if one is not below r or the first is not one.
pub fn read_inputs(inputs: &Scalars) -> Result<Vec<Fr>> {
    let values = inputs.read_public()?;
    check_first(&values)?;
    Ok(values)
}

fn check_first(inputs: &[Fr]) -> Result<()> {
    match inputs.first() {
        Some(one) if *one == Fr::ONE => Ok(()),
        Some(_) => Err(Error::invalid("inputs[0] is not one")),
        None => Err(Error::invalid("inputs is empty; inputs[0] must be one")),
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
        check_first(first)?;
        aux.read_to(others)?;
        Ok(Self { values })
    }

    /// All values, Montgomery form.
    pub fn values(&self) -> &[Fr] {
        &self.values
    }
}
