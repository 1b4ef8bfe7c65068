//! HMAC, AES-CBC and the ciphers that authenticate.

use core::fmt;

use aes::cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt as _, BlockModeEncrypt as _,
    InnerIvInit as _, typenum::U16,
};
use aes_gcm::aead::{AeadInOut, Nonce, Tag};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use chacha20poly1305::ChaCha20Poly1305;
use hmac::{Hmac, KeyInit};
use sha1::Sha1;
use sha2::{Sha256, Sha384};

use crate::{Aead, AeadKey, CipherKey, CryptoError, Hash, MacKey};

pub(super) fn mac(hash: Hash, key: &[u8]) -> Box<dyn MacKey> {
    match hash {
        Hash::Sha1 => Box::new(Mac(keyed::<Hmac<Sha1>>(key))),
        Hash::Sha256 => Box::new(Mac(keyed::<Hmac<Sha256>>(key))),
        Hash::Sha384 => Box::new(Mac(keyed::<Hmac<Sha384>>(key))),
    }
}

/// HMAC takes keys of any length.
fn keyed<M: KeyInit>(key: &[u8]) -> Option<M> {
    M::new_from_slice(key).ok()
}

struct Mac<M>(Option<M>);

impl<M: hmac::Mac + Clone + Send + Sync> MacKey for Mac<M> {
    fn sign(&self, message: &[u8], tag: &mut [u8]) {
        let code = self.0.clone().map(|mac| mac.chain_update(message).finalize().into_bytes());
        match code {
            Some(code) if code.len() == tag.len() => tag.copy_from_slice(&code),
            // A buffer of another length gets no code at all.
            _ => tag.fill(0),
        }
    }

    fn verify(&self, message: &[u8], tag: &[u8]) -> bool {
        self.0.clone().is_some_and(|mac| mac.chain_update(message).verify_slice(tag).is_ok())
    }
}

impl<M> fmt::Debug for Mac<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mac")
    }
}

pub(super) fn cbc(key: &[u8], iv: [u8; 16]) -> Result<Box<dyn CipherKey>, CryptoError> {
    if key.len() == 16 {
        let cipher = aes::Aes128::new_from_slice(key).map_err(|_| CryptoError)?;
        Ok(Box::new(Cbc { cipher, iv }))
    } else {
        let cipher = aes::Aes256::new_from_slice(key).map_err(|_| CryptoError)?;
        Ok(Box::new(Cbc { cipher, iv }))
    }
}

struct Cbc<C> {
    cipher: C,
    iv: [u8; 16],
}

impl<C> CipherKey for Cbc<C>
where
    C: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt<BlockSize = U16> + Clone + Send + Sync,
{
    fn encrypt(&self, blocks: &mut [u8]) -> Result<(), CryptoError> {
        let mut mode = cbc::Encryptor::inner_iv_init(self.cipher.clone(), &self.iv.into());
        let (blocks, rest) = Array::<u8, U16>::slice_as_chunks_mut(blocks);
        mode.encrypt_blocks(blocks);
        if rest.is_empty() { Ok(()) } else { Err(CryptoError) }
    }

    fn decrypt(&self, blocks: &mut [u8]) -> Result<(), CryptoError> {
        let mut mode = cbc::Decryptor::inner_iv_init(self.cipher.clone(), &self.iv.into());
        let (blocks, rest) = Array::<u8, U16>::slice_as_chunks_mut(blocks);
        mode.decrypt_blocks(blocks);
        if rest.is_empty() { Ok(()) } else { Err(CryptoError) }
    }
}

impl<C> fmt::Debug for Cbc<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cbc")
    }
}

pub(super) fn aead(algorithm: Aead, key: &[u8]) -> Result<Box<dyn AeadKey>, CryptoError> {
    Ok(match algorithm {
        Aead::Aes128Gcm => Box::new(Sealing(keyed::<Aes128Gcm>(key).ok_or(CryptoError)?)),
        Aead::Aes256Gcm => Box::new(Sealing(keyed::<Aes256Gcm>(key).ok_or(CryptoError)?)),
        Aead::ChaCha20Poly1305 => Box::new(Sealing(keyed::<ChaCha20Poly1305>(key).ok_or(CryptoError)?)),
    })
}

struct Sealing<A>(A);

impl<A: AeadInOut + Send + Sync> AeadKey for Sealing<A> {
    fn seal(
        &self,
        nonce: [u8; 12],
        plain: &[u8],
        text: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), CryptoError> {
        let nonce = Nonce::<A>::try_from(&nonce[..]).map_err(|_| CryptoError)?;
        let made = self.0.encrypt_inout_detached(&nonce, plain, text.into()).map_err(|_| CryptoError)?;
        *tag = made.as_slice().try_into().map_err(|_| CryptoError)?;
        Ok(())
    }

    fn open(&self, nonce: [u8; 12], plain: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), CryptoError> {
        let nonce = Nonce::<A>::try_from(&nonce[..]).map_err(|_| CryptoError)?;
        let tag = Tag::<A>::try_from(tag).map_err(|_| CryptoError)?;
        self.0.decrypt_inout_detached(&nonce, plain, text.into(), &tag).map_err(|_| CryptoError)
    }
}

impl<A> fmt::Debug for Sealing<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealing")
    }
}
