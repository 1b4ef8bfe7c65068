//! The members that ObjectTypes declare, by name (OPC 10000-3 §6.4.4).

use std::collections::BTreeSet;

use uaforge_model::query::well_known::HAS_INTERFACE;
use uaforge_model::resolved::{Id, ModelSet, Node, NodeClass, QName};

const HAS_MODELLING_RULE: Id = Id::ns0(37);

/// What a modelling rule says of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModellingRule {
    Mandatory,
    Optional,
    Placeholder,
}

/// A member as its type declares it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declaration<'a> {
    pub(super) reference_type: &'a Id,
    pub(super) node: &'a Node,
    pub(super) rule: ModellingRule,
}

/// The Objects, Variables and Methods that a type declares itself, and those of its interfaces that neither it
/// nor a supertype declares again; in the order of their ids.
pub(super) fn own<'a>(set: &'a ModelSet, id: &Id) -> Vec<Declaration<'a>> {
    let mut found = declared(set, id);
    let mut names: BTreeSet<&QName> = found.iter().map(|member| &member.node.browse_name).collect();
    for supertype in set.supertypes(id) {
        names.extend(declared(set, supertype).iter().map(|member| &member.node.browse_name));
        names.extend(interface_members(set, supertype).iter().map(|member| &member.node.browse_name));
    }
    for member in interface_members(set, id) {
        if names.insert(&member.node.browse_name) {
            found.push(member);
        }
    }
    found.sort_by(|a, b| a.node.id.cmp(&b.node.id));
    found
}

fn interface_members<'a>(set: &'a ModelSet, id: &Id) -> Vec<Declaration<'a>> {
    let mut out = Vec::new();
    for link in set.forward(id).iter().filter(|link| link.reference_type == HAS_INTERFACE) {
        out.extend(declared(set, &link.target));
        for supertype in set.supertypes(&link.target) {
            out.extend(declared(set, supertype));
        }
    }
    out
}

fn declared<'a>(set: &'a ModelSet, id: &Id) -> Vec<Declaration<'a>> {
    let mut names = BTreeSet::new();
    set.children(id)
        .filter(|(_, node)| is_member(node))
        .filter_map(|(reference_type, node)| {
            let rule = modelling_rule(set, &node.id)?;
            // Nothing can be said of a Method of any name.
            let is_open = node.class == NodeClass::Method && rule == ModellingRule::Placeholder;
            (!is_open).then_some(())?;
            Some(Declaration { reference_type, node, rule })
        })
        .filter(|member| names.insert(&member.node.browse_name))
        .collect()
}

fn is_member(node: &Node) -> bool {
    matches!(node.class, NodeClass::Object | NodeClass::Variable | NodeClass::Method)
}

/// The rule of a declaration; `None` for what is no member of instances.
fn modelling_rule(set: &ModelSet, id: &Id) -> Option<ModellingRule> {
    let links = set.forward(id);
    let rule = links.iter().find(|link| link.reference_type == HAS_MODELLING_RULE)?;
    match rule.target.ns0_number() {
        Some(78) => Some(ModellingRule::Mandatory),
        Some(80) => Some(ModellingRule::Optional),
        Some(11_508 | 11_510) => Some(ModellingRule::Placeholder),
        _ => None,
    }
}
