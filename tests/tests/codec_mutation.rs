//! Random, truncated and mutated bytes: no panic, bounded memory, a stack of 256 KiB. Seeded;
//! `UAFORGE_MUTATION_SECONDS` says for how long (CI: 60).
//!
//! A program of its own without the test harness: the allocator counts for all threads, and the harness
//! would allocate for its notice of tests that take long.

use std::alloc::System;
use std::time::{Duration, Instant};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use uaforge_codec::SeededEntropy;
use uaforge_tests::hostile::{Known, TARGETS, Target};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const STACK: usize = 256 * 1024;
/// Rounds without `UAFORGE_MUTATION_SECONDS`.
const SHORT: u64 = 4_000;

/// What nests: the head of a Variant array, a DataValue in a Variant, an inner DiagnosticInfo, …
const NESTS: &[&[u8]] = &[
    &[0x98, 1, 0, 0, 0],
    &[0x17, 0x01],
    &[0x97, 1, 0, 0, 0, 0x01],
    &[0x40],
    &[0x19, 0x40],
    &[0x16, 0x01, 0x00, 0x55, 0x02, 0x01, 0xFF, 0xFF, 0xFF, 0xFF],
];

/// Numbers that have gone wrong before: as lengths, counts and masks.
const NUMBERS: &[i32] = &[-1, -2, i32::MIN, i32::MAX, 0, 1, 255, 65_536, 0x00FF_FFFF, 0x4000_0000];

struct Mutator {
    random: SeededEntropy,
    seeds: Vec<Vec<u8>>,
}

impl Mutator {
    fn below(&mut self, bound: usize) -> usize {
        (self.random.next_u64() % bound.max(1) as u64) as usize
    }

    fn seed(&mut self) -> Vec<u8> {
        let at = self.below(self.seeds.len());
        self.seeds[at].clone()
    }

    fn random_bytes(&mut self, most: usize) -> Vec<u8> {
        let len = self.below(most);
        (0..len).map(|_| self.random.next_u64() as u8).collect()
    }

    fn input(&mut self) -> Vec<u8> {
        let mut bytes = match self.below(10) {
            0 => self.random_bytes(300),
            1 => {
                let nest = NESTS[self.below(NESTS.len())];
                let mut bytes = nest.repeat(self.below(2_000));
                bytes.extend(self.seed());
                bytes
            }
            _ => self.seed(),
        };
        for _ in 0..self.below(5) {
            self.mutate(&mut bytes);
        }
        bytes
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len());
        match self.below(8) {
            0 => bytes.truncate(at),
            1 => {
                let number = NUMBERS[self.below(NUMBERS.len())].to_le_bytes();
                bytes.iter_mut().skip(at).zip(number).for_each(|(byte, new)| *byte = new);
            }
            2 => {
                let other = self.seed();
                let from = self.below(other.len());
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
            3 => {
                let tail = bytes.split_off(at);
                bytes.extend(self.random_bytes(20));
                bytes.extend(tail);
            }
            4 => {
                let part =
                    bytes.get(at..(at + 1 + self.below(12)).min(bytes.len())).unwrap_or_default().to_vec();
                let tail = bytes.split_off(at);
                bytes.extend(part.repeat(self.below(400)));
                bytes.extend(tail);
            }
            _ => {
                let bit = self.below(8);
                let value = [0, 1, 0x7F, 0x80, 0xFF][self.below(5)];
                let flip = self.below(2) == 0;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = if flip { *byte ^ 1 << bit } else { value };
                }
            }
        }
    }
}

/// The vectors, as they are and as bodies with a length in front.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![Vec::new()];
    for name in ["binary.json", "binary_decode.json"] {
        let path = format!("{}/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("committed");
        let vectors: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for vector in vectors.as_array().expect("a list") {
            seeds.push(hex::decode(vector["hex"].as_str().expect("hex")).expect("hex"));
        }
    }
    seeds
}

/// Bytes allocated by decoding and dropping, in all: at least as many as were in use at a time.
fn cost(target: &Target, input: &[u8], known: &Known) -> usize {
    let region = Region::new(ALLOCATOR);
    (target.decode)(input, known.decoding());
    let change = region.change();
    assert_eq!(change.bytes_allocated, change.bytes_deallocated, "{}: a leak", target.name);
    change.bytes_allocated
}

fn run(seconds: Option<u64>) -> u64 {
    let known = Known::default();
    let mut mutator = Mutator { random: SeededEntropy::new(0x0DEC_0DE5), seeds: seeds() };
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut round = 0;
    while end.map_or(round < SHORT, |end| round % 64 != 0 || Instant::now() < end) {
        round += 1;
        let input = mutator.input();
        for _ in 0..4 {
            let target = &TARGETS[mutator.below(TARGETS.len())];
            let cost = cost(target, &input, &known);
            let most = 64 * input.len() + 64 * 1024;
            assert!(cost <= most, "{}: {cost} > {most}: {}", target.name, hex::encode(&input));
            (target.round_trip)(&input, &known);
        }
    }
    round
}

fn main() {
    let seconds = std::env::var("UAFORGE_MUTATION_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || run(seconds)).expect("a thread");
    let rounds = thread.join().expect("no panic");
    println!("codec_mutation: {rounds} inputs");
}
