//! Keys of tokens out of nonces and shared secrets (OPC 10000-6 §6.7.6, §6.8.1).

use core::fmt;

use zeroize::Zeroizing;

use crate::policy::Protection;
use crate::{CryptoError, Hash, Provider};

/// The keys of one direction.
pub struct KeySet {
    /// Of HMAC; empty if the policy has none.
    pub signing: Zeroizing<Vec<u8>>,
    /// Of the cipher; empty if nothing is encrypted or authenticated by it.
    pub encrypting: Zeroizing<Vec<u8>>,
    /// Initialisation vector of the cipher.
    pub iv: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySet")
    }
}

/// Lengths of the keys of one direction, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Lengths {
    pub(crate) signing: usize,
    pub(crate) encrypting: usize,
    pub(crate) iv: usize,
}

impl Lengths {
    pub(crate) const fn of(protection: Protection) -> Self {
        match protection {
            Protection::Cbc { hash, key_len } => Self { signing: hash.size(), encrypting: key_len, iv: 16 },
            Protection::Aead(aead) => Self { signing: 0, encrypting: aead.key_len(), iv: 12 },
        }
    }

    const fn total(self) -> usize {
        self.signing + self.encrypting + self.iv
    }

    fn split(self, material: &[u8]) -> KeySet {
        let (signing, rest) = material.split_at(self.signing.min(material.len()));
        let (encrypting, iv) = rest.split_at(self.encrypting.min(rest.len()));
        let owned = |bytes: &[u8]| Zeroizing::new(bytes.to_vec());
        KeySet { signing: owned(signing), encrypting: owned(encrypting), iv: owned(iv) }
    }
}

/// P_SHA256, which is P_hash of RFC 5246 §5 (OPC 10000-6 §6.7.6).
#[must_use]
pub fn p_hash(
    provider: &dyn Provider,
    hash: Hash,
    secret: &[u8],
    seed: &[u8],
    len: usize,
) -> Zeroizing<Vec<u8>> {
    let key = provider.mac(hash, secret);
    let mut out = Zeroizing::new(Vec::with_capacity(len + hash.size()));
    let mut a = Zeroizing::new(vec![0; hash.size()]);
    let mut block = Zeroizing::new(vec![0; hash.size()]);
    key.sign(seed, &mut a);
    while out.len() < len {
        let input = Zeroizing::new([&a[..], seed].concat());
        key.sign(&input, &mut block);
        out.extend_from_slice(&block);
        let before = a.clone();
        key.sign(&before, &mut a);
    }
    out.truncate(len);
    out
}

/// The keys of one direction from nonces: `secret` is the receiver's, `seed` the sender's
/// (OPC 10000-6 §6.7.6).
#[must_use]
pub fn channel_keys(provider: &dyn Provider, protection: Protection, secret: &[u8], seed: &[u8]) -> KeySet {
    let lengths = Lengths::of(protection);
    lengths.split(&p_hash(provider, Hash::Sha256, secret, seed, lengths.total()))
}

/// The keys of one direction from a shared secret (OPC 10000-6 §6.8.1). `label` says whose direction it is.
/// `only_signing`: chunks are not encrypted, so that nothing but the signing key is derived.
///
/// # Errors
/// The library failed.
pub fn hkdf_keys(
    provider: &dyn Provider,
    hash: Hash,
    protection: Protection,
    only_signing: bool,
    secret: &[u8],
    label: &str,
    nonces: [&[u8]; 2],
) -> Result<KeySet, CryptoError> {
    let mut lengths = Lengths::of(protection);
    if only_signing && lengths.signing > 0 {
        (lengths.encrypting, lengths.iv) = (0, 0);
    }
    let length = u16::try_from(lengths.total()).map_err(|_| CryptoError)?.to_le_bytes();
    let salt = [&length[..], label.as_bytes(), nonces[0], nonces[1]].concat();
    let mut material = Zeroizing::new(vec![0; lengths.total()]);
    provider.hkdf(hash, secret, &salt, &salt, &mut material)?;
    Ok(lengths.split(&material))
}
