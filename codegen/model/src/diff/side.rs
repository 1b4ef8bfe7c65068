//! One version of a model, seen by texts that mean the same on both sides.

use std::collections::{BTreeMap, BTreeSet};

use super::At;
use crate::interface::{KEPT_VALUES, Values};
use crate::query::well_known::HAS_SUBTYPE;
use crate::resolved::{Id, Model, ModelSet, Node, NodeClass, Ns};

/// Longest browse path that is told.
const MAX_PATH: usize = 32;

pub(super) struct Side<'s> {
    pub(super) set: &'s ModelSet,
    pub(super) model: &'s Model,
    /// Nodes by id text.
    pub(super) nodes: BTreeMap<String, &'s Node>,
}

impl<'s> Side<'s> {
    pub(super) fn new(set: &'s ModelSet, uri: &str) -> Option<Self> {
        let model = set.model(set.ns(uri)?)?;
        let nodes = model.nodes.values().map(|node| (set.id_text(&node.id), node)).collect();
        Some(Self { set, model, nodes })
    }

    pub(super) fn at(&self, node: &Node) -> At {
        At { id: self.set.id_text(&node.id), path: self.path(node) }
    }

    /// The node that has this one as a component, property or other hierarchical child.
    pub(super) fn parent(&self, node: &Node) -> Option<&'s Node> {
        let links = self.set.inverse(&node.id).iter();
        let mut parents = links
            .filter(|link| {
                link.reference_type != HAS_SUBTYPE && self.set.is_hierarchical(&link.reference_type)
            })
            .filter(|link| link.target.ns == self.model.ns && link.target != node.id)
            .filter_map(|link| self.set.node(&link.target));
        parents.next()
    }

    /// The node and what is above it in the model, the node first.
    pub(super) fn ancestors(&self, node: &'s Node) -> Vec<&'s Node> {
        let mut chain = vec![node];
        let mut seen = BTreeSet::from([&node.id]);
        let mut next = self.parent(node);
        while let Some(parent) = next {
            if chain.len() >= MAX_PATH || !seen.insert(&parent.id) {
                break;
            }
            chain.push(parent);
            next = self.parent(parent);
        }
        chain
    }

    fn path(&self, node: &Node) -> String {
        let Some(node) = self.set.node(&node.id) else {
            return node.browse_name.name.to_string();
        };
        let chain = self.ancestors(node);
        chain.iter().rev().map(|node| &*node.browse_name.name).collect::<Vec<_>>().join("/")
    }

    /// Class and browse path, by which a node is known when its id changed.
    pub(super) fn place(&self, node: &'s Node) -> String {
        let names = self.ancestors(node).into_iter().map(|node| self.set.name_text(&node.browse_name));
        let top: Vec<String> = self
            .ancestors(node)
            .last()
            .into_iter()
            .flat_map(|top| self.set.inverse(&top.id))
            .filter(|link| link.reference_type != HAS_SUBTYPE && link.target.ns != self.model.ns)
            .map(|link| self.set.id_text(&link.target))
            .collect();
        format!("{:?} {} {}", node.class, names.collect::<Vec<_>>().join("\u{1}"), top.join(" "))
    }

    pub(super) fn id(&self, id: &Id) -> String {
        self.set.id_text(id)
    }

    /// Name of a node for messages, else its id.
    pub(super) fn name(&self, id: &Id) -> String {
        self.set.node(id).map_or_else(|| self.id(id), |node| node.browse_name.name.to_string())
    }

    /// A node's value as text; `None` if this side cannot tell.
    pub(super) fn value(&self, node: &Node, indexes: &BTreeMap<Ns, usize>) -> Option<String> {
        let kept = node.browse_name.ns == Ns::UA && KEPT_VALUES.contains(&&*node.browse_name.name);
        if self.model.from_interface && !(kept && node.class == NodeClass::Variable) {
            return None;
        }
        Some(node.value.as_ref().map_or_else(String::new, |value| Values { indexes }.text(value)))
    }
}

/// Indexes by which both sides write the namespaces of values.
pub(super) fn indexes(old: &Side<'_>, new: &Side<'_>) -> (BTreeMap<Ns, usize>, BTreeMap<Ns, usize>) {
    let uris: BTreeSet<&str> = old.set.uris.iter().chain(&new.set.uris).map(|uri| &**uri).collect();
    let of = |set: &ModelSet| {
        uris.iter().enumerate().filter_map(|(at, uri)| Some((set.ns(uri)?, at + 1))).collect()
    };
    (of(old.set), of(new.set))
}
