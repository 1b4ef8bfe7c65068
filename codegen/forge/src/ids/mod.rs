//! Names and typed constants of a model's own nodes.

use std::collections::BTreeMap;

use quote::format_ident;
use uaforge_emit::ids::{NodeConstant, constant};
use uaforge_model::resolved::{ModelSet, Node, NodeClass};

use crate::data_types::{Cx, lower, value_type};
use crate::names::Scope;

/// Modules of constants by name, each a list of lines.
pub(crate) fn modules(cx: &Cx<'_>) -> BTreeMap<&'static str, Vec<String>> {
    let mut modules: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    let mut scopes: BTreeMap<&'static str, Scope<'_>> = BTreeMap::new();
    let Some(model) = cx.set.model(cx.ns) else {
        return modules;
    };
    for node in model.nodes.values() {
        let module = module(cx.set, node);
        let name = cx.set.symbolic_id(node);
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
        NodeClass::Object if set.is_encoding(node) => "encoding",
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
