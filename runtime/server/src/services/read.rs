//! Read (OPC 10000-4 §5.11.2).

use uaforge_codec::{Encoder, NumericRange, StatusCode};
use uaforge_types::{ReadRequestRef, ReadValueIdRef, TimestampsToReturn, status};

use super::ServiceCx;
use crate::attribute;
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
    request: &ReadRequestRef<'_>,
    settings: ReadSettings,
    e: &mut Encoder<'_>,
) -> Option<Unfinished> {
    let (core, decode) = (cx.core, cx.decode());
    let buffers = &mut *cx.buffers;
    let mut items: Vec<ReadItem<'_>> = recycle!(core::mem::take(&mut buffers.read_items));
    let count = request.nodes_to_read.len();
    let mut read = ReadCx {
        results: Results::new(e, &mut buffers.results, count, put_read_status),
        settings,
        walk_left: RANGE_WALK,
        pool: &core.blocking,
        scope: cx.scope,
        deferred: &mut buffers.deferred,
    };
    let nodes = request.nodes_to_read.iter().map(|item| item.node_id);
    buffers.routes.fill(&core.routes, &core.managers, nodes);
    for manager in (0..=core.managers.len()).filter(|route| buffers.routes.occurs(*route)) {
        items.clear();
        for (index, node) in request.nodes_to_read.iter().enumerate() {
            if buffers.routes.of(index) != manager {
                continue;
            }
            match checked(index, &node) {
                Ok(item) => items.push(item),
                Err(status) => read.results.status(index, status),
            }
        }
        let Some(first) = items.first() else { continue };
        let done = match core.manager(manager) {
            None => shield("Read", first.node, || core.nodes.read(&mut read, cx.snapshot, decode, &items)),
            Some(other) => contain("Read", first.node, || other.read(&mut read, &items)),
        };
        if done.is_none() {
            read.results.mend();
        }
    }
    let unfinished = read.results.finish(status::BAD_INTERNAL_ERROR);
    buffers.read_items = recycle!(items);
    unfinished
}

/// What can be said of an item without looking at its node.
fn checked<'a>(index: usize, node: &ReadValueIdRef<'a>) -> Result<ReadItem<'a>, StatusCode> {
    if !(1..=attribute::LAST).contains(&node.attribute_id) {
        return Err(status::BAD_ATTRIBUTE_ID_INVALID);
    }
    if !node.index_range.is_empty() {
        NumericRange::from_wire(node.index_range)?;
    }
    Ok(ReadItem {
        index,
        node: node.node_id,
        attribute: node.attribute_id,
        range: node.index_range,
        encoding: node.data_encoding,
    })
}
