//! RegisterNodes and UnregisterNodes (OPC 10000-4 §5.9.5, §5.9.6).

use std::sync::{Arc, Mutex};

use uaforge_codec::{Array, NodeId, NodeIdRef, StatusCode, Variant};
use uaforge_server::{
    Access, BrowseCx, BrowseItem, Claim, Description, FollowCx, FollowItem, NodeManager, ReadCx, ReadItem,
    RegisterCx, RegisterItem, WriteCx, WriteItem,
};
use uaforge_tests::nodes::{VALUE, scalar, value, variable, write};
use uaforge_types::{CloseSessionRequest, RegisterNodesRequest, UnregisterNodesRequest, status};

use crate::{InProcessPeer, builder, peer};

/// Names are slow to look up here; numbers, which are handed out for them, are quick.
#[derive(Clone, Default)]
struct Names {
    given_back: Arc<Mutex<Vec<NodeId>>>,
}

impl NodeManager for Names {
    fn namespaces(&self) -> Vec<Claim> {
        vec![Claim::whole("urn:test:names")]
    }

    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
        for item in items {
            match item.node.as_numeric() {
                Some(number) => cx.value(item, &Variant::UInt32(number), cx.now().utc),
                None => cx.status(item, status::BAD_NODE_ID_UNKNOWN),
            }
        }
    }

    fn write(&self, cx: &mut WriteCx<'_, '_>, items: &[WriteItem<'_>]) {
        for item in items {
            cx.defer(item, async { status::GOOD_COMPLETES_ASYNCHRONOUSLY });
        }
    }

    fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]) {
        items.iter().for_each(|item| cx.status(item, status::BAD_NODE_ID_UNKNOWN));
    }

    fn follow(&self, _: &mut FollowCx<'_>, _: &[FollowItem<'_>]) {}

    fn describe(&self, _: NodeIdRef<'_>, _: &mut dyn FnMut(&Description<'_>)) -> bool {
        false
    }

    fn register(&self, cx: &mut RegisterCx<'_>, items: &[RegisterItem<'_>]) {
        for item in items.iter().rev() {
            if let NodeIdRef::String(namespace, name) = item.node {
                cx.alias(item, NodeId::numeric(namespace, u32::try_from(name.len()).unwrap_or(0)));
            }
        }
    }

    fn unregister(&self, _: Access, ids: &[NodeId]) {
        self.given_back.lock().unwrap().extend_from_slice(ids);
    }
}

fn register(peer: &mut InProcessPeer, ids: Vec<NodeId>) -> Result<Vec<NodeId>, StatusCode> {
    let request = RegisterNodesRequest { nodes_to_register: Array::from(ids), ..Default::default() };
    Ok(peer.call(request)?.registered_node_ids.to_vec())
}

fn unregister(peer: &mut InProcessPeer, ids: Vec<NodeId>) {
    let request = UnregisterNodesRequest { nodes_to_unregister: Array::from(ids), ..Default::default() };
    peer.call(request).expect("unregistering cannot fail");
}

#[test]
fn ids_that_managers_hand_out() {
    let names = Names::default();
    let given_back = || names.given_back.lock().unwrap().drain(..).collect::<Vec<_>>();
    let server = builder().manager(names.clone()).build().unwrap();
    let plain = variable(&server, 1, scalar(6), 5i32);
    let (mut one, mut other) = (peer(&server), peer(&server));
    let named = |name: &str| NodeId::string(2, name);
    // Nodes that the address space does not have are no error here; they are when they are used.
    let asked = vec![named("abc"), plain.id().clone(), named("de"), NodeId::numeric(1, 77)];
    let given = register(&mut one, asked).unwrap();
    let number = |number| NodeId::numeric(2, number);
    assert_eq!(given, [number(3), plain.id().clone(), number(2), NodeId::numeric(1, 77)]);
    assert_eq!(value(&mut one, &given[0], VALUE), Variant::UInt32(3));
    assert_eq!(value(&mut one, &given[1], VALUE), Variant::Int32(5));
    assert_eq!(write(&mut one, &given[0], 1i32), status::GOOD_COMPLETES_ASYNCHRONOUSLY);
    // Another session cannot give them back, nor can ids be given back that never were handed out.
    unregister(&mut other, vec![number(3), number(9)]);
    assert_eq!(given_back(), []);
    unregister(&mut one, vec![number(3), plain.id().clone(), number(9)]);
    assert_eq!(given_back(), [number(3)]);
    unregister(&mut one, vec![number(3)]);
    assert_eq!(given_back(), []);
    // The rest ends with its session.
    one.call(CloseSessionRequest::default()).unwrap();
    assert_eq!(given_back(), [number(2)]);
    let silent = register(&mut other, vec![named("abcd")]).unwrap();
    other.pass(std::time::Duration::from_secs(61));
    server.sweep(other.now);
    assert_eq!(given_back(), silent);
}

#[test]
fn one_malformed_id_makes_the_request_void() {
    let server = builder().build().unwrap();
    let good = NodeId::numeric(0, 2253);
    let mut peer = peer(&server);
    let long = "x".repeat(4_097);
    let bad = [NodeId::numeric(9, 1), NodeId::string(1, &*long), NodeId::opaque(1, long.as_bytes())];
    for bad in bad {
        assert_eq!(register(&mut peer, vec![good.clone(), bad]), Err(status::BAD_NODE_ID_INVALID));
    }
    let fits = NodeId::string(1, &long[..4_096]);
    assert_eq!(register(&mut peer, vec![good.clone(), fits.clone()]), Ok(vec![good, fits]));
}
