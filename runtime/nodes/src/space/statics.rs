//! Models mounted into one address space: slots resolved, grafts merged.

use alloc::vec::Vec;

use uaforge_codec::{NamespaceMap, NodeIdRef};

use super::memo::Memo;
use crate::ids::{self, Ident};
use crate::table::{NAMED, NamedKind, References, StaticModel};

/// No model, no reference type.
pub(crate) const NONE: u16 = u16::MAX;

/// A node of the static tables: which mounted model, which row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeIndex {
    pub(crate) model: u16,
    pub(crate) row: u32,
}

/// One model in its place.
#[derive(Debug)]
pub(crate) struct Mounted {
    pub(crate) model: &'static StaticModel,
    /// Wire index of each slot.
    pub(crate) wire: Vec<u16>,
    /// Mounted model of each slot.
    pub(crate) models: Vec<u16>,
    /// Reference type of the address space for each of the model's.
    pub(crate) types: Vec<u16>,
    /// The model's numbers of the reference types that are followed here.
    pub(crate) known: Known,
    /// What others keep beside the rows.
    pub(crate) memo: Memo,
    /// One bit a row: some other model has references for it. Empty if none has.
    grafted: Vec<u64>,
}

/// A model's numbers of well-known reference types; [`NONE`] if it does not use one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) has_subtype: u16,
    pub(crate) has_type_definition: u16,
    pub(crate) has_modelling_rule: u16,
}

/// References that `by` adds to a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Graft {
    node: NodeIndex,
    by: u16,
    index: u32,
}

/// All mounted models.
#[derive(Debug, Default)]
pub(crate) struct Statics {
    pub(crate) namespaces: NamespaceMap,
    pub(crate) models: Vec<Mounted>,
    /// Mounted model of each wire index.
    pub(crate) by_wire: Vec<u16>,
    /// Ordered by node.
    grafts: Vec<Graft>,
}

impl Mounted {
    pub(crate) fn new(model: &'static StaticModel, wire: Vec<u16>, models: Vec<u16>) -> Self {
        let ns0_slot = wire.iter().position(|wire| *wire == 0).map(|slot| slot as u8);
        let number_of = |id: u32| {
            let found = |row: &crate::table::ReferenceTypeRow| Some(row.0) == ns0_slot && row.1 == id;
            model.reference_types.iter().position(found).map_or(NONE, |at| at as u16)
        };
        let known = Known {
            has_subtype: number_of(ids::HAS_SUBTYPE),
            has_type_definition: number_of(ids::HAS_TYPE_DEFINITION),
            has_modelling_rule: number_of(ids::HAS_MODELLING_RULE),
        };
        let memo = Memo::new(model.nodes.len());
        Self { model, wire, models, types: Vec::new(), known, memo, grafted: Vec::new() }
    }

    /// The id in a row as it goes over the wire.
    #[inline]
    pub(crate) fn id(&self, slot: u8, id: u32) -> NodeIdRef<'static> {
        if slot & NAMED == 0 {
            let wire = self.wire.get(usize::from(slot)).copied().unwrap_or_default();
            return ids::numeric(wire, id);
        }
        self.named_id(id)
    }

    #[cold]
    fn named_id(&self, key: u32) -> NodeIdRef<'static> {
        match self.model.named(key) {
            Some(named) => {
                let wire = self.wire.get(usize::from(named.slot)).copied().unwrap_or_default();
                ids::named(wire, named.kind, named.bytes)
            }
            None => NodeIdRef::NULL,
        }
    }
}

impl Statics {
    pub(crate) fn new(namespaces: NamespaceMap, models: Vec<Mounted>, by_wire: Vec<u16>) -> Self {
        Self { namespaces, models, by_wire, grafts: Vec::new() }
    }

    /// Notes the number of each reference type that the models use.
    pub(crate) fn number_types(&mut self, types: &super::ReferenceTypes) {
        let numbers: Vec<Vec<u16>> = (0u16..)
            .zip(&self.models)
            .map(|(model, mounted)| {
                let number = |row: &crate::table::ReferenceTypeRow| {
                    let node = self.follow(model, row.0, row.1);
                    node.map_or(NONE, |node| types.number_of_static(node))
                };
                mounted.model.reference_types.iter().map(number).collect()
            })
            .collect();
        for (mounted, numbers) in self.models.iter_mut().zip(numbers) {
            mounted.types = numbers;
        }
    }

    #[inline]
    pub(crate) fn mounted(&self, model: u16) -> Option<&Mounted> {
        self.models.get(usize::from(model))
    }

    /// The static node with this id.
    #[inline]
    pub(crate) fn find(&self, id: NodeIdRef<'_>) -> Option<NodeIndex> {
        let model = *self.by_wire.get(usize::from(id.namespace()))?;
        let mounted = self.models.get(usize::from(model))?;
        let row = match id {
            NodeIdRef::Numeric(_, id) => mounted.model.find_numeric(id)?,
            other => find_named(mounted.model, other)?,
        };
        Some(NodeIndex { model, row })
    }

    /// The static node that a row of `model` names.
    #[inline]
    pub(crate) fn follow(&self, model: u16, slot: u8, id: u32) -> Option<NodeIndex> {
        let mounted = self.mounted(model)?;
        if slot & NAMED != 0 {
            return self.follow_named(mounted, id);
        }
        let target = *mounted.models.get(usize::from(slot))?;
        let row = self.mounted(target)?.model.find_numeric(id)?;
        Some(NodeIndex { model: target, row })
    }

    #[cold]
    fn follow_named(&self, mounted: &Mounted, key: u32) -> Option<NodeIndex> {
        let named = mounted.model.named(key)?;
        let target = *mounted.models.get(usize::from(named.slot))?;
        let row = self.mounted(target)?.model.find_named(named.kind, named.bytes)?;
        Some(NodeIndex { model: target, row })
    }

    /// Merges the grafts of all models. Gives the first one whose node does not exist.
    pub(crate) fn merge_grafts(&mut self) -> Result<(), (u16, NodeIdRef<'static>)> {
        let mut grafts = Vec::new();
        for (by, mounted) in (0u16..).zip(&self.models) {
            for index in 0..mounted.model.grafts.len() as u32 {
                let Some(graft) = mounted.model.graft(index) else { continue };
                let node = self.follow(by, graft.slot, graft.id);
                let node = node.ok_or_else(|| (by, mounted.id(graft.slot, graft.id)))?;
                grafts.push(Graft { node, by, index });
            }
        }
        grafts.sort_unstable_by_key(|graft| (graft.node, graft.by));
        for graft in &grafts {
            if let Some(mounted) = self.models.get_mut(usize::from(graft.node.model)) {
                let words = mounted.model.nodes.len().div_ceil(64);
                mounted.grafted.resize(words, 0);
                if let Some(word) = mounted.grafted.get_mut((graft.node.row / 64) as usize) {
                    *word |= 1 << (graft.node.row % 64);
                }
            }
        }
        self.grafts = grafts;
        Ok(())
    }

    /// What other models add to a node.
    #[inline]
    pub(crate) fn grafts(&self, node: NodeIndex) -> &[Graft] {
        let words = self.mounted(node.model).map(|m| m.grafted.as_slice()).unwrap_or_default();
        let word = words.get((node.row / 64) as usize).copied().unwrap_or_default();
        if word & (1 << (node.row % 64)) == 0 {
            return &[];
        }
        let start = self.grafts.partition_point(|graft| graft.node < node);
        let rest = self.grafts.get(start..).unwrap_or_default();
        let count = rest.iter().take_while(|graft| graft.node == node).count();
        rest.get(..count).unwrap_or_default()
    }

    /// The references of a graft, and the model they stand in.
    #[inline]
    pub(crate) fn grafted(&self, graft: &Graft) -> (u16, References) {
        let found = self.mounted(graft.by).and_then(|m| m.model.graft(graft.index));
        (graft.by, found.map(|g| g.references).unwrap_or_default())
    }
}

#[cold]
fn find_named(model: &StaticModel, id: NodeIdRef<'_>) -> Option<u32> {
    match ids::split(id) {
        Ident::Numeric(id) => model.find_numeric(id),
        Ident::Named(kind, bytes) => model.find_named(kind, bytes),
        Ident::Guid(bytes) => model.find_named(NamedKind::Guid, &bytes),
    }
}
