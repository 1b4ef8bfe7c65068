//! One node for each thing that a table row can hold: ids of every kind, texts, rare attributes,
//! relocated values, grafts onto named nodes (`fixtures/rows/Rows.NodeSet2.xml`).

use uaforge_codec::{DecodeContext, Guid, IntoVariant, NodeId, NodeIdRef, QualifiedName, Variant};
use uaforge_nodes::{
    AddressSpace, AttributeId, AttributeValue, Direction, Node, NodeClass, ReferenceFilter, Snapshot,
};
use uaforge_tests::fixtures::{rows, tiny};

/// The order gives every model another wire index than slot.
fn space() -> AddressSpace {
    AddressSpace::builder("urn:test")
        .namespace("urn:one-more")
        .model(uaforge_di::model())
        .model(&rows::MODEL)
        .model(uaforge_ns0::model())
        .model(&tiny::MODEL)
        .build()
        .expect("they fit together")
}

const DI: u16 = 3;
const ROWS: u16 = 4;
const TINY: u16 = 5;

const TOP: &str = "Top \"quoted\" \\ back";

fn node(snapshot: &Snapshot, id: NodeId) -> Node<'_> {
    let found = snapshot.node(id.as_ref());
    let found = found.unwrap_or_else(|| panic!("{id} exists"));
    assert_eq!(found.id(), id.as_ref());
    found
}

fn value(snapshot: &Snapshot, node: Node<'_>, attribute: AttributeId) -> Variant {
    let cx = DecodeContext { namespaces: snapshot.namespaces(), ..DecodeContext::default() };
    let value = node.attribute(attribute).unwrap_or_else(|status| panic!("{attribute:?}: {status:?}"));
    value.to_variant(cx).expect("a Variant")
}

#[test]
fn ids_of_every_kind_are_found() {
    let space = space();
    let snapshot = space.snapshot();
    let guid: Guid = "72962b91-fa75-4ae6-8d28-b404dc7daf63".parse().expect("a Guid");
    assert_eq!(node(&snapshot, NodeId::string(ROWS, TOP)).class(), NodeClass::Object);
    assert_eq!(node(&snapshot, NodeId::guid(ROWS, guid)).browse_name().name, "Pointer");
    assert_eq!(node(&snapshot, NodeId::opaque(ROWS, [1, 2, 3, 4])).class(), NodeClass::Method);
    assert_eq!(node(&snapshot, NodeId::numeric(ROWS, 70000)).display_name().text, "Role");
    for absent in [
        NodeId::string(ROWS, "Top"),
        NodeId::string(DI, TOP),
        NodeId::string(ROWS, "TinyKind.EnumStrings"),
        NodeId::guid(ROWS, Guid::NULL),
        NodeId::opaque(ROWS, [1, 2, 3]),
        NodeId::numeric(ROWS, 6003),
        NodeId::numeric(99, 1),
    ] {
        assert!(snapshot.node(absent.as_ref()).is_none(), "{absent}");
    }
}

#[test]
fn texts_keep_locale_and_spelling() {
    let space = space();
    let snapshot = space.snapshot();
    let top = node(&snapshot, NodeId::string(ROWS, TOP));
    assert_eq!((top.display_name().locale, top.display_name().text), ("en", "Top"));
    let Ok(AttributeValue::LocalizedText(description)) = top.attribute(AttributeId::Description) else {
        panic!("it has a description");
    };
    assert_eq!(description.text, "The first\n of all \"things\" \\ here.");
    let blank = node(&snapshot, NodeId::numeric(ROWS, 6002));
    assert_eq!((blank.browse_name().name, blank.display_name().text), (" leading blank", "Grid"));
    let links = node(&snapshot, NodeId::numeric(ROWS, 4001));
    let Ok(AttributeValue::LocalizedText(inverse)) = links.attribute(AttributeId::InverseName) else {
        panic!("it has an inverse name");
    };
    assert_eq!((inverse.locale, inverse.text), ("en", "LinkedFrom"));
    let names = node(&snapshot, NodeId::numeric(ROWS, 6001));
    assert_eq!(names.browse_name().namespace, DI);
}

#[test]
fn rare_attributes_are_there() {
    let space = space();
    let snapshot = space.snapshot();
    let is = |node: Node<'_>, attribute, wanted: Variant| {
        assert_eq!(value(&snapshot, node, attribute), wanted, "{attribute:?}");
    };
    let top = node(&snapshot, NodeId::string(ROWS, TOP));
    is(top, AttributeId::WriteMask, Variant::UInt32(64));
    is(top, AttributeId::UserWriteMask, Variant::UInt32(64));
    is(top, AttributeId::EventNotifier, Variant::Byte(5));
    let Ok(AttributeValue::Roles(roles)) = top.attribute(AttributeId::RolePermissions) else {
        panic!("it has role permissions");
    };
    let roles: Vec<_> = roles.iter().map(|role| (role.role, role.permissions)).collect();
    assert_eq!(roles, [(NodeIdRef::Numeric(0, 15656), 33), (NodeIdRef::Numeric(ROWS, 70000), 1)]);
    assert!(value(&snapshot, top, AttributeId::RolePermissions).is_array());

    let guid: Guid = "72962b91-fa75-4ae6-8d28-b404dc7daf63".parse().expect("a Guid");
    let pointer = node(&snapshot, NodeId::guid(ROWS, guid));
    is(pointer, AttributeId::AccessLevel, Variant::Byte(3));
    is(pointer, AttributeId::AccessLevelEx, Variant::UInt32(3));
    is(pointer, AttributeId::MinimumSamplingInterval, Variant::Double(250.5));
    is(pointer, AttributeId::Historizing, Variant::Boolean(true));
    is(pointer, AttributeId::AccessRestrictions, Variant::UInt16(3));

    let grid = node(&snapshot, NodeId::numeric(ROWS, 6002));
    is(grid, AttributeId::ValueRank, Variant::Int32(2));
    is(grid, AttributeId::ArrayDimensions, vec![2_u32, 3].into_variant());
    is(grid, AttributeId::Value, Variant::Null);

    let method = node(&snapshot, NodeId::opaque(ROWS, [1, 2, 3, 4]));
    is(method, AttributeId::Executable, Variant::Boolean(false));
    let view = node(&snapshot, NodeId::numeric(ROWS, 8001));
    is(view, AttributeId::ContainsNoLoops, Variant::Boolean(true));
    is(view, AttributeId::EventNotifier, Variant::Byte(1));
    let touches = node(&snapshot, NodeId::numeric(ROWS, 4002));
    is(touches, AttributeId::Symmetric, Variant::Boolean(true));
    touches.attribute(AttributeId::InverseName).expect_err("a symmetric type has none");
    method.attribute(AttributeId::Value).expect_err("a method has no value");
    grid.attribute(AttributeId::RolePermissions).expect_err("none are stated");
}

/// Every namespace index in a value is that of this server.
#[test]
fn values_are_relocated() {
    let space = space();
    let snapshot = space.snapshot();
    let guid: Guid = "72962b91-fa75-4ae6-8d28-b404dc7daf63".parse().expect("a Guid");
    let pointer = node(&snapshot, NodeId::guid(ROWS, guid));
    assert_eq!(value(&snapshot, pointer, AttributeId::Value), Variant::NodeId(NodeId::numeric(DI, 1001)));
    let names = node(&snapshot, NodeId::numeric(ROWS, 6001));
    assert_eq!(
        value(&snapshot, names, AttributeId::Value),
        vec![
            QualifiedName::new(ROWS, "Own"),
            QualifiedName::new(0, "Base"),
            QualifiedName::new(TINY, "Tiny"),
        ]
        .into_variant()
    );
}

#[test]
fn references_cross_models() {
    let space = space();
    let snapshot = space.snapshot();
    let top = node(&snapshot, NodeId::string(ROWS, TOP));
    let strings = node(&snapshot, NodeId::string(TINY, "TinyKind.EnumStrings"));
    let links_to = NodeId::numeric(ROWS, 4001);
    let own = snapshot.reference_filter(links_to.as_ref(), false).expect("a reference type");
    let organizes = NodeIdRef::Numeric(0, 35);
    let with_subtypes = snapshot.reference_filter(organizes, true).expect("a reference type");
    let without = snapshot.reference_filter(organizes, false).expect("a reference type");
    for (filter, count) in [(own, 1), (with_subtypes, 1), (without, 0), (ReferenceFilter::ALL, 7)] {
        assert_eq!(top.references(Direction::Forward, filter).count(), count);
    }
    let mut back = strings.references(Direction::Inverse, with_subtypes);
    let back = back.next().expect("the graft of another model");
    assert_eq!((back.target_id(), back.type_id()), (top.id(), links_to.as_ref()));
    assert!(!back.is_forward());
    assert!(snapshot.reference_filter(top.id(), true).is_none(), "an object is no reference type");
    assert!(snapshot.is_subtype(links_to.as_ref(), NodeIdRef::Numeric(0, 33)));
    let found = node(&snapshot, NodeId::numeric(0, 85)).follow(with_subtypes, false, ROWS, "Top");
    assert_eq!(found.map(|node| node.id()).collect::<Vec<_>>(), [top.id()]);
}

/// An iteration can stop anywhere and go on from its cursor.
#[test]
fn an_iteration_goes_on_from_a_cursor() {
    let space = space();
    let snapshot = space.snapshot();
    for id in [NodeId::numeric(0, 61), NodeId::numeric(0, 85), NodeId::string(ROWS, TOP)] {
        let node = node(&snapshot, id);
        for direction in [Direction::Both, Direction::Forward, Direction::Inverse] {
            let all: Vec<_> = node.references(direction, ReferenceFilter::ALL).collect();
            let mut iter = node.references(direction, ReferenceFilter::ALL);
            for expected in &all {
                iter = node.references_from(direction, ReferenceFilter::ALL, iter.cursor());
                let found = iter.next().expect("as many as at once");
                assert_eq!(found.target_id(), expected.target_id());
                assert_eq!(found.is_forward(), expected.is_forward());
            }
            assert!(iter.next().is_none());
        }
    }
}
