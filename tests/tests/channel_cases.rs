//! The acceptance cases of the secure conversation, one test each, in bytes and virtual time.

use std::time::Duration;

use uaforge_channel::SequenceRule;
use uaforge_codec::{Array, EncodeContext, EncodeError, IntoVariant as _, NodeId, SeededEntropy, StatusCode};
use uaforge_server::{Connection, Limits, Server};
use uaforge_tests::hand::HandServer;
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_tests::raw::{Chunk, Open, Raw, body, decode, field, hello, opened};
use uaforge_types::{
    ActivateSessionRequest, BrowseDescription, BrowseDirection, BrowseRequest, CreateSessionRequest,
    GetEndpointsRequest, GetEndpointsResponse, MessageSecurityMode, ReadRequest, ReadResponse, ReadValueId,
    RequestHeader, status,
};

const URL: &str = "opc.tcp://example.org:4840/acc";
const MINUTE: Duration = Duration::from_secs(60);

fn server_with(limits: Limits) -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0/acc")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(7))
        .limits(limits)
        .build()
        .expect("the server is built")
}

fn server() -> Server {
    server_with(Limits::default())
}

/// A connection on which nothing was said yet.
fn fresh(server: &Server) -> Raw<Connection> {
    Raw::new(server.connection(start_time()), start_time())
}

/// A connection with an open channel.
fn connect(server: &Server) -> Raw<Connection> {
    Raw::connect(server.connection(start_time()), start_time())
}

fn get_endpoints() -> Vec<u8> {
    body(&GetEndpointsRequest { endpoint_url: URL.into(), ..Default::default() })
}

/// Asks for the endpoints and checks that they come.
fn assert_answers(raw: &mut Raw<Connection>) {
    let answer = raw.send("MSGF", 900, &get_endpoints());
    assert_eq!((answer.len(), answer[0].request_id()), (1, 900), "{:?}", answer[0].error());
    assert!(!decode::<GetEndpointsResponse>(answer[0].body()).expect("endpoints").endpoints.is_empty());
}

fn unhex(text: &str) -> Vec<u8> {
    hex::decode(text).expect("hexadecimal digits")
}

/// A session on an open channel; its authentication token.
fn session(raw: &mut Raw<Connection>) -> NodeId {
    let request = CreateSessionRequest { requested_session_timeout: 1e6, ..Default::default() };
    let token = raw.call(&request).expect("a session").authentication_token;
    let request_header = RequestHeader { authentication_token: token.clone(), ..Default::default() };
    raw.call(&ActivateSessionRequest { request_header, ..Default::default() }).expect("it is activated");
    token
}

/// Hello: sizes, versions and endpoint text (OPC 10000-6 §7.1.2.2 to §7.1.2.5).
#[test]
fn case_030_hello_limits() {
    let server = server();
    let acknowledged = |bytes: &[u8]| {
        let answer = fresh(&server).give(bytes);
        assert_eq!((answer.len(), answer[0].kind()), (1, "ACKF"), "{:?}", answer[0].error());
        // Version, receive buffer, send buffer.
        (answer[0].field(8), answer[0].field(12), answer[0].field(16))
    };
    let with = |head: &str| {
        let tail = "00000000000000001e0000006f70632e7463703a2f2f6578616d706c652e6f72673a343834302f616363";
        unhex(&format!("48454c463e000000{head}{tail}"))
    };
    assert_eq!(acknowledged(&with("000000000000010000000100")), (0, 65_536, 65_536));
    assert_eq!(acknowledged(&with("000000000020000000200000")), (0, 8192, 8192));
    assert_eq!(acknowledged(&with("00000000ffffffffffffffff")), (0, 65_536, 65_536));
    // A newer client is accepted (§7.1.2.3 ProtocolVersion).
    assert_eq!(acknowledged(&with("070000000000010000000100")), (0, 65_536, 65_536));

    let refused = |bytes: &[u8], expected: StatusCode| {
        let mut raw = fresh(&server);
        let answer = raw.give(bytes);
        assert_eq!(answer.len(), 1);
        raw.assert_refused(&answer, &[expected]);
    };
    refused(&with("000000000004000000040000"), status::BAD_CONNECTION_REJECTED);
    // URLs of 4096 bytes are the longest (§7.1.2.3 EndpointUrl).
    let url = |length: usize| format!("opc.tcp://{}", "a".repeat(length - 10));
    acknowledged(&hello([0, 65_536, 65_536, 0, 0], &url(4096)));
    refused(&hello([0, 65_536, 65_536, 0, 0], &url(4097)), status::BAD_TCP_ENDPOINT_URL_INVALID);
    // The header alone is enough to refuse.
    refused(&unhex("48454c46ffffff7f"), status::BAD_TCP_MESSAGE_TOO_LARGE);
    refused(&unhex("48454c4608000000"), status::BAD_DECODING_ERROR);
    refused(&unhex("474554202f20485454502f312e310d0a0d0a"), status::BAD_TCP_MESSAGE_TYPE_INVALID);
    refused(&unhex("48454c4604000000"), status::BAD_TCP_MESSAGE_TOO_LARGE);
    // Who says nothing, or begins only, is not waited for.
    for bytes in [&b""[..], b"HEL", b"HELF\x3e\0\0\0"] {
        let mut raw = fresh(&server);
        assert_eq!(raw.give(bytes), []);
        assert_eq!(raw.pass(Limits::default().handshake_timeout / 2), []);
        let answer = raw.pass(Limits::default().handshake_timeout / 2);
        raw.assert_refused(&answer, &[status::BAD_TIMEOUT]);
    }
}

/// Limits on chunk size, chunk count and message size (OPC 10000-6 §6.7.2, §6.7.3, §7.1.2.3, §7.1.2.4).
#[test]
fn case_031_chunk_limits() {
    assert!(Limits::default().max_message_size <= 16 << 20);
    let server = server_with(Limits {
        max_chunk_count: 64,
        max_message_size: 1 << 20,
        message_timeout: MINUTE / 2,
        ..Limits::default()
    });
    let too_large = [status::BAD_TCP_MESSAGE_TOO_LARGE, status::BAD_REQUEST_TOO_LARGE];
    let mut raw = connect(&server);
    for _ in 0..64 {
        assert_eq!(raw.send("MSGC", 2, &[0; 64]), []);
    }
    let answer = raw.send("MSGC", 2, &[0; 64]);
    raw.assert_refused(&answer, &too_large);
    // The sum of the bodies counts; a message of exactly the limit is read, and is no request.
    let mut raw = connect(&server);
    for _ in 0..16 {
        assert_eq!(raw.send("MSGC", 2, &[0xff; 65_000]), []);
    }
    let answer = raw.send("MSGF", 2, &[0xff; (1 << 20) - 16 * 65_000]);
    assert_eq!(answer[0].kind(), "MSGF");
    for _ in 0..16 {
        assert_eq!(raw.send("MSGC", 3, &[0; 65_000]), []);
    }
    let answer = raw.send("MSGF", 3, &[0; (1 << 20) - 16 * 65_000 + 1]);
    raw.assert_refused(&answer, &too_large);
    // The size in a header is judged before the chunk is there.
    let mut raw = connect(&server);
    let chunk = raw.chunk("MSGF", 2, &[0; 65_536 - 23]);
    let answer = raw.give(&chunk[..8]);
    raw.assert_refused(&answer, &[status::BAD_TCP_MESSAGE_TOO_LARGE]);
    // Who begins a message and goes silent is not waited for.
    let mut silent: Vec<_> = (0..200).map(|_| connect(&server)).collect();
    for raw in &mut silent {
        for _ in 0..63 {
            assert_eq!(raw.send("MSGC", 2, &[0; 64]), []);
        }
        assert_eq!(raw.pass(MINUTE / 2 - Duration::from_millis(1)), []);
    }
    // Meanwhile others are served.
    assert_answers(&mut connect(&server));
    for raw in &mut silent {
        let answer = raw.pass(Duration::from_millis(1));
        raw.assert_refused(&answer, &[status::BAD_TIMEOUT]);
    }
    responses_keep_to_the_client_s_limits();
    requests_keep_to_the_server_s_limits();
}

fn responses_keep_to_the_client_s_limits() {
    let server = server();
    let mut raw = fresh(&server);
    raw.hello([8192, 8192, 8192, 1], URL);
    raw.open(MINUTE);
    let authentication_token = session(&mut raw);
    let request_header = RequestHeader { authentication_token, request_handle: 5, ..Default::default() };
    // PropertyType has thousands of instances.
    let description = BrowseDescription {
        node_id: NodeId::numeric(0, 68),
        browse_direction: BrowseDirection::INVERSE,
        result_mask: 63,
        ..Default::default()
    };
    let request = BrowseRequest {
        request_header: request_header.clone(),
        nodes_to_browse: Array::from(vec![description]),
        ..Default::default()
    };
    let answer = raw.send("MSGF", 70, &body(&request));
    assert_eq!((answer.len(), answer[0].request_id()), (1, 70));
    let result = decode::<uaforge_types::BrowseResponse>(answer[0].body());
    // The response that was not sent must not have used numbers up.
    let next = answer[0].field(16) + 1;
    assert_eq!(result, Err(status::BAD_RESPONSE_TOO_LARGE));
    let answer = raw.send("MSGF", 71, &get_endpoints());
    assert_eq!((answer[0].kind(), answer[0].request_id(), answer[0].field(16)), ("MSGF", 71, next));

    // Without limits of the client, 5 MB come in chunks of its receive buffer.
    let numbers: Vec<f64> = (0..655_360).map(f64::from).collect();
    let node = NodeId::numeric(0, 2271);
    server.variable(&node).expect("LocaleIdArray").set(numbers.clone());
    let mut raw = fresh(&server);
    raw.hello([10_000, 65_536, 0, 0], URL);
    raw.open(MINUTE);
    let authentication_token = session(&mut raw);
    let request = ReadRequest {
        request_header: RequestHeader { authentication_token, ..Default::default() },
        nodes_to_read: Array::from(vec![ReadValueId {
            node_id: node,
            attribute_id: 13,
            ..Default::default()
        }]),
        ..Default::default()
    };
    let answer = raw.send("MSGF", 72, &body(&request));
    assert!(answer.len() > 500 && answer.iter().all(|chunk| chunk.0.len() <= 10_000));
    let (last, before) = answer.split_last().expect("chunks");
    assert!(before.iter().all(|chunk| chunk.kind() == "MSGC") && last.kind() == "MSGF");
    assert!(answer.windows(2).all(|pair| pair[0].field(16) + 1 == pair[1].field(16)));
    let whole: Vec<u8> = answer.iter().flat_map(|chunk| chunk.body().to_vec()).collect();
    let response: ReadResponse = decode(&whole).expect("the value");
    assert_eq!(response.results[0].value(), Some(&numbers.into_variant()));
}

fn requests_keep_to_the_server_s_limits() {
    let server = server_with(Limits { max_message_size: 10_000, max_chunk_count: 2, ..Limits::default() });
    let mut peer = Peer::connect(InProcess(server.connection(start_time())), URL, start_time());
    let mut out = Vec::new();
    let sent = peer.channel.send(&mut out, EncodeContext::default(), |e| e.put(&[0; 10_001]));
    assert_eq!(sent, Err(EncodeError::TooLarge));
    assert!(out.is_empty() && peer.channel.is_open());
    assert!(peer.call(GetEndpointsRequest::default()).is_ok());
}

/// An abort chunk drops one message, not the channel (OPC 10000-6 §6.7.3).
#[test]
fn case_032_abort_chunk() {
    let server = server();
    let mut raw = connect(&server);
    let begin = unhex("0100ac01000000c08976453cda01020000000000");
    let abort = unhex("0000b88009000000746f6f206c61726765");
    assert_eq!(raw.send("MSGC", 2, &begin), []);
    assert_eq!(raw.send("MSGA", 2, &abort), []);
    let whole = "0100ac01000000c08976453cda010200000000000000ffffffff102700000000001e0000006f70632e7463703a\
                 2f2f6578616d706c652e6f72673a343834302f6163630000000000000000";
    let answer = raw.send("MSGF", 3, &unhex(&whole.replace(' ', "")));
    assert_eq!((answer.len(), answer[0].request_id()), (1, 3));
    assert!(decode::<GetEndpointsResponse>(answer[0].body()).is_ok());
    // One for a message that has no chunk, alone and between the chunks of another; and broken ones.
    assert_eq!(raw.send("MSGA", 9, &abort), []);
    assert_eq!(raw.send("MSGC", 10, &get_endpoints()[..5]), []);
    assert_eq!(raw.send("MSGA", 11, &abort), []);
    let answer = raw.send("MSGF", 10, &get_endpoints()[5..]);
    assert_eq!(answer[0].request_id(), 10);
    assert_eq!(raw.send("MSGA", 12, &[]), []);
    assert_eq!(raw.send("MSGA", 12, &[1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f]), []);
    assert_answers(&mut raw);

    // A client's call ends with the status; other calls are not disturbed.
    let abort = unhex("0000b98009000000746f6f206c61726765");
    let mut client = HandServer::open(1);
    let (first, second) = (client.call(b"one"), client.call(b"two"));
    assert_eq!(client.receive(&client.chunk("MSGC", 2, first, b"begin")), []);
    let aborted = client.receive(&client.chunk("MSGA", 3, first, &abort));
    assert_eq!(aborted, [(first, Err(status::BAD_RESPONSE_TOO_LARGE))]);
    let answered = client.receive(&client.chunk("MSGF", 4, second, b"TWO"));
    assert_eq!(answered, [(second, Ok(b"TWO".to_vec()))]);
    let third = client.call(b"three");
    let answered = client.receive(&client.chunk("MSGF", 5, third, b"THREE"));
    assert_eq!(answered, [(third, Ok(b"THREE".to_vec()))]);
}

/// Sequence numbers: start, step and wrap (OPC 10000-6 §6.7.2.4).
#[test]
fn case_033_sequence_numbers() {
    let legacy = [
        (1u32, 2u32, true),
        (1, 3, false),
        (2, 2, false),
        (4_294_966_271, 4_294_966_272, true),
        (4_294_966_272, 1, true),
        (4_294_966_272, 1023, true),
        (4_294_966_272, 1024, false),
        (4_294_966_271, 1, false),
        (4_294_967_295, 0, true),
        (100, 1, false),
    ];
    let full = [(4_294_966_300, 4_294_966_301, true), (4_294_967_295, 0, true), (4_294_966_300, 1, false)];
    for (last, next, ok) in full {
        assert_eq!(SequenceRule::Full.follows(last, next), ok, "{last} {next}");
    }
    let server = server();
    let refusals = [status::BAD_SEQUENCE_NUMBER_INVALID, status::BAD_SECURITY_CHECKS_FAILED];
    for (last, next, ok) in legacy {
        let mut raw = fresh(&server);
        raw.hello([65_536, 65_536, 0, 0], URL);
        // The first number may be any.
        raw.sequence = last - 1;
        raw.open(MINUTE);
        raw.sequence = next.wrapping_sub(1);
        if ok {
            assert_answers(&mut raw);
        } else {
            let answer = raw.send("MSGF", 2, &get_endpoints());
            raw.assert_refused(&answer, &refusals);
        }
    }
    let mut client = HandServer::open(51);
    let id = client.call(b"x");
    assert_eq!(client.receive(&client.chunk("MSGF", 52, id, b"X")).len(), 1);
    // A renewal goes on counting.
    let mut raw = connect(&server);
    assert_answers(&mut raw);
    raw.open(MINUTE);
    assert_answers(&mut raw);
    raw.open(MINUTE);
    raw.sequence = 0;
    let answer = raw.send("MSGF", 2, &get_endpoints());
    raw.assert_refused(&answer, &refusals);
    let mut raw = connect(&server);
    assert_answers(&mut raw);
    raw.sequence -= 1;
    let answer = raw.send("MSGF", 2, &get_endpoints());
    raw.assert_refused(&answer, &refusals);
    // The server's numbers begin with 1 on each connection.
    for _ in 0..2 {
        let mut raw = fresh(&server);
        raw.hello([65_536, 65_536, 0, 0], URL);
        let answer = raw.send_open(&Open::new(0, MINUTE));
        assert_eq!(field(&answer[0].0, 12 + 4 + 47 + 8), 1);
    }
}

/// Token renewal: both tokens are valid for a while (OPC 10000-4 §5.6.2, OPC 10000-6 §6.7.4, §6.7.6).
#[test]
fn case_034_token_renewal_overlap() {
    let server = server();
    let lifetime = Duration::from_secs(10);
    let begin = || {
        let mut raw = fresh(&server);
        raw.hello([65_536, 65_536, 0, 0], URL);
        raw.open(lifetime);
        raw
    };
    let unknown = [status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN, status::BAD_SECURITY_CHECKS_FAILED];
    let mut raw = begin();
    raw.pass(lifetime * 3 / 4);
    let (channel, first) = (raw.channel, raw.token);
    assert_eq!(raw.open(lifetime), first);
    let second = raw.token;
    assert!(raw.channel == channel && second != first);
    // The old token is good until the new one is used, and the server answers with it.
    raw.token = first;
    let answer = raw.send("MSGF", 7, &get_endpoints());
    assert_eq!((answer[0].kind(), answer[0].field(12)), ("MSGF", first));
    raw.token = second;
    let answer = raw.send("MSGF", 8, &get_endpoints());
    assert_eq!((answer[0].kind(), answer[0].field(12)), ("MSGF", second));
    raw.token = first;
    let answer = raw.send("MSGF", 9, &get_endpoints());
    raw.assert_refused(&answer, &unknown);
    // The old token ends 25 % after its lifetime, whether the new one was used or not.
    for (late, ok) in [(12_499, true), (12_500, false)] {
        let mut raw = begin();
        raw.pass(lifetime * 3 / 4);
        raw.token = raw.open(lifetime);
        raw.pass(Duration::from_millis(late - 7_500));
        let answer = raw.send("MSGF", 9, &get_endpoints());
        if ok {
            assert_eq!(answer[0].kind(), "MSGF");
        } else {
            raw.assert_refused(&answer, &unknown);
        }
    }
    // Without a renewal the server closes.
    let mut raw = begin();
    assert_eq!(raw.pass(Duration::from_millis(12_499)), []);
    assert_answers(&mut raw);
    let answer = raw.pass(Duration::from_millis(1));
    raw.assert_refused(&answer, &unknown);
    // A renewal cannot change mode or policy.
    for (mode, policy) in [
        (MessageSecurityMode::SIGN, uaforge_tests::raw::NONE),
        (MessageSecurityMode::NONE, "http://opcfoundation.org/UA/SecurityPolicy#Basic256Sha256"),
    ] {
        let mut raw = begin();
        let mut open = Open::new(raw.channel, lifetime);
        open.request.security_mode = mode;
        open.policy = Some(policy.into());
        let answer = raw.send_open(&open);
        let allowed = [
            status::BAD_SECURITY_MODE_REJECTED,
            status::BAD_SECURITY_POLICY_REJECTED,
            status::BAD_SECURITY_CHECKS_FAILED,
        ];
        raw.assert_refused(&answer, &allowed);
    }
    nonces_are_used_once(&server, lifetime);
    a_thousand_renewals(&server);
    a_client_renews_once_and_takes_late_responses();
}

/// Without security there may be none, and then as often as one likes.
fn nonces_are_used_once(server: &Server, lifetime: Duration) {
    for (nonce, ok) in [(&[7; 32][..], false), (&[8; 32], true), (&[], true)] {
        let mut raw = fresh(server);
        raw.hello([65_536, 65_536, 0, 0], URL);
        let with = |channel, nonce: &[u8]| {
            let mut open = Open::new(channel, lifetime);
            open.request.client_nonce = nonce.into();
            open
        };
        let first = if nonce.is_empty() { nonce } else { &[7; 32] };
        raw.channel = opened(&raw.send_open(&with(0, first))[0]).security_token.channel_id;
        let answer = raw.send_open(&with(raw.channel, nonce));
        if ok {
            opened(&answer[0]);
        } else {
            raw.assert_refused(&answer, &[status::BAD_NONCE_INVALID, status::BAD_SECURITY_CHECKS_FAILED]);
        }
    }
}

fn a_thousand_renewals(server: &Server) {
    let second = Duration::from_secs(1);
    let mut raw = fresh(server);
    raw.hello([65_536, 65_536, 0, 0], URL);
    raw.open(second);
    for _ in 0..1000 {
        raw.pass(second * 3 / 4);
        let old = raw.open(second);
        let new = std::mem::replace(&mut raw.token, old);
        assert_answers(&mut raw);
        raw.token = new;
        assert_answers(&mut raw);
    }
}

fn a_client_renews_once_and_takes_late_responses() {
    let mut client = HandServer::open(1);
    let calls: Vec<u32> = (0..10).map(|_| client.call(b"read")).collect();
    client.take();
    // At 75 % of the revised lifetime, once (OPC 10000-4 §5.6.2.1).
    let due = client.channel.deadline().expect("a renewal");
    assert_eq!(due, client.now.ticks + Duration::from_millis(7_500));
    client.now.ticks = due;
    for _ in 0..3 {
        assert_eq!(client.channel.on_deadline(client.now, &mut client.out), None);
    }
    let sent = Chunk::split(&client.take());
    assert_eq!((sent.len(), sent[0].kind(), sent[0].field(8)), (1, "OPNF", 33));
    // Numbers go on: the OPN of before, ten calls, this one.
    assert_eq!(field(&sent[0].0, 12 + 4 + 47 + 8), 12);
    client.grant(2, 2, 12);
    let queued = client.chunk("MSGF", 3, calls[0], b"late");
    assert_eq!(client.receive(&queued), [(calls[0], Ok(b"late".to_vec()))]);
    // The client's own chunks use the new token at once.
    client.call(b"more");
    assert_eq!(Chunk::split(&client.take())[0].field(12), 2);
    client.token = 2;
    for (call, sequence) in calls[1..].iter().zip(4..) {
        assert_eq!(client.receive(&client.chunk("MSGF", sequence, *call, b"")).len(), 1);
    }
}

/// Unknown, disabled and downgraded security policies (OPC 10000-4 §5.6.2, OPC 10000-6 §6.7.4).
#[test]
fn case_039_unknown_security_policy() {
    let server = server();
    let policy = [status::BAD_SECURITY_POLICY_REJECTED, status::BAD_SECURITY_CHECKS_FAILED];
    let mode = [status::BAD_SECURITY_MODE_REJECTED, status::BAD_SECURITY_CHECKS_FAILED];
    let refused = |bytes: &[u8], allowed: &[StatusCode]| {
        let mut raw = fresh(&server);
        raw.hello([65_536, 65_536, 0, 0], URL);
        let answer = raw.give(bytes);
        assert_eq!(answer.len(), 1);
        raw.assert_refused(&answer, allowed);
    };
    let tail = |mode: &str| {
        let start = "ffffffffffffffff01000000010000000100be01000000c08976453cda010100000000000000ffffffff102700000000000000000000000000";
        format!("{start}{mode}000000ffffffff80ee3600")
    };
    let unknown = "4f504e4670000000000000001b000000687474703a2f2f6578616d706c652e6f72672f706f6c6963792358";
    refused(&unhex(&format!("{unknown}{}", tail("01"))), &policy);
    let none = "4f504e4684000000000000002f000000687474703a2f2f6f7063666f756e646174696f6e2e6f72672f55412f53656375\
                72697479506f6c696379234e6f6e65";
    refused(&unhex(&format!("{none}{}", tail("02"))), &mode);
    refused(&unhex(&format!("{none}{}", tail("00"))), &mode);
    let with = |policy: Option<&str>, certificate: Option<Vec<u8>>| {
        let open = Open { policy: policy.map(Into::into), certificate, ..Open::new(0, MINUTE) };
        open.bytes(1, 1)
    };
    refused(&with(Some(&format!("http://{}", "x".repeat(293))), None), &policy);
    refused(&with(None, None), &policy);
    refused(&with(Some(""), None), &policy);
    for old in ["Basic128Rsa15", "Basic256"] {
        let uri = format!("http://opcfoundation.org/UA/SecurityPolicy#{old}");
        refused(&with(Some(&uri), Some(vec![0x30; 1000])), &policy);
    }
    // Certificates of a policy that is not offered are not looked at.
    let secured = "http://opcfoundation.org/UA/SecurityPolicy#Basic256Sha256";
    for certificate in [vec![0x30; 40_000], vec![], (0..255).collect()] {
        refused(&with(Some(secured), Some(certificate)), &policy);
    }
    // A thousand certificates do not fit a chunk.
    refused(&with(Some(secured), Some(vec![0x30; 1_000_000])), &[status::BAD_TCP_MESSAGE_TOO_LARGE]);
    // What was refused leaves nothing behind.
    let mut raw = fresh(&server);
    raw.hello([65_536, 65_536, 0, 0], URL);
    let answer = raw.send_open(&Open::new(0, MINUTE));
    assert!(opened(&answer[0]).server_nonce.is_null());
}
