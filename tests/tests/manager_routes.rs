//! Several node managers in one namespace, several namespaces of one manager, and references across them.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use uaforge_codec::{Array, NodeId, NodeIdRef, QualifiedName, SeededEntropy, StatusCode, Variant};
use uaforge_net::Machine as _;
use uaforge_nodes::{BrowseName, ClassAttributes, NewNode, NodeClass, Text};
use uaforge_server::{
    BrowseCx, BrowseItem, BuildError, Claim, Connection, Description, FollowCx, FollowItem, NodeManager,
    ReadCx, ReadItem, Server,
};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{
    BrowseDescription, BrowseDirection, BrowseNextRequest, BrowsePath, BrowsePathResult, BrowseRequest,
    BrowseResult, ReadRequest, ReadResponse, ReadValueId, RelativePath, RelativePathElement,
    TranslateBrowsePathsToNodeIdsRequest, TranslateBrowsePathsToNodeIdsResponse, status,
};

const ORGANIZES: NodeIdRef<'static> = NodeIdRef::Numeric(0, 35);
const APPLICATION: u16 = 1;

/// Nodes that refer to each other by Organizes. The BrowseName of a node is its identifier.
struct Tree {
    claims: Vec<Claim>,
    prefix: &'static str,
    children: Vec<(NodeId, Vec<NodeId>)>,
    /// Browse paths are answered when this says so.
    gate: Option<Gate>,
    batches: Arc<Mutex<Vec<usize>>>,
}

#[derive(Clone, Default)]
struct Gate(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Gate {
    fn open(&self) {
        let mut gate = self.0.lock().unwrap();
        gate.0 = true;
        gate.1.drain(..).for_each(Waker::wake);
    }

    fn opened(&self) -> impl Future<Output = ()> + Send + 'static {
        let gate = Arc::clone(&self.0);
        std::future::poll_fn(move |cx| {
            let mut gate = gate.lock().unwrap();
            if gate.0 {
                return Poll::Ready(());
            }
            gate.1.push(cx.waker().clone());
            Poll::Pending
        })
    }
}

fn name(node: NodeIdRef<'_>) -> String {
    match node {
        NodeIdRef::String(_, text) => String::from_utf8_lossy(text).into_owned(),
        other => other.to_owned().to_string(),
    }
}

impl Tree {
    fn find(&self, node: NodeIdRef<'_>) -> Option<&Vec<NodeId>> {
        self.children.iter().find(|(id, _)| id.as_ref() == node).map(|(_, children)| children)
    }
}

impl NodeManager for Tree {
    fn namespaces(&self) -> Vec<Claim> {
        self.claims.clone()
    }

    fn owns(&self, node: NodeIdRef<'_>) -> bool {
        matches!(node, NodeIdRef::String(_, text) if text.starts_with(self.prefix.as_bytes()))
    }

    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
        self.batches.lock().unwrap().push(items.len());
        for item in items {
            assert!(!name(item.node).contains("panic"), "the handler fails");
            match self.find(item.node) {
                Some(_) => cx.value(item, &Variant::String(name(item.node).into()), cx.now().utc),
                None => cx.status(item, status::BAD_NODE_ID_UNKNOWN),
            }
        }
    }

    fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]) {
        for item in items {
            let Some(children) = self.find(item.node) else {
                cx.status(item, status::BAD_NODE_ID_UNKNOWN);
                continue;
            };
            let mut browser = cx.begin(item);
            let start = usize::try_from(browser.start()).unwrap();
            let mut full = None;
            for (place, child) in children.iter().enumerate().skip(start) {
                if browser.wants(ORGANIZES, true)
                    && browser.push_node(ORGANIZES, true, child.as_ref()).is_break()
                {
                    full = Some(place as u64);
                    break;
                }
            }
            match full {
                Some(place) => browser.finish_from(place),
                None => browser.finish(),
            }
        }
    }

    fn follow(&self, cx: &mut FollowCx<'_>, items: &[FollowItem<'_>]) {
        for item in items {
            let children = self.find(item.node).cloned().unwrap_or_default();
            if !cx.wants(item, ORGANIZES, true) {
                continue;
            }
            let Some(gate) = &self.gate else {
                children.iter().for_each(|child| cx.target_if_named(item, child.as_ref()));
                continue;
            };
            let wanted = item.name.to_owned();
            let opened = gate.opened();
            cx.defer(item, async move {
                opened.await;
                if wanted.name.text() == "timeout" {
                    return Err(status::BAD_TIMEOUT);
                }
                assert!(wanted.name.text() != "panic", "a late step fails");
                let fits = |child: &NodeId| name(child.as_ref()) == wanted.name.text();
                Ok(children.into_iter().filter(fits).map(NodeId::into).collect())
            });
        }
    }

    fn describe(&self, node: NodeIdRef<'_>, found: &mut dyn FnMut(&Description<'_>)) -> bool {
        let name = name(node);
        assert!(!name.contains("panic"), "nobody can describe this");
        let known = self.find(node).is_some();
        if known {
            found(&Description {
                class: NodeClass::Object,
                browse_name: BrowseName { namespace: node.namespace(), name: &name },
                display_name: Text { locale: "", text: &name },
                type_definition: Some(NodeIdRef::Numeric(0, 61)),
            });
        }
        known
    }
}

fn text(namespace: u16, id: &str) -> NodeId {
    NodeId::string(namespace, id)
}

/// Manager `a` has part of the application's namespace and two namespaces of its own (2 and 3), manager
/// `b` another part of the application's namespace.
fn managers(gate: Option<Gate>) -> (Tree, Tree) {
    let a = Tree {
        claims: vec![Claim::part("urn:uaforge:server"), "urn:test:a1".into(), "urn:test:a2".into()],
        prefix: "a.",
        children: vec![
            (text(APPLICATION, "a.root"), vec![text(2, "one"), text(3, "two"), text(APPLICATION, "b.leaf")]),
            (text(2, "one"), vec![text(APPLICATION, "folder")]),
            (text(3, "two"), vec![]),
        ],
        gate: None,
        batches: Arc::default(),
    };
    let b = Tree {
        claims: vec![Claim::part("urn:uaforge:server")],
        prefix: "b.",
        children: vec![
            (text(APPLICATION, "b.leaf"), vec![text(APPLICATION, "b.deep"), text(3, "two")]),
            (text(APPLICATION, "b.deep"), vec![text(APPLICATION, "b.leaf")]),
        ],
        gate,
        batches: Arc::default(),
    };
    (a, b)
}

struct Setting {
    server: Server,
    peer: Peer<InProcess<Connection>>,
    batches: [Arc<Mutex<Vec<usize>>>; 2],
}

fn set_up(gate: Option<Gate>) -> Setting {
    let (a, b) = managers(gate);
    let batches = [Arc::clone(&a.batches), Arc::clone(&b.batches)];
    let server = builder().manager(a).manager(b).build().expect("the server is built");
    let folder = NewNode::new(
        text(APPLICATION, "folder"),
        QualifiedName::new(APPLICATION, "folder"),
        ClassAttributes::Object { event_notifier: 0 },
    );
    let added = server.space().edit(|edit| {
        edit.add_node(folder)?;
        edit.add_reference(
            &NodeId::numeric(0, 85),
            &ORGANIZES.to_owned(),
            &NodeId::string(APPLICATION, "folder"),
        )
    });
    added.expect("the folder is added");
    let (folder, root) = (text(APPLICATION, "folder"), text(APPLICATION, "a.root"));
    server.add_reference(&folder, &ORGANIZES.to_owned(), &root).expect("the folder organizes the root");
    let now = start_time();
    let peer = Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now);
    Setting { server, peer, batches }
}

fn builder() -> uaforge_server::ServerBuilder {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(1))
}

fn read(peer: &mut Peer<InProcess<Connection>>, nodes: &[NodeId], attribute: u32) -> ReadResponse {
    let item =
        |id: &NodeId| ReadValueId { node_id: id.clone(), attribute_id: attribute, ..Default::default() };
    let nodes_to_read = Array::from(nodes.iter().map(item).collect::<Vec<_>>());
    peer.call(ReadRequest { nodes_to_read, ..Default::default() }).expect("a response")
}

fn browse(
    peer: &mut Peer<InProcess<Connection>>,
    node: NodeId,
    direction: BrowseDirection,
    page: u32,
) -> BrowseResult {
    let description = BrowseDescription {
        node_id: node,
        browse_direction: direction,
        include_subtypes: true,
        result_mask: 63,
        ..Default::default()
    };
    let request = BrowseRequest {
        requested_max_references_per_node: page,
        nodes_to_browse: Array::from(vec![description]),
        ..Default::default()
    };
    peer.call(request).expect("a response").results[0].clone()
}

fn shown(result: &BrowseResult) -> Vec<(bool, String)> {
    assert_eq!(result.status_code, StatusCode::GOOD);
    let shown = result.references.iter();
    shown.map(|found| (found.is_forward, found.browse_name.name.text().to_owned())).collect()
}

fn paths(start: &NodeId, paths: &[&[(u16, &str)]]) -> TranslateBrowsePathsToNodeIdsRequest {
    let element = |&(namespace, name): &(u16, &str)| RelativePathElement {
        reference_type_id: ORGANIZES.to_owned(),
        target_name: QualifiedName::new(namespace, name),
        ..Default::default()
    };
    let path = |names: &&[(u16, &str)]| BrowsePath {
        starting_node: start.clone(),
        relative_path: RelativePath { elements: Array::from(names.iter().map(element).collect::<Vec<_>>()) },
    };
    TranslateBrowsePathsToNodeIdsRequest {
        browse_paths: Array::from(paths.iter().map(path).collect::<Vec<_>>()),
        ..Default::default()
    }
}

fn target(result: &BrowsePathResult) -> Result<NodeId, StatusCode> {
    match result.status_code {
        StatusCode::GOOD => Ok(result.targets[0].target_id.node_id.clone()),
        status => Err(status),
    }
}

#[test]
fn each_node_of_a_request_finds_its_manager() {
    let mut setting = set_up(None);
    let nodes = [
        text(APPLICATION, "b.leaf"),
        text(3, "two"),
        NodeId::numeric(0, 2259),
        text(APPLICATION, "a.root"),
        text(APPLICATION, "b.deep"),
        text(APPLICATION, "folder"),
        text(2, "one"),
        text(APPLICATION, "c.none"),
    ];
    let results = read(&mut setting.peer, &nodes, 13).results;
    let value = |text: &str| Some(Variant::String(text.into()));
    let values: Vec<_> = results.iter().map(|result| result.value().cloned()).collect();
    let expected = [
        value("b.leaf"),
        value("two"),
        Some(Variant::Int32(0)),
        value("a.root"),
        value("b.deep"),
        None,
        value("one"),
        None,
    ];
    assert_eq!(values, expected);
    assert_eq!(results[5].status_or_good(), status::BAD_ATTRIBUTE_ID_INVALID);
    assert_eq!(results[7].status_or_good(), status::BAD_NODE_ID_UNKNOWN);
    let [a, b] = setting.batches;
    assert_eq!((a.lock().unwrap().clone(), b.lock().unwrap().clone()), (vec![3], vec![2]));
}

#[test]
fn references_lead_from_the_address_space_to_managers_and_back() {
    let Setting { mut peer, .. } = set_up(None);
    let forward = browse(&mut peer, text(APPLICATION, "folder"), BrowseDirection::FORWARD, 0);
    assert_eq!(shown(&forward), [(true, "a.root".into())]);
    assert_eq!(forward.references[0].type_definition.node_id, NodeId::numeric(0, 61));
    let root = browse(&mut peer, text(APPLICATION, "a.root"), BrowseDirection::BOTH, 0);
    let expected = [(true, "one"), (true, "two"), (true, "b.leaf"), (false, "folder")];
    assert_eq!(shown(&root), expected.map(|(forward, name)| (forward, name.to_owned())));
    let one = browse(&mut peer, text(2, "one"), BrowseDirection::FORWARD, 0);
    assert_eq!(shown(&one), [(true, "folder".into())]);
}

#[test]
fn pages_run_from_the_managers_references_into_those_of_the_address_space() {
    for page in 1..5 {
        let Setting { server, mut peer, .. } = set_up(None);
        let (objects, root) = (NodeId::numeric(0, 85), text(APPLICATION, "a.root"));
        server.add_reference(&objects, &ORGANIZES.to_owned(), &root).expect("a second parent");
        let mut result = browse(&mut peer, root, BrowseDirection::BOTH, page);
        let mut all = shown(&result);
        while !result.continuation_point.is_null() {
            assert_eq!(result.references.len(), page as usize);
            let points = Array::from(vec![result.continuation_point.clone()]);
            let next = BrowseNextRequest { continuation_points: points, ..Default::default() };
            result = peer.call(next).expect("a response").results[0].clone();
            all.extend(shown(&result));
        }
        let expected =
            [(true, "one"), (true, "two"), (true, "b.leaf"), (false, "folder"), (false, "Objects")];
        assert_eq!(all, expected.map(|(forward, name)| (forward, name.to_owned())), "pages of {page}");
    }
}

const TO_LEAF: [(u16, &str); 3] = [(1, "folder"), (1, "a.root"), (1, "b.leaf")];

#[test]
fn browse_paths_lead_across_managers() {
    let Setting { mut peer, .. } = set_up(None);
    let objects = NodeId::numeric(0, 85);
    let back = [&TO_LEAF[..2], &[(2, "one"), (1, "folder"), (1, "a.root"), (3, "two")]].concat();
    let request = paths(&objects, &[&TO_LEAF, &back, &[(1, "folder"), (1, "b.leaf")]]);
    let results = peer.call(request).expect("a response").results;
    let found: Vec<_> = results.iter().map(target).collect();
    assert_eq!(found, [Ok(text(1, "b.leaf")), Ok(text(3, "two")), Err(status::BAD_NO_MATCH)]);
    let mut inverse = paths(&text(1, "a.root"), &[&[(1, "folder"), (0, "Objects")]]);
    let mut path = inverse.browse_paths[0].clone();
    let mut elements = path.relative_path.elements.to_vec();
    elements.iter_mut().for_each(|element| element.is_inverse = true);
    path.relative_path.elements = Array::from(elements);
    inverse.browse_paths = Array::from(vec![path]);
    let results = peer.call(inverse).expect("a response").results;
    assert_eq!(target(&results[0]), Ok(objects));
}

#[test]
fn a_manager_may_follow_paths_late() {
    let gate = Gate::default();
    let Setting { mut peer, .. } = set_up(Some(gate.clone()));
    let through = |rest: &[(u16, &'static str)]| [&TO_LEAF[..], rest].concat();
    let deep = through(&[(1, "b.deep"), (1, "b.leaf"), (3, "two")]);
    let none = through(&[(1, "b.none")]);
    let (timeout, panics) = (through(&[(1, "timeout")]), through(&[(1, "panic")]));
    let request = paths(&NodeId::numeric(0, 85), &[&TO_LEAF, &deep, &none, &timeout, &panics]);
    let late = peer.queue(request);
    // Other requests do not wait.
    assert_eq!(read(&mut peer, &[text(1, "b.leaf")], 13).results[0].status_or_good(), StatusCode::GOOD);
    gate.open();
    let body = peer.wait_for(late).expect("a response");
    let response: TranslateBrowsePathsToNodeIdsResponse = peer.decode(&body).expect("a response");
    let found: Vec<_> = response.results.iter().map(target).collect();
    let expected = [
        Ok(text(1, "b.leaf")),
        Ok(text(3, "two")),
        Err(status::BAD_NO_MATCH),
        Err(status::BAD_TIMEOUT),
        Err(status::BAD_INTERNAL_ERROR),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_manager_that_panics_costs_what_it_left_unanswered() {
    let Setting { server, mut peer, .. } = set_up(None);
    let nodes = [text(1, "a.root"), text(1, "a.panic"), text(2, "one"), NodeId::numeric(0, 2259)];
    let results = read(&mut peer, &nodes, 13).results;
    let statuses: Vec<_> = results.iter().map(|result| result.status_or_good()).collect();
    let (good, failed) = (StatusCode::GOOD, status::BAD_INTERNAL_ERROR);
    assert_eq!(statuses, [good, failed, failed, good]);
    // Nobody can describe it, so it counts as missing.
    let (folder, panics) = (text(1, "folder"), text(1, "a.panic"));
    let added = server.add_reference(&folder, &ORGANIZES.to_owned(), &panics);
    assert_eq!(added, Err(status::BAD_TARGET_NODE_ID_INVALID));
    assert!(!peer.wire.0.is_closed());
}

#[test]
fn a_namespace_with_nodes_can_be_claimed_in_part_only() {
    let taken = |claims: Vec<Claim>| {
        let tree = Tree { claims, ..managers(None).0 };
        match builder().namespace("urn:test:dynamic").manager(tree).build() {
            Err(BuildError::NamespaceTaken { uri }) => Some(uri),
            _ => None,
        }
    };
    for uri in ["http://opcfoundation.org/UA/", "urn:uaforge:server", "urn:test:dynamic"] {
        assert_eq!(taken(vec![Claim::whole(uri)]).as_deref(), Some(uri));
        assert_eq!(taken(vec![Claim::part(uri)]), None);
    }
    assert_eq!(taken(vec!["urn:x".into(), "urn:x".into()]).as_deref(), Some("urn:x"));
}
