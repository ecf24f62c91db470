//! The split of a witness by what its values cost: zeros nothing, ones an addition, the rest an MSM.

use crate::error::{Error, Result, reserve};
use crate::gpu::ops::QueryScalars;
use crate::math::field::Field;
use crate::math::fr::Fr;
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

impl SplitWitness {
    /// Splits the values of all variables of the key's circuit (inputs, then aux).
    pub fn new(key: &ProvingKey, values: &[Fr]) -> Result<Self> {
        if values.len() != key.num_inputs + key.num_aux {
            let message = format!("{} values for {} variables", values.len(), key.num_inputs + key.num_aux);
            return Err(Error::internal(message));
        }
        let mut split = Self { l: QueryScalars::default(), a: QueryScalars::default(), b: QueryScalars::default() };
        split.reserve(key, values)?;
        for (variable, value) in values.iter().enumerate() {
            if value.is_zero() {
                continue;
            }
            let scalar = (*value != Fr::ONE).then(|| value.to_canonical());
            let points = [
                (&mut split.l, variable.checked_sub(key.num_inputs)),
                (&mut split.a, key.a.density.rank(variable)),
                (&mut split.b, key.b1.density.rank(variable)),
            ];
            for (query, point) in points {
                let Some(point) = point else { continue };
                let point =
                    u32::try_from(point).map_err(|_| Error::internal("a key of more than 2^32 points was admitted"))?;
                match scalar {
                    None => query.ones.push(point),
                    Some(scalar) => {
                        query.picks.push(point);
                        query.scalars.push(scalar);
                    }
                }
            }
        }
        Ok(split)
    }

    /// Makes room first: a vector that grows leaves unwiped copies behind.
    fn reserve(&mut self, key: &ProvingKey, values: &[Fr]) -> Result<()> {
        let ones = values.iter().filter(|v| **v == Fr::ONE).count();
        let rest = values.len() - ones - values.iter().filter(|v| v.is_zero()).count();
        let sizes = [(&mut self.l, key.l.len()), (&mut self.a, key.a.points.len()), (&mut self.b, key.b1.points.len())];
        for (query, points) in sizes {
            reserve(&mut query.ones, ones.min(points), "the split witness")?;
            reserve(&mut query.picks, rest.min(points), "the split witness")?;
            reserve(&mut query.scalars, rest.min(points), "the split witness")?;
        }
        Ok(())
    }
}
