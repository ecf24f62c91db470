//! Eight lanes in plain arithmetic, the same limbs and bounds as [`super::ifma`]: so the algorithms are tested on every
//! machine. Too slow for use.

use zeroize::Zeroize;

use super::lanes::{Lanes, Lanes52, Row, Task, lanes_by_52};
use super::product;
use crate::math::fr::Fr;

/// Eight words.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Portable([u64; 8]);

impl Zeroize for Portable {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

const LOW: u64 = (1 << 52) - 1;

impl Portable {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

#[inline(always)]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a & LOW) * u128::from(b & LOW)
}

impl Lanes for Portable {
    lanes_by_52!();
    fn run<T: Task>(task: T) -> T::Output {
        task.run()
    }
    fn splat(word: u64) -> Self {
        Self([word; 8])
    }
    fn store(self, row: &mut Row) {
        row.0 = self.0;
    }
    fn add(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_add)
    }
    fn sub(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_sub)
    }
    fn equal(self, other: Self) -> u8 {
        (0..8).fold(0, |mask, i| mask | (u8::from(self.0[i] == other.0[i]) << i))
    }
    fn select(mask: u8, a: Self, b: Self) -> Self {
        Self(std::array::from_fn(|i| if mask >> i & 1 == 1 { a.0[i] } else { b.0[i] }))
    }
    fn assert_bits(self, bits: u32) {
        debug_assert!(self.0.iter().all(|word| word >> bits == 0), "a lane of more than {bits} bits: {self:x?}");
    }
}

impl Lanes52 for Portable {
    fn load(row: &Row) -> Self {
        Self(row.0)
    }
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
    fn left<const N: u32>(self) -> Self {
        Self(self.0.map(|word| word << N))
    }
    fn right<const N: u32>(self) -> Self {
        Self(self.0.map(|word| word >> N))
    }
    fn carry(self) -> Self {
        Self(self.0.map(|word| (word.cast_signed() >> 52).cast_unsigned()))
    }
    fn mul_low(self, a: Self, b: Self) -> Self {
        // Columns never come near 64 bits: a sum that wraps here is a bound that is wrong.
        Self(std::array::from_fn(|i| {
            let sum = self.0[i].wrapping_add(wide(a.0[i], b.0[i]) as u64 & LOW);
            debug_assert!(sum < 1 << 60, "a column of {sum:#x}");
            sum
        }))
    }
    fn mul_high(self, a: Self, b: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].wrapping_add((wide(a.0[i], b.0[i]) >> 52) as u64)))
    }
    fn lookup(self, index: Self) -> Self {
        Self(index.0.map(|i| self.0[i as usize & 7]))
    }
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        std::array::from_fn(|i| Self(std::array::from_fn(|j| rows[j].0[i])))
    }
    fn deinterleave(a: Self, b: Self) -> [Self; 2] {
        let lane = |i: usize| if i < 8 { a.0[i] } else { b.0[i - 8] };
        [0, 1].map(|odd| Self(std::array::from_fn(|i| lane(2 * i + odd))))
    }
    fn load_words(elements: &[Fr; 8]) -> [Self; 4] {
        std::array::from_fn(|j| Self(std::array::from_fn(|i| elements[i].0[j])))
    }
    fn store_words(words: [Self; 4], elements: &mut [Fr; 8]) {
        for (i, element) in elements.iter_mut().enumerate() {
            element.0 = std::array::from_fn(|j| words[j].0[i]);
        }
    }
}
