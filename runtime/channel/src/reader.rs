//! Arrived bytes become messages (OPC 10000-6 §6.7.2, §6.7.3).

use alloc::boxed::Box;
use alloc::vec::Vec;

use uaforge_codec::Ticks;
use uaforge_types::status;

use crate::header::{ChunkKind, Header, MessageKind};
use crate::limits::ReceiveLimits;
use crate::sequence;
use crate::{
    Acknowledge, ChannelError, ErrorMessage, Hello, OpenHeader, SecurityProvider, Token, Tokens,
    TransportLimits,
};

/// A buffer for reassembly above this is not kept.
const KEEP: usize = 64 * 1024;
/// Message header, channel id and token id; the sequence header follows.
const SECURE_LEN: usize = 16;

/// A message, or what else may come.
#[derive(Clone, Debug)]
pub enum Incoming<'a> {
    /// HEL
    Hello(Hello<'a>),
    /// ACK
    Acknowledge(Acknowledge),
    /// ERR
    Error(ErrorMessage),
    /// OPN
    Open {
        /// Its security header.
        header: OpenHeader<'a>,
        /// RequestId.
        request_id: u32,
        /// Encoding id and structure.
        body: &'a [u8],
    },
    /// MSG, whole
    Message {
        /// RequestId.
        request_id: u32,
        /// Encoding id and structure.
        body: &'a [u8],
    },
    /// MSG that its sender gave up
    Abort {
        /// RequestId.
        request_id: u32,
        /// Why.
        error: ErrorMessage,
    },
    /// CLO
    Close {
        /// RequestId.
        request_id: u32,
        /// Encoding id and structure.
        body: &'a [u8],
    },
}

/// How far reading came.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// Bytes that are done with. 0: more must arrive first.
    pub consumed: usize,
    /// What they were; `None` for a chunk of a message that goes on.
    pub incoming: Option<Incoming<'a>>,
}

impl Step<'_> {
    const WAIT: Self = Self { consumed: 0, incoming: None };
}

/// The reading half of a channel.
pub struct Reader {
    limits: ReceiveLimits,
    security: Box<dyn SecurityProvider>,
    channel_id: u32,
    tokens: Tokens,
    sequence: sequence::Receiver,
    partial: Partial,
}

/// The message whose chunks are arriving.
#[derive(Debug, Default)]
struct Partial {
    body: Vec<u8>,
    request_id: u32,
    chunks: usize,
}

impl Reader {
    /// A reader before the handshake, with the sizes that this side will announce.
    #[must_use]
    pub fn new(limits: &TransportLimits, security: Box<dyn SecurityProvider>) -> Self {
        Self {
            limits: limits.receiving(limits.receive_buffer_size),
            security,
            channel_id: 0,
            tokens: Tokens::default(),
            sequence: sequence::Receiver::default(),
            partial: Partial::default(),
        }
    }

    pub(crate) fn set_limits(&mut self, limits: ReceiveLimits) {
        self.limits = limits;
    }

    /// Takes over the buffer size that was negotiated.
    pub fn set_chunk_size(&mut self, size: u32) {
        self.limits.chunk_size = usize::try_from(size).unwrap_or(usize::MAX);
    }

    /// The channel was opened or renewed: messages may be secured with this token.
    pub fn issue(&mut self, channel_id: u32, token: Token) {
        self.channel_id = channel_id;
        self.tokens.issue(token);
    }

    /// The tokens.
    #[must_use]
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Whether chunks of an unfinished message are held.
    #[must_use]
    pub fn is_in_message(&self) -> bool {
        self.partial.chunks > 0
    }

    /// The next message or chunk at the front of `input`. Call again with the rest until nothing is
    /// consumed.
    ///
    /// # Errors
    /// The peer broke a rule; the channel is over.
    pub fn next<'a>(&'a mut self, input: &'a [u8], now: Ticks) -> Result<Step<'a>, ChannelError> {
        self.partial.forget_lent();
        let Some(header) = Header::parse(input)? else {
            return Ok(Step::WAIT);
        };
        let limit = match header.kind {
            MessageKind::Hello | MessageKind::Acknowledge => Hello::MAX_LEN,
            MessageKind::Error => ErrorMessage::MAX_LEN,
            MessageKind::Open | MessageKind::Message | MessageKind::Close => self.limits.chunk_size,
        };
        if header.size > limit {
            let status = match header.kind {
                MessageKind::Hello => status::BAD_TCP_ENDPOINT_URL_INVALID,
                _ => status::BAD_TCP_MESSAGE_TOO_LARGE,
            };
            return Err(ChannelError::new(status, "a message or chunk is longer than was agreed"));
        }
        let Some(chunk) = input.get(..header.size) else {
            return Ok(Step::WAIT);
        };
        let content = chunk.get(Header::LEN..).unwrap_or_default();
        let incoming = match header.kind {
            MessageKind::Hello => Some(Incoming::Hello(Hello::parse(content)?)),
            MessageKind::Acknowledge => Some(Incoming::Acknowledge(Acknowledge::parse(content)?)),
            MessageKind::Error => Some(Incoming::Error(ErrorMessage::parse(content)?)),
            MessageKind::Open => Some(self.open(content)?),
            MessageKind::Message | MessageKind::Close => self.secured(header, chunk, now)?,
        };
        Ok(Step { consumed: header.size, incoming })
    }

    fn open<'a>(&mut self, content: &'a [u8]) -> Result<Incoming<'a>, ChannelError> {
        let (header, rest) = OpenHeader::parse(content)?;
        if header.policy_uri.0 != Some(self.security.policy_uri().as_bytes()) {
            let reason = "the channel has another security policy";
            return Err(ChannelError::new(status::BAD_SECURITY_POLICY_REJECTED, reason));
        }
        let (request_id, body) = self.sequence_header(rest)?;
        Ok(Incoming::Open { header, request_id, body })
    }

    fn sequence_header<'a>(&mut self, secured: &'a [u8]) -> Result<(u32, &'a [u8]), ChannelError> {
        let (number, request_id, body) = split_sequence(secured)?;
        self.sequence.accept(number)?;
        Ok((request_id, body))
    }

    fn secured<'a>(
        &'a mut self,
        header: Header,
        chunk: &'a [u8],
        now: Ticks,
    ) -> Result<Option<Incoming<'a>>, ChannelError> {
        let (channel_id, token_id) = split_security(chunk)?;
        if channel_id != self.channel_id || self.tokens.current().is_none() {
            let reason = "no such secure channel on this connection";
            return Err(ChannelError::new(status::BAD_SECURE_CHANNEL_ID_INVALID, reason));
        }
        self.tokens.accept(token_id, now)?;
        let Self { security, sequence, partial, limits, .. } = self;
        let secured = security.open(token_id, chunk, SECURE_LEN)?;
        let (number, request_id, body) = split_sequence(secured)?;
        sequence.accept(number)?;
        if header.kind == MessageKind::Close {
            return Ok(Some(Incoming::Close { request_id, body }));
        }
        if partial.chunks > 0 && partial.request_id != request_id {
            let reason = "chunks of two messages are mixed";
            return Err(ChannelError::new(status::BAD_TCP_MESSAGE_TYPE_INVALID, reason));
        }
        match header.chunk {
            ChunkKind::Abort => {
                partial.clear();
                let error = ErrorMessage::parse(body)?;
                Ok(Some(Incoming::Abort { request_id, error }))
            }
            ChunkKind::Intermediate => {
                partial.add(request_id, body, limits)?;
                Ok(None)
            }
            ChunkKind::Final if partial.chunks == 0 => {
                if body.len() > limits.max_message {
                    return Err(too_large());
                }
                Ok(Some(Incoming::Message { request_id, body }))
            }
            ChunkKind::Final => {
                partial.add(request_id, body, limits)?;
                partial.chunks = 0;
                Ok(Some(Incoming::Message { request_id, body: &partial.body }))
            }
        }
    }
}

impl core::fmt::Debug for Reader {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reader")
            .field("channel_id", &self.channel_id)
            .field("tokens", &self.tokens)
            .finish_non_exhaustive()
    }
}

impl Partial {
    fn add(&mut self, request_id: u32, body: &[u8], limits: &ReceiveLimits) -> Result<(), ChannelError> {
        let too_long = body.len() > limits.max_message.saturating_sub(self.body.len());
        if too_long || self.chunks >= limits.max_chunks {
            return Err(too_large());
        }
        self.request_id = request_id;
        self.chunks += 1;
        self.body.extend_from_slice(body);
        Ok(())
    }

    /// The body of a finished message was lent to the caller, who is done with it.
    fn forget_lent(&mut self) {
        if self.chunks == 0 && !self.body.is_empty() {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.chunks = 0;
        if self.body.capacity() > KEEP {
            self.body = Vec::new();
        }
        self.body.clear();
    }
}

#[cold]
fn too_large() -> ChannelError {
    ChannelError::new(
        status::BAD_TCP_MESSAGE_TOO_LARGE,
        "a message is longer or has more chunks than was agreed",
    )
}

#[cold]
fn too_short() -> ChannelError {
    ChannelError::new(status::BAD_DECODING_ERROR, "a chunk ends within its headers")
}

fn split_security(chunk: &[u8]) -> Result<(u32, u32), ChannelError> {
    let content = chunk.get(Header::LEN..).unwrap_or_default();
    let (channel, rest) = content.split_first_chunk().ok_or_else(too_short)?;
    let (token, _) = rest.split_first_chunk().ok_or_else(too_short)?;
    Ok((u32::from_le_bytes(*channel), u32::from_le_bytes(*token)))
}

fn split_sequence(secured: &[u8]) -> Result<(u32, u32, &[u8]), ChannelError> {
    let (number, rest) = secured.split_first_chunk().ok_or_else(too_short)?;
    let (request, body) = rest.split_first_chunk().ok_or_else(too_short)?;
    Ok((u32::from_le_bytes(*number), u32::from_le_bytes(*request), body))
}
