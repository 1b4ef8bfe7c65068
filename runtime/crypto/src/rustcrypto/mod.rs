//! The provider in pure Rust, over the crates of RustCrypto (feature `rustcrypto`).

mod agreement;
mod keys;
mod symmetric;

use std::sync::Arc;

use hkdf::Hkdf;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384};
use uaforge_codec::Entropy;
use zeroize::Zeroizing;

use crate::{
    Aead, AeadKey, Agreement, CipherKey, CryptoError, Curve, Hash, KeyKind, MacKey, Oaep, PrivateKey,
    Provider, PublicKey, SharedProvider, Signing,
};

/// The provider.
#[must_use]
pub fn provider() -> SharedProvider {
    Arc::new(RustCrypto)
}

#[derive(Debug)]
struct RustCrypto;

impl Provider for RustCrypto {
    fn name(&self) -> &'static str {
        "rustcrypto"
    }

    fn digest(&self, hash: Hash, data: &[u8]) -> Vec<u8> {
        match hash {
            Hash::Sha1 => Sha1::digest(data).to_vec(),
            Hash::Sha256 => Sha256::digest(data).to_vec(),
            Hash::Sha384 => Sha384::digest(data).to_vec(),
        }
    }

    fn mac(&self, hash: Hash, key: &[u8]) -> Box<dyn MacKey> {
        symmetric::mac(hash, key)
    }

    fn hkdf(
        &self,
        hash: Hash,
        secret: &[u8],
        salt: &[u8],
        info: &[u8],
        out: &mut [u8],
    ) -> Result<(), CryptoError> {
        let expanded = match hash {
            Hash::Sha1 => return Err(CryptoError),
            Hash::Sha256 => Hkdf::<Sha256>::new(Some(salt), secret).expand(info, out),
            Hash::Sha384 => Hkdf::<Sha384>::new(Some(salt), secret).expand(info, out),
        };
        expanded.map_err(|_| CryptoError)
    }

    fn cbc(&self, key: &[u8], iv: [u8; 16]) -> Result<Box<dyn CipherKey>, CryptoError> {
        symmetric::cbc(key, iv)
    }

    fn aead(&self, algorithm: Aead, key: &[u8]) -> Result<Box<dyn AeadKey>, CryptoError> {
        symmetric::aead(algorithm, key)
    }

    fn ephemeral(&self, curve: Curve, entropy: &mut dyn Entropy) -> Result<Box<dyn Agreement>, CryptoError> {
        agreement::ephemeral(curve, entropy)
    }

    fn verify(&self, signing: Signing, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        keys::verify(signing, key, message, signature).is_ok()
    }

    fn encrypt(&self, oaep: Oaep, key: &PublicKey, block: &[u8]) -> Result<Vec<u8>, CryptoError> {
        keys::encrypt(oaep, key, block)
    }

    fn private_key(&self, pkcs8: &[u8]) -> Result<Arc<dyn PrivateKey>, CryptoError> {
        keys::private_key(pkcs8)
    }

    fn generate(&self, kind: KeyKind) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        keys::generate(kind)
    }
}
