//! Each limit gives its status and leaves other clients undisturbed (OPC 10000-4 §7.38, OPC 10000-6 §7.1.5).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use uaforge_codec::{Array, NodeId, QualifiedName, StatusCode};
use uaforge_server::{Connection, Limits, OperationLimits, Server};
use uaforge_tests::peer::{InProcess, Peer, Wire};
use uaforge_tests::raw::{Chunk, Raw};
use uaforge_tests::running::{dial, with_running};
use uaforge_types::{
    ActivateSessionRequest, BrowseDescription, BrowseDirection, BrowseNextRequest, BrowsePath, BrowseRequest,
    CloseSessionRequest, CreateSessionRequest, ReadRequest, ReadValueId, RelativePath, RelativePathElement,
    TranslateBrowsePathsToNodeIdsRequest, status,
};

const URL: &str = "opc.tcp://127.0.0.1:4840";
/// ModellingRule Mandatory, which most references of the base model lead to.
const MANDATORY: u32 = 78;

fn server(limits: Limits) -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .limits(limits)
        .build()
        .expect("the server is built")
}

fn session(server: &Server) -> Peer<std::net::TcpStream> {
    Peer::with_session(dial(server), URL, uaforge_net::clock())
}

fn local(server: &Server) -> Peer<InProcess<Connection>> {
    let now = uaforge_net::clock();
    Peer::with_session(InProcess(server.connection(now)), URL, now)
}

fn read(times: usize) -> ReadRequest {
    let item = ReadValueId { node_id: NodeId::numeric(0, 2258), attribute_id: 13, ..Default::default() };
    ReadRequest { nodes_to_read: Array::from(vec![item; times]), ..Default::default() }
}

fn browse(node: u32, times: usize) -> BrowseRequest {
    let description = BrowseDescription {
        node_id: NodeId::numeric(0, node),
        browse_direction: BrowseDirection::BOTH,
        include_subtypes: true,
        result_mask: 63,
        ..Default::default()
    };
    BrowseRequest { nodes_to_browse: Array::from(vec![description; times]), ..Default::default() }
}

fn translate(times: usize) -> TranslateBrowsePathsToNodeIdsRequest {
    let element = RelativePathElement {
        reference_type_id: NodeId::numeric(0, 37),
        is_inverse: true,
        target_name: QualifiedName::new(0, "Nobody"),
        ..Default::default()
    };
    let path = BrowsePath {
        starting_node: NodeId::numeric(0, MANDATORY),
        relative_path: RelativePath { elements: Array::from(vec![element]) },
    };
    TranslateBrowsePathsToNodeIdsRequest {
        browse_paths: Array::from(vec![path; times]),
        ..Default::default()
    }
}

/// Lets `attack` run while another client reads all the time; that client must hardly notice.
fn undisturbed(server: &Server, attack: impl FnOnce()) {
    with_running(server, |_| {
        let mut victim = session(server);
        let over = AtomicBool::new(false);
        let waits = std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let mut waits = Vec::new();
                while !over.load(Ordering::Relaxed) || waits.len() < 20 {
                    let begin = Instant::now();
                    assert!(victim.call(read(1)).expect("an answer").results[0].status_or_good().is_good());
                    waits.push(begin.elapsed());
                    std::thread::sleep(Duration::from_millis(1));
                }
                waits.sort();
                waits
            });
            let attacked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(attack));
            over.store(true, Ordering::Relaxed);
            attacked.expect("the attack goes as it should");
            reading.join().expect("the victim is served")
        });
        let (usual, worst) = (waits[waits.len() / 2], waits[waits.len() - 1]);
        assert!(usual < Duration::from_millis(10), "{usual:?} is usual among {}", waits.len());
        assert!(worst < Duration::from_millis(300), "{worst:?} is the worst of {}", waits.len());
    });
}

#[test]
fn chunks_and_messages() {
    let limits = Limits { max_chunk_count: 64, max_message_size: 1 << 20, ..Limits::default() };
    let server = server(limits);
    undisturbed(&server, || {
        for _ in 0..20 {
            for (chunks, size) in [(64, 64), (16, 65_000)] {
                let now = uaforge_net::clock();
                let mut raw = Raw::connect(server.connection(now), now);
                for _ in 0..chunks {
                    assert_eq!(raw.send("MSGC", 2, &vec![0; size]), []);
                }
                let answer = raw.send("MSGC", 2, &vec![0; size]);
                assert_eq!(answer.last().and_then(Chunk::error), Some(status::BAD_TCP_MESSAGE_TOO_LARGE));
            }
        }
    });
}

#[test]
fn sessions_and_connections() {
    let server = server(Limits { max_sessions: 10, max_connections: 20, ..Limits::default() });
    undisturbed(&server, || {
        let mut sessions: Vec<_> = (0..9).map(|_| session(&server)).collect();
        for _ in 0..50 {
            let mut more = Peer::connect(dial(&server), URL, uaforge_net::clock());
            let refused = more.call(CreateSessionRequest::default()).map(|_| ());
            assert_eq!(refused, Err(status::BAD_TOO_MANY_SESSIONS));
        }
        // Those whose places others take need a moment to close; there is room for some of them.
        let silent: Vec<_> = (0..50).map(|_| dial(&server)).collect();
        for peer in &mut sessions {
            assert!(peer.call(read(1)).is_ok());
        }
        sessions[0].call(CloseSessionRequest::default()).expect("it is closed");
        drop(silent);
        let mut next = session(&server);
        assert!(next.call(read(1)).is_ok());
    });
}

#[test]
fn continuation_points() {
    let server = server(Limits { max_continuation_points: 3, ..Limits::default() });
    undisturbed(&server, || {
        let mut peer = session(&server);
        let request = || BrowseRequest { requested_max_references_per_node: 1, ..browse(MANDATORY, 5) };
        for _ in 0..20 {
            let results = peer.call(request()).expect("an answer").results;
            let statuses: Vec<_> = results.iter().map(|result| result.status_code).collect();
            let none = status::BAD_NO_CONTINUATION_POINTS;
            assert_eq!(statuses, [StatusCode::GOOD, StatusCode::GOOD, StatusCode::GOOD, none, none]);
            let old = results[0].continuation_point.clone();
            // The points of the next request take the places of these.
            peer.call(request()).expect("an answer");
            let next =
                BrowseNextRequest { continuation_points: Array::from(vec![old]), ..Default::default() };
            let next = peer.call(next).expect("an answer").results;
            assert_eq!(next[0].status_code, status::BAD_CONTINUATION_POINT_INVALID);
        }
    });
}

#[test]
fn nodes_of_a_request() {
    let operations = OperationLimits {
        max_nodes_per_read: 500,
        max_nodes_per_browse: 200,
        max_nodes_per_translate: 200,
        ..OperationLimits::default()
    };
    let server = server(Limits { operations, ..Limits::default() });
    undisturbed(&server, || {
        let mut peer = session(&server);
        for _ in 0..20 {
            let many = status::BAD_TOO_MANY_OPERATIONS;
            assert_eq!(peer.call(read(501)).map(|_| ()), Err(many));
            assert_eq!(peer.call(browse(85, 201)).map(|_| ()), Err(many));
            assert_eq!(peer.call(translate(201)).map(|_| ()), Err(many));
            assert_eq!(peer.call(read(0)).map(|_| ()), Err(status::BAD_NOTHING_TO_DO));
            assert_eq!(peer.call(read(500)).map(|response| response.results.len()), Ok(500));
        }
    });
}

#[test]
fn requests_that_take_long() {
    let server = server(Limits { operations_per_turn: 5_000, ..Limits::default() });
    undisturbed(&server, || {
        let attack = |ask: fn(&mut Peer<std::net::TcpStream>)| {
            let server = &server;
            move || {
                let mut peer = session(server);
                for _ in 0..3 {
                    ask(&mut peer);
                }
            }
        };
        std::thread::scope(|scope| {
            // Class View: all is looked at, and nothing found.
            scope.spawn(attack(|peer| {
                let mut request = browse(MANDATORY, 60);
                let mut nodes = request.nodes_to_browse.to_vec();
                nodes.iter_mut().for_each(|node| node.node_class_mask = 128);
                request.nodes_to_browse = Array::from(nodes);
                let results = peer.call(request).expect("an answer").results;
                assert!(results.iter().all(|result| result.status_code.is_good()));
            }));
            scope.spawn(attack(|peer| {
                let results = peer.call(browse(MANDATORY, 20)).expect("an answer").results;
                assert!(results.iter().all(|result| result.references.len() > 1_000));
            }));
            scope.spawn(attack(|peer| {
                let results = peer.call(translate(60)).expect("an answer").results;
                assert!(results.iter().all(|result| result.status_code == status::BAD_NO_MATCH));
            }));
            scope.spawn(attack(|peer| {
                assert_eq!(peer.call(read(10_000)).map(|response| response.results.len()), Ok(10_000));
            }));
        });
    });
}

#[test]
fn the_session_that_is_refused_disturbs_none_of_its_channel() {
    let server = server(Limits { max_sessions: 2, ..Limits::default() });
    let mut peer = local(&server);
    let first = peer.token.clone();
    let second = peer.call(CreateSessionRequest::default()).expect("a session").authentication_token;
    peer.token = second.clone();
    peer.call(ActivateSessionRequest::default()).expect("it is activated");
    assert_eq!(peer.call(CreateSessionRequest::default()).map(|_| ()), Err(status::BAD_TOO_MANY_SESSIONS));
    for token in [first, second] {
        peer.token = token;
        assert!(served(&mut peer));
    }
}

fn served<W: Wire>(peer: &mut Peer<W>) -> bool {
    peer.call(read(1)).is_ok()
}
