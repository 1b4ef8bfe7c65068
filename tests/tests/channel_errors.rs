//! Bad input that was also given to other servers: ours refuses it as the specification says.

use uaforge_codec::{SeededEntropy, StatusCode};
use uaforge_net::Machine as _;
use uaforge_server::{Connection, Server};
use uaforge_tests::peer::start_time;
use uaforge_tests::raw::{Chunk, Raw, decode, opened};
use uaforge_types::{GetEndpointsResponse, status};

const ERRORS: &str = include_str!("../vectors/sessions/errors.json");

/// What has to follow the last chunk, from the words of `expected_by_spec`.
#[derive(Debug)]
struct Expected {
    /// ERR may come, and the connection closes (OPC 10000-6 §7.1.5).
    error: bool,
    /// A ServiceFault may come, and the connection stays open (OPC 10000-4 §7.34).
    fault: bool,
    /// With one of these; any if there is none.
    statuses: Vec<StatusCode>,
    /// The connection ends in order: nothing was wrong.
    end: bool,
}

impl Expected {
    fn read(text: &str) -> Self {
        let words =
            text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.starts_with("Bad"));
        let mut statuses: Vec<StatusCode> = words.map(named).collect();
        if text.contains("decoding error") {
            statuses.push(status::BAD_DECODING_ERROR);
        }
        let fault = text.contains("ServiceFault");
        let has_word = |word| text.split(' ').any(|other| other == word);
        let error = has_word("ERR") || (!statuses.is_empty() && !fault);
        Self { error, fault, statuses, end: text.contains("normal end") }
    }

    fn allows(&self, status: StatusCode) -> bool {
        self.statuses.is_empty() || self.statuses.contains(&status)
    }
}

/// The status of a name such as `BadTcpMessageTooLarge`.
fn named(word: &str) -> StatusCode {
    let is_it = |status: &StatusCode| status::name(*status).is_some_and(|name| name.replace('_', "") == word);
    let found = (0x8000..=0x8FFF_u32).map(|half| StatusCode(half << 16)).find(is_it);
    found.unwrap_or_else(|| panic!("{word} is no status"))
}

/// Puts our ids where the recorded server's stand; ids that were wrong there are wrong here.
fn translate(frame: &mut [u8], recorded: (u32, u32), ours: (u32, u32)) {
    let mut put = |at: usize, recorded: u32, ours: u32| {
        let slot: &mut [u8; 4] = (&mut frame[at..at + 4]).try_into().expect("four bytes");
        let id = if u32::from_le_bytes(*slot) == recorded { ours } else { ours ^ 0x40 };
        *slot = id.to_le_bytes();
    };
    put(8, recorded.0, ours.0);
    put(12, recorded.1, ours.1);
}

fn check(raw: &mut Raw<Connection>, vector: &serde_json::Value) {
    let name = vector["name"].as_str().expect("a name");
    let (mut recorded, mut ours) = ((0, 0), (0, 0));
    let (mut last, mut answered) = (Vec::new(), Vec::new());
    for frame in vector["frames"].as_array().expect("frames") {
        let mut bytes = hex::decode(frame["hex"].as_str().expect("bytes")).expect("hexadecimal digits");
        let is_open = frame["type"] == "OPN";
        if frame["dir"] == "s2c" {
            if is_open && ours != (0, 0) {
                let token = opened(&Chunk(bytes)).security_token;
                recorded = (token.channel_id, token.token_id);
            }
            continue;
        }
        if frame["type"] == "MSG" || frame["type"] == "CLO" {
            translate(&mut bytes, recorded, ours);
        }
        assert!(!raw.machine.is_closed(), "{name}: closed too early");
        last = raw.give(&bytes);
        if let Some(open) = last.first().filter(|chunk| chunk.kind() == "OPNF") {
            let token = opened(open).security_token;
            ours = (token.channel_id, token.token_id);
        }
        answered.extend(last.iter().cloned());
    }
    let endpoints = |chunk: &Chunk| decode::<GetEndpointsResponse>(chunk.body()).map(|_| ());
    let expected = Expected::read(vector["expected_by_spec"].as_str().expect("a text"));
    let closed = if expected.end {
        assert!(last.is_empty() && answered.iter().all(|chunk| chunk.error().is_none()), "{name}");
        true
    } else if let Some(error) = last.last().and_then(Chunk::error) {
        assert!(expected.error && expected.allows(error), "{name}: {error}, not {expected:?}");
        true
    } else {
        let answer = endpoints(last.last().expect(name));
        match answer {
            Ok(()) => assert!(!expected.error && !expected.fault, "{name}: answered"),
            Err(fault) => assert!(expected.fault && expected.allows(fault), "{name}: {fault}"),
        }
        false
    };
    assert_eq!(raw.machine.is_closed(), closed, "{name}");
}

#[test]
fn bad_input_is_refused_by_the_book() {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(3))
        .build()
        .expect("the server is built");
    let vectors: Vec<serde_json::Value> = serde_json::from_str(ERRORS).expect("a list");
    assert!(vectors.len() > 25);
    // A file of further vectors may be given.
    let more = std::env::var_os("UAFORGE_ERRORS").map(|path| std::fs::read_to_string(path).expect("a file"));
    let more: Vec<serde_json::Value> =
        more.map(|text| serde_json::from_str(&text).expect("a list")).unwrap_or_default();
    for vector in vectors.iter().chain(&more) {
        check(&mut Raw::new(server.connection(start_time()), start_time()), vector);
    }
}
