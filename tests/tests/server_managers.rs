//! Node managers beside the address space: batches, deferred answers, answers out of order.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use uaforge_codec::{
    Array, DataValue, ExpandedNodeIdRef, NodeId, NodeIdRef, QualifiedName, SeededEntropy, StatusCode, Variant,
};
use uaforge_net::Machine as _;
use uaforge_nodes::{BrowseName, NodeClass, Text};
use uaforge_server::{
    BrowseAnswer, BrowseCx, BrowseItem, Claim, Connection, Description, FollowCx, FollowItem, NodeManager,
    ReadCx, ReadItem, Reference, Server,
};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{
    BrowseDescription, BrowseNextRequest, BrowsePath, BrowseRequest, BrowseResponse, ReadRequest,
    ReadResponse, ReadValueId, ReferenceDescription, RelativePath, RelativePathElement, TimestampsToReturn,
    TranslateBrowsePathsToNodeIdsRequest, status,
};

const URI: &str = "urn:test:device";
const ORGANIZES: NodeIdRef<'static> = NodeIdRef::Numeric(0, 35);

/// A device whose values come when the test says so. Node n is child of node 0; node 100 has 30 children
/// that are known late.
#[derive(Clone, Default)]
struct Device {
    gate: Arc<Mutex<Gate>>,
    batches: Arc<Mutex<Vec<usize>>>,
}

#[derive(Default)]
struct Gate {
    open: bool,
    wakers: Vec<Waker>,
}

impl Device {
    fn open(&self) {
        let mut gate = self.gate.lock().unwrap();
        gate.open = true;
        gate.wakers.drain(..).for_each(Waker::wake);
    }

    fn opened(&self) -> impl Future<Output = ()> + Send + 'static {
        let gate = Arc::clone(&self.gate);
        poll_fn(move |cx| {
            let mut gate = gate.lock().unwrap();
            if gate.open {
                return Poll::Ready(());
            }
            gate.wakers.push(cx.waker().clone());
            Poll::Pending
        })
    }
}

fn number(node: NodeIdRef<'_>) -> u32 {
    node.as_numeric().unwrap_or(u32::MAX)
}

impl NodeManager for Device {
    fn namespaces(&self) -> Vec<Claim> {
        vec![URI.into()]
    }

    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
        self.batches.lock().unwrap().push(items.len());
        // Backwards, to show that the order of answers is free.
        for item in items.iter().rev() {
            let n = number(item.node);
            match n {
                0..10 => cx.value(item, &Variant::UInt32(n), cx.now().utc),
                10..20 => {
                    let opened = self.opened();
                    cx.defer(item, async move {
                        opened.await;
                        DataValue::new(Variant::String(format!("late {n}").into()))
                    });
                }
                20 => cx.blocking(item, || DataValue::new(Variant::UInt32(20))),
                21 => cx.blocking(item, || panic!("a handler fails")),
                22 => {}
                _ => cx.status(item, status::BAD_NODE_ID_UNKNOWN),
            }
        }
    }

    fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]) {
        for item in items {
            if number(item.node) == 100 {
                let opened = self.opened();
                cx.defer(item, async move {
                    opened.await;
                    let reference = |n| ReferenceDescription {
                        reference_type_id: ORGANIZES.to_owned(),
                        is_forward: true,
                        node_id: NodeId::numeric(2, n).into(),
                        ..Default::default()
                    };
                    BrowseAnswer { status: StatusCode::GOOD, references: (1..=30).map(reference).collect() }
                });
                continue;
            }
            let mut browser = cx.begin(item);
            for n in 1..=25 {
                let node = NodeIdRef::Numeric(item.node.namespace(), n);
                if !browser.wants(ORGANIZES, true) {
                    break;
                }
                let reference = Reference {
                    reference_type: ORGANIZES,
                    forward: true,
                    target: ExpandedNodeIdRef { node_id: node, ..Default::default() },
                };
                let mut full = false;
                self.describe(node, &mut |found| full = browser.push(&reference, Some(found)).is_break());
                if full {
                    break;
                }
            }
            browser.finish();
        }
    }

    fn follow(&self, cx: &mut FollowCx<'_>, items: &[FollowItem<'_>]) {
        for item in items {
            for n in 1..=25 {
                let name = n.to_string();
                let fits = item.has_name(BrowseName { namespace: item.node.namespace(), name: &name });
                if cx.spend() && cx.wants(item, ORGANIZES, true) && fits {
                    cx.target(NodeId::numeric(item.node.namespace(), n).into());
                }
            }
        }
    }

    fn describe(&self, node: NodeIdRef<'_>, found: &mut dyn FnMut(&Description<'_>)) -> bool {
        let name = number(node).to_string();
        found(&Description {
            class: NodeClass::Variable,
            browse_name: BrowseName { namespace: node.namespace(), name: &name },
            display_name: Text { locale: "", text: &name },
            type_definition: Some(NodeIdRef::Numeric(0, 63)),
        });
        number(node) < 200
    }
}

fn set_up() -> (Device, Server, Peer<InProcess<Connection>>) {
    let device = Device::default();
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .manager(device.clone())
        .entropy(SeededEntropy::new(1))
        .build()
        .expect("the server is built");
    let now = start_time();
    let peer = Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now);
    (device, server, peer)
}

fn read(nodes: &[(u16, u32)]) -> ReadRequest {
    let item = |&(namespace, id)| ReadValueId {
        node_id: NodeId::numeric(namespace, id),
        attribute_id: 13,
        ..Default::default()
    };
    ReadRequest {
        timestamps_to_return: TimestampsToReturn::BOTH,
        nodes_to_read: Array::from(nodes.iter().map(item).collect::<Vec<_>>()),
        ..Default::default()
    }
}

fn values(response: &ReadResponse) -> Vec<Variant> {
    response.results.iter().map(|result| result.value().cloned().unwrap_or_default()).collect()
}

#[test]
fn items_of_a_manager_form_one_batch_and_results_keep_their_order() {
    let (device, _server, mut peer) = set_up();
    let response = peer.call(read(&[(2, 1), (0, 2259), (2, 2), (0, 2267), (2, 3)])).unwrap();
    let expected =
        [Variant::UInt32(1), Variant::Int32(0), Variant::UInt32(2), Variant::Byte(255), Variant::UInt32(3)];
    assert_eq!(values(&response), expected);
    assert_eq!(*device.batches.lock().unwrap(), [3]);
    let response = peer.call(read(&[(2, 22), (2, 1)])).unwrap();
    assert_eq!(response.results[0].status_or_good(), status::BAD_INTERNAL_ERROR);
    assert_eq!(response.results[1].value(), Some(&Variant::UInt32(1)));
}

#[test]
fn a_deferred_answer_holds_up_its_response_only() {
    let (device, _server, mut peer) = set_up();
    let late = peer.queue(read(&[(2, 1), (2, 10), (0, 2259), (2, 11)]));
    let response = peer.call(read(&[(2, 2)])).unwrap();
    assert_eq!(values(&response), [Variant::UInt32(2)]);
    device.open();
    let body = peer.wait_for(late).unwrap();
    let response: ReadResponse = peer.decode(&body).unwrap();
    let text = |text: &str| Variant::String(text.into());
    assert_eq!(values(&response), [Variant::UInt32(1), text("late 10"), Variant::Int32(0), text("late 11")]);
    assert!(response.results[1].server_timestamp().is_some());
}

#[test]
fn late_values_are_cut_by_the_index_range() {
    let (device, _server, mut peer) = set_up();
    device.open();
    let mut request = read(&[(2, 10), (2, 11)]);
    let mut items = request.nodes_to_read.to_vec();
    items[0].index_range = "0:3".into();
    items[1].index_range = "50".into();
    request.nodes_to_read = Array::from(items);
    let response = peer.call(request).unwrap();
    assert_eq!(values(&response)[0], Variant::String("late".into()));
    assert_eq!(response.results[1].status_or_good(), status::BAD_INDEX_RANGE_NO_DATA);
}

#[test]
fn blocking_handlers_run_on_the_pool() {
    let (_device, _server, mut peer) = set_up();
    let response = peer.call(read(&[(2, 20), (2, 21)])).unwrap();
    assert_eq!(response.results[0].value(), Some(&Variant::UInt32(20)));
    assert_eq!(response.results[1].status_or_good(), status::BAD_INTERNAL_ERROR);
}

#[test]
fn waiting_requests_have_a_limit() {
    let (device, _server, mut peer) = set_up();
    let mut last = 0;
    for _ in 0..150 {
        last = peer.queue(read(&[(2, 10)]));
    }
    let bytes = peer.take_queued();
    let now = peer.now;
    let machine = &mut peer.wire.0;
    let taken = machine.receive(&bytes, now);
    assert!(taken < bytes.len() && !machine.wants_read() && !machine.has_more());
    device.open();
    let mut cx = std::task::Context::from_waker(Waker::noop());
    assert!(machine.poll_work(&mut cx, &move || now).is_ready());
    assert!(machine.wants_read());
    assert_eq!(machine.receive(&bytes[taken..], now), bytes.len() - taken);
    assert!(peer.wait_for(last).is_ok());
}

fn browse(node: u32, max: u32) -> BrowseRequest {
    let description = BrowseDescription {
        node_id: NodeId::numeric(2, node),
        include_subtypes: true,
        result_mask: 63,
        ..Default::default()
    };
    BrowseRequest {
        requested_max_references_per_node: max,
        nodes_to_browse: Array::from(vec![description]),
        ..Default::default()
    }
}

fn all_pages(peer: &mut Peer<InProcess<Connection>>, first: &BrowseResponse) -> Vec<u32> {
    let ids = |references: &[ReferenceDescription]| -> Vec<u32> {
        references.iter().filter_map(|reference| reference.node_id.node_id.as_numeric()).collect()
    };
    let mut found = ids(&first.results[0].references);
    let mut point = first.results[0].continuation_point.clone();
    while !point.is_null() {
        let next = BrowseNextRequest { continuation_points: Array::from(vec![point]), ..Default::default() };
        let page = peer.call(next).unwrap().results[0].clone();
        assert!(page.status_code.is_good());
        found.extend(ids(&page.references));
        point = page.continuation_point;
    }
    found
}

#[test]
fn references_of_a_manager_come_in_pages_now_and_late() {
    let (device, _server, mut peer) = set_up();
    let now = peer.call(browse(0, 10)).unwrap();
    assert_eq!(now.results[0].references[0].browse_name, QualifiedName::new(2, "1"));
    assert_eq!(all_pages(&mut peer, &now), (1..=25).collect::<Vec<_>>());
    let late = peer.queue(browse(100, 7));
    device.open();
    let body = peer.wait_for(late).unwrap();
    let late: BrowseResponse = peer.decode(&body).unwrap();
    assert_eq!(late.results[0].references.len(), 7);
    assert_eq!(all_pages(&mut peer, &late), (1..=30).collect::<Vec<_>>());
}

#[test]
fn browse_paths_lead_through_a_manager() {
    let (_device, _server, mut peer) = set_up();
    let element = RelativePathElement { target_name: QualifiedName::new(2, "7"), ..Default::default() };
    let path = BrowsePath {
        starting_node: NodeId::numeric(2, 0),
        relative_path: RelativePath { elements: Array::from(vec![element]) },
    };
    let request =
        TranslateBrowsePathsToNodeIdsRequest { browse_paths: Array::from(vec![path]), ..Default::default() };
    let results = peer.call(request).unwrap().results;
    assert_eq!(results[0].targets[0].target_id.node_id, NodeId::numeric(2, 7));
}
