//! Public and private keys.

use core::fmt;
use std::sync::Arc;

use ed25519_dalek::{Signer as _, Verifier as _};
use getrandom::SysRng;
use p256::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _};
use rsa::pkcs1::{DecodeRsaPublicKey as _, EncodeRsaPublicKey as _};
use rsa::signature::{RandomizedSigner as _, SignatureEncoding as _};
use rsa::{pkcs1v15, pss};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};
use uaforge_channel::Operation;
use zeroize::Zeroizing;

use crate::{CryptoError, KeyKind, Oaep, PrivateKey, PublicKey, Signing};

/// Whether a signature is right, as a result.
pub(super) fn verify(
    signing: Signing,
    key: &PublicKey,
    message: &[u8],
    signature: &[u8],
) -> Result<(), CryptoError> {
    let right = match (signing, key.kind()) {
        (Signing::EcdsaP256, KeyKind::P256) => {
            let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(key.raw()).map_err(|_| CryptoError)?;
            let signature = p256::ecdsa::Signature::from_slice(signature).map_err(|_| CryptoError)?;
            key.verify(message, &signature).is_ok()
        }
        (Signing::EcdsaP384, KeyKind::P384) => {
            let key = p384::ecdsa::VerifyingKey::from_sec1_bytes(key.raw()).map_err(|_| CryptoError)?;
            let signature = p384::ecdsa::Signature::from_slice(signature).map_err(|_| CryptoError)?;
            key.verify(message, &signature).is_ok()
        }
        (Signing::Ed25519, KeyKind::Ed25519) => {
            let raw = key.raw().try_into().map_err(|_| CryptoError)?;
            let key = ed25519_dalek::VerifyingKey::from_bytes(raw).map_err(|_| CryptoError)?;
            let signature = ed25519_dalek::Signature::from_slice(signature).map_err(|_| CryptoError)?;
            key.verify_strict(message, &signature).is_ok()
        }
        (_, KeyKind::Rsa(_)) => verify_rsa(signing, key, message, signature)?,
        _ => false,
    };
    if right { Ok(()) } else { Err(CryptoError) }
}

fn verify_rsa(
    signing: Signing,
    key: &PublicKey,
    message: &[u8],
    signature: &[u8],
) -> Result<bool, CryptoError> {
    let key = rsa_key(key)?;
    if signing == Signing::RsaPssSha256 {
        let signature = pss::Signature::try_from(signature).map_err(|_| CryptoError)?;
        return Ok(pss::VerifyingKey::<Sha256>::new(key).verify(message, &signature).is_ok());
    }
    let signature = pkcs1v15::Signature::try_from(signature).map_err(|_| CryptoError)?;
    Ok(match signing {
        Signing::RsaPkcs1Sha256 => {
            pkcs1v15::VerifyingKey::<Sha256>::new(key).verify(message, &signature).is_ok()
        }
        Signing::RsaPkcs1Sha384 => {
            pkcs1v15::VerifyingKey::<Sha384>::new(key).verify(message, &signature).is_ok()
        }
        Signing::RsaPkcs1Sha512 => {
            pkcs1v15::VerifyingKey::<Sha512>::new(key).verify(message, &signature).is_ok()
        }
        _ => false,
    })
}

fn rsa_key(key: &PublicKey) -> Result<rsa::PublicKey, CryptoError> {
    rsa::PublicKey::from_pkcs1_der(key.raw()).map_err(|_| CryptoError)
}

pub(super) fn encrypt(oaep: Oaep, key: &PublicKey, block: &[u8]) -> Result<Vec<u8>, CryptoError> {
    let key = rsa_key(key)?;
    let encrypted = match oaep {
        Oaep::Sha1 => key.oaep_encrypt_with_rng::<Sha1, _>(&mut SysRng, block),
        Oaep::Sha256 => key.oaep_encrypt_with_rng::<Sha256, _>(&mut SysRng, block),
    };
    encrypted.map_err(|_| CryptoError)
}

pub(super) fn private_key(pkcs8: &[u8]) -> Result<Arc<dyn PrivateKey>, CryptoError> {
    let (pair, public) = if let Ok(key) = rsa::PrivateKey::from_pkcs8_der(pkcs8) {
        let public = key.as_public_key().to_pkcs1_der().map_err(|_| CryptoError)?;
        let public = PublicKey::rsa(public.as_bytes());
        (Pair::Rsa(Box::new(key)), public)
    } else if let Ok(key) = p256::ecdsa::SigningKey::from_pkcs8_der(pkcs8) {
        let public = PublicKey::p256(key.verifying_key().to_sec1_point(false).as_bytes());
        (Pair::P256(key), public)
    } else if let Ok(key) = p384::ecdsa::SigningKey::from_pkcs8_der(pkcs8) {
        let public = PublicKey::p384(key.verifying_key().to_sec1_point(false).as_bytes());
        (Pair::P384(key), public)
    } else {
        let key = ed25519_dalek::SigningKey::from_pkcs8_der(pkcs8).map_err(|_| CryptoError)?;
        let public = PublicKey::ed25519(key.verifying_key().as_bytes());
        (Pair::Ed25519(key), public)
    };
    Ok(Arc::new(Key { pair, public: public.map_err(|_| CryptoError)? }))
}

pub(super) fn generate(kind: KeyKind) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
    let mut seed = Zeroizing::new([0; 48]);
    getrandom::fill(&mut *seed).map_err(|_| CryptoError)?;
    let document = match kind {
        KeyKind::Rsa(bits @ (2048 | 3072 | 4096)) => {
            let key = rsa::PrivateKey::new(&mut SysRng, bits.into()).map_err(|_| CryptoError)?;
            key.to_pkcs8_der()
        }
        KeyKind::Rsa(_) => return Err(CryptoError),
        KeyKind::P256 => p256::SecretKey::from_slice(&seed[..32]).map_err(|_| CryptoError)?.to_pkcs8_der(),
        KeyKind::P384 => p384::SecretKey::from_slice(&seed[..]).map_err(|_| CryptoError)?.to_pkcs8_der(),
        KeyKind::Ed25519 => {
            let seed: &[u8; 32] = seed.first_chunk().ok_or(CryptoError)?;
            ed25519_dalek::SigningKey::from_bytes(seed).to_pkcs8_der()
        }
    };
    Ok(Zeroizing::new(document.map_err(|_| CryptoError)?.as_bytes().to_vec()))
}

enum Pair {
    Rsa(Box<rsa::PrivateKey>),
    P256(p256::ecdsa::SigningKey),
    P384(p384::ecdsa::SigningKey),
    Ed25519(ed25519_dalek::SigningKey),
}

struct Key {
    pair: Pair,
    public: PublicKey,
}

impl Key {
    fn sign_now(&self, signing: Signing, message: &[u8]) -> Result<Vec<u8>, CryptoError> {
        match (&self.pair, signing) {
            (Pair::Rsa(key), _) => sign_rsa(key, signing, message),
            (Pair::P256(key), Signing::EcdsaP256) => {
                let signature: p256::ecdsa::Signature = key.sign(message);
                Ok(signature.to_bytes().to_vec())
            }
            (Pair::P384(key), Signing::EcdsaP384) => {
                let signature: p384::ecdsa::Signature = key.sign(message);
                Ok(signature.to_bytes().to_vec())
            }
            (Pair::Ed25519(key), Signing::Ed25519) => Ok(key.sign(message).to_bytes().to_vec()),
            _ => Err(CryptoError),
        }
    }

    fn decrypt_now(&self, oaep: Oaep, blocks: &[u8]) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        let Pair::Rsa(key) = &self.pair else { return Err(CryptoError) };
        let size = self.public.kind().signature_len();
        if blocks.is_empty() || !blocks.len().is_multiple_of(size) {
            return Err(CryptoError);
        }
        let mut out = Zeroizing::new(Vec::with_capacity(blocks.len()));
        let mut failed = false;
        // All blocks are decrypted, whichever of them is wrong.
        for block in blocks.chunks(size) {
            let text = match oaep {
                Oaep::Sha1 => key.oaep_decrypt_with_rng::<Sha1, _>(&mut SysRng, block),
                Oaep::Sha256 => key.oaep_decrypt_with_rng::<Sha256, _>(&mut SysRng, block),
            };
            match text {
                Ok(text) => out.extend_from_slice(&Zeroizing::new(text)),
                Err(_) => failed = true,
            }
        }
        if failed { Err(CryptoError) } else { Ok(out) }
    }
}

fn sign_rsa(key: &rsa::PrivateKey, signing: Signing, message: &[u8]) -> Result<Vec<u8>, CryptoError> {
    let key = key.clone();
    let signature = match signing {
        Signing::RsaPkcs1Sha256 => pkcs1v15::SigningKey::<Sha256>::new(key)
            .try_sign_with_rng(&mut SysRng, message)
            .map(|signature: pkcs1v15::Signature| signature.to_vec()),
        Signing::RsaPkcs1Sha384 => pkcs1v15::SigningKey::<Sha384>::new(key)
            .try_sign_with_rng(&mut SysRng, message)
            .map(|signature: pkcs1v15::Signature| signature.to_vec()),
        Signing::RsaPkcs1Sha512 => pkcs1v15::SigningKey::<Sha512>::new(key)
            .try_sign_with_rng(&mut SysRng, message)
            .map(|signature: pkcs1v15::Signature| signature.to_vec()),
        Signing::RsaPssSha256 => pss::SigningKey::<Sha256>::new(key)
            .try_sign_with_rng(&mut SysRng, message)
            .map(|signature: pss::Signature| signature.to_vec()),
        _ => return Err(CryptoError),
    };
    signature.map_err(|_| CryptoError)
}

impl PrivateKey for Key {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn sign(&self, signing: Signing, message: Vec<u8>) -> Operation<Vec<u8>> {
        Operation::Ready(self.sign_now(signing, &message).map_err(Into::into))
    }

    fn decrypt(&self, oaep: Oaep, blocks: Vec<u8>) -> Operation<Zeroizing<Vec<u8>>> {
        Operation::Ready(self.decrypt_now(oaep, &blocks).map_err(Into::into))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}
