//! The namespaces that a model's nodes mention, values included.

use std::collections::BTreeSet;

use uaforge_model::resolved::{Id, Model, ModelSet, Node, Ns, Value};

/// Every namespace of which the tables will hold an id or a name.
pub(super) fn namespaces(set: &ModelSet, model: &Model) -> BTreeSet<Ns> {
    let triples = model.references.iter().flat_map(|t| [&t.source, &t.reference_type, &t.target]);
    let mut found: BTreeSet<Ns> = triples.map(|id| id.ns).collect();
    for node in model.nodes.values() {
        found.insert(node.browse_name.ns);
        found.extend(ids(node).map(|id| id.ns));
        let fields = node.definition.iter().flat_map(|definition| &definition.fields);
        found.extend(fields.map(|field| field.data_type.ns));
        found.extend(set.encodings(&node.id).binary.map(|id| id.ns));
        if let Some(value) = &node.value {
            in_value(set, value, &mut found);
        }
    }
    found
}

/// The ids in the attributes of a node.
pub(super) fn ids(node: &Node) -> impl Iterator<Item = &Id> {
    let roles = node.role_permissions.iter().map(|(role, _)| role);
    [&node.id, &node.data_type].into_iter().chain(&node.method_declaration).chain(roles)
}

/// An ExpandedNodeId is left out: it can name its namespace itself.
fn in_value(set: &ModelSet, value: &Value, found: &mut BTreeSet<Ns>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::NodeId(id) => {
                found.insert(id.ns);
            }
            Value::QualifiedName(name) => {
                found.insert(name.ns);
            }
            Value::OpaqueXml { type_id, .. } | Value::OpaqueBinary { type_id, .. } => {
                found.insert(type_id.ns);
            }
            Value::Structure { data_type, fields } => {
                found.extend(set.encodings(data_type).binary.map(|id| id.ns));
                open.extend(fields.iter().filter_map(|(_, value)| value.as_ref()));
            }
            Value::Union { data_type, field } => {
                found.extend(set.encodings(data_type).binary.map(|id| id.ns));
                open.extend(field.iter().map(|(_, value)| &**value));
            }
            Value::DataValue(parts) => open.extend(&parts.value),
            Value::Array { items, .. } | Value::Matrix { items, .. } => open.extend(items),
            Value::Variant(inner) => open.push(inner),
            _ => {}
        }
    }
}
