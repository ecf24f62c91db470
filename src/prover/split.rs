//! The split of a witness by what its values cost: zeros nothing, ones an addition, the rest an MSM.

use zeroize::Zeroizing;

use super::density::Density;
use super::key::ProvingKey;
use super::witness::{ScalarForm, Variables};
use crate::error::{Error, Result, zeroed};
use crate::gpu::ops::QueryScalars;
use crate::math::field::Field;
use crate::math::fr::{Fr, Scalar, is_canonical};
use crate::par::{self, First};

/// The scalars of the four witness queries. B1 and B2 share theirs, since they have the same density.
#[derive(Debug)]
pub struct SplitWitness {
    /// For the L query: aux variables.
    pub l: QueryScalars,
    /// For the A query.
    pub a: QueryScalars,
    /// For the B queries, G1 and G2.
    pub b: QueryScalars,
}

/// Ones and others of the three queries.
type Counts = [[usize; 2]; 3];

/// Of 64 variables: which are one, and which are neither zero nor one.
type Kinds = [u64; 2];

/// Words of 64 variables that one piece of work takes, at least.
const LEAST: usize = 1 << 6;

/// Where one piece of the witness writes what it has of one query.
struct Part<'a> {
    ones: &'a mut [u32],
    picks: &'a mut [u32],
    scalars: &'a mut [Scalar],
}

impl SplitWitness {
    /// Splits the values of all variables of the key's circuit (inputs, then aux), on the pool of the calling thread. Points
    /// are in ascending order. Each value is read once, those that are neither zero nor one twice. `Invalid` where one is not
    /// below r.
    pub fn new<V: Variables + ?Sized>(key: &ProvingKey, values: &V) -> Result<Self> {
        let count = values.count();
        if count != key.num_inputs + key.num_aux {
            let message = format!("{count} values for {} variables", key.num_inputs + key.num_aux);
            return Err(Error::internal(message));
        }
        if u32::try_from(count).is_err() {
            return Err(Error::internal("a key of more than 2^32 points was admitted"));
        }
        let kinds = kinds(values)?;
        let size = par::piece(kinds.len(), LEAST);
        let pieces: Vec<(usize, &[Kinds])> =
            kinds.chunks(size).enumerate().map(|(i, piece)| (i * size, piece)).collect();
        let counts = par::map(pieces.len(), |index| counts_of(key, pieces[index].0, pieces[index].1));
        let mut queries = [0, 1, 2].map(|_| QueryScalars::default());
        for (query, scalars) in queries.iter_mut().enumerate() {
            let total = |kind: usize| counts.iter().map(|counts| counts[query][kind]).sum::<usize>();
            make_room(scalars, total(0), total(1))?;
        }
        let parts = parts(&mut queries, &counts);
        let work: Vec<_> = pieces.into_iter().zip(parts).collect();
        par::map_items(work, |((start, piece), mut parts)| write(key, values, start, piece, &mut parts));
        let [l, a, b] = queries;
        Ok(Self { l, a, b })
    }
}

/// The kinds of all values, by words of 64.
fn kinds<V: Variables + ?Sized>(values: &V) -> Result<Zeroizing<Vec<Kinds>>> {
    let count = values.count();
    let mut kinds = Zeroizing::new(zeroed(count.div_ceil(64), Kinds::default(), "the split witness")?);
    let first_bad = First::default();
    let size = par::piece(kinds.len(), LEAST);
    par::for_each_chunk_mut(&mut kinds, size, |start, chunk| {
        for (word, kinds) in (start..).zip(chunk) {
            for variable in 64 * word..count.min(64 * word + 64) {
                let limbs = values.limbs(variable);
                let one = match values.form(variable) {
                    ScalarForm::Canonical => [1, 0, 0, 0],
                    ScalarForm::Montgomery => Fr::ONE.to_montgomery(),
                };
                if limbs == [0; 4] {
                    continue;
                }
                let kind = usize::from(limbs != one);
                kinds[kind] |= 1 << (variable % 64);
                if !is_canonical(&limbs) {
                    first_bad.note(variable);
                }
            }
        }
    });
    first_bad.get().map_or(Ok(kinds), |variable| Err(values.not_below_order(variable)))
}

/// Which of 64 variables have a point in the three queries.
#[inline(always)]
fn members(key: &ProvingKey, word: usize) -> [u64; 3] {
    let of = |density: &Density| density.words().get(word).copied().unwrap_or_default();
    let aux = match key.num_inputs.saturating_sub(64 * word) {
        0 => u64::MAX,
        inputs @ 1..64 => u64::MAX << inputs,
        _ => 0,
    };
    [aux, of(&key.a.density), of(&key.b1.density)]
}

/// How many points the three queries have for the variables before these 64.
#[inline(always)]
fn points_before(key: &ProvingKey, word: usize) -> [u32; 3] {
    let of = |density: &Density| density.ranks().get(word).copied().unwrap_or_default();
    [(64 * word).saturating_sub(key.num_inputs) as u32, of(&key.a.density), of(&key.b1.density)]
}

fn counts_of(key: &ProvingKey, start: usize, kinds: &[Kinds]) -> Counts {
    let mut counts = Counts::default();
    for (word, kinds) in (start..).zip(kinds) {
        for (counts, members) in counts.iter_mut().zip(members(key, word)) {
            for (count, kind) in counts.iter_mut().zip(kinds) {
                *count += (kind & members).count_ones() as usize;
            }
        }
    }
    counts
}

/// All of it at once: a vector that grows leaves unwiped copies behind.
fn make_room(query: &mut QueryScalars, ones: usize, others: usize) -> Result<()> {
    query.ones = zeroed(ones, 0, "the split witness")?;
    query.picks = zeroed(others, 0, "the split witness")?;
    query.scalars = zeroed(others, Scalar::default(), "the split witness")?;
    Ok(())
}

/// Cuts the queries' vectors into those of each piece.
fn parts<'a>(queries: &'a mut [QueryScalars; 3], counts: &[Counts]) -> Vec<[Part<'a>; 3]> {
    fn front<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
        let (front, behind) = std::mem::take(rest).split_at_mut(count);
        *rest = behind;
        front
    }
    let mut rest = queries.each_mut().map(|query| Part {
        ones: &mut query.ones[..],
        picks: &mut query.picks[..],
        scalars: &mut query.scalars[..],
    });
    let part = |counts: &Counts| {
        let mut query = 0;
        rest.each_mut().map(|rest| {
            let [ones, others] = counts[query];
            query += 1;
            Part {
                ones: front(&mut rest.ones, ones),
                picks: front(&mut rest.picks, others),
                scalars: front(&mut rest.scalars, others),
            }
        })
    };
    counts.iter().map(part).collect()
}

/// The positions of the bits that are set.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        lowest
    })
}

/// Writes what a piece has; the parts are just as long.
fn write<V: Variables + ?Sized>(
    key: &ProvingKey,
    values: &V,
    start: usize,
    kinds: &[Kinds],
    parts: &mut [Part<'_>; 3],
) {
    let mut written = Counts::default();
    for (word, [ones, others]) in (start..).zip(kinds) {
        let (members, before) = (members(key, word), points_before(key, word));
        let point = |query: usize, bit: u32| before[query] + (members[query] & ((1 << bit) - 1)).count_ones();
        for (query, part) in parts.iter_mut().enumerate() {
            let at = &mut written[query][0];
            for bit in bits(ones & members[query]) {
                part.ones[*at] = point(query, bit);
                *at += 1;
            }
        }
        for bit in bits(others & (members[0] | members[1] | members[2])) {
            let scalar = canonical(values, 64 * word + bit as usize);
            for query in (0..3).filter(|query| members[*query] >> bit & 1 == 1) {
                let (part, at) = (&mut parts[query], &mut written[query][1]);
                part.picks[*at] = point(query, bit);
                part.scalars[*at] = scalar;
                *at += 1;
            }
        }
    }
}

/// A value that was found to be below r. It is zero where a host has changed it since: MSMs rely on canonical scalars.
fn canonical<V: Variables + ?Sized>(values: &V, variable: usize) -> Scalar {
    let limbs = values.limbs(variable);
    match values.form(variable) {
        ScalarForm::Canonical if is_canonical(&limbs) => limbs,
        ScalarForm::Canonical => Scalar::default(),
        ScalarForm::Montgomery => Fr::from_montgomery(limbs).unwrap_or_default().to_canonical(),
    }
}
