//! TranslateBrowsePathsToNodeIds (OPC 10000-4 §5.9.4).

use uaforge_codec::{Encode as _, Encoder, ExpandedNodeId, StatusCode};
use uaforge_types::{TranslateBrowsePathsToNodeIdsRequestRef, status};

use super::ServiceCx;
use super::late_walk::LateWalk;
use super::walk::{BUDGET, WHOLE_PATH, Walked, Walker};
use crate::proto::results::{Results, Unfinished};

/// Checks what holds for the request as a whole.
pub(crate) fn check(
    cx: &ServiceCx<'_>,
    request: &TranslateBrowsePathsToNodeIdsRequestRef<'_>,
) -> Result<(), StatusCode> {
    match request.browse_paths.len() {
        0 => Err(status::BAD_NOTHING_TO_DO),
        paths if paths > cx.core.limits.operations.max_nodes_per_translate as usize => {
            Err(status::BAD_TOO_MANY_OPERATIONS)
        }
        _ => Ok(()),
    }
}

/// Writes the results array.
pub(crate) fn results(
    cx: &mut ServiceCx<'_>,
    request: &TranslateBrowsePathsToNodeIdsRequestRef<'_>,
    e: &mut Encoder<'_>,
) -> Option<Unfinished> {
    let buffers = &mut *cx.buffers;
    let (share, mut spent, mut budget) = (cx.core.limits.operations_per_turn, 0, BUDGET);
    let mut walker = Walker {
        core: cx.core,
        snapshot: cx.snapshot,
        access: cx.access,
        now: cx.now,
        scope: cx.scope,
        budget: &mut budget,
        buffers: &mut buffers.walk,
    };
    let mut results = Results::new(e, &mut buffers.results, request.browse_paths.len(), put_path_status);
    for (index, path) in request.browse_paths.iter().enumerate() {
        // Many paths may not hold the connection longer than a few.
        let walked = if spent < share { walker.begin(&path) } else { walker.postpone(&path) };
        spent += BUDGET.saturating_sub(*walker.budget);
        *walker.budget = BUDGET;
        match walked {
            Ok(Walked::End(remaining)) => {
                results.put(index, |e| put_targets(e, &walker.buffers.frontier, remaining));
            }
            Ok(Walked::Waits(next)) => {
                if results.defer(index) {
                    let late = LateWalk::new(&path.relative_path.elements, next, walker.buffers);
                    buffers.deferred.push(late.deferred(index, path.starting_node));
                }
            }
            Err(status) => results.status(index, status),
        }
    }
    let unfinished = results.finish(status::BAD_INTERNAL_ERROR);
    cx.spent = spent;
    unfinished
}

/// Writes a BrowsePathResult that is a status alone.
pub(crate) fn put_path_status(e: &mut Encoder<'_>, status: StatusCode) {
    e.put_u32(status.0);
    e.put_array_len(Some(0));
}

/// Writes a BrowsePathResult (OPC 10000-4 §5.9.4.2).
pub(crate) fn put_targets(e: &mut Encoder<'_>, targets: &[ExpandedNodeId], remaining: u32) {
    let status =
        if remaining == WHOLE_PATH { StatusCode::GOOD } else { status::UNCERTAIN_REFERENCE_OUT_OF_SERVER };
    e.put_u32(status.0);
    e.put_array_len(Some(targets.len()));
    for target in targets {
        target.encode(e);
        e.put_u32(remaining);
    }
}
