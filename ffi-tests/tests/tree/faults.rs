//! The map of kinds of fault to tests: what it names is there.

use std::collections::BTreeSet;

use ffi_tests::header::root;

/// After this heading no line needs a test here.
const LAST_SECTION: &str = "## With the GPU backend";

/// Texts between backticks that name a file, `folder/file` or `folder/file.rs::function`.
fn references(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).filter(|text| text.contains('/')).collect()
}

/// What is wrong with a reference.
fn fault(reference: &str) -> Option<String> {
    let (path, function) = reference.split_once("::").map_or((reference, None), |(path, name)| (path, Some(name)));
    let Ok(text) = std::fs::read_to_string(root().join(path)) else { return Some(format!("{path} is not there")) };
    let function = function?;
    let is_there = if path.ends_with(".rs") {
        text.contains(&format!("fn {function}(")) || text.contains(&format!("fn {function}<"))
    } else {
        text.lines().any(|line| !line.starts_with(' ') && line.contains(&format!("{function}(")))
    };
    (!is_there).then(|| format!("{path} has no {function}"))
}

#[test]
fn every_test_that_the_map_of_faults_names_is_there() {
    let text = std::fs::read_to_string(root().join("ffi-tests/FAULTS.md")).unwrap();
    let (ours, gpu) = text.split_once(LAST_SECTION).unwrap();
    let faults: Vec<String> = text.lines().flat_map(references).filter_map(fault).collect();
    assert!(faults.is_empty(), "ffi-tests/FAULTS.md:\n{}", faults.join("\n"));
    // Continuation lines are indented.
    let mut kinds: Vec<String> = Vec::new();
    for line in ours.lines() {
        match (line.starts_with("- "), kinds.last_mut()) {
            (true, _) => kinds.push(line.to_owned()),
            (false, Some(kind)) if line.starts_with("  ") => kind.push_str(line),
            _ => (),
        }
    }
    let without: Vec<&String> = kinds.iter().filter(|kind| references(kind).is_empty()).collect();
    assert!(without.is_empty(), "kinds without a test: {without:#?}");
    let all: BTreeSet<&str> = ours.lines().flat_map(references).collect();
    assert!(kinds.len() > 50 && all.len() > 80, "{} kinds, {} tests", kinds.len(), all.len());
    assert!(gpu.lines().filter(|line| line.starts_with("- ")).count() > 2);
}

#[test]
fn what_is_not_there_is_found() {
    assert_eq!(references("- a `b` kind -> `x/y.rs::z`, `p/q`"), ["x/y.rs::z", "p/q"]);
    assert_eq!(fault("ffi-tests/tests/tree/faults.rs::fault"), None);
    assert_eq!(fault("ffi-tests/c/storm.c::thread_counts"), None);
    assert_eq!(fault("ffi-tests/install/check"), None);
    for missing in ["ffi-tests/c/none.c", "ffi-tests/tests/tree/faults.rs::nobody", "ffi-tests/c/storm.c::nobody"] {
        assert!(fault(missing).is_some(), "{missing}");
    }
}
