//! The fully inherited instance declaration hierarchy of a type (OPC 10000-3 §6.3.3, §6.4).

use std::collections::BTreeMap;

use super::types::well_known::{HAS_INTERFACE, HAS_MODELLING_RULE};
use crate::resolved::{Id, ModelSet, Node, NodeClass, QName};

/// Longest browse path of a declaration.
const MAX_PATH: usize = 64;
/// Most declarations of one type.
const MAX_DECLARATIONS: usize = 1 << 20;

/// ModellingRule (OPC 10000-3 §6.4.4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModellingRule {
    /// Every instance has it.
    Mandatory,
    /// An instance may have it.
    Optional,
    /// Every instance has at least one of the kind.
    MandatoryPlaceholder,
    /// An instance may have any number of the kind.
    OptionalPlaceholder,
    /// One for each element of an array.
    ExposesItsArray,
    /// A rule that the specification does not have.
    Other,
}

/// One row of the hierarchy.
#[derive(Clone, Debug)]
pub struct Declaration<'a> {
    /// Browse path from the type.
    pub path: Vec<QName>,
    /// The declaring node.
    pub node: &'a Node,
    /// Its rule.
    pub rule: ModellingRule,
    /// Types of the references from the parent, sorted.
    pub reference_types: Vec<&'a Id>,
    /// The nearest type of the chain whose hierarchy has the path.
    pub declared_by: &'a Id,
    /// Its index: 0 for the type itself, 1 for its supertype …
    pub depth: usize,
}

type Rows<'a> = BTreeMap<Vec<QName>, (&'a Node, Vec<&'a Id>)>;

impl ModelSet {
    /// The modelling rule of a node.
    pub fn modelling_rule(&self, id: &Id) -> Option<ModellingRule> {
        let link = self.forward(id).iter().find(|link| link.reference_type == HAS_MODELLING_RULE)?;
        Some(match link.target.ns0_number() {
            Some(78) => ModellingRule::Mandatory,
            Some(80) => ModellingRule::Optional,
            Some(11508) => ModellingRule::OptionalPlaceholder,
            Some(11510) => ModellingRule::MandatoryPlaceholder,
            Some(83) => ModellingRule::ExposesItsArray,
            _ => ModellingRule::Other,
        })
    }

    /// The declarations of an ObjectType or VariableType, inherited ones too, sorted by path. A row with the
    /// same path replaces the inherited one. Children of a member's type definition are not among them.
    pub fn declarations(&self, id: &Id) -> Vec<Declaration<'_>> {
        let Some(own) = self.node(id) else {
            return Vec::new();
        };
        let mut chain: Vec<&Id> = vec![&own.id];
        chain.extend(self.supertypes(id));
        let mut merged: BTreeMap<Vec<QName>, Declaration<'_>> = BTreeMap::new();
        for (depth, declared_by) in chain.into_iter().enumerate().rev() {
            for (path, (node, reference_types)) in self.own_declarations(declared_by) {
                let rule = self.modelling_rule(&node.id).unwrap_or(ModellingRule::Other);
                let row = Declaration { path: path.clone(), node, rule, reference_types, declared_by, depth };
                merged.insert(path, row);
            }
        }
        merged.into_values().collect()
    }

    /// Members of one type: nodes with a modelling rule, reached over nodes with a modelling rule.
    fn own_declarations<'s>(&'s self, id: &'s Id) -> Rows<'s> {
        let mut rows = Rows::new();
        let mut open: Vec<(Vec<QName>, Vec<&'s Id>)> = vec![(Vec::new(), vec![id])];
        while let Some((path, nodes)) = open.pop() {
            let Some(parent) = nodes.last() else { continue };
            for (reference_type, node) in self.children(parent) {
                let member =
                    matches!(node.class, NodeClass::Object | NodeClass::Variable | NodeClass::Method);
                if !member || nodes.contains(&&node.id) || self.modelling_rule(&node.id).is_none() {
                    continue;
                }
                let mut child = path.clone();
                child.push(node.browse_name.clone());
                if child.len() < MAX_PATH && rows.len() < MAX_DECLARATIONS {
                    let mut along = nodes.clone();
                    along.push(&node.id);
                    open.push((child.clone(), along));
                }
                self.add_row(&mut rows, child, node, reference_type);
            }
        }
        rows
    }

    /// Of two nodes at one path the one with the smaller id text is taken.
    fn add_row<'s>(&self, rows: &mut Rows<'s>, path: Vec<QName>, node: &'s Node, reference_type: &'s Id) {
        let row = rows.entry(path).or_insert_with(|| (node, Vec::new()));
        if row.0.id != node.id {
            if self.id_text(&row.0.id) < self.id_text(&node.id) {
                return;
            }
            *row = (node, Vec::new());
        }
        if !row.1.contains(&reference_type) {
            row.1.push(reference_type);
            row.1.sort_unstable();
        }
    }

    /// Interfaces of a type itself (HasInterface), sorted.
    pub fn interfaces(&self, id: &Id) -> impl Iterator<Item = &Id> {
        let links =
            self.forward(id).iter().filter(|link| self.is_subtype_of(&link.reference_type, &HAS_INTERFACE));
        links.map(|link| &link.target)
    }
}
