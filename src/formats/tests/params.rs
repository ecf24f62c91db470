use std::cell::Cell;

use super::{damage, outside_subgroup, refuse};
use crate::error::Status;
use crate::formats::bellman_params::{Params, PointChecks, ReadOptions, read, sections, write};
use crate::formats::source::Source;
use crate::formats::vk::VerifyingKey;
use crate::math::curve::Affine;
use crate::math::encoding::EncodedField;
use crate::prover::setup::{Trapdoor, setup};
use crate::prover::synthetic::{Shape, circuit};

fn example(rows: usize) -> (Params, Vec<u8>) {
    let (circuit, _) = circuit(&Shape::new(rows, 3, 8)).unwrap();
    let params = setup(&circuit, &Trapdoor::from_seed(4)).unwrap();
    let mut bytes = Vec::new();
    write(&params, &mut bytes).unwrap();
    (params, bytes)
}

fn checked(source: &Source<'_>) -> crate::error::Result<Params> {
    read(source, &ReadOptions::default())
}

fn with_checks(bytes: &[u8], checks: PointChecks) -> crate::error::Result<Params> {
    read(&Source::Bytes(bytes), &ReadOptions { checks, ..ReadOptions::default() })
}

#[test]
fn files_round_trip_with_and_without_a_transcript() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for rows in [1, 2, 13, 200] {
        let (params, mut bytes) = example(rows);
        assert!(checked(&Source::Bytes(&bytes)).unwrap() == params);
        bytes.extend([0xee; 52_836]);
        for checks in [PointChecks::Subgroup, PointChecks::OnCurve, PointChecks::Nothing] {
            assert!(with_checks(&bytes, checks).unwrap() == params);
            assert!(pool.install(|| with_checks(&bytes, checks)).unwrap() == params);
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        assert!(checked(&Source::open(file.path()).unwrap()).unwrap() == params);
    }
}

#[test]
fn sections_are_found_and_their_counts_checked() {
    let (params, bytes) = example(5);
    let found = sections(&Source::Bytes(&bytes)).unwrap();
    let lens = [&params.vk.ic, &params.h, &params.l, &params.a, &params.b_g1].map(Vec::len);
    assert_eq!(found.map(|s| s.name), ["ic", "h", "l", "a", "b_g1", "b_g2"]);
    assert_eq!(found.map(|s| s.count as usize)[..5], lens);
    assert_eq!(found[0].offset, 868);
    for (i, section) in found.iter().enumerate() {
        for count in [u32::MAX, 0x7fff_ffff, 0x8000_0000] {
            let mut bytes = bytes.clone();
            let place = section.offset as usize - 4;
            bytes[place..place + 4].copy_from_slice(&count.to_be_bytes());
            let error = refuse(checked, &bytes);
            let needed = u64::from(count) * section.point_bytes;
            let text = format!(
                "bellman params: section {}: {count} points need {needed} bytes at offset {}, only {} are left",
                section.name,
                section.offset,
                bytes.len() as u64 - section.offset
            );
            assert_eq!((error.status(), error.message()), (Status::Format, &*text));
        }
        // One point too many runs into the next count, or over the end.
        let mut bytes = bytes.clone();
        let place = section.offset as usize - 4;
        bytes[place..place + 4].copy_from_slice(&(section.count as u32 + 1).to_be_bytes());
        assert!(i == 0 || refuse(checked, &bytes).status() == Status::Format);
    }
}

#[test]
fn truncated_and_damaged_files_are_refused() {
    let (_, bytes) = example(3);
    let found = sections(&Source::Bytes(&bytes)).unwrap();
    let mut edges: Vec<usize> = found.iter().flat_map(|s| [s.offset as usize - 4, s.offset as usize]).collect();
    edges.extend([0, 96, 192, 384, 576, 672, 864, bytes.len()]);
    damage(checked, &bytes, &edges);
    assert_eq!(
        refuse(checked, &bytes[..bytes.len() - 1]).message().split(" points").next().unwrap(),
        format!("bellman params: section b_g2: {}", found[5].count)
    );
}

#[test]
fn a_flipped_bit_in_any_point_is_found() {
    let (params, bytes) = example(3);
    let mut places: Vec<(String, usize, usize)> = Vec::new();
    for section in sections(&Source::Bytes(&bytes)).unwrap() {
        for i in 0..section.count {
            let offset = section.offset + i * section.point_bytes;
            let place = format!("bellman params: section {}, point {i} (offset {offset}): ", section.name);
            places.push((place, offset as usize, section.point_bytes as usize));
        }
    }
    for (name, offset, size) in [("alpha1", 0, 96), ("beta1", 96, 96), ("beta2", 192, 192), ("gamma2", 384, 192)] {
        places.push((format!("bellman params: {name} (offset {offset}): "), offset, size));
    }
    places.push(("bellman params: delta1 (offset 576): ".into(), 576, 96));
    places.push(("bellman params: delta2 (offset 672): ".into(), 672, 192));
    for (place, offset, size) in places {
        for (byte, bit) in [(0, 0x80), (0, 0x40), (0, 0x20), (0, 0x10), (1, 1), (size / 2, 1), (size - 1, 1)] {
            let mut bytes = bytes.clone();
            bytes[offset + byte] ^= bit;
            let error = refuse(checked, &bytes);
            assert!(error.status() == Status::Format && error.message().starts_with(&place), "{place}: {error}");
        }
    }
    assert_eq!(params.vk.ic.len(), 3);
}

fn bad<F: EncodedField>(infinity: bool) -> Affine<F> {
    if infinity { Affine::INFINITY } else { outside_subgroup() }
}

#[test]
fn infinity_and_points_outside_the_subgroup_are_refused() {
    let (params, _) = example(3);
    type Change = fn(&mut Params, bool);
    let changes: [(&str, Change); 8] = [
        ("alpha1", |p, inf| p.vk.alpha1 = bad(inf)),
        ("delta2", |p, inf| p.vk.delta2 = bad(inf)),
        ("section ic, point 2", |p, inf| p.vk.ic[2] = bad(inf)),
        ("section h, point 6", |p, inf| p.h[6] = bad(inf)),
        ("section l, point 0", |p, inf| p.l[0] = bad(inf)),
        ("section a, point 1", |p, inf| p.a[1] = bad(inf)),
        ("section b_g1, point 0", |p, inf| p.b_g1[0] = bad(inf)),
        ("section b_g2, point 1", |p, inf| p.b_g2[1] = bad(inf)),
    ];
    for (place, change) in changes {
        for infinity in [true, false] {
            let mut params = params.clone();
            change(&mut params, infinity);
            let mut bytes = Vec::new();
            write(&params, &mut bytes).unwrap();
            let error = refuse(checked, &bytes);
            let why = if infinity { "at infinity" } else { "not in the subgroup" };
            let start = format!("bellman params: {place} (offset ");
            assert!(error.message().starts_with(&start) && error.message().contains(why), "{error}");
            // Infinity is refused whatever is checked; the subgroup only on demand.
            assert_eq!(with_checks(&bytes, PointChecks::OnCurve).is_err(), infinity);
            assert_eq!(with_checks(&bytes, PointChecks::Nothing).is_err(), infinity);
        }
    }
}

#[test]
fn digests_cover_the_whole_file() {
    let (params, mut bytes) = example(3);
    bytes.extend([7; 1000]);
    let digest = *blake2b_simd::blake2b(&bytes).as_array();
    let options = ReadOptions { checks: PointChecks::Nothing, blake2b: Some(&digest), progress: None };
    assert!(read(&Source::Bytes(&bytes), &options).unwrap() == params);
    // A file without its last byte, and one with a point that decodes but differs.
    let last = bytes.len() - 1;
    for changed in [bytes[..last].to_vec(), [&bytes[..last], &[8]].concat(), {
        let mut changed = bytes.clone();
        changed[1000] ^= 1;
        changed
    }] {
        let error = read(&Source::Bytes(&changed), &options).expect_err("refused");
        assert!(error.message().starts_with("bellman params: the file's BLAKE2b digest is "), "{error}");
        assert_eq!(error.status(), Status::Format);
    }
}

#[test]
fn progress_rises_to_the_total_and_can_stop_the_reading() {
    let (_, bytes) = example(3);
    let (last, calls) = (Cell::new(0), Cell::new(0));
    let progress = |done: u64, total: u64| {
        assert!(done >= last.get() && done <= total && total == bytes.len() as u64);
        last.set(done);
        calls.set(calls.get() + 1);
        true
    };
    let options = ReadOptions { progress: Some(&progress), ..ReadOptions::default() };
    read(&Source::Bytes(&bytes), &options).unwrap();
    assert!(last.get() == bytes.len() as u64 && calls.get() > 2);
    for stop_at in 0..calls.get() {
        let left = Cell::new(stop_at);
        let progress = |_, _| {
            left.set(left.get() - 1);
            left.get() >= 0
        };
        let options = ReadOptions { progress: Some(&progress), ..ReadOptions::default() };
        let error = read(&Source::Bytes(&bytes), &options).expect_err("stopped");
        assert_eq!(error.status(), Status::Cancelled);
    }
}

#[test]
fn verifying_keys_round_trip_and_are_checked() {
    let (params, file) = example(3);
    let bytes = params.vk.to_bytes();
    assert_eq!(bytes, file[..bytes.len()]);
    assert_eq!(VerifyingKey::from_bytes(&bytes).unwrap(), params.vk);
    let read = |source: &Source<'_>| match source {
        Source::Bytes(bytes) => VerifyingKey::from_bytes(bytes),
        Source::File { .. } => unreachable!(),
    };
    damage(read, &bytes, &[96, 192, 384, 576, 672, 864, 868, 964, bytes.len()]);
    for count in [0, 2, 4, u32::MAX] {
        let mut bytes = bytes.clone();
        bytes[864..868].copy_from_slice(&count.to_be_bytes());
        let text = format!("verifying key: section ic: {count} points, but 288 bytes follow the count");
        assert_eq!(refuse(read, &bytes).message(), text);
    }
    let mut vk = params.vk.clone();
    vk.ic[1] = Affine::INFINITY;
    let text = "verifying key: section ic, point 1 (offset 964): the point is at infinity";
    assert_eq!(refuse(read, &vk.to_bytes()).message(), text);
    vk.ic[1] = outside_subgroup();
    assert!(refuse(read, &vk.to_bytes()).message().contains("not in the subgroup"));
}
