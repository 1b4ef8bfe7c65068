//! The security policies (OPC 10000-7, OPC 10000-6 §6.7, §6.8).

use core::fmt;

use uaforge_channel::SequenceRule;

use crate::{Aead, Curve, Hash, KeyKind, Oaep, Signing};

/// How the chunks of a token are protected (OPC 10000-6 §6.7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// HMAC, then AES-CBC.
    Cbc {
        /// Hash function of HMAC.
        hash: Hash,
        /// Length of the encrypting key in bytes.
        key_len: usize,
    },
    /// Encryption that also authenticates.
    Aead(Aead),
}

/// How the keys of a token come about (OPC 10000-6 §6.7.6, §6.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Encrypted nonces of 32 bytes, and P_SHA256.
    Nonces {
        /// How OpenSecureChannel messages are encrypted.
        oaep: Oaep,
    },
    /// Ephemeral keys, and HKDF. OpenSecureChannel messages are signed only.
    Ephemeral {
        /// Curve of the keys.
        curve: Curve,
        /// Hash function of HKDF.
        hash: Hash,
    },
}

/// A security policy. There is one value for each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// URI (OPC 10000-7).
    pub uri: &'static str,
    /// URI of the signature algorithm in SignatureData; empty if the policy implies it (OPC 10000-4 §7.36).
    pub signature_uri: &'static str,
    /// URI of the encryption algorithm in user identity tokens; empty if they use EncryptedSecret.
    pub encryption_uri: &'static str,
    /// How applications sign.
    pub signing: Signing,
    /// How keys come about.
    pub exchange: Exchange,
    /// How chunks are protected.
    pub protection: Protection,
    /// SecureChannelEnhancements (OPC 10000-6 §6.7.5).
    pub enhanced: bool,
    /// How strong it is among the others: the higher the better (OPC 10000-4 §7.14, securityLevel).
    pub level: u8,
}

const RSA_SHA256: &str = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
const RSA_PSS: &str = "http://opcfoundation.org/UA/security/rsa-pss-sha2-256";
const OAEP: &str = "http://www.w3.org/2001/04/xmlenc#rsa-oaep";
const OAEP_SHA256: &str = "http://opcfoundation.org/UA/security/rsa-oaep-sha2-256";

const AES_128: Protection = Protection::Cbc { hash: Hash::Sha256, key_len: 16 };
const AES_256: Protection = Protection::Cbc { hash: Hash::Sha256, key_len: 32 };

/// A policy of elliptic curves.
const fn ecc(uri: &'static str, curve: Curve, protection: Protection, enhanced: bool, level: u8) -> Policy {
    let (signing, hash) = match curve {
        Curve::P256 => (Signing::EcdsaP256, Hash::Sha256),
        Curve::P384 => (Signing::EcdsaP384, Hash::Sha384),
        Curve::X25519 => (Signing::Ed25519, Hash::Sha256),
    };
    let exchange = Exchange::Ephemeral { curve, hash };
    Policy { uri, signature_uri: "", encryption_uri: "", signing, exchange, protection, enhanced, level }
}

/// A policy of RSA.
const fn rsa(
    uri: &'static str,
    signing: (Signing, &'static str),
    oaep: (Oaep, &'static str),
    protection: Protection,
    level: u8,
) -> Policy {
    Policy {
        uri,
        signature_uri: signing.1,
        encryption_uri: oaep.1,
        signing: signing.0,
        exchange: Exchange::Nonces { oaep: oaep.0 },
        protection,
        enhanced: false,
        level,
    }
}

impl Policy {
    /// Aes128_Sha256_RsaOaep.
    pub const AES128_SHA256_RSA_OAEP: Self = rsa(
        "http://opcfoundation.org/UA/SecurityPolicy#Aes128_Sha256_RsaOaep",
        (Signing::RsaPkcs1Sha256, RSA_SHA256),
        (Oaep::Sha1, OAEP),
        AES_128,
        10,
    );

    /// Basic256Sha256.
    pub const BASIC256_SHA256: Self = rsa(
        "http://opcfoundation.org/UA/SecurityPolicy#Basic256Sha256",
        (Signing::RsaPkcs1Sha256, RSA_SHA256),
        (Oaep::Sha1, OAEP),
        AES_256,
        20,
    );

    /// Aes256_Sha256_RsaPss.
    pub const AES256_SHA256_RSA_PSS: Self = rsa(
        "http://opcfoundation.org/UA/SecurityPolicy#Aes256_Sha256_RsaPss",
        (Signing::RsaPssSha256, RSA_PSS),
        (Oaep::Sha256, OAEP_SHA256),
        AES_256,
        30,
    );

    /// ECC_nistP256, as it was before version 1.05.07.
    pub const ECC_NIST_P256: Self =
        ecc("http://opcfoundation.org/UA/SecurityPolicy#ECC_nistP256", Curve::P256, AES_128, false, 32);

    /// ECC_nistP384, as it was before version 1.05.07.
    pub const ECC_NIST_P384: Self = ecc(
        "http://opcfoundation.org/UA/SecurityPolicy#ECC_nistP384",
        Curve::P384,
        Protection::Cbc { hash: Hash::Sha384, key_len: 32 },
        false,
        34,
    );

    /// ECC_curve25519, as it was before version 1.05.07.
    pub const ECC_CURVE25519: Self = ecc(
        "http://opcfoundation.org/UA/SecurityPolicy#ECC_curve25519",
        Curve::X25519,
        Protection::Aead(Aead::ChaCha20Poly1305),
        false,
        33,
    );

    /// ECC_nistP256_AesGcm.
    pub const ECC_NIST_P256_AES_GCM: Self = ecc(
        "http://opcfoundation.org/UA/SecurityPolicy#ECC_nistP256_AesGcm",
        Curve::P256,
        Protection::Aead(Aead::Aes128Gcm),
        true,
        40,
    );

    /// ECC_nistP256_ChaChaPoly.
    pub const ECC_NIST_P256_CHA_CHA_POLY: Self = ecc(
        "http://opcfoundation.org/UA/SecurityPolicy#ECC_nistP256_ChaChaPoly",
        Curve::P256,
        Protection::Aead(Aead::ChaCha20Poly1305),
        true,
        41,
    );

    /// ECC_nistP384_AesGcm.
    pub const ECC_NIST_P384_AES_GCM: Self = ecc(
        "http://opcfoundation.org/UA/SecurityPolicy#ECC_nistP384_AesGcm",
        Curve::P384,
        Protection::Aead(Aead::Aes256Gcm),
        true,
        44,
    );

    /// ECC_nistP384_ChaChaPoly.
    pub const ECC_NIST_P384_CHA_CHA_POLY: Self = ecc(
        "http://opcfoundation.org/UA/SecurityPolicy#ECC_nistP384_ChaChaPoly",
        Curve::P384,
        Protection::Aead(Aead::ChaCha20Poly1305),
        true,
        45,
    );

    /// ECC_curve25519_AesGcm.
    pub const ECC_CURVE25519_AES_GCM: Self = ecc(
        "http://opcfoundation.org/UA/SecurityPolicy#ECC_curve25519_AesGcm",
        Curve::X25519,
        Protection::Aead(Aead::Aes128Gcm),
        true,
        42,
    );

    /// ECC_curve25519_ChaChaPoly.
    pub const ECC_CURVE25519_CHA_CHA_POLY: Self = ecc(
        "http://opcfoundation.org/UA/SecurityPolicy#ECC_curve25519_ChaChaPoly",
        Curve::X25519,
        Protection::Aead(Aead::ChaCha20Poly1305),
        true,
        43,
    );

    /// All policies but None, the weakest first. Basic128Rsa15 and Basic256, which OPC 10000-7 deprecates, are
    /// not among them.
    pub const ALL: [&'static Self; 12] = [
        &Self::AES128_SHA256_RSA_OAEP,
        &Self::BASIC256_SHA256,
        &Self::AES256_SHA256_RSA_PSS,
        &Self::ECC_NIST_P256,
        &Self::ECC_CURVE25519,
        &Self::ECC_NIST_P384,
        &Self::ECC_NIST_P256_AES_GCM,
        &Self::ECC_NIST_P256_CHA_CHA_POLY,
        &Self::ECC_CURVE25519_AES_GCM,
        &Self::ECC_CURVE25519_CHA_CHA_POLY,
        &Self::ECC_NIST_P384_AES_GCM,
        &Self::ECC_NIST_P384_CHA_CHA_POLY,
    ];

    /// The policy with this URI.
    #[must_use]
    pub fn by_uri(uri: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|policy| policy.uri == uri)
    }

    /// The policy with this name: what stands behind the `#` of its URI.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }

    /// What stands behind the `#` of the URI.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.uri.rsplit_once('#').map_or(self.uri, |(_, name)| name)
    }

    /// How sequence numbers begin and wrap (OPC 10000-6 §6.7.2.4).
    #[must_use]
    pub const fn sequence_rule(&self) -> SequenceRule {
        match self.exchange {
            Exchange::Nonces { .. } => SequenceRule::Legacy,
            Exchange::Ephemeral { .. } => SequenceRule::Full,
        }
    }

    /// Whether certificates with a key of this kind may be used with the policy (OPC 10000-7): RSA with 2048
    /// to 4096 bits, or the curve of the policy.
    #[must_use]
    pub const fn accepts(&self, kind: KeyKind) -> bool {
        match (self.signing, kind) {
            (Signing::EcdsaP256, KeyKind::P256)
            | (Signing::EcdsaP384, KeyKind::P384)
            | (Signing::Ed25519, KeyKind::Ed25519) => true,
            (Signing::RsaPkcs1Sha256 | Signing::RsaPssSha256, KeyKind::Rsa(bits)) => {
                2048 <= bits && bits <= 4096
            }
            _ => false,
        }
    }

    /// The hash function of certificates in signatures that are bound to a channel (OPC 10000-4 §6.1.8).
    #[must_use]
    pub const fn hash(&self) -> Hash {
        match self.exchange {
            Exchange::Nonces { .. } => Hash::Sha256,
            Exchange::Ephemeral { hash, .. } => hash,
        }
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
