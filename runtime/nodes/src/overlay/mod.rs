//! What is added to the static tables while the program runs: an immutable snapshot behind a pointer.
//!
//! Readers hold a snapshot and never wait. A writer copies what it changes: one shard of the map and
//! the entries it touches.

mod attributes;
mod edit;
mod list;
mod node;

use alloc::sync::Arc;
use alloc::vec::Vec;

use hashbrown::HashTable;
use uaforge_codec::{NodeId, NodeIdRef, Variant};

use crate::cell::ValueCell;
use crate::class::AttributeId;
use crate::ids;
use crate::space::ReferenceTypes;

pub use attributes::attribute_type;
pub use edit::Edit;
pub(crate) use list::{DynamicReference, ReferenceList};
pub use node::{ClassAttributes, NewNode, VariableAttributes};

const SHARDS: usize = 64;

/// What the overlay knows of one node, static or its own.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: NodeId,
    /// The node itself, unless it is a static one.
    pub(crate) node: Option<Arc<NewNode>>,
    pub(crate) forward: ReferenceList,
    pub(crate) inverse: ReferenceList,
    pub(crate) cell: Option<Arc<ValueCell>>,
    /// Attributes that were written over those of the model or of the added node.
    overrides: Option<Arc<Vec<(AttributeId, Variant)>>>,
}

/// An immutable state of the overlay.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    shards: Vec<Arc<HashTable<Arc<Entry>>>>,
    pub(crate) types: Arc<ReferenceTypes>,
    seed: u64,
    count: usize,
    /// Some attribute was written over: else static nodes need no look at the overlay for theirs.
    has_overrides: bool,
}

impl Entry {
    fn new(id: NodeId) -> Self {
        let (forward, inverse) = Default::default();
        Self { id, node: None, forward, inverse, cell: None, overrides: None }
    }

    fn is_empty(&self) -> bool {
        self.node.is_none()
            && self.forward.is_empty()
            && self.inverse.is_empty()
            && self.cell.is_none()
            && self.overrides.is_none()
    }

    /// What was written over an attribute.
    #[inline]
    pub(crate) fn overridden(&self, attribute: AttributeId) -> Option<&Variant> {
        let overrides = self.overrides.as_ref()?;
        overrides.iter().find(|(own, _)| *own == attribute).map(|(_, value)| value)
    }

    fn override_attribute(&mut self, attribute: AttributeId, value: Variant) {
        let overrides = Arc::make_mut(self.overrides.get_or_insert_default());
        match overrides.iter_mut().find(|(own, _)| *own == attribute) {
            Some((_, own)) => *own = value,
            None => overrides.push((attribute, value)),
        }
    }
}

impl Overlay {
    /// An empty overlay. The seed keeps peers from choosing ids that collide.
    pub(crate) fn new(types: ReferenceTypes, seed: u64) -> Self {
        let shards = (0..SHARDS).map(|_| Arc::new(HashTable::new())).collect();
        Self { shards, types: Arc::new(types), seed, count: 0, has_overrides: false }
    }

    #[inline]
    fn place(&self, id: NodeIdRef<'_>) -> (u64, usize) {
        let hash = ids::hash(self.seed, id);
        (hash, (hash >> 32) as usize % SHARDS)
    }

    /// What is known of a node.
    #[inline]
    pub(crate) fn get(&self, id: NodeIdRef<'_>) -> Option<&Entry> {
        if self.count == 0 {
            return None;
        }
        let (hash, shard) = self.place(id);
        let shard = self.shards.get(shard)?;
        // The kind of the id is looked at once, not again for each comparison.
        let found = match id {
            NodeIdRef::String(namespace, text) => {
                shard.find(hash, |entry| entry.id.as_string_in(namespace) == Some(text))
            }
            id => shard.find(hash, |entry| entry.id.as_ref() == id),
        };
        found.map(Arc::as_ref)
    }

    /// Whether any attribute of any node was written over.
    #[inline]
    pub(crate) fn has_overrides(&self) -> bool {
        self.has_overrides
    }

    /// All entries, in no order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.shards.iter().flat_map(|shard| shard.iter()).map(Arc::as_ref)
    }

    /// Changes the entry of a node, making it if need be and removing it if nothing is left.
    fn change<R>(&mut self, id: &NodeId, change: impl FnOnce(&mut Entry) -> R) -> Option<R> {
        let (hash, shard) = self.place(id.as_ref());
        let seed = self.seed;
        let shard = Arc::make_mut(self.shards.get_mut(shard)?);
        let rehash = |entry: &Arc<Entry>| ids::hash(seed, entry.id.as_ref());
        let occupied = shard.find_entry(hash, |entry| entry.id == *id);
        let mut occupied = match occupied {
            Ok(occupied) => occupied,
            Err(absent) => {
                self.count += 1;
                let table = absent.into_table();
                table.insert_unique(hash, Arc::new(Entry::new(id.clone())), rehash)
            }
        };
        let entry = Arc::make_mut(occupied.get_mut());
        let result = change(entry);
        if entry.is_empty() {
            occupied.remove();
            self.count -= 1;
        }
        Some(result)
    }
}
