//! `groth16 info`.

use std::fmt::Write as _;
use std::path::Path;

use groth16::error::{Error, Result};
use groth16::formats::points::{PointForm, Section};
use groth16::formats::proof::{COMPRESSED_BYTES, UNCOMPRESSED_BYTES};
use groth16::formats::source::Source;
use groth16::formats::vk::FIXED_BYTES;
use groth16::formats::{bellman_params, gnark, r1cs, wtns};
use groth16::math::g1::G1Affine;
use serde_json::{Map, Value, json};

use crate::args::Info;
use crate::files::{self, MOST_BYTES, at};
use crate::{FAILED, output};

/// What is known of one file.
struct Report {
    kind: &'static str,
    fields: Vec<(&'static str, Value)>,
    sections: Vec<Section>,
    warnings: Vec<String>,
}

impl Report {
    fn new(kind: &'static str, fields: Vec<(&'static str, Value)>) -> Self {
        Self { kind, fields, sections: Vec::new(), warnings: Vec::new() }
    }
}

pub fn run(options: &Info) -> Result<u8> {
    let mut code = 0;
    let mut all = Vec::new();
    for (index, path) in options.files.iter().enumerate() {
        match inspect(path, options.digest) {
            Ok(report) if options.json => all.push(to_json(path, &report)),
            Ok(report) => output::text(&format!("{}{}", if index > 0 { "\n" } else { "" }, to_table(path, &report)))?,
            Err(error) => {
                output::error(error.message());
                code = FAILED;
            }
        }
    }
    if options.json {
        output::text(&format!("{:#}\n", Value::Array(all)))?;
    }
    Ok(code)
}

fn inspect(path: &Path, with_digest: bool) -> Result<Report> {
    let source = Source::open(path)?;
    let mut report = at(path, recognise(&source))?;
    report.fields.insert(0, ("bytes", json!(source.len())));
    if with_digest {
        report.fields.push(("blake2b", json!(at(path, digest(&source))?)));
    }
    Ok(report)
}

fn recognise(source: &Source<'_>) -> Result<Report> {
    if files::starts_with(source, b"r1cs") {
        return circuit(source);
    }
    if files::starts_with(source, b"wtns") {
        return Ok(Report::new("witness (.wtns)", vec![("values", json!(wtns::read(source)?.len()))]));
    }
    if files::starts_with(source, b"zkey") {
        return Err(Error::new(groth16::error::Status::Unsupported, "a .zkey, which this version does not read"));
    }
    let len = source.len();
    let is_json = [&b"{"[..], b"["].iter().any(|start| files::starts_with(source, start));
    if is_json || [COMPRESSED_BYTES as u64, UNCOMPRESSED_BYTES as u64].contains(&len) {
        return small(source);
    }
    if gnark::pk::is_one(source) {
        return gnark_key(source);
    }
    if gnark::vk::is_one(source) {
        return gnark_verifying_key(source);
    }
    // Neither parameters nor verifying keys have a mark: their counts must fit the size.
    let vk_bytes = files::verifying_key_bytes(source).map_err(|error| unknown(&error))?;
    if vk_bytes == len { verifying_key(source, vk_bytes) } else { params(source, vk_bytes) }
}

fn unknown(error: &Error) -> Error {
    Error::format(format!("not a file that this command knows; read as parameters: {error}"))
}

fn circuit(source: &Source<'_>) -> Result<Report> {
    let file = r1cs::read(source)?;
    let inputs = 1 + u64::from(file.num_public_outputs) + u64::from(file.num_public_inputs);
    let rows = u64::from(file.num_constraints) + inputs;
    Ok(Report::new(
        "circuit (.r1cs)",
        vec![
            ("rows", json!(file.num_constraints)),
            ("public_outputs", json!(file.num_public_outputs)),
            ("public_inputs", json!(file.num_public_inputs)),
            ("private_inputs", json!(file.num_private_inputs)),
            ("variables", json!(file.num_wires)),
            ("terms_a", json!(file.a.columns.len())),
            ("terms_b", json!(file.b.columns.len())),
            ("terms_c", json!(file.c.columns.len())),
            ("domain", json!(rows.next_power_of_two())),
        ],
    ))
}

fn small(source: &Source<'_>) -> Result<Report> {
    if source.len() > MOST_BYTES {
        return Err(Error::format(format!("not a file that this command knows: JSON of more than {MOST_BYTES} bytes")));
    }
    let mut bytes = vec![0; source.len() as usize];
    source.read_exact_at(0, &mut bytes)?;
    if bytes.first() == Some(&b'[') {
        let inputs = files::read_public_json(&bytes)?;
        return Ok(Report::new("public inputs (JSON)", vec![("inputs", json!(inputs.len() - 1))]));
    }
    let form = match bytes.len() {
        COMPRESSED_BYTES => "compressed",
        UNCOMPRESSED_BYTES => "uncompressed",
        _ => "json",
    };
    match files::proof(&bytes)? {
        Ok(_) => Ok(Report::new("proof", vec![("form", json!(form)), ("well_formed", json!(true))])),
        Err(error) => {
            let mut report = Report::new("proof", vec![("form", json!(form)), ("well_formed", json!(false))]);
            report.warnings.push(error.to_string());
            Ok(report)
        }
    }
}

fn params(source: &Source<'_>, vk_bytes: u64) -> Result<Report> {
    let sections = bellman_params::sections(source).map_err(|error| unknown(&error))?;
    let [ic, h, l, .., b_g2] = &sections;
    let end = b_g2.offset + b_g2.count * b_g2.point_bytes;
    let mut report = Report::new(
        "parameters (bellman)",
        vec![
            ("public_inputs", json!(ic.count.saturating_sub(1))),
            ("aux", json!(l.count)),
            ("domain", json!(h.count + 1)),
            ("transcript_bytes", json!(source.len() - end)),
        ],
    );
    report.warnings = unconstrained(source, vk_bytes)?;
    if !(h.count + 1).is_power_of_two() {
        report.warnings.push(format!("section h has {} points, not a power of two less one", h.count));
    }
    report.sections = sections.to_vec();
    Ok(report)
}

fn gnark_key(source: &Source<'_>) -> Result<Report> {
    let layout = gnark::pk::layout(source)?;
    let mut report = Report::new(
        "proving key (gnark)",
        vec![
            ("public_inputs", json!(layout.num_public() - 1)),
            ("aux", json!(layout.num_wires - layout.num_public())),
            ("domain", json!(layout.domain_size)),
            ("points", json!(if layout.form == PointForm::Compressed { "compressed" } else { "raw" })),
            ("commitments", json!(layout.num_commitments)),
        ],
    );
    if layout.num_commitments > 0 {
        report.warnings.push("the key has commitments, which no version reads so far".into());
    }
    report.sections = layout.sections.to_vec();
    Ok(report)
}

fn gnark_verifying_key(source: &Source<'_>) -> Result<Report> {
    let key = gnark::vk::read(source)?;
    let mut report =
        Report::new("verifying key (gnark)", vec![("public_inputs", json!(key.ic.len().saturating_sub(1)))]);
    report.warnings = infinite(key.ic.iter().map(|point| point.is_infinity()));
    Ok(report)
}

fn verifying_key(source: &Source<'_>, bytes: u64) -> Result<Report> {
    let count = (bytes - FIXED_BYTES as u64 - 4) / G1Affine::UNCOMPRESSED_BYTES as u64;
    let mut report = Report::new("verifying key (bellman)", vec![("public_inputs", json!(count.saturating_sub(1)))]);
    report.warnings = unconstrained(source, bytes)?;
    if report.warnings.is_empty() {
        files::verifying_key(source)?;
    }
    Ok(report)
}

/// A warning for every public input whose point is at infinity: it is in no row, and anybody can change it in a proof.
fn unconstrained(source: &Source<'_>, vk_bytes: u64) -> Result<Vec<String>> {
    /// The flag of infinity in the first byte of an encoding.
    const INFINITY: u8 = 0x40;
    let size = G1Affine::UNCOMPRESSED_BYTES;
    let mut points = vec![0; vk_bytes as usize - FIXED_BYTES - 4];
    source.read_exact_at(FIXED_BYTES as u64 + 4, &mut points)?;
    Ok(infinite(points.chunks_exact(size).map(|point| point[0] & INFINITY != 0)))
}

/// The warnings of points of ic that are at infinity.
fn infinite(points: impl Iterator<Item = bool>) -> Vec<String> {
    points
        .enumerate()
        .filter(|(_, is_infinity)| *is_infinity)
        .map(|(index, _)| match index {
            0 => "section ic, point 0 (the constant one) is at infinity".into(),
            _ => format!("section ic, point {index} is at infinity: a proof does not bind public input {index}"),
        })
        .collect()
}

fn digest(source: &Source<'_>) -> Result<String> {
    let mut state = blake2b_simd::State::new();
    let mut buffer = vec![0; 4 << 20];
    let mut offset = 0;
    while offset < source.len() {
        let size = (source.len() - offset).min(buffer.len() as u64) as usize;
        source.read_exact_at(offset, &mut buffer[..size])?;
        state.update(&buffer[..size]);
        offset += size as u64;
    }
    Ok(state.finalize().to_hex().to_string())
}

fn to_json(path: &Path, report: &Report) -> Value {
    let mut object = Map::new();
    object.insert("file".into(), json!(path.to_string_lossy()));
    object.insert("kind".into(), json!(report.kind));
    object.extend(report.fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    if !report.sections.is_empty() {
        let section =
            |section: &Section| json!({ "name": section.name, "points": section.count, "offset": section.offset });
        object.insert("sections".into(), report.sections.iter().map(section).collect());
    }
    object.insert("warnings".into(), json!(report.warnings));
    Value::Object(object)
}

fn to_table(path: &Path, report: &Report) -> String {
    let mut text = format!("{}: {}\n", path.display(), report.kind);
    for (name, value) in &report.fields {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(text, "  {:<18}{value:>14}", name.replace('_', " "));
    }
    if !report.sections.is_empty() {
        let _ = writeln!(text, "  {:<8}{:>12}{:>12}{:>16}", "section", "points", "bytes each", "offset");
    }
    for section in &report.sections {
        let (name, count, size, offset) = (section.name, section.count, section.point_bytes, section.offset);
        let _ = writeln!(text, "  {name:<8}{count:>12}{size:>12}{offset:>16}");
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "  WARNING: {warning}");
    }
    text
}
