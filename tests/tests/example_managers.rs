//! The node managers of the façade's examples: a slow device.

use std::sync::Arc;
use std::time::{Duration, Instant};

use uaforge::server::Server;
use uaforge::types::{BrowseDescription, ReadRequest, ReadResponse, WriteRequest, status};
use uaforge::{Array, NodeId, StatusCode, Variant};
use uaforge_tests::nodes::{VALUE, item, read_request, value, write, write_item};
use uaforge_tests::peer::{Peer, Wire};
use uaforge_tests::running::{dial, eventually, with_running};

#[path = "../../runtime/uaforge/examples/slow_device/device.rs"]
mod device;
#[path = "../../runtime/uaforge/examples/slow_device/manager.rs"]
mod manager;

use device::Device;
use manager::{DeviceManager, FIRMWARE, REGISTERS, ROOT, URI};

const LATENCY: Duration = Duration::from_millis(30);

fn set_up(patience: Duration) -> (Arc<Device>, Server) {
    let device = Arc::new(Device::new(100, LATENCY));
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge::ns0())
        .manager(DeviceManager::new(Arc::clone(&device), patience))
        .build()
        .expect("the server is built");
    let root = DeviceManager::id(&server, ROOT).expect("the namespace is there");
    server.add_reference(&NodeId::numeric(0, 85), &NodeId::numeric(0, 35), &root).expect("a folder");
    (device, server)
}

fn id(server: &Server, number: u32) -> NodeId {
    DeviceManager::id(server, number).expect("the namespace is there")
}

fn registers(server: &Server, numbers: impl IntoIterator<Item = u32>) -> ReadRequest {
    let items = numbers.into_iter().map(|number| item(&id(server, REGISTERS + number), VALUE));
    read_request(items.collect())
}

fn peer(server: &Server) -> Peer<std::net::TcpStream> {
    Peer::with_session(dial(server), "opc.tcp://127.0.0.1:4840", uaforge_net::clock())
}

fn wait_for_read<W: Wire>(peer: &mut Peer<W>, id: u32) -> ReadResponse {
    let body = peer.wait_for(id).expect("a response");
    peer.decode(&body).expect("a response")
}

#[test]
fn all_registers_of_a_read_are_one_request_to_the_device() {
    let (device, server) = set_up(Duration::from_secs(5));
    with_running(&server, |_| {
        let mut peer = peer(&server);
        let mut request = registers(&server, (0..100).rev());
        let mut items = request.nodes_to_read.to_vec();
        items.insert(50, item(&NodeId::numeric(0, 2267), VALUE));
        items.push(item(&id(&server, REGISTERS + 100), VALUE));
        items.push(item(&id(&server, FIRMWARE), VALUE));
        request.nodes_to_read = Array::from(items);
        let results = peer.call(request).expect("a response").results;
        assert_eq!(device.requests(), 1);
        assert_eq!(results[0].value(), Some(&Variant::UInt16(99)));
        assert_eq!(results[50].value(), Some(&Variant::Byte(255)));
        assert_eq!(results[100].value(), Some(&Variant::UInt16(0)));
        assert_eq!(results[101].status_or_good(), status::BAD_NODE_ID_UNKNOWN);
        assert_eq!(results[102].value(), Some(&Variant::String("1.4.2".into())));
        // What needs no device does not wait for it.
        let slow = peer.queue(registers(&server, [1]));
        let begun = Instant::now();
        let name = value(&mut peer, &id(&server, REGISTERS + 7), 4);
        assert_eq!(name, Variant::from(uaforge::LocalizedText::from("Register7")));
        assert!(begun.elapsed() < LATENCY);
        assert_eq!(wait_for_read(&mut peer, slow).results[0].value(), Some(&Variant::UInt16(1)));
    });
}

#[test]
fn writes_are_checked_and_reach_the_device_in_their_order() {
    let (device, server) = set_up(Duration::from_secs(5));
    with_running(&server, |_| {
        let mut peer = peer(&server);
        let register = id(&server, REGISTERS + 5);
        assert_eq!(write(&mut peer, &register, "five"), status::BAD_TYPE_MISMATCH);
        assert_eq!(write(&mut peer, &id(&server, FIRMWARE), "2.0"), status::BAD_NOT_WRITABLE);
        assert_eq!(device.requests(), 0);
        let items = [7_u16, 10_000, 8].map(|value| write_item(&register, VALUE, value)).to_vec();
        let request = WriteRequest { nodes_to_write: Array::from(items), ..Default::default() };
        let results = peer.call(request).expect("a response").results;
        assert_eq!(*results, [StatusCode::GOOD, status::BAD_OUT_OF_RANGE, StatusCode::GOOD]);
        assert_eq!(value(&mut peer, &register, VALUE), Variant::UInt16(8));
    });
}

#[test]
fn a_device_that_hangs_is_given_up() {
    let (device, server) = set_up(Duration::from_millis(150));
    with_running(&server, |_| {
        let mut peer = peer(&server);
        device.set_hangs(true);
        let late = peer.queue(registers(&server, [1, 2]));
        let results = wait_for_read(&mut peer, late).results;
        assert_eq!([0, 1].map(|at| results[at].status_or_good()), [status::BAD_TIMEOUT; 2]);
        assert_eq!(device.abandoned(), 1);
        let register = id(&server, REGISTERS);
        assert_eq!(write(&mut peer, &register, 1_u16), status::BAD_TIMEOUT);
        device.set_hangs(false);
        assert_eq!(value(&mut peer, &register, VALUE), Variant::UInt16(0));
    });
}

#[test]
fn a_client_that_goes_gives_up_its_reads() {
    let (device, server) = set_up(Duration::from_secs(60));
    with_running(&server, |_| {
        let mut gone = peer(&server);
        device.set_hangs(true);
        gone.queue(registers(&server, [1, 2, 3]));
        // The answer to this says that the read before it is at work.
        value(&mut gone, &NodeId::numeric(0, 2267), VALUE);
        drop(gone);
        eventually("the request is given up", || device.abandoned() == 1);
        // The time that a client gives counts too, be it shorter than the device's.
        let mut peer = peer(&server);
        peer.timeout_hint = 100;
        assert_eq!(write(&mut peer, &id(&server, REGISTERS), 9_u16), status::BAD_TIMEOUT);
        eventually("the write is given up", || device.abandoned() == 2);
    });
}

#[test]
fn the_device_is_found_by_browsing() {
    let (_device, server) = set_up(Duration::from_secs(5));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let url = server.endpoints()[0].clone();
    runtime.block_on(async {
        let client = async {
            let session = uaforge::client::connect_insecure(&url).await.expect("a session");
            let node = BrowseDescription {
                node_id: id(&server, ROOT),
                browse_direction: uaforge::types::BrowseDirection::BOTH,
                include_subtypes: true,
                result_mask: 63,
                ..Default::default()
            };
            let pages = session.browse_all(vec![node]).await.expect("pages");
            let references = pages.into_iter().next().expect("a page").expect("references");
            // Firmware, a hundred registers, and the Objects folder.
            assert_eq!(references.len(), 102);
            let last = &references[101];
            assert_eq!((last.browse_name.name.text(), last.is_forward), ("Objects", false));
            assert_eq!(
                server.space().namespaces().index_of(URI),
                Some(references[0].node_id.node_id.namespace())
            );
            drop(session);
            let _ = stop.send(());
        };
        let (ran, ()) = tokio::join!(server.run_until(stopped), client);
        ran.expect("the server runs");
    });
}
