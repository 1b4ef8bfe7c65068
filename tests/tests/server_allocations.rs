//! Requests of static and in-memory values allocate nothing in steady state, decoding included (D8).

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use uaforge_codec::{Array, DateTime, NodeId, QualifiedName, Variant};
use uaforge_net::Machine;
use uaforge_nodes::{Direction, Node};
use uaforge_server::{Connection, Server};
use uaforge_tests::brew_line;
use uaforge_tests::nodes::{VALUE, scalar, variable, write_item};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{
    BrowseDescription, BrowseDirection, BrowsePath, BrowseRequest, ReadRequest, ReadValueId, RelativePath,
    RelativePathElement, ServiceRequest, TimestampsToReturn, TranslateBrowsePathsToNodeIdsRequest,
    WriteRequest, ids,
};

/// The demo server, as `cargo xtask demo` builds it.
#[path = "../../templates/server/src/main.rs"]
#[allow(dead_code, reason = "its entry point is the program's")]
mod demo_server;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const WARM_UP: usize = 100;
const REQUESTS: usize = 10_000;
/// Requests that arrive with one read.
const BATCH: usize = 20;

/// The variables below the brew line that hold a value in memory.
fn kettle_variables(server: &Server) -> Vec<NodeId> {
    let snapshot = server.space().snapshot();
    let namespaces = server.space().namespaces();
    let line = brew_line::ids::object::BREW_LINE.resolve(namespaces).expect("the model is there");
    let hierarchical = ids::reference_type::HIERARCHICAL_REFERENCES.identifier().in_namespace(0);
    let mut below = vec![line];
    let mut found = Vec::new();
    while let Some(id) = below.pop() {
        let node = snapshot.node(id.as_ref()).expect("a node");
        if node.cell().is_some() {
            found.push(id.clone());
        }
        let filter = snapshot.reference_filter(hierarchical, true).expect("a reference type");
        let targets = node.references(Direction::Forward, filter).filter_map(|reference| reference.target());
        below.extend(targets.map(|target: Node<'_>| target.id().to_owned()));
    }
    found
}

fn read_request(kettles: &[NodeId]) -> ReadRequest {
    // The clock, the status structure, values of the application, of the tables, and other attributes.
    let nodes = [
        (2258, 13),
        (2256, 13),
        (2255, 13),
        (2267, 13),
        (7597, 13),
        (11_705, 13),
        (2253, 4),
        (2253, 3),
        (1, 13),
    ];
    let standard = nodes.map(|(node, attribute)| (NodeId::numeric(0, node), attribute));
    let values = kettles.iter().map(|id| (id.clone(), VALUE));
    let item = |(node_id, attribute_id)| ReadValueId { node_id, attribute_id, ..Default::default() };
    ReadRequest {
        timestamps_to_return: TimestampsToReturn::BOTH,
        nodes_to_read: standard.into_iter().chain(values).map(item).collect::<Vec<_>>().into(),
        ..Default::default()
    }
}

fn browse_request() -> BrowseRequest {
    let item = |node| BrowseDescription {
        node_id: NodeId::numeric(0, node),
        browse_direction: BrowseDirection::BOTH,
        reference_type_id: NodeId::numeric(0, 31),
        include_subtypes: true,
        result_mask: 63,
        ..Default::default()
    };
    BrowseRequest { nodes_to_browse: Array::from([85, 2253, 61].map(item).to_vec()), ..Default::default() }
}

fn translate_request() -> TranslateBrowsePathsToNodeIdsRequest {
    let element = |name: &str| RelativePathElement {
        reference_type_id: NodeId::numeric(0, 33),
        include_subtypes: true,
        target_name: QualifiedName::new(0, name),
        ..Default::default()
    };
    let elements: Vec<_> = ["Server", "ServerStatus", "BuildInfo", "ProductName"].map(element).to_vec();
    let path = BrowsePath {
        starting_node: NodeId::numeric(0, 85),
        relative_path: RelativePath { elements: Array::from(elements) },
    };
    TranslateBrowsePathsToNodeIdsRequest { browse_paths: Array::from(vec![path; 3]), ..Default::default() }
}

/// Scalars of several types, one by a named id; one value is refused.
fn write_request(server: &Server) -> WriteRequest {
    let values =
        [Variant::Double(1.5), Variant::Int32(-1), Variant::Boolean(true), Variant::DateTime(DateTime(5))];
    let mut items = Vec::new();
    for (number, value) in (1..).zip(values) {
        let data_type = value.builtin_type().map_or(0, |builtin| builtin as u32);
        let handle = variable(server, number, scalar(data_type), Variant::Null);
        items.push(write_item(handle.id(), VALUE, value));
    }
    items.push(write_item(&NodeId::numeric(1, 1), VALUE, 1i32));
    items.push(write_item(&NodeId::string(1, "no such node"), VALUE, 1i32));
    WriteRequest { nodes_to_write: Array::from(items), ..Default::default() }
}

/// Gives the machine requests in batches; the responses it wrote, in bytes.
fn serve(machine: &mut Connection, batches: &[Vec<u8>], now: uaforge_codec::Now) -> usize {
    let mut written = 0;
    for batch in batches {
        let mut rest = batch.as_slice();
        while !rest.is_empty() {
            let taken = machine.receive(rest, now);
            rest = &rest[taken..];
            let output = machine.output();
            assert!(!output.is_empty(), "the machine neither takes nor answers");
            written += output.len();
            output.advance(output.len());
        }
    }
    written
}

fn batches<Q: ServiceRequest>(
    peer: &mut Peer<InProcess<Connection>>,
    request: &Q,
    count: usize,
) -> Vec<Vec<u8>> {
    let batch = |peer: &mut Peer<_>| {
        for _ in 0..BATCH {
            peer.queue(request.clone());
        }
        peer.take_queued()
    };
    (0..count / BATCH).map(|_| batch(peer)).collect()
}

fn allocations_of<Q: ServiceRequest>(peer: &mut Peer<InProcess<Connection>>, request: &Q) -> usize {
    let warm_up = batches(peer, request, WARM_UP);
    let measured = batches(peer, request, REQUESTS);
    let now = peer.now;
    serve(&mut peer.wire.0, &warm_up, now);
    let region = Region::new(ALLOCATOR);
    let written = serve(&mut peer.wire.0, &measured, now);
    let change = region.change();
    assert!(written > REQUESTS * 50, "{written} bytes are no answers to {REQUESTS} requests");
    change.allocations + change.reallocations
}

/// One test, as the allocator counts for the whole process.
#[test]
fn hot_services_allocate_nothing() {
    let server = demo_server::brew_server("opc.tcp://127.0.0.1:0".into()).expect("the server is built");
    // One of the values that are read comes from a closure.
    server.on_read(&ids::variable::SERVER_SERVICE_LEVEL, || 200_u8).expect("the variable is bound");
    let now = start_time();
    let mut peer = Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now);
    let kettles = kettle_variables(&server);
    assert!(kettles.len() >= 12, "{} variables of kettles", kettles.len());
    assert_eq!(allocations_of(&mut peer, &read_request(&kettles)), 0, "Read");
    assert_eq!(allocations_of(&mut peer, &browse_request()), 0, "Browse");
    assert_eq!(allocations_of(&mut peer, &translate_request()), 0, "TranslateBrowsePathsToNodeIds");
    let write = write_request(&server);
    assert_eq!(allocations_of(&mut peer, &write), 0, "Write");
}
