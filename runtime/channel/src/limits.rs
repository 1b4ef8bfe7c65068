//! Buffer and message limits, and what two sides settle on (OPC 10000-6 §7.1.2.3, §7.1.2.4).

use uaforge_types::status;

use crate::ChannelError;
use crate::hello::Announced;

/// Smallest buffer that a peer has to have (OPC 10000-6 §7.1.2.3).
const MIN_BUFFER: u32 = 8192;

/// What one side can take and wants to send. 0 is no limit for messages and
/// chunks (OPC 10000-6 §7.1.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest chunk that is received, in bytes; at least 8192 is used. Whoever drives the channel has to
    /// hold a whole chunk, so that this is not more than its buffer.
    pub receive_buffer: u32,
    /// Largest chunk that is sent; at least 8192 is used.
    pub send_buffer: u32,
    /// Largest message that is received, all bodies together.
    pub max_message: u32,
    /// Most chunks of one message that is received.
    pub max_chunks: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { receive_buffer: 65_536, send_buffer: 65_536, max_message: 16 << 20, max_chunks: 4_096 }
    }
}

impl Limits {
    /// The size of the receive buffer that is announced and kept.
    pub(crate) fn receive_buffer(&self) -> u32 {
        self.receive_buffer.max(MIN_BUFFER)
    }

    /// The size of the send buffer that is announced.
    pub(crate) fn send_buffer(&self) -> u32 {
        self.send_buffer.max(MIN_BUFFER)
    }
}

/// What holds on a connection (OPC 10000-6 §7.1.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiated {
    /// Largest chunk that is received, in bytes.
    pub receive_chunk: usize,
    /// Largest chunk that is sent.
    pub send_chunk: usize,
    /// Largest message that is received.
    pub receive_message: usize,
    /// Most chunks of a message that is received.
    pub receive_chunks: usize,
    /// Largest message that the peer takes.
    pub send_message: usize,
    /// Most chunks of a message that the peer takes.
    pub send_chunks: usize,
}

impl Negotiated {
    /// Before anything is settled: nothing but a Hello, an Acknowledge or an Error fits.
    pub(crate) const HANDSHAKE: Self = Self {
        receive_chunk: MIN_BUFFER as usize,
        send_chunk: MIN_BUFFER as usize,
        receive_message: MIN_BUFFER as usize,
        receive_chunks: 1,
        send_message: usize::MAX,
        send_chunks: usize::MAX,
    };

    /// What `own` limits and the peer's announcement have in common.
    ///
    /// # Errors
    /// Bad_ConnectionRejected if the peer's buffers are smaller than every peer's have to be.
    pub(crate) fn settle(own: &Limits, peer: &Announced) -> Result<Self, ChannelError> {
        if peer.receive_buffer < MIN_BUFFER || peer.send_buffer < MIN_BUFFER {
            return Err(ChannelError::new(
                status::BAD_CONNECTION_REJECTED,
                "buffers have to hold at least 8192 bytes",
            ));
        }
        Ok(Self {
            receive_chunk: own.receive_buffer().min(peer.send_buffer) as usize,
            send_chunk: own.send_buffer().min(peer.receive_buffer) as usize,
            receive_message: unlimited(own.max_message),
            receive_chunks: unlimited(own.max_chunks),
            // A peer without a limit does not lift ours: a message is built in memory.
            send_message: unlimited(peer.max_message).min(unlimited(own.max_message)),
            send_chunks: unlimited(peer.max_chunks),
        })
    }
}

/// 0 stands for no limit.
fn unlimited(limit: u32) -> usize {
    if limit == 0 { usize::MAX } else { limit as usize }
}
