//! Launches as plain data, before buffers have addresses.

use super::module::Shape;

/// Where a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The file of `cuda/kernel`, without its ending.
    pub file: &'static str,
    /// The name in the compiled code.
    pub name: &'static str,
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot<B> {
    /// A number of 32 bits.
    Number(u32),
    /// No address.
    Null,
    /// A place in a buffer; in which unit it counts, the plan says.
    At(B, u64),
}

impl<B> From<u32> for Slot<B> {
    fn from(number: u32) -> Self {
        Self::Number(number)
    }
}

/// One launch of a kernel of the kind K on buffers of the kind B.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch<K, B> {
    /// What runs.
    pub kernel: K,
    /// How.
    pub shape: Shape,
    /// On what.
    pub arguments: Vec<Slot<B>>,
}

/// The text of a launch as the dumps of `cuda/tests` print it.
#[cfg(test)]
pub(super) fn text<K, B: std::fmt::Debug>(launch: &Launch<K, B>, name: &str) -> String {
    let Shape { blocks, threads, shared_bytes } = launch.shape;
    let arguments = launch.arguments.iter().map(|argument| match argument {
        Slot::Number(number) => format!(" {number}"),
        Slot::Null => " null".to_owned(),
        Slot::At(buffer, place) => format!(" {buffer:?}[{place}]"),
    });
    format!("{name} {blocks} {threads} {shared_bytes}{}\n", arguments.collect::<String>())
}

/// Builds a program of `cuda/tests` that prints launches.
#[cfg(test)]
pub(super) fn build_dump(name: &str, folder: &std::path::Path) -> std::path::PathBuf {
    #![allow(clippy::unwrap_used)]
    let program = folder.join(name);
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let source = format!("cuda/tests/{name}.cc");
    let built =
        std::process::Command::new(compiler).args(["-std=c++20", &source, "-o"]).arg(&program).status().unwrap();
    assert!(built.success());
    program
}
