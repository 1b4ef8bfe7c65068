//! Security tokens: two of them are good while one takes over from the other (OPC 10000-4 §5.6.2).

use alloc::boxed::Box;
use core::time::Duration;

use uaforge_codec::Ticks;
use uaforge_types::status;

use crate::{ChannelError, ChunkSecurity};

/// What opens chunks of one token, and for how long.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) id: u32,
    pub(crate) created: Ticks,
    pub(crate) lifetime: Duration,
    pub(crate) receive: Box<dyn ChunkSecurity>,
}

impl Token {
    /// A quarter of the lifetime longer than it was granted for (OPC 10000-4 §5.6.2.1).
    pub(crate) fn expires(&self) -> Ticks {
        self.created + self.lifetime + self.lifetime / 4
    }

    /// When a client asks for the next one.
    pub(crate) fn renew_at(&self) -> Ticks {
        self.created + self.lifetime / 4 * 3
    }
}

/// The tokens of a channel that may arrive now.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub(crate) current: Option<Token>,
    /// At a server the one that the client has not used yet, at a client the one before.
    pub(crate) other: Option<Token>,
}

/// A token that was found for a chunk.
pub(crate) struct Found<'t> {
    pub(crate) security: &'t mut dyn ChunkSecurity,
    /// The chunk is the first one of the other token.
    pub(crate) is_other: bool,
}

impl Tokens {
    /// What opens a chunk with this token id.
    pub(crate) fn find(&mut self, id: u32, now: Ticks) -> Result<Found<'_>, ChannelError> {
        let is_other = self.current.as_ref().is_none_or(|token| token.id != id);
        let token = if is_other { self.other.as_mut() } else { self.current.as_mut() };
        match token.filter(|token| token.id == id && now < token.expires()) {
            Some(token) => Ok(Found { security: &mut *token.receive, is_other }),
            None => Err(ChannelError::new(
                status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN,
                "the security token is unknown or its time is over",
            )),
        }
    }

    /// When the last token ends.
    pub(crate) fn expires(&self) -> Option<Ticks> {
        [&self.current, &self.other].into_iter().flatten().map(Token::expires).max()
    }
}
