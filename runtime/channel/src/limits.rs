//! Sizes that a peer is told and kept to (OPC 10000-6 §7.1.2.3, §7.1.2.4).

use uaforge_types::status;

use crate::{Acknowledge, ChannelError, Hello};

/// The least size of a buffer that a peer may announce.
const MIN_BUFFER: u32 = 8192;

/// Sizes of one side. 0 messages or chunks is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransportLimits {
    /// Longest chunk that is received.
    pub receive_buffer_size: u32,
    /// Longest chunk that is sent.
    pub send_buffer_size: u32,
    /// Longest message that is received, bodies only.
    pub max_message_size: u32,
    /// Most chunks of a message that is received.
    pub max_chunk_count: u32,
}

impl Default for TransportLimits {
    fn default() -> Self {
        Self {
            receive_buffer_size: 65_536,
            send_buffer_size: 65_536,
            max_message_size: 16 << 20,
            max_chunk_count: 4096,
        }
    }
}

/// Sizes of messages that are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SendLimits {
    pub(crate) chunk_size: usize,
    pub(crate) max_message: usize,
    pub(crate) max_chunks: usize,
}

/// Sizes of messages that are received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceiveLimits {
    pub(crate) chunk_size: usize,
    pub(crate) max_message: usize,
    pub(crate) max_chunks: usize,
}

fn size(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn or_none(value: u32) -> usize {
    if value == 0 { usize::MAX } else { size(value) }
}

impl TransportLimits {
    /// What a server answers to a Hello: buffers no larger than the peer's and its own.
    ///
    /// # Errors
    /// Bad_ConnectionRejected for buffers below the least size.
    pub fn acknowledge(&self, hello: &Hello<'_>) -> Result<Acknowledge, ChannelError> {
        if hello.receive_buffer_size < MIN_BUFFER || hello.send_buffer_size < MIN_BUFFER {
            let reason = "buffers are below 8192 bytes";
            return Err(ChannelError::new(status::BAD_CONNECTION_REJECTED, reason));
        }
        Ok(Acknowledge {
            protocol_version: 0,
            receive_buffer_size: self.receive_buffer_size.min(hello.send_buffer_size),
            send_buffer_size: self.send_buffer_size.min(hello.receive_buffer_size),
            max_message_size: self.max_message_size,
            max_chunk_count: self.max_chunk_count,
        })
    }

    pub(crate) fn receiving(&self, chunk_size: u32) -> ReceiveLimits {
        ReceiveLimits {
            chunk_size: size(chunk_size),
            max_message: or_none(self.max_message_size),
            max_chunks: or_none(self.max_chunk_count),
        }
    }
}

impl SendLimits {
    /// Limits of messages to a peer that announced these sizes.
    pub(crate) fn new(chunk_size: u32, max_message_size: u32, max_chunk_count: u32) -> Self {
        Self {
            chunk_size: size(chunk_size),
            max_message: or_none(max_message_size),
            max_chunks: or_none(max_chunk_count),
        }
    }
}

/// The sizes of a client after the Acknowledge.
///
/// # Errors
/// The server answered with larger buffers than were offered, or smaller ones than are allowed.
pub(crate) fn negotiated(
    own: &TransportLimits,
    ack: &Acknowledge,
) -> Result<(ReceiveLimits, SendLimits), ChannelError> {
    let wrong = ack.send_buffer_size > own.receive_buffer_size
        || ack.receive_buffer_size > own.send_buffer_size
        || ack.receive_buffer_size < MIN_BUFFER
        || ack.send_buffer_size < MIN_BUFFER;
    if wrong {
        let reason = "the buffer sizes of the Acknowledge do not fit the Hello";
        return Err(ChannelError::new(status::BAD_TCP_INTERNAL_ERROR, reason));
    }
    let receive = own.receiving(ack.send_buffer_size);
    Ok((receive, SendLimits::new(ack.receive_buffer_size, ack.max_message_size, ack.max_chunk_count)))
}
