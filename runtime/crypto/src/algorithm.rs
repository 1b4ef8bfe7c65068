//! Names of algorithms, as the security policies put them together (OPC 10000-7).

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hash {
    /// SHA-1: thumbprints of certificates only.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
}

impl Hash {
    /// Length of a hash in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
        }
    }
}

/// How something is signed with a private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signing {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    RsaPkcs1Sha256,
    /// RSASSA-PKCS1-v1_5 with SHA-384; certificates only.
    RsaPkcs1Sha384,
    /// RSASSA-PKCS1-v1_5 with SHA-512; certificates only.
    RsaPkcs1Sha512,
    /// RSASSA-PSS with SHA-256 and as long a salt.
    RsaPssSha256,
    /// ECDSA on P-256 with SHA-256; the signature is `r` and `s`, 32 bytes each.
    EcdsaP256,
    /// ECDSA on P-384 with SHA-384; the signature is `r` and `s`, 48 bytes each.
    EcdsaP384,
    /// Ed25519.
    Ed25519,
}

/// How something is encrypted for the owner of an RSA key: RSAES-OAEP, with the same hash function in MGF1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Oaep {
    /// With SHA-1.
    Sha1,
    /// With SHA-256.
    Sha256,
}

impl Oaep {
    /// Bytes of a block that are not the message (RFC 8017 §7.1.1).
    #[must_use]
    pub const fn overhead(self) -> usize {
        match self {
            Self::Sha1 => 2 * Hash::Sha1.size() + 2,
            Self::Sha256 => 2 * Hash::Sha256.size() + 2,
        }
    }
}

/// Encryption that also authenticates. Nonces have 12 bytes, tags 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aead {
    /// AES-128-GCM.
    Aes128Gcm,
    /// AES-256-GCM.
    Aes256Gcm,
    /// ChaCha20-Poly1305.
    ChaCha20Poly1305,
}

impl Aead {
    /// Length of a key in bytes.
    #[must_use]
    pub const fn key_len(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
        }
    }
}

/// The curve of ephemeral keys (OPC 10000-6 §6.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Curve {
    /// NIST P-256.
    P256,
    /// NIST P-384.
    P384,
    /// X25519.
    X25519,
}

impl Curve {
    /// Length of a private key, and of a shared secret, in bytes.
    #[must_use]
    pub const fn secret_len(self) -> usize {
        match self {
            Self::P256 | Self::X25519 => 32,
            Self::P384 => 48,
        }
    }

    /// Length of a public key as it stands in a message: x and y, or u.
    #[must_use]
    pub const fn public_len(self) -> usize {
        match self {
            Self::P256 => 64,
            Self::P384 => 96,
            Self::X25519 => 32,
        }
    }
}

/// The kind of a certificate's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// RSA with a modulus of so many bits.
    Rsa(u16),
    /// NIST P-256.
    P256,
    /// NIST P-384.
    P384,
    /// Ed25519.
    Ed25519,
}

impl KeyKind {
    /// Length of a signature, and of an encrypted block of RSA, in bytes.
    #[must_use]
    pub const fn signature_len(self) -> usize {
        match self {
            Self::Rsa(bits) => (bits as usize).div_ceil(8),
            Self::P256 | Self::Ed25519 => 64,
            Self::P384 => 96,
        }
    }

    /// Whether it is an RSA key.
    #[must_use]
    pub const fn is_rsa(self) -> bool {
        matches!(self, Self::Rsa(_))
    }
}
