//! An application's certificate with its private key.

use std::sync::Arc;

use crate::{Certificate, CertificateError, KeyPool, PrivateKey, Provider, SharedProvider, chain};

/// What an application proves who it is with (OPC 10000-4 §6.1).
#[derive(Clone, Debug)]
pub struct Identity {
    certificate: Certificate,
    /// The certificate and its issuers, as they are sent.
    chain: Arc<[u8]>,
    thumbprint: Arc<[u8]>,
    key: Arc<dyn PrivateKey>,
}

impl Identity {
    /// An identity of a certificate, with its issuers behind it if it has any, and its key.
    ///
    /// # Errors
    /// It is no certificate, or the key is not the one in it.
    pub fn new(
        provider: &dyn Provider,
        certificates: &[u8],
        key: Arc<dyn PrivateKey>,
    ) -> Result<Self, CertificateError> {
        let certificate = chain(certificates)?.swap_remove(0);
        if certificate.key().raw() != key.public().raw() {
            return Err(CertificateError::Encoding("the private key belongs to another certificate".into()));
        }
        let thumbprint = certificate.thumbprint(provider).into();
        Ok(Self { certificate, chain: certificates.into(), thumbprint, key })
    }

    /// An identity of a certificate and a PKCS#8 key in this process.
    ///
    /// # Errors
    /// One of them cannot be read, or they do not belong together.
    pub fn from_der(
        provider: &SharedProvider,
        certificates: &[u8],
        pkcs8: &[u8],
    ) -> Result<Self, CertificateError> {
        let key = provider.private_key(pkcs8).map_err(|_| CertificateError::KeyKind)?;
        Self::new(&**provider, certificates, key)
    }

    /// The same identity, whose key is at work in a pool if it is one of RSA.
    #[must_use]
    pub fn on(self, pool: &KeyPool) -> Self {
        Self { key: pool.hold(self.key), ..self }
    }

    /// The certificate.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The certificate and its issuers, as they are sent.
    #[must_use]
    pub fn chain(&self) -> &Arc<[u8]> {
        &self.chain
    }

    /// SHA-1 of the certificate.
    #[must_use]
    pub fn thumbprint(&self) -> &Arc<[u8]> {
        &self.thumbprint
    }

    /// The private key.
    #[must_use]
    pub fn key(&self) -> &Arc<dyn PrivateKey> {
        &self.key
    }
}
