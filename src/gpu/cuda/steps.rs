//! The multi-scalar multiplications and sums of one proof, cut into runs that fit the workspace: plain data, no call of CUDA
//! is here. However they are cut, their sums are the same points.

use std::ops::Range;

use crate::gpu::ops::{KeyShape, QueryScalars};

/// A section of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    H,
    L,
    A,
    B1,
    B2,
}

impl Section {
    /// All of them, in the order of the enumeration.
    pub const ALL: [Self; 5] = [Self::H, Self::L, Self::A, Self::B1, Self::B2];

    /// Index of its query among L, A and B; `None` for H.
    pub fn query(self) -> Option<usize> {
        match self {
            Self::H => None,
            Self::L => Some(0),
            Self::A => Some(1),
            Self::B1 | Self::B2 => Some(2),
        }
    }
}

/// Where a run's points are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the resident key.
    Resident,
    /// In the buffer for streamed points with this index, from this point of the section on.
    Streamed { buffer: usize, first: usize },
}

/// The scalars of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalars {
    /// Coefficients of the quotient: scalar i belongs to point i.
    Quotient(Range<usize>),
    /// These of a query's picks.
    Rest(Range<usize>),
    /// These of a query's ones.
    Ones(Range<usize>),
}

impl Scalars {
    /// How many.
    pub fn count(&self) -> usize {
        match self {
            Self::Quotient(range) | Self::Rest(range) | Self::Ones(range) => range.len(),
        }
    }
}

/// What is done, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Points of a section come into a buffer for streamed ones.
    Bring { section: Section, points: Range<usize>, buffer: usize },
    /// A run.
    Sum { section: Section, place: Place, scalars: Scalars },
}

/// Buffers for streamed points: one is filled while the other is read.
pub const STREAM_BUFFERS: usize = 2;

/// The steps of a proof, by runs of at most `most` scalars, and, if `streamed`, of that many points.
pub fn steps(shape: &KeyShape, queries: [&QueryScalars; 3], most: usize, streamed: bool, with_b2: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut buffer = 0;
    let b2 = with_b2.then_some(Section::B2);
    for section in [Section::H, Section::L, Section::A, Section::B1].into_iter().chain(b2) {
        let points = section.query().map_or(shape.domain_size() - 1, |query| shape.queries[query]);
        if !streamed {
            steps.extend(resident(section, points, queries, most));
            continue;
        }
        for first in (0..points).step_by(most.max(1)) {
            let window = first..points.min(first + most);
            let runs = runs_of(section, &window, queries);
            if runs.iter().any(|run| run.count() > 0) {
                steps.push(Step::Bring { section, points: window, buffer });
                let place = Place::Streamed { buffer, first };
                steps.extend(sums(section, place, runs));
                buffer = (buffer + 1) % STREAM_BUFFERS;
            }
        }
    }
    steps
}

fn resident(section: Section, points: usize, queries: [&QueryScalars; 3], most: usize) -> Vec<Step> {
    let whole = runs_of(section, &(0..points), queries);
    let pieces = whole.into_iter().flat_map(|run| {
        let count = run.count();
        (0..count).step_by(most.max(1)).map(move |start| {
            let range = start..count.min(start + most);
            match run {
                Scalars::Quotient(_) => Scalars::Quotient(range),
                Scalars::Rest(_) => Scalars::Rest(range),
                Scalars::Ones(_) => Scalars::Ones(range),
            }
        })
    });
    sums(section, Place::Resident, pieces.collect())
}

/// The scalars whose points are in a window of a section; picks and ones are in ascending order.
fn runs_of(section: Section, window: &Range<usize>, queries: [&QueryScalars; 3]) -> Vec<Scalars> {
    let Some(query) = section.query() else { return vec![Scalars::Quotient(window.clone())] };
    let within = |indices: &[u32]| {
        let before = |end: usize| indices.partition_point(|index| (*index as usize) < end);
        before(window.start)..before(window.end)
    };
    let scalars = queries[query];
    vec![Scalars::Rest(within(&scalars.picks)), Scalars::Ones(within(&scalars.ones))]
}

fn sums(section: Section, place: Place, runs: Vec<Scalars>) -> Vec<Step> {
    let there = runs.into_iter().filter(|run| run.count() > 0);
    there.map(|scalars| Step::Sum { section, place, scalars }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(points: u32) -> QueryScalars {
        let picks: Vec<u32> = (0..points).filter(|i| i % 5 == 1).collect();
        let ones = (0..points).filter(|i| i % 3 == 2 && i % 5 != 1).collect();
        QueryScalars { ones, scalars: vec![[7, 0, 0, 0]; picks.len()], picks }
    }

    /// Every scalar of every section is in one run, whose points are where the run looks for them.
    #[test]
    fn runs_cover_all_scalars_once() {
        for (log_domain, counts) in [(0, [0, 1, 0]), (3, [9, 7, 4]), (5, [31, 33, 32])] {
            let shape = KeyShape { log_domain, root_generator: 7, queries: counts };
            let [l, a, b] = counts.map(|count| query(count as u32));
            let queries = [&l, &a, &b];
            for most in [1, 2, 7, 32, 1000] {
                for (streamed, with_b2) in [(false, false), (true, false), (false, true), (true, true)] {
                    check(&shape, queries, most, streamed, with_b2);
                }
            }
        }
    }

    fn check(shape: &KeyShape, queries: [&QueryScalars; 3], most: usize, streamed: bool, with_b2: bool) {
        let mut seen: Vec<(Section, usize)> = Vec::new();
        let mut buffers: [Option<(Section, Range<usize>)>; STREAM_BUFFERS] = [None, None];
        for step in steps(shape, queries, most, streamed, with_b2) {
            match step {
                Step::Bring { section, points, buffer } => {
                    assert!(streamed && points.len() <= most);
                    buffers[buffer] = Some((section, points));
                }
                Step::Sum { section, place, scalars } => {
                    assert!(scalars.count() > 0 && scalars.count() <= most);
                    let indices = |range: &Range<usize>| match &scalars {
                        Scalars::Quotient(_) => range.clone().collect::<Vec<_>>(),
                        Scalars::Rest(_) => {
                            range.clone().map(|i| query_of(section, queries).picks[i] as usize).collect()
                        }
                        Scalars::Ones(_) => {
                            range.clone().map(|i| query_of(section, queries).ones[i] as usize).collect()
                        }
                    };
                    let (Scalars::Quotient(range) | Scalars::Rest(range) | Scalars::Ones(range)) = &scalars;
                    let points = indices(range);
                    if let Place::Streamed { buffer, first } = place {
                        let (there, window) = buffers[buffer].clone().unwrap_or((Section::H, 0..0));
                        assert_eq!((there, window.start), (section, first));
                        assert!(points.iter().all(|point| window.contains(point)));
                    }
                    seen.extend(points.into_iter().map(|point| (section, point)));
                }
            }
        }
        let mut wanted: Vec<(Section, usize)> = (0..shape.domain_size() - 1).map(|i| (Section::H, i)).collect();
        for section in [Section::L, Section::A, Section::B1, Section::B2] {
            if section != Section::B2 || with_b2 {
                let query = query_of(section, queries);
                wanted.extend(query.picks.iter().chain(&query.ones).map(|i| (section, *i as usize)));
            }
        }
        let sort = |list: &mut Vec<(Section, usize)>| list.sort_by_key(|(section, point)| (*section as usize, *point));
        sort(&mut seen);
        sort(&mut wanted);
        assert_eq!(seen, wanted);
    }

    fn query_of(section: Section, queries: [&QueryScalars; 3]) -> &QueryScalars {
        queries[section.query().unwrap_or_default()]
    }
}
