//! The one place that numbers and seals what is sent (D9).

use alloc::boxed::Box;
use alloc::vec::Vec;

use uaforge_codec::{ChunkLayout, EncodeContext, EncodeError, Encoder};

use crate::frame::{FINAL, MORE, MessageType, put_header};
use crate::reader::{CHUNK_HEADER, PLAIN};
use crate::{ChannelError, ChunkSecurity, Negotiated, NonePolicy, SequenceRule, Sequencer};

/// Owns order and secrets of one direction: it numbers, picks the token and seals, in
/// place (OPC 10000-6 §6.7.2).
#[derive(Debug)]
pub struct Writer {
    pub(crate) channel: u32,
    pub(crate) limits: Negotiated,
    sequence: Sequencer,
    token: u32,
    security: Box<dyn ChunkSecurity>,
    state: State,
    /// Messages that wait for an OpenSecureChannel message, which has an earlier number and is not sealed
    /// yet.
    held: Option<Vec<u8>>,
}

#[derive(Debug)]
enum State {
    /// There is no token yet.
    Opening,
    Open,
    /// Nothing is sent any more.
    Closed,
    /// Sealing failed after numbers were used up: nothing that comes later may be sent.
    Poisoned(ChannelError),
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self {
            channel: 0,
            limits: Negotiated::HANDSHAKE,
            sequence: Sequencer::new(SequenceRule::Legacy),
            token: 0,
            security: Box::new(NonePolicy),
            state: State::Opening,
            held: None,
        }
    }

    /// The id of the channel.
    #[must_use]
    pub fn channel_id(&self) -> u32 {
        self.channel
    }

    /// The sequence number of the next chunk, for one that begins anywhere or repeats a recording
    /// (OPC 10000-6 §6.7.2.4).
    pub fn set_sequence(&mut self, next: u32) {
        self.sequence.set(next);
    }

    /// Begins to count by the rule of the policy that was chosen.
    pub(crate) fn set_rule(&mut self, rule: SequenceRule) {
        self.sequence.set_rule(rule);
    }

    /// Uses another token from the next message on.
    pub(crate) fn set_token(&mut self, token: u32, security: Box<dyn ChunkSecurity>) {
        self.token = token;
        self.security = security;
        if matches!(self.state, State::Opening) {
            self.state = State::Open;
        }
    }

    /// Why nothing may be sent any more, if sealing failed.
    pub(crate) fn failure(&self) -> Option<&ChannelError> {
        match &self.state {
            State::Poisoned(error) => Some(error),
            _ => None,
        }
    }

    /// Sends nothing any more.
    pub(crate) fn end(&mut self) {
        if !matches!(self.state, State::Poisoned(_)) {
            self.state = State::Closed;
        }
        self.held = None;
    }

    /// The number of an OpenSecureChannel chunk. What is sent before [`Writer::release`] waits for it.
    pub(crate) fn hold(&mut self) -> u32 {
        self.held = Some(Vec::new());
        self.sequence.take()
    }

    /// The OpenSecureChannel chunk is sealed: it goes out, and what waited for it.
    pub(crate) fn release(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(chunk);
        if let Some(held) = self.held.take() {
            out.extend_from_slice(&held);
        }
    }

    /// Writes one message: `encode` writes its body straight into the chunks in `out`. Nothing is sent if
    /// it writes nothing, or if the channel is not open.
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
        let mut held = self.held.take();
        let result = self.write(kind, held.as_mut().unwrap_or(out), cx, request_id, encode);
        self.held = held;
        result
    }

    fn write<R>(
        &mut self,
        kind: MessageType,
        out: &mut Vec<u8>,
        cx: EncodeContext<'_>,
        request_id: u32,
        encode: impl FnOnce(&mut Encoder<'_>) -> R,
    ) -> Result<R, EncodeError> {
        let start = out.len();
        let chunk_size = self.security.chunk_size(self.limits.send_chunk, PLAIN);
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
            Ok(_) if nothing || !matches!(self.state, State::Open) => {
                out.truncate(start);
                Ok(result)
            }
            Ok(chunks) => {
                if let Err(error) = self.seal(kind, out, start, chunks, layout, request_id) {
                    out.truncate(start);
                    self.state = State::Poisoned(error);
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
        layout: ChunkLayout,
        request_id: u32,
    ) -> Result<(), ChannelError> {
        let stride = layout.chunk_size;
        for chunk in 0..chunks {
            let at = start + chunk * stride;
            let last = chunk + 1 == chunks;
            let trailer = if last {
                let trailer = self.security.last_trailer(out.len().saturating_sub(at + PLAIN));
                out.resize(out.len() + trailer, 0);
                trailer
            } else {
                layout.trailer
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
