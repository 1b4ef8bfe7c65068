//! Structures that hold structures in place: those that have no end, and those that are too large.

use std::collections::{HashMap, HashSet};

use crate::query::{DataTypeKind, Edges, Wire};
use crate::resolved::{Field, Id, ModelSet, NodeClass};

/// The largest structure in bytes: it stands on the stack, and so do those that hold it.
pub(super) const MAX_SIZE: u64 = 1 << 20;

/// What the largest builtin values take; a string, an array or a boxed value takes less.
const SMALL: u64 = 24;
const DATA_VALUE: u64 = 56;

/// Structures of all documents that lead to themselves over fields that are always there.
pub(super) fn always(set: &ModelSet) -> Edges {
    let mut edges = Edges::new();
    let models = set.models.iter().filter(|model| !model.from_interface);
    let nodes =
        models.flat_map(|model| model.nodes.values()).filter(|node| node.class == NodeClass::DataType);
    for node in nodes.filter(|node| set.kind_of_data_type(&node.id) == Some(DataTypeKind::Structure)) {
        let fields = set.all_fields(&node.id).into_iter().map(|(_, field)| field);
        let held = fields.filter(|field| !field.is_optional && is_held(set, field));
        let structures =
            held.filter(|field| set.kind_of_data_type(&field.data_type) == Some(DataTypeKind::Structure));
        let targets: Vec<Id> = structures.map(|field| field.data_type.clone()).collect();
        if !targets.is_empty() {
            edges.entry(node.id.clone()).or_default().extend(targets);
        }
    }
    edges
}

/// A field that has a structure or union in place.
fn is_held(set: &ModelSet, field: &Field) -> bool {
    field.value_rank == -1 && set.wire(field) == Wire::Inline
}

/// Sizes of structures, about as large as their Rust types.
pub(super) struct Sizes<'s> {
    set: &'s ModelSet,
    known: HashMap<&'s Id, u64>,
}

impl<'s> Sizes<'s> {
    pub(super) fn new(set: &'s ModelSet) -> Self {
        Self { set, known: HashMap::new() }
    }

    /// The size, if it is beyond the limit and nothing that the structure holds is so already.
    pub(super) fn too_large(&mut self, id: &'s Id) -> Option<u64> {
        let size = self.of(id);
        let set = self.set;
        let mut held = set.all_fields(id).into_iter().filter(|(_, field)| is_held(set, field));
        let is_first =
            !held.any(|(_, field)| self.known.get(&field.data_type).is_some_and(|size| *size > MAX_SIZE));
        (size > MAX_SIZE && is_first).then_some(size)
    }

    /// Those of what it holds come first; a structure that leads back to itself is boxed there.
    fn of(&mut self, id: &'s Id) -> u64 {
        let mut open = vec![(id, false)];
        let mut met = HashSet::new();
        while let Some((id, is_held_known)) = open.pop() {
            if self.known.contains_key(id) {
                continue;
            }
            let fields = self.set.all_fields(id);
            if is_held_known {
                let size = self.sum(id, &fields);
                self.known.insert(id, size);
            } else if met.insert(id) {
                open.push((id, true));
                let held = fields.iter().filter(|(_, field)| is_held(self.set, field));
                open.extend(held.map(|(_, field)| (&field.data_type, false)));
            }
        }
        self.known.get(id).copied().unwrap_or(SMALL)
    }

    fn sum(&self, id: &Id, fields: &[(&Id, &Field)]) -> u64 {
        let sizes = fields.iter().map(|(_, field)| match self.set.wire(field) {
            _ if field.value_rank != -1 => SMALL,
            Wire::Inline => self.known.get(&field.data_type).copied().unwrap_or(SMALL),
            Wire::Builtin(1..=11 | 13 | 19) => 8,
            Wire::Builtin(23) => DATA_VALUE,
            Wire::Builtin(_) => SMALL,
        });
        match self.set.kind_of_data_type(id) {
            Some(DataTypeKind::Union) => sizes.max().unwrap_or(0).saturating_add(8),
            _ => sizes.fold(0, u64::saturating_add),
        }
    }
}
