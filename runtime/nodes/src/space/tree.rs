//! The tree of reference types, numbered so that "is a subtype of" is a comparison.

use alloc::vec;
use alloc::vec::Vec;

use uaforge_codec::{NodeId, NodeIdRef};

use super::statics::{NONE, NodeIndex, Statics};
use crate::class::NodeClass;

/// Where a reference type comes from.
#[derive(Clone, Debug, PartialEq)]
enum Origin {
    Static(NodeIndex),
    Dynamic(NodeId),
}

/// All reference types. A type's number never changes; its place in the order does when types come.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReferenceTypes {
    origins: Vec<Origin>,
    parents: Vec<u16>,
    /// Static types by node, for search by halves.
    statics: Vec<(NodeIndex, u16)>,
    /// Position of each type when a type stands before all its subtypes.
    order: Vec<u16>,
    /// The position after the last subtype.
    end: Vec<u16>,
}

/// Which references an iteration gives: all, or those of one type and, if asked, its subtypes
/// (OPC 10000-4 §5.9.2, referenceTypeId and includeSubtypes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceFilter {
    low: u16,
    high: u16,
}

impl ReferenceFilter {
    /// Every reference.
    pub const ALL: Self = Self { low: 0, high: u16::MAX };
}

impl ReferenceTypes {
    pub(crate) fn from_statics(statics: &Statics) -> Self {
        let mut types = Self::default();
        for (model, mounted) in (0u16..).zip(&statics.models) {
            for (row, node) in (0u32..).zip(mounted.model.nodes) {
                if NodeClass::from_kind(node.1) == NodeClass::ReferenceType
                    && types.origins.len() < usize::from(NONE) - 1
                {
                    let index = NodeIndex { model, row };
                    types.statics.push((index, types.origins.len() as u16));
                    types.origins.push(Origin::Static(index));
                }
            }
        }
        types.parents = (types.origins.iter())
            .map(|origin| match origin {
                Origin::Static(node) => {
                    let parent = super::supertype_of_static(statics, *node);
                    parent.map_or(NONE, |parent| types.number_of_static(parent))
                }
                Origin::Dynamic(_) => NONE,
            })
            .collect();
        types.renumber();
        types
    }

    /// The number of a static type, or [`NONE`].
    pub(crate) fn number_of_static(&self, node: NodeIndex) -> u16 {
        let found = self.statics.binary_search_by_key(&node, |(node, _)| *node);
        found.ok().and_then(|at| self.statics.get(at)).map_or(NONE, |(_, number)| *number)
    }

    /// The number of any type, or [`NONE`].
    pub(crate) fn number_of(&self, statics: &Statics, id: NodeIdRef<'_>) -> u16 {
        if let Some(node) = statics.find(id) {
            return self.number_of_static(node);
        }
        let dynamic = |origin: &Origin| matches!(origin, Origin::Dynamic(own) if own.as_ref() == id);
        let later = self.statics.len();
        let found = self.origins.get(later..).unwrap_or_default().iter().position(dynamic);
        found.map_or(NONE, |at| (later + at) as u16)
    }

    /// Adds a type below another; its number.
    pub(crate) fn add(&mut self, id: NodeId, parent: u16) -> u16 {
        let number = self.origins.len() as u16;
        self.origins.push(Origin::Dynamic(id));
        self.parents.push(parent);
        self.renumber();
        number
    }

    pub(crate) fn has_room(&self) -> bool {
        self.origins.len() < usize::from(NONE) - 1
    }

    /// A filter; `None` if the number is that of no type.
    pub(crate) fn filter(&self, number: u16, include_subtypes: bool) -> Option<ReferenceFilter> {
        let low = *self.order.get(usize::from(number))?;
        let end = *self.end.get(usize::from(number))?;
        Some(ReferenceFilter { low, high: if include_subtypes { end } else { low + 1 } })
    }

    #[inline]
    pub(crate) fn matches(&self, filter: ReferenceFilter, number: u16) -> bool {
        if filter == ReferenceFilter::ALL {
            return true;
        }
        let place = self.order.get(usize::from(number)).copied().unwrap_or(u16::MAX);
        filter.low <= place && place < filter.high
    }

    fn renumber(&mut self) {
        let count = self.origins.len();
        let mut children: Vec<Vec<u16>> = vec![Vec::new(); count];
        let mut roots = Vec::new();
        for (number, parent) in (0u16..).zip(&self.parents) {
            match children.get_mut(usize::from(*parent)) {
                Some(list) => list.push(number),
                None => roots.push(number),
            }
        }
        self.order = vec![u16::MAX; count];
        self.end = vec![u16::MAX; count];
        let mut next = 0;
        // A cycle has no root; whatever no root reaches becomes one.
        roots.extend(0..count as u16);
        for root in roots {
            self.number_below(root, &children, &mut next);
        }
    }

    fn number_below(&mut self, root: u16, children: &[Vec<u16>], next: &mut u16) {
        let mut stack = vec![(root, false)];
        while let Some((number, done)) = stack.pop() {
            let at = usize::from(number);
            if done {
                if let Some(end) = self.end.get_mut(at) {
                    *end = *next;
                }
                continue;
            }
            let Some(place) = self.order.get_mut(at).filter(|place| **place == u16::MAX) else {
                continue;
            };
            *place = *next;
            *next += 1;
            stack.push((number, true));
            let below = children.get(at).map(Vec::as_slice).unwrap_or_default();
            stack.extend(below.iter().rev().map(|child| (*child, false)));
        }
    }
}
