//! Continuation points of Browse (OPC 10000-4 §7.9): a few per session, each used once.

use std::collections::VecDeque;
use std::sync::Arc;

use uaforge_codec::NodeId;
use uaforge_nodes::{Cursor, Direction, ReferenceFilter, Snapshot};
use uaforge_types::ReferenceDescription;

/// Bytes of a continuation point: a number and the salt of the session.
pub(crate) const POINT_LEN: usize = 16;

/// What a client sees of a point. Points of other sessions have another salt.
pub(crate) type PointId = [u8; POINT_LEN];

/// What one node of a Browse asked for, owned, so that BrowseNext can go on.
#[derive(Clone, Debug)]
pub(crate) struct BrowseQuery {
    pub(crate) node: NodeId,
    pub(crate) direction: Direction,
    pub(crate) reference_type: NodeId,
    pub(crate) include_subtypes: bool,
    pub(crate) filter: ReferenceFilter,
    pub(crate) class_mask: u32,
    pub(crate) result_mask: u32,
    pub(crate) page: u32,
}

/// Where the next page begins.
#[derive(Clone, Debug)]
pub(crate) enum Position {
    /// In the address space as it was when the browse began, so that pages fit together whatever changes.
    Cursor(Cursor, Snapshot),
    /// After this many references of a manager that gives them in a stable order.
    After(u32),
    /// Where a manager said.
    From(u64),
    /// After this many references that the address space has for a manager's node.
    External(u32),
    /// The rest of a deferred answer, from this reference on.
    Rest(Arc<[ReferenceDescription]>, usize),
}

/// A page that can be continued.
#[derive(Clone, Debug)]
pub(crate) struct Continuation {
    pub(crate) query: BrowseQuery,
    pub(crate) position: Position,
}

struct Entry {
    number: u64,
    request: u64,
    continuation: Continuation,
}

/// The points of one session, oldest first.
pub(crate) struct ContinuationPoints {
    entries: VecDeque<Entry>,
    limit: usize,
    salt: u64,
    next: u64,
    request: u64,
}

impl ContinuationPoints {
    pub(crate) fn new(limit: u16, salt: u64) -> Self {
        Self { entries: VecDeque::new(), limit: usize::from(limit), salt, next: 1, request: 0 }
    }

    /// Starts a new request: points of earlier requests may be freed for it (OPC 10000-4 §7.9).
    pub(crate) fn begin_request(&mut self) -> u64 {
        self.request += 1;
        self.request
    }

    /// Whether `request` can get a point; frees the oldest point of an earlier request if there is no room.
    pub(crate) fn make_room(&mut self, request: u64) -> bool {
        if self.entries.len() < self.limit {
            return true;
        }
        match self.entries.front() {
            Some(entry) if entry.request < request => {
                self.entries.pop_front();
                true
            }
            _ => false,
        }
    }

    /// Keeps a continuation; `None` if there is no room.
    pub(crate) fn keep(&mut self, request: u64, continuation: Continuation) -> Option<PointId> {
        if !self.make_room(request) {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.entries.push_back(Entry { number, request, continuation });
        let mut id = [0; POINT_LEN];
        id[..8].copy_from_slice(&number.to_le_bytes());
        id[8..].copy_from_slice(&self.salt.to_le_bytes());
        Some(id)
    }

    /// Takes a point out; each is good for one use.
    pub(crate) fn take(&mut self, id: &[u8]) -> Option<Continuation> {
        let id: PointId = id.try_into().ok()?;
        let (number, salt) = id.split_at(8);
        if salt != self.salt.to_le_bytes() {
            return None;
        }
        let at = self.entries.iter().position(|e| e.number.to_le_bytes() == number)?;
        Some(self.entries.remove(at)?.continuation)
    }

    pub(crate) fn clear(&mut self) {
        self.entries = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn continuation() -> Continuation {
        Continuation {
            query: BrowseQuery {
                node: NodeId::numeric(0, 85),
                direction: Direction::Forward,
                reference_type: NodeId::NULL,
                include_subtypes: true,
                filter: ReferenceFilter::ALL,
                class_mask: 0,
                result_mask: 63,
                page: 10,
            },
            position: Position::After(10),
        }
    }

    #[test]
    fn a_point_is_good_once_and_for_its_session() {
        let mut points = ContinuationPoints::new(2, 7);
        let request = points.begin_request();
        let id = points.keep(request, continuation()).unwrap();
        assert!(ContinuationPoints::new(2, 8).take(&id).is_none());
        assert!(points.take(&id).is_some());
        assert!(points.take(&id).is_none());
        assert!(points.take(&[]).is_none());
    }

    #[test]
    fn a_request_frees_points_of_earlier_ones_only() {
        let mut points = ContinuationPoints::new(2, 7);
        let first = points.begin_request();
        let old = points.keep(first, continuation()).unwrap();
        let second = points.begin_request();
        assert!(points.keep(second, continuation()).is_some());
        assert!(points.keep(second, continuation()).is_some());
        assert!(points.keep(second, continuation()).is_none());
        assert!(points.take(&old).is_none());
    }
}
