//! The services, one file each: a decoded request in, a response written straight into the output.

pub(crate) mod browse;
pub(crate) mod call;
pub(crate) mod discovery;
pub(crate) mod late_walk;
pub(crate) mod monitored_item;
pub(crate) mod read;
pub(crate) mod register;
pub(crate) mod registration;
pub(crate) mod session;
pub(crate) mod subscription;
pub(crate) mod translate;
pub(crate) mod walk;
pub(crate) mod write;

use uaforge_codec::{DecodeContext, Now, UaString};
use uaforge_nodes::Snapshot;

use crate::access::Access;
use crate::cancellation::Scope;
use crate::proto::buffers::Buffers;
use crate::proto::session::Session;
use crate::shared::Core;

/// What a service of an active session works with.
pub(crate) struct ServiceCx<'t> {
    pub(crate) core: &'t Core,
    pub(crate) snapshot: &'t Snapshot,
    pub(crate) buffers: &'t mut Buffers,
    pub(crate) session: &'t Session,
    /// Deadline and token of the request.
    pub(crate) scope: &'t Scope,
    pub(crate) access: Access,
    /// What the client wants texts in, the most wanted first.
    pub(crate) locales: &'t [UaString],
    pub(crate) now: Now,
    /// References that the request made the server look at.
    pub(crate) spent: u32,
}

impl<'t> ServiceCx<'t> {
    /// References that the request may look at before others have their turn.
    pub(crate) fn share(&self) -> u32 {
        self.core.limits.operations_per_turn
    }

    /// Notes what the request left of its share.
    pub(crate) fn spend_share(&mut self, left: u32) {
        self.spent = self.spent.saturating_add(self.share().saturating_sub(left));
    }

    pub(crate) fn decode(&self) -> DecodeContext<'t> {
        self.core.decode_context()
    }
}
