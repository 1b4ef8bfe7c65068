//! Messages become bytes to send. The writer owns the order: it numbers, picks the token and seals
//! (OPC 10000-6 §6.7.2).

use alloc::boxed::Box;
use alloc::vec::Vec;

use uaforge_codec::{BytesRef, ChunkLayout, EncodeContext, EncodeError, Encoder, StrRef};
use uaforge_types::status;

use crate::header::{ChunkKind, Header, MessageKind};
use crate::limits::SendLimits;
use crate::sequence;
use crate::{ChannelError, OpenHeader, SecurityProvider};

/// Message header, channel id, token id.
const SECURED_FROM: usize = 16;
/// And sequence header.
const BODY_FROM: usize = 24;

/// The writing half of a channel.
pub struct Writer {
    limits: SendLimits,
    security: Box<dyn SecurityProvider>,
    channel_id: u32,
    token_id: u32,
    sequence: sequence::Sender,
}

impl Writer {
    /// A writer to a peer that announced these sizes.
    #[must_use]
    pub fn new(
        chunk_size: u32,
        max_message_size: u32,
        max_chunk_count: u32,
        security: Box<dyn SecurityProvider>,
    ) -> Self {
        let limits = SendLimits::new(chunk_size, max_message_size, max_chunk_count);
        Self { limits, security, channel_id: 0, token_id: 0, sequence: sequence::Sender::default() }
    }

    pub(crate) fn set_limits(&mut self, limits: SendLimits) {
        self.limits = limits;
    }

    /// What secures the messages from the next one on.
    pub fn use_token(&mut self, channel_id: u32, token_id: u32) {
        self.channel_id = channel_id;
        self.token_id = token_id;
    }

    /// The channel.
    #[must_use]
    pub fn channel_id(&self) -> u32 {
        self.channel_id
    }

    fn layout(&self) -> ChunkLayout {
        let security = self.security.layout();
        // Encrypted chunks are whole blocks; one byte tells the padding's length.
        let padding = if security.block == 0 { 0 } else { 1 };
        let chunk_size = match security.block {
            0 => self.limits.chunk_size,
            block => {
                let secured = self.limits.chunk_size.saturating_sub(SECURED_FROM);
                SECURED_FROM + secured - secured % block
            }
        };
        ChunkLayout {
            header: BODY_FROM,
            trailer: security.signature + padding,
            chunk_size,
            max_message: self.limits.max_message,
            max_chunks: self.limits.max_chunks,
        }
    }

    /// Begins a message at the end of `buf`. When it is written, call [`Writer::seal`] with the length
    /// that `buf` had before.
    pub fn begin<'a>(&self, buf: &'a mut Vec<u8>, cx: EncodeContext<'a>) -> Encoder<'a> {
        Encoder::chunked(buf, cx, self.layout())
    }

    /// Numbers and secures the chunks of the message that begins at `start`.
    ///
    /// # Errors
    /// The message could not be secured. Numbers were taken, so nothing may be sent after it.
    pub fn seal(
        &mut self,
        buf: &mut [u8],
        start: usize,
        kind: MessageKind,
        request_id: u32,
    ) -> Result<(), ChannelError> {
        let size = self.layout().chunk_size;
        let mut message = buf.get_mut(start..).unwrap_or_default();
        while !message.is_empty() {
            let (chunk, rest) = message.split_at_mut(size.min(message.len()));
            let which = if rest.is_empty() { ChunkKind::Final } else { ChunkKind::Intermediate };
            Header::write(kind, which, chunk);
            let numbers = [self.channel_id, self.token_id, self.sequence.next(), request_id];
            for (field, number) in
                chunk.iter_mut().skip(Header::LEN).zip(numbers.iter().flat_map(|n| n.to_le_bytes()))
            {
                *field = number;
            }
            self.security.seal(self.token_id, chunk, SECURED_FROM)?;
            message = rest;
        }
        Ok(())
    }

    /// Writes a message, or nothing if it cannot be encoded.
    ///
    /// # Errors
    /// The message is beyond the peer's limits, or has no encoding.
    pub fn message(
        &mut self,
        buf: &mut Vec<u8>,
        cx: EncodeContext<'_>,
        kind: MessageKind,
        request_id: u32,
        write: impl FnOnce(&mut Encoder<'_>),
    ) -> Result<(), WriteError> {
        let start = buf.len();
        let mut encoder = self.begin(buf, cx);
        write(&mut encoder);
        if let Err(error) = encoder.finish() {
            buf.truncate(start);
            return Err(WriteError::Encode(error));
        }
        self.seal(buf, start, kind, request_id).map_err(WriteError::Channel)
    }

    /// Writes an OpenSecureChannel message, which is one chunk.
    ///
    /// # Errors
    /// The message could not be encoded or secured.
    pub fn open(
        &mut self,
        buf: &mut Vec<u8>,
        request_id: u32,
        write: impl FnOnce(&mut Encoder<'_>),
    ) -> Result<(), ChannelError> {
        let start = buf.len();
        buf.extend_from_slice(&[0; Header::LEN]);
        let header = OpenHeader {
            channel_id: self.channel_id,
            policy_uri: StrRef(Some(self.security.policy_uri().as_bytes())),
            sender_certificate: BytesRef(None),
            receiver_thumbprint: BytesRef(None),
        };
        header.write(buf);
        buf.extend_from_slice(&self.sequence.next().to_le_bytes());
        buf.extend_from_slice(&request_id.to_le_bytes());
        let mut encoder = Encoder::new(buf, EncodeContext::default());
        write(&mut encoder);
        encoder.finish()?;
        if buf.len() - start > self.limits.chunk_size {
            buf.truncate(start);
            let reason = "OpenSecureChannel does not fit into one chunk";
            return Err(ChannelError::new(status::BAD_ENCODING_LIMITS_EXCEEDED, reason));
        }
        Header::write(MessageKind::Open, ChunkKind::Final, buf.get_mut(start..).unwrap_or_default());
        Ok(())
    }
}

impl core::fmt::Debug for Writer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Writer")
            .field("channel_id", &self.channel_id)
            .field("token_id", &self.token_id)
            .finish_non_exhaustive()
    }
}

/// Why a message was not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// This message only; the channel goes on.
    Encode(EncodeError),
    /// The channel is over.
    Channel(ChannelError),
}
