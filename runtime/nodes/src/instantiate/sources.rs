//! Where the members of a node are declared: its type, the supertypes, their interfaces.

use alloc::vec::Vec;

use uaforge_codec::NodeIdRef;

use crate::ids;
use crate::space::{Direction, Node, Snapshot};

/// Longest chain of supertypes.
const MAX_CHAIN: usize = 64;

/// The type's supertypes and interfaces and itself; what comes later overrides what came before.
pub(super) fn of_type<'a>(snapshot: &'a Snapshot, type_definition: Node<'a>) -> Vec<Node<'a>> {
    let mut sources = Vec::new();
    for node in chain(type_definition) {
        add_with_interfaces(snapshot, node, &mut sources);
    }
    sources
}

/// Appends the interfaces of a node and the node.
pub(super) fn add_with_interfaces<'a>(snapshot: &'a Snapshot, node: Node<'a>, sources: &mut Vec<Node<'a>>) {
    if let Some(filter) = snapshot.reference_filter(ids::ns0(ids::HAS_INTERFACE), true) {
        for interface in node.references(Direction::Forward, filter) {
            for part in interface.target().map(chain).unwrap_or_default() {
                add(part, sources);
            }
        }
    }
    add(node, sources);
}

fn add<'a>(node: Node<'a>, sources: &mut Vec<Node<'a>>) {
    if !sources.iter().any(|known| known.id() == node.id()) {
        sources.push(node);
    }
}

/// A type and its supertypes, the root first.
fn chain(node: Node<'_>) -> Vec<Node<'_>> {
    let supertypes = core::iter::successors(Some(node), |node| node.supertype());
    let mut chain: Vec<Node<'_>> = supertypes.take(MAX_CHAIN).collect();
    chain.reverse();
    chain
}

/// A ModellingRule (OPC 10000-3 §6.4.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Mandatory,
    Optional,
    Placeholder,
    /// ExposesItsArray or one of some model: no member of an instance.
    Other,
}

/// The rule of a declaration; `None` for a node without one, which is no declaration.
pub(super) fn rule(node: Node<'_>) -> Option<Rule> {
    Some(match node.modelling_rule()? {
        NodeIdRef::Numeric(0, ids::MANDATORY) => Rule::Mandatory,
        NodeIdRef::Numeric(0, ids::OPTIONAL) => Rule::Optional,
        NodeIdRef::Numeric(0, ids::MANDATORY_PLACEHOLDER | ids::OPTIONAL_PLACEHOLDER) => Rule::Placeholder,
        _ => Rule::Other,
    })
}
