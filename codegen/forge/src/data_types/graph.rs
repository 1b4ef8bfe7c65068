//! Finds recursion between structures before anything is printed.

use std::collections::{BTreeMap, BTreeSet};

use uaforge_model::resolved::{Field, Id, ModelSet};
use uaforge_model::{DataTypeKind, Wire};

/// Which structures contain which others in place.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Over fields of any shape.
    any: BTreeMap<Id, BTreeSet<Id>>,
    /// Over scalar fields alone, which need a box to break a cycle.
    scalar: BTreeMap<Id, BTreeSet<Id>>,
}

impl Graph {
    pub(super) fn new(set: &ModelSet) -> Self {
        let mut graph = Self::default();
        let ids = set.models.iter().flat_map(|model| model.nodes.values()).map(|node| &node.id);
        for id in ids {
            if !matches!(set.kind_of_data_type(id), Some(DataTypeKind::Structure | DataTypeKind::Union)) {
                continue;
            }
            for (_, field) in set.all_fields(id) {
                if matches!(set.wire(field), Wire::Inline) {
                    graph.any.entry(id.clone()).or_default().insert(field.data_type.clone());
                    if field.value_rank == -1 {
                        graph.scalar.entry(id.clone()).or_default().insert(field.data_type.clone());
                    }
                }
            }
        }
        graph
    }

    /// Whether a structure contains itself over some path.
    pub(super) fn is_recursive(&self, id: &Id) -> bool {
        reaches(&self.any, id, id)
    }

    /// Whether a field needs a box, as the structure would be infinitely large. Every way from a
    /// structure to itself leads through a union or an optional field, or no value could end: boxes are
    /// there.
    pub(super) fn needs_box(&self, set: &ModelSet, id: &Id, field: &Field) -> bool {
        let may_end = field.is_optional || set.kind_of_data_type(id) == Some(DataTypeKind::Union);
        let direct = self.scalar.get(id).is_some_and(|targets| targets.contains(&field.data_type));
        may_end && direct && (field.data_type == *id || reaches(&self.scalar, &field.data_type, id))
    }
}

fn reaches(edges: &BTreeMap<Id, BTreeSet<Id>>, from: &Id, to: &Id) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        for next in edges.get(id).into_iter().flatten() {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}
