//! What is added to the static tables while the program runs: an immutable snapshot behind a pointer.
//!
//! Readers hold a snapshot and never wait. A writer copies what it changes: one shard of the map and
//! the entries it touches.

mod edit;
mod list;
mod node;

use alloc::sync::Arc;
use alloc::vec::Vec;

use hashbrown::HashTable;
use uaforge_codec::{NodeId, NodeIdRef};

use crate::cell::ValueCell;
use crate::ids;
use crate::space::ReferenceTypes;

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
}

/// An immutable state of the overlay.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    shards: Vec<Arc<HashTable<Arc<Entry>>>>,
    pub(crate) types: Arc<ReferenceTypes>,
    seed: u64,
    count: usize,
}

impl Entry {
    fn new(id: NodeId) -> Self {
        let (forward, inverse) = Default::default();
        Self { id, node: None, forward, inverse, cell: None }
    }

    fn is_empty(&self) -> bool {
        self.node.is_none() && self.forward.is_empty() && self.inverse.is_empty() && self.cell.is_none()
    }
}

impl Overlay {
    /// An empty overlay. The seed keeps peers from choosing ids that collide.
    pub(crate) fn new(types: ReferenceTypes, seed: u64) -> Self {
        let shards = (0..SHARDS).map(|_| Arc::new(HashTable::new())).collect();
        Self { shards, types: Arc::new(types), seed, count: 0 }
    }

    #[inline]
    fn place(&self, id: NodeIdRef<'_>) -> (u64, usize) {
        let hash = ids::hash(self.seed, id);
        (hash, (hash >> 32) as usize % SHARDS)
    }

    #[inline]
    pub(crate) fn get(&self, id: NodeIdRef<'_>) -> Option<&Entry> {
        if self.count == 0 {
            return None;
        }
        let (hash, shard) = self.place(id);
        let found = self.shards.get(shard)?.find(hash, |entry| entry.id.as_ref() == id);
        found.map(Arc::as_ref)
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
