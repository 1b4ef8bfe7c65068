//! Why a channel ends.

use alloc::borrow::Cow;

use uaforge_codec::{DecodeError, StatusCode};

/// An error that ends the channel; the peer is told with an ERR message (OPC 10000-6 §7.1.5).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{status}: {reason}")]
pub struct ChannelError {
    /// The status that both sides see.
    pub status: StatusCode,
    /// For people.
    pub reason: Cow<'static, str>,
}

impl ChannelError {
    /// An error with a fixed reason.
    #[must_use]
    pub const fn new(status: StatusCode, reason: &'static str) -> Self {
        Self { status, reason: Cow::Borrowed(reason) }
    }
}

impl From<DecodeError> for ChannelError {
    fn from(error: DecodeError) -> Self {
        Self { status: error.status(), reason: Cow::Owned(alloc::format!("{error}")) }
    }
}
