//! Conversations of other stacks, recorded with security policy None.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::raw::{Chunk, NONE};

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
    /// Its chunks, as indexes into the frames.
    pub frames: Vec<usize>,
    /// SHA-256 of type id and body, in hexadecimal digits.
    pub sha256: String,
    /// A stack that chooses the form of each NodeId itself decodes the body and writes the same bytes again.
    pub is_canonical: bool,
}

/// One connection between two other stacks.
pub struct Capture {
    /// The file, and which of its connections it is.
    pub name: String,
    /// In the order of arrival.
    pub frames: Vec<Frame>,
    /// In the order in which they were complete.
    pub messages: Vec<Message>,
}

/// Where recordings are: those of the project, and what this variable names.
const MORE: &str = "UAFORGE_CAPTURES";

/// Every connection with security policy None of every recording.
///
/// # Panics
/// A recording is not as they are.
#[must_use]
pub fn captures() -> Vec<Capture> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors/sessions");
    let folders = [Some(own), std::env::var_os(MORE).map(PathBuf::from)].into_iter().flatten();
    let entries = folders.flat_map(|folder| std::fs::read_dir(folder).expect("a folder of recordings"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let found: Vec<Capture> = paths.iter().flat_map(|path| read(path)).collect();
    assert!(!found.is_empty(), "without recordings there is nothing to test");
    found
}

/// The connections of a recording; none of files of another kind and of secured ones.
fn read(path: &Path) -> Vec<Capture> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("a file");
    if name.ends_with(".json.gz") {
        GzDecoder::new(file).read_to_string(&mut text).expect("a compressed recording");
    } else if name.ends_with(".json") {
        { file }.read_to_string(&mut text).expect("a recording");
    } else {
        return Vec::new();
    }
    let recording: Value = serde_json::from_str(&text).expect("JSON");
    let connections = recording["connections"].as_array().into_iter().flatten().enumerate();
    let list = |connection: &Value, name: &str| connection[name].as_array().expect("a list").clone();
    connections
        .filter(|(_, connection)| list(connection, "frames").iter().all(has_policy_none))
        .map(|(number, connection)| Capture {
            name: format!("{name}, connection {number}"),
            frames: list(connection, "frames").iter().map(frame).collect(),
            messages: list(connection, "messages").iter().map(message).collect(),
        })
        .collect()
}

/// Runs with security begin on a connection without it.
fn has_policy_none(frame: &Value) -> bool {
    frame["type"] != "OPN" || text(&frame["hex"]).contains(&hex::encode(NONE))
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn frame(frame: &Value) -> Frame {
    let bytes = hex::decode(text(&frame["hex"])).expect("hexadecimal digits");
    Frame { to_server: frame["dir"] == "c2s", chunk: Chunk(bytes) }
}

fn message(message: &Value) -> Message {
    let is_number = |frame: &Value| frame.as_u64().and_then(|number| number.try_into().ok());
    Message {
        to_server: message["dir"] == "c2s",
        kind: text(&message["type"]).into(),
        service: message["service"].as_str().unwrap_or_default().into(),
        request_id: message["request_id"].as_u64().and_then(|id| id.try_into().ok()).unwrap_or_default(),
        frames: message["frames"].as_array().expect("a list").iter().filter_map(is_number).collect(),
        sha256: message["body_sha256"].as_str().unwrap_or_default().into(),
        // asyncua keeps the longer forms that it read (peers.md).
        is_canonical: message["reencoded_same_by"]
            .as_array()
            .is_some_and(|peers| peers.iter().any(|peer| peer != "asyncua")),
    }
}
