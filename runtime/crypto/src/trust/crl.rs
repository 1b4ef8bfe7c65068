//! Revocation lists (RFC 5280 §5).

use core::fmt;
use std::sync::Arc;

use uaforge_codec::DateTime;
use x509_cert::crl::CertificateList;
use x509_cert::der::Decode as _;

use crate::certificate::{date, is_signed, signed_part};
use crate::{Certificate, CertificateError, Provider};

/// A list of the certificates that an issuer has revoked.
#[derive(Clone)]
pub struct RevocationList {
    der: Arc<[u8]>,
    parsed: Arc<CertificateList>,
}

impl RevocationList {
    /// Reads one list.
    ///
    /// # Errors
    /// It is no revocation list.
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        Ok(Self { der: der.into(), parsed: Arc::new(CertificateList::from_der(der)?) })
    }

    /// Whether it is one of `issuer`, with its signature.
    pub(super) fn is_of(&self, provider: &dyn Provider, issuer: &Certificate) -> bool {
        let list = &self.parsed;
        list.tbs_cert_list.issuer == *issuer.parsed().tbs_certificate().subject()
            && signed_part(&self.der).is_some_and(|signed| {
                let signature = list.signature.as_bytes().unwrap_or_default();
                is_signed(provider, issuer.key(), &list.signature_algorithm, signed, signature)
            })
    }

    /// Whether it holds at a time.
    pub(super) fn is_current(&self, now: DateTime) -> bool {
        let list = &self.parsed.tbs_cert_list;
        date(list.this_update) <= now && list.next_update.is_none_or(|next| now <= date(next))
    }

    /// Whether a certificate is on it.
    pub(super) fn has(&self, certificate: &Certificate) -> bool {
        let serial = certificate.parsed().tbs_certificate().serial_number();
        let revoked = self.parsed.tbs_cert_list.revoked_certificates.iter().flatten();
        revoked.into_iter().any(|entry| entry.serial_number == *serial)
    }
}

impl fmt::Debug for RevocationList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RevocationList({})", self.parsed.tbs_cert_list.issuer)
    }
}
