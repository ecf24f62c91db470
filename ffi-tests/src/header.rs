//! The C header, generated from `src/ffi`.

use std::path::{Path, PathBuf};

/// The workspace's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The text of `include/groth16.h` as the sources want it.
pub fn generate() -> Result<String, String> {
    let root = root();
    let config = cbindgen::Config::from_file(root.join("include/cbindgen.toml"))?;
    let mut builder = cbindgen::Builder::new().with_config(config);
    // One by one and in this order: the header reads from the library to a job's verification.
    for module in ["library", "options", "callback", "engine", "circuit", "pk", "buffer", "job", "verify"] {
        builder = builder.with_src(root.join(format!("src/ffi/{module}.rs")));
    }
    let bindings = builder.generate().map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).map_err(|error| error.to_string())?;
    Ok(tidy(&text))
}

/// Brings cbindgen's comments into C's shape: one line where they fit, without the sections that speak to Rust.
fn tidy(text: &str) -> String {
    let mut out = String::new();
    let mut comment: Option<Vec<&str>> = None;
    let mut in_header = true;
    for line in text.lines() {
        if in_header {
            in_header = !line.ends_with("*/");
        } else if line.trim() == "/*" {
            comment = Some(Vec::new());
            continue;
        } else if line.trim() == "*/" {
            // The closing mark stands one column to the right of the opening one.
            let indent = &line[..(line.len() - line.trim_start().len()).saturating_sub(1)];
            out.push_str(&comment_block(indent, &comment.take().unwrap_or_default()));
            continue;
        } else if let Some(lines) = &mut comment {
            lines.push(line.trim());
            continue;
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn comment_block(indent: &str, lines: &[&str]) -> String {
    let end = lines.iter().position(|line| *line == "# Safety").unwrap_or(lines.len());
    let lines = &lines[..end];
    let last = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |index| index + 1);
    let text = lines[..last].join(&format!("\n{indent} * ")).replace('`', "");
    if text.is_empty() { String::new() } else { format!("{indent}/* {text} */\n") }
}
