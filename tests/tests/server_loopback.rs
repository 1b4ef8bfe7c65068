//! The server on a socket of this machine: start, answers, stop.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use uaforge_codec::{Array, NodeId, QualifiedName, Variant};
use uaforge_nodes::{ClassAttributes, NewNode, VariableAttributes};
use uaforge_server::{BuildError, Limits, Server, ServerError};
use uaforge_tests::peer::{Peer, start_time};
use uaforge_types::{ReadRequest, ReadValueId, ServerState, TimestampsToReturn, status};

fn server() -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .build()
        .expect("the server is built")
}

fn connect(server: &Server) -> Peer<TcpStream> {
    let address = server.local_addr().expect("it listens");
    let stream = TcpStream::connect(address).expect("it accepts");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    Peer::with_session(stream, &format!("opc.tcp://{address}"), start_time())
}

fn read(node: &NodeId) -> ReadRequest {
    let item = ReadValueId { node_id: node.clone(), attribute_id: 13, ..Default::default() };
    ReadRequest {
        timestamps_to_return: TimestampsToReturn::BOTH,
        nodes_to_read: Array::from(vec![item]),
        ..Default::default()
    }
}

/// Runs a server in a thread of its own while `client` talks to it; then stops it.
fn with_running(server: &Server, client: impl FnOnce() + Send) {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(server.run_until(stopped))
        });
        client();
        let _ = stop.send(());
        running.join().expect("the server does not panic").expect("the server runs");
    });
}

#[test]
fn answers_over_a_socket_and_stops() {
    let server = server();
    let value = NodeId::string(1, "Level");
    server
        .space()
        .edit(|edit| {
            let variable = ClassAttributes::Variable(VariableAttributes {
                data_type: NodeId::numeric(0, 11),
                ..Default::default()
            });
            edit.add_node(NewNode::new(value.clone(), QualifiedName::new(1, "Level"), variable))?;
            edit.add_reference(&NodeId::numeric(0, 85), &NodeId::numeric(0, 35), &value)
        })
        .unwrap();
    let level = server.typed_variable::<f64>(&value).unwrap();
    level.set(1.5);
    assert_eq!(level.get(), Ok(1.5));
    with_running(&server, || {
        let mut peer = connect(&server);
        let result = peer.call(read(&value)).unwrap().results[0].clone();
        assert_eq!(result.value(), Some(&Variant::Double(1.5)));
        assert!(result.source_timestamp().is_some());
        level.set(2.5);
        assert_eq!(peer.call(read(&value)).unwrap().results[0].value(), Some(&Variant::Double(2.5)));
    });
    assert!(matches!(
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(server.run_until(async {})),
        Err(ServerError::AlreadyRun)
    ));
}

#[test]
fn many_clients_are_served_at_once() {
    let server = server();
    with_running(&server, || {
        let mut peers: Vec<_> = (0..20).map(|_| connect(&server)).collect();
        for round in 0..20 {
            for peer in &mut peers {
                let state = peer.call(read(&NodeId::numeric(0, 2259))).unwrap().results[0].clone();
                assert_eq!(state.value(), Some(&Variant::Int32(ServerState::RUNNING.0)), "{round}");
            }
        }
        assert_eq!(server.session_count(), 20);
    });
}

#[test]
fn a_stop_tells_clients_and_does_not_wait_for_silent_ones() {
    let server = server();
    let begin = Instant::now();
    let mut left = None;
    with_running(&server, || left = Some(connect(&server)));
    let mut peer = left.unwrap();
    assert_eq!(peer.call(read(&NodeId::numeric(0, 2259))), Err(status::BAD_SHUTDOWN));
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
}

#[test]
fn connections_have_a_limit() {
    let server = Server::builder()
        .endpoint("opc.tcp://localhost:0")
        .insecure()
        .model(uaforge_ns0::model())
        .limits(Limits { max_connections: 2, ..Limits::default() })
        .build()
        .unwrap();
    with_running(&server, || {
        let _two = [connect(&server), connect(&server)];
        let address = server.local_addr().unwrap();
        let third = Peer::connect(TcpStream::connect(address).unwrap(), "opc.tcp://x", start_time());
        assert!(third.failure.is_some());
    });
}

#[test]
fn requests_of_one_read_are_answered_with_one_write() {
    let server = server();
    with_running(&server, || {
        let mut peer = connect(&server);
        for _ in 0..50 {
            peer.queue(read(&NodeId::numeric(0, 2259)));
        }
        let requests = peer.take_queued();
        peer.wire.write_all(&requests).unwrap();
        let mut responses = vec![0; 65_536];
        let count = peer.wire.read(&mut responses).unwrap();
        let frames = frames(&responses[..count]);
        assert_eq!(frames.len(), 50);
    });
}

/// The sizes of the whole frames in `bytes`.
fn frames(bytes: &[u8]) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut at = 0;
    while let Some(size) = bytes.get(at + 4..at + 8) {
        let size = u32::from_le_bytes(size.try_into().unwrap()) as usize;
        if at + size > bytes.len() {
            break;
        }
        sizes.push(size);
        at += size;
    }
    sizes
}

#[test]
fn a_slow_reader_pauses_reading_and_loses_nothing() {
    const REQUESTS: usize = 20_000;
    let server = server();
    with_running(&server, || {
        let mut peer = connect(&server);
        // Some 20 MB each way: far more than sockets hold.
        let items = vec![read(&NodeId::numeric(0, 2259)).nodes_to_read[0].clone(); 50];
        for _ in 0..REQUESTS {
            peer.queue(ReadRequest { nodes_to_read: Array::from(items.clone()), ..read(&NodeId::NULL) });
        }
        let requests = peer.take_queued();
        let mut writer = peer.wire.try_clone().unwrap();
        std::thread::scope(|scope| {
            let sending = scope.spawn(move || writer.write_all(&requests));
            std::thread::sleep(Duration::from_millis(500));
            assert!(!sending.is_finished(), "the server took everything although nobody reads its answers");
            let (mut buffer, mut held, mut answers) = (vec![0; 1 << 20], Vec::new(), 0);
            while answers < REQUESTS {
                let count = peer.wire.read(&mut buffer).unwrap();
                assert!(count > 0, "the server closed after {answers} answers");
                held.extend_from_slice(&buffer[..count]);
                let sizes = frames(&held);
                answers += sizes.len();
                held.drain(..sizes.iter().sum::<usize>());
            }
            sending.join().unwrap().unwrap();
        });
    });
}

#[test]
fn a_plain_endpoint_needs_the_word() {
    let build = Server::builder().endpoint("opc.tcp://127.0.0.1:0").model(uaforge_ns0::model()).build();
    assert!(matches!(build, Err(BuildError::NotSecured { .. })));
    let build = Server::builder().insecure().model(uaforge_ns0::model()).build();
    assert!(matches!(build, Err(BuildError::NoEndpoint)));
    let build = Server::builder().endpoint("http://127.0.0.1").insecure().build();
    assert!(matches!(build, Err(BuildError::InvalidEndpoint { .. })));
    let build =
        Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().model(uaforge_di::model()).build();
    assert!(matches!(build, Err(BuildError::Models(_))));
}
