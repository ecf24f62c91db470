//! Data flows one way: no layer names one above it.

use super::sources::{Source, library};

/// Each layer with those below it that it may name.
const LAYERS: &[(&str, &[&str])] = &[
    ("ffi", &["engine", "prover", "formats", "gpu", "math"]),
    ("engine", &["prover", "formats", "gpu", "math"]),
    ("prover", &["formats", "gpu", "math"]),
    ("formats", &["math"]),
    ("gpu", &["math"]),
    ("math", &[]),
    ("error", &[]),
    ("par", &["sync"]),
    ("sync", &[]),
    ("trace", &[]),
];
/// Those that every layer may name.
const LEAVES: &[&str] = &["error", "par", "sync", "trace"];

/// The top modules that a line names, in a module this deep (1 for src/ffi/mod.rs, 2 for src/ffi/job.rs).
fn named(line: &str, depth: usize) -> Vec<String> {
    let mut found = Vec::new();
    let up = "super::".repeat(depth);
    for start in ["crate::", &up] {
        for (place, _) in line.match_indices(start) {
            let before = line[..place].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            let rest = &line[place + start.len()..];
            match rest.strip_prefix('{') {
                // crate::{a::b, c}: names that follow the brace or a comma.
                Some(list) => found.extend(list.split([',', '}']).map(|item| first_name(item.trim()))),
                None => found.push(first_name(rest)),
            }
        }
    }
    found.retain(|name| !name.is_empty() && name != "super" && name != "self");
    found
}

fn first_name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn depth(source: &Source) -> usize {
    source.path.split('/').count() - usize::from(source.path.ends_with("mod.rs"))
}

/// What is wrong with a file.
fn faults(source: &Source) -> Vec<String> {
    let Some((_, below)) = LAYERS.iter().find(|(layer, _)| *layer == source.layer()) else {
        return vec![format!("src/{}: give the new module a place in the table of layers", source.path)];
    };
    let is_leaf = LEAVES.contains(&source.layer());
    let mut faults = Vec::new();
    for (number, line) in &source.lines {
        for name in named(line, depth(source)) {
            let is_known = LAYERS.iter().any(|(layer, _)| *layer == name);
            let is_fine = name == source.layer()
                || below.contains(&name.as_str())
                || (!is_leaf && LEAVES.contains(&name.as_str()));
            // Macros of the crate are no modules.
            if is_known && !is_fine {
                faults.push(format!("src/{}:{number}: {} may not name {name}", source.path, source.layer()));
            }
        }
    }
    faults
}

#[test]
fn no_arrow_points_upwards() {
    let sources = library();
    let faults: Vec<String> = sources.iter().filter(|source| source.path != "lib.rs").flat_map(faults).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    // The reader sees something at all.
    let arrows: usize = sources.iter().flat_map(|s| s.lines.iter().map(|(_, line)| named(line, depth(s)).len())).sum();
    assert!(arrows > 100, "only {arrows} paths were found");
}

#[test]
fn arrows_that_point_upwards_are_found() {
    let source = |path: &str, line: &str| Source { path: path.into(), lines: vec![(1, line.into())] };
    for (path, line) in [
        ("math/msm/naive.rs", "use crate::prover::key::ProvingKey;"),
        ("gpu/host.rs", "    let x = crate::formats::r1cs::read();"),
        ("engine/core.rs", "use crate::{error::Error, ffi::guard};"),
        ("formats/wtns.rs", "use super::super::prover::witness;"),
        ("prover/mod.rs", "use super::engine::Engine;"),
        ("par.rs", "use crate::error::Error;"),
        ("novel.rs", ""),
    ] {
        assert_eq!(faults(&source(path, line)).len(), 1, "{path}: {line}");
    }
    for (path, line) in [
        ("ffi/job.rs", "use crate::engine::core::Phase;"),
        ("prover/key.rs", "use super::circuit::Circuit;"),
        ("math/msm/naive.rs", "use super::super::error_free::Thing;"),
        ("engine/mod.rs", "use crate::sync::Mutex;"),
        ("math/fr.rs", "pub(crate) mod tests;"),
    ] {
        assert_eq!(faults(&source(path, line)), Vec::<String>::new(), "{path}: {line}");
    }
}
