//! Sums of many buckets of points at once. The entries of a bucket are cut into runs of bounded length; a piece takes a few
//! thousand runs, longest first, and adds the next entry of every run in one batch, until no run has any left. So no two
//! additions of a batch ever meet in one sum, sums stay in vectors, and only addends are gathered. Buckets of several runs
//! are summed up by the same means.

use super::batch::{Gathered, NONE, Scratch, Sums, add, vectors};
use super::element::Points;
use super::lanes::{Lanes, Row, Task};
use super::table::zeroed;
use crate::error::Result;
use crate::math::curve::CurveField;
use crate::math::msm::buckets::Sorted;
use crate::par;
use zeroize::Zeroizing;

/// Runs of a piece, at most: what a piece works on (about 1 MB in the second group) should stay in a core's cache.
const PIECE: usize = 2048;

/// The sums of buckets.
#[derive(Debug, Default)]
pub struct BucketSums {
    /// As those of a table.
    pub rows: Vec<Row>,
    /// By list and bucket: the index of the sum's point in `rows`, or [`NONE`] if it is infinite.
    pub places: Vec<Vec<u32>>,
}

/// Entries `start .. start + length` of a sorted list, of one bucket.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u32,
    length: u32,
}

/// A list cut into runs.
struct Cut {
    runs: Vec<Run>,
    /// By bucket: the number of its first run, and at last how many runs there are.
    first: Vec<u32>,
    /// The length of the longest one.
    longest: usize,
}

impl Cut {
    /// Cuts one of `lists` lists that are summed up together.
    fn new(sorted: &Sorted, lists: usize) -> Self {
        let lengths = sorted.offsets().windows(2).map(|pair| pair[1] - pair[0]);
        let (filled, total) = lengths.fold((0usize, 0u64), |(filled, total), length| {
            (filled + usize::from(length > 0), total + u64::from(length))
        });
        // Twice an even share and some, so that with even shares next to no bucket is cut. Few buckets that hold everything
        // are cut into about as many runs as batches want: a whole batch of each list, more where threads outnumber the lists.
        let wanted = par::threads().div_ceil(lists) * PIECE / 2;
        let share = total.div_ceil(filled.max(wanted) as u64) as u32;
        let most = 2 * share + if filled < 512 { 2 } else { 8 };
        let (mut runs, mut first, mut longest) =
            (Vec::with_capacity(filled), Vec::with_capacity(sorted.buckets() + 1), 0);
        for pair in sorted.offsets().windows(2) {
            first.push(runs.len() as u32);
            let mut start = pair[0];
            while start < pair[1] {
                let length = most.min(pair[1] - start);
                runs.push(Run { start, length });
                longest = longest.max(length as usize);
                start += length;
            }
        }
        first.push(runs.len() as u32);
        Self { runs, first, longest }
    }
}

/// The sums of the buckets of every list: of the points of `rows` (`2 D` rows each, all that are named finite) that a
/// bucket's entries name. On the caller's pool; takes a point a bucket that is not empty, and about 1 MB a thread.
///
/// Errors: `NoMemory`.
pub fn sums<L: Lanes, F: CurveField, const D: usize>(rows: &[Row], lists: &[Sorted]) -> Result<BucketSums> {
    let cuts = par::map(lists.len(), |i| Cut::new(&lists[i], lists.len()));
    let total: usize = cuts.iter().map(|cut| cut.runs.len()).sum();
    let mut out = BucketSums { rows: zeroed(total * 2 * D, "sums of buckets")?, places: Vec::new() };
    let mut infinite = vec![0u8; total];

    let size = (total / (4 * par::threads())).clamp(PIECE / 4, PIECE);
    let mut pieces = Vec::new();
    let (mut rest, mut rest_infinite) = (&mut out.rows[..], &mut infinite[..]);
    for (sorted, cut) in lists.iter().zip(&cuts) {
        for runs in cut.runs.chunks(size) {
            let own;
            (own, rest) = std::mem::take(&mut rest).split_at_mut(runs.len() * 2 * D);
            let own_infinite;
            (own_infinite, rest_infinite) = std::mem::take(&mut rest_infinite).split_at_mut(runs.len());
            let entries = sorted.entries();
            pieces.push(Piece { entries, runs, longest: cut.longest, out: own, infinite: own_infinite });
        }
    }
    // Some pieces a task, so that they share their room.
    let each = pieces.len().div_ceil(8 * par::threads()).max(1);
    let mut tasks = Vec::new();
    while !pieces.is_empty() {
        let kept = pieces.len().saturating_sub(each);
        tasks.push(pieces.split_off(kept));
    }
    par::map_items(tasks, |pieces| L::run(Pieces::<L, F, D> { rows, pieces, lanes: Default::default() }));
    join::<L, F, D>(&mut out.rows, &mut infinite, &cuts)?;
    let bases: Vec<usize> =
        cuts.iter().scan(0, |base, cut| Some(std::mem::replace(base, *base + cut.runs.len()))).collect();
    out.places = par::map(cuts.len(), |i| places(&cuts[i], bases[i], &infinite));
    Ok(out)
}

/// Adds the sums of a bucket's runs up, into the place of the first one.
fn join<L: Lanes, F: CurveField, const D: usize>(rows: &mut [Row], infinite: &mut [u8], cuts: &[Cut]) -> Result<()> {
    let mut base = 0;
    // The first run of each bucket of several, and its runs.
    let mut several = Vec::new();
    for cut in cuts {
        let ends = cut.first.windows(2).filter(|pair| pair[1] > pair[0] + 1);
        several.extend(ends.map(|pair| (base + pair[0] as usize)..(base + pair[1] as usize)));
        base += cut.runs.len();
    }
    if several.is_empty() {
        return Ok(());
    }
    let list = Sorted::new(several.len(), || {
        let runs = several.iter().enumerate().flat_map(|(i, runs)| runs.clone().map(move |run| (i as u32, run)));
        runs.filter(|(_, run)| infinite[*run] == 0).map(|(i, run)| (i, 2 * run as u32))
    });
    let sums = sums::<L, F, D>(rows, &[list])?;
    for (runs, place) in several.iter().zip(sums.places.iter().flatten()) {
        infinite[runs.start] = u8::from(*place == NONE);
        if *place != NONE {
            let from = *place as usize * 2 * D;
            rows[runs.start * 2 * D..][..2 * D].copy_from_slice(&sums.rows[from..from + 2 * D]);
        }
    }
    Ok(())
}

fn places(cut: &Cut, base: usize, infinite: &[u8]) -> Vec<u32> {
    let place = |pair: &[u32]| {
        let run = base + pair[0] as usize;
        if pair[0] == pair[1] || infinite[run] != 0 { NONE } else { run as u32 }
    };
    cut.first.windows(2).map(place).collect()
}

/// Some runs of one list.
struct Piece<'t> {
    entries: &'t [u32],
    runs: &'t [Run],
    longest: usize,
    /// The sums, in the order of the runs.
    out: &'t mut [Row],
    infinite: &'t mut [u8],
}

/// Pieces that are done one after the other.
struct Pieces<'t, L, F, const D: usize> {
    rows: &'t [Row],
    pieces: Vec<Piece<'t>>,
    lanes: std::marker::PhantomData<(L, F)>,
}

/// The runs' numbers, longest first, and how many runs are longer than 0, 1, ... entries.
fn order(runs: &[Run], longest: usize) -> (Vec<u32>, Vec<u32>) {
    let mut longer = vec![0u32; longest + 1];
    for run in runs {
        longer[run.length as usize] += 1;
    }
    // From how many there are of a length to how many are at least as long.
    for length in (0..longest).rev() {
        longer[length] += longer[length + 1];
    }
    let mut next: Vec<u32> = longer[1..].iter().copied().chain([0]).collect();
    let mut order = vec![0u32; runs.len()];
    for (i, run) in runs.iter().enumerate() {
        let place = &mut next[run.length as usize];
        order[*place as usize] = i as u32;
        *place += 1;
    }
    longer.remove(0);
    (order, longer)
}

impl<L: Lanes, F: CurveField, const D: usize> Task for Pieces<'_, L, F, D> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let most = self.pieces.iter().map(|piece| piece.runs.len()).max().unwrap_or(0);
        let mut sums = Sums::<L, D>::new(most);
        let mut scratch = Scratch::<L, D>::new(vectors(most));
        // These tell the scalars.
        let mut picked = Zeroizing::new(vec![[NONE; 8]; vectors(most)]);
        for piece in self.pieces {
            let (order, longer) = order(piece.runs, piece.longest);
            let starts: Vec<u32> = order.iter().map(|&run| piece.runs[run as usize].start).collect();
            for (round, &active) in longer.iter().enumerate() {
                let active = active as usize;
                if active == 0 {
                    break;
                }
                let vectors = vectors(active);
                for (lane, start) in starts[..active].iter().enumerate() {
                    picked[lane / 8][lane % 8] = piece.entries[*start as usize + round];
                }
                for lane in active..8 * vectors {
                    picked[lane / 8][lane % 8] = NONE;
                }
                let addends = Gathered { rows: self.rows, entries: &picked[..vectors] };
                if round == 0 {
                    first(&mut sums, vectors, &addends);
                } else {
                    add::<L, F, D>(&mut sums, vectors, &addends, &mut scratch);
                }
            }
            write::<L, D>(&sums, &order, piece.out, piece.infinite);
        }
    }
}

/// Writes the sums to where their runs want them.
#[inline(always)]
fn write<L: Lanes, const D: usize>(sums: &Sums<L, D>, order: &[u32], out: &mut [Row], infinite: &mut [u8]) {
    for (v, runs) in order.chunks(8).enumerate() {
        let (x, y) = (sums.points[v].x.to_rows(), sums.points[v].y.to_rows());
        for (i, &run) in runs.iter().enumerate() {
            let run = run as usize;
            for k in 0..D {
                out[2 * D * run + k] = x[k][i];
                out[2 * D * run + D + k] = y[k][i];
            }
            infinite[run] = sums.infinite[v] >> i & 1;
        }
    }
}

/// Sets the sums to their first addends.
#[inline(always)]
fn first<L: Lanes, const D: usize>(sums: &mut Sums<L, D>, vectors: usize, addends: &Gathered<'_>) {
    use super::batch::Addends;
    for v in 0..vectors {
        <Gathered<'_> as Addends<L, D>>::fetch_x(addends, v + 2);
        <Gathered<'_> as Addends<L, D>>::fetch_y(addends, v + 2);
        sums.points[v] = Points { x: addends.x(v), y: addends.y(v) };
        sums.infinite[v] = <Gathered<'_> as Addends<L, D>>::absent(addends, v);
    }
}
