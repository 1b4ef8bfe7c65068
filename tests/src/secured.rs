//! Secured conversations of other stacks, with the random values that their keys came from.

use std::collections::VecDeque;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use uaforge_channel::Limits;
use uaforge_codec::{Entropy, Structure};
use uaforge_crypto::Policy;
use uaforge_types::MessageSecurityMode;

use crate::raw::decode;

/// One chunk.
#[derive(Clone)]
pub struct Frame {
    /// From the client.
    pub by_client: bool,
    /// `HEL`, `ACK`, `OPN`, `MSG` or `CLO`.
    pub kind: String,
    /// More chunks of the message follow.
    pub goes_on: bool,
    /// As it was on the wire.
    pub bytes: Vec<u8>,
    /// Sequence header and body, decrypted by others.
    pub plain: Vec<u8>,
}

impl Frame {
    fn read(frame: &Value) -> Self {
        let bytes = |name: &str| hex::decode(frame[name].as_str().unwrap_or_default()).expect("digits");
        Self {
            by_client: frame["dir"] == "c2s",
            kind: frame["type"].as_str().expect("a type").into(),
            goes_on: frame["chunk"] == "C",
            bytes: bytes("hex"),
            plain: bytes("plain"),
        }
    }

    /// Sequence number and request id.
    #[must_use]
    pub fn numbers(&self) -> (u32, u32) {
        (self.plain_field(0), self.plain_field(4))
    }

    /// The body, as far as it is in this chunk.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.plain.get(8..).unwrap_or_default()
    }

    /// The body of an OpenSecureChannel message.
    ///
    /// # Panics
    /// It is of another type.
    #[must_use]
    pub fn open_body<T: Structure>(&self) -> T {
        decode(self.body()).expect("a body of this type")
    }

    fn plain_field(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.plain[at..at + 4].try_into().expect("four bytes"))
    }

    /// Four bytes of the chunk as a number.
    #[must_use]
    pub fn field(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().expect("four bytes"))
    }

    /// The limits in a Hello or an Acknowledge.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let [receive_buffer, send_buffer, max_message, max_chunks] =
            [12, 16, 20, 24].map(|at| self.field(at));
        Limits { receive_buffer, send_buffer, max_message, max_chunks }
    }
}

/// A secured connection.
pub struct Secured {
    /// The file.
    pub name: String,
    /// The policy.
    pub policy: &'static Policy,
    /// The mode.
    pub mode: MessageSecurityMode,
    /// Names of the identities of client and server in `vectors/pki`.
    pub identities: [String; 2],
    /// In the order of arrival.
    pub frames: Vec<Frame>,
    /// What client and server drew for each token: nonces, or ephemeral private keys.
    pub drawn: [Vec<Vec<u8>>; 2],
}

/// All recordings.
///
/// # Panics
/// A recording is not as they are.
#[must_use]
pub fn secured() -> Vec<Secured> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors/secured");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Secured {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).expect("a file"))
        .read_to_string(&mut text)
        .expect("a recording");
    let run: Value = serde_json::from_str(&text).expect("JSON");
    let connections = run["connections"].as_array().expect("a list");
    let connection = connections.last().expect("a secured connection");
    let identity = |name: &str| {
        let path = run[name].as_str().expect("a file");
        path.rsplit('/').next().unwrap_or(path).trim_end_matches(".cert.der").to_owned()
    };
    let tokens = connection["keys"].as_array().expect("tokens");
    let drawn = |side: &str| {
        let nonces = tokens.iter().map(|token| token[side].as_str().expect("a nonce"));
        nonces.map(|nonce| hex::decode(private_of(&run, nonce)).expect("digits")).collect()
    };
    Secured {
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        policy: Policy::by_name(run["security_policy"].as_str().expect("a policy")).expect("a policy"),
        mode: match run["security_mode"].as_str() {
            Some("Sign") => MessageSecurityMode::SIGN,
            _ => MessageSecurityMode::SIGN_AND_ENCRYPT,
        },
        identities: [identity("client_cert"), identity("server_cert")],
        frames: connection["frames"].as_array().expect("a list").iter().map(Frame::read).collect(),
        drawn: [drawn("client_nonce"), drawn("server_nonce")],
    }
}

/// The private key of an ephemeral one, or the nonce itself.
fn private_of<'v>(run: &'v Value, nonce: &'v str) -> &'v str {
    let mut keys = run["ephemeral_keys"].as_array().into_iter().flatten();
    keys.find(|key| key["public"] == nonce).map_or(nonce, |key| key["private"].as_str().expect("a key"))
}

/// Gives what was drawn, in order.
pub struct Drawn(VecDeque<Vec<u8>>);

impl Drawn {
    /// These values.
    #[must_use]
    pub fn new(values: &[Vec<u8>]) -> Self {
        Self(values.iter().cloned().collect())
    }
}

impl Entropy for Drawn {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.pop_front().expect("as many values as tokens"));
    }
}
