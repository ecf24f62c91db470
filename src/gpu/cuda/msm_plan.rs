//! Which kernels make a multi-scalar multiplication, or a sum of points: the same list of launches as
//! `cuda/kernel/msm_plan.h` gives, which says what each is for. Plain data: no call of CUDA is here.
//!
//! Shapes depend on the number of scalars and the tuning alone, never on the scalars.

use super::launch::{self, Symbol};
use super::module::Shape;

/// Buffers that launches name; places in them count bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Affine points as the host has them.
    Points,
    /// Canonical scalars of 32 bytes.
    Scalars,
    /// The index of each scalar's point, u32.
    Picks,
    /// One point by its Jacobian coordinates.
    Result,
    /// Scratch.
    Workspace,
}

/// The kernels; those after `List` are of the plan's group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelName {
    Recode,
    CountDigits,
    CountPairs,
    SegmentSums,
    SegmentStarts,
    Totals,
    Places,
    ScatterDigits,
    ScatterPairs,
    List,
    Clear,
    Accumulate,
    Join,
    Reduce,
    Merge,
    Window,
    Result,
}

/// A group of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    G1,
    G2,
}

impl Group {
    /// Bytes of an affine point.
    pub fn affine_bytes(self) -> u64 {
        match self {
            Self::G1 => 96,
            Self::G2 => 192,
        }
    }
}

impl KernelName {
    /// All of them, in the order of the enumeration.
    pub const ALL: [Self; 17] = [
        Self::Recode,
        Self::CountDigits,
        Self::CountPairs,
        Self::SegmentSums,
        Self::SegmentStarts,
        Self::Totals,
        Self::Places,
        Self::ScatterDigits,
        Self::ScatterPairs,
        Self::List,
        Self::Clear,
        Self::Accumulate,
        Self::Join,
        Self::Reduce,
        Self::Merge,
        Self::Window,
        Self::Result,
    ];

    /// Where the kernel for a group is.
    pub fn symbol(self, group: Group) -> Symbol {
        let in_sort = |name| Symbol { file: "msm_sort", name };
        let of_group = |g1: &'static str, g2: &'static str| match group {
            Group::G1 => Symbol { file: "msm_g1", name: g1 },
            Group::G2 => Symbol { file: "msm_g2", name: g2 },
        };
        match self {
            Self::Recode => in_sort("g16_msm_recode"),
            Self::CountDigits => in_sort("g16_msm_count_digits"),
            Self::CountPairs => in_sort("g16_msm_count_pairs"),
            Self::SegmentSums => in_sort("g16_msm_segment_sums"),
            Self::SegmentStarts => in_sort("g16_msm_segment_starts"),
            Self::Totals => in_sort("g16_msm_totals"),
            Self::Places => in_sort("g16_msm_places"),
            Self::ScatterDigits => in_sort("g16_msm_scatter_digits"),
            Self::ScatterPairs => in_sort("g16_msm_scatter_pairs"),
            Self::List => in_sort("g16_msm_list"),
            Self::Clear => of_group("g16_msm_clear_g1", "g16_msm_clear_g2"),
            Self::Accumulate => match group {
                Group::G1 => Symbol { file: "msm_accumulate_g1", name: "g16_msm_accumulate_g1" },
                Group::G2 => Symbol { file: "msm_accumulate_g2", name: "g16_msm_accumulate_g2" },
            },
            Self::Join => of_group("g16_msm_join_g1", "g16_msm_join_g2"),
            Self::Reduce => of_group("g16_msm_reduce_g1", "g16_msm_reduce_g2"),
            Self::Merge => of_group("g16_msm_merge_g1", "g16_msm_merge_g2"),
            Self::Window => of_group("g16_msm_window_g1", "g16_msm_window_g2"),
            Self::Result => of_group("g16_msm_result_g1", "g16_msm_result_g2"),
        }
    }
}

/// An argument; places count bytes.
pub type Slot = launch::Slot<Buffer>;
/// One launch.
pub type Launch = launch::Launch<KernelName, Buffer>;

/// Numbers that depend on the architecture, or on measurements on one: see `cuda/tuning/msm.h`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Bits of a digit by the number of scalars: `[i]` for up to 2^i of them.
    pub bits: [u8; 32],
    /// log2 of the buckets of a chunk, at most.
    pub log_chunk: u32,
    /// Chunks, at least, before chunks grow.
    pub chunks: u64,
    /// Blocks of the accumulation, at most.
    pub blocks: u64,
    /// Their threads.
    pub threads: u32,
    /// Pairs that a thread of it takes at least.
    pub least: u32,
    /// Pairs of a thread above which there are twice as many blocks.
    pub many: u32,
    /// Heads that a thread of a join takes.
    pub fan: u32,
    /// Windows that are sorted and added up together, at most.
    pub windows: u32,
}

impl Tuning {
    /// By group, compute capability, and multiprocessors.
    pub fn of(group: Group, compute: (i32, i32), multiprocessors: u32) -> Self {
        let bits: [u8; 32] = [
            4, 4, 4, 4, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11, 12, 13, 13, 15, 15, 16, 18, 18, 19, 20, 20, 20, 22, 22, 22,
            22, 22,
        ];
        // Others than these have 99 KiB of shared memory a block, which a scatter of ten bits exceeds.
        let most = if matches!(compute, (8..=10, 0)) { 22 } else { 19 };
        Self {
            bits: bits.map(|bits| bits.min(most)),
            log_chunk: 5,
            chunks: 256 * u64::from(multiprocessors),
            blocks: 8 * u64::from(multiprocessors),
            threads: if group == Group::G2 { 128 } else { 256 },
            least: 16,
            many: 512,
            fan: 4,
            windows: 128,
        }
    }
}

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The points' group.
    pub group: Group,
    /// Whether all scalars are one, and none is read.
    pub sum: bool,
    /// How many scalars, up to 2^26.
    pub count: u32,
    /// Whether scalar i belongs to point `picks[i]`; else to point i.
    pub picks: bool,
}

/// The launches of one task.
#[derive(Clone, Debug)]
pub struct Msm {
    task: Task,
    tuning: Tuning,
    /// Bytes of a point by its extended coordinates.
    point: u64,
    bytes: u64,
    bits: u32,
    windows: u32,
    together: u32,
    low_bits: u32,
    high_bits: u32,
    log_chunk: u32,
    tiles: u32,
    segments: u32,
    blocks: u32,
    places: Places,
}

/// Where things stand in the workspace.
#[derive(Clone, Debug, Default)]
struct Places {
    planes: u64,
    pairs: u64,
    sorted: u64,
    counts: u64,
    segment_sums: u64,
    totals: u64,
    starts: u64,
    buckets: u64,
    heads: [u64; 2],
    head_keys: [u64; 2],
    nodes: [u64; 2],
    sums: u64,
}

const THREADS: u32 = 256;
const SORT_THREADS: u32 = 512;
const TILE: u64 = 8192;
const SEGMENT: u64 = 32;
/// Threads of a block of the kernels that add points, but the accumulation.
const WORK: u32 = 128;

fn blocks(count: u64, threads: u32) -> u32 {
    count.div_ceil(u64::from(threads)) as u32
}

fn at(byte: u64) -> Slot {
    Slot::At(Buffer::Workspace, byte)
}

fn flat(kernel: KernelName, count: u64, threads: u32, arguments: Vec<Slot>) -> Launch {
    let shape = Shape { blocks: blocks(count, threads), threads, shared_bytes: 0 };
    Launch { kernel, shape, arguments }
}

/// Places, then numbers.
fn slots(places: &[Slot], numbers: &[u32]) -> Vec<Slot> {
    places.iter().copied().chain(numbers.iter().map(|number| Slot::Number(*number))).collect()
}

fn scatter_bytes(log_bins: u32) -> u32 {
    8 * TILE as u32 + ((2 * SORT_THREADS / 32 + 4) << log_bins) + 4 * 33
}

impl Msm {
    /// Lays the workspace out.
    pub fn new(task: Task, tuning: Tuning) -> Self {
        let point = 2 * task.group.affine_bytes();
        let mut plan = Self {
            task,
            tuning,
            point,
            bytes: 0,
            bits: 1,
            windows: 1,
            together: 1,
            low_bits: 0,
            high_bits: 0,
            log_chunk: 0,
            tiles: 0,
            segments: 0,
            blocks: 0,
            places: Places::default(),
        };
        if task.sum {
            plan.places.sorted = plan.take(8 * u64::from(task.count));
            plan.lay_points(1);
        } else {
            plan.lay_msm();
        }
        plan
    }

    /// What the buffer `Workspace` must hold, in bytes.
    pub fn workspace_bytes(&self) -> u64 {
        self.bytes
    }

    /// What this is for.
    pub fn task(&self) -> Task {
        self.task
    }

    fn take(&mut self, bytes: u64) -> u64 {
        let place = self.bytes;
        self.bytes += bytes.div_ceil(256) * 256;
        place
    }

    fn buckets(&self) -> u64 {
        u64::from(self.windows) << (self.bits - 1)
    }

    fn lay_msm(&mut self) {
        let count = u64::from(self.task.count);
        let log_count = (0..31).find(|log| 1u64 << log >= count).unwrap_or(31);
        self.bits = self.tuning.bits[log_count].into();
        self.windows = 256u32.div_ceil(self.bits);
        self.together = self.windows.min(self.tuning.windows);
        self.low_bits = self.bits / 2;
        self.high_bits = self.bits - 1 - self.low_bits;
        let most = self.tuning.log_chunk.min(self.bits - 1);
        while self.log_chunk < most && (self.buckets() >> self.log_chunk) > self.tuning.chunks {
            self.log_chunk += 1;
        }
        self.tiles = count.div_ceil(TILE).max(1) as u32;
        self.segments = u64::from(self.tiles).div_ceil(SEGMENT) as u32;
        let together = u64::from(self.together);
        let (pairs, nodes) = (count * together, together << (self.bits - 1 - self.log_chunk));
        let point = self.point;
        self.places.planes = self.take(32 * count);
        self.places.pairs = self.take(8 * pairs);
        self.places.sorted = self.take(8 * pairs);
        self.places.counts = self.take((4 * together * u64::from(self.tiles)) << self.low_bits);
        self.places.segment_sums = self.take((4 * together * u64::from(self.segments)) << self.low_bits);
        self.places.totals = self.take((4 * together) << self.low_bits);
        self.lay_points(together << (self.bits - 1));
        self.places.nodes[0] = self.take(2 * nodes * point);
        // The first level of the tree has half as many nodes of three parts, the second a quarter of four.
        self.places.nodes[1] = self.take((3 * nodes / 2 + together * 3) * point);
        self.places.sums = self.take(u64::from(self.windows) * point);
    }

    fn lay_points(&mut self, buckets: u64) {
        self.places.starts = self.take(4 * (u64::from(self.together) + 1));
        self.places.buckets = self.take(buckets * self.point);
        let pairs = u64::from(self.task.count) * u64::from(self.together);
        let least = u64::from(self.tuning.least) * u64::from(self.tuning.threads);
        self.blocks = pairs.div_ceil(least).min(self.tuning.blocks) as u32;
        if pairs / u64::from(self.tuning.threads) / u64::from(self.blocks.max(1)) > u64::from(self.tuning.many) {
            self.blocks *= 2;
        }
        let mut heads = u64::from(self.blocks * self.tuning.threads);
        for i in 0..2 {
            self.places.heads[i] = self.take(heads * self.point);
            self.places.head_keys[i] = self.take(4 * heads);
            heads = heads.div_ceil(self.tuning.fan.into());
        }
    }

    fn picks(&self) -> Slot {
        if self.task.picks { Slot::At(Buffer::Picks, 0) } else { Slot::Null }
    }

    /// What is to be launched, in order.
    pub fn launches(&self) -> Vec<Launch> {
        let (count, places) = (self.task.count, &self.places);
        let mut out = Vec::new();
        if count == 0 {
            self.result(&mut out, 0, 0);
            return out;
        }
        if self.task.sum {
            let total = at(places.starts + 4 * u64::from(self.together));
            let arguments = slots(&[at(places.sorted), total, self.picks()], &[count]);
            out.push(flat(KernelName::List, count.into(), THREADS, arguments));
            self.clear(&mut out, 1);
            self.accumulate(&mut out, total);
            self.result(&mut out, places.buckets, 1);
            return out;
        }
        self.recode(&mut out);
        for first in (0..self.windows).step_by(self.together as usize) {
            self.group(&mut out, first, self.together.min(self.windows - first));
        }
        self.result(&mut out, places.sums, self.windows);
        out
    }

    fn recode(&self, out: &mut Vec<Launch>) {
        let mut offset = [0u32; 8];
        for window in 0..self.windows - 1 {
            let bit = (window * self.bits + self.bits - 1) as usize;
            offset[bit / 32] |= 1 << (bit % 32);
        }
        let count = self.task.count;
        let mut arguments = slots(&[at(self.places.planes), Slot::At(Buffer::Scalars, 0)], &[count]);
        arguments.extend(offset.map(Slot::Number));
        out.push(flat(KernelName::Recode, count.into(), THREADS, arguments));
    }

    fn group(&self, out: &mut Vec<Launch>, first: u32, windows: u32) {
        let Places { planes, pairs, sorted, counts, starts, .. } = self.places;
        let (count, tiles, low, high) = (self.task.count, self.tiles, self.low_bits, self.high_bits);
        let sort = |kernel, shared_bytes, arguments| {
            let shape = Shape { blocks: windows * tiles, threads: SORT_THREADS, shared_bytes };
            Launch { kernel, shape, arguments }
        };
        let digits = [count, tiles, first, self.windows, self.bits, low];
        out.push(sort(KernelName::CountDigits, 4 << low, slots(&[at(counts), at(planes)], &digits)));
        self.prefix_sums(out, windows, low);
        let to = if high > 0 { pairs } else { sorted };
        let arguments = slots(&[at(to), at(planes), self.picks(), at(counts)], &digits);
        out.push(sort(KernelName::ScatterDigits, scatter_bytes(low), arguments));
        if high > 0 {
            let numbers = [tiles, low, high];
            let arguments = slots(&[at(counts), at(pairs), at(starts)], &numbers);
            out.push(sort(KernelName::CountPairs, 4 << high, arguments));
            self.prefix_sums(out, windows, high);
            let arguments = slots(&[at(sorted), at(pairs), at(starts), at(counts)], &numbers);
            out.push(sort(KernelName::ScatterPairs, scatter_bytes(high), arguments));
        }
        self.clear(out, windows << (self.bits - 1));
        self.accumulate(out, at(starts + 4 * u64::from(windows)));
        self.reduce(out, first, windows);
    }

    fn prefix_sums(&self, out: &mut Vec<Launch>, windows: u32, log_bins: u32) {
        let Places { counts, segment_sums, totals, starts, .. } = self.places;
        let (tiles, segments) = (self.tiles, self.segments);
        let columns = u64::from(windows) << log_bins;
        let parts = columns * u64::from(segments);
        let arguments = slots(&[at(segment_sums), at(counts)], &[windows, tiles, segments, log_bins]);
        out.push(flat(KernelName::SegmentSums, parts, THREADS, arguments));
        let arguments = slots(&[at(segment_sums), at(totals)], &[windows, segments, log_bins]);
        out.push(flat(KernelName::SegmentStarts, columns, THREADS, arguments));
        let shape = Shape { blocks: 1, threads: 1024, shared_bytes: 4 * 33 };
        let arguments = slots(&[at(totals), at(starts)], &[windows, log_bins]);
        out.push(Launch { kernel: KernelName::Totals, shape, arguments });
        let numbers = [windows, tiles, segments, log_bins];
        let arguments = slots(&[at(counts), at(segment_sums), at(totals)], &numbers);
        out.push(flat(KernelName::Places, parts, THREADS, arguments));
    }

    fn clear(&self, out: &mut Vec<Launch>, buckets: u32) {
        let arguments = slots(&[at(self.places.buckets)], &[buckets]);
        out.push(flat(KernelName::Clear, buckets.into(), THREADS, arguments));
    }

    fn accumulate(&self, out: &mut Vec<Launch>, total: Slot) {
        let Places { sorted, buckets, heads, head_keys, .. } = self.places;
        let Tuning { threads, least, fan, .. } = self.tuning;
        let points = Slot::At(Buffer::Points, 0);
        let places = [at(buckets), at(heads[0]), at(head_keys[0]), points, at(sorted), total];
        let shape = Shape { blocks: self.blocks, threads, shared_bytes: 0 };
        out.push(Launch { kernel: KernelName::Accumulate, shape, arguments: slots(&places, &[least]) });
        let (mut from, mut count) = (0, self.blocks * threads);
        while count > 1 {
            let left = count.div_ceil(fan);
            let mut arguments = slots(&[at(buckets), at(heads[from]), at(head_keys[from])], &[count]);
            arguments.extend(slots(&[at(heads[from ^ 1]), at(head_keys[from ^ 1])], &[fan]));
            out.push(flat(KernelName::Join, left.into(), WORK, arguments));
            (from, count) = (from ^ 1, left);
        }
    }

    fn reduce(&self, out: &mut Vec<Launch>, first: u32, windows: u32) {
        let Places { buckets, nodes, sums, .. } = self.places;
        let levels = self.bits - 1 - self.log_chunk;
        let (mut left, mut from) = (windows << levels, 0);
        let arguments = slots(&[at(nodes[0]), at(buckets)], &[left, self.log_chunk]);
        out.push(flat(KernelName::Reduce, left.into(), WORK, arguments));
        for level in 0..levels {
            let parts = 2 + level;
            left /= 2;
            let arguments = slots(&[at(nodes[from ^ 1]), at(nodes[from])], &[left, parts]);
            out.push(flat(KernelName::Merge, u64::from(left) * u64::from(parts + 1), WORK, arguments));
            from ^= 1;
        }
        let sum = at(sums + u64::from(first) * self.point);
        let arguments = slots(&[sum, at(nodes[from])], &[windows, levels, self.log_chunk]);
        let shape = Shape { blocks: windows, threads: self.tail(), shared_bytes: 0 };
        out.push(Launch { kernel: KernelName::Window, shape, arguments });
    }

    fn result(&self, out: &mut Vec<Launch>, sums: u64, windows: u32) {
        let arguments = slots(&[Slot::At(Buffer::Result, 0), at(sums)], &[windows, self.bits]);
        let shape = Shape { blocks: 1, threads: self.tail(), shared_bytes: 0 };
        out.push(Launch { kernel: KernelName::Result, shape, arguments });
    }

    /// Threads that share the arithmetic of the tail.
    fn tail(&self) -> u32 {
        match self.task.group {
            Group::G1 => 4,
            Group::G2 => 12,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::process::Command;

    use super::*;

    #[test]
    fn plans_are_those_of_the_kernels() {
        let folder = tempfile::tempdir().unwrap();
        let program = launch::build_dump("msm_plan_dump", folder.path());
        let around = |log: u32| [(1u32 << log) - 1, 1 << log, (1 << log) + 1];
        let counts = [5, 6, 10, 13, 16, 18, 20, 22, 24, 26].into_iter().flat_map(around).take(29).chain(0..5);
        for count in counts {
            for (group, sum, picks) in [
                (Group::G1, false, false),
                (Group::G1, false, true),
                (Group::G1, true, true),
                (Group::G2, false, true),
                (Group::G2, true, false),
            ] {
                let number = 1 + group as u32;
                let minor = if count % 3 == 1 { 9 } else { 0 };
                let capability = if minor == 0 { 90 } else { 89 };
                let compute = (capability / 10, minor);
                let numbers = [number, sum.into(), count, picks.into(), capability as u32, 132];
                let numbers = numbers.map(|number| number.to_string());
                let output = Command::new(&program).args(&numbers).output().unwrap();
                let plan = Msm::new(Task { group, sum, count, picks }, Tuning::of(group, compute, 132));
                let mut text = format!("workspace of {}\n", plan.workspace_bytes());
                for one in plan.launches() {
                    assert!(minor == 0 || one.shape.shared_bytes <= 99 << 10);
                    // The dump names no group.
                    let name = one.kernel.symbol(group).name;
                    let name = name.trim_end_matches("_g1").trim_end_matches("_g2");
                    text.push_str(&launch::text(&one, name));
                }
                assert_eq!(text, String::from_utf8(output.stdout).unwrap(), "{numbers:?}");
            }
        }
    }
}
