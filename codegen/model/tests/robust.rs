//! Broken input gives diagnostics, never a panic: seeded mutations of the fixtures.

use std::path::Path;

use uaforge_model::{Loader, canonical, interface};

/// A small generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

const WORDS: [&str; 16] = [
    "ns=1;i=3001",
    "i=0",
    "i=45",
    "i=4294967295",
    "ns=65535;i=1",
    "-1",
    "99999999999999999999",
    "true",
    "\"",
    "<",
    "</Value>",
    "IsForward=\"false\"",
    "&#0;",
    "\u{FEFF}",
    "ns=1;g=x",
    "i=24",
];

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let (at, other) = (random.below(bytes.len()), random.below(bytes.len()));
        let (start, end) = (at.min(other), at.max(other).min(at.min(other) + 200));
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes.truncate(at.max(1)),
            2 => {
                let copy = bytes[start..end].to_vec();
                bytes.splice(other..other, copy);
            }
            3 => drop(bytes.drain(start..end)),
            4 => {
                let word = WORDS[random.below(WORDS.len())];
                bytes.splice(at..at, word.bytes());
            }
            _ => replace_number(bytes, at, random),
        }
        if bytes.is_empty() {
            bytes.push(b'<');
        }
    }
}

/// Another number where one stands: ids, indexes, masks and dimensions keep the file well-formed.
fn replace_number(bytes: &mut Vec<u8>, from: usize, random: &mut Random) {
    let digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = bytes[from..].iter().position(digit).map(|at| at + from) else { return };
    let end = bytes[start..].iter().position(|byte| !digit(byte)).map_or(bytes.len(), |at| at + start);
    let number = ["0", "1", "2", "3001", "6001", "22", "45", "40", "38", "4294967296"][random.below(10)];
    bytes.splice(start..end, number.bytes());
}

fn rounds() -> usize {
    std::env::var("UAFORGE_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

fn fixtures(suffix: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of fixtures")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(suffix))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a fixture")).collect()
}

#[test]
fn mutated_documents_do_not_panic() {
    let mut random = Random(0x5EED_0001);
    for original in fixtures(".xml") {
        for _ in 0..rounds() {
            let mut bytes = original.clone();
            mutate(&mut bytes, &mut random);
            let loaded = Loader::new().text("mutated", bytes).load();
            let _ = loaded.report(false);
            for model in loaded.set.models.iter().filter(|model| model.ns.0 != 0) {
                let _ = canonical::text(&loaded.set, model.ns);
                for node in model.nodes.values() {
                    let _ = (loaded.set.declarations(&node.id), loaded.set.structure_type(&node.id));
                }
                let text = interface::write(&loaded.set, model.ns);
                interface::read(&text).expect("an interface can always be read back");
            }
        }
    }
}

#[test]
fn mutated_interfaces_do_not_panic() {
    let mut random = Random(0x5EED_0002);
    let loaded = Loader::new().text("values", fixtures("UAF0206.xml").remove(0)).load();
    let ns = loaded.set.ns("urn:fixture").expect("the model");
    let mut original = interface::write(&loaded.set, ns);
    original.push_str(
        "N\tns=1;i=7001\tVariable\tInputArguments\trank=1\nV\t[22 {\"i=296\" \"Name\"=12\"a\" \"X\"=~} <\"i=1\" 1 6\"1\">]\n",
    );
    for _ in 0..rounds() * 200 {
        let mut bytes = original.clone().into_bytes();
        mutate(&mut bytes, &mut random);
        let _ = interface::read(&String::from_utf8_lossy(&bytes));
    }
}
