//! Names and typed constants of a model's own nodes.

use std::collections::{BTreeMap, BTreeSet};

use quote::format_ident;
use uaforge_emit::ids::{NodeConstant, constant};
use uaforge_model::resolved::{Id, Ident, Model, ModelSet, Node, NodeClass};

use crate::data_types::{Cx, lower, value_type};
use crate::names::Scope;

/// DataTypeEncodingType
const ENCODING_TYPE: u32 = 76;

/// Modules of constants by name, each a list of lines.
pub(crate) fn modules(cx: &Cx<'_>) -> BTreeMap<&'static str, Vec<String>> {
    let mut modules: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    let mut scopes: BTreeMap<&'static str, Scope<'_>> = BTreeMap::new();
    let Some(model) = cx.set.model(cx.ns) else {
        return modules;
    };
    for node in model.nodes.values() {
        let module = module(cx.set, node);
        let name = symbolic_id(cx.set, model, node);
        let id = node.id.ident.to_string();
        let scope =
            scopes.entry(module).or_insert_with(|| cx.ledgers.scope(cx.ns, format!("id {module}"), &[]));
        let ident = scope.screaming(&id, &name, &id);
        let line = constant(&NodeConstant {
            ident,
            kind: format_ident!("{}", kind(node.class)),
            value: matches!(node.class, NodeClass::Variable | NodeClass::VariableType)
                .then(|| value_type(cx, &node.data_type, node.value_rank)),
            id: lower::identifier(&node.id.ident),
        });
        modules.entry(module).or_default().push(format!("/// `{name}`\n{line}"));
    }
    modules
}

fn module(set: &ModelSet, node: &Node) -> &'static str {
    match node.class {
        NodeClass::Object if is_encoding(set, node) => "encoding",
        NodeClass::Object => "object",
        NodeClass::Variable => "variable",
        NodeClass::Method => "method",
        NodeClass::ObjectType => "object_type",
        NodeClass::VariableType => "variable_type",
        NodeClass::ReferenceType => "reference_type",
        NodeClass::DataType => "data_type",
        NodeClass::View => "view",
    }
}

fn kind(class: NodeClass) -> &'static str {
    match class {
        NodeClass::Object => "Object",
        NodeClass::Variable => "Variable",
        NodeClass::Method => "Method",
        NodeClass::ObjectType => "ObjectType",
        NodeClass::VariableType => "VariableType",
        NodeClass::ReferenceType => "ReferenceType",
        NodeClass::DataType => "DataType",
        NodeClass::View => "View",
    }
}

fn is_encoding(set: &ModelSet, node: &Node) -> bool {
    set.type_definition(&node.id) == Some(&Id::ns0(ENCODING_TYPE))
}

/// The name that official id tables give the node: the parents' names before its own, or the data
/// type's and `Encoding`.
fn symbolic_id(set: &ModelSet, model: &Model, node: &Node) -> String {
    let mut parts = vec![own_name(node)];
    if is_encoding(set, node) {
        let data_type = set.data_type_of_encoding(&node.id).and_then(|id| set.node(id));
        if let Some(data_type) = data_type {
            return format!("{}_Encoding_{}", own_name(data_type), own_name(node));
        }
    }
    let mut seen: BTreeSet<&Ident> = BTreeSet::from([&node.id.ident]);
    let mut at = node;
    while matches!(at.class, NodeClass::Object | NodeClass::Variable | NodeClass::Method) {
        let parent = at.parent_hint.as_ref().filter(|parent| parent.ns == model.ns);
        let Some(parent) = parent.and_then(|parent| model.nodes.get(&parent.ident)) else {
            break;
        };
        if !seen.insert(&parent.id.ident) {
            break;
        }
        parts.push(own_name(parent));
        at = parent;
    }
    parts.reverse();
    parts.join("_")
}

fn own_name(node: &Node) -> String {
    let name = node.symbolic_name.as_deref().unwrap_or(&node.browse_name.name);
    name.chars().filter(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}
