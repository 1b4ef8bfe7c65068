//! The batch of a TranslateBrowsePathsToNodeIds step: follow one path element from each of some nodes.

use core::future::Future;
use core::pin::Pin;

use uaforge_codec::{ExpandedNodeId, NodeIdRef, Now, QualifiedNameRef, StatusCode, Ticks};
use uaforge_nodes::{BrowseName, ReferenceFilter, Snapshot};

use super::browse::wants_type;
use crate::access::Access;
use crate::cancellation::{Cancellation, Scope};
use crate::shared::Core;

/// One node and the element of a relative path that leads on from it (RelativePathElement, OPC 10000-4 §7.31).
#[derive(Clone, Copy, Debug)]
pub struct FollowItem<'a> {
    /// The node.
    pub node: NodeIdRef<'a>,
    /// The reference type, or null for all.
    pub reference_type: NodeIdRef<'a>,
    /// Whether subtypes of the reference type count.
    pub include_subtypes: bool,
    pub(crate) filter: ReferenceFilter,
    /// Whether to go from target to source.
    pub inverse: bool,
    /// The browse name that targets have to have.
    pub name: QualifiedNameRef<'a>,
}

/// A late answer of a step: its targets, or why there are none.
pub type FollowAnswer = Result<Vec<ExpandedNodeId>, StatusCode>;

/// A step that is on its way.
pub(crate) type LateStep = Pin<Box<dyn Future<Output = FollowAnswer> + Send>>;

/// Takes the targets of a step.
pub struct FollowCx<'r> {
    pub(crate) core: &'r Core,
    pub(crate) snapshot: &'r Snapshot,
    pub(crate) access: Access,
    pub(crate) now: Now,
    pub(crate) scope: &'r Scope,
    pub(crate) targets: &'r mut Vec<ExpandedNodeId>,
    pub(crate) late: &'r mut Vec<LateStep>,
    pub(crate) budget: &'r mut u32,
}

impl FollowItem<'_> {
    /// Whether a node with this browse name is a target of the step.
    #[must_use]
    pub fn has_name(&self, name: BrowseName<'_>) -> bool {
        self.name.namespace_index == name.namespace && self.name.name.0 == Some(name.name.as_bytes())
    }
}

impl FollowCx<'_> {
    /// Who asks.
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

    /// Whether references of this type and direction belong to the step.
    #[must_use]
    pub fn wants(&self, item: &FollowItem<'_>, reference_type: NodeIdRef<'_>, forward: bool) -> bool {
        forward != item.inverse
            && wants_type(self.snapshot, item.reference_type, item.include_subtypes, reference_type)
    }

    /// Counts one reference that was looked at; `false` once the request has used up its budget.
    #[must_use]
    pub fn spend(&mut self) -> bool {
        *self.budget = self.budget.saturating_sub(1);
        *self.budget > 0
    }

    /// A target whose browse name fits, or one in another server whose browse name is not known.
    pub fn target(&mut self, target: ExpandedNodeId) {
        self.targets.push(target);
    }

    /// A node at the other end of a reference that belongs to the step, which another manager or the
    /// address space answers for: it is a target if its browse name fits.
    pub fn target_if_named(&mut self, item: &FollowItem<'_>, node: NodeIdRef<'_>) {
        if self.core.has_name(self.snapshot, node, item) {
            self.targets.push(node.to_owned().into());
        }
    }

    /// Hands the targets of an item over to a future; those it had before count too. A status ends the
    /// path with it. Dropped if the client goes.
    pub fn defer(
        &mut self,
        item: &FollowItem<'_>,
        future: impl Future<Output = FollowAnswer> + Send + 'static,
    ) {
        let _ = item;
        if self.spend() {
            self.late.push(Box::pin(future));
        }
    }

    /// Hands the targets of an item over to a job that may block, on a bounded pool;
    /// Bad_ResourceUnavailable if the pool's queue is full.
    pub fn blocking(&mut self, item: &FollowItem<'_>, job: impl FnOnce() -> FollowAnswer + Send + 'static) {
        let result = self.core.blocking.run(self.scope.token().clone(), job);
        self.defer(item, async move { result.await.unwrap_or_else(Err) });
    }
}
