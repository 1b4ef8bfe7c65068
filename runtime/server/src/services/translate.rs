//! TranslateBrowsePathsToNodeIds (OPC 10000-4 §5.9.4).

use uaforge_codec::{Encode as _, Encoder, ExpandedNodeId, NodeIdRef, StatusCode};
use uaforge_types::{BrowsePathRef, RelativePathElementRef, TranslateBrowsePathsToNodeIdsRequestRef, status};

use super::ServiceCx;
use crate::manager::{FollowCx, FollowItem};

/// The whole path was followed (OPC 10000-4 §5.9.4.2, remainingPathIndex).
const WHOLE_PATH: u32 = u32::MAX;
/// Targets of one step; more are answered with Bad_TooManyMatches.
const MAX_TARGETS: usize = 4_096;
/// References that one path may look at; more are answered with Bad_QueryTooComplex.
const BUDGET: u32 = 200_000;

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
) {
    e.put_array_len(Some(request.browse_paths.len()));
    // The budget is that of the request: many paths may not hold the connection longer than one.
    let mut budget = BUDGET;
    for path in request.browse_paths.iter() {
        match walk(cx, &path, &mut budget) {
            Ok(remaining) => put_targets(e, &cx.buffers.walk.frontier, remaining),
            Err(status) => {
                e.put_u32(status.0);
                e.put_array_len(Some(0));
            }
        }
    }
}

/// Writes a BrowsePathResult (OPC 10000-4 §5.9.4.2).
fn put_targets(e: &mut Encoder<'_>, targets: &[ExpandedNodeId], remaining: u32) {
    let status =
        if remaining == WHOLE_PATH { StatusCode::GOOD } else { status::UNCERTAIN_REFERENCE_OUT_OF_SERVER };
    e.put_u32(status.0);
    e.put_array_len(Some(targets.len()));
    for target in targets {
        target.encode(e);
        e.put_u32(remaining);
    }
}

/// Follows a path; the targets are in the frontier afterwards. Gives the remaining path index.
fn walk(cx: &mut ServiceCx<'_>, path: &BrowsePathRef<'_>, budget: &mut u32) -> Result<u32, StatusCode> {
    check_path(cx, path)?;
    let walk = &mut cx.buffers.walk;
    walk.frontier.clear();
    walk.frontier.push(path.starting_node.to_owned().into());
    for (index, element) in path.relative_path.elements.iter().enumerate() {
        step(cx, &element, budget)?;
        let targets = &cx.buffers.walk.targets;
        if targets.is_empty() {
            return Err(status::BAD_NO_MATCH);
        }
        core::mem::swap(&mut cx.buffers.walk.frontier, &mut cx.buffers.walk.targets);
        // A node of another server ends the path; nodes of this server do not count beside it.
        let last = index + 1 == path.relative_path.elements.len();
        if !last && cx.buffers.walk.frontier.iter().any(is_remote) {
            cx.buffers.walk.frontier.retain(is_remote);
            return Ok(u32::try_from(index + 1).unwrap_or(WHOLE_PATH));
        }
    }
    Ok(WHOLE_PATH)
}

fn is_remote(node: &ExpandedNodeId) -> bool {
    node.server_index != 0 || !node.namespace_uri.is_null()
}

fn check_path(cx: &ServiceCx<'_>, path: &BrowsePathRef<'_>) -> Result<(), StatusCode> {
    let elements = &path.relative_path.elements;
    if elements.is_empty() {
        return Err(status::BAD_NOTHING_TO_DO);
    }
    if elements.len() > cx.core.limits.operations.max_path_elements as usize {
        return Err(status::BAD_TOO_MANY_OPERATIONS);
    }
    if !cx.core.has_node(cx.snapshot, path.starting_node) {
        return Err(status::BAD_NODE_ID_UNKNOWN);
    }
    if elements.iter().any(|element| element.target_name.name.is_empty()) {
        return Err(status::BAD_BROWSE_NAME_INVALID);
    }
    Ok(())
}

/// Follows one element from each node of the frontier.
fn step(
    cx: &mut ServiceCx<'_>,
    element: &RelativePathElementRef<'_>,
    budget: &mut u32,
) -> Result<(), StatusCode> {
    let asked = if element.reference_type_id.is_null() { NodeIdRef::NULL } else { element.reference_type_id };
    let filter = cx.snapshot.reference_filter(asked, element.include_subtypes).ok_or(status::BAD_NO_MATCH)?;
    let (core, snapshot) = (cx.core, cx.snapshot);
    let walk = &mut cx.buffers.walk;
    walk.targets.clear();
    let mut follow =
        FollowCx { snapshot, access: cx.access, now: cx.now, targets: &mut walk.targets, budget };
    for node in &walk.frontier {
        let item = FollowItem {
            node: node.node_id.as_ref(),
            reference_type: asked,
            include_subtypes: element.include_subtypes,
            filter,
            inverse: element.is_inverse,
            name: element.target_name,
        };
        match core.manager(core.route(item.node)) {
            Some(other) => other.follow(&mut follow, &[item]),
            None => core.nodes.follow(&mut follow, core, snapshot, &[item]),
        }
        if *follow.budget == 0 {
            return Err(status::BAD_QUERY_TOO_COMPLEX);
        }
        if follow.targets.len() > MAX_TARGETS {
            return Err(status::BAD_TOO_MANY_MATCHES);
        }
    }
    // Several ways may lead to one node.
    if walk.targets.len() > 1 {
        walk.targets.sort_unstable();
        walk.targets.dedup();
    }
    Ok(())
}
