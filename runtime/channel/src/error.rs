//! Why a channel ends.

use alloc::borrow::Cow;

use uaforge_codec::{DecodeError, StatusCode};
use uaforge_types::status;

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

/// The one answer to a failed decryption, padding, signature or nonce check: it tells nothing of which of them
/// it was (OPC 10000-6 §6.7.7).
#[must_use]
pub const fn security_checks_failed() -> ChannelError {
    ChannelError::new(status::BAD_SECURITY_CHECKS_FAILED, "the security checks failed")
}

impl From<DecodeError> for ChannelError {
    fn from(error: DecodeError) -> Self {
        Self { status: error.status(), reason: Cow::Owned(alloc::format!("{error}")) }
    }
}
