//! Security policies, certificates and secrets of OPC UA (OPC 10000-6 §6.7, §6.8, OPC 10000-7).
//!
//! This is the only crate that names libraries of cryptography. They stand behind [`Provider`], a value:
//! `aws_lc::provider()` (feature `aws-lc`) or `rustcrypto::provider()` (feature `rustcrypto`). A private key
//! is a [`PrivateKey`], which may live in a token or on another thread.

mod aead;
mod algorithm;
mod asymmetric;
#[cfg(feature = "aws-lc")]
pub mod aws_lc;
mod cbc;
mod certificate;
mod derive;
mod draft;
mod exchange;
mod identity;
mod password;
mod policy;
mod pool;
mod provider;
#[cfg(feature = "rustcrypto")]
pub mod rustcrypto;
mod secret;
mod security;
mod signature;
mod trust;

pub use algorithm::{Aead, Curve, Hash, KeyKind, Oaep, Signing};
pub use certificate::{Certificate, CertificateError, Names, PublicKey, chain, pem_or_der};
pub use derive::{KeySet, channel_keys, hkdf_keys, p_hash};
pub use draft::{Draft, revoke};
pub use exchange::chunk_security;
pub use identity::Identity;
pub use password::{hash_password, is_password_hash, verify_password};
pub use policy::{Exchange, Policy, Protection};
pub use pool::KeyPool;
pub use provider::{
    AeadKey, Agreement, CipherKey, CryptoError, MacKey, PrivateKey, Provider, SharedProvider,
};
pub use secret::{open_password, seal_password};
pub use security::{AcceptAny, PeerCheck, PolicySecurity};
pub use signature::{SessionSignatures, session_signature};
pub use trust::{Pki, PkiError, Place, Purpose, Rejection, RevocationList, Suppress, TrustList};
pub use zeroize::Zeroizing;

/// The provider of the features: aws-lc if it is there.
#[cfg(any(feature = "aws-lc", feature = "rustcrypto"))]
#[must_use]
pub fn default_provider() -> SharedProvider {
    #[cfg(feature = "aws-lc")]
    return aws_lc::provider();
    #[cfg(not(feature = "aws-lc"))]
    return rustcrypto::provider();
}
