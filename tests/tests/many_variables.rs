//! Handles of very many Variables: what each costs does not grow with their number.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use uaforge_codec::{NodeId, QualifiedName, StatusCode, Variant};
use uaforge_nodes::{ClassAttributes, Edit, NewNode};
use uaforge_server::Server;
use uaforge_tests::nodes::scalar;
use uaforge_types::status;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const OBJECTS: NodeId = NodeId::numeric(0, 85);
const ORGANIZES: NodeId = NodeId::numeric(0, 35);

fn server() -> Server {
    let builder = Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure();
    builder.model(uaforge_ns0::model()).build().expect("the server is built")
}

fn add(edit: &mut Edit, id: &NodeId) -> Result<(), StatusCode> {
    let attributes = ClassAttributes::Variable(scalar(11));
    edit.add_node(NewNode::new(id.clone(), QualifiedName::new(1, id.to_string()), attributes))?;
    edit.add_reference(&OBJECTS, &ORGANIZES, id)
}

/// Bytes that are allocated, but for the nodes themselves, while handles are made.
fn bytes_for(count: u32) -> (Server, Vec<NodeId>, usize) {
    let server = server();
    let ids: Vec<NodeId> = (0..count).map(|number| NodeId::numeric(1, number + 1)).collect();
    server.space().edit(|edit| ids.iter().try_for_each(|id| add(edit, id))).expect("new nodes");
    let region = Region::new(ALLOCATOR);
    let handles = server.variables(&ids).expect("all are Variables");
    let bytes = region.change().bytes_allocated;
    assert_eq!(handles.len(), ids.len());
    for (handle, id) in handles.iter().zip(&ids) {
        assert_eq!(handle.id(), id);
    }
    (server, ids, bytes)
}

/// One test, as the allocator counts for the whole process.
#[test]
fn many_handles_are_one_change() {
    drop(bytes_for(10));
    let (_, _, few) = bytes_for(10_000);
    let (server, ids, many) = bytes_for(100_000);
    assert!(many < few * 12, "{few} bytes for 10,000 handles, {many} for 100,000");

    // A handle that there was before is the same, and costs no change of the address space.
    let mut snapshot = server.space().snapshot();
    let again = server.variable(&ids[99_999]).expect("it is there");
    again.cell().set(1.5, None);
    assert!(!snapshot.refresh(server.space()), "nothing has changed");
    let seen = server.variables(&ids[99_999..]).expect("it is there");
    assert_eq!(seen[0].cell().value(), Variant::Double(1.5));

    // All or nothing.
    let new = NodeId::string(1, "new");
    server.space().edit(|edit| add(edit, &new)).expect("a new node");
    for (wrong, expected) in [
        (NodeId::string(1, "absent"), status::BAD_NODE_ID_UNKNOWN),
        (OBJECTS, status::BAD_NODE_CLASS_INVALID),
    ] {
        assert_eq!(server.variables(&[new.clone(), wrong]).err(), Some(expected));
        let snapshot = server.space().snapshot();
        assert!(snapshot.node(new.as_ref()).expect("it is there").cell().is_none());
    }
}
