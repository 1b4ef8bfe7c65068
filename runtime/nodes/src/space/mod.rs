//! The address space: mounted models, the overlay, and snapshots of both.

mod attribute;
mod build;
mod enumeration;
mod locale;
mod memo;
mod node;
mod path;
mod reference;
mod statics;
mod tree;
mod variable;

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};

use uaforge_codec::{NamespaceMap, NodeIdRef};

use crate::lock::RwLock;
use crate::overlay::{Edit, Overlay};

pub use attribute::{AttributeValue, EncodedValue, RolePermission, Roles, Timestamps};
pub use build::{AddressSpaceBuilder, BuildError};
pub use enumeration::EnumerationValues;
pub use node::{BrowseName, Node, Text};
pub use path::Follow;
pub use reference::{Cursor, Direction, Reference, ReferenceIter};
pub use tree::ReferenceFilter;
pub use variable::ValueType;

pub(crate) use statics::{NONE, NodeIndex, Statics};
pub(crate) use tree::ReferenceTypes;

/// Longest chain of supertypes that is followed; a cycle ends there.
const MAX_CHAIN: usize = 256;

/// All nodes of a server. Static ones never change; others come and go by [`edit`](Self::edit).
#[derive(Debug)]
pub struct AddressSpace {
    statics: Arc<Statics>,
    overlay: RwLock<Arc<Overlay>>,
    /// Held while an edit runs; one edit follows the other.
    editing: RwLock<()>,
    generation: AtomicU64,
}

/// The address space at one moment. Cheap to take; reading from it needs no lock. Values are not
/// frozen: they live in cells.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) statics: Arc<Statics>,
    pub(crate) overlay: Arc<Overlay>,
    generation: u64,
}

impl AddressSpace {
    /// Begins an address space; `application_uri` gets namespace index 1 (OPC 10000-3 §8.2.2).
    pub fn builder(application_uri: &str) -> AddressSpaceBuilder {
        AddressSpaceBuilder::new(application_uri)
    }

    /// Namespace URIs by wire index.
    pub fn namespaces(&self) -> &NamespaceMap {
        &self.statics.namespaces
    }

    /// The address space as it is now.
    pub fn snapshot(&self) -> Snapshot {
        let generation = self.generation.load(Ordering::Acquire);
        let overlay = Arc::clone(&*self.overlay.read());
        Snapshot { statics: Arc::clone(&self.statics), overlay, generation }
    }

    /// Makes changes, all of them or, if the closure returns an error, none. Edits run one after the
    /// other; readers are not held up. The closure must not call `edit` itself.
    ///
    /// # Errors
    /// What the closure returns.
    pub fn edit<R, E>(&self, change: impl FnOnce(&mut Edit) -> Result<R, E>) -> Result<R, E> {
        let guard = self.editing.write();
        let mut edit = Edit::new(self.snapshot());
        let result = change(&mut edit)?;
        let overlay = edit.into_overlay();
        let before = core::mem::replace(&mut *self.overlay.write(), overlay);
        self.generation.fetch_add(1, Ordering::Release);
        drop(guard);
        drop(before);
        Ok(result)
    }
}

impl Snapshot {
    /// Namespace URIs by wire index.
    pub fn namespaces(&self) -> &NamespaceMap {
        &self.statics.namespaces
    }

    /// Takes the newest state if there is one. True if something had changed.
    pub fn refresh(&mut self, space: &AddressSpace) -> bool {
        let changed = self.generation != space.generation.load(Ordering::Acquire);
        if changed {
            *self = space.snapshot();
        }
        changed
    }

    /// The node with this id.
    #[inline]
    pub fn node(&self, id: NodeIdRef<'_>) -> Option<Node<'_>> {
        if let Some(index) = self.statics.find(id) {
            return Some(Node::of_static(self, index));
        }
        let entry = self.overlay.get(id)?;
        Node::of_entry(self, entry)
    }

    /// All nodes: those of the models, then those that were added.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        let of_model = move |(model, mounted): (u16, &statics::Mounted)| {
            let rows = 0..mounted.model.nodes.len() as u32;
            rows.map(move |row| Node::of_static(self, NodeIndex { model, row }))
        };
        let fixed = (0u16..).zip(&self.statics.models).flat_map(of_model);
        fixed.chain(self.overlay.entries().filter_map(|entry| Node::of_entry(self, entry)))
    }

    /// A filter for references; the null id stands for all. `None` is Bad_ReferenceTypeIdInvalid.
    pub fn reference_filter(
        &self,
        reference_type: NodeIdRef<'_>,
        include_subtypes: bool,
    ) -> Option<ReferenceFilter> {
        if reference_type.is_null() {
            return Some(ReferenceFilter::ALL);
        }
        let types = &self.overlay.types;
        types.filter(types.number_of(&self.statics, reference_type), include_subtypes)
    }

    /// The references that [`Edit::add_external_reference`] noted for a node that is not of this address
    /// space.
    pub fn external_references(
        &self,
        node: NodeIdRef<'_>,
        direction: Direction,
        filter: ReferenceFilter,
    ) -> ReferenceIter<'_> {
        let entry = self.overlay.get(node).filter(|entry| entry.node.is_none());
        ReferenceIter::external(self, entry, direction, filter)
    }

    /// True if `sub` is `base` or one of its subtypes, for types of every class.
    pub fn is_subtype(&self, sub: NodeIdRef<'_>, base: NodeIdRef<'_>) -> bool {
        if sub == base {
            return true;
        }
        let types = &self.overlay.types;
        let number = types.number_of(&self.statics, sub);
        if number != NONE {
            let filter = types.filter(types.number_of(&self.statics, base), true);
            return filter.is_some_and(|filter| types.matches(filter, number));
        }
        let supertypes = core::iter::successors(self.node(sub), |node| node.supertype());
        supertypes.take(MAX_CHAIN).any(|node| node.id() == base)
    }

    /// True if this very reference exists.
    pub fn has_reference(
        &self,
        source: Node<'_>,
        reference_type: NodeIdRef<'_>,
        target: NodeIdRef<'_>,
    ) -> bool {
        let Some(filter) = self.reference_filter(reference_type, false) else {
            return false;
        };
        source.references(Direction::Forward, filter).any(|r| r.target_id() == target)
    }
}

/// The supertype of a static type.
pub(crate) fn supertype_of_static(statics: &Statics, node: NodeIndex) -> Option<NodeIndex> {
    let mounted = statics.mounted(node.model)?;
    let rows = mounted.model.references(node.row).inverse;
    let number = mounted.known.has_subtype;
    let row = rows.get(rows.partition_point(|row| row.0 < number))?;
    (row.0 == number).then(|| statics.follow(node.model, row.1, row.2))?
}
