//! What the two kinds of channel have in common.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use uaforge_codec::{Entropy, Now, Ticks};
use uaforge_types::status;

use crate::frame::Frame;
use crate::reader::Reader;
use crate::token::Tokens;
use crate::{AsymmetricChunk, ChannelError, Operation, SealedChunk, Writer};

/// Reader and writer of one connection, and the work with private keys that they wait for.
pub(crate) struct Conversation {
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
    pub(crate) entropy: Box<dyn Entropy + Send>,
    job: Option<Job>,
}

/// An OpenSecureChannel message that a private key is needed for.
#[derive(Debug)]
enum Job {
    Open(Operation<AsymmetricChunk>),
    Seal(Operation<SealedChunk>),
}

/// What came of work with a private key.
#[derive(Debug)]
pub(crate) enum Done {
    /// A message was opened.
    Opened(AsymmetricChunk),
    /// A message was sealed and sent; its signature.
    Sent(Option<Arc<[u8]>>),
}

impl Conversation {
    pub(crate) fn new(entropy: impl Entropy + Send + 'static) -> Self {
        Self { reader: Reader::new(), writer: Writer::new(), entropy: Box::new(entropy), job: None }
    }

    /// The next whole frame in `input`; none while a private key is at work, as what follows may need
    /// its result.
    pub(crate) fn frame<'c>(&self, input: &'c [u8]) -> Result<Option<Frame<'c>>, ChannelError> {
        if self.is_waiting() {
            return Ok(None);
        }
        Frame::parse(input, self.reader.limits.receive_chunk)
    }

    /// Whether a private key is at work.
    pub(crate) fn is_waiting(&self) -> bool {
        self.job.is_some()
    }

    /// Begins to open an OpenSecureChannel message.
    pub(crate) fn open(&mut self, operation: Operation<AsymmetricChunk>) {
        self.job = Some(Job::Open(operation));
    }

    /// Begins to seal an OpenSecureChannel message; [`Writer::hold`] has numbered it.
    pub(crate) fn seal(&mut self, operation: Operation<SealedChunk>) {
        self.job = Some(Job::Seal(operation));
    }

    /// Goes on with the work. A sealed message is written to `out`; an opened one is given.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> Poll<Result<Done, ChannelError>> {
        let result = match &mut self.job {
            None => return Poll::Pending,
            Some(Job::Open(operation)) => ready!(Pin::new(operation).poll(cx)).map(Done::Opened),
            Some(Job::Seal(operation)) => ready!(Pin::new(operation).poll(cx)).map(|chunk| {
                self.writer.release(&chunk.bytes, out);
                Done::Sent(chunk.signature)
            }),
        };
        self.job = None;
        Poll::Ready(result)
    }

    /// When the last token expires, or an unfinished message has taken too long.
    pub(crate) fn deadline(&self, tokens: &Tokens, message_timeout: Duration) -> Ticks {
        match self.reader.unfinished_since() {
            Some(since) => tokens.expires().min(since + message_timeout),
            None => tokens.expires(),
        }
    }

    /// What a deadline that has come means.
    pub(crate) fn overdue(
        &self,
        tokens: &Tokens,
        now: Now,
        message_timeout: Duration,
    ) -> Result<(), ChannelError> {
        if self.reader.unfinished_since().is_some_and(|since| since + message_timeout <= now.ticks) {
            return Err(ChannelError::new(status::BAD_TIMEOUT, "a message was not finished in time"));
        }
        if tokens.expires() <= now.ticks {
            let reason = "the security token was not renewed in time";
            return Err(ChannelError::new(status::BAD_SECURE_CHANNEL_TOKEN_UNKNOWN, reason));
        }
        Ok(())
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("reader", &self.reader)
            .field("writer", &self.writer)
            .field("job", &self.job)
            .finish_non_exhaustive()
    }
}
