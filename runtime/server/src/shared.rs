//! What all connections of a server share.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use core::time::Duration;

use uaforge_channel::MemoryQuota;
use uaforge_codec::{
    DecodeContext, DecodeLimits, EncodeContext, Entropy, NodeIdRef, Ticks, TypeRegistry, UaString,
};
use uaforge_nodes::{AddressSpace, Snapshot};

use crate::application::Application;
use crate::binding::Polls;
use crate::blocking::BlockingPool;
use crate::config::Limits;
use crate::discovery::{Registration, Registry};
use crate::life::Life;
use crate::manager::{Description, FollowItem, NodeManager, Routes, shield};
use crate::proto::backlog::Unsent;
use crate::proto::mailbox::Mailboxes;
use crate::proto::orphans::Orphans;
use crate::proto::sessions::Sessions;
use crate::security::{Authenticator, Secured};
use crate::space::{SpaceManager, describe};
use crate::subscription::Subscriptions;

/// A source of random bytes that connections may share.
pub(crate) type SharedEntropy = Box<dyn Entropy + Send>;

/// The shared part of a server. Immutable but for tables with a lock of their own.
pub(crate) struct Core {
    pub(crate) application: Application,
    /// Configured endpoint URLs.
    pub(crate) endpoints: Vec<String>,
    pub(crate) limits: Limits,
    /// What new connections are secured with.
    pub(crate) secured: Mutex<Arc<Secured>>,
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) decode_limits: DecodeLimits,
    pub(crate) types: TypeRegistry,
    pub(crate) space: Arc<AddressSpace>,
    pub(crate) nodes: SpaceManager,
    pub(crate) managers: Vec<Arc<dyn NodeManager>>,
    /// Who answers for which namespace: 0 is the address space, n the manager n - 1.
    pub(crate) routes: Routes,
    pub(crate) sessions: Sessions,
    pub(crate) subscriptions: Arc<Subscriptions>,
    pub(crate) mailboxes: Mailboxes,
    pub(crate) blocking: BlockingPool,
    pub(crate) polls: Polls,
    pub(crate) orphans: Orphans,
    pub(crate) entropy: Mutex<SharedEntropy>,
    pub(crate) next_channel: AtomicU32,
    /// Memory of unfinished messages.
    pub(crate) memory: Arc<MemoryQuota>,
    /// The same of clients without an active session.
    pub(crate) early_memory: Arc<MemoryQuota>,
    /// What waits to be sent.
    pub(crate) unsent: Unsent,
    pub(crate) life: Life,
    /// The registrations of a discovery server.
    pub(crate) registry: Option<Registry>,
    /// With which discovery servers this one is registered.
    pub(crate) registration: Registration,
}

/// The server's randomness for the nonces of one channel.
pub(crate) struct ChannelEntropy(pub(crate) Arc<Core>);

impl Entropy for ChannelEntropy {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0.with_entropy(|entropy| entropy.fill(bytes));
    }
}

impl Core {
    /// Runs `use_entropy` with the server's source of randomness.
    pub(crate) fn with_entropy<R>(&self, use_entropy: impl FnOnce(&mut dyn Entropy) -> R) -> R {
        let mut entropy = self.entropy.lock().unwrap_or_else(PoisonError::into_inner);
        use_entropy(&mut **entropy)
    }

    /// What new connections are secured with, now.
    pub(crate) fn secured(&self) -> Arc<Secured> {
        Arc::clone(&self.secured.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Secures new connections with something else.
    pub(crate) fn set_secured(&self, secured: Secured) {
        *self.secured.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(secured);
    }

    /// A channel id that no other channel of this server has; never 0 (OPC 10000-6 §6.7.2.3).
    pub(crate) fn new_channel_id(&self) -> u32 {
        loop {
            let id = self.next_channel.fetch_add(1, Ordering::Relaxed);
            if id != 0 {
                return id;
            }
        }
    }

    /// What a channel of this server may receive and send.
    pub(crate) fn channel_limits(&self) -> uaforge_channel::Limits {
        uaforge_channel::Limits {
            max_message: self.limits.max_message_size,
            max_chunks: self.limits.max_chunk_count,
            ..uaforge_channel::Limits::default()
        }
    }

    /// When a request is answered with Bad_Timeout: after the time the client waits, within the server's limit.
    pub(crate) fn request_deadline(&self, timeout_hint: u32, now: Ticks) -> Ticks {
        let limit = self.limits.max_request_timeout;
        match timeout_hint {
            0 => now + limit,
            hint => now + Duration::from_millis(hint.into()).min(limit),
        }
    }

    pub(crate) fn encode_context(&self) -> EncodeContext<'_> {
        EncodeContext { namespaces: self.space.namespaces() }
    }

    pub(crate) fn decode_context(&self) -> DecodeContext<'_> {
        DecodeContext { limits: &self.decode_limits, namespaces: self.space.namespaces(), types: &self.types }
    }

    /// Who answers for a node: 0 is the address space.
    #[inline]
    pub(crate) fn route(&self, node: NodeIdRef<'_>) -> usize {
        if self.managers.is_empty() {
            return 0;
        }
        self.routes.find(&self.managers, node)
    }

    /// The manager of a route; `None` for the address space.
    #[inline]
    pub(crate) fn manager(&self, route: usize) -> Option<&dyn NodeManager> {
        self.managers.get(route.checked_sub(1)?).map(|manager| &**manager)
    }

    /// Tells what a reference to a node shows of it, whoever answers for the node; `false` if there is no
    /// such node.
    pub(crate) fn describe(
        &self,
        snapshot: &Snapshot,
        node: NodeIdRef<'_>,
        locales: &[UaString],
        found: &mut dyn FnMut(&Description<'_>),
    ) -> bool {
        if let Some(manager) = self.manager(self.route(node)) {
            return shield("describe", node, || manager.describe(node, found)).unwrap_or_default();
        }
        let node = snapshot.node(node);
        if let Some(node) = &node {
            found(&describe(node, locales));
        }
        node.is_some()
    }

    /// Whether a node exists anywhere.
    pub(crate) fn has_node(&self, snapshot: &Snapshot, node: NodeIdRef<'_>) -> bool {
        self.describe(snapshot, node, &[], &mut |_| {})
    }

    /// Whether a node, whoever answers for it, has the browse name of a step.
    #[cold]
    pub(crate) fn has_name(&self, snapshot: &Snapshot, node: NodeIdRef<'_>, item: &FollowItem<'_>) -> bool {
        let mut fits = false;
        self.describe(snapshot, node, &[], &mut |found| fits = item.has_name(found.browse_name));
        fits
    }
}
