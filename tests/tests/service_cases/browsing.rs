//! Browse, BrowseNext and TranslateBrowsePathsToNodeIds (OPC 10000-4 §5.9.2 to §5.9.4).

use std::collections::BTreeSet;

use uaforge_codec::{Array, ByteString, ExpandedNodeId, NodeId, NodeIdRef, QualifiedName, StatusCode};
use uaforge_nodes::{ClassAttributes, NewNode, VariableAttributes};
use uaforge_server::{
    BrowseCx, BrowseItem, Claim, Description, FollowCx, FollowItem, Limits, NodeManager, ReadCx, ReadItem,
    Server,
};
use uaforge_types::{
    BrowseDescription, BrowseDirection, BrowseNextRequest, BrowsePath, BrowsePathResult, BrowseRequest,
    BrowseResult, RelativePath, RelativePathElement, TranslateBrowsePathsToNodeIdsRequest, status,
};

use crate::{InProcessPeer, builder, peer};

const OBJECTS: NodeId = NodeId::numeric(0, 85);
const ORGANIZES: NodeId = NodeId::numeric(0, 35);
const HAS_COMPONENT: NodeId = NodeId::numeric(0, 47);
const HAS_PROPERTY: NodeId = NodeId::numeric(0, 46);
const HIERARCHICAL: NodeId = NodeId::numeric(0, 33);

fn own(id: u32) -> NodeId {
    NodeId::numeric(1, id)
}

fn add(server: &Server, parent: &NodeId, reference: &NodeId, id: NodeId, name: QualifiedName) {
    let added: Result<(), StatusCode> = server.space().edit(|edit| {
        let attributes = ClassAttributes::Object { event_notifier: 0 };
        edit.add_node(NewNode::new(id.clone(), name, attributes))?;
        edit.add_reference(parent, reference, &id)
    });
    added.expect("the node is added");
}

/// Folder F (1) with 25 references and G (2) with 3.
fn folders(server: &Server) -> (NodeId, NodeId) {
    let name = |id: u32| QualifiedName::new(1, id.to_string());
    for (folder, count) in [(1, 25), (2, 3)] {
        add(server, &OBJECTS, &ORGANIZES, own(folder), name(folder));
        for child in 0..count {
            let child = folder * 100 + child;
            add(server, &own(folder), &ORGANIZES, own(child), name(child));
        }
    }
    (own(1), own(2))
}

fn forward(node: &NodeId) -> BrowseDescription {
    BrowseDescription {
        node_id: node.clone(),
        browse_direction: BrowseDirection::FORWARD,
        reference_type_id: HIERARCHICAL,
        include_subtypes: true,
        result_mask: 63,
        ..Default::default()
    }
}

fn browse_all(peer: &mut InProcessPeer, nodes: Vec<BrowseDescription>, max: u32) -> Vec<BrowseResult> {
    let request = BrowseRequest {
        requested_max_references_per_node: max,
        nodes_to_browse: Array::from(nodes),
        ..Default::default()
    };
    peer.call(request).expect("the Browse is answered").results.to_vec()
}

fn browse(peer: &mut InProcessPeer, node: BrowseDescription, max: u32) -> BrowseResult {
    browse_all(peer, vec![node], max).remove(0)
}

fn next_all(peer: &mut InProcessPeer, points: Vec<ByteString>, release: bool) -> Vec<BrowseResult> {
    let request = BrowseNextRequest {
        release_continuation_points: release,
        continuation_points: Array::from(points),
        ..Default::default()
    };
    peer.call(request).expect("the BrowseNext is answered").results.to_vec()
}

fn next(peer: &mut InProcessPeer, point: &ByteString) -> BrowseResult {
    next_all(peer, vec![point.clone()], false).remove(0)
}

fn targets(results: &[&BrowseResult]) -> Vec<NodeId> {
    let references = results.iter().flat_map(|result| result.references.iter());
    references.map(|reference| reference.node_id.node_id.clone()).collect()
}

/// Browse with continuation points (OPC 10000-4 §5.9.2, §5.9.3, §7.9).
#[test]
fn case_040_browse_continuation_points() {
    let server =
        builder().limits(Limits { max_continuation_points: 2, ..Limits::default() }).build().unwrap();
    let (f, g) = folders(&server);
    let (mut peer, mut other) = (peer(&server), peer(&server));
    let invalid = status::BAD_CONTINUATION_POINT_INVALID;
    // Steps 1 to 4.
    let first = browse(&mut peer, forward(&f), 10);
    let second = next(&mut peer, &first.continuation_point);
    let third = next(&mut peer, &second.continuation_point);
    let counts = [&first, &second, &third].map(|page| page.references.len());
    assert_eq!(counts, [10, 10, 5]);
    assert!(!first.continuation_point.is_null() && !second.continuation_point.is_null());
    assert!(third.continuation_point.is_null());
    assert_eq!(next(&mut peer, &second.continuation_point).status_code, invalid);
    let pages = targets(&[&first, &second, &third]);
    assert_eq!(pages.iter().collect::<BTreeSet<_>>().len(), 25);
    // Step 5 and 6.
    let three = browse_all(&mut peer, vec![forward(&f); 3], 10);
    let statuses: Vec<_> = three.iter().map(|result| result.status_code).collect();
    assert_eq!(statuses, [StatusCode::GOOD, StatusCode::GOOD, status::BAD_NO_CONTINUATION_POINTS]);
    assert!(three[2].continuation_point.is_null());
    let points: Vec<_> = three[..2].iter().map(|result| result.continuation_point.clone()).collect();
    for released in next_all(&mut peer, points.clone(), true) {
        assert_eq!(released.status_code, StatusCode::GOOD);
        assert!(released.references.is_empty() && released.continuation_point.is_null());
    }
    for gone in next_all(&mut peer, points, false) {
        assert_eq!(gone.status_code, invalid);
    }
    let again = browse_all(&mut peer, vec![forward(&f); 2], 10);
    assert!(again.iter().all(|result| result.status_code.is_good()));
    // Step 7: needs no point, and gets along without a free one.
    let small = browse(&mut peer, forward(&g), 3);
    assert_eq!((small.references.len(), small.continuation_point.is_null()), (3, true));
    // Step 8: 0 is no limit of the client's.
    let points = again.iter().map(|result| result.continuation_point.clone()).collect();
    next_all(&mut peer, points, true);
    let whole = browse(&mut peer, forward(&f), 0);
    assert_eq!(targets(&[&whole]), pages);
    // Step 9.
    for nonsense in [vec![7; 16], vec![], vec![9; 1 << 20]] {
        assert_eq!(next(&mut peer, &ByteString::from(nonsense)).status_code, invalid);
    }
    assert_eq!(next(&mut peer, &ByteString::NULL).status_code, invalid);
    // Step 10.
    let foreign = browse(&mut other, forward(&f), 10).continuation_point;
    assert_eq!(next(&mut peer, &foreign).status_code, invalid);
    assert_eq!(next(&mut other, &foreign).references.len(), 10);
    // Steps 11 to 14.
    let with = |change: fn(&mut BrowseDescription)| {
        let mut description = forward(&own(1));
        change(&mut description);
        description
    };
    let unknown_type = with(|description| description.reference_type_id = own(99));
    let no_direction = with(|description| description.browse_direction = BrowseDirection(3));
    let unknown_node = with(|description| description.node_id = own(99));
    let wrong = [
        (unknown_type, status::BAD_REFERENCE_TYPE_ID_INVALID),
        (no_direction, status::BAD_BROWSE_DIRECTION_INVALID),
        (unknown_node, status::BAD_NODE_ID_UNKNOWN),
    ];
    for (description, expected) in wrong {
        assert_eq!(browse(&mut peer, description, 0).status_code, expected);
    }
    assert_eq!(peer.call(BrowseRequest::default()), Err(status::BAD_NOTHING_TO_DO));
    // Step 15: the pages are those of the moment of the Browse.
    let first = browse(&mut peer, forward(&f), 10);
    let gone = server.space().edit(|edit| edit.remove_reference(&own(1), &ORGANIZES, &own(112)));
    gone.expect("the reference was there");
    let second = next(&mut peer, &first.continuation_point);
    let third = next(&mut peer, &second.continuation_point);
    assert_eq!(targets(&[&first, &second, &third]), pages);
    assert_eq!(browse(&mut peer, forward(&f), 0).references.len(), 24);
}

fn element(reference: NodeId, include_subtypes: bool, name: QualifiedName) -> RelativePathElement {
    RelativePathElement {
        reference_type_id: reference,
        is_inverse: false,
        include_subtypes,
        target_name: name,
    }
}

fn down(names: &[(u16, &str)]) -> Vec<RelativePathElement> {
    let name = |(namespace, name): &(u16, &str)| QualifiedName::new(*namespace, *name);
    names.iter().map(|step| element(HIERARCHICAL, true, name(step))).collect()
}

fn follow(peer: &mut InProcessPeer, start: &NodeId, elements: Vec<RelativePathElement>) -> BrowsePathResult {
    let path = BrowsePath {
        starting_node: start.clone(),
        relative_path: RelativePath { elements: Array::from(elements) },
    };
    let request =
        TranslateBrowsePathsToNodeIdsRequest { browse_paths: Array::from(vec![path]), ..Default::default() };
    peer.call(request).expect("the paths are followed").results[0].clone()
}

/// Objects/P (10) has component T (11), property EURange (12), two children Dup (13, 14); it organizes Q (20) of
/// another namespace.
fn plant(server: &Server) {
    let p = own(10);
    let in_own = |name: &str| QualifiedName::new(1, name);
    add(server, &OBJECTS, &ORGANIZES, p.clone(), in_own("P"));
    add(server, &p, &HAS_COMPONENT, own(11), in_own("T"));
    let property: Result<(), StatusCode> = server.space().edit(|edit| {
        let variable = ClassAttributes::Variable(VariableAttributes::default());
        edit.add_node(NewNode::new(own(12), QualifiedName::new(0, "EURange"), variable))?;
        edit.add_reference(&p, &HAS_PROPERTY, &own(12))
    });
    property.expect("the Property is added");
    add(server, &p, &HAS_COMPONENT, own(13), in_own("Dup"));
    add(server, &p, &ORGANIZES, own(14), in_own("Dup"));
    add(server, &p, &ORGANIZES, NodeId::numeric(2, 20), QualifiedName::new(2, "Q"));
}

/// TranslateBrowsePathsToNodeIds (OPC 10000-4 §5.9.4, §7.32).
#[test]
fn case_045_translate_browse_paths() {
    let server = builder().namespace("urn:test:other").build().unwrap();
    plant(&server);
    let mut peer = peer(&server);
    let one = |result: BrowsePathResult| -> ExpandedNodeId {
        assert_eq!(result.status_code, StatusCode::GOOD);
        assert_eq!(result.targets.len(), 1);
        assert_eq!(result.targets[0].remaining_path_index, u32::MAX);
        result.targets[0].target_id.clone()
    };
    let refused = |result: BrowsePathResult| {
        assert!(result.targets.is_empty());
        result.status_code
    };
    // Step 1, to T, to the property and into the other namespace.
    for (path, target) in [
        (down(&[(1, "P"), (1, "T")]), own(11)),
        (down(&[(1, "P"), (0, "EURange")]), own(12)),
        (down(&[(1, "P"), (2, "Q")]), NodeId::numeric(2, 20)),
    ] {
        assert_eq!(one(follow(&mut peer, &OBJECTS, path)), target.into());
    }
    // Step 2: the references are of subtypes of HierarchicalReferences.
    let exact = down(&[(1, "P"), (1, "T")]);
    let exact = exact.into_iter().map(|step| RelativePathElement { include_subtypes: false, ..step });
    let result = follow(&mut peer, &OBJECTS, exact.collect());
    assert_eq!(refused(result), status::BAD_NO_MATCH);
    // Step 3: both children.
    let result = follow(&mut peer, &OBJECTS, down(&[(1, "P"), (1, "Dup")]));
    assert_eq!(result.status_code, StatusCode::GOOD);
    let found: BTreeSet<_> = result.targets.iter().map(|target| target.target_id.node_id.clone()).collect();
    assert_eq!(found, BTreeSet::from([own(13), own(14)]));
    // Steps 4 to 9.
    let middle_null = vec![
        element(HIERARCHICAL, true, QualifiedName::NULL),
        element(HIERARCHICAL, true, QualifiedName::new(1, "T")),
    ];
    let last_null = vec![
        element(HIERARCHICAL, true, QualifiedName::new(1, "P")),
        element(HIERARCHICAL, true, QualifiedName::NULL),
    ];
    let refusals = [
        (OBJECTS, down(&[(1, "P"), (1, "NoSuch")]), status::BAD_NO_MATCH),
        (OBJECTS, last_null, status::BAD_BROWSE_NAME_INVALID),
        (OBJECTS, middle_null, status::BAD_BROWSE_NAME_INVALID),
        (own(99), down(&[(1, "P")]), status::BAD_NODE_ID_UNKNOWN),
        (OBJECTS, vec![], status::BAD_NOTHING_TO_DO),
        (OBJECTS, down(&[(2, "P")]), status::BAD_NO_MATCH),
        (OBJECTS, down(&[(1, "P"), (0, "T")]), status::BAD_NO_MATCH),
    ];
    for (start, path, expected) in refusals {
        assert_eq!(refused(follow(&mut peer, &start, path)), expected);
    }
    // Step 10.
    let up = vec![RelativePathElement { is_inverse: true, ..down(&[(1, "P")]).remove(0) }];
    assert_eq!(one(follow(&mut peer, &own(11), up)), own(10).into());
    // Step 11.
    let long = follow(&mut peer, &OBJECTS, down(&vec![(1, "P"); 10_000]));
    assert_eq!(refused(long), status::BAD_TOO_MANY_OPERATIONS);
    // Step 12: every reference type is followed, whatever is said of subtypes.
    for include_subtypes in [true, false] {
        let step = |name| element(NodeId::NULL, include_subtypes, QualifiedName::new(1, name));
        assert_eq!(one(follow(&mut peer, &OBJECTS, vec![step("P"), step("T")])), own(11).into());
    }
}

/// Its nodes lead to another server.
struct Gateway;

impl NodeManager for Gateway {
    fn namespaces(&self) -> Vec<Claim> {
        vec![Claim::whole("urn:test:gateway")]
    }

    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
        items.iter().for_each(|item| cx.status(item, status::BAD_NOT_READABLE));
    }

    fn browse(&self, cx: &mut BrowseCx<'_, '_>, items: &[BrowseItem<'_>]) {
        items.iter().for_each(|item| cx.begin(item).finish());
    }

    fn follow(&self, cx: &mut FollowCx<'_>, items: &[FollowItem<'_>]) {
        for _ in items {
            cx.target(remote());
        }
    }

    fn describe(&self, _: NodeIdRef<'_>, _: &mut dyn FnMut(&Description<'_>)) -> bool {
        true
    }
}

fn remote() -> ExpandedNodeId {
    ExpandedNodeId { server_index: 1, ..ExpandedNodeId::from(NodeId::numeric(0, 85)) }
}

/// A path to a node of another server reports the rest of the path (OPC 10000-4 §5.9.4.2).
#[test]
fn case_045_other_server() {
    let server = builder().manager(Gateway).build().unwrap();
    let mut peer = peer(&server);
    let start = NodeId::numeric(2, 1);
    for (names, expected, remaining) in [
        (vec![(2, "a")], StatusCode::GOOD, u32::MAX),
        (vec![(2, "a"), (2, "b"), (2, "c")], status::UNCERTAIN_REFERENCE_OUT_OF_SERVER, 1),
    ] {
        let result = follow(&mut peer, &start, down(&names));
        assert_eq!(result.status_code, expected);
        assert_eq!(result.targets.len(), 1);
        assert_eq!(result.targets[0].target_id, remote());
        assert_eq!(result.targets[0].remaining_path_index, remaining);
    }
}
