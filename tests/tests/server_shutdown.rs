//! A server begins and ends in order: readiness, warning, answers, end.

use std::time::{Duration, Instant};

use uaforge_codec::{Array, NodeId, Variant};
use uaforge_server::{Limits, Server, ServerError};
use uaforge_tests::peer::{Peer, Wire};
use uaforge_tests::running::{dial, eventually};
use uaforge_types::{
    CloseSessionRequest, CreateSessionRequest, ReadRequest, ReadValueId, ServerState, ServerStatusDataType,
    status,
};

const URL: &str = "opc.tcp://127.0.0.1:4840";
const SERVICE_LEVEL: u32 = 2267;
const SERVER_STATUS: u32 = 2256;
const STATE: u32 = 2259;
const SECONDS_TILL_SHUTDOWN: u32 = 2992;

fn server(limits: Limits) -> Server {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .limits(limits)
        .build()
        .expect("the server is built")
}

fn value<W: Wire>(peer: &mut Peer<W>, node: u32) -> Variant {
    let item = ReadValueId { node_id: NodeId::numeric(0, node), attribute_id: 13, ..Default::default() };
    let request = ReadRequest { nodes_to_read: Array::from(vec![item]), ..Default::default() };
    let response = peer.call(request).expect("it is read");
    response.results[0].value().expect("a value").clone()
}

fn seconds<W: Wire>(peer: &mut Peer<W>) -> u32 {
    let Variant::UInt32(seconds) = value(peer, SECONDS_TILL_SHUTDOWN) else { panic!("a UInt32") };
    let Variant::ExtensionObject(object) = value(peer, SERVER_STATUS) else { panic!("a structure") };
    let status = object.downcast_ref::<ServerStatusDataType>().expect("the status");
    assert_eq!(status.state, ServerState::SHUTDOWN);
    assert!(status.seconds_till_shutdown.abs_diff(seconds) <= 1);
    seconds
}

/// A server on a runtime of its own, and how to stop it.
fn start(
    server: &Server,
) -> (tokio::runtime::Runtime, tokio::sync::oneshot::Sender<()>, tokio::task::JoinHandle<()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = runtime.spawn({
        let server = server.clone();
        async move { server.run_until(stopped).await.expect("it runs once") }
    });
    (runtime, stop, running)
}

#[test]
fn a_server_is_ready_while_it_serves() {
    let server = server(Limits::default());
    assert!(!server.is_ready());
    let (runtime, stop, running) = start(&server);
    runtime.block_on(server.ready()).expect("it becomes ready");
    assert!(server.is_ready());
    let mut peer = Peer::with_session(dial(&server), URL, uaforge_net::clock());
    assert_eq!(value(&mut peer, SERVICE_LEVEL), Variant::Byte(255));
    server.set_service_level(120);
    assert_eq!(value(&mut peer, SERVICE_LEVEL), Variant::Byte(120));
    stop.send(()).unwrap();
    eventually("it is not ready", || !server.is_ready());
    runtime.block_on(running).unwrap();
    assert!(matches!(runtime.block_on(server.ready()), Err(ServerError::Stopped)));
    assert!(matches!(
        runtime.block_on(server.run_until(std::future::ready(()))),
        Err(ServerError::AlreadyRun)
    ));
}

#[test]
fn a_server_whose_future_is_dropped_is_not_ready() {
    let server = server(Limits::default());
    let (runtime, _stop, running) = start(&server);
    runtime.block_on(server.ready()).unwrap();
    running.abort();
    eventually("it is not ready", || !server.is_ready());
}

#[test]
fn clients_are_told_before_the_end() {
    let limits = Limits { shutdown_delay: Duration::from_millis(2_500), ..Limits::default() };
    let server = server(limits);
    let (runtime, stop, running) = start(&server);
    runtime.block_on(server.ready()).unwrap();
    let mut peer = Peer::with_session(dial(&server), URL, uaforge_net::clock());
    let mut other = Peer::connect(dial(&server), URL, uaforge_net::clock());
    assert_eq!(value(&mut peer, STATE), Variant::Int32(ServerState::RUNNING.0));
    let begin = Instant::now();
    stop.send(()).unwrap();
    eventually("the state is told", || value(&mut peer, STATE) == Variant::Int32(ServerState::SHUTDOWN.0));
    // Clients go elsewhere.
    assert_eq!(value(&mut peer, SERVICE_LEVEL), Variant::Byte(0));
    assert_eq!(other.call(CreateSessionRequest::default()).map(|_| ()), Err(status::BAD_SHUTDOWN));
    let address = server.local_addr().unwrap();
    eventually("nobody listens", || std::net::TcpStream::connect(address).is_err());
    // The old ones go on, and see the time run out.
    let first = seconds(&mut peer);
    std::thread::sleep(Duration::from_millis(1_200));
    let later = seconds(&mut peer);
    assert!(later < first, "{later} after {first}");
    assert_eq!(peer.wait_for(99).unwrap_err().status, status::BAD_SHUTDOWN);
    assert!(begin.elapsed() >= Duration::from_millis(2_400), "{:?}", begin.elapsed());
    runtime.block_on(running).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[test]
fn a_server_without_sessions_does_not_wait() {
    let limits = Limits { shutdown_delay: Duration::from_secs(60), ..Limits::default() };
    let server = server(limits);
    let (runtime, stop, running) = start(&server);
    runtime.block_on(server.ready()).unwrap();
    let mut peer = Peer::with_session(dial(&server), URL, uaforge_net::clock());
    let mut silent = Peer::connect(dial(&server), URL, uaforge_net::clock());
    let begin = Instant::now();
    stop.send(()).unwrap();
    eventually("it stops", || !server.is_ready());
    peer.call(CloseSessionRequest::default()).expect("it is closed");
    runtime.block_on(running).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(silent.wait_for(99).unwrap_err().status, status::BAD_SHUTDOWN);
}
