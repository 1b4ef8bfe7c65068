//! What the two kinds of channel have in common.

use alloc::vec::Vec;
use core::time::Duration;

use uaforge_codec::{Now, Ticks};
use uaforge_types::status;

use crate::frame::Frame;
use crate::hello::put_error;
use crate::reader::Reader;
use crate::token::Tokens;
use crate::{ChannelError, SecurityProvider, Writer};

/// Reader, writer and tokens of one connection.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
    pub(crate) tokens: Tokens,
    pub(crate) closed: bool,
}

impl Conversation {
    pub(crate) fn new(policy: &dyn SecurityProvider) -> Self {
        let rule = policy.sequence_rule();
        Self {
            reader: Reader::new(rule),
            writer: Writer::new(rule),
            tokens: Tokens::default(),
            closed: false,
        }
    }

    /// The next whole frame in `input`.
    pub(crate) fn frame<'c>(&self, input: &'c [u8]) -> Result<Option<Frame<'c>>, ChannelError> {
        Frame::parse(input, self.reader.limits.receive_chunk)
    }

    /// Ends the channel and tells the peer why.
    pub(crate) fn fail(&mut self, error: &ChannelError, out: &mut Vec<u8>) {
        if !self.closed {
            put_error(out, error);
            self.closed = true;
        }
    }

    /// When the last token ends, or an unfinished message has taken too long.
    pub(crate) fn deadline(&self, message_timeout: Duration) -> Option<Ticks> {
        let unfinished = self.reader.unfinished_since().map(|since| since + message_timeout);
        [self.tokens.expires(), unfinished].into_iter().flatten().min()
    }

    /// What a deadline that has come means.
    pub(crate) fn overdue(&self, now: Now, message_timeout: Duration) -> Option<ChannelError> {
        if self.reader.unfinished_since().is_some_and(|since| since + message_timeout <= now.ticks) {
            return Some(ChannelError::new(status::BAD_TIMEOUT, "a message was not finished in time"));
        }
        if self.tokens.expires().is_some_and(|expires| expires <= now.ticks) {
            let reason = "the security token was not renewed in time";
            return Some(ChannelError::new(status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN, reason));
        }
        None
    }
}
