//! The batch of a TranslateBrowsePathsToNodeIds step: follow one path element from each of some nodes.

use uaforge_codec::{ExpandedNodeId, NodeIdRef, Now, QualifiedNameRef};
use uaforge_nodes::{BrowseName, ReferenceFilter, Snapshot};

use super::browse::wants_type;
use crate::access::Access;

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

/// Takes the targets of a step.
pub struct FollowCx<'r> {
    pub(crate) snapshot: &'r Snapshot,
    pub(crate) access: Access,
    pub(crate) now: Now,
    pub(crate) targets: &'r mut Vec<ExpandedNodeId>,
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
}
