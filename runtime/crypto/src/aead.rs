//! Chunks of policies whose cipher also authenticates (OPC 10000-6 §6.7.2.5.2, §6.8.1).

use uaforge_channel::{ChannelError, ChunkSecurity, security_checks_failed};

use crate::derive::KeySet;
use crate::{Aead, AeadKey, CryptoError, Provider};

const TAG: usize = 16;
/// Where the token id stands: behind message header and channel id.
const TOKEN: usize = 12;
/// Sequence number and request id.
const SEQUENCE_HEADER: usize = 8;

/// One direction of one token.
#[derive(Debug)]
pub(crate) struct AeadChunks {
    key: Box<dyn AeadKey>,
    iv: [u8; 12],
    encrypt: bool,
}

impl AeadChunks {
    pub(crate) fn new(
        provider: &dyn Provider,
        algorithm: Aead,
        keys: &KeySet,
        encrypt: bool,
    ) -> Result<Self, CryptoError> {
        let iv = keys.iv.as_slice().try_into().map_err(|_| CryptoError)?;
        Ok(Self { key: provider.aead(algorithm, &keys.encrypting)?, iv, encrypt })
    }

    /// The nonce of a chunk: token id and number of the chunk before over the derived vector
    /// (OPC 10000-6 §6.8.1).
    fn nonce(&self, chunk: &[u8], last: u32) -> [u8; 12] {
        let token = chunk.get(TOKEN..TOKEN + 4).unwrap_or_default();
        let mut nonce = self.iv;
        for (slot, mask) in nonce.iter_mut().zip(token.iter().chain(&last.to_le_bytes())) {
            *slot ^= mask;
        }
        nonce
    }
}

impl ChunkSecurity for AeadChunks {
    fn chunk_size(&self, largest: usize, _plain: usize) -> usize {
        largest
    }

    fn trailer(&self, _chunk_size: usize, _plain: usize) -> usize {
        TAG
    }

    fn last_trailer(&self, _len: usize) -> usize {
        TAG
    }

    fn seal(&mut self, chunk: &mut [u8], plain: usize, _trailer: usize) -> Result<(), ChannelError> {
        let number = chunk.get(plain..).and_then(|rest| rest.first_chunk::<4>()).ok_or(CryptoError)?;
        // Numbers of these policies have no gaps (OPC 10000-6 §6.7.2.4).
        let nonce = self.nonce(chunk, u32::from_le_bytes(*number).wrapping_sub(1));
        let (message, tag) = chunk.split_last_chunk_mut::<TAG>().ok_or(CryptoError)?;
        let begin = if self.encrypt { plain } else { message.len() };
        let (header, text) = message.split_at_mut_checked(begin).ok_or(CryptoError)?;
        Ok(self.key.seal(nonce, header, text, tag)?)
    }

    fn open(&mut self, chunk: &mut [u8], plain: usize, last: u32) -> Result<usize, ChannelError> {
        let nonce = self.nonce(chunk, last);
        let end = chunk.len().saturating_sub(TAG);
        let (message, tag) = chunk.split_at_mut(end);
        let begin = if self.encrypt { plain.min(end) } else { end };
        let (header, text) = message.split_at_mut(begin);
        let opened = self.key.open(nonce, header, text, tag);
        if opened.is_ok() && end >= plain + SEQUENCE_HEADER { Ok(end) } else { Err(security_checks_failed()) }
    }
}
