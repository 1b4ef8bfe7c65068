//! Certificates and keys of the vectors, and the providers that tests run with.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use uaforge_crypto::{AcceptAny, Certificate, Identity, Policy, PolicySecurity, SharedProvider, pem_or_der};

/// Both providers.
#[must_use]
pub fn providers() -> [SharedProvider; 2] {
    [uaforge_crypto::aws_lc::provider(), uaforge_crypto::rustcrypto::provider()]
}

fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

/// A vector file.
///
/// # Panics
/// It is not there or no JSON.
#[must_use]
pub fn vector_file(name: &str) -> Value {
    let text = std::fs::read(vectors().join(name)).expect("a file of vectors");
    serde_json::from_slice(&text).expect("JSON")
}

/// A file of `vectors/pki`, whatever folder stands before its name.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn pki_file(name: &str) -> Vec<u8> {
    let name = name.rsplit('/').next().unwrap_or(name);
    std::fs::read(vectors().join("pki").join(name)).expect("a file of the PKI")
}

/// PKCS#8 of a key in `vectors/pki`.
///
/// # Panics
/// It is not there or no PEM.
#[must_use]
pub fn pkcs8(name: &str) -> Vec<u8> {
    pem_or_der(&pki_file(name)).expect("PEM")
}

/// The identity with this name, such as `server-rsa2048`.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn identity(provider: &SharedProvider, name: &str) -> Identity {
    let certificate = pki_file(&format!("{name}.cert.der"));
    Identity::from_der(provider, &certificate, &pkcs8(&format!("{name}.key.pem"))).expect("an identity")
}

/// A certificate of `vectors/pki`.
///
/// # Panics
/// It is not there.
#[must_use]
pub fn certificate(name: &str) -> Certificate {
    Certificate::from_der(&pki_file(name)).expect("a certificate")
}

/// A server's security with the identity of this name, which trusts everybody.
///
/// # Panics
/// The policy does not allow the key.
#[must_use]
pub fn server_security(policy: &'static Policy, provider: &SharedProvider, name: &str) -> PolicySecurity {
    let own = identity(provider, name);
    PolicySecurity::server(policy, provider.clone(), own, Arc::new(AcceptAny)).expect("a policy")
}

/// A client's security with the identity of this name, for a server with that certificate.
///
/// # Panics
/// The policy does not allow one of the keys.
#[must_use]
pub fn client_security(
    policy: &'static Policy,
    provider: &SharedProvider,
    name: &str,
    server: &[u8],
) -> PolicySecurity {
    let own = identity(provider, name);
    PolicySecurity::client(policy, provider.clone(), own, server, Arc::new(AcceptAny)).expect("a policy")
}
