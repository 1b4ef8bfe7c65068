//! 100,000 nodes read, written, browsed and walked in bounded memory, against our own server: the
//! allocator counts the peak of both sides.

use std::future::Future;
use std::sync::Arc;

use peak_alloc::PeakAlloc;
use uaforge_client::{Client, Session};
use uaforge_codec::{NodeId, QualifiedName, StatusCode, Variant};
use uaforge_nodes::{ClassAttributes, NewNode, ValueCell, VariableAttributes};
use uaforge_server::Server;
use uaforge_tests::raw::body;
use uaforge_tests::rogue::Pair;
use uaforge_types::{BrowseDescription, BrowseDirection, BrowseResultMask, ReadResponse};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const NODES: u32 = 100_000;
const SOME: u32 = 20_000;
/// Folders of 100 variables each.
const FOLDERS: u32 = NODES / 100;

fn variable(number: u32) -> NodeId {
    NodeId::numeric(1, 1_000_000 + number)
}

fn folder(number: u32) -> NodeId {
    NodeId::numeric(1, 1000 + number)
}

fn everything() -> NodeId {
    NodeId::numeric(1, 1)
}

fn tree() -> NodeId {
    NodeId::numeric(1, 2)
}

/// A folder with all variables, and a tree of folders with 100 of them each.
fn server() -> Server {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .build()
        .expect("the server is built");
    let organizes = NodeId::numeric(0, 35);
    let object = |id: NodeId, name: &str| {
        let class = ClassAttributes::Object { event_notifier: 0 };
        NewNode::new(id, QualifiedName::new(1, name), class)
    };
    let edited = server.space().edit(|edit| {
        edit.add_node(object(everything(), "Everything"))?;
        edit.add_node(object(tree(), "Tree"))?;
        for number in 0..FOLDERS {
            edit.add_node(object(folder(number), &format!("Folder{number}")))?;
            edit.add_reference(&tree(), &organizes, &folder(number))?;
        }
        for number in 0..NODES {
            let class = ClassAttributes::Variable(VariableAttributes {
                data_type: NodeId::numeric(0, 7),
                access_level: 3,
                ..Default::default()
            });
            let name = QualifiedName::new(1, format!("V{number}"));
            edit.add_node(NewNode::new(variable(number), name, class))?;
            edit.attach_cell(&variable(number), Arc::new(ValueCell::new(number)))?;
            edit.add_reference(&everything(), &organizes, &variable(number))?;
            edit.add_reference(&folder(number % FOLDERS), &organizes, &variable(number))?;
        }
        Ok::<(), uaforge_codec::StatusCode>(())
    });
    edited.expect("the nodes are added");
    server
}

/// Peak of what is allocated while a future runs, beyond what was allocated before, in KiB.
async fn peak_of(work: impl Future<Output = ()>) -> usize {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    work.await;
    ALLOCATOR.peak_usage().saturating_sub(before) / 1024
}

async fn read(session: &Session, count: u32) {
    let mut values = session.read_many((0..count).map(variable));
    let mut number = 0;
    while let Some(value) = values.next().await {
        assert_eq!(value.expect("a value").value(), Some(&Variant::UInt32(number)));
        number += 1;
    }
    assert_eq!(number, count);
}

async fn write(session: &Session, count: u32) {
    let mut statuses = session.write_many((0..count).map(|number| (variable(number), number)));
    let mut taken = 0;
    while let Some(status) = statuses.next().await {
        assert_eq!(status.expect("a status"), StatusCode::GOOD);
        taken += 1;
    }
    assert_eq!(taken, count);
}

fn description(of: NodeId) -> BrowseDescription {
    BrowseDescription {
        node_id: of,
        browse_direction: BrowseDirection::FORWARD,
        reference_type_id: NodeId::numeric(0, 33),
        include_subtypes: true,
        node_class_mask: 0,
        result_mask: BrowseResultMask::ALL.0.cast_unsigned(),
    }
}

async fn browse_one_folder(session: &Session) {
    let mut pages = session.browse_many([description(everything())]);
    let mut count = 0;
    while let Some(page) = pages.next().await {
        count += page.references.expect("a page").len();
    }
    assert_eq!(count, NODES as usize);
}

async fn browse_nodes(session: &Session, count: u32) {
    let mut pages = session.browse_many((0..count).map(variable).map(description));
    let mut last = 0;
    while let Some(page) = pages.next().await {
        assert_eq!(page.references.expect("a page").len(), 0);
        last += u32::from(page.last);
    }
    assert_eq!(last, count);
}

async fn walk(session: &Session) {
    let mut walk = session.walk(tree());
    let mut count = 0;
    while let Some(visit) = walk.next().await {
        visit.expect("a node");
        count += 1;
    }
    assert_eq!(count, NODES + FOLDERS);
}

/// What a hostile response makes the client hold, against its size: a million empty values, and an array
/// length that nothing backs.
fn hostile_responses() {
    for announced in [1_000_000, i32::MAX] {
        let (mut pair, session) = Pair::with_session(Client::builder().insecure());
        pair.script(move |asked, wire| {
            if asked.read().is_none() {
                return false;
            }
            let mut content = body(&ReadResponse::default());
            content.truncate(content.len() - 8);
            content.extend(announced.to_le_bytes());
            content.resize(content.len() + 1_000_000, 0);
            let mut parts = content.chunks(60_000).peekable();
            while let Some(part) = parts.next() {
                wire.chunk(if parts.peek().is_some() { "MSGC" } else { "MSGF" }, asked.id, part);
            }
            true
        });
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let error = pair.run(session.read_value(NodeId::numeric(2, 1))).expect_err("one result was due");
        let peak = ALLOCATOR.peak_usage().saturating_sub(before);
        // The server of the test keeps the response twice or three times on its way.
        assert!(peak < 70 << 20, "{error}: {peak} bytes for a response of a megabyte");
        assert!(!session.is_closed());
    }
}

/// One test, as the allocator counts for the whole process.
#[test]
fn a_hundred_thousand_nodes_need_no_more_memory_than_some() {
    hostile_responses();
    let server = server();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let url = server.endpoints().first().cloned().expect("an endpoint");
    runtime.block_on(async {
        let running = tokio::spawn(async move { server.run_until(stopped).await });
        let session = Client::builder().insecure().connect(&url).await.expect("connected");
        read(&session, SOME).await;
        let (some, all) = (peak_of(read(&session, SOME)).await, peak_of(read(&session, NODES)).await);
        assert!(all <= some + some / 4 && all < 1024, "read_many: {some} KiB, {all} KiB");
        write(&session, SOME).await;
        let (some, all) = (peak_of(write(&session, SOME)).await, peak_of(write(&session, NODES)).await);
        assert!(all <= some + some / 4 && all < 1024, "write_many: {some} KiB, {all} KiB");
        let some = peak_of(browse_nodes(&session, SOME)).await;
        let all = peak_of(browse_nodes(&session, NODES)).await;
        assert!(all <= some + some / 4 && all < 1024, "browse_many: {some} KiB, {all} KiB");
        // All references at once would be above 25 MiB.
        let folder = peak_of(browse_one_folder(&session)).await;
        assert!(folder < 4 * 1024, "browse_many of one folder: {folder} KiB");
        // The NodeIds of all nodes, those seen and those to go to, and some pages.
        let walked = peak_of(walk(&session)).await;
        assert!(walked < 16 * 1024, "walk: {walked} KiB");
        session.close().await;
        drop(stop);
        running.await.expect("the server does not panic").expect("the server runs");
    });
}
