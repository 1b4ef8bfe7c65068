//! Security tokens: the current one, and the one before it until the peer uses the new one
//! (OPC 10000-4 §5.6.2, OPC 10000-6 §6.7.4).

use core::time::Duration;

use uaforge_codec::Ticks;
use uaforge_types::status;

use crate::ChannelError;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// TokenId.
    pub id: u32,
    /// When it was made.
    pub created: Ticks,
    /// RevisedLifetime.
    pub lifetime: Duration,
}

impl Token {
    /// When the client asks for the next one: at 75 % of its life.
    #[must_use]
    pub fn renewal(&self) -> Ticks {
        self.created + self.lifetime * 3 / 4
    }

    /// When it is worth nothing any more: at 125 % of its life.
    #[must_use]
    pub fn expiry(&self) -> Ticks {
        self.created + self.lifetime * 5 / 4
    }
}

/// The tokens that messages may be secured with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tokens {
    current: Option<Token>,
    previous: Option<Token>,
}

impl Tokens {
    /// A new token; the one so far stays good until the peer uses the new one.
    pub fn issue(&mut self, token: Token) {
        self.previous = self.current.take();
        self.current = Some(token);
    }

    /// The newest token.
    #[must_use]
    pub fn current(&self) -> Option<&Token> {
        self.current.as_ref()
    }

    /// The token that the peer is known to have: the previous one until the peer used the current one.
    #[must_use]
    pub fn confirmed(&self) -> Option<&Token> {
        self.previous.as_ref().or(self.current.as_ref())
    }

    /// Whether a message may be secured with a token. The first use of the current one ends the
    /// previous one.
    ///
    /// # Errors
    /// Bad_SecureChannelTokenUnknown.
    pub fn accept(&mut self, id: u32, now: Ticks) -> Result<(), ChannelError> {
        let alive = |token: &Token| token.id == id && now <= token.expiry();
        if self.current.as_ref().is_some_and(alive) {
            self.previous = None;
            return Ok(());
        }
        if self.previous.as_ref().is_some_and(alive) {
            return Ok(());
        }
        Err(ChannelError::new(
            status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN,
            "the security token is unknown or its time is over",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn token(id: u32, created: u64) -> Token {
        Token { id, created: Ticks(created * SECOND), lifetime: Duration::from_secs(10) }
    }

    /// Case 034, steps 4 to 8.
    #[test]
    fn two_tokens_for_a_while() {
        let mut tokens = Tokens::default();
        tokens.issue(token(1, 0));
        assert_eq!(token(1, 0).renewal(), Ticks(7 * SECOND + SECOND / 2));
        tokens.accept(1, Ticks(SECOND)).unwrap();
        tokens.issue(token(2, 8));
        assert_eq!(tokens.confirmed().unwrap().id, 1);
        tokens.accept(1, Ticks(9 * SECOND)).unwrap();
        tokens.accept(2, Ticks(9 * SECOND)).unwrap();
        assert_eq!(tokens.confirmed().unwrap().id, 2);
        tokens.accept(1, Ticks(9 * SECOND)).unwrap_err();
        tokens.accept(2, Ticks(20 * SECOND)).unwrap();
        tokens.accept(2, Ticks(21 * SECOND)).unwrap_err();
    }
}
