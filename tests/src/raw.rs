//! A client that speaks bytes: it makes its chunks by hand and sees the server's as they are.

use std::time::Duration;

use uaforge_codec::{
    Decode as _, DecodeContext, Decoder, Encode as _, EncodeContext, Encoder, NodeId, NodeIdRef, Now,
    StatusCode, Structure, TypeRegistry,
};
use uaforge_net::Machine;
use uaforge_types::{
    MessageSecurityMode, OpenSecureChannelRequest, OpenSecureChannelResponse, SecurityTokenRequestType,
    ServiceFault, ServiceRequest,
};

/// URI of the security policy None.
pub const NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";

/// One chunk or message of the connection protocol, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk(pub Vec<u8>);

impl Chunk {
    /// The chunks that `bytes` hold, and nothing else.
    pub fn split(mut bytes: &[u8]) -> Vec<Self> {
        let mut chunks = Vec::new();
        while !bytes.is_empty() {
            let size = field(bytes, 4) as usize;
            assert!((8..=bytes.len()).contains(&size), "whole chunks");
            chunks.push(Self(bytes[..size].to_vec()));
            bytes = &bytes[size..];
        }
        chunks
    }

    /// Message type and chunk kind, such as `MSGF`.
    pub fn kind(&self) -> &str {
        std::str::from_utf8(&self.0[..4]).expect("a message type")
    }

    /// The four bytes at an offset.
    pub fn field(&self, at: usize) -> u32 {
        field(&self.0, at)
    }

    /// The status of an ERR message.
    pub fn error(&self) -> Option<StatusCode> {
        (self.kind() == "ERRF").then(|| StatusCode(self.field(8)))
    }

    /// The request id of a MSG chunk.
    pub fn request_id(&self) -> u32 {
        self.field(20)
    }

    /// The body of a MSG chunk, as that of a whole message.
    pub fn body(&self) -> &[u8] {
        &self.0[24..]
    }
}

/// The little-endian number at an offset.
pub fn field(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// A message of the connection protocol: header and fields.
pub fn message(kind: &str, parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = kind.as_bytes().to_vec();
    let size = 8 + parts.iter().map(|part| part.len()).sum::<usize>();
    bytes.extend(u32::try_from(size).expect("a small message").to_le_bytes());
    parts.iter().for_each(|part| bytes.extend(*part));
    bytes
}

/// A Hello (OPC 10000-6 §7.1.2.3): version, receive buffer, send buffer, longest message, most chunks.
pub fn hello(fields: [u32; 5], url: &str) -> Vec<u8> {
    let fields: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
    let length = u32::try_from(url.len()).expect("a short URL").to_le_bytes();
    message("HELF", &[&fields, &length, url.as_bytes()])
}

/// Type id and body of a structure.
pub fn body<T: Structure>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut e = Encoder::new(&mut bytes, EncodeContext::default());
    NodeIdRef::Numeric(0, T::DESCRIPTOR.binary_id()).encode(&mut e);
    value.encode(&mut e);
    bytes
}

/// Reads the body of a response; a ServiceFault is its status.
pub fn decode<T: Structure>(bytes: &[u8]) -> Result<T, StatusCode> {
    let mut types = TypeRegistry::new();
    uaforge_types::register_types(&mut types);
    let cx = DecodeContext { types: &types, ..Default::default() };
    let mut d = Decoder::new(bytes, cx);
    let id = NodeId::decode(&mut d).expect("a type id");
    if id == NodeId::numeric(0, ServiceFault::DESCRIPTOR.binary_id()) {
        let fault = ServiceFault::decode(&mut d).expect("a fault");
        return Err(fault.response_header.service_result);
    }
    assert_eq!(id, NodeId::numeric(0, T::DESCRIPTOR.binary_id()), "{}", T::DESCRIPTOR.name);
    let value = T::decode(&mut d).expect("a response");
    d.finish().expect("nothing behind the response");
    Ok(value)
}

/// An OpenSecureChannel message to be changed before it is sent (OPC 10000-6 §6.7.4).
pub struct Open {
    /// The channel id in the message header.
    pub channel: u32,
    /// The policy in the security header; `None` is null.
    pub policy: Option<String>,
    /// The certificate in the security header.
    pub certificate: Option<Vec<u8>>,
    /// The request.
    pub request: OpenSecureChannelRequest,
}

impl Open {
    /// Issues a token, or renews one of a channel that is not 0.
    pub fn new(channel: u32, lifetime: Duration) -> Self {
        let renew = channel != 0;
        let request = OpenSecureChannelRequest {
            request_type: if renew {
                SecurityTokenRequestType::RENEW
            } else {
                SecurityTokenRequestType::ISSUE
            },
            security_mode: MessageSecurityMode::NONE,
            requested_lifetime: u32::try_from(lifetime.as_millis()).expect("a short lifetime"),
            ..Default::default()
        };
        Self { channel, policy: Some(NONE.into()), certificate: None, request }
    }

    /// The chunk.
    pub fn bytes(&self, sequence: u32, request_id: u32) -> Vec<u8> {
        let mut bytes = b"OPNF\0\0\0\0".to_vec();
        let mut e = Encoder::new(&mut bytes, EncodeContext::default());
        e.put_u32(self.channel);
        e.put_str(self.policy.as_deref());
        e.put_bytes(self.certificate.as_deref());
        e.put_bytes(None);
        e.put_u32(sequence);
        e.put_u32(request_id);
        e.put(&body(&self.request));
        let size = u32::try_from(bytes.len()).expect("a small chunk");
        bytes[4..8].copy_from_slice(&size.to_le_bytes());
        bytes
    }
}

/// The client's end of one connection.
pub struct Raw<M> {
    /// The server's end.
    pub machine: M,
    /// The time, which only the test moves.
    pub now: Now,
    /// What the server gave.
    pub channel: u32,
    /// The token to use.
    pub token: u32,
    /// The number of the last chunk that was sent.
    pub sequence: u32,
    input: Vec<u8>,
}

impl<M: Machine> Raw<M> {
    /// A connection on which nothing was said yet.
    pub fn new(machine: M, now: Now) -> Self {
        Self { machine, now, channel: 0, token: 0, sequence: 0, input: Vec::new() }
    }

    /// Sends bytes; what the server answers at once.
    pub fn give(&mut self, bytes: &[u8]) -> Vec<Chunk> {
        self.input.extend(bytes);
        let mut answer = Vec::new();
        loop {
            let taken = self.machine.receive(&self.input, self.now);
            assert!(taken <= self.input.len());
            self.input.drain(..taken);
            let now = self.now;
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            let _ = self.machine.poll_work(&mut cx, &move || now);
            let output = self.machine.output();
            answer.extend_from_slice(output.unsent());
            output.advance(output.len());
            if self.machine.is_closed() || (taken == 0 && !self.machine.has_more()) {
                return Chunk::split(&answer);
            }
        }
    }

    /// Lets time pass; what the server says then.
    pub fn pass(&mut self, time: Duration) -> Vec<Chunk> {
        self.now.ticks = self.now.ticks + time;
        if self.machine.deadline().is_some_and(|at| at <= self.now.ticks) {
            self.machine.on_deadline(self.now);
        }
        self.give(&[])
    }

    /// Sends a Hello; panics if it is refused.
    pub fn hello(&mut self, limits: [u32; 4], url: &str) {
        let [receive, send, message, chunks] = limits;
        let answer = self.give(&hello([0, receive, send, message, chunks], url));
        assert_eq!(answer.len(), 1);
        assert_eq!(answer[0].kind(), "ACKF");
    }

    /// Sends an OpenSecureChannel with the next number.
    pub fn send_open(&mut self, open: &Open) -> Vec<Chunk> {
        self.sequence = self.sequence.wrapping_add(1);
        let (sequence, request) = (self.sequence, self.sequence);
        self.give(&open.bytes(sequence, request))
    }

    /// Issues or renews a token. The new token is used from now on; the one before is returned.
    pub fn open(&mut self, lifetime: Duration) -> u32 {
        let answer = self.send_open(&Open::new(self.channel, lifetime));
        assert_eq!(answer.len(), 1);
        let response = opened(&answer[0]);
        assert!(self.channel == 0 || self.channel == response.security_token.channel_id);
        self.channel = response.security_token.channel_id;
        std::mem::replace(&mut self.token, response.security_token.token_id)
    }

    /// Hello and OpenSecureChannel with usual values.
    pub fn connect(machine: M, now: Now) -> Self {
        let mut raw = Self::new(machine, now);
        raw.hello([65_536, 65_536, 0, 0], "opc.tcp://example.org:4840/acc");
        raw.open(Duration::from_secs(60));
        raw
    }

    /// A chunk with the next number; not sent.
    pub fn chunk(&mut self, kind: &str, request_id: u32, body: &[u8]) -> Vec<u8> {
        self.sequence = self.sequence.wrapping_add(1);
        let fields: Vec<u8> = [self.channel, self.token, self.sequence, request_id]
            .iter()
            .flat_map(|field| field.to_le_bytes())
            .collect();
        message(kind, &[&fields, body])
    }

    /// Sends a chunk with the next number.
    pub fn send(&mut self, kind: &str, request_id: u32, body: &[u8]) -> Vec<Chunk> {
        let chunk = self.chunk(kind, request_id, body);
        self.give(&chunk)
    }

    /// Sends a request in one chunk and reads the response, which has to be one chunk.
    pub fn call<Q: ServiceRequest>(&mut self, request: &Q) -> Result<Q::Response, StatusCode> {
        let id = self.sequence.wrapping_add(1);
        let answer = self.send("MSGF", id, &body(request));
        assert_eq!(answer.len(), 1, "one chunk");
        assert_eq!((answer[0].kind(), answer[0].request_id()), ("MSGF", id));
        decode(answer[0].body())
    }

    /// Checks that the last answer refused with one of these, and that the connection closes.
    pub fn assert_refused(&self, answer: &[Chunk], allowed: &[StatusCode]) {
        let error = answer.last().and_then(Chunk::error).expect("an ERR message");
        assert!(allowed.contains(&error), "{error} is not among {allowed:?}");
        assert!(self.machine.is_closed());
    }
}

/// The response in an OpenSecureChannel chunk.
pub fn opened(chunk: &Chunk) -> OpenSecureChannelResponse {
    assert_eq!(chunk.kind(), "OPNF", "{:?}", chunk.error());
    let mut d = Decoder::new(&chunk.0[12..], DecodeContext::default());
    let policy = uaforge_codec::UaString::decode(&mut d).expect("a policy");
    assert_eq!(policy.as_str(), Some(NONE));
    for _ in 0..2 {
        assert!(uaforge_codec::ByteString::decode(&mut d).expect("a certificate").is_null());
    }
    d.u32().and_then(|_| d.u32()).expect("a sequence header");
    decode(d.rest()).expect("a channel")
}
