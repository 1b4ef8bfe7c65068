//! The types of a model as a tree, and the members of one of them.

use std::collections::BTreeSet;
use std::io::{Result, Write};

use serde_json::{Value, json};
use uaforge_model::canonical::class_name;
use uaforge_model::resolved::{Field, Id, Model, ModelSet, Node, NodeClass};

const CLASSES: [NodeClass; 4] =
    [NodeClass::ObjectType, NodeClass::VariableType, NodeClass::DataType, NodeClass::ReferenceType];

/// Types with a browse name.
pub(super) fn find<'s>(set: &ModelSet, model: &'s Model, name: &str) -> Vec<&'s Node> {
    let types = model.nodes.values().filter(|node| CLASSES.contains(&node.class));
    types.filter(|node| *node.browse_name.name == *name || set.name_text(&node.browse_name) == name).collect()
}

/// The types of each class, each below its supertype; supertypes of other models stand at the left.
pub(super) fn tree(out: &mut impl Write, set: &ModelSet, model: &Model) -> Result<()> {
    for class in CLASSES {
        let types: Vec<&Node> = model.nodes.values().filter(|node| node.class == class).collect();
        let own = |id: &Id| model.ns == id.ns && model.nodes.contains_key(&id.ident);
        let roots: BTreeSet<Option<&Id>> = types
            .iter()
            .map(|node| set.supertype(&node.id))
            .filter(|base| base.is_none_or(|base| !own(base)))
            .collect();
        let mut shown = BTreeSet::new();
        for root in roots {
            if let Some(root) = root {
                writeln!(out, "{} {}", class_name(class), label(set, root))?;
            }
            let below = types.iter().rev().filter(|node| set.supertype(&node.id) == root);
            let mut open: Vec<(usize, &Node)> = below.map(|node| (1, *node)).collect();
            while let Some((depth, node)) = open.pop() {
                if !shown.insert(&node.id) {
                    continue;
                }
                let mark = if node.is_abstract { " (abstract)" } else { "" };
                writeln!(out, "{:indent$}{}{mark}", "", label(set, &node.id), indent = depth * 2)?;
                let below: Vec<&Id> = set.subtypes(&node.id).filter(|id| own(id)).collect();
                open.extend(below.into_iter().rev().filter_map(|id| Some((depth + 1, set.node(id)?))));
            }
        }
    }
    Ok(())
}

/// Name and id.
fn label(set: &ModelSet, id: &Id) -> String {
    set.node(id).map_or_else(|| set.id_text(id), |node| format!("{} {}", node.browse_name.name, id.ident))
}

fn name(set: &ModelSet, id: &Id) -> String {
    set.node(id).map_or_else(|| set.id_text(id), |node| node.browse_name.name.to_string())
}

pub(super) fn list_json(out: &mut impl Write, set: &ModelSet, model: &Model) -> Result<()> {
    for node in model.nodes.values().filter(|node| CLASSES.contains(&node.class)) {
        let line = json!({
            "type": "type",
            "class": class_name(node.class),
            "id": set.id_text(&node.id),
            "name": &*node.browse_name.name,
            "abstract": node.is_abstract,
            "supertype": set.supertype(&node.id).map(|id| set.id_text(id)),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Fields of a data type in the order of the wire, members of any other type by path.
pub(super) fn members(out: &mut impl Write, set: &ModelSet, node: &Node) -> Result<()> {
    let chain = set.supertypes(&node.id).into_iter().map(|id| name(set, id));
    let chain: Vec<String> = std::iter::once(node.browse_name.name.to_string()).chain(chain).collect();
    writeln!(out, "{} {} ({})", class_name(node.class), chain.join(" < "), set.id_text(&node.id))?;
    if node.class == NodeClass::DataType {
        for field in fields(set, node) {
            let value = field.value.map_or_else(String::new, |value| format!(" = {value}"));
            let mark = if field.is_optional { " (optional)" } else { "" };
            let rank =
                if field.value_rank == -1 { String::new() } else { format!(" rank {}", field.value_rank) };
            let of = if field.value.is_some() {
                String::new()
            } else {
                format!(": {}", name(set, &field.data_type))
            };
            writeln!(out, "  {}{value}{of}{rank}{mark}", field.name)?;
        }
        return Ok(());
    }
    for row in set.declarations(&node.id) {
        let path: Vec<&str> = row.path.iter().map(|name| &*name.name).collect();
        let of = match row.node.class {
            NodeClass::Variable => format!(": {}", name(set, &row.node.data_type)),
            _ => set
                .type_definition(&row.node.id)
                .map_or_else(String::new, |id| format!(": {}", name(set, id))),
        };
        let from =
            if row.depth > 0 { format!("  from {}", name(set, row.declared_by)) } else { String::new() };
        writeln!(out, "  {:?} {} {}{of}{from}", row.rule, class_name(row.node.class), path.join("/"))?;
    }
    Ok(())
}

fn fields<'s>(set: &'s ModelSet, node: &'s Node) -> Vec<&'s Field> {
    let inherited: Vec<&Field> = set.all_fields(&node.id).into_iter().map(|(_, field)| field).collect();
    let own = || node.definition.iter().flat_map(|definition| &definition.fields).collect();
    if inherited.is_empty() { own() } else { inherited }
}

pub(super) fn members_json(out: &mut impl Write, set: &ModelSet, node: &Node) -> Result<()> {
    let members: Vec<Value> = if node.class == NodeClass::DataType {
        let field = |field: &Field| {
            json!({
                "name": field.name, "dataType": set.id_text(&field.data_type), "valueRank": field.value_rank,
                "value": field.value, "optional": field.is_optional, "allowSubTypes": field.allow_sub_types,
            })
        };
        fields(set, node).into_iter().map(field).collect()
    } else {
        let member = |row: uaforge_model::query::Declaration<'_>| {
            let path: Vec<String> = row.path.iter().map(|name| set.name_text(name)).collect();
            let is_variable = row.node.class == NodeClass::Variable;
            json!({
                "path": path, "class": class_name(row.node.class), "rule": format!("{:?}", row.rule),
                "id": set.id_text(&row.node.id), "declaredBy": set.id_text(row.declared_by),
                "typeDefinition": set.type_definition(&row.node.id).map(|id| set.id_text(id)),
                "dataType": is_variable.then(|| set.id_text(&row.node.data_type)),
                "valueRank": is_variable.then_some(row.node.value_rank),
            })
        };
        set.declarations(&node.id).into_iter().map(member).collect()
    };
    let supertypes: Vec<String> = set.supertypes(&node.id).into_iter().map(|id| set.id_text(id)).collect();
    let line = json!({
        "type": "members", "class": class_name(node.class), "id": set.id_text(&node.id),
        "name": &*node.browse_name.name, "supertypes": supertypes, "members": members,
    });
    writeln!(out, "{line}")
}
