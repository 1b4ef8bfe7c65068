//! Conversations of other stacks, recorded with security policy None.

use std::io::Read as _;

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::raw::Chunk;

/// A chunk and who sent it.
pub struct Frame {
    /// From the client.
    pub to_server: bool,
    /// The whole chunk.
    pub chunk: Chunk,
}

/// A message, put together.
pub struct Message {
    /// From the client.
    pub to_server: bool,
    /// `OPN`, `MSG` or `CLO`.
    pub kind: String,
    /// Name of the structure in the body.
    pub service: String,
    /// The request id.
    pub request_id: u32,
    /// SHA-256 of type id and body, in hexadecimal digits.
    pub sha256: String,
    /// A stack that chooses the form of each NodeId itself decodes the body and writes the same bytes again.
    pub is_canonical: bool,
}

/// One connection between two other stacks.
pub struct Capture {
    /// Client and server.
    pub name: &'static str,
    /// In the order of arrival.
    pub frames: Vec<Frame>,
    /// In the order in which they were complete.
    pub messages: Vec<Message>,
}

const FILES: [(&str, &[u8]); 3] = [
    ("asyncua to open62541", include_bytes!("../vectors/sessions/none-asyncua-to-open62541.json.gz")),
    ("node-opcua to asyncua", include_bytes!("../vectors/sessions/none-node-opcua-to-asyncua.json.gz")),
    ("open62541 to node-opcua", include_bytes!("../vectors/sessions/none-open62541-to-node-opcua.json.gz")),
];

/// All of them.
pub fn captures() -> Vec<Capture> {
    FILES.iter().map(|(name, file)| read(name, file)).collect()
}

fn read(name: &'static str, file: &[u8]) -> Capture {
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("a compressed capture");
    let capture: Value = serde_json::from_str(&text).expect("a capture");
    let connection = &capture["connections"][0];
    let list = |name: &str| connection[name].as_array().expect("a list").clone();
    Capture {
        name,
        frames: list("frames").iter().map(frame).collect(),
        messages: list("messages").iter().map(message).collect(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn frame(frame: &Value) -> Frame {
    let bytes = hex::decode(text(&frame["hex"])).expect("hexadecimal digits");
    Frame { to_server: frame["dir"] == "c2s", chunk: Chunk(bytes) }
}

fn message(message: &Value) -> Message {
    Message {
        to_server: message["dir"] == "c2s",
        kind: text(&message["type"]).into(),
        service: text(&message["service"]).into(),
        request_id: message["request_id"].as_u64().and_then(|id| id.try_into().ok()).expect("an id"),
        sha256: text(&message["body_sha256"]).into(),
        // asyncua keeps the longer forms that it read (peers.md).
        is_canonical: message["reencoded_same_by"]
            .as_array()
            .is_some_and(|peers| peers.iter().any(|peer| peer != "asyncua")),
    }
}
