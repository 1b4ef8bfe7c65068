//! Nodes that come and go: snapshots do not change, edits happen whole or not at all, both ends of a
//! reference agree.

use std::sync::Arc;

use uaforge_codec::{NodeId, QualifiedName, StatusCode, Variant};
use uaforge_nodes::{
    AddressSpace, AttributeId, AttributeValue, ClassAttributes, Direction, Edit, NewNode, NodeClass,
    ReferenceFilter, Snapshot, ValueCell, VariableAttributes,
};

const OBJECTS: NodeId = NodeId::numeric(0, 85);
const ORGANIZES: NodeId = NodeId::numeric(0, 35);
const HAS_COMPONENT: NodeId = NodeId::numeric(0, 47);
const HAS_SUBTYPE: NodeId = NodeId::numeric(0, 45);

fn space() -> AddressSpace {
    AddressSpace::builder("urn:application").model(uaforge_ns0::model()).build().expect("ns0 alone")
}

fn object(id: &NodeId) -> NewNode {
    let name = QualifiedName::new(1, id.to_string());
    NewNode::new(id.clone(), name, ClassAttributes::Object { event_notifier: 0 })
}

fn id(number: u32) -> NodeId {
    NodeId::numeric(1, number)
}

/// Adds an object below another node.
fn add(edit: &mut Edit, parent: &NodeId, child: &NodeId) -> Result<(), StatusCode> {
    edit.add_node(object(child))?;
    edit.add_reference(parent, &HAS_COMPONENT, child)
}

fn targets(snapshot: &Snapshot, node: &NodeId, direction: Direction) -> Vec<NodeId> {
    let node = snapshot.node(node.as_ref()).expect("it exists");
    let references = node.references(direction, ReferenceFilter::ALL);
    references.map(|r| r.target_id().to_owned()).filter(|id| id.namespace() == 1).collect()
}

#[test]
fn a_snapshot_does_not_change() {
    let space = space();
    let mut snapshot = space.snapshot();
    space.edit(|edit| add(edit, &OBJECTS, &id(1))).expect("a new node");
    assert!(snapshot.node(id(1).as_ref()).is_none());
    assert!(snapshot.refresh(&space));
    assert!(!snapshot.refresh(&space), "nothing has changed since");
    let node = snapshot.node(id(1).as_ref()).expect("it is there now");
    assert_eq!((node.class(), node.is_static()), (NodeClass::Object, false));
    assert_eq!(targets(&snapshot, &OBJECTS, Direction::Forward), [id(1)]);
    assert_eq!(targets(&snapshot, &id(1), Direction::Inverse), []);
    space.edit(|edit| edit.remove_node(&id(1))).expect("it exists");
    assert!(snapshot.node(id(1).as_ref()).is_some(), "the older state still has it");
    assert!(space.snapshot().node(id(1).as_ref()).is_none());
    assert_eq!(targets(&space.snapshot(), &OBJECTS, Direction::Forward), []);
}

#[test]
fn an_edit_that_fails_changes_nothing() {
    let space = space();
    let failed = space.edit(|edit| {
        add(edit, &OBJECTS, &id(1))?;
        assert!(edit.snapshot().node(id(1).as_ref()).is_some(), "the edit sees what it does");
        add(edit, &id(9), &id(2))
    });
    assert_eq!(failed, Err(StatusCode(0x8064_0000)), "Bad_SourceNodeIdInvalid");
    assert!(space.snapshot().nodes().all(|node| node.is_static()));
    assert_eq!(targets(&space.snapshot(), &OBJECTS, Direction::Forward), []);
}

#[test]
fn what_does_not_fit_is_refused() {
    let space = space();
    space.edit(|edit| add(edit, &OBJECTS, &id(1))).expect("a new node");
    let refused = |status: u32, change: &dyn Fn(&mut Edit) -> Result<(), StatusCode>| {
        assert_eq!(space.edit(change), Err(StatusCode(status)));
    };
    refused(0x805E_0000, &|edit| edit.add_node(object(&id(1))));
    refused(0x805E_0000, &|edit| edit.add_node(object(&OBJECTS)));
    refused(0x805D_0000, &|edit| edit.add_node(object(&NodeId::NULL)));
    refused(0x805D_0000, &|edit| edit.add_node(object(&NodeId::numeric(7, 1))));
    refused(0x8060_0000, &|edit| {
        edit.add_node(NewNode { browse_name: QualifiedName::NULL, ..object(&id(2)) })
    });
    refused(0x8066_0000, &|edit| edit.add_reference(&OBJECTS, &HAS_COMPONENT, &id(1)));
    refused(0x8066_0000, &|edit| edit.add_reference(&OBJECTS, &ORGANIZES, &NodeId::numeric(0, 2253)));
    refused(0x804C_0000, &|edit| edit.add_reference(&id(1), &OBJECTS, &OBJECTS));
    refused(0x8065_0000, &|edit| edit.add_reference(&id(1), &ORGANIZES, &id(5)));
    refused(0x803D_0000, &|edit| edit.remove_node(&OBJECTS));
    refused(0x8034_0000, &|edit| edit.remove_node(&id(5)));
    refused(0x803E_0000, &|edit| edit.remove_reference(&id(1), &ORGANIZES, &OBJECTS));
    refused(0x803D_0000, &|edit| edit.remove_reference(&OBJECTS, &ORGANIZES, &NodeId::numeric(0, 2253)));
    refused(0x805F_0000, &|edit| edit.attach_cell(&id(1), Arc::default()).map(|_| ()));
}

#[test]
fn long_lists_keep_their_order_and_both_ends() {
    let space = space();
    let all: Vec<NodeId> = (1..=500).map(id).collect();
    for child in &all {
        space.edit(|edit| add(edit, &OBJECTS, child)).expect("a new node");
    }
    assert_eq!(targets(&space.snapshot(), &OBJECTS, Direction::Forward), all);
    let (gone, left): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|id| id.as_numeric().is_some_and(|number| number % 3 == 0));
    space.edit(|edit| gone.iter().try_for_each(|id| edit.remove_node(id))).expect("they exist");
    assert_eq!(targets(&space.snapshot(), &OBJECTS, Direction::Forward), left);
    space.edit(|edit| edit.remove_reference(&OBJECTS, &HAS_COMPONENT, &left[7])).expect("it was added here");
    let snapshot = space.snapshot();
    assert_eq!(targets(&snapshot, &OBJECTS, Direction::Forward).len(), left.len() - 1);
    let orphan = snapshot.node(left[7].as_ref()).expect("the node stays");
    assert_eq!(orphan.references(Direction::Both, ReferenceFilter::ALL).count(), 0);
}

#[test]
fn a_tree_goes_but_not_what_others_hold() {
    let space = space();
    space
        .edit(|edit| {
            add(edit, &OBJECTS, &id(1))?;
            add(edit, &id(1), &id(2))?;
            add(edit, &id(2), &id(3))?;
            add(edit, &OBJECTS, &id(10))?;
            add(edit, &id(2), &id(4))?;
            edit.add_reference(&id(10), &HAS_COMPONENT, &id(4))?;
            edit.add_reference(&id(1), &ORGANIZES, &id(10))
        })
        .expect("all of them are new");
    space.edit(|edit| edit.remove_tree(&id(1))).expect("it exists");
    let snapshot = space.snapshot();
    let left: Vec<NodeId> = (1..=10).map(id).filter(|id| snapshot.node(id.as_ref()).is_some()).collect();
    assert_eq!(left, [id(4), id(10)]);
}

#[test]
fn reference_types_can_be_added() {
    let space = space();
    let feeds = id(1);
    let name = QualifiedName::new(1, "Feeds");
    let attributes = ClassAttributes::ReferenceType {
        is_abstract: false,
        symmetric: false,
        inverse_name: Box::new("FedBy".into()),
    };
    space
        .edit(|edit| {
            edit.add_node(NewNode::new(feeds.clone(), name, attributes))?;
            edit.add_reference(&HAS_COMPONENT, &HAS_SUBTYPE, &feeds)?;
            edit.add_node(object(&id(2)))?;
            edit.add_reference(&OBJECTS, &feeds, &id(2))
        })
        .expect("all of them are new");
    let snapshot = space.snapshot();
    assert!(snapshot.is_subtype(feeds.as_ref(), NodeId::numeric(0, 33).as_ref()));
    let hierarchical = snapshot.reference_filter(NodeId::numeric(0, 33).as_ref(), true).expect("a type");
    let own = snapshot.reference_filter(feeds.as_ref(), false).expect("a type");
    let objects = snapshot.node(OBJECTS.as_ref()).expect("Objects");
    for filter in [hierarchical, own] {
        assert!(objects.references(Direction::Forward, filter).any(|r| r.target_id() == id(2).as_ref()));
    }
    let before = snapshot.reference_filter(HAS_COMPONENT.as_ref(), false).expect("a type");
    assert!(!objects.references(Direction::Forward, before).any(|r| r.target_id() == id(2).as_ref()));
}

#[test]
fn cells_hold_the_values_of_static_and_added_variables() {
    let space = space();
    let start_time = NodeId::numeric(0, 2257);
    let level = id(1);
    let cell = Arc::new(ValueCell::new(1.5));
    space
        .edit(|edit| {
            let attributes = ClassAttributes::Variable(VariableAttributes::default());
            edit.add_node(NewNode::new(level.clone(), QualifiedName::new(1, "Level"), attributes))?;
            edit.attach_cell(&level, Arc::clone(&cell))?;
            edit.attach_cell(&start_time, Arc::clone(&cell))
        })
        .expect("both are variables");
    let snapshot = space.snapshot();
    cell.set(2.5, None);
    for id in [&level, &start_time] {
        let node = snapshot.node(id.as_ref()).expect("it exists");
        match node.attribute(AttributeId::Value) {
            Ok(AttributeValue::Cell(found)) => assert_eq!(found.get::<f64>(), Ok(2.5)),
            other => panic!("{other:?}"),
        }
    }
    space.edit(|edit| Ok::<_, StatusCode>(edit.detach_cell(&start_time))).expect("no error");
    let snapshot = space.snapshot();
    let node = snapshot.node(start_time.as_ref()).expect("it exists");
    assert!(matches!(node.attribute(AttributeId::Value), Ok(AttributeValue::Null)));
}

#[test]
fn attributes_are_written_over_static_and_added_nodes() {
    let space = space();
    let server = NodeId::numeric(0, 2253);
    space.edit(|edit| add(edit, &OBJECTS, &id(1))).expect("a new node");
    let before = space.snapshot();
    for node in [&server, &id(1)] {
        let name = QualifiedName::new(1, "Other");
        let set = |attribute, value: Variant| space.edit(|edit| edit.set_attribute(node, attribute, value));
        set(AttributeId::BrowseName, name.clone().into()).expect("a name");
        set(AttributeId::EventNotifier, 4_u8.into()).expect("a Byte");
        let snapshot = space.snapshot();
        let found = snapshot.node(node.as_ref()).expect("it exists");
        assert_eq!((found.browse_name().namespace, found.browse_name().name), (1, "Other"));
        assert!(matches!(found.attribute(AttributeId::EventNotifier), Ok(AttributeValue::Byte(4))));
        let old = before.node(node.as_ref()).expect("it exists");
        assert_ne!(old.browse_name().name, "Other", "an older snapshot");
        let refused = [
            (AttributeId::EventNotifier, Variant::UInt32(4), 0x8074_0000),
            (AttributeId::Value, Variant::UInt32(4), 0x8035_0000),
            (AttributeId::NodeClass, Variant::Int32(2), 0x8073_0000),
        ];
        for (attribute, value, status) in refused {
            assert_eq!(set(attribute, value), Err(StatusCode(status)), "{attribute:?}");
        }
    }
    let gone = space.edit(|edit| edit.set_attribute(&id(9), AttributeId::EventNotifier, 1_u8.into()));
    assert_eq!(gone, Err(StatusCode(0x8034_0000)));
    // A node that comes again is a new one.
    space.edit(|edit| edit.remove_node(&id(1))).expect("it exists");
    space.edit(|edit| add(edit, &OBJECTS, &id(1))).expect("a new node");
    let snapshot = space.snapshot();
    assert_ne!(snapshot.node(id(1).as_ref()).expect("it exists").browse_name().name, "Other");
}
