//! Fewest bytes of encoded structures, for the checks of array lengths.

use std::collections::BTreeMap;

use uaforge_emit::ir::Type;
use uaforge_emit::size;
use uaforge_model::resolved::{Field, Id, ModelSet};
use uaforge_model::{DataTypeKind, Wire};

use super::fields::{VARIANT, builtin, is_open, shape};
use super::graph::Recursion;
use super::lower;

/// How deep structures in structures are followed; what is deeper counts as nothing.
const MAX_PASSES: usize = 64;

/// The sizes of all structures of the set that do not contain themselves.
#[derive(Debug, Default)]
pub(super) struct Sizes(BTreeMap<Id, u32>);

impl Sizes {
    pub(super) fn new(set: &ModelSet, recursion: &Recursion<'_>) -> Self {
        let ids = set.models.iter().flat_map(|model| model.nodes.values()).map(|node| &node.id);
        let structures = ids.filter(|id| is_structure(set, id) && !recursion.is_recursive(id));
        let structures: Vec<&Id> = structures.collect();
        let mut sizes = Self::default();
        for _ in 0..MAX_PASSES {
            let pass = structures.iter().map(|id| ((*id).clone(), sizes.structure(set, id)));
            let next = Self(pass.collect());
            if next.0 == sizes.0 {
                break;
            }
            sizes = next;
        }
        sizes
    }

    fn structure(&self, set: &ModelSet, id: &Id) -> u32 {
        let fields = set.all_fields(id).into_iter();
        let fields = fields
            .map(|(_, field)| size::of_field(shape(field), field.is_optional, self.element(set, field)));
        size::of_structure(lower::kind(set, id), fields)
    }

    /// The fewest bytes of one element of a field; 0 where unknown.
    pub(super) fn element(&self, set: &ModelSet, field: &Field) -> u32 {
        match set.wire(field) {
            _ if is_open(field) => builtin_size(VARIANT),
            Wire::Inline => self.0.get(&field.data_type).copied().unwrap_or(0),
            Wire::Builtin(number) => builtin_size(number),
        }
    }
}

fn builtin_size(number: u8) -> u32 {
    match builtin(number) {
        Type::Primitive(name) | Type::Codec(name) => size::of_builtin(&name.to_string()).unwrap_or(0),
        Type::Item(_) | Type::Rust(_) => 0,
    }
}

fn is_structure(set: &ModelSet, id: &Id) -> bool {
    matches!(set.kind_of_data_type(id), Some(DataTypeKind::Structure | DataTypeKind::Union))
}
