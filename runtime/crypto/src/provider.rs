//! What a library of cryptography has to do, and where private keys live (D11).

use core::fmt;
use std::sync::Arc;

use uaforge_channel::{ChannelError, Operation};
use uaforge_codec::Entropy;
use uaforge_types::status;
use zeroize::Zeroizing;

use crate::{Aead, Curve, Hash, KeyKind, Oaep, PublicKey, Signing};

/// A provider as it is handed around.
pub type SharedProvider = Arc<dyn Provider>;

/// A cryptographic operation failed. It says no more, since peers may see what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cryptographic operation failed")]
pub struct CryptoError;

impl From<CryptoError> for ChannelError {
    fn from(_: CryptoError) -> Self {
        Self::new(status::BAD_INTERNAL_ERROR, "a cryptographic operation failed")
    }
}

/// A library of cryptography. Contexts are made once per token, and used without allocation.
pub trait Provider: fmt::Debug + Send + Sync {
    /// Its name, as the feature that brings it.
    fn name(&self) -> &'static str;

    /// The hash of `data`.
    fn digest(&self, hash: Hash, data: &[u8]) -> Vec<u8>;

    /// A key of HMAC.
    fn mac(&self, hash: Hash, key: &[u8]) -> Box<dyn MacKey>;

    /// Fills `out` with what HKDF makes of `secret` (RFC 5869).
    ///
    /// # Errors
    /// `out` is too long.
    fn hkdf(
        &self,
        hash: Hash,
        secret: &[u8],
        salt: &[u8],
        info: &[u8],
        out: &mut [u8],
    ) -> Result<(), CryptoError>;

    /// A key of AES in CBC mode without padding; every call begins with `iv`.
    ///
    /// # Errors
    /// The key has neither 16 nor 32 bytes.
    fn cbc(&self, key: &[u8], iv: [u8; 16]) -> Result<Box<dyn CipherKey>, CryptoError>;

    /// A key that encrypts and authenticates.
    ///
    /// # Errors
    /// The key has the wrong length.
    fn aead(&self, algorithm: Aead, key: &[u8]) -> Result<Box<dyn AeadKey>, CryptoError>;

    /// A new ephemeral key.
    ///
    /// # Errors
    /// The library failed.
    fn ephemeral(&self, curve: Curve, entropy: &mut dyn Entropy) -> Result<Box<dyn Agreement>, CryptoError>;

    /// Whether `signature` is one of `message` by the owner of `key`.
    fn verify(&self, signing: Signing, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool;

    /// Encrypts one block for the owner of an RSA key.
    ///
    /// # Errors
    /// The block is too long, or the key is none of RSA.
    fn encrypt(&self, oaep: Oaep, key: &PublicKey, block: &[u8]) -> Result<Vec<u8>, CryptoError>;

    /// A private key in this process.
    ///
    /// # Errors
    /// The text is no PKCS#8 key of a kind that is known.
    fn private_key(&self, pkcs8: &[u8]) -> Result<Arc<dyn PrivateKey>, CryptoError>;

    /// A new private key as PKCS#8. RSA keys have 2048, 3072 or 4096 bits.
    ///
    /// # Errors
    /// The kind is not among those.
    fn generate(&self, kind: KeyKind) -> Result<Zeroizing<Vec<u8>>, CryptoError>;
}

/// A key of HMAC.
pub trait MacKey: fmt::Debug + Send + Sync {
    /// Writes the code of `message` to `tag`, which has the length of the hash.
    fn sign(&self, message: &[u8], tag: &mut [u8]);

    /// Whether `tag` is the code of `message`; the time it takes does not depend on where they differ.
    fn verify(&self, message: &[u8], tag: &[u8]) -> bool;
}

/// A key of AES in CBC mode, in place. Whole blocks only.
pub trait CipherKey: fmt::Debug + Send + Sync {
    /// Encrypts `blocks`.
    ///
    /// # Errors
    /// The length is none of whole blocks.
    fn encrypt(&self, blocks: &mut [u8]) -> Result<(), CryptoError>;

    /// Decrypts `blocks`.
    ///
    /// # Errors
    /// The length is none of whole blocks.
    fn decrypt(&self, blocks: &mut [u8]) -> Result<(), CryptoError>;
}

/// A key that encrypts and authenticates, in place.
pub trait AeadKey: fmt::Debug + Send + Sync {
    /// Encrypts `text` and writes the tag of it and of `plain`.
    ///
    /// # Errors
    /// The library failed.
    fn seal(
        &self,
        nonce: [u8; 12],
        plain: &[u8],
        text: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), CryptoError>;

    /// Verifies the tag and decrypts `text`.
    ///
    /// # Errors
    /// The tag is wrong.
    fn open(&self, nonce: [u8; 12], plain: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), CryptoError>;
}

/// An ephemeral key (OPC 10000-6 §6.8.1).
pub trait Agreement: fmt::Debug + Send {
    /// The public key as it stands in a message.
    fn public(&self) -> &[u8];

    /// The secret that is shared with the owner of `peer`.
    ///
    /// # Errors
    /// `peer` is no point of the curve.
    fn agree(self: Box<Self>, peer: &[u8]) -> Result<Zeroizing<Vec<u8>>, CryptoError>;
}

/// A private key, wherever it lives. What it does may take its time.
pub trait PrivateKey: fmt::Debug + Send + Sync {
    /// The public key.
    fn public(&self) -> &PublicKey;

    /// Signs a message.
    fn sign(&self, signing: Signing, message: Vec<u8>) -> Operation<Vec<u8>>;

    /// Decrypts blocks of RSA, one behind the other; their messages come out joined.
    fn decrypt(&self, oaep: Oaep, blocks: Vec<u8>) -> Operation<Zeroizing<Vec<u8>>>;
}
