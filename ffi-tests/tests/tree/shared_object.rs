//! What the built library tells the loader.

use std::collections::BTreeSet;

use ffi_tests::capi::{FUNCTIONS, api};
use ffi_tests::header::root;
use object::elf::{DF_1_NODELETE, DT_FLAGS_1, DT_NEEDED, DT_SONAME, FileHeader64};
use object::read::elf::{Dyn, ElfFile, FileHeader};
use object::{Endianness, Object, ObjectSymbol};

/// Entries of the dynamic section: tag, number, and the text that a number of some tags stands for.
fn dynamic_entries(bytes: &[u8]) -> Vec<(u32, u64, String)> {
    let header = FileHeader64::<Endianness>::parse(bytes).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, bytes).unwrap();
    let (entries, link) = sections.dynamic(endian, bytes).unwrap().unwrap();
    let strings = sections.strings(endian, bytes, link).unwrap();
    let read = |entry: &object::elf::Dyn64<Endianness>| {
        let tag = entry.tag32(endian)?;
        let has_text = [DT_NEEDED, DT_SONAME].contains(&tag);
        let text = if has_text {
            String::from_utf8_lossy(entry.string(endian, strings).ok()?).into_owned()
        } else {
            String::new()
        };
        Some((tag, entry.d_val(endian), text))
    };
    entries.iter().filter_map(read).collect()
}

#[test]
fn soname_and_needed_libraries() {
    let bytes = std::fs::read(api().path()).unwrap();
    let entries = dynamic_entries(&bytes);
    let texts = |wanted: u32| -> Vec<String> {
        entries.iter().filter(|(tag, ..)| *tag == wanted).map(|(.., text)| text.clone()).collect()
    };
    assert_eq!(texts(DT_SONAME), [format!("libgroth16.so.{}", groth16::ffi::library::GROTH16_ABI_MAJOR)]);
    let allowed = ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"];
    for needed in texts(DT_NEEDED) {
        let is_allowed = allowed.contains(&needed.as_str()) || needed.starts_with("ld-linux");
        assert!(is_allowed, "needs {needed}: hosts without it could not load the library");
    }
    let flags = entries.iter().find(|(tag, ..)| *tag == DT_FLAGS_1).map_or(0, |(_, value, _)| *value);
    assert_ne!(flags & u64::from(DF_1_NODELETE), 0, "the library may be unloaded under its threads");
}

#[test]
fn exported_symbols_are_those_of_the_list() {
    let bytes = std::fs::read(api().path()).unwrap();
    let elf = ElfFile::<FileHeader64<Endianness>>::parse(bytes.as_slice()).unwrap();
    let defined = elf.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let exported: BTreeSet<String> = defined.map(|symbol| symbol.name().unwrap().to_owned()).collect();
    let golden = std::fs::read_to_string(root().join("include/groth16.sym")).unwrap();
    let golden: BTreeSet<String> = golden.lines().map(str::to_owned).collect();
    let (extra, missing): (Vec<_>, Vec<_>) =
        (exported.difference(&golden).collect(), golden.difference(&exported).collect());
    assert!(
        extra.is_empty() && missing.is_empty(),
        "include/groth16.sym: not in the list {extra:?}, not exported {missing:?}; if the change of the ABI is meant, \
         change the list"
    );
    let tested: BTreeSet<String> = FUNCTIONS.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(tested, golden, "ffi_tests::capi names other functions");
    let header = std::fs::read_to_string(root().join("include/groth16.h")).unwrap();
    for name in &golden {
        assert!(header.contains(&format!("{name}(")), "{name} is not in the header");
    }
}

/// Versions of symbols that the library asks other libraries for, such as GLIBC_2.34.
fn wanted_versions(bytes: &[u8]) -> Vec<String> {
    let header = FileHeader64::<Endianness>::parse(bytes).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, bytes).unwrap();
    let (mut libraries, link) = sections.gnu_verneed(endian, bytes).unwrap().unwrap();
    let strings = sections.strings(endian, bytes, link).unwrap();
    let mut found = Vec::new();
    while let Some((_, mut versions)) = libraries.next().unwrap() {
        while let Some(version) = versions.next().unwrap() {
            found.push(String::from_utf8(version.name(endian, strings).unwrap().to_vec()).unwrap());
        }
    }
    found
}

#[test]
fn glibc_is_no_newer_than_the_readme_says() {
    let number = |text: &str| -> Vec<u32> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        text[..end].trim_end_matches('.').split('.').map(|part| part.parse().unwrap()).collect()
    };
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, stated) = readme.split_once("asks for glibc ").unwrap();
    let versions = wanted_versions(&std::fs::read(api().path()).unwrap());
    let wanted: Vec<_> = versions.iter().filter_map(|version| version.strip_prefix("GLIBC_")).map(number).collect();
    assert!(!wanted.is_empty(), "{versions:?}");
    let highest = wanted.into_iter().max().unwrap();
    assert!(highest <= number(stated), "asks for glibc {highest:?}, README.md says {:?}", number(stated));
}
