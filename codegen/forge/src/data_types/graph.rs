//! Finds recursion between structures before anything is printed.

use uaforge_model::query::{Components, Edges};
use uaforge_model::resolved::{Field, Id, ModelSet};
use uaforge_model::{DataTypeKind, Wire};

/// Which structures contain which others in place.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Over fields of any shape.
    any: Edges,
    /// Over scalar fields alone, which need a box to break a cycle.
    scalar: Edges,
}

/// What leads back to itself in a graph.
#[derive(Debug)]
pub(super) struct Recursion<'g> {
    graph: &'g Graph,
    any: Components<'g>,
    scalar: Components<'g>,
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

    /// Finds what leads back to itself.
    pub(super) fn recursion(&self) -> Recursion<'_> {
        Recursion { graph: self, any: Components::new(&self.any), scalar: Components::new(&self.scalar) }
    }
}

impl Recursion<'_> {
    /// Whether a structure contains itself over some path.
    pub(super) fn is_recursive(&self, id: &Id) -> bool {
        self.any.is_cyclic(id)
    }

    /// Whether a field needs a box, as the structure would be infinitely large. Every way from a
    /// structure to itself leads through a union or an optional field, or no value could end: boxes are
    /// there.
    pub(super) fn needs_box(&self, set: &ModelSet, id: &Id, field: &Field) -> bool {
        let may_end = field.is_optional || set.kind_of_data_type(id) == Some(DataTypeKind::Union);
        let direct = self.graph.scalar.get(id).is_some_and(|targets| targets.contains(&field.data_type));
        may_end && direct && self.scalar.are_connected(id, &field.data_type)
    }
}
