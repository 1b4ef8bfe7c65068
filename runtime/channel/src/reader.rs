//! Chunks in, messages out: order, tokens, limits, assembly (OPC 10000-6 §6.7.2, §6.7.3).

use alloc::string::String;
use alloc::vec::Vec;

use uaforge_codec::{DecodeContext, DecodeRef as _, Decoder, StatusCode, StrRef, Ticks};
use uaforge_types::status;

use crate::frame::{ABORT, FINAL, Frame, HEADER};
use crate::quota::Share;
use crate::token::Tokens;
use crate::{ChannelError, Negotiated, SequenceCheck, SequenceRule};

/// Bytes before what may be encrypted: message header, channel id, token id.
pub(crate) const PLAIN: usize = HEADER + 8;
/// Bytes before the body of a chunk: the plain part, sequence number, request id.
pub(crate) const CHUNK_HEADER: usize = PLAIN + 8;
/// Room for assembly that stays between messages.
const KEEP: usize = 64 * 1024;

/// Assembles messages.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) limits: Negotiated,
    pub(crate) sequence: SequenceCheck,
    partial: Option<Partial>,
    /// Bodies of the chunks of one message.
    assembled: Vec<u8>,
    /// What `assembled` holds of the memory that connections share.
    pub(crate) share: Share,
    /// A chunk while it is decrypted.
    opened: Vec<u8>,
}

/// A message whose last chunk has not come.
#[derive(Clone, Copy, Debug)]
struct Partial {
    request_id: u32,
    chunks: usize,
    since: Ticks,
}

/// What a chunk brought.
pub(crate) enum Incoming<'c> {
    /// A part of a message.
    Part,
    /// The last part: the whole message.
    Message { request_id: u32, body: &'c [u8] },
    /// The sender gave a message up.
    Abort { request_id: u32, status: StatusCode, reason: String },
}

/// An opened chunk.
pub(crate) struct Opened<'c> {
    pub(crate) request_id: u32,
    pub(crate) body: &'c [u8],
    /// It came with the other token.
    pub(crate) is_other: bool,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self {
            limits: Negotiated::HANDSHAKE,
            sequence: SequenceCheck::new(SequenceRule::Legacy),
            partial: None,
            assembled: Vec::new(),
            share: Share::default(),
            opened: Vec::new(),
        }
    }

    /// Since when a message is unfinished.
    pub(crate) fn unfinished_since(&self) -> Option<Ticks> {
        self.partial.map(|partial| partial.since)
    }

    /// Takes a chunk of a message. `Ok((_, true))`: it is the first one with the other token.
    pub(crate) fn take<'c>(
        &'c mut self,
        frame: Frame<'c>,
        channel: u32,
        tokens: &mut Tokens,
        now: Ticks,
    ) -> Result<(Incoming<'c>, bool), ChannelError> {
        if self.partial.is_none() {
            self.assembled.clear();
            self.assembled.shrink_to(KEEP);
            self.share.resize(self.assembled.capacity());
        }
        let chunk = open_chunk(frame, channel, tokens, &mut self.opened, &mut self.sequence, now)?;
        let (request_id, is_other) = (chunk.request_id, chunk.is_other);
        if let Some(partial) = self.partial.filter(|partial| partial.request_id != request_id) {
            // Chunks of two messages are never mixed (OPC 10000-6 §6.7.2.4); an abort of a message that
            // has no chunk yet harms nobody.
            if frame.chunk == ABORT {
                return Ok((abort(request_id, chunk.body), is_other));
            }
            return Err(ChannelError {
                status: status::BAD_TCP_INTERNAL_ERROR,
                reason: alloc::format!("message {} is not finished", partial.request_id).into(),
            });
        }
        if frame.chunk == ABORT {
            self.partial = None;
            return Ok((abort(request_id, chunk.body), is_other));
        }
        let partial = self.partial.unwrap_or(Partial { request_id, chunks: 0, since: now });
        let too_large = self.assembled.len() + chunk.body.len() > self.limits.receive_message
            || partial.chunks >= self.limits.receive_chunks;
        if too_large {
            return Err(ChannelError::new(
                status::BAD_TCP_MESSAGE_TOO_LARGE,
                "the message has too many chunks or bytes",
            ));
        }
        if frame.chunk == FINAL && partial.chunks == 0 {
            return Ok((Incoming::Message { request_id, body: chunk.body }, is_other));
        }
        make_room(&mut self.assembled, chunk.body.len(), self.limits.receive_message, &mut self.share)?;
        self.assembled.extend_from_slice(chunk.body);
        if frame.chunk == FINAL {
            self.partial = None;
            return Ok((Incoming::Message { request_id, body: &self.assembled }, is_other));
        }
        self.partial = Some(Partial { chunks: partial.chunks + 1, ..partial });
        Ok((Incoming::Part, is_other))
    }

    /// Begins to count by the rule of the policy that was chosen.
    pub(crate) fn set_rule(&mut self, rule: SequenceRule) {
        self.sequence = SequenceCheck::new(rule);
    }

    /// Takes a CloseSecureChannel, whose body says nothing.
    pub(crate) fn take_close(
        &mut self,
        frame: Frame<'_>,
        channel: u32,
        tokens: &mut Tokens,
        now: Ticks,
    ) -> Result<(), ChannelError> {
        open_chunk(frame, channel, tokens, &mut self.opened, &mut self.sequence, now).map(|_| ())
    }

    /// Gives room back that no message needs now.
    pub(crate) fn trim(&mut self) {
        if self.partial.is_none() {
            self.assembled = Vec::new();
            self.share.resize(0);
        }
        self.opened = Vec::new();
    }
}

/// Makes room for a chunk: by doubling, but never for more than a message may have.
fn make_room(
    assembled: &mut Vec<u8>,
    len: usize,
    largest: usize,
    share: &mut Share,
) -> Result<(), ChannelError> {
    let needed = assembled.len() + len;
    if needed > assembled.capacity() {
        let wanted = needed.max(assembled.capacity() * 2).min(largest.max(needed));
        if !share.resize(wanted) {
            let reason = "other messages use up the memory there is";
            return Err(ChannelError::new(status::BAD_TCP_NOT_ENOUGH_RESOURCES, reason));
        }
        assembled.reserve_exact(wanted - assembled.len());
    }
    Ok(())
}

/// Checks channel, token, protection and number of a chunk.
fn open_chunk<'c>(
    frame: Frame<'c>,
    channel: u32,
    tokens: &mut Tokens,
    scratch: &'c mut Vec<u8>,
    sequence: &mut SequenceCheck,
    now: Ticks,
) -> Result<Opened<'c>, ChannelError> {
    let mut d = Decoder::new(frame.body(), DecodeContext::default());
    if d.u32()? != channel {
        return Err(ChannelError::new(
            status::BAD_TCP_SECURE_CHANNEL_UNKNOWN,
            "the chunk belongs to another channel",
        ));
    }
    let found = tokens.find(d.u32()?, now)?;
    let is_other = found.is_other;
    let secured = if found.security.is_plain() {
        d.rest()
    } else {
        scratch.clear();
        scratch.extend_from_slice(frame.bytes);
        let end = found.security.open(scratch, PLAIN, sequence.last())?;
        scratch.get(PLAIN..end).unwrap_or_default()
    };
    let mut d = Decoder::new(secured, DecodeContext::default());
    sequence.take(d.u32()?)?;
    let request_id = d.u32()?;
    Ok(Opened { request_id, body: d.rest(), is_other })
}

/// Reads the body of an abort chunk, whatever is wrong with it.
fn abort(request_id: u32, body: &[u8]) -> Incoming<'static> {
    let mut d = Decoder::new(body, DecodeContext::default());
    let status = d.u32().map_or(status::BAD_TCP_INTERNAL_ERROR, StatusCode);
    let reason = StrRef::decode_ref(&mut d).unwrap_or_default().to_str_lossy().into_owned();
    Incoming::Abort { request_id, status, reason }
}
