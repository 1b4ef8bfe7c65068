//! The provider over aws-lc-rs (feature `aws-lc`).

use core::fmt;
use std::sync::Arc;

use aws_lc_rs::aead::{self, LessSafeKey, UnboundKey};
use aws_lc_rs::cipher::{AES_128, AES_256, DecryptingKey, EncryptingKey, UnboundCipherKey};
use aws_lc_rs::cipher::{DecryptionContext, EncryptionContext};
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{
    self, OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepAlgorithm, OaepPrivateDecryptingKey,
    OaepPublicEncryptingKey, PrivateDecryptingKey, PublicEncryptingKey,
};
use aws_lc_rs::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use aws_lc_rs::{agreement, digest, hkdf, hmac};
use uaforge_channel::Operation;
use uaforge_codec::Entropy;
use zeroize::Zeroizing;

use crate::{
    Aead, AeadKey, Agreement, CipherKey, CryptoError, Curve, Hash, KeyKind, MacKey, Oaep, PrivateKey,
    Provider, PublicKey, SharedProvider, Signing,
};

/// The provider.
#[must_use]
pub fn provider() -> SharedProvider {
    Arc::new(AwsLc)
}

#[derive(Debug)]
struct AwsLc;

impl From<aws_lc_rs::error::Unspecified> for CryptoError {
    fn from(_: aws_lc_rs::error::Unspecified) -> Self {
        Self
    }
}

impl From<aws_lc_rs::error::KeyRejected> for CryptoError {
    fn from(_: aws_lc_rs::error::KeyRejected) -> Self {
        Self
    }
}

fn digest_algorithm(hash: Hash) -> &'static digest::Algorithm {
    match hash {
        Hash::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        Hash::Sha256 => &digest::SHA256,
        Hash::Sha384 => &digest::SHA384,
    }
}

fn mac_algorithm(hash: Hash) -> hmac::Algorithm {
    match hash {
        Hash::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        Hash::Sha256 => hmac::HMAC_SHA256,
        Hash::Sha384 => hmac::HMAC_SHA384,
    }
}

fn oaep_algorithm(oaep: Oaep) -> &'static OaepAlgorithm {
    match oaep {
        Oaep::Sha1 => &OAEP_SHA1_MGF1SHA1,
        Oaep::Sha256 => &OAEP_SHA256_MGF1SHA256,
    }
}

impl Provider for AwsLc {
    fn name(&self) -> &'static str {
        "aws-lc"
    }

    fn digest(&self, hash: Hash, data: &[u8]) -> Vec<u8> {
        digest::digest(digest_algorithm(hash), data).as_ref().to_vec()
    }

    fn mac(&self, hash: Hash, key: &[u8]) -> Box<dyn MacKey> {
        Box::new(Mac(hmac::Key::new(mac_algorithm(hash), key)))
    }

    fn hkdf(
        &self,
        hash: Hash,
        secret: &[u8],
        salt: &[u8],
        info: &[u8],
        out: &mut [u8],
    ) -> Result<(), CryptoError> {
        let algorithm = match hash {
            Hash::Sha1 => return Err(CryptoError),
            Hash::Sha256 => hkdf::HKDF_SHA256,
            Hash::Sha384 => hkdf::HKDF_SHA384,
        };
        let key = hkdf::Salt::new(algorithm, salt).extract(secret);
        Ok(key.expand(&[info], Length(out.len()))?.fill(out)?)
    }

    fn cbc(&self, key: &[u8], iv: [u8; 16]) -> Result<Box<dyn CipherKey>, CryptoError> {
        let algorithm = if key.len() == 16 { &AES_128 } else { &AES_256 };
        let encrypt = EncryptingKey::cbc(UnboundCipherKey::new(algorithm, key)?)?;
        let decrypt = DecryptingKey::cbc(UnboundCipherKey::new(algorithm, key)?)?;
        Ok(Box::new(Cbc { encrypt, decrypt, iv }))
    }

    fn aead(&self, algorithm: Aead, key: &[u8]) -> Result<Box<dyn AeadKey>, CryptoError> {
        let algorithm = match algorithm {
            Aead::Aes128Gcm => &aead::AES_128_GCM,
            Aead::Aes256Gcm => &aead::AES_256_GCM,
            Aead::ChaCha20Poly1305 => &aead::CHACHA20_POLY1305,
        };
        Ok(Box::new(Sealing(LessSafeKey::new(UnboundKey::new(algorithm, key)?))))
    }

    fn ephemeral(&self, curve: Curve, entropy: &mut dyn Entropy) -> Result<Box<dyn Agreement>, CryptoError> {
        let algorithm = match curve {
            Curve::P256 => &agreement::ECDH_P256,
            Curve::P384 => &agreement::ECDH_P384,
            Curve::X25519 => &agreement::X25519,
        };
        let mut secret = Zeroizing::new(vec![0; curve.secret_len()]);
        entropy.fill(&mut secret);
        let key = agreement::PrivateKey::from_private_key(algorithm, &secret)?;
        let public = key.compute_public_key()?.as_ref().to_vec();
        Ok(Box::new(Ephemeral { key, curve, public }))
    }

    fn verify(&self, signing: Signing, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &'static dyn signature::VerificationAlgorithm = match (signing, key.kind()) {
            (Signing::RsaPkcs1Sha256, KeyKind::Rsa(_)) => &signature::RSA_PKCS1_2048_8192_SHA256,
            (Signing::RsaPkcs1Sha384, KeyKind::Rsa(_)) => &signature::RSA_PKCS1_2048_8192_SHA384,
            (Signing::RsaPkcs1Sha512, KeyKind::Rsa(_)) => &signature::RSA_PKCS1_2048_8192_SHA512,
            (Signing::RsaPssSha256, KeyKind::Rsa(_)) => &signature::RSA_PSS_2048_8192_SHA256,
            (Signing::EcdsaP256, KeyKind::P256) => &signature::ECDSA_P256_SHA256_FIXED,
            (Signing::EcdsaP384, KeyKind::P384) => &signature::ECDSA_P384_SHA384_FIXED,
            (Signing::Ed25519, KeyKind::Ed25519) => &signature::ED25519,
            _ => return false,
        };
        UnparsedPublicKey::new(algorithm, key.raw()).verify(message, signature).is_ok()
    }

    fn encrypt(&self, oaep: Oaep, key: &PublicKey, block: &[u8]) -> Result<Vec<u8>, CryptoError> {
        let key = OaepPublicEncryptingKey::new(PublicEncryptingKey::from_der(key.info())?)?;
        let mut out = vec![0; key.ciphertext_size()];
        let len = key.encrypt(oaep_algorithm(oaep), block, &mut out, None)?.len();
        out.truncate(len);
        Ok(out)
    }

    fn private_key(&self, pkcs8: &[u8]) -> Result<Arc<dyn PrivateKey>, CryptoError> {
        let (key, public) = if let Ok(pair) = rsa::KeyPair::from_pkcs8(pkcs8) {
            let decrypt = OaepPrivateDecryptingKey::new(PrivateDecryptingKey::from_pkcs8(pkcs8)?)?;
            let public = PublicKey::rsa(pair.public_key().as_ref());
            (Pair::Rsa { pair, decrypt }, public)
        } else if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8) {
            let public = PublicKey::ed25519(pair.public_key().as_ref());
            (Pair::Ed25519(pair), public)
        } else if let Ok(pair) = EcdsaKeyPair::from_pkcs8(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8)
        {
            let public = PublicKey::p256(pair.public_key().as_ref());
            (Pair::Ecdsa(pair, Signing::EcdsaP256), public)
        } else {
            let pair = EcdsaKeyPair::from_pkcs8(&signature::ECDSA_P384_SHA384_FIXED_SIGNING, pkcs8)?;
            let public = PublicKey::p384(pair.public_key().as_ref());
            (Pair::Ecdsa(pair, Signing::EcdsaP384), public)
        };
        Ok(Arc::new(Key { pair: key, public: public.map_err(|_| CryptoError)? }))
    }

    fn generate(&self, kind: KeyKind) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        let random = SystemRandom::new();
        let document = match kind {
            KeyKind::Rsa(bits) => {
                let size = match bits {
                    2048 => rsa::KeySize::Rsa2048,
                    3072 => rsa::KeySize::Rsa3072,
                    4096 => rsa::KeySize::Rsa4096,
                    _ => return Err(CryptoError),
                };
                let der: Pkcs8V1Der<'_> = rsa::KeyPair::generate(size)?.as_der()?;
                return Ok(Zeroizing::new(der.as_ref().to_vec()));
            }
            KeyKind::P256 => {
                EcdsaKeyPair::generate_pkcs8(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, &random)?
            }
            KeyKind::P384 => {
                EcdsaKeyPair::generate_pkcs8(&signature::ECDSA_P384_SHA384_FIXED_SIGNING, &random)?
            }
            KeyKind::Ed25519 => Ed25519KeyPair::generate_pkcs8v1(&random)?,
        };
        Ok(Zeroizing::new(document.as_ref().to_vec()))
    }
}

struct Length(usize);

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

struct Mac(hmac::Key);

impl MacKey for Mac {
    fn sign(&self, message: &[u8], tag: &mut [u8]) {
        if hmac::sign_to_buffer(&self.0, message, tag).is_err() {
            // A buffer that is too short gets no code at all.
            tag.fill(0);
        }
    }

    fn verify(&self, message: &[u8], tag: &[u8]) -> bool {
        hmac::verify(&self.0, message, tag).is_ok()
    }
}

struct Cbc {
    encrypt: EncryptingKey,
    decrypt: DecryptingKey,
    iv: [u8; 16],
}

impl CipherKey for Cbc {
    fn encrypt(&self, blocks: &mut [u8]) -> Result<(), CryptoError> {
        let context = EncryptionContext::Iv128(FixedLength::from(self.iv));
        self.encrypt.less_safe_encrypt(blocks, context)?;
        Ok(())
    }

    fn decrypt(&self, blocks: &mut [u8]) -> Result<(), CryptoError> {
        self.decrypt.decrypt(blocks, DecryptionContext::Iv128(FixedLength::from(self.iv)))?;
        Ok(())
    }
}

struct Sealing(LessSafeKey);

impl AeadKey for Sealing {
    fn seal(
        &self,
        nonce: [u8; 12],
        plain: &[u8],
        text: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), CryptoError> {
        let nonce = aead::Nonce::assume_unique_for_key(nonce);
        let made = self.0.seal_in_place_separate_tag(nonce, aead::Aad::from(plain), text)?;
        *tag = made.as_ref().try_into().map_err(|_| CryptoError)?;
        Ok(())
    }

    fn open(&self, nonce: [u8; 12], plain: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), CryptoError> {
        let nonce = aead::Nonce::assume_unique_for_key(nonce);
        self.0.open_in_place_separate_tag(nonce, aead::Aad::from(plain), tag, text)?;
        Ok(())
    }
}

struct Ephemeral {
    key: agreement::PrivateKey,
    curve: Curve,
    public: Vec<u8>,
}

impl Agreement for Ephemeral {
    fn public(&self) -> &[u8] {
        // Messages have no 4 before the coordinates.
        match self.curve {
            Curve::X25519 => &self.public,
            Curve::P256 | Curve::P384 => self.public.get(1..).unwrap_or_default(),
        }
    }

    fn agree(self: Box<Self>, peer: &[u8]) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        let point = match self.curve {
            Curve::X25519 => peer.to_vec(),
            Curve::P256 | Curve::P384 => [&[4], peer].concat(),
        };
        let peer = agreement::UnparsedPublicKey::new(self.key.algorithm(), point);
        agreement::agree(&self.key, &peer, CryptoError, |secret| Ok(Zeroizing::new(secret.to_vec())))
    }
}

enum Pair {
    Rsa { pair: rsa::KeyPair, decrypt: OaepPrivateDecryptingKey },
    Ecdsa(EcdsaKeyPair, Signing),
    Ed25519(Ed25519KeyPair),
}

struct Key {
    pair: Pair,
    public: PublicKey,
}

impl Key {
    fn sign_now(&self, signing: Signing, message: &[u8]) -> Result<Vec<u8>, CryptoError> {
        match &self.pair {
            Pair::Rsa { pair, .. } => {
                let padding: &'static dyn signature::RsaEncoding = match signing {
                    Signing::RsaPkcs1Sha256 => &signature::RSA_PKCS1_SHA256,
                    Signing::RsaPkcs1Sha384 => &signature::RSA_PKCS1_SHA384,
                    Signing::RsaPkcs1Sha512 => &signature::RSA_PKCS1_SHA512,
                    Signing::RsaPssSha256 => &signature::RSA_PSS_SHA256,
                    _ => return Err(CryptoError),
                };
                let mut out = vec![0; pair.public_modulus_len()];
                pair.sign(padding, &SystemRandom::new(), message, &mut out)?;
                Ok(out)
            }
            Pair::Ecdsa(pair, own) if *own == signing => {
                Ok(pair.sign(&SystemRandom::new(), message)?.as_ref().to_vec())
            }
            Pair::Ed25519(pair) if signing == Signing::Ed25519 => Ok(pair.sign(message).as_ref().to_vec()),
            _ => Err(CryptoError),
        }
    }

    fn decrypt_now(&self, oaep: Oaep, blocks: &[u8]) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        let Pair::Rsa { decrypt, .. } = &self.pair else { return Err(CryptoError) };
        let size = decrypt.key_size_bytes();
        if blocks.is_empty() || !blocks.len().is_multiple_of(size) {
            return Err(CryptoError);
        }
        let mut out = Zeroizing::new(Vec::with_capacity(blocks.len()));
        let mut room = Zeroizing::new(vec![0; decrypt.min_output_size()]);
        let mut failed = false;
        // All blocks are decrypted, whichever of them is wrong.
        for block in blocks.chunks(size) {
            match decrypt.decrypt(oaep_algorithm(oaep), block, &mut room, None) {
                Ok(text) => out.extend_from_slice(text),
                Err(_) => failed = true,
            }
        }
        if failed { Err(CryptoError) } else { Ok(out) }
    }
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

/// Keys show what they are for, never what they are.
macro_rules! redacted {
    ($($name:ident)*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}
redacted!(Mac Cbc Sealing Ephemeral Key);
