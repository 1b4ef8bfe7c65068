//! The compiled tables of the models say what the NodeSets say.

use uaforge_codec::{
    Array, DecodeContext, ExtensionObject, FromVariant, LocalizedText, NodeId, NodeIdRef, TypeRegistry,
    Variant,
};
use uaforge_nodes::{AddressSpace, AttributeId, AttributeValue, BuildError, Direction, ReferenceFilter};
use uaforge_tests::canonical::{self, Canonical};
use uaforge_tests::fixtures::tiny;
use uaforge_types::{Argument, EnumDefinition, EnumValueType, StructureDefinition, StructureType};

fn space() -> AddressSpace {
    AddressSpace::builder("urn:test")
        .model(uaforge_di::model())
        .model(uaforge_ns0::model())
        .build()
        .expect("ns0 and DI fit together")
}

/// The hashes of `interop/expected.json`, which are those of the oracle.
fn expect(name: &str, found: &Canonical) {
    let expected: serde_json::Value =
        serde_json::from_str(include_str!("../interop/expected.json")).expect("JSON");
    let models = expected.as_array().expect("a list");
    let model = models.iter().find(|model| model["name"] == name).expect("the model");
    let groups = [
        ("nodes", Canonical::hash(&found.nodes)),
        ("references", Canonical::hash(&found.references)),
        ("attributes", Canonical::hash(&found.attributes)),
        ("model", Canonical::hash(found.lines())),
    ];
    for (group, hash) in groups {
        assert_eq!(model["hash"][group], *hash, "{group} of {name}");
    }
}

#[test]
fn ns0_is_the_model_without_service_types() {
    let space = space();
    expect("ns0_core", &canonical::of_namespace(&space.snapshot(), 0, &[]));
}

#[test]
fn di_is_whole() {
    let space = space();
    let namespace = space.namespaces().index_of("http://opcfoundation.org/UA/DI/").expect("mounted");
    expect("di", &canonical::of_namespace(&space.snapshot(), namespace, &[0]));
}

/// Every reference is seen from both of its ends.
#[test]
fn references_stand_at_both_ends() {
    let space = space();
    let snapshot = space.snapshot();
    for node in snapshot.nodes() {
        for reference in node.references(Direction::Both, ReferenceFilter::ALL) {
            let target = reference.target().expect("the other end exists");
            let back = if reference.is_forward() { Direction::Inverse } else { Direction::Forward };
            let filter = snapshot.reference_filter(reference.type_id(), false).expect("a type");
            assert!(
                target.references(back, filter).any(|r| r.target_id() == node.id()),
                "{:?} to {:?}",
                node.id(),
                reference.target_id()
            );
        }
    }
}

/// Every value and definition is a Variant that decodes to its end.
#[test]
fn values_decode() {
    let space = space();
    let snapshot = space.snapshot();
    let cx = DecodeContext { namespaces: snapshot.namespaces(), ..DecodeContext::default() };
    let mut values = 0;
    for node in snapshot.nodes() {
        for attribute in AttributeId::ALL {
            let Ok(value) = node.attribute(*attribute) else { continue };
            let decoded = value.to_variant(cx);
            let decoded = decoded.unwrap_or_else(|e| panic!("{:?} {attribute:?}: {e}", node.id()));
            if *attribute == AttributeId::Value && decoded != Variant::Null {
                values += 1;
            }
        }
    }
    assert!(values > 1000, "{values}");
}

#[test]
fn the_example_is_whole() {
    let space = AddressSpace::builder("urn:test")
        .model(&tiny::MODEL)
        .model(uaforge_di::model())
        .model(uaforge_ns0::model())
        .build()
        .expect("they fit together");
    let index = |uri| space.namespaces().index_of(uri).expect("mounted");
    let (tiny, di) = (index("urn:example:tiny"), index("http://opcfoundation.org/UA/DI/"));
    let found = canonical::of_namespace(&space.snapshot(), tiny, &[0, di]);
    let facts: serde_json::Value = serde_json::from_str(include_str!("../oracle/tiny.json")).expect("JSON");
    assert_eq!(facts["hash"]["model"], *Canonical::hash(found.lines()));
}

#[test]
fn subtypes_are_known() {
    let space = space();
    let snapshot = space.snapshot();
    let is = |sub, base| snapshot.is_subtype(NodeIdRef::Numeric(0, sub), NodeIdRef::Numeric(0, base));
    assert!(is(47, 33), "HasComponent is hierarchical");
    assert!(is(46, 44), "HasProperty aggregates");
    assert!(!is(40, 33), "HasTypeDefinition is not hierarchical");
    assert!(is(2004, 58), "ServerType is an object type");
    assert!(is(862, 22), "ServerStatusDataType is a structure");
    assert!(!is(22, 862));
}

#[test]
fn a_missing_model_is_named() {
    let error = AddressSpace::builder("urn:test").model(uaforge_di::model()).build().unwrap_err();
    assert_eq!(
        error,
        BuildError::MissingModel {
            model: "http://opcfoundation.org/UA/DI/".into(),
            required: "http://opcfoundation.org/UA/".into(),
        }
    );
}

/// The committed models hold no prose of others: no Description, no type dictionary (ARCHITECTURE.md).
#[test]
fn committed_models_hold_no_prose() {
    let space = space();
    let snapshot = space.snapshot();
    let mut types = TypeRegistry::default();
    uaforge_types::register_types(&mut types);
    let cx = DecodeContext { namespaces: snapshot.namespaces(), types: &types, ..DecodeContext::default() };
    let (mut arguments, mut dictionaries) = (0, 0);
    for node in snapshot.nodes() {
        match node.attribute(AttributeId::Description) {
            Ok(AttributeValue::LocalizedText(text)) => assert_eq!(text.text, "", "{:?}", node.id()),
            other => panic!("{:?}: {other:?}", node.id()),
        }
        let Ok(value) = node.attribute(AttributeId::Value) else { continue };
        let value = value.to_variant(cx).expect("a Variant");
        if node.type_definition() == Some(NodeIdRef::Numeric(0, 72)) {
            assert_eq!(value, Variant::Null);
            dictionaries += 1;
        }
        for object in Array::<ExtensionObject>::from_variant(&value).unwrap_or_default().iter() {
            if let Some(argument) = object.downcast_ref::<Argument>() {
                assert_eq!(argument.description, LocalizedText::NULL);
                assert!(!argument.name.is_empty(), "{:?}", node.id());
                arguments += 1;
            }
            if let Some(value) = object.downcast_ref::<EnumValueType>() {
                assert_eq!(value.description, LocalizedText::NULL);
            }
        }
    }
    assert!(arguments > 1000 && dictionaries > 2, "{arguments} arguments, {dictionaries} dictionaries");
}

/// DataTypeDefinitions hold all fields, inherited ones first (OPC 10000-3 §8.48).
#[test]
fn definitions_are_whole() {
    let space = space();
    let snapshot = space.snapshot();
    let mut types = TypeRegistry::default();
    uaforge_types::register_types(&mut types);
    let cx = DecodeContext { namespaces: snapshot.namespaces(), types: &types, ..DecodeContext::default() };
    let definition = |id: NodeId| {
        let node = snapshot.node(id.as_ref()).expect("a data type");
        let value = node.attribute(AttributeId::DataTypeDefinition).expect("it has one");
        ExtensionObject::from_variant(&value.to_variant(cx).expect("a Variant")).expect("a structure")
    };
    // EnumField derives from EnumValueType.
    let field = definition(NodeId::numeric(0, 102));
    let field = field.downcast_ref::<StructureDefinition>().expect("a structure");
    let names: Vec<_> = field.fields.iter().map(|field| field.name.to_string()).collect();
    assert_eq!(names, ["Value", "DisplayName", "Description", "Name"]);
    assert_eq!(field.base_data_type, NodeId::numeric(0, 7594));
    assert_eq!(field.default_encoding_id, NodeId::numeric(0, 14845));
    assert_eq!(field.structure_type, StructureType::STRUCTURE);
    // An enumeration of DI, and an option set of ns0.
    let health = definition(NodeId::numeric(2, 6244));
    let health = health.downcast_ref::<EnumDefinition>().expect("an enumeration");
    assert_eq!((health.fields[1].value, &*health.fields[1].name.to_string()), (1, "FAILURE"));
    let bits = definition(NodeId::numeric(0, 94));
    let bits = bits.downcast_ref::<EnumDefinition>().expect("an option set");
    assert_eq!((bits.fields[5].value, &*bits.fields[5].name.to_string()), (5, "Read"));
    let plain = snapshot.node(NodeIdRef::Numeric(0, 290)).expect("Duration");
    plain.attribute(AttributeId::DataTypeDefinition).expect_err("a simple type has none");
}
