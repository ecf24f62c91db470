//! Rules for all code of the library that is not a test.

use std::path::{Path, PathBuf};

use ffi_tests::header::root;

/// A file of the library.
pub struct Source {
    /// Relative to src, with `/`.
    pub path: String,
    /// Its lines with their numbers, without comments and test modules.
    pub lines: Vec<(usize, String)>,
}

impl Source {
    /// ffi of ffi/job.rs, par of par.rs.
    pub fn layer(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap_or_default()
    }
}

/// All files of the library; tests and programs are none.
pub fn library() -> Vec<Source> {
    let folder = root().join("src");
    let mut paths = Vec::new();
    collect(&folder, &mut paths);
    let read = |path: &PathBuf| {
        let relative = path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
        Source { path: relative, lines: code(&std::fs::read_to_string(path).unwrap()) }
    };
    let sources: Vec<Source> = paths.iter().filter(|path| !is_test(path)).map(read).collect();
    assert!(sources.len() > 40, "only {} files were found", sources.len());
    sources.into_iter().filter(|source| !source.path.starts_with("bin/")).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    paths.sort();
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
}

/// Lines without comments, and without modules under `#[cfg(test)]` or `#[cfg(all(test, ...))]`.
pub fn code(text: &str) -> Vec<(usize, String)> {
    let mut kept = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let trimmed = line.trim_start();
        if trimmed == "#[cfg(test)]" || trimmed.starts_with("#[cfg(all(test, ") {
            let indent = &line[..line.len() - trimmed.len()];
            let (_, item) = lines.next().unwrap_or_default();
            if item.trim_end().ends_with('{') {
                let end = format!("{indent}}}");
                while lines.next_if(|(_, line)| *line != end).is_some() {}
            }
            continue;
        }
        if !trimmed.starts_with("//") {
            let line = line.split(" // ").next().unwrap_or_default();
            kept.push((number + 1, line.to_owned()));
        }
    }
    kept
}

/// Fails with all lines that contain one of these texts, in files for which `is_checked` holds.
fn forbid(texts: &[&str], why: &str, is_checked: impl Fn(&str) -> bool) {
    let mut found = Vec::new();
    for source in library().iter().filter(|source| is_checked(&source.path)) {
        for (number, line) in &source.lines {
            if texts.iter().any(|text| line.contains(text)) {
                found.push(format!("src/{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{why}:\n{}", found.join("\n"));
}

#[test]
fn nothing_panics_prints_or_exits() {
    let panics = [".unwrap()", ".expect(", "panic!(", "unreachable!(", "todo!(", "unimplemented!(", "process::exit"];
    forbid(&panics, "library code returns errors", |_| true);
    let prints = ["print!(", "println!(", "dbg!(", "io::stderr", "io::stdout"];
    forbid(&prints, "library code does not print", |_| true);
    let allowances = [
        "allow(clippy::unwrap_used",
        "allow(clippy::expect_used",
        "allow(clippy::panic",
        "allow(clippy::print",
        "allow(clippy::exit",
    ];
    forbid(&allowances, "only test modules allow these", |_| true);
}

#[test]
fn nothing_reads_the_environment() {
    forbid(&["env::var", "env::set_var", "getenv"], "options come through the ABI", |_| true);
}

#[test]
fn unsafe_code_stands_where_it_belongs() {
    let has_a_license = |path: &str| {
        ["ffi/", "gpu/", "math/blst_calls.rs", "math/prefetch.rs", "math/simd/"]
            .iter()
            .any(|start| path.starts_with(start))
    };
    forbid(&["unsafe "], "unsafe code belongs to ffi, gpu and few files of math", |path| !has_a_license(path));
    forbid(&["no_mangle", "extern \"C\" fn"], "only ffi exports", |path| {
        !path.starts_with("ffi/") && !path.starts_with("gpu/")
    });
}

#[test]
fn locks_and_atomics_come_from_sync() {
    forbid(&["parking_lot", "sync::atomic"], "take it from crate::sync", |path| path != "sync.rs");
    for source in library().iter().filter(|source| source.path != "sync.rs") {
        for (number, line) in &source.lines {
            let names = ["Mutex", "Condvar", "RwLock", "Once", "Barrier", "atomic"];
            // A lock that is written once and read without waiting is no lock to model.
            let line = line.replace("OnceLock", "");
            let takes = line.contains("std::sync") && names.iter().any(|name| line.contains(name));
            assert!(!takes, "take it from crate::sync: src/{}:{number}: {}", source.path, line.trim());
        }
    }
}

#[test]
fn comments_and_test_modules_are_left_out() {
    let text = "use a;\n// panic!(\n#[cfg(test)]\nmod tests;\nfn f() { g() // .unwrap()\n}\n#[cfg(test)]\nmod inner {\n    panic!(\n}\nfn h() {}\n";
    let lines: Vec<_> = code(text).into_iter().map(|(number, line)| format!("{number} {line}")).collect();
    assert_eq!(lines, ["1 use a;", "5 fn f() { g()", "6 }", "10 }", "11 fn h() {}"]);
}
