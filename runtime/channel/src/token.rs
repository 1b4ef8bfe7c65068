//! Security tokens: two of them are good while one takes over from the other (OPC 10000-4 §5.6.2).

use alloc::boxed::Box;
use core::time::Duration;

use uaforge_codec::Ticks;
use uaforge_types::status;

use crate::{ChannelError, ChunkSecurity, TokenKeys, Writer};

/// What protects chunks for a time.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) id: u32,
    created: Ticks,
    lifetime: Duration,
    receive: Box<dyn ChunkSecurity>,
    /// Until the writer has it.
    send: Option<Box<dyn ChunkSecurity>>,
}

impl Token {
    pub(crate) fn new(id: u32, created: Ticks, lifetime: Duration, keys: TokenKeys) -> Self {
        Self { id, created, lifetime, receive: keys.receive, send: Some(keys.send) }
    }

    /// Nothing is sent with it any more if there is a newer one.
    pub(crate) fn ends(&self) -> Ticks {
        self.created + self.lifetime
    }

    /// Nothing is received with it any more: a quarter of its lifetime later (OPC 10000-4 §5.6.2.1).
    pub(crate) fn expires(&self) -> Ticks {
        self.created + self.lifetime + self.lifetime / 4
    }

    /// When a client asks for the next one.
    pub(crate) fn renew_at(&self) -> Ticks {
        self.created + self.lifetime / 4 * 3
    }

    /// Gives the writer this token, once.
    pub(crate) fn send_with(&mut self, writer: &mut Writer) {
        if let Some(send) = self.send.take() {
            writer.set_token(self.id, send);
        }
    }
}

/// The tokens of a channel that may arrive now.
#[derive(Debug)]
pub(crate) struct Tokens {
    pub(crate) current: Token,
    /// At a server the one that the client has not used yet, at a client the one before.
    pub(crate) other: Option<Box<Token>>,
    /// At a server one that was issued before the other: a client that had nothing to say since then may have used it
    /// for what was on its way when it asked for the other.
    skipped: Option<Box<Token>>,
    /// The id that was found last.
    found: u32,
}

/// A token that was found for a chunk.
pub(crate) struct Found<'t> {
    pub(crate) security: &'t mut dyn ChunkSecurity,
    /// It is the other token.
    pub(crate) is_other: bool,
}

impl Tokens {
    /// The tokens of a channel with its first one.
    pub(crate) fn new(current: Token) -> Self {
        Self { found: current.id, current, other: None, skipped: None }
    }

    /// At a server: one more token is there for the client to use.
    pub(crate) fn issue(&mut self, token: Token) {
        self.skipped = self.other.replace(Box::new(token));
    }

    /// What opens a chunk with this token id.
    pub(crate) fn find(&mut self, id: u32, now: Ticks) -> Result<Found<'_>, ChannelError> {
        let is_other = self.current.id != id;
        let token = if is_other {
            let issued = self.other.iter_mut().chain(&mut self.skipped);
            issued.map(|token| &mut **token).find(|token| token.id == id)
        } else {
            Some(&mut self.current)
        };
        self.found = id;
        match token.filter(|token| token.id == id && now < token.expires()) {
            Some(token) => Ok(Found { security: &mut *token.receive, is_other }),
            None => Err(ChannelError::new(
                status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN,
                "the security token is unknown or its time is over",
            )),
        }
    }

    /// When the last token expires.
    pub(crate) fn expires(&self) -> Ticks {
        let current = self.current.expires();
        self.other.as_ref().map_or(current, |other| current.max(other.expires()))
    }

    /// At a server: when the new token is to be used although the client has not used it yet
    /// (OPC 10000-4 §5.6.2.1).
    pub(crate) fn switch_at(&self) -> Option<Ticks> {
        self.other.as_ref().filter(|other| other.send.is_some()).map(|_| self.current.ends())
    }

    /// Lets the writer use the new token if the one before has ended.
    pub(crate) fn switch(&mut self, now: Ticks, writer: &mut Writer) {
        if self.switch_at().is_some_and(|at| at <= now)
            && let Some(other) = &mut self.other
        {
            other.send_with(writer);
        }
    }

    /// At a server: the client has used a new token, so those before are over (OPC 10000-4 §5.6.2.1).
    pub(crate) fn advance(&mut self, writer: &mut Writer) {
        let skipped = self.skipped.take().filter(|skipped| skipped.id == self.found);
        let Some(mut next) = skipped.or_else(|| self.other.take()) else { return };
        // What is sent with a newer one already stays so.
        if self.other.as_ref().is_none_or(|newer| newer.send.is_some()) {
            next.send_with(writer);
        }
        self.current = *next;
    }
}
