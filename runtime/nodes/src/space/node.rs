//! A node of a snapshot, static or added, seen through one type.

use alloc::sync::Arc;

use uaforge_codec::{LocalizedText, NodeIdRef, QualifiedName, Variant};

use super::Snapshot;
use super::reference::{Cursor, Direction, ReferenceIter};
use super::statics::{Mounted, NodeIndex};
use super::tree::ReferenceFilter;
use crate::cell::ValueCell;
use crate::class::{AttributeId, NodeClass};
use crate::ids;
use crate::overlay::{Entry, NewNode};
use crate::table::{NodeRow, StaticText, kind};

/// A node. Copy: it borrows the snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    snapshot: &'a Snapshot,
    at: At<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum At<'a> {
    Static(StaticNode<'a>),
    Dynamic(&'a Entry, &'a NewNode),
}

/// A row and the model it stands in.
#[derive(Clone, Copy, Debug)]
pub(super) struct StaticNode<'a> {
    pub(super) mounted: &'a Mounted,
    pub(super) index: NodeIndex,
    pub(super) row: &'static NodeRow,
}

/// A browse name with its wire index (OPC 10000-3 §8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrowseName<'a> {
    /// The wire index of its namespace.
    pub namespace: u16,
    /// The name.
    pub name: &'a str,
}

impl<'a> From<&'a QualifiedName> for BrowseName<'a> {
    fn from(name: &'a QualifiedName) -> Self {
        Self { namespace: name.namespace_index, name: name.name.as_str().unwrap_or_default() }
    }
}

/// A LocalizedText (OPC 10000-3 §8.5); empty parts are null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text<'a> {
    /// The locale.
    pub locale: &'a str,
    /// The text.
    pub text: &'a str,
}

impl From<StaticText> for Text<'static> {
    fn from(text: StaticText) -> Self {
        Self { locale: text.locale, text: text.text }
    }
}

impl<'a> From<&'a LocalizedText> for Text<'a> {
    fn from(text: &'a LocalizedText) -> Self {
        Self {
            locale: text.locale.as_str().unwrap_or_default(),
            text: text.text.as_str().unwrap_or_default(),
        }
    }
}

/// The row of an index that is out of range: none of any class.
static NO_ROW: NodeRow = NodeRow(0, 0, 0, 0, 0, 0, 0);

impl<'a> Node<'a> {
    #[inline]
    pub(super) fn of_static(snapshot: &'a Snapshot, index: NodeIndex) -> Self {
        // `index` was found in these very tables.
        let mounted = &snapshot.statics.models[usize::from(index.model)];
        let row = mounted.model.nodes.get(index.row as usize).unwrap_or(&NO_ROW);
        Self { snapshot, at: At::Static(StaticNode { mounted, index, row }) }
    }

    #[inline]
    pub(super) fn of_entry(snapshot: &'a Snapshot, entry: &'a Entry) -> Option<Self> {
        let node = entry.node.as_deref()?;
        Some(Self { snapshot, at: At::Dynamic(entry, node) })
    }

    #[inline]
    pub(super) fn at(&self) -> At<'a> {
        self.at
    }

    pub(super) fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    pub(super) fn index(&self) -> Option<NodeIndex> {
        match self.at {
            At::Static(node) => Some(node.index),
            At::Dynamic(..) => None,
        }
    }

    /// What the overlay knows of the node.
    #[inline]
    pub(super) fn entry(&self) -> Option<&'a Entry> {
        match self.at {
            At::Static(_) => self.snapshot.overlay.get(self.id()),
            At::Dynamic(entry, _) => Some(entry),
        }
    }

    /// True if the node stands in the tables of a model.
    pub fn is_static(&self) -> bool {
        matches!(self.at, At::Static(_))
    }

    /// NodeId.
    #[inline]
    pub fn id(&self) -> NodeIdRef<'a> {
        match self.at {
            At::Static(node) => {
                let named = if node.row.1 & kind::NAMED != 0 { crate::table::NAMED } else { 0 };
                node.mounted.id(named, node.row.0)
            }
            At::Dynamic(entry, _) => entry.id.as_ref(),
        }
    }

    /// NodeClass.
    #[inline]
    pub fn class(&self) -> NodeClass {
        match self.at {
            At::Static(node) => NodeClass::from_kind(node.row.1),
            At::Dynamic(_, node) => node.class(),
        }
    }

    /// Whether any of the node's attributes may have been written over.
    #[inline]
    pub(super) fn has_overrides(&self) -> bool {
        self.snapshot.overlay.has_overrides()
    }

    /// What was written over an attribute.
    #[inline]
    pub(super) fn overridden(&self, attribute: AttributeId) -> Option<&'a Variant> {
        if !self.has_overrides() {
            return None;
        }
        self.entry()?.overridden(attribute)
    }

    /// BrowseName.
    #[inline]
    pub fn browse_name(&self) -> BrowseName<'a> {
        if let Some(Variant::QualifiedName(name)) = self.overridden(AttributeId::BrowseName) {
            return (&**name).into();
        }
        match self.at {
            At::Static(node) => {
                let wire = node.mounted.wire.get(usize::from(node.row.2));
                BrowseName {
                    namespace: wire.copied().unwrap_or_default(),
                    name: node.mounted.model.browse_name(node.index.row),
                }
            }
            At::Dynamic(_, node) => (&node.browse_name).into(),
        }
    }

    /// DisplayName.
    pub fn display_name(&self) -> Text<'a> {
        if let Some(Variant::LocalizedText(text)) = self.overridden(AttributeId::DisplayName) {
            return (&**text).into();
        }
        match self.at {
            At::Static(node) => node.mounted.model.display_name(node.index.row).into(),
            At::Dynamic(_, node) => (&node.display_name).into(),
        }
    }

    /// The cell with the value of a Variable, if it has one.
    #[inline]
    pub fn cell(&self) -> Option<&'a Arc<ValueCell>> {
        self.entry()?.cell.as_ref()
    }

    /// The first target of a forward HasTypeDefinition.
    pub fn type_definition(&self) -> Option<NodeIdRef<'a>> {
        if let At::Static(node) = self.at {
            let rows = node.mounted.model.references(node.index.row).forward;
            let number = node.mounted.known.has_type_definition;
            let row = rows.get(rows.partition_point(|row| row.0 < number))?;
            return (row.0 == number).then(|| node.mounted.id(row.1, row.2));
        }
        self.first(ids::HAS_TYPE_DEFINITION, Direction::Forward)
    }

    /// The modelling rule.
    pub fn modelling_rule(&self) -> Option<NodeIdRef<'a>> {
        if let At::Static(node) = self.at {
            let rows = node.mounted.model.references(node.index.row).forward;
            let number = node.mounted.known.has_modelling_rule;
            let row = rows.get(rows.partition_point(|row| row.0 < number))?;
            return (row.0 == number).then(|| node.mounted.id(row.1, row.2));
        }
        self.first(ids::HAS_MODELLING_RULE, Direction::Forward)
    }

    /// The supertype of a type.
    pub fn supertype(&self) -> Option<Node<'a>> {
        if let At::Static(node) = self.at
            && let Some(index) = super::supertype_of_static(&self.snapshot.statics, node.index)
        {
            return Some(Self::of_static(self.snapshot, index));
        }
        self.snapshot.node(self.first(ids::HAS_SUBTYPE, Direction::Inverse)?)
    }

    fn first(&self, reference_type: u32, direction: Direction) -> Option<NodeIdRef<'a>> {
        let filter = self.snapshot.reference_filter(ids::ns0(reference_type), false)?;
        self.references(direction, filter).next().map(|reference| reference.target_id())
    }

    /// The node's references.
    pub fn references(self, direction: Direction, filter: ReferenceFilter) -> ReferenceIter<'a> {
        ReferenceIter::new(self, direction, filter, Cursor::default())
    }

    /// The node's references from where an earlier iteration over the same snapshot, direction and
    /// filter stood.
    pub fn references_from(
        self,
        direction: Direction,
        filter: ReferenceFilter,
        cursor: Cursor,
    ) -> ReferenceIter<'a> {
        ReferenceIter::new(self, direction, filter, cursor)
    }
}
