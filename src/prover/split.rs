//! The split of a witness by what its values cost: zeros nothing, ones an addition, the rest an MSM.

use crate::error::{Error, Result, zeroed};
use crate::gpu::ops::QueryScalars;
use crate::math::field::Field;
use crate::math::fr::{Fr, Scalar};
use crate::par;
use crate::prover::key::ProvingKey;

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

/// Values that one piece of work takes, at least.
const LEAST: usize = 1 << 12;

/// Where one piece of the witness writes what it has of one query.
struct Part<'a> {
    ones: &'a mut [u32],
    picks: &'a mut [u32],
    scalars: &'a mut [Scalar],
}

impl SplitWitness {
    /// Splits the values of all variables of the key's circuit (inputs, then aux), on the pool of the calling thread. Points
    /// are in ascending order.
    pub fn new(key: &ProvingKey, values: &[Fr]) -> Result<Self> {
        if values.len() != key.num_inputs + key.num_aux {
            let message = format!("{} values for {} variables", values.len(), key.num_inputs + key.num_aux);
            return Err(Error::internal(message));
        }
        if u32::try_from(values.len()).is_err() {
            return Err(Error::internal("a key of more than 2^32 points was admitted"));
        }
        let size = par::piece(values.len(), LEAST);
        let pieces: Vec<(usize, &[Fr])> = values.chunks(size).enumerate().map(|(i, piece)| (i * size, piece)).collect();
        let counts = par::map(pieces.len(), |index| count(key, pieces[index].0, pieces[index].1));
        let mut queries = [0, 1, 2].map(|_| QueryScalars::default());
        for (query, scalars) in queries.iter_mut().enumerate() {
            let total = |kind: usize| counts.iter().map(|counts| counts[query][kind]).sum::<usize>();
            make_room(scalars, total(0), total(1))?;
        }
        let parts = parts(&mut queries, &counts);
        let work: Vec<_> = pieces.into_iter().zip(parts).collect();
        par::map_items(work, |((start, piece), mut parts)| write(key, start, piece, &mut parts));
        let [l, a, b] = queries;
        Ok(Self { l, a, b })
    }
}

/// Indices of a variable's points in the three queries.
#[inline(always)]
fn points(key: &ProvingKey, variable: usize) -> [Option<usize>; 3] {
    [variable.checked_sub(key.num_inputs), key.a.density.rank(variable), key.b1.density.rank(variable)]
}

fn count(key: &ProvingKey, start: usize, values: &[Fr]) -> Counts {
    let mut counts = Counts::default();
    for (variable, value) in (start..).zip(values).filter(|(_, value)| !value.is_zero()) {
        let kind = usize::from(*value != Fr::ONE);
        for (query, point) in points(key, variable).into_iter().enumerate() {
            counts[query][kind] += usize::from(point.is_some());
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

/// Writes what a piece has; the parts are just as long.
fn write(key: &ProvingKey, start: usize, values: &[Fr], parts: &mut [Part<'_>; 3]) {
    let mut written = Counts::default();
    for (variable, value) in (start..).zip(values).filter(|(_, value)| !value.is_zero()) {
        let scalar = (*value != Fr::ONE).then(|| value.to_canonical());
        for (query, point) in points(key, variable).into_iter().enumerate() {
            let Some(point) = point else { continue };
            let (part, [ones, others]) = (&mut parts[query], &mut written[query]);
            match scalar {
                None => {
                    part.ones[*ones] = point as u32;
                    *ones += 1;
                }
                Some(scalar) => {
                    part.picks[*others] = point as u32;
                    part.scalars[*others] = scalar;
                    *others += 1;
                }
            }
        }
    }
}
