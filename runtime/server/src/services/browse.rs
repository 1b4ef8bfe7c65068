//! Browse and BrowseNext (OPC 10000-4 §5.9.2, §5.9.3).

use std::sync::Arc;

use uaforge_codec::{Encoder, LocalizedText, NodeIdRef, QualifiedName, StatusCode, UaString};
use uaforge_nodes::{Direction, Snapshot};
use uaforge_types::{
    BrowseDescriptionRef, BrowseDirection, BrowseNextRequestRef, BrowseRequestRef, ReferenceDescription,
    status,
};

use super::ServiceCx;
use crate::encode::put_description;
use crate::manager::{
    BrowseAnswer, BrowseCx, BrowseItem, Start, contain, put_browse_status, shield, wants_type,
};
use crate::proto::buffers::recycle;
use crate::proto::continuation::{
    BrowseQuery, Continuation, ContinuationPoints, POINT_LEN, PointId, Position,
};
use crate::proto::results::{Results, Unfinished};
use crate::shared::Core;

/// Bytes of the length of an array, which stands before its first element.
const ARRAY_LEN: usize = 4;

/// Checks what holds for a Browse as a whole. This server has no views.
pub(crate) fn check(cx: &ServiceCx<'_>, request: &BrowseRequestRef<'_>) -> Result<(), StatusCode> {
    check_count(cx, request.nodes_to_browse.len())?;
    if !request.view.view_id.is_null() {
        return Err(status::BAD_VIEW_ID_UNKNOWN);
    }
    Ok(())
}

/// Checks the number of operations of Browse and BrowseNext.
pub(crate) fn check_count(cx: &ServiceCx<'_>, count: usize) -> Result<(), StatusCode> {
    if count == 0 {
        return Err(status::BAD_NOTHING_TO_DO);
    }
    if count > cx.core.limits.operations.max_nodes_per_browse as usize {
        return Err(status::BAD_TOO_MANY_OPERATIONS);
    }
    Ok(())
}

/// Writes the results of a Browse.
pub(crate) fn results(
    cx: &mut ServiceCx<'_>,
    request: &BrowseRequestRef<'_>,
    e: &mut Encoder<'_>,
) -> Option<Unfinished> {
    let core = cx.core;
    let limit = core.limits.max_references_per_node;
    let page = match request.requested_max_references_per_node {
        0 => limit,
        asked => asked.min(limit),
    };
    let mut items: Vec<BrowseItem<'_>> = recycle!(core::mem::take(&mut cx.buffers.browse_items));
    let snapshot = cx.snapshot;
    let session = cx.session;
    let mut points = session.points();
    let mut routes = core::mem::take(&mut cx.buffers.routes);
    let nodes = request.nodes_to_browse.iter().map(|item| item.node_id);
    routes.fill(&core.routes, &core.managers, nodes);
    let mut browse = context(cx, &mut points, request.nodes_to_browse.len(), e);
    for manager in (0..=core.managers.len()).filter(|route| routes.occurs(*route)) {
        items.clear();
        for (index, node) in request.nodes_to_browse.iter().enumerate() {
            if routes.of(index) != manager {
                continue;
            }
            match checked(snapshot, index, &node, page) {
                Ok(item) => items.push(item),
                Err(status) => browse.results.status(index, status),
            }
        }
        run(&mut browse, core, manager, &items);
    }
    let left = browse.budget;
    let unfinished = browse.results.finish(status::BAD_INTERNAL_ERROR);
    cx.spend_share(left);
    cx.buffers.browse_items = recycle!(items);
    cx.buffers.routes = routes;
    unfinished
}

/// Writes the results of a BrowseNext that goes on.
pub(crate) fn next_results(
    cx: &mut ServiceCx<'_>,
    request: &BrowseNextRequestRef<'_>,
    e: &mut Encoder<'_>,
) -> Option<Unfinished> {
    let core = cx.core;
    let session = cx.session;
    let mut points = session.points();
    let ids = request.continuation_points.iter();
    let taken: Vec<Option<Continuation>> = ids.map(|id| points.take(id.0.unwrap_or_default())).collect();
    let mut browse = context(cx, &mut points, taken.len(), e);
    for (index, taken) in taken.iter().enumerate() {
        match taken {
            None => browse.results.status(index, status::BAD_CONTINUATION_POINT_INVALID),
            Some(continuation) => resume(&mut browse, core, index, continuation),
        }
    }
    let left = browse.budget;
    let unfinished = browse.results.finish(status::BAD_INTERNAL_ERROR);
    cx.spend_share(left);
    unfinished
}

/// Writes the results of a BrowseNext that only frees its points.
pub(crate) fn release(cx: &ServiceCx<'_>, request: &BrowseNextRequestRef<'_>, e: &mut Encoder<'_>) {
    let session = cx.session;
    let mut points = session.points();
    e.put_array_len(Some(request.continuation_points.len()));
    for id in request.continuation_points.iter() {
        let status = match points.take(id.0.unwrap_or_default()) {
            Some(_) => StatusCode::GOOD,
            None => status::BAD_CONTINUATION_POINT_INVALID,
        };
        put_browse_status(e, status);
    }
}

fn context<'r, 'e>(
    cx: &'r mut ServiceCx<'_>,
    points: &'r mut ContinuationPoints,
    count: usize,
    e: &'r mut Encoder<'e>,
) -> BrowseCx<'r, 'e> {
    let (request, budget) = (points.begin_request(), cx.share());
    let buffers = &mut *cx.buffers;
    BrowseCx {
        results: Results::new(e, &mut buffers.results, count, put_browse_status),
        core: cx.core,
        buffers: &mut buffers.browse,
        snapshot: cx.snapshot,
        locales: cx.locales,
        points,
        request,
        budget,
        access: cx.access,
        now: cx.now,
        scope: cx.scope,
        deferred: &mut buffers.deferred,
    }
}

fn run(browse: &mut BrowseCx<'_, '_>, core: &Core, manager: usize, items: &[BrowseItem<'_>]) {
    let Some(first) = items.first() else { return };
    let done = match core.manager(manager) {
        None => shield("Browse", first.node, || core.nodes.browse(browse, items)),
        Some(other) => contain("Browse", first.node, || other.browse(browse, items)),
    };
    if done.is_none() {
        browse.results.mend();
    }
}

fn checked<'a>(
    snapshot: &Snapshot,
    index: usize,
    node: &BrowseDescriptionRef<'a>,
    page: u32,
) -> Result<BrowseItem<'a>, StatusCode> {
    let direction = match node.browse_direction {
        BrowseDirection::FORWARD => Direction::Forward,
        BrowseDirection::INVERSE => Direction::Inverse,
        BrowseDirection::BOTH => Direction::Both,
        _ => return Err(status::BAD_BROWSE_DIRECTION_INVALID),
    };
    let asked = if node.reference_type_id.is_null() { NodeIdRef::NULL } else { node.reference_type_id };
    let filter = snapshot
        .reference_filter(asked, node.include_subtypes)
        .ok_or(status::BAD_REFERENCE_TYPE_ID_INVALID)?;
    Ok(BrowseItem {
        index,
        node: node.node_id,
        direction,
        reference_type: asked,
        include_subtypes: node.include_subtypes,
        filter,
        class_mask: node.node_class_mask,
        result_mask: node.result_mask,
        page,
        start: Start::First,
    })
}

fn resume(browse: &mut BrowseCx<'_, '_>, core: &Core, index: usize, continuation: &Continuation) {
    let query = &continuation.query;
    let start = match &continuation.position {
        Position::Cursor(cursor, snapshot) => Start::Cursor(*cursor, snapshot),
        Position::After(skip) => Start::After(*skip),
        Position::From(place) => Start::From(*place),
        Position::External(skip) => Start::External(*skip),
        Position::Rest(references, from) => {
            let page = Page::of(query, references, *from);
            let point = page.keep(browse.points, browse.request);
            return browse.results.put(index, |e| page.put(e, point));
        }
    };
    let item = BrowseItem {
        index,
        node: query.node.as_ref(),
        direction: query.direction,
        reference_type: query.reference_type.as_ref(),
        include_subtypes: query.include_subtypes,
        filter: query.filter,
        class_mask: query.class_mask,
        result_mask: query.result_mask,
        page: query.page,
        start,
    };
    if let Start::External(skip) = item.start {
        return browse.begin(&item).finish_external(skip);
    }
    run(browse, core, core.route(item.node), &[item]);
}

/// Browses what was put off to this turn, as the item `index` of its response.
pub(crate) fn postponed(
    cx: &mut ServiceCx<'_>,
    (continuation, request): (Continuation, u64),
    index: usize,
    unfinished: &mut Unfinished,
) {
    let mut bytes = core::mem::take(&mut cx.buffers.late);
    bytes.clear();
    let (core, encode, session) = (cx.core, cx.core.encode_context(), cx.session);
    let mut points = session.points();
    let mut e = Encoder::new(&mut bytes, encode);
    let mut browse = context(cx, &mut points, 1, &mut e);
    // Points of this request are not freed for others of its items.
    browse.request = request;
    resume(&mut browse, core, 0, &continuation);
    let left = browse.budget;
    let _ = browse.results.finish(status::BAD_INTERNAL_ERROR);
    cx.spend_share(left);
    unfinished.put(index, encode, |e| e.put(bytes.get(ARRAY_LEN..).unwrap_or_default()));
    cx.buffers.late = bytes;
}

/// One page of references that are held as structures.
pub(crate) struct Page<'a> {
    query: &'a BrowseQuery,
    references: &'a Arc<[ReferenceDescription]>,
    from: usize,
    end: usize,
}

impl<'a> Page<'a> {
    pub(crate) fn of(
        query: &'a BrowseQuery,
        references: &'a Arc<[ReferenceDescription]>,
        from: usize,
    ) -> Self {
        let end = from.saturating_add(query.page as usize).min(references.len());
        Self { query, references, from, end }
    }

    /// A point for the rest: `Ok(None)` if there is none.
    pub(crate) fn keep(
        &self,
        points: &mut ContinuationPoints,
        request: u64,
    ) -> Result<Option<PointId>, StatusCode> {
        if self.end == self.references.len() {
            return Ok(None);
        }
        let position = Position::Rest(Arc::clone(self.references), self.end);
        let continuation = Continuation { query: self.query.clone(), position };
        points.keep(request, continuation).map(Some).ok_or(status::BAD_NO_CONTINUATION_POINTS)
    }

    /// Writes the BrowseResult.
    pub(crate) fn put(&self, e: &mut Encoder<'_>, point: Result<Option<PointId>, StatusCode>) {
        let point = match point {
            Ok(point) => point,
            Err(status) => return put_browse_status(e, status),
        };
        let page = self.references.get(self.from..self.end).unwrap_or_default();
        e.put_u32(StatusCode::GOOD.0);
        e.put_bytes(point.as_ref().map(<[u8; POINT_LEN]>::as_slice));
        e.put_array_len(Some(page.len()));
        for reference in page {
            put_description(e, self.query.result_mask, reference);
        }
    }
}

/// The references of a late answer that the query wants, and those that the address space has.
pub(crate) fn late_references(
    core: &Core,
    snapshot: &Snapshot,
    query: &BrowseQuery,
    locales: &[UaString],
    answer: BrowseAnswer,
) -> Result<Arc<[ReferenceDescription]>, StatusCode> {
    if answer.status.is_bad() {
        return Err(answer.status);
    }
    let wanted = |reference: &ReferenceDescription| {
        let direction = match query.direction {
            Direction::Forward => reference.is_forward,
            Direction::Inverse => !reference.is_forward,
            Direction::Both => true,
        };
        let found = reference.reference_type_id.as_ref();
        direction
            && (query.class_mask == 0 || query.class_mask & reference.node_class.0.cast_unsigned() != 0)
            && wants_type(snapshot, query.reference_type.as_ref(), query.include_subtypes, found)
    };
    let external = external(core, snapshot, query, locales);
    Ok(answer.references.into_iter().chain(external).filter(wanted).collect())
}

/// What the address space has for the node of a manager, as structures.
fn external(
    core: &Core,
    snapshot: &Snapshot,
    query: &BrowseQuery,
    locales: &[UaString],
) -> Vec<ReferenceDescription> {
    let found = snapshot.external_references(query.node.as_ref(), query.direction, query.filter);
    let described = found.map(|reference| {
        let mut description = ReferenceDescription {
            reference_type_id: reference.type_id().to_owned(),
            is_forward: reference.is_forward(),
            node_id: reference.target_id().to_owned().into(),
            ..Default::default()
        };
        core.describe(snapshot, reference.target_id(), locales, &mut |target| {
            let (browse_name, display_name) = (target.browse_name, target.display_name);
            description.node_class.0 = target.class.value().cast_signed();
            description.browse_name = QualifiedName::new(browse_name.namespace, browse_name.name);
            description.display_name = LocalizedText {
                locale: unless_empty(display_name.locale),
                text: unless_empty(display_name.text),
            };
            description.type_definition =
                target.type_definition.map(NodeIdRef::to_owned).unwrap_or_default().into();
        });
        description
    });
    described.collect()
}

/// The empty parts of a text in the tables are null.
fn unless_empty(text: &str) -> UaString {
    if text.is_empty() { UaString::NULL } else { UaString::from(text) }
}
