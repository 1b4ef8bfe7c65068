//! Peers that mean harm: whatever they send, they harm themselves only.

use std::io::{Read as _, Write as _};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use uaforge_channel::{ClientConfig, Limits as ChannelLimits};
use uaforge_codec::{Array, NodeId, StatusCode, UaString};
use uaforge_net::Machine as _;
use uaforge_server::{Limits, Server};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_tests::raw::{Chunk, Raw};
use uaforge_tests::running::{dial, eventually, with_running};
use uaforge_types::{
    ActivateSessionRequest, BrowseDescription, BrowseDirection, BrowseRequest, BrowseResponse,
    CloseSessionRequest, CreateSessionRequest, ReadRequest, ReadValueId, RequestHeader, TimestampsToReturn,
    status,
};

const URL: &str = "opc.tcp://127.0.0.1:4840";

fn server(limits: Limits) -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .limits(limits)
        .build()
        .expect("the server is built")
}

fn peer(server: &Server) -> Peer<InProcess<uaforge_server::Connection>> {
    let now = start_time();
    Peer::with_session(InProcess(server.connection(now)), URL, now)
}

fn read(node: u32, times: usize) -> ReadRequest {
    let item = ReadValueId { node_id: NodeId::numeric(0, node), attribute_id: 13, ..Default::default() };
    ReadRequest {
        timestamps_to_return: TimestampsToReturn::BOTH,
        nodes_to_read: Array::from(vec![item; times]),
        ..Default::default()
    }
}

/// The node that most references of the base model lead to: the modelling rule Mandatory.
fn browse(times: usize, class_mask: u32) -> BrowseRequest {
    let description = BrowseDescription {
        node_id: NodeId::numeric(0, 78),
        browse_direction: BrowseDirection::BOTH,
        include_subtypes: true,
        node_class_mask: class_mask,
        result_mask: 63,
        ..Default::default()
    };
    BrowseRequest { nodes_to_browse: Array::from(vec![description; times]), ..Default::default() }
}

#[test]
fn sessions_that_are_made_activated_and_swept_at_once_do_not_lock_each_other() {
    const THREADS: usize = 4;
    let server = server(Limits { max_sessions: 3, ..Limits::default() });
    let (done, finished) = mpsc::channel();
    for _ in 0..THREADS {
        let (server, done) = (server.clone(), done.clone());
        std::thread::spawn(move || {
            let now = start_time();
            let mut peer = Peer::connect(InProcess(server.connection(now)), URL, now);
            let end = Instant::now() + Duration::from_millis(500);
            while Instant::now() < end {
                let Ok(created) = peer.call(CreateSessionRequest::default()) else { continue };
                peer.token = created.authentication_token;
                let _ = peer.call(ActivateSessionRequest::default());
                server.sweep(now);
                let _ = peer.call(CloseSessionRequest::default());
            }
            let _ = done.send(());
        });
    }
    for _ in 0..THREADS {
        finished.recv_timeout(Duration::from_secs(20)).expect("no thread is locked");
    }
}

#[test]
fn a_client_without_a_limit_does_not_lift_the_servers() {
    let server = server(Limits { max_message_size: 1 << 20, ..Limits::default() });
    let now = start_time();
    let limits = ChannelLimits { max_message: 0, max_chunks: 0, ..ChannelLimits::default() };
    let config = ClientConfig { limits, ..ClientConfig::new(URL) };
    let mut peer = Peer::connect_with(InProcess(server.connection(now)), config, now);
    peer.token = peer.call(CreateSessionRequest::default()).unwrap().authentication_token;
    peer.call(ActivateSessionRequest::default()).unwrap();
    let begin = Instant::now();
    assert_eq!(peer.call(browse(200, 0)), Err(status::BAD_RESPONSE_TOO_LARGE));
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert!(peer.call(read(2258, 1)).is_ok());
}

#[test]
fn a_large_browse_takes_many_turns() {
    let server = server(Limits { operations_per_turn: 5_000, ..Limits::default() });
    let mut peer = peer(&server);
    // Class View: every reference is looked at and none is given.
    let id = peer.queue(browse(50, 128));
    let request = peer.take_queued();
    let connection = &mut peer.wire.0;
    assert_eq!(connection.receive(&request, start_time()), request.len());
    let mut turns = 0;
    while connection.output().is_empty() {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let _ = connection.poll_work(&mut cx, &start_time);
        turns += 1;
        assert_eq!(connection.has_more(), connection.output().is_empty());
    }
    assert!((5..=60).contains(&turns), "{turns}");
    // Nothing is left to do, whatever the last turn used up.
    let _ = connection.poll_work(&mut std::task::Context::from_waker(std::task::Waker::noop()), &start_time);
    assert!(!connection.has_more());
    let body = peer.wait_for(id).unwrap();
    let response: BrowseResponse = peer.decode(&body).unwrap();
    assert_eq!(response.results.len(), 50);
    for result in &*response.results {
        assert!(result.status_code.is_good() && result.continuation_point.is_null());
        assert!(result.references.is_empty());
    }
    // What is put off is not something else: pages and points are those of a small request.
    let pages = |request: BrowseRequest| self::peer(&server).call(request).unwrap().results;
    let paged = |times| BrowseRequest { requested_max_references_per_node: 3, ..browse(times, 0) };
    let (one, many) = (pages(paged(1)), pages(paged(10)));
    assert!(many.iter().all(|result| result.references == one[0].references));
    assert!(many.iter().all(|result| result.status_code.is_good() && !result.continuation_point.is_null()));
}

#[test]
fn a_client_that_does_not_read_is_given_up() {
    let server = server(Limits { write_timeout: Duration::from_millis(300), ..Limits::default() });
    with_running(&server, |tasks| {
        let quiet = tasks();
        let mut peer = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        for _ in 0..2_000 {
            peer.queue(read(2256, 100));
        }
        let requests = peer.take_queued();
        let mut stream = peer.wire.try_clone().unwrap();
        // Fails or not: the systems between the two may take it all.
        let writer = std::thread::spawn(move || drop(stream.write_all(&requests)));
        eventually("the connection is closed", || tasks() == quiet);
        writer.join().expect("writing ends with the connection");
    });
}

#[test]
fn a_client_that_closes_its_half_and_does_not_read_is_given_up() {
    let server = server(Limits { write_timeout: Duration::from_millis(300), ..Limits::default() });
    with_running(&server, |tasks| {
        let quiet = tasks();
        let mut peer = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        for _ in 0..4 {
            peer.queue(read(2256, 10_000));
        }
        let requests = peer.take_queued();
        peer.wire.write_all(&requests).unwrap();
        peer.wire.shutdown(std::net::Shutdown::Write).unwrap();
        eventually("the connection is closed", || tasks() == quiet);
    });
}

#[test]
fn silent_connections_do_not_keep_others_out() {
    let server = server(Limits { max_connections: 3, ..Limits::default() });
    with_running(&server, |_| {
        let mut used = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        let mut silent: Vec<_> = (0..10).map(|_| dial(&server)).collect();
        let mut late = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        assert!(used.call(read(2258, 1)).is_ok());
        assert!(late.call(read(2258, 1)).is_ok());
        let mut answer = Vec::new();
        silent[0].read_to_end(&mut answer).expect("closed");
        assert_eq!(answer.get(..3), Some(&b"ERR"[..]));
        // Sessions hold their places.
        let _third = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        let refused = Peer::connect(dial(&server), URL, uaforge_net::clock()).failure.expect("no room");
        assert_eq!(refused.status, status::BAD_TCP_NOT_ENOUGH_RESOURCES);
        assert!(used.call(read(2258, 1)).is_ok());
    });
}

#[test]
fn one_address_has_its_share_of_connections() {
    let server = server(Limits { max_connections_per_address: 2, ..Limits::default() });
    with_running(&server, |_| {
        let mut used = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        let _silent: Vec<_> = (0..5).map(|_| dial(&server)).collect();
        let mut second = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        assert!(Peer::connect(dial(&server), URL, uaforge_net::clock()).failure.is_some());
        // Another address of this machine has a share of its own.
        let other = std::net::SocketAddr::from(([127, 0, 0, 1], server.local_addr().unwrap().port()));
        let socket = from([127, 0, 0, 2], other);
        let mut elsewhere = Peer::with_session(socket, URL, uaforge_net::clock());
        for peer in [&mut used, &mut second, &mut elsewhere] {
            assert!(peer.call(read(2258, 1)).is_ok());
        }
    });
}

/// Connects from an address of this machine.
fn from(source: [u8; 4], to: std::net::SocketAddr) -> std::net::TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((source, 0).into()).unwrap();
        socket.connect(to).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

#[test]
fn one_connection_has_its_share_of_sessions() {
    let server = server(Limits { max_sessions_per_connection: 3, ..Limits::default() });
    let mut first = peer(&server);
    for _ in 0..2 {
        first.call(CreateSessionRequest::default()).expect("a session");
    }
    let refused = first.call(CreateSessionRequest::default()).map(|_| ());
    assert_eq!(refused, Err(status::BAD_TOO_MANY_SESSIONS));
    // Others have theirs, and one that is closed makes room.
    let mut other = peer(&server);
    assert!(other.call(read(2258, 1)).is_ok());
    first.call(CloseSessionRequest::default()).expect("it is closed");
    first.call(CreateSessionRequest::default()).expect("a session");
    assert_eq!(server.session_count(), 4);
}

/// A message that does not end: so many chunks of 60,000 bytes each. Why the connection ended, if it did.
fn unfinished(raw: &mut Raw<uaforge_server::Connection>, chunks: usize) -> Option<StatusCode> {
    (0..chunks).find_map(|_| raw.send("MSGC", 7, &[0; 60_000]).last().and_then(Chunk::error))
}

#[test]
fn clients_without_a_session_get_less_memory() {
    let limits = Limits { max_early_message_size: 200_000, ..Limits::default() };
    let server = server(limits);
    let connect = || Raw::connect(server.connection(start_time()), start_time());
    let mut raw = connect();
    assert_eq!(unfinished(&mut raw, 3), None);
    assert_eq!(unfinished(&mut raw, 1), Some(status::BAD_TCP_MESSAGE_TOO_LARGE));
    assert!(raw.machine.is_closed());
    // With a session the whole limit holds.
    let mut raw = connect();
    let created = raw.call(&CreateSessionRequest::default()).expect("a session");
    let request_header =
        RequestHeader { authentication_token: created.authentication_token, ..Default::default() };
    raw.call(&ActivateSessionRequest { request_header, ..Default::default() }).expect("activated");
    assert_eq!(unfinished(&mut raw, 100), None);
}

#[test]
fn unfinished_messages_share_their_memory() {
    let server = server(Limits { early_message_memory: 1 << 20, ..Limits::default() });
    let mut served = peer(&server);
    let connect = || Raw::connect(server.connection(start_time()), start_time());
    let mut connections: Vec<_> = (0..50).map(|_| connect()).collect();
    let mut refused = 0;
    for raw in &mut connections {
        if let Some(error) = unfinished(raw, 2) {
            assert_eq!(error, status::BAD_TCP_NOT_ENOUGH_RESOURCES);
            refused += 1;
        }
    }
    assert!((34..=42).contains(&refused), "{refused}");
    // Who has a session has memory of another kind.
    let mut long = read(2258, 1);
    long.nodes_to_read = Array::from(vec![long.nodes_to_read[0].clone(); 9_000]);
    assert!(served.call(long).is_ok());
    // What is given up is there for others.
    connections.clear();
    let mut raw = connect();
    assert_eq!(unfinished(&mut raw, 10), None);
}

#[test]
fn long_locale_ids_are_not_kept() {
    let server = server(Limits::default());
    let mut peer = peer(&server);
    let request = ActivateSessionRequest {
        locale_ids: Array::from(vec![UaString::from("x".repeat(1 << 20)), UaString::from("en")]),
        ..Default::default()
    };
    peer.call(request).unwrap();
    assert!(peer.call(read(2258, 1)).is_ok());
}

#[test]
fn nothing_is_answered_after_the_end() {
    let server = server(Limits::default());
    let mut peer = peer(&server);
    let mut bytes = Vec::new();
    peer.queue(read(2258, 1));
    bytes.extend(peer.take_queued());
    // A broken chunk between two good requests.
    let broken = b"MSGX\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    bytes.extend(broken);
    peer.queue(read(2258, 1));
    bytes.extend(peer.take_queued());
    let connection = &mut peer.wire.0;
    assert_eq!(connection.receive(&bytes, start_time()), bytes.len());
    assert!(connection.is_closed());
    let out = connection.output().unsent().to_vec();
    let kinds = kinds(&out);
    assert_eq!(kinds, ["MSG", "ERR"]);
    assert_eq!(connection.receive(&bytes, start_time()), bytes.len());
    assert_eq!(connection.output().unsent(), out);
}

fn kinds(mut bytes: &[u8]) -> Vec<String> {
    let mut kinds = Vec::new();
    while let Some((header, _)) = bytes.split_first_chunk::<8>() {
        kinds.push(String::from_utf8_lossy(&header[..3]).into_owned());
        let size = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
        bytes = bytes.get(size..).unwrap_or_default();
    }
    kinds
}

#[test]
fn a_thousand_connects_leave_nothing_behind() {
    let limits = Limits {
        min_session_timeout: Duration::from_millis(100),
        max_session_timeout: Duration::from_millis(500),
        ..Limits::default()
    };
    let server = server(limits);
    with_running(&server, |tasks| {
        let quiet = tasks();
        for round in 0..1_000 {
            let mut stream = dial(&server);
            match round % 5 {
                // Gone before a word, in the middle of a Hello, with a session, in the middle of a request.
                0 => {}
                1 => stream.write_all(b"HELF\x40\0\0\0\0\0").unwrap(),
                2 => drop(Peer::with_session(stream, URL, uaforge_net::clock())),
                3 => {
                    let mut peer = Peer::with_session(stream, URL, uaforge_net::clock());
                    peer.queue(read(2256, 100));
                    let request = peer.take_queued();
                    peer.wire.write_all(&request[..request.len() / 2]).unwrap();
                }
                _ => {
                    let mut peer = Peer::with_session(stream, URL, uaforge_net::clock());
                    assert!(peer.call(read(2258, 1)).is_ok());
                    peer.call(CloseSessionRequest::default()).unwrap();
                }
            }
        }
        eventually("all tasks have ended", || tasks() == quiet);
        eventually("all sessions are over", || server.session_count() == 0);
        let mut last = Peer::with_session(dial(&server), URL, uaforge_net::clock());
        assert!(last.call(read(2258, 1)).is_ok());
        eventually("one task per connection", || tasks() == quiet + 1);
        assert_eq!(server.session_count(), 1);
    });
}
