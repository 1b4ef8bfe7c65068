//! What protects chunks: security policies as values (D11). The first one is None.

use alloc::boxed::Box;
use core::fmt;

use uaforge_types::MessageSecurityMode;

use crate::{ChannelError, SequenceRule};

/// URI of the security policy None (OPC 10000-7).
pub const POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";

/// A security policy with its keys: derives what protects the chunks of each token.
pub trait SecurityProvider: fmt::Debug + Send + Sync {
    /// URI of the policy, as in the asymmetric security header (OPC 10000-6 §6.7.2.3).
    fn policy_uri(&self) -> &'static str;

    /// Whether channels of this policy may have this mode.
    fn allows(&self, mode: MessageSecurityMode) -> bool;

    /// How sequence numbers wrap.
    fn sequence_rule(&self) -> SequenceRule;

    /// Length of the nonces that both sides exchange; 0 if there are none.
    fn nonce_len(&self) -> usize;

    /// Keys of one direction of a token, from the nonces of both sides (OPC 10000-6 §6.7.5).
    ///
    /// # Errors
    /// A nonce does not fit the policy.
    fn derive(
        &self,
        mode: MessageSecurityMode,
        secret: &[u8],
        seed: &[u8],
    ) -> Result<Box<dyn ChunkSecurity>, ChannelError>;
}

/// Seals or opens the chunks of one direction of one token, in place.
///
/// A chunk is a plain part (message and security header), then what is encrypted: sequence header,
/// body, and a trailer of padding and signature.
pub trait ChunkSecurity: fmt::Debug + Send {
    /// Length of the trailer of a full chunk.
    fn trailer(&self, chunk_size: usize, plain: usize) -> usize;

    /// Length of the trailer behind `len` bytes of sequence header and body in a last chunk.
    fn last_trailer(&self, len: usize) -> usize;

    /// Fills the trailer, signs and encrypts.
    ///
    /// # Errors
    /// The provider failed; the channel is lost, as its numbers are used up.
    fn seal(&mut self, chunk: &mut [u8], plain: usize, trailer: usize) -> Result<(), ChannelError>;

    /// Decrypts, verifies, and gives the end of the body.
    ///
    /// # Errors
    /// Bad_SecurityChecksFailed, whatever it was.
    fn open(&mut self, chunk: &mut [u8], plain: usize) -> Result<usize, ChannelError>;

    /// Whether chunks are as they look, so that they can be read where they are.
    fn is_plain(&self) -> bool {
        false
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

    fn nonce_len(&self) -> usize {
        0
    }

    fn derive(
        &self,
        _mode: MessageSecurityMode,
        _secret: &[u8],
        _seed: &[u8],
    ) -> Result<Box<dyn ChunkSecurity>, ChannelError> {
        Ok(Box::new(Self))
    }
}

impl ChunkSecurity for NonePolicy {
    fn trailer(&self, _chunk_size: usize, _plain: usize) -> usize {
        0
    }

    fn last_trailer(&self, _len: usize) -> usize {
        0
    }

    fn seal(&mut self, _chunk: &mut [u8], _plain: usize, _trailer: usize) -> Result<(), ChannelError> {
        Ok(())
    }

    fn open(&mut self, chunk: &mut [u8], _plain: usize) -> Result<usize, ChannelError> {
        Ok(chunk.len())
    }

    fn is_plain(&self) -> bool {
        true
    }
}
