//! Recorded conversations of other stacks: our channels accept each chunk, our types read each message and
//! write it again as it was, our server answers the recorded clients.

use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use uaforge_channel::{
    ClientChannel, ClientConfig, ClientEvent, Limits, NonePolicy, SecurityProvider, ServerChannel,
    ServerConfig, ServerEvent,
};
use uaforge_codec::{
    Decode as _, DecodeContext, DecodeRef as _, Decoder, Encode as _, EncodeContext, Encoder,
    ExtensionObject, NodeId, NodeIdRef, SeededEntropy, Structure, TypeRegistry,
};
use uaforge_net::Machine as _;
use uaforge_server::Server;
use uaforge_tests::captures::{Capture, captures};
use uaforge_tests::peer::{binary_id, start_time};
use uaforge_tests::raw::{NONE, Raw, body, decode, field};
use uaforge_types::*;

/// Bytes of an OpenSecureChannel chunk of policy None before its body.
const OPEN_HEADER: usize = 12 + 4 + NONE.len() + 4 + 4 + 8;

/// A request id and the body.
type Received = (u32, Vec<u8>);

/// The messages that arrive at a server.
fn requests(capture: &Capture) -> Vec<Received> {
    let channel = capture.frames.iter().find(|f| f.chunk.kind().starts_with("MSG")).expect("messages");
    let none: Box<dyn SecurityProvider> = Box::new(NonePolicy);
    let config = ServerConfig {
        channel_id: channel.chunk.field(8),
        limits: Limits::default(),
        policies: Arc::new([none]),
        lifetime: (Duration::from_secs(1), Duration::from_secs(3_600)),
        handshake_timeout: Duration::from_secs(5),
        message_timeout: Duration::from_secs(30),
    };
    let mut channel = ServerChannel::new(config, SeededEntropy::new(1), start_time());
    let (mut received, mut out) = (Vec::new(), Vec::new());
    for frame in capture.frames.iter().filter(|frame| frame.to_server) {
        let mut bytes = frame.chunk.0.clone();
        if matches!(frame.chunk.kind(), "MSGC" | "MSGF" | "CLOF") {
            // Our tokens begin with 1.
            bytes[12..16].copy_from_slice(&1u32.to_le_bytes());
        }
        let (used, event) = channel.receive(&bytes, start_time(), &mut out);
        assert_eq!(used, bytes.len());
        match event {
            ServerEvent::Message { request_id, body, .. } => received.push((request_id, body.to_vec())),
            ServerEvent::Handled => {}
            ServerEvent::Closed => assert_eq!(frame.chunk.kind(), "CLOF"),
            ServerEvent::Incomplete => panic!("whole chunks"),
        }
        assert_eq!(channel.error(), None, "{}", capture.name);
    }
    assert!(channel.is_closed());
    received
}

/// The messages that arrive at a client.
fn responses(capture: &Capture) -> Vec<Received> {
    let config = ClientConfig::new("opc.tcp://127.0.0.1:4840/");
    let mut channel = ClientChannel::new(config, NonePolicy, SeededEntropy::new(1));
    let (mut received, mut out) = (Vec::new(), Vec::new());
    channel.start(&mut out, start_time());
    for frame in capture.frames.iter().filter(|frame| !frame.to_server) {
        let (used, event) = channel.receive(&frame.chunk.0, start_time(), &mut out);
        assert_eq!(used, frame.chunk.0.len());
        match event {
            ClientEvent::Message { request_id, body } => received.push((request_id, body.to_vec())),
            ClientEvent::Handled | ClientEvent::Opened => {}
            other => panic!("{}: {other:?}", capture.name),
        }
    }
    assert!(channel.is_open());
    received
}

/// Decodes a body and encodes the value; what was encoded is the same value.
fn recode_as<T: Structure>(bytes: &[u8]) -> Vec<u8> {
    let value: T = decode_as(bytes);
    let again = body(&value);
    assert_eq!(decode_as::<T>(&again), value);
    again
}

fn decode_as<T: Structure>(bytes: &[u8]) -> T {
    let mut types = TypeRegistry::new();
    register_types(&mut types);
    let mut d = Decoder::new(bytes, DecodeContext { types: &types, ..Default::default() });
    let id = NodeId::decode(&mut d).expect("a type id");
    assert_eq!(id, NodeId::numeric(0, binary_id::<T>()));
    let value = T::decode(&mut d).unwrap_or_else(|error| panic!("{error}"));
    d.finish().expect("nothing behind the structure");
    value
}

macro_rules! services {
    ($($name:ident)*) => {
        fn recode(service: &str, bytes: &[u8]) -> Vec<u8> {
            match service {
                $(stringify!($name) => recode_as::<$name>(bytes),)*
                _ => panic!("{service} is new in the captures"),
            }
        }
    };
}

services! {
    ActivateSessionRequest ActivateSessionResponse BrowseNextRequest BrowseNextResponse BrowseRequest
    BrowseResponse CallRequest CallResponse CloseSecureChannelRequest CloseSessionRequest
    CloseSessionResponse CreateMonitoredItemsRequest CreateMonitoredItemsResponse CreateSessionRequest
    CreateSessionResponse CreateSubscriptionRequest CreateSubscriptionResponse DeleteSubscriptionsRequest
    DeleteSubscriptionsResponse FindServersRequest FindServersResponse GetEndpointsRequest
    GetEndpointsResponse ModifySubscriptionRequest ModifySubscriptionResponse OpenSecureChannelRequest
    OpenSecureChannelResponse PublishRequest PublishResponse ReadRequest ReadResponse RepublishRequest
    RepublishResponse ServiceFault WriteRequest WriteResponse
}

/// The body of a message that channels keep to themselves.
fn control_body(capture: &Capture, kind: &str, to_server: bool) -> Vec<u8> {
    let mut frames = capture.frames.iter().filter(|f| f.to_server == to_server && f.chunk.kind() == kind);
    let chunk = &frames.next().expect("a chunk").chunk;
    assert!(frames.next().is_none(), "one {kind}");
    let header = if kind == "OPNF" { OPEN_HEADER } else { 24 };
    chunk.0[header..].to_vec()
}

#[test]
fn every_chunk_is_accepted_and_every_message_written_again() {
    for capture in captures() {
        let (requests, responses) = (requests(&capture), responses(&capture));
        let (mut at_server, mut at_client) = (requests.into_iter(), responses.into_iter());
        for message in &capture.messages {
            let name = format!("{}: {} {}", capture.name, message.service, message.request_id);
            let body = match message.kind.as_str() {
                "MSG" => {
                    let side = if message.to_server { &mut at_server } else { &mut at_client };
                    let (request_id, body) = side.next().expect(&name);
                    assert_eq!(request_id, message.request_id, "{name}");
                    body
                }
                kind => control_body(&capture, &format!("{kind}F"), message.to_server),
            };
            assert_eq!(hex::encode(Sha256::digest(&body)), message.sha256, "{name}");
            let again = recode(&message.service, &body);
            // The longer forms of NodeIds (OPC 10000-6 §5.2.2.9) become shorter ones.
            if message.is_canonical {
                assert_eq!(hex::encode(again), hex::encode(body), "{name}");
            }
        }
        assert!(at_server.next().is_none() && at_client.next().is_none());
        assert!(capture.messages.iter().filter(|message| !message.is_canonical).count() <= 1);
    }
}

/// A recorded request for a session of ours.
fn with_token(bytes: &[u8], token: &NodeId) -> Vec<u8> {
    let mut d = Decoder::new(bytes, DecodeContext::default());
    let service = NodeIdRef::decode_ref(&mut d).expect("a type id");
    if service == NodeIdRef::Numeric(0, binary_id::<ActivateSessionRequest>()) {
        // Names of token policies are the server's own.
        let mut request: ActivateSessionRequest = decode(bytes).expect("a request");
        request.user_identity_token = ExtensionObject::NULL;
        request.request_header.authentication_token = token.clone();
        return body(&request);
    }
    NodeIdRef::decode_ref(&mut d).expect("an authentication token");
    let mut out = Vec::new();
    let mut e = Encoder::new(&mut out, EncodeContext::default());
    service.encode(&mut e);
    token.encode(&mut e);
    e.put(d.rest());
    out
}

#[test]
fn recorded_clients_are_served() {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(5))
        .build()
        .expect("the server is built");
    for capture in captures() {
        let mut raw = Raw::new(server.connection(start_time()), start_time());
        let mut token = NodeId::NULL;
        let service_of = |id: u32| {
            let message =
                capture.messages.iter().find(|m| m.to_server && m.kind == "MSG" && m.request_id == id);
            message.expect("a request").service.as_str()
        };
        for frame in capture.frames.iter().filter(|frame| frame.to_server) {
            let chunk = &frame.chunk;
            let answer = match chunk.kind() {
                "HELF" => raw.give(&chunk.0),
                "OPNF" => {
                    raw.sequence = field(&chunk.0, OPEN_HEADER - 8);
                    let answer = raw.give(&chunk.0);
                    let opened = uaforge_tests::raw::opened(&answer[0]).security_token;
                    (raw.channel, raw.token) = (opened.channel_id, opened.token_id);
                    answer
                }
                "MSGF" if service_of(chunk.request_id()) != "WriteRequest" => {
                    raw.send("MSGF", chunk.request_id(), &with_token(chunk.body(), &token))
                }
                kind => raw.send(kind, chunk.field(20), &chunk.0[24..]),
            };
            assert!(answer.iter().all(|chunk| chunk.error().is_none()), "{}", capture.name);
            assert_eq!(raw.machine.is_closed(), chunk.kind() == "CLOF", "{}", capture.name);
            if chunk.kind() != "MSGF" {
                continue;
            }
            let id = chunk.request_id();
            let own: Vec<_> = answer.iter().filter(|answer| answer.request_id() == id).collect();
            let good = |ok: bool| assert!(ok, "{}: {}", capture.name, service_of(id));
            match service_of(id) {
                "CreateSessionRequest" => {
                    let created: CreateSessionResponse = decode(own[0].body()).expect("a session");
                    token = created.authentication_token;
                }
                "ActivateSessionRequest" => good(decode::<ActivateSessionResponse>(own[0].body()).is_ok()),
                "CloseSessionRequest" => good(decode::<CloseSessionResponse>(own[0].body()).is_ok()),
                "GetEndpointsRequest" => good(decode::<GetEndpointsResponse>(own[0].body()).is_ok()),
                "FindServersRequest" => good(decode::<FindServersResponse>(own[0].body()).is_ok()),
                "ReadRequest" => good(decode::<ReadResponse>(own[0].body()).is_ok()),
                "BrowseRequest" => good(decode::<BrowseResponse>(own[0].body()).is_ok()),
                "BrowseNextRequest" => good(decode::<BrowseNextResponse>(own[0].body()).is_ok()),
                _ => {}
            }
        }
        assert_eq!(server.session_count(), 0);
    }
}
