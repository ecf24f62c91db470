//! The targets on changed seeds, without coverage: `without-libfuzzer SEEDS SECONDS [TARGET...]`. A panic ends it.

use std::path::Path;
use std::time::{Duration, Instant};

use groth16_fuzz::TARGETS;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seeds, seconds, wanted @ ..] = arguments.as_slice() else { panic!("SEEDS SECONDS [TARGET...]") };
    let seconds: u64 = seconds.parse().expect("a number of seconds");
    for (name, target) in TARGETS {
        if !wanted.is_empty() && !wanted.iter().any(|other| other == name) {
            continue;
        }
        let seeds = read(&Path::new(seeds).join(name));
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let (begin, mut runs) = (Instant::now(), 0u64);
        while begin.elapsed() < Duration::from_secs(seconds) {
            let mut data = seeds[random.below(seeds.len())].clone();
            for _ in 0..random.below(4) {
                change(&mut data, &mut random);
            }
            target(&data);
            runs += 1;
        }
        println!("{name}: {runs} runs");
    }
}

fn read(dir: &Path) -> Vec<Vec<u8>> {
    let files = std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    files.flatten().map(|file| std::fs::read(file.path()).expect("a readable seed")).collect()
}

/// One change: a bit, a byte, an extreme number, a shorter end, a copy from elsewhere.
fn change(data: &mut Vec<u8>, random: &mut Random) {
    if data.is_empty() {
        data.push(random.below(256) as u8);
        return;
    }
    let at = random.below(data.len());
    match random.below(6) {
        0 => data[at] ^= 1 << random.below(8),
        1 => data[at] = random.below(256) as u8,
        2 => {
            let number = [0u32, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX][random.below(5)];
            let end = data.len().min(at + 4);
            data[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
        }
        3 => data.truncate(at),
        4 => {
            let from = random.below(data.len());
            let length = random.below(64).min(data.len() - at).min(data.len() - from);
            data.copy_within(from..from + length, at);
        }
        _ => data.extend(std::iter::repeat_n(data[at], random.below(200))),
    }
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound as u64) as usize
    }
}
