//! The batch of a Browse: items, filters, and the context that takes references.

use core::future::Future;
use core::ops::ControlFlow;

use uaforge_codec::{Encoder, ExpandedNodeIdRef, NodeIdRef, Now, StatusCode, Ticks, UaString};
use uaforge_nodes::{BrowseName, Cursor, Direction, NodeClass, ReferenceFilter, Snapshot, Text};
use uaforge_types::{ReferenceDescription, status};

use super::defer::{Deferred, Late};
use crate::access::Access;
use crate::cancellation::{Cancellation, Scope};
use crate::encode::{Target, put_reference};
use crate::proto::continuation::{
    BrowseQuery, Continuation, ContinuationPoints, POINT_LEN, PointId, Position,
};
use crate::proto::results::Results;
use crate::shared::Core;

/// References of the address space that one page looks at: it ends there, however few of them are wanted, so
/// that no node holds the connection's thread for long.
const LOOKED_AT: u32 = 50_000;

/// One node to browse (BrowseDescription, OPC 10000-4 §5.9.2.2), and where in its references to begin.
#[derive(Clone, Copy, Debug)]
pub struct BrowseItem<'a> {
    /// Position in the request.
    pub(crate) index: usize,
    /// The node.
    pub node: NodeIdRef<'a>,
    /// Which direction.
    pub direction: Direction,
    /// The reference type, or null for all; it exists.
    pub reference_type: NodeIdRef<'a>,
    /// Whether subtypes of the reference type count.
    pub include_subtypes: bool,
    pub(crate) filter: ReferenceFilter,
    pub(crate) class_mask: u32,
    pub(crate) result_mask: u32,
    pub(crate) page: u32,
    pub(crate) start: Start<'a>,
}

/// Where a page begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start<'a> {
    /// At the first reference.
    First,
    /// In the address space as it was when the browse began.
    Cursor(Cursor, &'a Snapshot),
    /// After this many references.
    After(u32),
    /// At a place that the manager named.
    From(u64),
    /// After this many of the references that the address space has for the node of a manager.
    External(u32),
}

/// What a reference shows of its target.
#[derive(Clone, Copy, Debug)]
pub struct Description<'a> {
    /// NodeClass attribute.
    pub class: NodeClass,
    /// BrowseName attribute.
    pub browse_name: BrowseName<'a>,
    /// DisplayName attribute.
    pub display_name: Text<'a>,
    /// The type definition of an Object or Variable.
    pub type_definition: Option<NodeIdRef<'a>>,
}

/// One reference of the browsed node.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'a> {
    /// The reference type.
    pub reference_type: NodeIdRef<'a>,
    /// Whether the browsed node is the source.
    pub forward: bool,
    /// The node at the other end.
    pub target: ExpandedNodeIdRef<'a>,
}

/// A late answer of Browse: all references that pass the item's filter, in a stable order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BrowseAnswer {
    /// Operation result.
    pub status: StatusCode,
    /// The references; the server pages them.
    pub references: Vec<ReferenceDescription>,
}

/// Buffers of a browse that live as long as the connection.
#[derive(Default)]
pub(crate) struct BrowseBuffers {
    references: Vec<u8>,
}

impl BrowseBuffers {
    /// Gives room above `keep` bytes back.
    pub(crate) fn trim(&mut self, keep: usize) {
        self.references.clear();
        self.references.shrink_to(keep);
    }
}

/// Takes the references of a batch, filters and pages them, and encodes them into the response.
pub struct BrowseCx<'r, 'e> {
    pub(crate) results: Results<'r, 'e>,
    pub(crate) core: &'r Core,
    pub(crate) buffers: &'r mut BrowseBuffers,
    /// What the client wants texts in.
    pub(crate) locales: &'r [UaString],
    pub(crate) snapshot: &'r Snapshot,
    pub(crate) points: &'r mut ContinuationPoints,
    pub(crate) request: u64,
    /// References that the request may still look at in this turn.
    pub(crate) budget: u32,
    pub(crate) access: Access,
    pub(crate) now: Now,
    pub(crate) scope: &'r Scope,
    pub(crate) deferred: &'r mut Vec<Deferred>,
}

impl<'r, 'e> BrowseCx<'r, 'e> {
    /// Who browses.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// The time of this batch.
    #[must_use]
    pub fn now(&self) -> Now {
        self.now
    }

    /// Until when the client waits for the answer.
    #[must_use]
    pub fn deadline(&self) -> Ticks {
        self.scope.deadline()
    }

    /// A token that is fired when the client does not wait any more; for futures and jobs.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.scope.token().clone()
    }

    /// Begins the answer of an item; give its references in a stable order, then call [`Browser::finish`].
    pub fn begin<'c, 'i>(&'c mut self, item: &'i BrowseItem<'i>) -> Browser<'c, 'i, 'r, 'e> {
        self.buffers.references.clear();
        let skip = match item.start {
            Start::After(skip) => skip,
            _ => 0,
        };
        Browser { cx: self, item, skip, seen: 0, count: 0, left: LOOKED_AT, more: false }
    }

    /// Answers with a status and no reference.
    pub fn status(&mut self, item: &BrowseItem<'_>, status: StatusCode) {
        self.results.status(item.index, status);
    }

    /// Whether the request has had its share of the turn.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget == 0
    }

    /// Puts an item off to a later turn.
    pub(crate) fn postpone(&mut self, item: &BrowseItem<'_>) {
        if !self.results.defer(item.index) {
            return;
        }
        let position = match item.start {
            Start::First => Position::After(0),
            Start::Cursor(cursor, snapshot) => Position::Cursor(cursor, snapshot.clone()),
            Start::After(skip) => Position::After(skip),
            Start::From(place) => Position::From(place),
            Start::External(skip) => Position::External(skip),
        };
        let continuation = Continuation { query: item.query(), position };
        let late = Late::Browse(Box::new((continuation, self.request)));
        self.deferred.push(Deferred::new(item.index, item.node, false, core::future::ready(late)));
    }

    /// Hands the answer over to a future; the response waits for it, other requests do not.
    pub fn defer(
        &mut self,
        item: &BrowseItem<'_>,
        future: impl Future<Output = BrowseAnswer> + Send + 'static,
    ) {
        if self.results.defer(item.index) {
            let query = item.query();
            let late = async move { Late::References(Box::new((query, future.await))) };
            self.deferred.push(Deferred::new(item.index, item.node, false, late));
        }
    }

    /// Hands the answer over to a job that may block, on a bounded pool; Bad_ResourceUnavailable if
    /// the pool's queue is full.
    pub fn blocking(&mut self, item: &BrowseItem<'_>, job: impl FnOnce() -> BrowseAnswer + Send + 'static) {
        let result = self.core.blocking.run(self.cancellation(), job);
        self.defer(item, async move {
            result.await.unwrap_or_else(|status| BrowseAnswer { status, references: Vec::new() })
        });
    }
}

/// Takes the references of one node.
pub struct Browser<'c, 'i, 'r, 'e> {
    cx: &'c mut BrowseCx<'r, 'e>,
    item: &'i BrowseItem<'i>,
    skip: u32,
    seen: u32,
    count: u32,
    /// References that the page may still look at.
    left: u32,
    more: bool,
}

impl Browser<'_, '_, '_, '_> {
    /// Whether references of this type and direction are wanted; asks nothing of the target.
    #[must_use]
    pub fn wants(&self, reference_type: NodeIdRef<'_>, forward: bool) -> bool {
        let direction = match self.item.direction {
            Direction::Forward => forward,
            Direction::Inverse => !forward,
            Direction::Both => true,
        };
        direction
            && wants_type(
                self.cx.snapshot,
                self.item.reference_type,
                self.item.include_subtypes,
                reference_type,
            )
    }

    /// Takes a wanted reference; breaks when the page is full.
    ///
    /// Without a description the target counts as one in another server: it has no class, so a class
    /// mask leaves it out.
    pub fn push(&mut self, reference: &Reference<'_>, target: Option<&Description<'_>>) -> ControlFlow<()> {
        self.push_target(reference, target.map_or(Target::Unknown, Target::Described))
    }

    /// As [`Self::push`], with a target that may be encoded.
    pub(crate) fn push_target(&mut self, reference: &Reference<'_>, target: Target<'_>) -> ControlFlow<()> {
        self.cx.budget = self.cx.budget.saturating_sub(1);
        let mask = self.item.class_mask;
        if mask != 0 && target.class().is_none_or(|class| mask & class.value() == 0) {
            return ControlFlow::Continue(());
        }
        self.seen = self.seen.saturating_add(1);
        if self.seen <= self.skip {
            return ControlFlow::Continue(());
        }
        if self.count == self.item.page {
            self.more = true;
            return ControlFlow::Break(());
        }
        self.count += 1;
        let mut e = Encoder::new(&mut self.cx.buffers.references, self.cx.core.encode_context());
        put_reference(&mut e, self.item.result_mask, reference, target);
        ControlFlow::Continue(())
    }

    /// Takes a wanted reference to a node that another manager or the address space answers for: what it
    /// shows of its target is asked there. Breaks when the page is full.
    pub fn push_node(
        &mut self,
        reference_type: NodeIdRef<'_>,
        forward: bool,
        target: NodeIdRef<'_>,
    ) -> ControlFlow<()> {
        let target_id = ExpandedNodeIdRef { node_id: target, ..Default::default() };
        let reference = Reference { reference_type, forward, target: target_id };
        let (core, snapshot) = (self.cx.core, self.cx.snapshot);
        let mut flow = None;
        core.describe(snapshot, target, self.cx.locales, &mut |found| {
            flow = Some(self.push(&reference, Some(found)))
        });
        flow.unwrap_or_else(|| self.push(&reference, None))
    }

    /// Where to begin: 0, or what [`Browser::finish_from`] said when the page before was full. A manager
    /// with very many references begins there; one that gives all of them each time need not ask.
    #[must_use]
    pub fn start(&self) -> u64 {
        match self.item.start {
            Start::From(place) => place,
            _ => 0,
        }
    }

    /// Ends the answer; what did not fit waits behind a continuation point.
    ///
    /// What the address space has for the node is added here, such as the folder that organizes it
    /// ([`Server::add_reference`](crate::Server::add_reference)).
    pub fn finish(self) {
        if self.more {
            let skip = self.skip.saturating_add(self.count);
            return self.finish_at(|| Position::After(skip));
        }
        self.finish_external(0);
    }

    /// Ends the answer after a `push` that broke; the next page begins with [`Browser::start`] at `place`.
    pub fn finish_from(self, place: u64) {
        if self.more {
            return self.finish_at(|| Position::From(place));
        }
        self.finish_external(0);
    }

    /// Gives what the address space has for the node of a manager, after the first `skip` of it.
    pub(crate) fn finish_external(mut self, skip: u32) {
        let before = self.count;
        (self.skip, self.seen) = (skip, 0);
        let snapshot = self.cx.snapshot;
        for found in snapshot.external_references(self.item.node, self.item.direction, self.item.filter) {
            if self.push_node(found.type_id(), found.is_forward(), found.target_id()).is_break() {
                break;
            }
        }
        let skip = skip.saturating_add(self.count - before);
        self.finish_at(|| Position::External(skip));
    }

    /// Counts a reference that is looked at; `false` ends the page.
    pub(crate) fn spend(&mut self) -> bool {
        let left = self.left.checked_sub(1);
        self.more |= left.is_none();
        self.left = left.unwrap_or_default();
        left.is_some()
    }

    pub(crate) fn finish_at(self, position: impl FnOnce() -> Position) {
        let cx = self.cx;
        let mut point = None;
        if self.more {
            if !cx.points.make_room(cx.request) {
                return cx.results.status(self.item.index, status::BAD_NO_CONTINUATION_POINTS);
            }
            let continuation = Continuation { query: self.item.query(), position: position() };
            point = cx.points.keep(cx.request, continuation);
        }
        let bytes = &cx.buffers.references;
        cx.results.put(self.item.index, |e| {
            put_browse_result(e, StatusCode::GOOD, point.as_ref(), self.count, bytes);
        });
    }
}

impl BrowseItem<'_> {
    /// The item, owned.
    pub(crate) fn query(&self) -> BrowseQuery {
        BrowseQuery {
            node: self.node.to_owned(),
            direction: self.direction,
            reference_type: self.reference_type.to_owned(),
            include_subtypes: self.include_subtypes,
            filter: self.filter,
            class_mask: self.class_mask,
            result_mask: self.result_mask,
            page: self.page,
        }
    }
}

/// Whether `found` is the type that was asked for, or one of its subtypes if they count.
pub(crate) fn wants_type(
    snapshot: &Snapshot,
    asked: NodeIdRef<'_>,
    include_subtypes: bool,
    found: NodeIdRef<'_>,
) -> bool {
    asked == NodeIdRef::NULL || asked == found || (include_subtypes && snapshot.is_subtype(found, asked))
}

/// Writes a BrowseResult (OPC 10000-4 §7.6): status, continuation point (null, not empty) and
/// references that were encoded before.
pub(crate) fn put_browse_result(
    e: &mut Encoder<'_>,
    status: StatusCode,
    point: Option<&PointId>,
    count: u32,
    references: &[u8],
) {
    e.put_u32(status.0);
    e.put_bytes(point.map(<[u8; POINT_LEN]>::as_slice));
    e.put_array_len(Some(count as usize));
    e.put(references);
}

/// Writes a BrowseResult that is a status alone.
pub(crate) fn put_browse_status(e: &mut Encoder<'_>, status: StatusCode) {
    put_browse_result(e, status, None, 0, &[]);
}
