//! The acceptance cases of sessions, one test each, in virtual time.

use std::time::Duration;

use uaforge_codec::{Array, DateTime, ExtensionObject, NodeId, Now, SeededEntropy, StatusCode, UaString};
use uaforge_net::Machine as _;
use uaforge_server::{Connection, Limits, Server};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_tests::raw::Raw;
use uaforge_types::{
    ActivateSessionRequest, CloseSessionRequest, CreateSessionRequest, CreateSessionResponse,
    GetEndpointsRequest, ReadRequest, ReadValueId, RequestHeader, UserNameIdentityToken, status,
};

fn server_with(limits: Limits) -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0/srv")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(9))
        .limits(limits)
        .build()
        .expect("the server is built")
}

fn connect(server: &Server) -> Raw<Connection> {
    Raw::connect(server.connection(start_time()), start_time())
}

fn header(token: &NodeId) -> RequestHeader {
    RequestHeader { authentication_token: token.clone(), ..Default::default() }
}

fn create(raw: &mut Raw<Connection>, timeout: f64) -> Result<CreateSessionResponse, StatusCode> {
    raw.call(&CreateSessionRequest { requested_session_timeout: timeout, ..Default::default() })
}

fn activate(raw: &mut Raw<Connection>, token: &NodeId) -> Result<(), StatusCode> {
    raw.call(&ActivateSessionRequest { request_header: header(token), ..Default::default() }).map(|_| ())
}

fn read(raw: &mut Raw<Connection>, token: &NodeId) -> Result<(), StatusCode> {
    let node = ReadValueId { node_id: NodeId::numeric(0, 2258), attribute_id: 13, ..Default::default() };
    let request = ReadRequest {
        request_header: header(token),
        nodes_to_read: Array::from(vec![node]),
        ..Default::default()
    };
    raw.call(&request).map(|response| assert!(response.results[0].status_or_good().is_good()))
}

/// Sessions: timeout, activation order, reuse on a new channel (OPC 10000-4 §5.7.2 to §5.7.4, §6.7).
#[test]
fn case_035_session_timeout_and_activation() {
    let limits = Limits { max_sessions: 2, ..Limits::default() };
    let server = server_with(limits.clone());
    let mut raw = connect(&server);
    let range =
        limits.min_session_timeout.as_secs_f64() * 1e3..=limits.max_session_timeout.as_secs_f64() * 1e3;
    for requested in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        let mut raw = connect(&server);
        let created = create(&mut raw, requested).expect("a session");
        assert!(range.contains(&created.revised_session_timeout), "{requested}");
        raw.call(&CloseSessionRequest {
            request_header: header(&created.authentication_token),
            ..Default::default()
        })
        .expect("it is closed");
    }
    // Not before it is activated.
    let created = create(&mut raw, 0.0).expect("a session");
    let token = created.authentication_token;
    assert_eq!(read(&mut raw, &token), Err(status::BAD_SESSION_NOT_ACTIVATED));
    activate(&mut raw, &token).expect("it is activated");
    read(&mut raw, &token).expect("it is alive");
    // It lives as long as it is used, and is gone after silence.
    let timeout = Duration::from_secs_f64(created.revised_session_timeout / 1e3);
    for _ in 0..3 {
        raw.pass(timeout * 4 / 5);
        raw.open(Duration::from_secs(60));
        read(&mut raw, &token).expect("it is alive");
    }
    raw.pass(timeout * 6 / 5);
    assert_eq!(read(&mut raw, &token), Err(status::BAD_SESSION_ID_INVALID));
    // Sessions that were never activated do not count for long.
    let later = Now { ticks: start_time().ticks + Duration::from_secs(100), ..start_time() };
    let mut raw = Raw::connect(server.connection(later), later);
    let first = create(&mut raw, 1e6).expect("a session").authentication_token;
    activate(&mut raw, &first).expect("it is activated");
    let unused = create(&mut raw, 1e6).expect("a second session").authentication_token;
    // The oldest one that was never activated makes room (OPC 10000-4 §5.7.2.1).
    create(&mut raw, 1e6).expect("a third session");
    assert!(activate(&mut raw, &unused).is_err());
    raw.pass(limits.activation_timeout);
    let second = create(&mut raw, 1e6).expect("there is room again").authentication_token;
    activate(&mut raw, &second).expect("it is activated");
    assert_eq!(create(&mut raw, 1e6).map(|_| ()), Err(status::BAD_TOO_MANY_SESSIONS));
    // Tokens of other channels are of no use, and do no harm.
    let mut other = Raw::connect(server.connection(raw.now), raw.now);
    assert_eq!(read(&mut other, &first), Err(status::BAD_SECURE_CHANNEL_ID_INVALID));
    read(&mut raw, &first).expect("it is not disturbed");
    // The session moves to another channel with ActivateSession.
    activate(&mut other, &first).expect("it is activated again");
    read(&mut other, &first).expect("it is here now");
    assert_eq!(read(&mut raw, &first), Err(status::BAD_SECURE_CHANNEL_ID_INVALID));
    let close = CloseSessionRequest { request_header: header(&first), ..Default::default() };
    assert!(raw.call(&close).is_err());
    other.call(&close).expect("it is closed");
    let gone = read(&mut other, &first);
    assert!(gone == Err(status::BAD_SESSION_ID_INVALID) || gone == Err(status::BAD_SESSION_CLOSED));
    assert!(activate(&mut other, &first).is_err());
    // The channel went, the session waits.
    raw.machine.on_eof(raw.now);
    activate(&mut other, &second).expect("it moved");
    read(&mut other, &second).expect("it is here now");
    long_names_and_many_locales(&server_with(Limits::default()));
    another_identity_on_another_channel(&server_with(Limits::default()));
    timeouts_are_kept(&server_with(Limits::default()));
}

/// Nobody gets the rights of a session's user by another identity; the session stays as it was.
fn another_identity_on_another_channel(server: &Server) {
    let (mut old, mut new) = (connect(server), connect(server));
    let token = create(&mut old, 1e6).expect("a session").authentication_token;
    activate(&mut old, &token).expect("it is activated");
    let user = UserNameIdentityToken {
        policy_id: UaString::from("username"),
        user_name: UaString::from("somebody"),
        ..Default::default()
    };
    let request = ActivateSessionRequest {
        request_header: header(&token),
        user_identity_token: ExtensionObject::new(user),
        ..Default::default()
    };
    assert_eq!(new.call(&request).map(|_| ()), Err(status::BAD_IDENTITY_TOKEN_REJECTED));
    assert_eq!(old.call(&request).map(|_| ()), Err(status::BAD_IDENTITY_TOKEN_REJECTED));
    read(&mut old, &token).expect("it is where it was");
    assert_eq!(read(&mut new, &token), Err(status::BAD_SECURE_CHANNEL_ID_INVALID));
    // A session that was never activated stays on its channel (OPC 10000-4 §5.7.3.1).
    let unused = create(&mut old, 1e6).expect("a session").authentication_token;
    assert_eq!(activate(&mut new, &unused), Err(status::BAD_SECURE_CHANNEL_ID_INVALID));
    activate(&mut old, &unused).expect("it is activated");
}

/// What is revised holds, to the moment: the tolerance is for clocks.
fn timeouts_are_kept(server: &Server) {
    let mut raw = connect(server);
    let created = create(&mut raw, 20_000.0).expect("a session");
    assert_eq!(created.revised_session_timeout, 20_000.0);
    let token = created.authentication_token;
    activate(&mut raw, &token).expect("it is activated");
    raw.pass(Duration::from_millis(19_999));
    // Any request keeps it, one that fails as well.
    let nothing = ReadRequest { request_header: header(&token), ..Default::default() };
    assert_eq!(raw.call(&nothing).map(|_| ()), Err(status::BAD_NOTHING_TO_DO));
    raw.pass(Duration::from_millis(19_999));
    raw.open(Duration::from_secs(60));
    // Those of others do not.
    let other = create(&mut raw, 20_000.0).expect("a session").authentication_token;
    activate(&mut raw, &other).expect("it is activated");
    raw.pass(Duration::from_millis(1));
    assert_eq!(read(&mut raw, &token), Err(status::BAD_SESSION_ID_INVALID));
    assert_eq!(activate(&mut raw, &token), Err(status::BAD_SESSION_ID_INVALID));
    read(&mut raw, &other).expect("it is alive");
    assert_eq!(server.sweep(raw.now), Some(raw.now.ticks + Duration::from_secs(20)));
    assert_eq!(server.session_count(), 1);
}

/// The timestamp of a request is for logs, whatever it says (OPC 10000-4 §7.32).
#[test]
fn the_clock_of_a_client_does_not_matter() {
    let server = server_with(Limits::default());
    let mut raw = connect(&server);
    let token = create(&mut raw, 1e6).expect("a session").authentication_token;
    activate(&mut raw, &token).expect("it is activated");
    for timestamp in
        [DateTime::NULL, DateTime(i64::MIN), DateTime(i64::MAX), DateTime::from_utc(1990, 1, 1, 0, 0)]
    {
        let request_header =
            RequestHeader { timestamp, timeout_hint: 1, request_handle: 77, ..header(&token) };
        let node = ReadValueId { node_id: NodeId::numeric(0, 2258), attribute_id: 13, ..Default::default() };
        let request =
            ReadRequest { request_header, nodes_to_read: Array::from(vec![node]), ..Default::default() };
        let response = raw.call(&request).expect("an answer");
        assert_eq!(response.response_header.request_handle, 77);
        assert_eq!(response.response_header.timestamp, raw.now.utc);
    }
}

fn long_names_and_many_locales(server: &Server) {
    let url = "opc.tcp://127.0.0.1:4840/srv";
    let mut peer = Peer::with_session(InProcess(server.connection(start_time())), url, start_time());
    let named = CreateSessionRequest {
        session_name: UaString::from("n".repeat(1 << 20)),
        requested_session_timeout: 1e6,
        ..Default::default()
    };
    let created = peer.call(named).map(|_| ());
    assert!(created == Ok(()) || created == Err(status::BAD_ENCODING_LIMITS_EXCEEDED));
    let many = ActivateSessionRequest {
        locale_ids: Array::from(vec![UaString::from("en"); 10_000]),
        ..Default::default()
    };
    let activated = peer.call(many).map(|_| ());
    assert!(activated == Ok(()) || activated == Err(status::BAD_ENCODING_LIMITS_EXCEEDED));
    assert!(peer.failure.is_none());
}

/// The address in the endpoint list is not the address used to connect (OPC 10000-6 §7.1.2.3, OPC 10000-4
/// §5.5.4, §5.7.2).
#[test]
fn case_037_endpoint_address_differs() {
    let server = server_with(Limits::default());
    let dialled = [
        ("opc.tcp://127.0.0.1:14840/srv", "opc.tcp://127.0.0.1:14840/srv"),
        ("opc.tcp://[::1]:14840/srv", "opc.tcp://[::1]:14840/srv"),
        ("opc.tcp://PLANT:14840/srv", "opc.tcp://PLANT:14840/srv"),
        ("opc.tcp://plant:14840", "opc.tcp://plant:14840/srv"),
        ("opc.tcp://plant:14840/srv/", "opc.tcp://plant:14840/srv"),
        ("opc.tcp://plant:14840/other", "opc.tcp://plant:14840/srv"),
    ];
    for (url, expected) in dialled {
        let mut raw = Raw::new(server.connection(start_time()), start_time());
        raw.hello([65_536, 65_536, 0, 0], url);
        raw.open(Duration::from_secs(60));
        // With the address in the request, and with that of the Hello alone.
        for endpoint_url in [UaString::from(url), UaString::default()] {
            let request = GetEndpointsRequest { endpoint_url: endpoint_url.clone(), ..Default::default() };
            let endpoints = raw.call(&request).expect("endpoints").endpoints;
            assert!(endpoints.iter().all(|endpoint| endpoint.endpoint_url.as_str() == Some(expected)));
            let request =
                CreateSessionRequest { endpoint_url, requested_session_timeout: 1e6, ..Default::default() };
            let created = raw.call(&request).expect("a session");
            // The list is that of GetEndpoints, so that clients can compare (OPC 10000-4 §5.7.2).
            assert_eq!(created.server_endpoints, endpoints);
        }
    }
}
