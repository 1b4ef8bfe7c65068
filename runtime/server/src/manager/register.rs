//! The batch of a RegisterNodes: nodes, and the ids to use in their place.

use uaforge_codec::{NodeId, NodeIdRef, Now};

use crate::access::Access;

/// One node that a client is going to use often.
#[derive(Clone, Copy, Debug)]
pub struct RegisterItem<'a> {
    /// Position in the request.
    pub(crate) index: usize,
    /// The node.
    pub node: NodeIdRef<'a>,
}

/// Takes the ids of a batch.
pub struct RegisterCx<'r> {
    pub(crate) access: Access,
    pub(crate) now: Now,
    pub(crate) aliases: &'r mut Vec<(usize, NodeId)>,
}

impl RegisterCx<'_> {
    /// Who registers.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// The time of this batch.
    #[must_use]
    pub fn now(&self) -> Now {
        self.now
    }

    /// Hands out an id that the session may use in place of the node's own. It has to be one of this
    /// manager's nodes, and is given back by [`NodeManager::unregister`](super::NodeManager::unregister).
    pub fn alias(&mut self, item: &RegisterItem<'_>, alias: NodeId) {
        self.aliases.push((item.index, alias));
    }
}
