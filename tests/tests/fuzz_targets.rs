//! What `tests/fuzz` runs under cargo-fuzz, here with seeded mutations on stable Rust.
//!
//! `UAFORGE_MUTATION_SECONDS` sets how long each target runs.

use std::time::{Duration, Instant};

use uaforge_tests::captures::captures;
use uaforge_tests::hostile::{
    Known, decode_as_everything, read_as_json, read_as_nodeset, read_as_xml, receive_as_everything,
    text_seeds,
};
use uaforge_tests::mutator::Mutator;

/// Runs `target` with inputs that `input` makes, on as little stack as a target may need.
fn run(
    seed: u64,
    input: impl Fn(&mut Mutator) -> Vec<u8> + Send + 'static,
    target: impl Fn(&[u8]) + Send + 'static,
) {
    let seconds = std::env::var("UAFORGE_MUTATION_SECONDS").ok().and_then(|text| text.parse().ok());
    let time = Duration::from_secs_f64(seconds.unwrap_or(2.0));
    let inputs = move || {
        let (mut mutator, begin) = (Mutator::new(seed), Instant::now());
        let mut count = 0;
        while begin.elapsed() < time {
            target(&input(&mut mutator));
            count += 1;
        }
        count
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(inputs).expect("a thread");
    assert!(thread.join().expect("no panic") > 0);
}

fn frames(to_server: bool) -> Vec<Vec<u8>> {
    let frames = captures().into_iter().flat_map(|capture| capture.frames);
    frames.filter(|frame| frame.to_server == to_server).map(|frame| frame.chunk.0).collect()
}

fn any<'m>(from: &'m [Vec<u8>], mutator: &mut Mutator) -> &'m [u8] {
    &from[mutator.below(from.len())]
}

#[test]
fn decode() {
    let known = Known::default();
    let bodies: Vec<Vec<u8>> = [frames(true), frames(false)].concat();
    let input = move |mutator: &mut Mutator| {
        // A type id of four bytes stands before most bodies.
        let mut body = any(&bodies, mutator).get(28..).unwrap_or_default().to_vec();
        body.truncate(2_000);
        let other = any(&bodies, mutator);
        mutator.mutate(&mut body, other);
        body
    };
    run(1, input, move |input| decode_as_everything(input, &known));
}

#[test]
fn channel() {
    let (up, down) = (frames(true), frames(false));
    let input = move |mutator: &mut Mutator| {
        let from = if mutator.below(2) == 0 { &up } else { &down };
        let mut stream = mutator.random(1);
        // Conversations begin with their first frames; an open channel takes any.
        let first = if mutator.below(2) == 0 { 0 } else { mutator.below(from.len()) };
        let count = mutator.below(6);
        for frame in from.iter().skip(first).take(1 + count) {
            let mut frame = frame.clone();
            if mutator.below(3) == 0 {
                let other = any(from, mutator);
                mutator.mutate(&mut frame, other);
            }
            if frame.len() >= 20 && mutator.below(2) == 0 {
                // The channel and the token of the pair.
                frame[8..12].copy_from_slice(&7_u32.to_le_bytes());
                frame[12..16].copy_from_slice(&1_u32.to_le_bytes());
            }
            stream.extend(frame);
        }
        stream
    };
    run(2, input, receive_as_everything);
}

#[test]
fn nodeset() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let files = ["../templates/model/BrewLine.NodeSet2.xml", "oracle/Tiny.NodeSet2.xml"];
    let read = |file| std::fs::read(format!("{folder}/{file}")).expect("committed");
    let documents: Vec<Vec<u8>> = files.map(read).into();
    let input = move |mutator: &mut Mutator| {
        let mut document = any(&documents, mutator).to_vec();
        let other = any(&documents, mutator);
        mutator.mutate(&mut document, other);
        document
    };
    run(3, input, read_as_nodeset);
}

/// Mutated texts, and such that nest: `[[[[…`.
fn texts(seeds: Vec<String>, nests: &'static [&'static str]) -> impl Fn(&mut Mutator) -> Vec<u8> + Send {
    let seeds: Vec<Vec<u8>> = seeds.into_iter().map(String::into_bytes).collect();
    move |mutator| {
        let mut text = any(&seeds, mutator).to_vec();
        if mutator.below(8) == 0 {
            let nest = nests[mutator.below(nests.len())].repeat(mutator.below(2_000));
            text = [nest.into_bytes(), text].concat();
        }
        let other = any(&seeds, mutator);
        mutator.mutate(&mut text, other);
        text
    }
}

#[test]
fn json() {
    let known = Known::default();
    let nests =
        &["[", "{\"UaType\":24,\"Value\":[", "{\"InnerDiagnosticInfo\":", "{\"UaType\":23,\"Value\":"];
    let input = texts(text_seeds(&known).0, nests);
    run(4, input, move |input| read_as_json(input, &known));
}

#[test]
fn xml() {
    let known = Known::default();
    let nests =
        &["<a>", "<Variant><Value><ListOfVariant>", "<InnerDiagnosticInfo>", "<DataValue><Value><Value>"];
    let input = texts(text_seeds(&known).1, nests);
    run(5, input, move |input| read_as_xml(input, &known));
}
