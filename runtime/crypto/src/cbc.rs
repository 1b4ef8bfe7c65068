//! Chunks that are signed with HMAC and encrypted with AES-CBC (OPC 10000-6 §6.7.2.5.1).

use uaforge_channel::{ChannelError, ChunkSecurity, security_checks_failed};

use crate::derive::KeySet;
use crate::{CipherKey, CryptoError, Hash, MacKey, Provider};

const BLOCK: usize = 16;
/// Sequence number and request id.
const SEQUENCE_HEADER: usize = 8;

/// One direction of one token.
#[derive(Debug)]
pub(crate) struct CbcChunks {
    mac: Box<dyn MacKey>,
    /// `None` if chunks are signed only.
    cipher: Option<Box<dyn CipherKey>>,
    tag_len: usize,
}

impl CbcChunks {
    pub(crate) fn new(
        provider: &dyn Provider,
        hash: Hash,
        keys: &KeySet,
        encrypt: bool,
    ) -> Result<Self, CryptoError> {
        let cipher = if encrypt {
            let iv = keys.iv.as_slice().try_into().map_err(|_| CryptoError)?;
            Some(provider.cbc(&keys.encrypting, iv)?)
        } else {
            None
        };
        Ok(Self { mac: provider.mac(hash, &keys.signing), cipher, tag_len: hash.size() })
    }
}

impl ChunkSecurity for CbcChunks {
    fn chunk_size(&self, largest: usize, plain: usize) -> usize {
        if self.cipher.is_none() {
            return largest;
        }
        plain + largest.saturating_sub(plain) / BLOCK * BLOCK
    }

    fn trailer(&self, _chunk_size: usize, _plain: usize) -> usize {
        self.tag_len + usize::from(self.cipher.is_some())
    }

    fn last_trailer(&self, len: usize) -> usize {
        if self.cipher.is_none() {
            return self.tag_len;
        }
        // The size of the padding takes a byte itself.
        let end = len + 1 + self.tag_len;
        1 + self.tag_len + (end.next_multiple_of(BLOCK) - end)
    }

    fn seal(&mut self, chunk: &mut [u8], plain: usize, trailer: usize) -> Result<(), ChannelError> {
        let signed = chunk.len().checked_sub(self.tag_len).ok_or(CryptoError)?;
        if self.cipher.is_some() {
            let padding = trailer.checked_sub(self.tag_len + 1).ok_or(CryptoError)?;
            let size = u8::try_from(padding).map_err(|_| CryptoError)?;
            let body = signed.checked_sub(padding + 1).ok_or(CryptoError)?;
            chunk.get_mut(body..signed).ok_or(CryptoError)?.fill(size);
        }
        let (message, tag) = chunk.split_at_mut_checked(signed).ok_or(CryptoError)?;
        self.mac.sign(message, tag);
        if let Some(cipher) = &self.cipher {
            cipher.encrypt(chunk.get_mut(plain..).ok_or(CryptoError)?)?;
        }
        Ok(())
    }

    /// Whatever is wrong, as much is decrypted and verified before it is said. What the padding looks like
    /// matters only once the code over it was right, so that it tells nothing to whoever lacks the key.
    fn open(&mut self, chunk: &mut [u8], plain: usize, _last: u32) -> Result<usize, ChannelError> {
        let mut whole = true;
        if let Some(cipher) = &self.cipher {
            let secured = chunk.len().saturating_sub(plain);
            whole = secured.is_multiple_of(BLOCK);
            let blocks = chunk.get_mut(plain..plain + secured / BLOCK * BLOCK).unwrap_or_default();
            whole &= cipher.decrypt(blocks).is_ok();
        }
        let (message, tag) = chunk.split_at(chunk.len().saturating_sub(self.tag_len));
        let genuine = self.mac.verify(message, tag) & whole;
        let end = if self.cipher.is_some() { without_padding(message, false) } else { Some(message.len()) };
        match end.filter(|end| genuine && *end >= plain + SEQUENCE_HEADER) {
            Some(end) => Ok(end),
            None => Err(security_checks_failed()),
        }
    }
}

/// The end of what stands before the padding, if every byte of that is as it has to be (OPC 10000-6
/// §6.7.2.5.1). `extra`: the size has a second byte, at the very end.
pub(crate) fn without_padding(message: &[u8], extra: bool) -> Option<usize> {
    let (message, high) = if extra {
        let (high, rest) = message.split_last()?;
        (rest, usize::from(*high))
    } else {
        (message, 0)
    };
    let (low, rest) = message.split_last()?;
    let size = high << 8 | usize::from(*low);
    // The byte of the size before the padding has the same value as the padding.
    let begin = message.len().checked_sub(size + 1)?;
    let padding = rest.get(begin..)?;
    padding.iter().all(|byte| byte == low).then_some(begin)
}
