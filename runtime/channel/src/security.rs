//! What protects a channel: security policies as values (D11). The first one is None.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use uaforge_codec::{Entropy, Now};
use uaforge_types::MessageSecurityMode;

use crate::open::AsymmetricHeader;
use crate::{ChannelError, SequenceRule};

/// URI of the security policy None (OPC 10000-7).
pub const POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";

/// Which side of a channel keys are for (OPC 10000-6 §6.7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Asks for tokens.
    Client,
    /// Issues tokens.
    Server,
}

/// A security policy together with one side's certificate and private key (OPC 10000-6 §6.7.4).
///
/// What needs the private key may take its time: it is an [`Operation`], so that the key may live in a
/// token, a TPM or on a pool of threads. Everything else is done where it is asked for.
pub trait SecurityProvider: fmt::Debug + Send + Sync {
    /// URI of the policy, as in the asymmetric security header (OPC 10000-6 §6.7.2.3).
    fn policy_uri(&self) -> &'static str;

    /// Whether channels of this policy may have this mode.
    fn allows(&self, mode: MessageSecurityMode) -> bool;

    /// How sequence numbers begin and wrap.
    fn sequence_rule(&self) -> SequenceRule;

    /// Whether the first response is bound to its request and the channel has a thumbprint
    /// (SecureChannelEnhancements, OPC 10000-6 §6.7.5).
    fn is_enhanced(&self) -> bool {
        false
    }

    /// Decrypts an OpenSecureChannel chunk with the own private key and verifies it with the sender's
    /// certificate (OPC 10000-6 §6.7.4). `chunk` is all of it, message header included; `binding` is the
    /// signature of the request that it answers, if the policy binds them (OPC 10000-6 §6.7.5).
    fn open(&self, chunk: Vec<u8>, binding: Option<Arc<[u8]>>, now: Now) -> Operation<AsymmetricChunk>;

    /// Signs an OpenSecureChannel chunk with the own private key, encrypts it for the peer, and gives all
    /// of it, message header included.
    fn seal(&self, chunk: AsymmetricChunk) -> Operation<SealedChunk>;

    /// Begins the exchange of nonces for a new token (OPC 10000-6 §6.7.5).
    ///
    /// # Errors
    /// The provider failed.
    fn exchange(
        &self,
        role: Role,
        mode: MessageSecurityMode,
        entropy: &mut dyn Entropy,
    ) -> Result<Box<dyn KeyExchange>, ChannelError>;
}

/// An OpenSecureChannel chunk without its protection (OPC 10000-6 §6.7.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsymmetricChunk {
    /// Channel id of the message header; 0 in the first request.
    pub channel_id: u32,
    /// The other side's certificate: the sender's of a chunk that was opened, the receiver's of one that
    /// is to be sealed. `None` is the one that the provider was made for, or policy None.
    pub peer: Option<Arc<[u8]>>,
    /// Sequence header and body.
    pub content: Vec<u8>,
    /// The signature of a chunk that was opened; of one that is to be sealed, that of the request it is
    /// bound to (OPC 10000-6 §6.7.5).
    pub signature: Option<Arc<[u8]>>,
}

/// An OpenSecureChannel chunk as it is sent (OPC 10000-6 §6.7.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedChunk {
    /// All of it, message header included.
    pub bytes: Vec<u8>,
    /// Its signature, if the policy has any.
    pub signature: Option<Arc<[u8]>>,
}

/// The nonces of one token, or the keys that stand in their place (OPC 10000-6 §6.7.5).
pub trait KeyExchange: fmt::Debug + Send {
    /// The own nonce; `None`, which is sent as null, if the policy has none.
    fn nonce(&self) -> Option<&[u8]>;

    /// The keys of the token. `before` is the secret of the token that it replaces.
    ///
    /// # Errors
    /// Bad_SecurityChecksFailed if the peer's nonce does not fit the policy.
    fn finish(
        self: Box<Self>,
        peer_nonce: &[u8],
        before: Option<&TokenSecret>,
    ) -> Result<TokenKeys, ChannelError>;
}

/// What the keys of the next token also depend on (OPC 10000-6 §6.8.1); only the provider knows what it is.
#[derive(Clone)]
pub struct TokenSecret(pub Arc<dyn Any + Send + Sync>);

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSecret")
    }
}

/// What protects the chunks of one token (OPC 10000-6 §6.7.5).
#[derive(Debug)]
pub struct TokenKeys {
    /// Opens what arrives.
    pub receive: Box<dyn ChunkSecurity>,
    /// Seals what is sent.
    pub send: Box<dyn ChunkSecurity>,
    /// For the token that replaces this one.
    pub secret: Option<TokenSecret>,
}

/// Seals or opens the chunks of one direction of one token, in place (OPC 10000-6 §6.7.2).
///
/// A chunk is a plain part (message and security header), then what is encrypted: sequence header,
/// body, and a trailer of padding and signature.
pub trait ChunkSecurity: fmt::Debug + Send {
    /// Length of a full chunk: not more than `largest`, and such that what is encrypted is whole blocks.
    fn chunk_size(&self, largest: usize, plain: usize) -> usize;

    /// Length of the trailer of a full chunk.
    fn trailer(&self, chunk_size: usize, plain: usize) -> usize;

    /// Length of the trailer behind `len` bytes of sequence header and body in a last chunk.
    fn last_trailer(&self, len: usize) -> usize;

    /// Fills the trailer, signs and encrypts.
    ///
    /// # Errors
    /// The provider failed; the channel is lost, as its numbers are used up.
    fn seal(&mut self, chunk: &mut [u8], plain: usize, trailer: usize) -> Result<(), ChannelError>;

    /// Decrypts, verifies, and gives the end of the body. `last` is the sequence number of the chunk
    /// before (OPC 10000-6 §6.8.1).
    ///
    /// # Errors
    /// Bad_SecurityChecksFailed, whatever it was.
    fn open(&mut self, chunk: &mut [u8], plain: usize, last: u32) -> Result<usize, ChannelError>;

    /// Whether chunks are as they look, so that they can be read where they are.
    fn is_plain(&self) -> bool {
        false
    }
}

/// Work with a private key: done at once, or later (OPC 10000-6 §6.7.4).
pub enum Operation<T> {
    /// It is done.
    Ready(Result<T, ChannelError>),
    /// It will be done when the future is ready.
    Pending(Pin<Box<dyn Future<Output = Result<T, ChannelError>> + Send>>),
}

impl<T: Send + 'static> Operation<T> {
    /// An operation that failed at once.
    #[must_use]
    pub fn failed(error: ChannelError) -> Self {
        Self::Ready(Err(error))
    }

    /// Goes on with the outcome, at once if it is there.
    #[must_use]
    pub fn then<U: Send + 'static>(
        self,
        go_on: impl FnOnce(Result<T, ChannelError>) -> Operation<U> + Send + 'static,
    ) -> Operation<U> {
        match self {
            Self::Ready(result) => go_on(result),
            Self::Pending(future) => Operation::Pending(Box::pin(async move { go_on(future.await).await })),
        }
    }

    /// Makes another value of the one that comes out.
    #[must_use]
    pub fn map<U: Send + 'static>(self, make: impl FnOnce(T) -> U + Send + 'static) -> Operation<U> {
        self.then(move |result| Operation::Ready(result.map(make)))
    }
}

impl<T> Unpin for Operation<T> {}

impl<T: 'static> Future for Operation<T> {
    type Output = Result<T, ChannelError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let operation = &mut *self;
        if let Self::Pending(future) = operation {
            return future.as_mut().poll(cx);
        }
        match core::mem::replace(operation, Self::Pending(Box::pin(core::future::pending()))) {
            Self::Ready(result) => Poll::Ready(result),
            Self::Pending(_) => Poll::Pending,
        }
    }
}

impl<T> fmt::Debug for Operation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready(_) => "Ready",
            Self::Pending(_) => "Pending",
        })
    }
}

/// Security policy None: nothing is signed, nothing is encrypted (OPC 10000-7).
#[derive(Clone, Copy, Debug, Default)]
pub struct NonePolicy;

impl SecurityProvider for NonePolicy {
    fn policy_uri(&self) -> &'static str {
        POLICY_NONE
    }

    fn allows(&self, mode: MessageSecurityMode) -> bool {
        mode == MessageSecurityMode::NONE
    }

    fn sequence_rule(&self) -> SequenceRule {
        SequenceRule::Legacy
    }

    fn open(&self, chunk: Vec<u8>, _binding: Option<Arc<[u8]>>, _now: Now) -> Operation<AsymmetricChunk> {
        Operation::Ready(AsymmetricHeader::parse(&chunk).map(|(header, content)| AsymmetricChunk {
            channel_id: header.channel_id,
            peer: None,
            content: content.to_vec(),
            signature: None,
        }))
    }

    fn seal(&self, chunk: AsymmetricChunk) -> Operation<SealedChunk> {
        let header = AsymmetricHeader {
            channel_id: chunk.channel_id,
            policy: Some(POLICY_NONE.as_bytes()),
            sender_certificate: None,
            receiver_thumbprint: None,
        };
        Operation::Ready(Ok(SealedChunk { bytes: header.chunk(&chunk.content), signature: None }))
    }

    fn exchange(
        &self,
        _role: Role,
        _mode: MessageSecurityMode,
        _entropy: &mut dyn Entropy,
    ) -> Result<Box<dyn KeyExchange>, ChannelError> {
        Ok(Box::new(Self))
    }
}

impl KeyExchange for NonePolicy {
    fn nonce(&self) -> Option<&[u8]> {
        None
    }

    fn finish(
        self: Box<Self>,
        _peer_nonce: &[u8],
        _before: Option<&TokenSecret>,
    ) -> Result<TokenKeys, ChannelError> {
        Ok(TokenKeys { receive: Box::new(Self), send: Box::new(Self), secret: None })
    }
}

impl ChunkSecurity for NonePolicy {
    fn chunk_size(&self, largest: usize, _plain: usize) -> usize {
        largest
    }

    fn trailer(&self, _chunk_size: usize, _plain: usize) -> usize {
        0
    }

    fn last_trailer(&self, _len: usize) -> usize {
        0
    }

    fn seal(&mut self, _chunk: &mut [u8], _plain: usize, _trailer: usize) -> Result<(), ChannelError> {
        Ok(())
    }

    fn open(&mut self, chunk: &mut [u8], _plain: usize, _last: u32) -> Result<usize, ChannelError> {
        Ok(chunk.len())
    }

    fn is_plain(&self) -> bool {
        true
    }
}
