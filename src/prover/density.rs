//! Which variables of a circuit appear in a query of the proving key.

use crate::error::{Error, Result};

/// A set of variables, as a bitmap with the number of members before each word, so that the position of a member
/// among the members is found in constant time. Variables are numbered 0 (the constant one), then the other inputs,
/// then the auxiliary ones, unless a place says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Density {
    /// Bit `i % 64` of word `i / 64` tells about variable `i`; bits from `len` on are zero.
    words: Vec<u64>,
    /// Members before the word of the same index; one more entry holds `count`.
    ranks: Vec<u32>,
    len: usize,
}

impl Density {
    /// The set whose bitmap is `words` (bit `i % 64` of word `i / 64`), over `count` variables. Bits from `count` on
    /// are ignored. `Invalid` where `words` is too short or `count` is above 2^32 - 1.
    pub fn from_bits(words: &[u64], count: usize) -> Result<Self> {
        let needed = count.div_ceil(64);
        if words.len() < needed {
            return Err(Error::invalid(format!("density: {count} variables need {needed} words, got {}", words.len())));
        }
        if u32::try_from(count).is_err() {
            return Err(Error::invalid(format!("density: {count} variables are more than 2^32 - 1")));
        }
        Ok(Self::from_words(words[..needed].to_vec(), count))
    }

    /// All of `count` variables. `count` must be below 2^32.
    pub fn all(count: usize) -> Self {
        Self::from_words(vec![u64::MAX; count.div_ceil(64)], count)
    }

    /// None of `count` variables.
    pub fn none(count: usize) -> Self {
        Self::from_words(vec![0; count.div_ceil(64)], count)
    }

    /// The members of `first`, then those of `second` with their numbers shifted by `first.len()`.
    pub fn concat(first: &Self, second: &Self) -> Self {
        let len = first.len + second.len;
        let mut words = first.words.clone();
        words.resize(len.div_ceil(64), 0);
        let (word, shift) = (first.len / 64, first.len % 64);
        for (i, bits) in second.words.iter().enumerate() {
            words[word + i] |= bits << shift;
            // The high part is empty where no word follows, because bits from `len` on are zero.
            if shift > 0 && word + i + 1 < words.len() {
                words[word + i + 1] |= bits >> (64 - shift);
            }
        }
        Self::from_words(words, len)
    }

    /// Clears the bits from `len` on and counts. `words` has `len.div_ceil(64)` entries.
    pub(crate) fn from_words(mut words: Vec<u64>, len: usize) -> Self {
        if let (Some(last), tail @ 1..) = (words.last_mut(), len % 64) {
            *last &= (1 << tail) - 1;
        }
        let mut ranks = Vec::with_capacity(words.len() + 1);
        let mut count = 0u32;
        ranks.push(count);
        for word in &words {
            count += word.count_ones();
            ranks.push(count);
        }
        Self { words, ranks, len }
    }

    /// Whether variable `i` is a member; false from `len` on.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        i < self.len && (self.words[i / 64] >> (i % 64)) & 1 == 1
    }

    /// The position of variable `i` among the members; `None` if it is not one.
    #[inline]
    pub fn rank(&self, i: usize) -> Option<usize> {
        self.get(i).then(|| {
            let below = self.words[i / 64] & ((1 << (i % 64)) - 1);
            self.ranks[i / 64] as usize + below.count_ones() as usize
        })
    }

    /// How many variables are members.
    pub fn count(&self) -> usize {
        self.ranks.last().map_or(0, |count| *count as usize)
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no variable at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bitmap: bit `i % 64` of word `i / 64`; bits from `len` on are zero.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The number of members before each word of the bitmap, then their number in all.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// The members in ascending order.
    pub fn members(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len).filter(|i| self.get(*i))
    }
}

impl FromIterator<bool> for Density {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let (mut words, mut len) = (Vec::new(), 0);
        for bit in bits {
            if len % 64 == 0 {
                words.push(0);
            }
            if let Some(last) = words.last_mut() {
                *last |= u64::from(bit) << (len % 64);
            }
            len += 1;
        }
        Self::from_words(words, len)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const SIZES: [usize; 12] = [0, 1, 2, 31, 32, 63, 64, 65, 127, 128, 129, 1000];

    fn bits(len: usize, seed: usize) -> Vec<bool> {
        (0..len).map(|i| (i * 7 + seed * 13) % 5 < 2).collect()
    }

    #[test]
    fn ranks_count_the_members_before() {
        for len in SIZES {
            let bits = bits(len, len);
            let density: Density = bits.iter().copied().collect();
            assert_eq!(density.len(), len);
            let mut rank = 0;
            for i in 0..len {
                assert_eq!(density.get(i), bits[i]);
                assert_eq!(density.rank(i), bits[i].then_some(rank));
                rank += usize::from(bits[i]);
            }
            assert_eq!(density.count(), rank);
            assert_eq!(density.rank(len), None);
            assert_eq!(density.members().count(), rank);
            assert_eq!(Density::all(len).count(), len);
            assert_eq!(Density::none(len).count(), 0);
        }
    }

    #[test]
    fn bits_beyond_the_count_are_ignored_and_short_bitmaps_refused() {
        let density = Density::from_bits(&[u64::MAX, u64::MAX], 65).unwrap();
        assert_eq!((density.count(), density.words()), (65, &[u64::MAX, 1][..]));
        assert!(Density::from_bits(&[0], 65).is_err());
        assert_eq!(Density::from_bits(&[], 0).unwrap().count(), 0);
    }

    #[test]
    fn concatenation_shifts_the_second() {
        for first in SIZES {
            for second in SIZES {
                let (a, b) = (bits(first, 1), bits(second, 2));
                let joined = Density::concat(&a.iter().copied().collect(), &b.iter().copied().collect());
                assert_eq!(joined, a.into_iter().chain(b).collect());
            }
        }
    }
}
