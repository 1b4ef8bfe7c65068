//! Read (OPC 10000-4 §5.11.2).

use uaforge_codec::{Encoder, NodeIdRef, StatusCode};
use uaforge_types::{ReadRequestRef, TimestampsToReturn, status};

use super::ServiceCx;
use crate::manager::{ReadCx, ReadItem, ReadSettings, contain, put_read_status, shield};
use crate::proto::buffers::recycle;
use crate::proto::results::{Results, Unfinished};

/// Bytes that the index ranges of one request may have looked at in vain: more is answered with
/// Bad_ResourceUnavailable.
const RANGE_WALK: usize = 64 << 20;

/// Checks what holds for the request as a whole.
pub(crate) fn check(cx: &ServiceCx<'_>, request: &ReadRequestRef<'_>) -> Result<ReadSettings, StatusCode> {
    let nodes = request.nodes_to_read.len();
    if nodes == 0 {
        return Err(status::BAD_NOTHING_TO_DO);
    }
    if nodes > cx.core.limits.operations.max_nodes_per_read as usize {
        return Err(status::BAD_TOO_MANY_OPERATIONS);
    }
    if request.max_age.is_nan() || request.max_age < 0.0 {
        return Err(status::BAD_MAX_AGE_INVALID);
    }
    let timestamps = request.timestamps_to_return;
    if !(TimestampsToReturn::SOURCE.0..=TimestampsToReturn::NEITHER.0).contains(&timestamps.0) {
        return Err(status::BAD_TIMESTAMPS_TO_RETURN_INVALID);
    }
    Ok(ReadSettings { access: cx.access, timestamps, max_age: request.max_age, now: cx.now })
}

/// Writes the results array. The items of one manager form one batch.
pub(crate) fn results(
    cx: &mut ServiceCx<'_>,
    items: &[ReadItem<'_>],
    settings: ReadSettings,
    e: &mut Encoder<'_>,
) -> Option<Unfinished> {
    let (core, snapshot, decode) = (cx.core, cx.snapshot, cx.decode());
    let buffers = &mut *cx.buffers;
    let mut read = ReadCx {
        results: Results::new(e, &mut buffers.results, items.len(), put_read_status),
        timestamps: settings.of_cell(),
        settings,
        locales: cx.locales,
        walk_left: RANGE_WALK,
        pool: &core.blocking,
        scope: cx.scope,
        deferred: &mut buffers.deferred,
    };
    buffers.routes.fill(&core.routes, &core.managers, items.iter().map(|item| item.node));
    let of_space = |read: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]| {
        let node = items.first().map_or(NodeIdRef::NULL, |first| first.node);
        shield("Read", node, || core.nodes.read(read, snapshot, decode, items)).is_some()
    };
    if buffers.routes.is_space() {
        if !of_space(&mut read, items) {
            read.results.mend();
        }
        return read.results.finish(status::BAD_INTERNAL_ERROR);
    }
    let mut batch: Vec<ReadItem<'_>> = recycle!(core::mem::take(&mut buffers.read_batch));
    for manager in (0..=core.managers.len()).filter(|route| buffers.routes.occurs(*route)) {
        batch.clear();
        for item in items.iter().filter(|item| buffers.routes.of(item.index) == manager) {
            match item.check() {
                Ok(()) => batch.push(*item),
                Err(status) => read.results.status(item.index, status),
            }
        }
        let Some(first) = batch.first() else { continue };
        let done = match core.manager(manager) {
            None => of_space(&mut read, &batch),
            Some(other) => contain("Read", first.node, || other.read(&mut read, &batch)).is_some(),
        };
        if !done {
            read.results.mend();
        }
    }
    let unfinished = read.results.finish(status::BAD_INTERNAL_ERROR);
    buffers.read_batch = recycle!(batch);
    unfinished
}
