//! Our server answers recorded clients.

use uaforge_codec::{
    DecodeContext, DecodeRef as _, Decoder, Encode as _, EncodeContext, Encoder, ExtensionObject, NodeId,
    NodeIdRef, SeededEntropy, Structure as _,
};
use uaforge_net::Machine as _;
use uaforge_server::Server;
use uaforge_tests::captures::captures;
use uaforge_tests::peer::start_time;
use uaforge_tests::raw::{Raw, body, decode, field};
use uaforge_types::*;

use crate::recorded::OPEN_HEADER;

/// A recorded request for a session of ours.
fn with_token(bytes: &[u8], token: &NodeId) -> Vec<u8> {
    let mut d = Decoder::new(bytes, DecodeContext::default());
    let service = NodeIdRef::decode_ref(&mut d).expect("a type id");
    if service == NodeIdRef::Numeric(0, ActivateSessionRequest::DESCRIPTOR.binary_id()) {
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
                    let mut open = chunk.0.clone();
                    open[8..12].copy_from_slice(&raw.channel.to_le_bytes());
                    let answer = raw.give(&open);
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
