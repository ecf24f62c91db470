//! gnark's proving key:
//!
//! ```text
//! domain        u64 d, then 1/d, root, 1/root, coset generator, its inverse (32 bytes each), one byte
//! G1            alpha, beta, delta
//! G1 sections   a, b (the wires that have a point), z (d - 1 points, in bit-reversed order), k (the private wires)
//! G2            beta, delta
//! G2 section    b
//! wires         u64 number of wires, u64 those without a point in a, u64 those without one in b,
//!               a byte a wire: 1 if it has none in a, then the same for b
//! commitments   u32 number of commitment keys, which would follow
//! ```
//!
//! The key holds neither gamma nor the points of the public wires: those stand in the verifying key (`super::vk`).

use std::io::Write;

use super::form_at;
use crate::error::{Error, Result, Status};
use crate::formats::points::{COUNT_BYTES, PointForm, PointStream, ReadOptions, Section};
use crate::formats::source::Source;
use crate::math::curve::Affine;
use crate::math::encoding::EncodedField;
use crate::math::field::Field;
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::fr::{Fr, TWO_ADICITY};
use crate::math::g1::G1Affine;
use crate::math::g2::G2Affine;

/// Bytes of the domain.
const DOMAIN_BYTES: u64 = 8 + 5 * 32 + 1;
/// Bytes of the three numbers of wires.
const WIRE_COUNT_BYTES: u64 = 3 * 8;
/// The base of gnark's roots of unity: 7^((r - 1) / d) generates the domain.
const ROOT_GENERATOR: u64 = 7;
/// The first bytes of what gnark's `WriteDump` writes.
const DUMP_MARKER: [u8; 8] = 0xdead_beef_u64.to_le_bytes();
/// What messages call the file.
const WHAT: &str = "gnark proving key";

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// The domain has 2^log_domain elements; its root is 7^((r - 1) / 2^log_domain).
    pub log_domain: u32,
    /// alpha in the first group.
    pub alpha1: G1Affine,
    /// beta in the first group.
    pub beta1: G1Affine,
    /// delta in the first group.
    pub delta1: G1Affine,
    /// beta in the second group.
    pub beta2: G2Affine,
    /// delta in the second group.
    pub delta2: G2Affine,
    /// A_j for the wires of `a_wires`, in order.
    pub a: Vec<G1Affine>,
    /// B_j for the wires of `b_wires`, in order.
    pub b_g1: Vec<G1Affine>,
    /// tau^i (tau^d - 1) / delta for i below d - 1, in order of i.
    pub h: Vec<G1Affine>,
    /// (beta A_j + alpha B_j + C_j) / delta for every private wire; infinity for one that is in no row.
    pub l: Vec<G1Affine>,
    /// The same as `b_g1` in the second group.
    pub b_g2: Vec<G2Affine>,
    /// All wires: the constant one, public and private ones. At least as many as `l` has points, and one.
    pub num_wires: usize,
    /// Bit `j % 64` of word `j / 64`: whether wire j has a point in `a`. As many bits are set as `a` has points.
    pub a_wires: Vec<u64>,
    /// The same for `b_g1` and `b_g2`.
    pub b_wires: Vec<u64>,
}

/// Where things stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The number of elements of the domain, a power of two.
    pub domain_size: u64,
    /// Whether points are compressed.
    pub form: PointForm,
    /// The sections a, b, z and k in the first group, then b_g2.
    pub sections: [Section; 5],
    /// The number of wires, the constant one included.
    pub num_wires: u64,
    /// The number of commitment keys; only 0 can be read.
    pub num_commitments: u64,
}

impl Layout {
    /// Bytes that the points take in memory.
    pub fn point_bytes(&self) -> u64 {
        let size =
            |section: &Section| if section.name == "b_g2" { size_of::<G2Affine>() } else { size_of::<G1Affine>() };
        self.sections.iter().map(|section| section.count * size(section) as u64).sum()
    }

    /// Public wires, the constant one included.
    pub fn num_public(&self) -> u64 {
        self.num_wires - self.sections[3].count
    }

    fn end(&self) -> u64 {
        self.sections[4].end() + WIRE_COUNT_BYTES + 2 * self.num_wires + COUNT_BYTES
    }
}

/// Whether a file starts like a gnark proving key: with a domain whose numbers fit each other.
pub fn is_one(source: &Source<'_>) -> bool {
    let mut bytes = [0; DOMAIN_BYTES as usize];
    if source.read_exact_at(0, &mut bytes).is_err() {
        return false;
    }
    bytes.starts_with(&DUMP_MARKER) || Domain::read(&bytes).is_ok()
}

/// Where everything stands, with every count checked against the others and the size of the file; reads only counts.
/// `Format` where they do not fit.
pub fn layout(source: &Source<'_>) -> Result<Layout> {
    find_layout(source).map_err(|e| e.at(WHAT))
}

fn find_layout(source: &Source<'_>) -> Result<Layout> {
    let mut domain = [0; DOMAIN_BYTES as usize];
    source.read_exact_at(0, &mut domain).map_err(|e| e.at("domain"))?;
    let domain = Domain::read(&domain)?;
    let form = form_at(source, DOMAIN_BYTES)?;
    let (g1, g2) = (form.bytes::<Fp>() as u64, form.bytes::<Fp2>() as u64);
    let find = |name, offset| Section::find::<Fp>(source, name, offset, form, name != "z");
    let a = find("a", DOMAIN_BYTES + 3 * g1)?;
    let b = find("b", a.end())?;
    let z = find("z", b.end())?;
    let k = find("k", z.end())?;
    let b_g2 = Section::find::<Fp2>(source, "b_g2", k.end() + 2 * g2, form, true)?;
    let mut counts = [0; WIRE_COUNT_BYTES as usize];
    source.read_exact_at(b_g2.end(), &mut counts).map_err(|e| e.at("numbers of wires"))?;
    let [num_wires, without_a, without_b] = wire_counts(&counts);
    let layout =
        Layout { domain_size: 1 << domain.log_size, form, sections: [a, b, z, k, b_g2], num_wires, num_commitments: 0 };
    layout.check_counts(without_a, without_b)?;
    let at = layout.end() - COUNT_BYTES;
    let mut count = [0; COUNT_BYTES as usize];
    source.read_exact_at(at, &mut count).map_err(|e| e.at(format!("the marks of {num_wires} wires")))?;
    let num_commitments = u64::from(u32::from_be_bytes(count));
    let layout = Layout { num_commitments, ..layout };
    let left = source.len() - layout.end();
    if num_commitments == 0 && left > 0 {
        return Err(Error::format(format!("{left} bytes follow the end of the key at offset {}", layout.end())));
    }
    Ok(layout)
}

impl Layout {
    fn check_counts(&self, without_a: u64, without_b: u64) -> Result<()> {
        let [a, b, z, k, b_g2] = self.sections;
        let wrong = |text: String| Err(Error::format(text));
        if z.count != self.domain_size - 1 {
            return wrong(format!("section z has {} points, wanted {} for its domain", z.count, self.domain_size - 1));
        }
        let wires = self.num_wires;
        // Below 2^32 like the counts of sections, so that sums below cannot overflow.
        if wires == 0 || wires > u64::from(u32::MAX) {
            return wrong(format!("{wires} wires, wanted 1 to {}", u32::MAX));
        }
        if k.count >= wires {
            return wrong(format!("section k has {} points, wanted fewer than the {wires} wires", k.count));
        }
        for (section, without) in [(a, without_a), (b, without_b), (b_g2, without_b)] {
            if Some(section.count) != wires.checked_sub(without) {
                let (name, count) = (section.name, section.count);
                return wrong(format!("section {name} has {count} points, but {without} of {wires} wires have none"));
            }
        }
        Ok(())
    }
}

fn wire_counts(bytes: &[u8; WIRE_COUNT_BYTES as usize]) -> [u64; 3] {
    let mut counts = [0; 3];
    for (count, bytes) in counts.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *count = u64::from_be_bytes(*bytes);
    }
    counts
}

/// The head of the file.
struct Domain {
    log_size: u32,
}

impl Domain {
    fn read(bytes: &[u8; DOMAIN_BYTES as usize]) -> Result<Self> {
        if bytes.starts_with(&DUMP_MARKER) {
            let text = "this is a memory dump (WriteDump); a key is read from what WriteTo or WriteRawTo writes";
            return Err(Error::new(Status::Unsupported, text));
        }
        let (size, rest) = bytes.split_at(8);
        let size = u64::from_be_bytes(size.try_into().unwrap_or_default());
        if !size.is_power_of_two() || size.trailing_zeros() > TWO_ADICITY {
            return Err(Error::format(format!("domain: {size} elements, wanted a power of two up to 2^{TWO_ADICITY}")));
        }
        let element = |index: usize| {
            let mut little = [0; 32];
            little.copy_from_slice(&rest[32 * index..32 * (index + 1)]);
            little.reverse();
            Fr::from_le_bytes(&little)
        };
        let log_size = size.trailing_zeros();
        if element(0).is_none_or(|inverse| inverse * Fr::from(size) != Fr::ONE) {
            return Err(Error::format(format!("domain (offset 8): not the inverse of {size}")));
        }
        if element(1).is_none() || element(1) != Fr::root_of_unity(ROOT_GENERATOR, log_size) {
            return Err(Error::format(format!(
                "domain (offset 40): the root is not {ROOT_GENERATOR}^((r - 1) / {size})"
            )));
        }
        let inverses = [(element(1), element(2), 72), (element(3), element(4), 136)];
        let generator = Fr::from(ROOT_GENERATOR);
        if element(3) != Some(generator) {
            return Err(Error::format(format!("domain (offset 104): the coset's generator is not {ROOT_GENERATOR}")));
        }
        for (value, inverse, offset) in inverses {
            if value.zip(inverse).is_none_or(|(value, inverse)| value * inverse != Fr::ONE) {
                return Err(Error::format(format!(
                    "domain (offset {offset}): not the inverse of the number before it"
                )));
            }
        }
        if rest[5 * 32] > 1 {
            return Err(Error::format(format!("domain (offset 168): the mark is {}, wanted 0 or 1", rest[5 * 32])));
        }
        Ok(Self { log_size })
    }
}

/// Reads a whole file, in batches of a few MiB that the threads of the calling pool decode and check together, and its
/// BLAKE2b-512 digest where `hash` or `options.blake2b` asks for it. `Format` names section, point and offset, or tells of
/// a digest that differs; `Unsupported` where the key has commitments; `NoMemory` where the points do not fit the memory;
/// `Cancelled` where the progress function asked for it.
pub fn read(source: &Source<'_>, options: &ReadOptions<'_>, hash: bool) -> Result<(Params, Option<[u8; 64]>)> {
    read_all(source, options, hash || options.blake2b.is_some()).map_err(|e| e.at(WHAT))
}

fn read_all(source: &Source<'_>, options: &ReadOptions<'_>, hash: bool) -> Result<(Params, Option<[u8; 64]>)> {
    let layout = find_layout(source)?;
    if layout.num_commitments > 0 {
        let text = format!("the key has {} commitments, which no version reads so far", layout.num_commitments);
        return Err(Error::new(Status::Unsupported, text));
    }
    let [a, b, z, k, b_g2] = &layout.sections;
    let form = layout.form;
    let mut stream = PointStream::new(source, options, hash, layout.end())?;
    let domain = Domain::read(&stream.array()?)?;
    let [alpha1, beta1, delta1] = ["alpha", "beta", "delta"].map(|name| (name, form));
    let mut point1 = |(name, form)| stream.point::<Fp>(name, form);
    let (alpha1, beta1, delta1) = (point1(alpha1)?, point1(beta1)?, point1(delta1)?);
    let (a, b_g1, mut h, l) = (stream.section(a)?, stream.section(b)?, stream.section(z)?, stream.section(k)?);
    from_bit_reversed(&mut h, domain.log_size);
    let beta2 = stream.point::<Fp2>("beta in G2", form)?;
    let delta2 = stream.point::<Fp2>("delta in G2", form)?;
    let b_g2 = stream.section(b_g2)?;
    if wire_counts(&stream.array()?)[0] != layout.num_wires {
        return Err(Error::new(Status::Io, "the file changed while it was read"));
    }
    let num_wires = layout.num_wires as usize;
    let a_wires = wires(&mut stream, "a", num_wires, a.len())?;
    let b_wires = wires(&mut stream, "b", num_wires, b_g1.len())?;
    stream.pieces(COUNT_BYTES as usize, |_, _| Ok(()))?;
    let digest = stream.finish()?;
    let log_domain = domain.log_size;
    let params =
        Params { log_domain, alpha1, beta1, delta1, beta2, delta2, a, b_g1, h, l, b_g2, num_wires, a_wires, b_wires };
    Ok((params, digest))
}

/// A byte a wire, 1 for those without a point, as bits for those with one; so many must there be as the section has.
fn wires(stream: &mut PointStream<'_>, section: &str, num_wires: usize, points: usize) -> Result<Vec<u64>> {
    let mut words = Vec::new();
    crate::error::reserve(&mut words, num_wires.div_ceil(64), "the wires' marks")?;
    words.resize(num_wires.div_ceil(64), 0u64);
    let mut found = 0;
    stream.pieces(num_wires, |start, bytes| {
        for (wire, mark) in (start..).zip(bytes) {
            match mark {
                0 => {
                    words[wire / 64] |= 1 << (wire % 64);
                    found += 1;
                }
                1 => {}
                other => {
                    return Err(Error::format(format!("mark of wire {wire} in {section} is {other}, wanted 0 or 1")));
                }
            }
        }
        Ok(())
    })?;
    if found != points {
        return Err(Error::format(format!("section {section} has {points} points, but {found} wires are marked so")));
    }
    Ok(words)
}

/// Puts the first 2^log - 1 of 2^log elements in bit-reversed order into their natural one; the last stays the last.
fn from_bit_reversed<T>(elements: &mut [T], log: u32) {
    for i in 0..elements.len() {
        let reversed = (i as u64).reverse_bits().checked_shr(64 - log).unwrap_or(0) as usize;
        if i < reversed {
            elements.swap(i, reversed);
        }
    }
}

/// Writes a key as gnark does. `Invalid` where a count does not fit its field, `Io` where the writer fails.
pub fn write(params: &Params, form: PointForm, mut out: impl Write) -> Result<()> {
    let io = |error: std::io::Error| Error::new(Status::Io, format!("{WHAT}: writing: {error}"));
    let root = Fr::root_of_unity(ROOT_GENERATOR, params.log_domain);
    let root = root.ok_or_else(|| Error::invalid(format!("{WHAT}: a domain of 2^{} elements", params.log_domain)))?;
    let (size, generator) = (1u64 << params.log_domain, Fr::from(ROOT_GENERATOR));
    out.write_all(&size.to_be_bytes()).map_err(io)?;
    for element in [Fr::from(size).inverse(), root, root.inverse(), generator, generator.inverse()] {
        let mut bytes = element.to_le_bytes();
        bytes.reverse();
        out.write_all(&bytes).map_err(io)?;
    }
    let mut reversed = params.h.clone();
    from_bit_reversed(&mut reversed, params.log_domain);
    out.write_all(&[1]).map_err(io)?;
    [params.alpha1, params.beta1, params.delta1]
        .iter()
        .try_for_each(|point| form.write(point, &mut out))
        .map_err(io)?;
    for (name, points) in [("a", &params.a), ("b", &params.b_g1), ("z", &reversed), ("k", &params.l)] {
        write_section(name, points, form, &mut out)?;
    }
    [params.beta2, params.delta2].iter().try_for_each(|point| form.write(point, &mut out)).map_err(io)?;
    write_section("b_g2", &params.b_g2, form, &mut out)?;
    let wires = params.num_wires;
    for count in [wires, wires.saturating_sub(params.a.len()), wires.saturating_sub(params.b_g1.len())] {
        out.write_all(&(count as u64).to_be_bytes()).map_err(io)?;
    }
    for words in [&params.a_wires, &params.b_wires] {
        let mark = |wire: usize| u8::from((words[wire / 64] >> (wire % 64)) & 1 == 0);
        out.write_all(&(0..wires).map(mark).collect::<Vec<u8>>()).map_err(io)?;
    }
    out.write_all(&[0; COUNT_BYTES as usize]).and_then(|()| out.flush()).map_err(io)
}

fn write_section<F: EncodedField>(
    name: &str,
    points: &[Affine<F>],
    form: PointForm,
    out: &mut impl Write,
) -> Result<()> {
    let count = u32::try_from(points.len()).map_err(|_| {
        Error::invalid(format!("{WHAT}: section {name}: {} points are more than 2^32 - 1", points.len()))
    })?;
    let io = |error: std::io::Error| Error::new(Status::Io, format!("{WHAT}: writing: {error}"));
    out.write_all(&count.to_be_bytes()).map_err(io)?;
    points.iter().try_for_each(|point| form.write(point, out)).map_err(io)
}
