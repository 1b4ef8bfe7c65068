//! The one place that numbers and seals what is sent (D9).

use alloc::boxed::Box;
use alloc::vec::Vec;

use uaforge_codec::{ChunkLayout, EncodeContext, EncodeError, Encoder};

use crate::frame::{FINAL, MORE, MessageType, put_header};
use crate::reader::{CHUNK_HEADER, PLAIN};
use crate::{ChannelError, ChunkSecurity, Negotiated, NonePolicy, SequenceRule, Sequencer};

/// Owns order and secrets of one direction: it numbers, picks the token and seals, in place.
#[derive(Debug)]
pub struct Writer {
    pub(crate) channel: u32,
    pub(crate) limits: Negotiated,
    pub(crate) sequence: Sequencer,
    token: u32,
    security: Box<dyn ChunkSecurity>,
    failed: Option<ChannelError>,
}

impl Writer {
    pub(crate) fn new(rule: SequenceRule) -> Self {
        Self {
            channel: 0,
            limits: Negotiated::HANDSHAKE,
            sequence: Sequencer::new(rule),
            token: 0,
            security: Box::new(NonePolicy),
            failed: None,
        }
    }

    /// The id of the channel.
    #[must_use]
    pub fn channel_id(&self) -> u32 {
        self.channel
    }

    /// Uses another token from the next message on.
    pub(crate) fn set_token(&mut self, token: u32, security: Box<dyn ChunkSecurity>) {
        self.token = token;
        self.security = security;
    }

    /// Why nothing may be sent any more: sealing failed after numbers were used up.
    pub(crate) fn failure(&self) -> Option<&ChannelError> {
        self.failed.as_ref()
    }

    /// Writes one message: `encode` writes its body straight into the chunks in `out`. If it writes
    /// nothing, nothing is sent.
    ///
    /// # Errors
    /// What the encoder could not write, such as a message above the peer's limits. `out` is then as it
    /// was, and no number is used up.
    pub fn send<R>(
        &mut self,
        out: &mut Vec<u8>,
        cx: EncodeContext<'_>,
        request_id: u32,
        encode: impl FnOnce(&mut Encoder<'_>) -> R,
    ) -> Result<R, EncodeError> {
        self.send_as(MessageType::Message, out, cx, request_id, encode)
    }

    pub(crate) fn send_as<R>(
        &mut self,
        kind: MessageType,
        out: &mut Vec<u8>,
        cx: EncodeContext<'_>,
        request_id: u32,
        encode: impl FnOnce(&mut Encoder<'_>) -> R,
    ) -> Result<R, EncodeError> {
        let start = out.len();
        let chunk_size = self.limits.send_chunk;
        let layout = ChunkLayout {
            header: CHUNK_HEADER,
            trailer: self.security.trailer(chunk_size, PLAIN),
            chunk_size,
            max_message: self.limits.send_message,
            max_chunks: self.limits.send_chunks,
        };
        let mut e = Encoder::chunked(out, cx, layout);
        let result = encode(&mut e);
        let nothing = e.body_len() == 0;
        match e.finish() {
            Err(error) => {
                out.truncate(start);
                Err(error)
            }
            Ok(_) if nothing || self.failed.is_some() => {
                out.truncate(start);
                Ok(result)
            }
            Ok(chunks) => {
                if let Err(error) = self.seal(kind, out, start, chunks, layout.trailer, request_id) {
                    out.truncate(start);
                    self.failed = Some(error);
                }
                Ok(result)
            }
        }
    }

    /// Numbers and seals the chunks that begin at `start`.
    fn seal(
        &mut self,
        kind: MessageType,
        out: &mut Vec<u8>,
        start: usize,
        chunks: usize,
        trailer: usize,
        request_id: u32,
    ) -> Result<(), ChannelError> {
        let stride = self.limits.send_chunk;
        for chunk in 0..chunks {
            let at = start + chunk * stride;
            let last = chunk + 1 == chunks;
            let trailer = if last {
                let trailer = self.security.last_trailer(out.len().saturating_sub(at + PLAIN));
                out.resize(out.len() + trailer, 0);
                trailer
            } else {
                trailer
            };
            let end = if last { out.len() } else { at + stride };
            let Some(bytes) = out.get_mut(at..end) else { continue };
            put_header(bytes, kind, if last { FINAL } else { MORE }, end - at);
            let fields = [self.channel, self.token, self.sequence.take(), request_id];
            for (field, slot) in fields.iter().zip(bytes.get_mut(8..).unwrap_or_default().chunks_exact_mut(4))
            {
                slot.copy_from_slice(&field.to_le_bytes());
            }
            self.security.seal(bytes, PLAIN, trailer)?;
        }
        Ok(())
    }
}
