//! Instances have the members that their types ask for, and change only when all of it goes well.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};
use uaforge_codec::{NodeId, QualifiedName, StatusCode};
use uaforge_nodes::instantiate::{IdAssignment, Methods, Placeholder};
use uaforge_nodes::{
    AddressSpace, AttributeId, AttributeValue, ClassAttributes, Direction, Edit, Instantiate,
    InstantiateError, NewNode, Node, NodeClass, Snapshot,
};

/// Wire index of DI in [`space`].
const DI: u16 = 2;
const TOPOLOGY_ELEMENT_TYPE: u32 = 1001;
const SOFTWARE_TYPE: u32 = 15106;
const FUNCTIONAL_GROUP_TYPE: u32 = 1005;

fn space() -> AddressSpace {
    AddressSpace::builder("urn:application")
        .model(uaforge_di::model())
        .model(uaforge_ns0::model())
        .build()
        .expect("ns0 and DI fit together")
}

fn ns0(id: u32) -> NodeId {
    NodeId::numeric(0, id)
}

fn di(name: &str) -> QualifiedName {
    QualifiedName::new(DI, name)
}

fn own(name: &str) -> QualifiedName {
    QualifiedName::new(1, name)
}

fn hierarchical<'a>(snapshot: &'a Snapshot, node: Node<'a>) -> impl Iterator<Item = Node<'a>> {
    let filter = snapshot.reference_filter(ns0(33).as_ref(), true).expect("HierarchicalReferences");
    node.references(Direction::Forward, filter).filter_map(|r| r.target())
}

/// All paths of browse names from a node to nodes of the application, as the oracle writes them.
fn paths(snapshot: &Snapshot, at: &NodeId, prefix: &str, out: &mut BTreeSet<String>) {
    let node = snapshot.node(at.as_ref()).expect("a node");
    for child in hierarchical(snapshot, node).filter(|child| child.id().namespace() == 1) {
        let browse_name = child.browse_name();
        let escaped = browse_name.name.replace('&', "&&").replace('/', "&/");
        let index = if browse_name.namespace == DI { "1:" } else { "" };
        let slash = if prefix.is_empty() { "" } else { "/" };
        let path = format!("{prefix}{slash}{index}{escaped}");
        if out.insert(path.clone()) {
            paths(snapshot, &child.id().to_owned(), &path, out);
        }
    }
}

fn oracle(model: &str) -> serde_json::Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle");
    let mut text = String::new();
    match std::fs::File::open(folder.join(format!("{model}.json.gz"))) {
        Ok(file) => {
            flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
        }
        Err(_) => text = std::fs::read_to_string(folder.join(format!("{model}.json"))).expect("facts"),
    }
    serde_json::from_str(&text).expect("JSON")
}

/// The hash over the paths of an instance with its mandatory members and methods of its own.
fn mandatory_instance(space: &AddressSpace, id: NodeId) -> Result<(usize, String), InstantiateError> {
    let mut request = Instantiate::new(id, own("X"));
    request.methods = Methods::Copied;
    space.edit(|edit| {
        let instance = request.run(edit)?;
        let mut found = BTreeSet::new();
        paths(edit.snapshot(), &instance.id, "", &mut found);
        edit.remove_tree(&instance.id).expect("it was made a moment ago");
        let text: String = found.iter().map(|path| format!("{path}\n")).collect();
        Ok((found.len(), hex::encode(Sha256::digest(text))))
    })
}

#[test]
fn every_concrete_type_has_its_mandatory_members() {
    let space = space();
    let mut checked = 0;
    for (model, namespace) in [("ns0_core", 0), ("di", DI)] {
        let facts = oracle(model);
        let types = ["object_types", "variable_types"].map(|key| facts[key].as_array().expect("a list"));
        for fact in types.into_iter().flatten().filter(|fact| fact["abstract"] != true) {
            let id = fact["id"].as_str().expect("an id").rsplit("i=").next().expect("a number");
            let id = NodeId::numeric(namespace, id.parse().expect("a number"));
            let (count, hash) = mandatory_instance(&space, id).expect("a concrete type");
            assert_eq!(fact["mandatory_instance"], serde_json::json!([count, hash]), "{}", fact["name"]);
            checked += 1;
        }
    }
    assert_eq!(checked, 246);
    assert!(space.snapshot().nodes().all(|node| node.is_static()), "all of them are gone again");
}

#[test]
fn optional_members_and_placeholders_come_when_asked_for() {
    let space = space();
    let mut request = Instantiate::new(NodeId::numeric(DI, SOFTWARE_TYPE), own("Pump"));
    request.optional =
        vec![vec![di("ParameterSet")], vec![di("DeviceClass")], vec![di("Lock"), di("BreakLock")]];
    request.placeholders = vec![Placeholder {
        path: vec![di("<GroupIdentifier>")],
        name: own("Operation"),
        type_definition: None,
    }];
    let instance = space.edit(|edit| request.run(edit)).expect("SoftwareType has them");
    let snapshot = space.snapshot();
    let pump = snapshot.node(instance.id.as_ref()).expect("it exists");
    assert_eq!(instance.id, NodeId::string(1, "Pump"));
    assert_eq!(pump.type_definition(), Some(NodeId::numeric(DI, SOFTWARE_TYPE).as_ref()));
    assert!(
        hierarchical(&snapshot, snapshot.node(ns0(85).as_ref()).expect("Objects"))
            .any(|n| n.id() == pump.id())
    );

    let locked = instance.member(&["Lock", "Locked"]).expect("mandatory below Lock");
    assert_eq!(locked.id, NodeId::string(1, "Pump/Lock/Locked"));
    let node = snapshot.node(locked.id.as_ref()).expect("it exists");
    assert_eq!((node.browse_name().namespace, node.class()), (DI, NodeClass::Variable));
    let Ok(AttributeValue::NodeId(data_type)) = node.attribute(AttributeId::DataType) else {
        panic!("a variable has a data type");
    };
    assert_eq!(data_type, ns0(1).as_ref(), "Boolean");

    let model = instance.member(&["Model"]).expect("mandatory");
    let property = snapshot.reference_filter(ns0(46).as_ref(), false).expect("HasProperty");
    assert!(pump.references(Direction::Forward, property).any(|r| r.target_id() == model.id.as_ref()));
    model.cell.as_ref().expect("a variable").set("P 100".to_owned(), None);

    let group = instance.member(&["Operation"]).expect("asked for");
    let group = snapshot.node(group.id.as_ref()).expect("it exists");
    assert_eq!(group.type_definition(), Some(NodeId::numeric(DI, FUNCTIONAL_GROUP_TYPE).as_ref()));
    assert_eq!(group.display_name().text, "Operation");

    let lock = instance.member(&["Lock", "BreakLock"]).expect("asked for");
    assert_eq!(lock.id.namespace(), DI, "the method of the type is shared");
    assert!(instance.member(&["DeviceManual"]).is_none(), "optional and not asked for");
}

#[test]
fn an_instance_can_be_extended() {
    let space = space();
    let software = NodeId::numeric(DI, SOFTWARE_TYPE);
    let made = space
        .edit(|edit| Instantiate::new(software.clone(), own("Pump")).run(edit))
        .expect("a concrete type");
    let mut more = Instantiate::extend(made.id.clone(), software.clone());
    more.placeholders = vec![Placeholder {
        path: vec![di("<GroupIdentifier>")],
        name: own("Operation"),
        type_definition: None,
    }];
    let extended = space.edit(|edit| more.run(edit)).expect("a placeholder");
    assert_eq!(extended.members.len(), made.members.len() + 1);
    for member in &made.members {
        let same = extended.member_at(&member.path).expect("it is still there");
        assert_eq!(same.id, member.id);
    }
    let twice = space.edit(|edit| more.run(edit)).expect_err("the name is taken");
    assert!(matches!(twice, InstantiateError::Rejected { .. }), "{twice}");
}

#[test]
fn nothing_is_made_when_something_is_wrong() {
    let space = space();
    let software = NodeId::numeric(DI, SOFTWARE_TYPE);
    let make = |request: &Instantiate| space.edit(|edit| request.run(edit)).map(|_| ());

    let mut request = Instantiate::new(software.clone(), own("Pump"));
    request.optional = vec![vec![di("Rotor")]];
    let missing = make(&request).expect_err("SoftwareType has no Rotor");
    assert_eq!(missing.to_string(), "ns=2;i=15106 has no member 2:Rotor");

    let topology = NodeId::numeric(DI, TOPOLOGY_ELEMENT_TYPE);
    let is_abstract = make(&Instantiate::new(topology.clone(), own("Pump")));
    assert_eq!(is_abstract, Err(InstantiateError::AbstractType(topology)));

    let mut request = Instantiate::new(software.clone(), own("Pump"));
    request.parent = NodeId::string(1, "nowhere");
    make(&request).expect_err("no such parent");
    request.parent = ns0(85);
    request.reference_type = ns0(85);
    make(&request).expect_err("Objects is no reference type");
    assert_eq!(make(&Instantiate::new(ns0(85), own("Pump"))), Err(InstantiateError::UnknownType(ns0(85))));
    assert!(space.snapshot().nodes().all(|node| node.is_static()), "nothing was left behind");

    make(&Instantiate::new(software.clone(), own("Pump"))).expect("now all is well");
    make(&Instantiate::new(software, own("Pump"))).expect_err("the id is taken");
}

/// A type with two mandatory members of that very type has no end; the attempt does.
#[test]
fn a_type_that_contains_itself_is_refused() {
    let space = space();
    let endless = NodeId::numeric(1, 1);
    let add = |edit: &mut Edit, id: &NodeId, name: &str, attributes, parent: (&NodeId, u32)| {
        edit.add_node(NewNode::new(id.clone(), own(name), attributes))?;
        edit.add_reference(parent.0, &ns0(parent.1), id)
    };
    space
        .edit(|edit| {
            let is_type = ClassAttributes::ObjectType { is_abstract: false };
            add(edit, &endless, "EndlessType", is_type, (&ns0(58), 45))?;
            for number in [2, 3] {
                let member = NodeId::numeric(1, number);
                let is_object = ClassAttributes::Object { event_notifier: 0 };
                add(edit, &member, &format!("Member{number}"), is_object, (&endless, 47))?;
                edit.add_reference(&member, &ns0(40), &endless)?;
                edit.add_reference(&member, &ns0(37), &ns0(78))?;
            }
            Ok::<_, StatusCode>(())
        })
        .expect("all of them are new");
    let made = space.edit(|edit| Instantiate::new(endless.clone(), own("Endless")).run(edit));
    assert_eq!(made.expect_err("it has no end"), InstantiateError::TooLarge(endless));
}

#[test]
fn ids_are_assigned_as_asked() {
    let space = space();
    let next = AtomicU32::new(100);
    let mut request = Instantiate::new(NodeId::numeric(DI, SOFTWARE_TYPE), own("Pump"));
    request.node_id = Some(NodeId::numeric(1, 7));
    request.assign = IdAssignment::By(Arc::new(move |request| {
        assert!(!request.is_root, "its id was given");
        NodeId::numeric(1, next.fetch_add(1, Ordering::Relaxed))
    }));
    let instance = space.edit(|edit| request.run(edit)).expect("a concrete type");
    assert_eq!(instance.id, NodeId::numeric(1, 7));
    let ids: Vec<_> = instance.members.iter().map(|member| member.id.as_numeric()).collect();
    assert_eq!(ids, [Some(100), Some(101), Some(102)]);
}
