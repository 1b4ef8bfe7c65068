//! What secures chunks; without security first (OPC 10000-7 §6.6).

use crate::ChannelError;

/// The policy without security.
pub const POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";

/// Bytes that security adds to a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkLayoutOf {
    /// Length of the signature.
    pub signature: usize,
    /// Block size of the cipher; 0 without encryption.
    pub block: usize,
}

/// Secures the chunks of one channel: signs and encrypts in place, decrypts and verifies.
///
/// It keeps the keys by token id. Every chunk but the last of a message is as long as the layout of the
/// writer says, so that padding and signature have their room already.
pub trait SecurityProvider: Send {
    /// URI of the policy.
    fn policy_uri(&self) -> &'static str;

    /// What it adds to a chunk.
    fn layout(&self) -> ChunkLayoutOf;

    /// Secures a chunk with the keys of a token. `secured_from` is where the part begins that is
    /// encrypted: the sequence header.
    ///
    /// # Errors
    /// The keys are missing, or the operation failed.
    fn seal(&mut self, token_id: u32, chunk: &mut [u8], secured_from: usize) -> Result<(), ChannelError>;

    /// Gives sequence header and body of a chunk.
    ///
    /// # Errors
    /// The chunk is not what the peer sent.
    fn open<'a>(
        &'a mut self,
        token_id: u32,
        chunk: &'a [u8],
        secured_from: usize,
    ) -> Result<&'a [u8], ChannelError>;
}

/// No security.
#[derive(Clone, Copy, Debug, Default)]
pub struct NonePolicy;

impl SecurityProvider for NonePolicy {
    fn policy_uri(&self) -> &'static str {
        POLICY_NONE
    }

    fn layout(&self) -> ChunkLayoutOf {
        ChunkLayoutOf::default()
    }

    fn seal(&mut self, _: u32, _: &mut [u8], _: usize) -> Result<(), ChannelError> {
        Ok(())
    }

    fn open<'a>(&'a mut self, _: u32, chunk: &'a [u8], from: usize) -> Result<&'a [u8], ChannelError> {
        Ok(chunk.get(from..).unwrap_or_default())
    }
}
