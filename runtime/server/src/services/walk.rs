//! Walking along a browse path: one step from every node of a frontier (OPC 10000-4 §5.9.4).

use uaforge_codec::{ExpandedNodeId, NodeIdRef, Now, StatusCode};
use uaforge_nodes::{Direction, Snapshot};
use uaforge_types::{BrowsePathRef, RelativePathElementRef, status};

use crate::access::Access;
use crate::cancellation::Scope;
use crate::manager::{FollowCx, FollowItem, contain};
use crate::node_ids::unknown;
use crate::proto::buffers::WalkBuffers;
use crate::shared::Core;

/// The whole path was followed (OPC 10000-4 §5.9.4.2, remainingPathIndex).
pub(crate) const WHOLE_PATH: u32 = u32::MAX;
/// Targets of one step; more are answered with Bad_TooManyMatches.
const MAX_TARGETS: usize = 4_096;

/// References that one path may look at in a turn; more are answered with Bad_QueryTooComplex.
pub(crate) const BUDGET: u32 = 100_000;

/// How far a walk came.
pub(crate) enum Walked {
    /// To its end; the remaining path index.
    End(u32),
    /// The targets of the element before this one come later.
    Waits(usize),
}

/// Walks along paths; the nodes where it stands are in the buffers.
pub(crate) struct Walker<'w> {
    pub(crate) core: &'w Core,
    pub(crate) snapshot: &'w Snapshot,
    pub(crate) access: Access,
    pub(crate) now: Now,
    pub(crate) scope: &'w Scope,
    pub(crate) budget: &'w mut u32,
    pub(crate) buffers: &'w mut WalkBuffers,
}

impl Walker<'_> {
    /// Walks along a path from its start.
    pub(crate) fn begin(&mut self, path: &BrowsePathRef<'_>) -> Result<Walked, StatusCode> {
        self.check_path(path)?;
        self.buffers.clear();
        self.buffers.frontier.push(path.starting_node.to_owned().into());
        let elements = &path.relative_path.elements;
        self.walk(elements.iter().enumerate(), elements.len())
    }

    /// Stands before a path that others have their turn before.
    pub(crate) fn postpone(&mut self, path: &BrowsePathRef<'_>) -> Result<Walked, StatusCode> {
        self.check_path(path)?;
        self.buffers.clear();
        self.buffers.targets.push(path.starting_node.to_owned().into());
        Ok(Walked::Waits(0))
    }

    fn check_path(&self, path: &BrowsePathRef<'_>) -> Result<(), StatusCode> {
        let elements = &path.relative_path.elements;
        if elements.is_empty() {
            return Err(status::BAD_NOTHING_TO_DO);
        }
        if elements.len() > self.core.limits.operations.max_path_elements as usize {
            return Err(status::BAD_TOO_MANY_OPERATIONS);
        }
        if !self.core.has_node(self.snapshot, path.starting_node) {
            return Err(unknown(path.starting_node));
        }
        if elements.iter().any(|element| element.target_name.name.is_empty()) {
            return Err(status::BAD_BROWSE_NAME_INVALID);
        }
        Ok(())
    }

    /// Follows the elements that are left of `count`.
    pub(crate) fn walk<'p>(
        &mut self,
        elements: impl Iterator<Item = (usize, RelativePathElementRef<'p>)>,
        count: usize,
    ) -> Result<Walked, StatusCode> {
        for (index, element) in elements {
            self.step(&element)?;
            if !self.buffers.late.is_empty() {
                return Ok(Walked::Waits(index + 1));
            }
            if let Some(remaining) = self.arrive(index + 1, count)? {
                return Ok(Walked::End(remaining));
            }
        }
        Ok(Walked::End(WHOLE_PATH))
    }

    /// Stands at the targets of a step. `Some`: the path leads out of the server, with what remains of it.
    pub(crate) fn arrive(&mut self, next: usize, count: usize) -> Result<Option<u32>, StatusCode> {
        let WalkBuffers { frontier, targets, .. } = &mut *self.buffers;
        if targets.len() > MAX_TARGETS {
            return Err(status::BAD_TOO_MANY_MATCHES);
        }
        // Several ways may lead to one node.
        if targets.len() > 1 {
            targets.sort_unstable();
            targets.dedup();
        }
        if targets.is_empty() {
            return Err(status::BAD_NO_MATCH);
        }
        core::mem::swap(frontier, targets);
        // A node of another server ends the path; nodes of this server do not count beside it.
        if next != count && frontier.iter().any(is_remote) {
            frontier.retain(is_remote);
            return Ok(Some(u32::try_from(next).unwrap_or(WHOLE_PATH)));
        }
        Ok(None)
    }

    /// Follows one element from each node of the frontier.
    fn step(&mut self, element: &RelativePathElementRef<'_>) -> Result<(), StatusCode> {
        let (core, snapshot) = (self.core, self.snapshot);
        let asked =
            if element.reference_type_id.is_null() { NodeIdRef::NULL } else { element.reference_type_id };
        let filter =
            snapshot.reference_filter(asked, element.include_subtypes).ok_or(status::BAD_NO_MATCH)?;
        let WalkBuffers { frontier, targets, late } = &mut *self.buffers;
        targets.clear();
        let budget = &mut *self.budget;
        let mut follow = FollowCx {
            core,
            snapshot,
            access: self.access,
            now: self.now,
            scope: self.scope,
            targets,
            late,
            budget,
        };
        for node in frontier.iter() {
            let item = FollowItem {
                node: node.node_id.as_ref(),
                reference_type: asked,
                include_subtypes: element.include_subtypes,
                filter,
                inverse: element.is_inverse,
                name: element.target_name,
            };
            follow_one(&mut follow, &item)?;
            if *follow.budget == 0 {
                return Err(status::BAD_QUERY_TOO_COMPLEX);
            }
            if follow.targets.len() > MAX_TARGETS {
                return Err(status::BAD_TOO_MANY_MATCHES);
            }
        }
        Ok(())
    }
}

fn follow_one(follow: &mut FollowCx<'_>, item: &FollowItem<'_>) -> Result<(), StatusCode> {
    let core = follow.core;
    let Some(manager) = core.manager(core.route(item.node)) else {
        core.nodes.follow(follow, item);
        return Ok(());
    };
    let run = || manager.follow(follow, std::slice::from_ref(item));
    contain("TranslateBrowsePathsToNodeIds", item.node, run).ok_or(status::BAD_INTERNAL_ERROR)?;
    let direction = if item.inverse { Direction::Inverse } else { Direction::Forward };
    for found in follow.snapshot.external_references(item.node, direction, item.filter) {
        if !follow.spend() {
            break;
        }
        follow.target_if_named(item, found.target_id());
    }
    Ok(())
}

fn is_remote(node: &ExpandedNodeId) -> bool {
    node.server_index != 0 || !node.namespace_uri.is_null()
}
