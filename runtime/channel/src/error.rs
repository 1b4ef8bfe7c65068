//! What breaks a channel.

use core::fmt;

use uaforge_codec::{DecodeError, EncodeError, StatusCode, UaString};
use uaforge_types::status;

/// A broken rule, or what the peer said in its Error message. The channel is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelError {
    /// The status to send, or that was sent (OPC 10000-6 §7.1.5).
    pub status: StatusCode,
    /// For people.
    pub reason: UaString,
    /// True when the peer said it.
    pub from_peer: bool,
}

impl ChannelError {
    /// An error of the peer's making.
    #[cold]
    #[must_use]
    pub fn new(status: StatusCode, reason: &str) -> Self {
        Self { status, reason: reason.into(), from_peer: false }
    }

    /// What the peer said.
    #[cold]
    #[must_use]
    pub fn from_peer(status: StatusCode, reason: UaString) -> Self {
        Self { status, reason, from_peer: true }
    }
}

impl fmt::Display for ChannelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match status::name(self.status) {
            Some(name) => write!(f, "{name}: {}", self.reason),
            None => write!(f, "{}: {}", self.status, self.reason),
        }
    }
}

impl core::error::Error for ChannelError {}

impl From<DecodeError> for ChannelError {
    fn from(error: DecodeError) -> Self {
        Self { status: error.status(), reason: alloc::format!("{error}").into(), from_peer: false }
    }
}

impl From<EncodeError> for ChannelError {
    fn from(error: EncodeError) -> Self {
        Self { status: error.status(), reason: alloc::format!("{error}").into(), from_peer: false }
    }
}
