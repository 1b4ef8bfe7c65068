//! What a NodeSet says of its nodes beside their names, as the compiled tables have it.

use uaforge_codec::{DecodeContext, FromVariant, NodeId, NodeIdRef, TypeRegistry, Variant};
use uaforge_goldens::{node_attributes, two_models_base};
use uaforge_nodes::{
    AddressSpace, AttributeId, AttributeValue, Direction, NodeClass, ReferenceFilter, Snapshot,
};

fn space() -> AddressSpace {
    AddressSpace::builder("urn:test")
        .model(&node_attributes::MODEL)
        .model(&two_models_base::MODEL)
        .model(uaforge::ns0())
        .build()
        .expect("the models fit together")
}

/// A node of the model.
fn id(snapshot: &Snapshot, number: u32) -> NodeId {
    let index = snapshot.namespaces().index_of("http://example.org/golden/node-attributes/");
    NodeId::numeric(index.expect("mounted"), number)
}

/// The attribute of a node as a client gets it.
fn attribute(snapshot: &Snapshot, number: u32, attribute: AttributeId) -> Variant {
    let mut types = TypeRegistry::default();
    two_models_base::register_types(&mut types);
    let cx = DecodeContext { namespaces: snapshot.namespaces(), types: &types, ..DecodeContext::default() };
    let id = id(snapshot, number);
    let node = snapshot.node(id.as_ref()).expect("the node");
    node.attribute(attribute).expect("the attribute").to_variant(cx).expect("it decodes")
}

#[test]
fn notifiers_restrictions_and_masks_are_kept() {
    let space = space();
    let snapshot = space.snapshot();
    let of = |number, name| attribute(&snapshot, number, name);
    assert_eq!(of(5001, AttributeId::EventNotifier), Variant::Byte(5));
    assert_eq!(of(5001, AttributeId::AccessRestrictions), Variant::UInt16(3));
    assert_eq!(of(5002, AttributeId::EventNotifier), Variant::Byte(1));
    assert_eq!(of(6001, AttributeId::AccessLevel), Variant::Byte(5));
    assert_eq!(of(6001, AttributeId::MinimumSamplingInterval), Variant::Double(250.0));
    assert_eq!(of(6001, AttributeId::Historizing), Variant::Boolean(true));
    assert_eq!(of(6001, AttributeId::WriteMask), Variant::UInt32(64));
    assert_eq!(of(7001, AttributeId::Executable), Variant::Boolean(false));
    assert_eq!(of(8001, AttributeId::ContainsNoLoops), Variant::Boolean(true));
    assert_eq!(of(8001, AttributeId::EventNotifier), Variant::Byte(1));
    let node = id(&snapshot, 8001);
    assert_eq!(snapshot.node(node.as_ref()).map(|node| node.class()), Some(NodeClass::View));
}

#[test]
fn roles_are_kept_with_their_permissions() {
    let space = space();
    let snapshot = space.snapshot();
    let area = id(&snapshot, 5001);
    let node = snapshot.node(area.as_ref()).expect("the node");
    let Ok(AttributeValue::Roles(roles)) = node.attribute(AttributeId::RolePermissions) else {
        panic!("no RolePermissions");
    };
    let roles: Vec<(NodeIdRef<'_>, u32)> = roles.iter().map(|role| (role.role, role.permissions)).collect();
    assert_eq!(roles, [(NodeIdRef::Numeric(0, 15_644), 1), (NodeIdRef::Numeric(0, 15_704), 4351)]);
}

/// OPC 10000-6 Annex F: the body is in the XML namespace of the other model's types, its ids in the file's table.
#[test]
fn a_value_may_be_of_a_structure_of_another_model() {
    let space = space();
    let value = attribute(&space.snapshot(), 6001, AttributeId::Value);
    let part = two_models_base::Base::from_variant(&value).expect("the other model's structure");
    assert_eq!((part.id, part.note.as_ref().and_then(|note| note.as_str())), (17, Some("of another model")));
}

/// A reference that its target alone declares, and twice, is one, seen from both ends.
#[test]
fn an_inverse_reference_stands_once_at_both_ends() {
    let space = space();
    let snapshot = space.snapshot();
    let (area, machine) = (id(&snapshot, 5001), id(&snapshot, 5002));
    let notifier = NodeIdRef::Numeric(0, 48);
    let count = |from: &NodeId, direction, to: &NodeId| {
        let node = snapshot.node(from.as_ref()).expect("the node");
        let references = node.references(direction, ReferenceFilter::ALL);
        references.filter(|r| r.type_id() == notifier && r.target_id() == to.as_ref()).count()
    };
    assert_eq!(count(&area, Direction::Forward, &machine), 1);
    assert_eq!(count(&machine, Direction::Inverse, &area), 1);
}

/// The programming name is the symbolic one; the identity stays the browse name.
#[test]
fn a_symbolic_name_names_the_constant() {
    let space = space();
    let snapshot = space.snapshot();
    let area = node_attributes::ids::object::AREA1.resolve(snapshot.namespaces()).expect("mounted");
    assert_eq!(area, id(&snapshot, 5001));
    assert_eq!(snapshot.node(area.as_ref()).map(|node| node.browse_name().name), Some("Area <1>"));
}
