//! What a handler that takes time is told about the request it works for.

use uaforge_codec::{Now, Ticks};

use crate::access::Access;
use crate::cancellation::Cancellation;

/// The request that a handler works for.
#[derive(Clone, Debug)]
pub struct HandlerCx {
    pub(crate) access: Access,
    pub(crate) now: Now,
    pub(crate) cancellation: Cancellation,
}

impl HandlerCx {
    /// Who asks.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// When the request came.
    #[must_use]
    pub fn now(&self) -> Now {
        self.now
    }

    /// Until when the client waits for the answer.
    #[must_use]
    pub fn deadline(&self) -> Ticks {
        self.cancellation.deadline()
    }

    /// A token that is fired when the client does not wait any more.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }
}
