//! What a certificate says of its time and of what it may be used for.

use uaforge_codec::DateTime;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages};

use super::Purpose;
use crate::Certificate;

const SERVER_AUTH: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.1");
const CLIENT_AUTH: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.2");
const ANY: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.37.0");
/// Whether a certificate is valid at a time.
pub(super) fn is_valid(certificate: &Certificate, now: DateTime) -> bool {
    let (from, to) = certificate.validity();
    from <= now && now <= to
}

/// Whether the certificate of an application may be used for `purpose` (OPC 10000-6 §6.2.2, keyUsage and
/// extendedKeyUsage); `None` if an extension cannot be read.
pub(super) fn may_be_used(certificate: &Certificate, purpose: Purpose) -> Option<bool> {
    let fields = certificate.parsed().tbs_certificate();
    let usage = fields.get_extension::<KeyUsage>().ok()?.map(|(_, usage)| usage.0);
    let needed = match (purpose, certificate.key().kind().is_rsa()) {
        (Purpose::User, _) | (_, false) => KeyUsages::DigitalSignature.into(),
        (_, true) => KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment | KeyUsages::DataEncipherment,
    };
    let by_usage = usage.is_none_or(|usage| usage.contains(needed));
    let purposes = fields.get_extension::<ExtendedKeyUsage>().ok()?.map(|(_, purposes)| purposes.0);
    let wanted = match purpose {
        Purpose::Client => CLIENT_AUTH,
        Purpose::Server => SERVER_AUTH,
        Purpose::User => return Some(by_usage),
    };
    let by_purpose = purposes.is_none_or(|purposes| purposes.contains(&wanted) || purposes.contains(&ANY));
    Some(by_usage && by_purpose)
}

/// Whether a certificate is that of an authority with so many others below it (RFC 5280 §4.2.1.9); `None` if an
/// extension cannot be read.
pub(super) fn may_issue(certificate: &Certificate, below: usize) -> Option<bool> {
    let fields = certificate.parsed().tbs_certificate();
    let usage = fields.get_extension::<KeyUsage>().ok()?.map(|(_, usage)| usage.0);
    let constraints = fields.get_extension::<BasicConstraints>().ok()?.map(|(_, constraints)| constraints);
    let signs = usage.is_none_or(|usage| usage.contains(KeyUsages::KeyCertSign));
    let is_authority = constraints.is_some_and(|constraints| {
        constraints.ca && constraints.path_len_constraint.is_none_or(|most| below <= usize::from(most))
    });
    Some(signs && is_authority)
}
