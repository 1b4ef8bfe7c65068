//! A million nodes that are never in memory: the node manager of the façade's example.

use std::alloc::System;
use std::time::{Duration, Instant};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use uaforge::server::{Connection, Server};
use uaforge::types::{
    BrowseDescription, BrowseDirection, BrowseNextRequest, BrowsePath, BrowseRequest, BrowseResult,
    RelativePath, RelativePathElement, TranslateBrowsePathsToNodeIdsRequest, status,
};
use uaforge::{Array, NodeId, QualifiedName, StatusCode, Variant};
use uaforge_tests::nodes::{VALUE, read, value};
use uaforge_tests::peer::{InProcess, Peer, start_time};

#[path = "../../runtime/uaforge/examples/virtual_nodes/manager.rs"]
mod manager;

use manager::{ALL, GROUP_SIZE, GROUPS, ROOT, VirtualMeters};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const MILLION: u32 = 1_000_000;
const ORGANIZES: NodeId = NodeId::numeric(0, 35);
const PAGE: u32 = 5_000;

type Client = Peer<InProcess<Connection>>;

fn server(meters: u32) -> Server {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge::ns0())
        .manager(VirtualMeters::new(meters))
        .build()
        .expect("the server is built");
    let root = id(&server, ROOT);
    server.add_reference(&NodeId::numeric(0, 85), &ORGANIZES, &root).expect("a folder");
    server
}

fn client(server: &Server) -> Client {
    let now = start_time();
    Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now)
}

fn id(server: &Server, number: u32) -> NodeId {
    VirtualMeters::id(server, number).expect("the namespace is there")
}

fn live() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated)
}

fn description(node: NodeId, direction: BrowseDirection) -> BrowseDescription {
    BrowseDescription {
        node_id: node,
        browse_direction: direction,
        include_subtypes: true,
        result_mask: 63,
        ..Default::default()
    }
}

fn browse(client: &mut Client, node: NodeId, direction: BrowseDirection) -> BrowseResult {
    let request = BrowseRequest {
        requested_max_references_per_node: PAGE,
        nodes_to_browse: Array::from(vec![description(node, direction)]),
        ..Default::default()
    };
    client.call(request).expect("a response").results[0].clone()
}

fn names(result: &BrowseResult) -> Vec<String> {
    result.references.iter().map(|reference| reference.browse_name.name.text().to_owned()).collect()
}

/// All pages of the node with all meters; the most bytes that were allocated between two pages.
fn browse_all(client: &mut Client, server: &Server) -> usize {
    let (mut next, mut most) = (0, 0);
    let mut result = browse(client, id(server, ALL), BrowseDirection::FORWARD);
    loop {
        assert_eq!(result.status_code, StatusCode::GOOD);
        for reference in &*result.references {
            assert_eq!(reference.node_id.node_id.as_numeric(), Some(next));
            next += 1;
        }
        most = most.max(live());
        let point = result.continuation_point.clone();
        if point.is_null() {
            break;
        }
        let points = Array::from(vec![point]);
        let request = BrowseNextRequest { continuation_points: points, ..Default::default() };
        result = client.call(request).expect("a response").results[0].clone();
    }
    assert_eq!(next, MILLION);
    most
}

/// One test, as the allocator counts for the whole process.
#[test]
fn memory_does_not_grow_with_the_nodes() {
    let live_of = |meters| {
        let region = Region::new(ALLOCATOR);
        let server = server(meters);
        let change = region.change();
        (server, change.bytes_allocated.wrapping_sub(change.bytes_deallocated))
    };
    // What is allocated once for the process is there after the first server.
    drop(live_of(10));
    let (small, few) = live_of(10);
    let (large, many) = live_of(MILLION);
    assert!(many.abs_diff(few) < 4_096, "{few} bytes for 10 meters, {many} for a million");
    drop(small);

    let mut client = client(&large);
    let before = live();
    let begun = Instant::now();
    let most = browse_all(&mut client, &large);
    let took = begun.elapsed();
    // One page and its message, ours and the client's.
    assert!(most.saturating_sub(before) < 8 << 20, "{} bytes more than before", most - before);
    assert!(took < Duration::from_secs(30), "{took:?}");
    let mut sampled = 0.0;
    for meter in (0..MILLION).step_by(997) {
        let Variant::Double(reading) = value(&mut client, &id(&large, meter), VALUE) else {
            panic!("a meter shows a Double");
        };
        assert_eq!(reading, VirtualMeters::reading(meter));
        sampled += reading;
    }
    assert!(sampled > 0.0);
    assert!(live().saturating_sub(before) < 4 << 20, "{} bytes more than before", live() - before);
    nodes_are_there_as_far_as_they_are_asked_for(&large, &mut client);
    a_client_browses_all_of_it(&large);
}

/// With the client of the project, over a socket.
fn a_client_browses_all_of_it(server: &Server) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let url = server.endpoints()[0].clone();
    let all = id(server, ALL);
    runtime.block_on(async {
        let client = async {
            let session = uaforge::client::connect_insecure(&url).await.expect("a session");
            let mut pages = session.browse_many([description(all, BrowseDirection::FORWARD)]);
            let mut found = 0;
            while let Some(page) = pages.next().await {
                found += page.references.expect("a page").len();
            }
            assert_eq!(found, MILLION as usize);
            let _ = stop.send(());
        };
        let (ran, ()) = tokio::join!(server.run_until(stopped), client);
        ran.expect("the server runs");
    });
}

fn nodes_are_there_as_far_as_they_are_asked_for(server: &Server, client: &mut Client) {
    let root = browse(client, id(server, ROOT), BrowseDirection::BOTH);
    assert_eq!(root.references.len(), 2 + (MILLION / GROUP_SIZE) as usize);
    assert_eq!(names(&root)[..2], ["All", "Group0000"]);
    assert_eq!(names(&root).last().map(String::as_str), Some("Objects"));
    let group = browse(client, id(server, GROUPS + 999), BrowseDirection::BOTH);
    assert_eq!(group.references.len(), GROUP_SIZE as usize + 1);
    assert_eq!(names(&group)[999..], ["Meter0999999", "Meters"]);
    let meter = browse(client, id(server, 123_456), BrowseDirection::BOTH);
    assert_eq!(names(&meter), ["All", "Group0123"]);
    for (attribute, expected) in [
        (1, Variant::from(id(server, 123_456))),
        (2, Variant::Int32(2)),
        (3, Variant::from(QualifiedName::new(2, "Meter0123456"))),
        (14, Variant::from(NodeId::numeric(0, 11))),
        (15, Variant::Int32(-1)),
        (17, Variant::Byte(1)),
        (20, Variant::Boolean(false)),
    ] {
        assert_eq!(value(client, &id(server, 123_456), attribute), expected);
    }
    assert_eq!(read(client, &id(server, 123_456), 12).status_or_good(), status::BAD_ATTRIBUTE_ID_INVALID);
    assert_eq!(read(client, &id(server, MILLION), VALUE).status_or_good(), status::BAD_NODE_ID_UNKNOWN);
    let path = |names: &[&str]| {
        let element = |(at, name): (usize, &&str)| RelativePathElement {
            reference_type_id: ORGANIZES,
            target_name: QualifiedName::new(if at == 0 && *name == "Objects" { 0 } else { 2 }, *name),
            ..Default::default()
        };
        BrowsePath {
            starting_node: NodeId::numeric(0, 85),
            relative_path: RelativePath { elements: names.iter().enumerate().map(element).collect() },
        }
    };
    let paths = [
        path(&["Meters", "Group0123", "Meter0123456"]),
        path(&["Meters", "All", "Meter0999999"]),
        path(&["Meters", "Group0123", "Meter0999999"]),
        path(&["Meters", "All", "Meter999999"]),
    ];
    let request = TranslateBrowsePathsToNodeIdsRequest {
        browse_paths: Array::from(paths.to_vec()),
        ..Default::default()
    };
    let results = client.call(request).expect("a response").results;
    let found: Vec<_> =
        results.iter().map(|result| result.targets.first().map(|t| t.target_id.node_id.clone())).collect();
    assert_eq!(found, [Some(id(server, 123_456)), Some(id(server, 999_999)), None, None]);
}
