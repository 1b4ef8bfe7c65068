//! A client's and a server's channel talk to each other, byte by byte, without sockets and clocks.

use std::sync::Arc;
use std::time::Duration;

use uaforge_channel::{
    ChannelError, ClientChannel, ClientConfig, ClientEvent, Limits, NonePolicy, SecurityProvider,
    ServerChannel, ServerConfig, ServerEvent,
};
use uaforge_codec::{EncodeContext, EncodeError, Now, SeededEntropy, Ticks};
use uaforge_types::status;

struct Pair {
    client: ClientChannel,
    server: ServerChannel,
    to_server: Vec<u8>,
    to_client: Vec<u8>,
    now: Now,
    /// What arrived: request id and body.
    requests: Vec<(u32, Vec<u8>)>,
    responses: Vec<(u32, Vec<u8>)>,
    failure: Option<ChannelError>,
}

fn server(limits: Limits, now: Now) -> ServerChannel {
    let none: Box<dyn SecurityProvider> = Box::new(NonePolicy);
    let config = ServerConfig {
        channel_id: 7,
        limits,
        policies: Arc::new([none]),
        lifetime: (Duration::from_secs(1), Duration::from_secs(3_600)),
        handshake_timeout: Duration::from_secs(5),
        message_timeout: Duration::from_secs(30),
    };
    ServerChannel::new(config, SeededEntropy::new(2), now)
}

impl Pair {
    fn new(client_limits: Limits, server_limits: Limits, lifetime: Duration) -> Self {
        let now = Now { ticks: Ticks(1_000_000_000), ..Now::default() };
        let mut config = ClientConfig::new("opc.tcp://plant:4840/srv");
        config.limits = client_limits;
        config.requested_lifetime = lifetime;
        let mut client = ClientChannel::new(config, NonePolicy, SeededEntropy::new(1));
        let mut to_server = Vec::new();
        client.start(&mut to_server, now);
        let mut pair = Self {
            client,
            server: server(server_limits, now),
            to_server,
            to_client: Vec::new(),
            now,
            requests: Vec::new(),
            responses: Vec::new(),
            failure: None,
        };
        pair.run(1);
        pair
    }

    fn open() -> Self {
        Self::new(Limits::default(), Limits::default(), Duration::from_secs(10))
    }

    /// Carries bytes to and fro, `step` at a time, until nobody has anything to say. The server echoes.
    fn run(&mut self, step: usize) {
        let (mut at_server, mut at_client) = (Vec::new(), Vec::new());
        while !self.to_server.is_empty() || !self.to_client.is_empty() {
            let count = step.min(self.to_server.len());
            at_server.extend(self.to_server.drain(..count));
            loop {
                let (used, event) = self.server.receive(&at_server, self.now, &mut self.to_client);
                let done = match event {
                    ServerEvent::Incomplete | ServerEvent::Closed => true,
                    ServerEvent::Handled => false,
                    ServerEvent::Message { request_id, body, writer } => {
                        self.requests.push((request_id, body.to_vec()));
                        let cx = EncodeContext::default();
                        let _ = writer.send(&mut self.to_client, cx, request_id, |e| e.put(body));
                        false
                    }
                };
                at_server.drain(..used);
                if done {
                    break;
                }
            }
            let count = step.min(self.to_client.len());
            at_client.extend(self.to_client.drain(..count));
            loop {
                let (used, event) = self.client.receive(&at_client, self.now, &mut self.to_server);
                let mut done = false;
                match event {
                    ClientEvent::Incomplete => done = true,
                    ClientEvent::Failed(error) => {
                        self.failure.get_or_insert(error);
                        done = true;
                    }
                    ClientEvent::Message { request_id, body } => {
                        self.responses.push((request_id, body.to_vec()))
                    }
                    _ => {}
                }
                at_client.drain(..used);
                if done {
                    break;
                }
            }
        }
    }

    fn send(&mut self, body: &[u8]) -> Result<u32, EncodeError> {
        self.client.send(&mut self.to_server, EncodeContext::default(), |e| e.put(body))
    }

    fn pass(&mut self, time: Duration) {
        self.now.ticks = self.now.ticks + time;
        if self.client.deadline().is_some_and(|at| at <= self.now.ticks) {
            let failure = self.client.on_deadline(self.now, &mut self.to_server);
            self.failure = self.failure.take().or(failure);
        }
        self.server.on_deadline(self.now, &mut self.to_client);
    }
}

#[test]
fn opens_byte_by_byte_and_echoes() {
    let mut pair = Pair::open();
    assert!(pair.client.is_open() && pair.server.is_open());
    assert_eq!(pair.client.channel_id(), 7);
    assert_eq!(pair.server.endpoint_url(), "opc.tcp://plant:4840/srv");
    let first = pair.send(b"one").unwrap();
    let second = pair.send(b"two").unwrap();
    pair.run(1);
    assert_eq!(pair.responses, [(first, b"one".to_vec()), (second, b"two".to_vec())]);
}

#[test]
fn long_messages_come_in_chunks() {
    let small = Limits { receive_buffer: 8192, send_buffer: 8192, ..Limits::default() };
    let mut pair = Pair::new(small, Limits::default(), Duration::from_secs(10));
    let body: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
    let id = pair.send(&body).unwrap();
    pair.run(1000);
    assert_eq!(pair.responses, [(id, body)]);
}

#[test]
fn limits_hold_on_both_sides() {
    let tight = Limits { max_message: 10_000, max_chunks: 4, ..Limits::default() };
    let mut pair = Pair::new(Limits::default(), tight, Duration::from_secs(10));
    assert_eq!(pair.send(&[0; 10_001]), Err(EncodeError::TooLarge));
    assert!(pair.to_server.is_empty());
    assert!(pair.send(&[0; 10_000]).is_ok());
    pair.run(4096);
    assert_eq!(pair.responses.len(), 1);
}

#[test]
fn tokens_are_renewed_a_thousand_times() {
    let mut pair = Pair::new(Limits::default(), Limits::default(), Duration::from_secs(1));
    for _ in 0..1000 {
        pair.send(b"in flight").unwrap();
        pair.pass(Duration::from_millis(750));
        pair.send(b"after").unwrap();
        pair.run(usize::MAX);
    }
    assert_eq!(pair.failure, None);
    assert_eq!(pair.responses.len(), 2000);
}

#[test]
fn a_channel_without_renewal_ends() {
    let mut pair = Pair::new(Limits::default(), Limits::default(), Duration::from_secs(1));
    pair.now.ticks = pair.now.ticks + Duration::from_millis(1_249);
    pair.server.on_deadline(pair.now, &mut pair.to_client);
    assert!(pair.server.is_open());
    pair.now.ticks = pair.now.ticks + Duration::from_millis(2);
    pair.server.on_deadline(pair.now, &mut pair.to_client);
    assert_eq!(pair.server.error().unwrap().status, status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN);
    pair.run(10);
    assert_eq!(pair.failure.unwrap().status, status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN);
}

#[test]
fn a_client_closes() {
    let mut pair = Pair::open();
    let now = pair.now;
    pair.client.close(&mut pair.to_server, now);
    pair.run(3);
    assert!(pair.server.is_closed());
    assert_eq!(pair.server.error(), None);
}

/// Gives a fresh server's channel these bytes; what it answers.
fn answer(bytes: &[u8]) -> (ServerChannel, Vec<u8>) {
    let now = Now::default();
    let mut channel = server(Limits { max_message: 1 << 20, max_chunks: 64, ..Limits::default() }, now);
    let mut out = Vec::new();
    let mut rest = bytes;
    loop {
        let (used, event) = channel.receive(rest, now, &mut out);
        let stop = matches!(event, ServerEvent::Incomplete | ServerEvent::Closed);
        rest = &rest[used..];
        if stop {
            return (channel, out);
        }
    }
}

fn error_status(out: &[u8]) -> u32 {
    assert_eq!(&out[..4], b"ERRF");
    u32::from_le_bytes(out[8..12].try_into().unwrap())
}

fn hello(version: u32, receive: u32, send: u32, url: &str) -> Vec<u8> {
    let mut bytes = b"HELF".to_vec();
    bytes.extend((32 + url.len() as u32).to_le_bytes());
    for field in [version, receive, send, 0, 0, url.len() as u32] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(url.as_bytes());
    bytes
}

#[test]
fn hello_sizes_and_versions() {
    let buffers = |out: &[u8]| {
        assert_eq!(&out[..4], b"ACKF");
        let field = |at: usize| u32::from_le_bytes(out[at..at + 4].try_into().unwrap());
        (field(8), field(12), field(16))
    };
    let url = "opc.tcp://example.org:4840/acc";
    assert_eq!(buffers(&answer(&hello(0, 65_536, 65_536, url)).1), (0, 65_536, 65_536));
    assert_eq!(buffers(&answer(&hello(0, 8192, 8192, url)).1), (0, 8192, 8192));
    assert_eq!(buffers(&answer(&hello(0, u32::MAX, u32::MAX, url)).1), (0, 65_536, 65_536));
    assert_eq!(buffers(&answer(&hello(7, 65_536, 65_536, url)).1), (0, 65_536, 65_536));
    assert_eq!(error_status(&answer(&hello(0, 1024, 1024, url)).1), status::BAD_CONNECTION_REJECTED.0);
    let long = format!("opc.tcp://{}", "a".repeat(4087));
    assert_eq!(
        error_status(&answer(&hello(0, 65_536, 65_536, &long)).1),
        status::BAD_TCP_ENDPOINT_URL_INVALID.0
    );
}

#[test]
fn nonsense_is_refused_at_the_header() {
    for (bytes, status) in [
        (&b"HELF\xff\xff\xff\x7f"[..], status::BAD_TCP_MESSAGE_TOO_LARGE),
        (b"HELF\x08\0\0\0", status::BAD_DECODING_ERROR),
        (b"GET / HTTP/1.1\r\n\r\n", status::BAD_TCP_MESSAGE_TYPE_INVALID),
        (b"HELF\x04\0\0\0", status::BAD_TCP_MESSAGE_TOO_LARGE),
        (b"MSGF\x08\0\0\0", status::BAD_TCP_MESSAGE_TYPE_INVALID),
    ] {
        let (channel, out) = answer(bytes);
        assert!(channel.is_closed());
        assert_eq!(error_status(&out), status.0, "{bytes:?}");
    }
}

#[test]
fn abort_drops_one_message_only() {
    let mut pair = Pair::open();
    let chunk = |kind: u8, sequence: u32, request: u32, body: &[u8]| {
        let mut bytes = vec![b'M', b'S', b'G', kind];
        bytes.extend((24 + body.len() as u32).to_le_bytes());
        for field in [7, 1, sequence, request] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(body);
        bytes
    };
    pair.to_server.extend(chunk(b'C', 2, 2, b"begin"));
    pair.to_server.extend(chunk(b'A', 3, 2, &[0, 0, 0xb8, 0x80, 0xff, 0xff, 0xff, 0xff]));
    pair.to_server.extend(chunk(b'A', 4, 9, &[]));
    pair.to_server.extend(chunk(b'F', 5, 3, b"whole"));
    pair.run(7);
    assert_eq!(pair.requests, [(3, b"whole".to_vec())]);
    // The same number again ends the channel.
    pair.to_server.extend(chunk(b'F', 5, 4, b"again"));
    pair.run(7);
    assert_eq!(pair.failure.unwrap().status, status::BAD_SEQUENCE_NUMBER_INVALID);
}

#[test]
fn too_many_chunks_are_refused() {
    let tight = Limits { max_chunks: 64, max_message: 1 << 20, ..Limits::default() };
    let mut pair = Pair::new(Limits::default(), tight, Duration::from_secs(10));
    for sequence in 2..67u32 {
        let mut bytes = b"MSGC\x20\0\0\0".to_vec();
        for field in [7, 1, sequence, 2, 0, 0] {
            bytes.extend(field.to_le_bytes());
        }
        pair.to_server.extend(bytes);
    }
    pair.run(usize::MAX);
    assert_eq!(pair.failure.unwrap().status, status::BAD_TCP_MESSAGE_TOO_LARGE);
}
