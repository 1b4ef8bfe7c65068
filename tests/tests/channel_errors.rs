//! Bad input that was also given to other servers: ours refuses it as the specification says.

use uaforge_codec::{SeededEntropy, StatusCode};
use uaforge_net::Machine as _;
use uaforge_server::{Connection, Server};
use uaforge_tests::peer::start_time;
use uaforge_tests::raw::{Chunk, Raw, decode, opened};
use uaforge_types::{GetEndpointsResponse, status};

const ERRORS: &str = include_str!("../vectors/sessions/errors.json");

/// What has to follow the last chunk.
enum End {
    /// ERR with one of these, and the connection closes (OPC 10000-6 §7.1.5).
    Error(&'static [StatusCode]),
    /// A ServiceFault; the connection stays open (OPC 10000-4 §7.34).
    Fault(StatusCode),
    /// GetEndpointsResponse; the connection stays open.
    Answer,
    /// The connection closes without an ERR.
    Close,
}

/// `expected_by_spec` of the vectors.
fn expected(name: &str) -> End {
    match name {
        "hello-url-too-long" => End::Error(&[status::BAD_TCP_ENDPOINT_URL_INVALID]),
        "hello-buffer-too-small" => {
            End::Error(&[status::BAD_CONNECTION_REJECTED, status::BAD_TCP_INTERNAL_ERROR])
        }
        "unknown-message-type" | "unknown-type-after-hello" | "second-hello" => {
            End::Error(&[status::BAD_TCP_MESSAGE_TYPE_INVALID])
        }
        "size-larger-than-buffer" | "size-below-header" => End::Error(&[status::BAD_TCP_MESSAGE_TOO_LARGE]),
        "open-unknown-policy" => End::Error(&[status::BAD_SECURITY_POLICY_REJECTED]),
        "open-unknown-request-type" => End::Error(&[status::BAD_REQUEST_TYPE_INVALID]),
        "open-renew-without-channel" | "message-before-open" | "message-wrong-channel" => {
            End::Error(&[status::BAD_TCP_SECURE_CHANNEL_UNKNOWN, status::BAD_SECURE_CHANNEL_ID_INVALID])
        }
        "message-wrong-token" => End::Error(&[status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN]),
        "message-wrong-sequence" => {
            End::Error(&[status::BAD_SEQUENCE_NUMBER_INVALID, status::BAD_SECURITY_CHECKS_FAILED])
        }
        "message-without-session" => End::Fault(status::BAD_SESSION_ID_INVALID),
        "message-unknown-service" => End::Fault(status::BAD_SERVICE_UNSUPPORTED),
        "message-truncated-body" => End::Fault(status::BAD_DECODING_ERROR),
        "message-abort-chunk" => End::Answer,
        "double-open-then-close" => End::Close,
        _ => panic!("the vector {name} has no expectation"),
    }
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
    let closed = match expected(name) {
        End::Error(allowed) => {
            let error = last.last().and_then(Chunk::error).expect(name);
            assert!(allowed.contains(&error), "{name}: {error}");
            true
        }
        End::Fault(status) => {
            assert_eq!(endpoints(&last[0]), Err(status), "{name}");
            false
        }
        End::Answer => {
            assert_eq!(endpoints(&last[0]), Ok(()), "{name}");
            false
        }
        End::Close => {
            assert!(last.is_empty() && answered.iter().all(|chunk| chunk.error().is_none()), "{name}");
            true
        }
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
    for vector in &vectors {
        check(&mut Raw::new(server.connection(start_time()), start_time()), vector);
    }
}
