//! Which kernels make a transform or a quotient: the same list of launches as `cuda/kernel/plan.h` gives, which says what
//! each is for. Plain data: no call of CUDA is here.
//!
//! Sizes are in elements of 32 bytes. For a domain of d = 2^L a quotient takes three vectors of d (a, b and u), a fourth
//! where c is compared, and the tables: some 18 MB at 2^24.

use super::launch::{self, Symbol};
use super::module::Shape;

/// Buffers that launches name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// The values of A w, then scratch.
    A,
    /// The values of B w, then the quotient.
    B,
    /// The values of C w.
    C,
    /// Scratch.
    U,
    /// What `Transforms::tables` fills.
    Tables,
    /// One u32: the first row that breaks the circuit.
    First,
}

/// The kernels of transforms and quotient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelName {
    Domain,
    RootPowers,
    ShiftPowers,
    Twists,
    Radix2Inverse,
    Radix2Forward,
    Shift,
    InversePass,
    ForwardPass,
    ContiguousPass,
    Product,
    Finish,
}

impl KernelName {
    /// All of them, in the order of the enumeration.
    pub const ALL: [Self; 12] = [
        Self::Domain,
        Self::RootPowers,
        Self::ShiftPowers,
        Self::Twists,
        Self::Radix2Inverse,
        Self::Radix2Forward,
        Self::Shift,
        Self::InversePass,
        Self::ForwardPass,
        Self::ContiguousPass,
        Self::Product,
        Self::Finish,
    ];

    /// Where it is.
    pub fn symbol(self) -> Symbol {
        let (file, name) = match self {
            Self::Domain => ("ntt_tables", "g16_domain"),
            Self::RootPowers => ("ntt_tables", "g16_root_powers"),
            Self::ShiftPowers => ("ntt_tables", "g16_shift_powers"),
            Self::Twists => ("ntt_tables", "g16_twists"),
            Self::Radix2Inverse => ("ntt_radix2", "g16_radix2_inverse"),
            Self::Radix2Forward => ("ntt_radix2", "g16_radix2_forward"),
            Self::Shift => ("ntt_radix2", "g16_shift"),
            Self::InversePass => ("ntt_pass", "g16_inverse_pass"),
            Self::ForwardPass => ("ntt_pass", "g16_forward_pass"),
            Self::ContiguousPass => ("ntt_pass", "g16_contiguous_pass"),
            Self::Product => ("quotient", "g16_product"),
            Self::Finish => ("quotient", "g16_finish"),
        };
        Symbol { file, name }
    }
}

/// An argument; places count elements.
pub type Slot = launch::Slot<Buffer>;
/// One launch.
pub type Launch = launch::Launch<KernelName, Buffer>;

/// Numbers that depend on the architecture: see `cuda/tuning/tuning.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// log2 of the rows of a tile, at most: 5 to 9.
    pub rows_log: u32,
    /// log2 of the elements of a tile, at least 3.
    pub tile_log: u32,
    /// log2 of the entries of the table of roots.
    pub coarse_log: u32,
}

impl Tuning {
    /// By compute capability.
    pub fn of(_compute: (i32, i32)) -> Self {
        Self { rows_log: 9, tile_log: 10, coarse_log: 18 }
    }
}

#[derive(Clone, Copy, Debug)]
struct Field {
    bits: u32,
    low: u32,
}

/// The launches over one domain.
#[derive(Clone, Debug)]
pub struct Transforms {
    log_size: u32,
    generator: u32,
    shift: u32,
    tuning: Tuning,
    /// From the highest bits to the lowest.
    fields: Vec<Field>,
    low_log: u32,
    coarse_log: u32,
    places: Places,
}

/// Where the tables stand in their buffer.
#[derive(Clone, Debug)]
struct Places {
    small: u64,
    coarse: u64,
    shift: u64,
    unshift: u64,
    /// Of each field but the last, the first of its tables.
    twists: Vec<u64>,
    end: u64,
}

/// The tables of twists of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    /// Of the inverse transform.
    Plain,
    /// The same with the shift to the coset.
    Shifted,
    /// The same with the shift back.
    Unshifted,
    /// Of the forward transform.
    Back,
}

const DIRECTIONS: [Direction; 4] = [Direction::Plain, Direction::Shifted, Direction::Unshifted, Direction::Back];

const SMALL_LOG: u32 = 9;
const THREADS: u32 = 256;
/// Elements of the table of single numbers, and places in it.
const DOMAIN_ELEMENTS: u64 = 100;
const SHIFT: u64 = 33;
const UNSHIFT: u64 = 65;
const INVERSE_SIZE: u64 = 98;
const QUOTIENT_SCALE: u64 = 99;
/// What a pass does, in this order.
const INVERSE: u32 = 1;
const FACTORS: u32 = 2;
const FORWARD: u32 = 4;
const REDUCE: u32 = 8;

fn blocks(count: u64) -> u32 {
    count.div_ceil(u64::from(THREADS)) as u32
}

fn flat(kernel: KernelName, count: u64, arguments: Vec<Slot>) -> Launch {
    let shape = Shape { blocks: blocks(count), threads: THREADS, shared_bytes: 0 };
    Launch { kernel, shape, arguments }
}

fn table(element: u64) -> Slot {
    Slot::At(Buffer::Tables, element)
}

fn vector(buffer: Buffer) -> Slot {
    Slot::At(buffer, 0)
}

impl Transforms {
    /// The domain of 2^log_size elements, `log_size` up to 31, that is generated by `generator`^((r - 1) / d), and its coset
    /// at `coset`, which lies outside.
    pub fn new(log_size: u32, generator: u32, coset: u32, tuning: Tuning) -> Self {
        // Fields of nearly equal size: three bits at least, which Tuning's bounds ensure.
        let count = if log_size >= 3 { log_size.div_ceil(tuning.rows_log) } else { 0 };
        let mut low = log_size;
        let fields: Vec<Field> = (0..count)
            .map(|i| {
                let bits = low.div_ceil(count - i);
                low -= bits;
                Field { bits, low }
            })
            .collect();
        let low_log = fields.last().map_or(log_size, |field| field.bits);
        let coarse_log = log_size.min(tuning.coarse_log);
        let small = DOMAIN_ELEMENTS;
        let coarse = small + (1 << SMALL_LOG);
        let shift = coarse + (1 << coarse_log);
        let unshift = shift + (1 << low_log);
        let places = Places { small, coarse, shift, unshift, twists: Vec::new(), end: unshift + (1 << low_log) };
        let mut transforms = Self { log_size, generator, shift: coset, tuning, fields, low_log, coarse_log, places };
        for index in 0..transforms.fields.len().saturating_sub(1) {
            transforms.places.twists.push(transforms.places.end);
            transforms.places.end += DIRECTIONS.len() as u64 * transforms.twist_count(transforms.fields[index]);
        }
        transforms
    }

    /// Whether the domain has 2^log_size elements and this base of the root of unity.
    pub fn is_of(&self, log_size: u32, generator: u64) -> bool {
        self.log_size == log_size && u64::from(self.generator) == generator
    }

    /// Elements of the domain.
    pub fn size(&self) -> u64 {
        1 << self.log_size
    }

    /// Elements of `Buffer::Tables`.
    pub fn table_elements(&self) -> u64 {
        self.places.end
    }

    /// Fills the tables; once a domain.
    pub fn tables(&self) -> Vec<Launch> {
        let Places { small, coarse, shift, unshift, .. } = self.places;
        let numbers = [self.generator, self.shift, self.log_size].map(Slot::Number);
        let shape = Shape { blocks: 1, threads: 32, shared_bytes: 0 };
        let arguments = [&[table(0)], &numbers[..]].concat();
        let powers = |at: u64, log_order: u32| {
            let count = 1u32 << log_order;
            let arguments = vec![table(at), table(0), Slot::Number(log_order), Slot::Number(count)];
            flat(KernelName::RootPowers, count.into(), arguments)
        };
        // The factors of the lowest field, the scale with them.
        let factors = |at: u64, powers: u64, scale: u64| {
            let (highest, count) = (self.log_size.saturating_sub(1), 1u32 << self.low_log);
            let numbers = [Slot::Number(highest), Slot::Number(count)];
            let arguments = [&[table(at), table(powers), table(scale)], &numbers[..]].concat();
            flat(KernelName::ShiftPowers, count.into(), arguments)
        };
        let mut plan = vec![
            Launch { kernel: KernelName::Domain, shape, arguments },
            powers(small, SMALL_LOG),
            powers(coarse, self.coarse_log),
            factors(shift, SHIFT, INVERSE_SIZE),
            factors(unshift, UNSHIFT, QUOTIENT_SCALE),
        ];
        for index in 0..self.places.twists.len() {
            plan.extend(DIRECTIONS.map(|direction| self.twists(index, direction)));
        }
        plan
    }

    /// Whether a field's twists are products of two numbers.
    fn is_split(&self, field: Field) -> bool {
        field.low + field.bits > self.coarse_log
    }

    /// log2 of the twists of one row of a field's table.
    fn twist_log(&self, field: Field) -> u32 {
        if self.is_split(field) { field.low + field.bits - self.coarse_log } else { field.low }
    }

    fn twist_count(&self, field: Field) -> u64 {
        1 << (field.bits + self.twist_log(field))
    }

    fn twist_table(&self, index: usize, direction: Direction) -> u64 {
        self.places.twists[index] + direction as u64 * self.twist_count(self.fields[index])
    }

    fn twists(&self, index: usize, direction: Direction) -> Launch {
        let field = self.fields[index];
        let (order, count) = (field.low + field.bits, self.twist_count(field));
        let powers = match direction {
            Direction::Shifted => table(SHIFT),
            Direction::Unshifted => table(UNSHIFT),
            Direction::Plain | Direction::Back => Slot::Null,
        };
        let (split, inverse) = (u32::from(self.is_split(field)), u32::from(direction != Direction::Back));
        let mut arguments = vec![table(self.twist_table(index, direction)), table(0)];
        arguments.extend([field.bits, self.twist_log(field), order, split, inverse].map(Slot::Number));
        arguments.extend([powers, Slot::Number(self.log_size - order), Slot::Number(count as u32)]);
        flat(KernelName::Twists, count, arguments)
    }

    /// Values in natural order to coefficients times d in bit-reversed order.
    pub fn inverse(&self, data: Buffer) -> Vec<Launch> {
        self.stages(data, INVERSE, Direction::Plain)
    }

    /// Coefficients in bit-reversed order to values in natural order.
    pub fn forward(&self, data: Buffer) -> Vec<Launch> {
        self.stages(data, FORWARD, Direction::Plain)
    }

    /// Values on the domain to values on the coset, both in natural order.
    pub fn to_coset(&self, data: Buffer) -> Vec<Launch> {
        self.stages(data, INVERSE | FACTORS | FORWARD, Direction::Shifted)
    }

    /// The quotient into `B`: d coefficients in natural order, of which the last is zero (see `math::quotient`). `A` and `B` hold
    /// the values, padded with zeros to d, and so does `C` where `compare`; then `First`, all ones before, becomes the first
    /// row where a b is not c. `A` and `U` end as scratch.
    pub fn quotient(&self, compare: bool) -> Vec<Launch> {
        let size = self.size();
        let product = |out: Buffer, c: Slot, first: Slot| {
            let arguments =
                vec![vector(out), vector(Buffer::A), vector(Buffer::B), c, Slot::Number(size as u32), first];
            flat(KernelName::Product, size, arguments)
        };
        let (c, first) = if compare { (vector(Buffer::C), vector(Buffer::First)) } else { (Slot::Null, Slot::Null) };
        let mut plan = vec![product(Buffer::U, c, first)];
        plan.extend(self.inverse(Buffer::U));
        plan.extend(self.to_coset(Buffer::A));
        plan.extend(self.to_coset(Buffer::B));
        plan.push(product(Buffer::A, Slot::Null, Slot::Null));
        plan.extend(self.stages(Buffer::A, INVERSE, Direction::Unshifted));
        let mut arguments = vec![vector(Buffer::B), vector(Buffer::A), vector(Buffer::U)];
        arguments.extend([self.places.unshift, QUOTIENT_SCALE].map(table));
        arguments.extend([self.low_log, self.log_size].map(Slot::Number));
        plan.push(flat(KernelName::Finish, size, arguments));
        plan
    }

    fn stages(&self, data: Buffer, mode: u32, direction: Direction) -> Vec<Launch> {
        let Some(last) = self.fields.last() else { return self.stages_radix2(data, mode) };
        let others = self.fields.len() - 1;
        let mut plan = Vec::new();
        if mode & INVERSE != 0 {
            plan.extend((0..others).map(|index| self.strided(KernelName::InversePass, data, index, direction)));
        }
        let ends = others == 0 || mode & FORWARD == 0;
        let (columns, shape) = self.tile(*last);
        let mut arguments = vec![vector(data)];
        arguments.extend([last.bits, columns, mode | if ends { REDUCE } else { 0 }].map(Slot::Number));
        arguments.extend([self.places.small, self.places.shift].map(table));
        plan.push(Launch { kernel: KernelName::ContiguousPass, shape, arguments });
        if mode & FORWARD != 0 {
            let back = (0..others).rev();
            plan.extend(back.map(|index| self.strided(KernelName::ForwardPass, data, index, Direction::Back)));
        }
        plan
    }

    /// Domains of up to four elements, one level a launch.
    fn stages_radix2(&self, data: Buffer, mode: u32) -> Vec<Launch> {
        let (pairs, size) = (self.size() / 2, self.size());
        let level = |kernel, level| {
            let numbers = [Slot::Number(level), Slot::Number(pairs as u32)];
            flat(kernel, pairs, [&[vector(data), table(0)], &numbers[..]].concat())
        };
        let mut plan = Vec::new();
        if mode & INVERSE != 0 {
            plan.extend((0..self.log_size).rev().map(|i| level(KernelName::Radix2Inverse, i)));
        }
        if mode & FACTORS != 0 {
            let arguments = vec![vector(data), table(self.places.shift), Slot::Number(size as u32)];
            plan.push(flat(KernelName::Shift, size, arguments));
        }
        if mode & FORWARD != 0 {
            plan.extend((0..self.log_size).map(|i| level(KernelName::Radix2Forward, i)));
        }
        plan
    }

    fn strided(&self, kernel: KernelName, data: Buffer, index: usize, direction: Direction) -> Launch {
        let field = self.fields[index];
        let (columns, shape) = self.tile(field);
        let mut arguments = vec![vector(data)];
        arguments.extend([field.bits, columns, field.low].map(Slot::Number));
        arguments.extend([table(self.places.small), table(self.places.coarse), Slot::Number(self.coarse_log)]);
        arguments.push(table(self.twist_table(index, direction)));
        if kernel == KernelName::ForwardPass {
            arguments.push(Slot::Number(u32::from(index == 0)));
        }
        Launch { kernel, shape, arguments }
    }

    /// log2 of the columns of a tile whose rows are of this field, and how tiles are run.
    fn tile(&self, field: Field) -> (u32, Shape) {
        let wanted = self.tuning.tile_log.saturating_sub(field.bits);
        let available = if field.low > 0 { field.low } else { self.log_size - field.bits };
        let columns = wanted.min(available);
        let tile_log = field.bits + columns;
        let tile = 1u32 << tile_log;
        let shared_bytes = 2 * 16 * (tile + tile / 8 + 4);
        (columns, Shape { blocks: 1 << (self.log_size - tile_log), threads: tile / 8, shared_bytes })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use std::fmt::Write;
    use std::process::Command;

    use super::*;

    /// The same text as cuda/tests/plan_dump.cc prints.
    fn text(transforms: &Transforms) -> String {
        let mut out = format!("tables of {}\n", transforms.table_elements());
        let plans = [
            ("tables", transforms.tables()),
            ("quotient", transforms.quotient(false)),
            ("compared", transforms.quotient(true)),
            ("inverse", transforms.inverse(Buffer::A)),
            ("forward", transforms.forward(Buffer::C)),
        ];
        for (what, plan) in plans {
            writeln!(out, "{what}").unwrap();
            plan.iter().for_each(|one| out.push_str(&launch::text(one, one.kernel.symbol().name)));
        }
        let tuning = Tuning::of((9, 0));
        writeln!(out, "90: {} {} {}", tuning.rows_log, tuning.tile_log, tuning.coarse_log).unwrap();
        out
    }

    #[test]
    fn plans_are_those_of_the_kernels() {
        let folder = tempfile::tempdir().unwrap();
        let program = launch::build_dump("plan_dump", folder.path());
        let own = Tuning::of((9, 0));
        let small = Tuning { rows_log: 5, tile_log: 4, coarse_log: 6 };
        for tuning in [own, small] {
            for log_size in 0..=28 {
                let numbers = [log_size, 7, 5, tuning.rows_log, tuning.tile_log, tuning.coarse_log];
                let output = Command::new(&program).args(numbers.map(|number| number.to_string())).output().unwrap();
                let transforms = Transforms::new(log_size, 7, 5, tuning);
                assert_eq!(text(&transforms), String::from_utf8(output.stdout).unwrap(), "2^{log_size}");
            }
        }
    }
}
