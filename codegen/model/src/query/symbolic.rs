//! Names of nodes as official identifier tables give them.

use std::collections::BTreeSet;

use super::well_known::{DATA_TYPE_ENCODING_TYPE, HAS_COMPONENT, HAS_ORDERED_COMPONENT, HAS_PROPERTY};
use crate::resolved::{Id, Ident, ModelSet, Node, NodeClass};

/// References to parts.
const PARTS: [Id; 3] = [HAS_COMPONENT, HAS_PROPERTY, HAS_ORDERED_COMPONENT];

impl ModelSet {
    /// True for the encoding object of a data type.
    pub fn is_encoding(&self, node: &Node) -> bool {
        self.type_definition(&node.id) == Some(&DATA_TYPE_ENCODING_TYPE)
    }

    /// The name that official identifier tables give the node: the parents' names before its own, or the data type's
    /// and `Encoding`. A part of a type or Method that names no parent (PackML's do not) has that one; a part of an
    /// object stands for itself then, as ServerConfiguration does in ns0.
    pub fn symbolic_id(&self, node: &Node) -> String {
        let mut parts = vec![own_name(node)];
        if self.is_encoding(node) {
            let data_type = self.data_type_of_encoding(&node.id).and_then(|id| self.node(id));
            if let Some(data_type) = data_type {
                return format!("{}_Encoding_{}", own_name(data_type), own_name(node));
            }
        }
        let mut seen: BTreeSet<&Ident> = BTreeSet::from([&node.id.ident]);
        let mut at = node;
        while matches!(at.class, NodeClass::Object | NodeClass::Variable | NodeClass::Method) {
            let Some(parent) = self.naming_parent(at).filter(|parent| seen.insert(&parent.id.ident)) else {
                break;
            };
            parts.push(own_name(parent));
            at = parent;
        }
        parts.reverse();
        parts.join("_")
    }

    fn naming_parent(&self, node: &Node) -> Option<&Node> {
        let own = |parent: &Id| self.node(parent).filter(|parent| parent.id.ns == node.id.ns);
        if let Some(parent) = &node.parent_hint {
            return own(parent);
        }
        let links = self.inverse(&node.id).iter();
        let mut wholes = links.filter(|link| PARTS.contains(&link.reference_type));
        wholes.find_map(|link| {
            own(&link.target).filter(|whole| !matches!(whole.class, NodeClass::Object | NodeClass::Variable))
        })
    }
}

fn own_name(node: &Node) -> String {
    let name = node.symbolic_name.as_deref().unwrap_or(&node.browse_name.name);
    name.chars().filter(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}
