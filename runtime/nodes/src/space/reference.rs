//! References of a node: those of its model, those that other models graft onto it, those of the
//! overlay, as one iterator that allocates nothing.

use uaforge_codec::NodeIdRef;

use super::statics::{Graft, NodeIndex};
use super::tree::ReferenceFilter;
use super::{Node, Snapshot};
use crate::overlay::{DynamicReference, Entry};
use crate::table::{ReferenceRow, References};

/// BrowseDirection (OPC 10000-4 §7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the node.
    Forward,
    /// To the node.
    Inverse,
    /// First the forward ones, then the inverse ones.
    Both,
}

/// A place in an iteration over references, to go on from later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    inverse: bool,
    segment: u32,
    index: u32,
}

#[derive(Clone, Copy, Debug)]
enum Rows<'a> {
    Static(u16, &'static [ReferenceRow]),
    Dynamic(&'a [DynamicReference]),
    /// No further segment.
    End,
}

/// Iterates over the references of a node; see [`Node::references`].
#[derive(Clone, Debug)]
pub struct ReferenceIter<'a> {
    snapshot: &'a Snapshot,
    own: Option<(u16, References)>,
    grafts: &'a [Graft],
    entry: Option<&'a Entry>,
    filter: ReferenceFilter,
    direction: Direction,
    at: Cursor,
    rows: Rows<'a>,
}

/// One reference, seen from the node whose references were asked for.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'a> {
    snapshot: &'a Snapshot,
    is_forward: bool,
    end: End<'a>,
}

#[derive(Clone, Copy, Debug)]
enum End<'a> {
    Static(u16, &'static ReferenceRow),
    Dynamic(&'a DynamicReference),
}

impl<'a> ReferenceIter<'a> {
    pub(super) fn new(node: Node<'a>, direction: Direction, filter: ReferenceFilter, cursor: Cursor) -> Self {
        Self::of_parts(node.snapshot(), node.index(), node.entry(), direction, filter, cursor)
    }

    /// The references that the overlay has for a node of somebody else.
    pub(super) fn external(
        snapshot: &'a Snapshot,
        entry: Option<&'a Entry>,
        direction: Direction,
        filter: ReferenceFilter,
    ) -> Self {
        Self::of_parts(snapshot, None, entry, direction, filter, Cursor::default())
    }

    fn of_parts(
        snapshot: &'a Snapshot,
        index: Option<NodeIndex>,
        entry: Option<&'a Entry>,
        direction: Direction,
        filter: ReferenceFilter,
        cursor: Cursor,
    ) -> Self {
        let statics = &snapshot.statics;
        let own = index.and_then(|index| {
            let mounted = statics.mounted(index.model)?;
            Some((index.model, mounted.model.references(index.row)))
        });
        let at = if direction == Direction::Inverse && !cursor.inverse {
            Cursor { inverse: true, segment: 0, index: 0 }
        } else {
            cursor
        };
        let mut iter = Self {
            snapshot,
            own,
            grafts: index.map(|index| statics.grafts(index)).unwrap_or_default(),
            entry,
            filter,
            direction,
            at,
            rows: Rows::End,
        };
        iter.rows = iter.segment();
        iter
    }

    /// Where the iteration stands: the reference that [`next`](Iterator::next) looks at first.
    pub fn cursor(&self) -> Cursor {
        self.at
    }

    /// The rows of the current segment: 0 the node's own, then one per graft, then the overlay's chunks.
    fn segment(&self) -> Rows<'a> {
        let pick = |(model, references): (u16, References)| {
            Rows::Static(model, if self.at.inverse { references.inverse } else { references.forward })
        };
        let graft = (self.at.segment as usize).checked_sub(1);
        match graft {
            None => self.own.map_or(Rows::Static(0, &[]), pick),
            Some(graft) => match self.grafts.get(graft) {
                Some(graft) => pick(self.snapshot.statics.grafted(graft)),
                None => self.chunk(graft - self.grafts.len()).map_or(Rows::End, Rows::Dynamic),
            },
        }
    }

    /// A part of what the overlay has.
    fn chunk(&self, index: usize) -> Option<&'a [DynamicReference]> {
        let entry = self.entry?;
        let list = if self.at.inverse { &entry.inverse } else { &entry.forward };
        list.chunk(index)
    }

    /// Goes to the next segment; false if there is none.
    fn advance(&mut self) -> bool {
        self.at.segment += 1;
        self.at.index = 0;
        self.rows = self.segment();
        if matches!(self.rows, Rows::End) {
            if self.at.inverse || self.direction != Direction::Both {
                return false;
            }
            self.at = Cursor { inverse: true, segment: 0, index: 0 };
            self.rows = self.segment();
        }
        true
    }

    #[inline]
    fn matches(&self, end: End<'a>) -> bool {
        if self.filter == ReferenceFilter::ALL {
            return true;
        }
        let number = match end {
            End::Static(model, row) => {
                let types = self.snapshot.statics.mounted(model).map(|m| m.types.as_slice());
                types.and_then(|types| types.get(usize::from(row.0))).copied()
            }
            End::Dynamic(reference) => Some(reference.number),
        };
        number.is_some_and(|number| self.snapshot.overlay.types.matches(self.filter, number))
    }
}

impl<'a> Iterator for ReferenceIter<'a> {
    type Item = Reference<'a>;

    #[inline]
    fn next(&mut self) -> Option<Reference<'a>> {
        loop {
            let index = self.at.index as usize;
            let end = match self.rows {
                Rows::Static(model, rows) => rows.get(index).map(|row| End::Static(model, row)),
                Rows::Dynamic(rows) => rows.get(index).map(End::Dynamic),
                Rows::End => return None,
            };
            match end {
                Some(end) => {
                    self.at.index += 1;
                    if self.matches(end) {
                        let is_forward = !self.at.inverse;
                        return Some(Reference { snapshot: self.snapshot, is_forward, end });
                    }
                }
                None if self.advance() => {}
                None => return None,
            }
        }
    }
}

impl<'a> Reference<'a> {
    /// True for a reference from the node.
    pub fn is_forward(&self) -> bool {
        self.is_forward
    }

    /// Its ReferenceType.
    pub fn type_id(&self) -> NodeIdRef<'a> {
        match self.end {
            End::Static(model, row) => {
                let mounted = self.snapshot.statics.mounted(model);
                let found = mounted.and_then(|m| Some((m, m.model.reference_types.get(usize::from(row.0))?)));
                found.map_or(NodeIdRef::NULL, |(m, row)| m.id(row.0, row.1))
            }
            End::Dynamic(reference) => reference.reference_type.as_ref(),
        }
    }

    /// The other end.
    #[inline]
    pub fn target_id(&self) -> NodeIdRef<'a> {
        match self.end {
            End::Static(model, row) => match self.snapshot.statics.mounted(model) {
                Some(mounted) => mounted.id(row.1, row.2),
                None => NodeIdRef::NULL,
            },
            End::Dynamic(reference) => reference.target.as_ref(),
        }
    }

    /// The node at the other end, if it exists.
    #[inline]
    pub fn target(&self) -> Option<Node<'a>> {
        match self.end {
            End::Static(model, row) => {
                let index = self.snapshot.statics.follow(model, row.1, row.2)?;
                Some(Node::of_static(self.snapshot, index))
            }
            End::Dynamic(reference) => self.snapshot.node(reference.target.as_ref()),
        }
    }
}
