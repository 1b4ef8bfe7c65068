//! X.509 certificates as peers send them (OPC 10000-6 §6.2).

use core::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use uaforge_codec::DateTime;
use x509_cert::der::asn1::{Any, BitString, ObjectIdentifier, Uint, UintRef};
use x509_cert::der::{Decode as _, Encode as _, Header, Reader as _, SliceReader, Tag, pem};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use x509_cert::time::Time;

use crate::{Hash, KeyKind, Provider, Signing};

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
/// Longest certificate that is read.
const MAX_CERTIFICATE: usize = 16 * 1024;
/// Most certificates of a chain that are read.
const MAX_CHAIN: usize = 10;

/// Why something is no certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// It is not DER of X.509.
    #[error("it is no certificate: {0}")]
    Encoding(String),
    /// Its key is of a kind that no policy uses.
    #[error("its public key is of an unknown kind")]
    KeyKind,
}

impl From<x509_cert::der::Error> for CertificateError {
    fn from(error: x509_cert::der::Error) -> Self {
        Self::Encoding(error.to_string())
    }
}

/// A public key.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    kind: KeyKind,
    /// What the SubjectPublicKeyInfo has as its key: PKCS#1 of RSA, a point, or 32 bytes.
    raw: Vec<u8>,
    info: Vec<u8>,
}

impl PublicKey {
    /// A key out of a SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// The kind is unknown.
    pub fn from_info(info: &SubjectPublicKeyInfoOwned) -> Result<Self, CertificateError> {
        let raw = info.subject_public_key.as_bytes().ok_or(CertificateError::KeyKind)?.to_vec();
        let parameter = || info.algorithm.parameters.as_ref()?.decode_as::<ObjectIdentifier>().ok();
        let kind = match info.algorithm.oid {
            RSA => KeyKind::Rsa(modulus_bits(&raw)?),
            EC if parameter() == Some(P256) => KeyKind::P256,
            EC if parameter() == Some(P384) => KeyKind::P384,
            ED25519 => KeyKind::Ed25519,
            _ => return Err(CertificateError::KeyKind),
        };
        Ok(Self { kind, raw, info: info.to_der()? })
    }

    /// An RSA key in PKCS#1.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn rsa(pkcs1: &[u8]) -> Result<Self, CertificateError> {
        Self::from_parts(RSA, Some(Any::null()), pkcs1)
    }

    /// A key of NIST P-256, as an uncompressed point.
    ///
    /// # Errors
    /// It is too long.
    pub fn p256(point: &[u8]) -> Result<Self, CertificateError> {
        Self::from_parts(EC, Some(Any::encode_from(&P256)?), point)
    }

    /// A key of NIST P-384, as an uncompressed point.
    ///
    /// # Errors
    /// It is too long.
    pub fn p384(point: &[u8]) -> Result<Self, CertificateError> {
        Self::from_parts(EC, Some(Any::encode_from(&P384)?), point)
    }

    /// A key of Ed25519.
    ///
    /// # Errors
    /// It is too long.
    pub fn ed25519(key: &[u8]) -> Result<Self, CertificateError> {
        Self::from_parts(ED25519, None, key)
    }

    fn from_parts(
        oid: ObjectIdentifier,
        parameters: Option<Any>,
        raw: &[u8],
    ) -> Result<Self, CertificateError> {
        let algorithm = AlgorithmIdentifierOwned { oid, parameters };
        Self::from_info(&SubjectPublicKeyInfoOwned {
            algorithm,
            subject_public_key: BitString::from_bytes(raw)?,
        })
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// PKCS#1 of RSA, an uncompressed point, or the 32 bytes of Ed25519.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The SubjectPublicKeyInfo, as DER.
    #[must_use]
    pub fn info(&self) -> &[u8] {
        &self.info
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

/// Bits of the modulus of an RSA key in PKCS#1.
fn modulus_bits(pkcs1: &[u8]) -> Result<u16, CertificateError> {
    let mut reader = SliceReader::new(pkcs1)?;
    let bits = reader.sequence(|reader| {
        let modulus = UintRef::decode(reader)?;
        let _exponent = UintRef::decode(reader)?;
        let first = modulus.as_bytes().first().copied().unwrap_or_default();
        let unused = usize::try_from(first.leading_zeros()).unwrap_or_default();
        Ok::<_, x509_cert::der::Error>((modulus.as_bytes().len() * 8).saturating_sub(unused))
    })?;
    u16::try_from(bits).map_err(|_| CertificateError::KeyKind)
}

/// A certificate.
#[derive(Clone)]
pub struct Certificate {
    der: Arc<[u8]>,
    parsed: Arc<x509_cert::Certificate>,
    key: PublicKey,
}

impl Certificate {
    /// Reads one certificate.
    ///
    /// # Errors
    /// See [`CertificateError`].
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        if der.len() > MAX_CERTIFICATE {
            return Err(CertificateError::Encoding("it is too long".into()));
        }
        let parsed = x509_cert::Certificate::from_der(der)?;
        let key = PublicKey::from_info(parsed.tbs_certificate().subject_public_key_info())?;
        Ok(Self { der: der.into(), parsed: Arc::new(parsed), key })
    }

    /// Its DER.
    #[must_use]
    pub fn der(&self) -> &Arc<[u8]> {
        &self.der
    }

    /// Its public key.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// What stands in it.
    pub(crate) fn parsed(&self) -> &x509_cert::Certificate {
        &self.parsed
    }

    /// Its owner, for people.
    #[must_use]
    pub fn subject(&self) -> String {
        self.parsed.tbs_certificate().subject().to_string()
    }

    /// Its issuer, for people.
    #[must_use]
    pub fn issuer(&self) -> String {
        self.parsed.tbs_certificate().issuer().to_string()
    }

    /// When it is valid: from, and to.
    #[must_use]
    pub fn validity(&self) -> (DateTime, DateTime) {
        let validity = self.parsed.tbs_certificate().validity();
        (date(validity.not_before), date(validity.not_after))
    }

    /// The names that it is for: application URI, host names, addresses (OPC 10000-6 §6.2.2).
    #[must_use]
    pub fn names(&self) -> Names {
        let found = self.parsed.tbs_certificate().get_extension::<SubjectAltName>().ok().flatten();
        let mut names = Names::default();
        for name in found.into_iter().flat_map(|(_, names)| names.0) {
            match name {
                GeneralName::UniformResourceIdentifier(uri) => names.uris.push(uri.as_str().into()),
                GeneralName::DnsName(host) => names.hosts.push(host.as_str().into()),
                GeneralName::IpAddress(address) => names.addresses.extend(ip_address(address.as_bytes())),
                _ => {}
            }
        }
        names
    }

    /// Whether the owner of `issuer` has signed it. Algorithms with SHA-1 are not taken.
    pub(crate) fn is_signed_by(&self, provider: &dyn Provider, issuer: &PublicKey) -> bool {
        let Some(signed) = signed_part(&self.der) else { return false };
        let signature = self.parsed.signature().as_bytes().unwrap_or_default();
        is_signed(provider, issuer, self.parsed.signature_algorithm(), signed, signature)
    }

    /// SHA-1 of it (OPC 10000-6 §6.2.2).
    #[must_use]
    pub fn thumbprint(&self, provider: &dyn Provider) -> Vec<u8> {
        provider.digest(Hash::Sha1, &self.der)
    }
}

/// The names that a certificate is for (OPC 10000-6 §6.2.2, subjectAltName).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// URIs; the first one is that of the application.
    pub uris: Vec<String>,
    /// Host names.
    pub hosts: Vec<String>,
    /// Addresses of hosts.
    pub addresses: Vec<IpAddr>,
}

impl Names {
    /// Whether a certificate with these names may be that of a host: a name in any case, or an address.
    #[must_use]
    pub fn has_host(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match host.parse::<IpAddr>() {
            // Certificates have addresses as names too.
            Ok(address) => self.addresses.contains(&address) || self.hosts.iter().any(|name| name == host),
            Err(_) => self.hosts.iter().any(|name| name.eq_ignore_ascii_case(host)),
        }
    }
}

fn ip_address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from);
    v4.or_else(|| <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from))
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({})", self.parsed.tbs_certificate().subject())
    }
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        self.der == other.der
    }
}

impl Eq for Certificate {}

/// Reads a certificate and the issuers behind it (OPC 10000-6 §6.2.3).
///
/// # Errors
/// There is none, one of them cannot be read, or there are more than ten.
pub fn chain(bytes: &[u8]) -> Result<Vec<Certificate>, CertificateError> {
    let mut reader = SliceReader::new(bytes)?;
    let mut certificates = Vec::new();
    while !reader.is_finished() {
        if certificates.len() >= MAX_CHAIN {
            return Err(CertificateError::Encoding("the chain is too long".into()));
        }
        certificates.push(Certificate::from_der(reader.tlv_bytes()?)?);
    }
    if certificates.is_empty() {
        return Err(CertificateError::Encoding("it is empty".into()));
    }
    Ok(certificates)
}

/// Seconds from 1601 to 1970.
pub(crate) const EPOCH: u64 = 11_644_473_600;

/// A time of X.509.
pub(crate) fn date(time: Time) -> DateTime {
    let seconds = time.to_unix_duration().as_secs().saturating_add(EPOCH);
    DateTime(i64::try_from(seconds.saturating_mul(10_000_000)).unwrap_or(i64::MAX))
}

/// The bytes of the first certificate of several.
pub(crate) fn first(bytes: &[u8]) -> Option<&[u8]> {
    SliceReader::new(bytes).ok()?.tlv_bytes().ok()
}

/// The DER of a file, which may be PEM too; of several blocks of PEM, such as a chain, all of them joined.
///
/// # Errors
/// It begins as PEM and is none.
pub fn pem_or_der(file: &[u8]) -> Result<Vec<u8>, CertificateError> {
    const BEGIN: &[u8] = b"-----BEGIN";
    let starts = file.windows(BEGIN.len()).enumerate().filter(|(_, window)| *window == BEGIN);
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    if starts.is_empty() {
        return Ok(file.to_vec());
    }
    let ends = starts.iter().skip(1).copied().chain([file.len()]);
    let mut der = Vec::new();
    for (start, end) in starts.iter().zip(ends) {
        let (_, block) = pem::decode_vec(file.get(*start..end).unwrap_or_default())
            .map_err(|error| CertificateError::Encoding(error.to_string()))?;
        der.extend(block);
    }
    Ok(der)
}

/// How the signature of a certificate is named and written (RFC 5280 §4.1.1.2).
#[derive(Clone, Copy)]
pub(crate) struct SignatureAlgorithm {
    oid: ObjectIdentifier,
    /// RSA has a null where others have nothing.
    has_null: bool,
    pub(crate) signing: Signing,
}

const SIGNATURES: [SignatureAlgorithm; 6] = [
    SignatureAlgorithm::new("1.2.840.113549.1.1.11", true, Signing::RsaPkcs1Sha256),
    SignatureAlgorithm::new("1.2.840.113549.1.1.12", true, Signing::RsaPkcs1Sha384),
    SignatureAlgorithm::new("1.2.840.113549.1.1.13", true, Signing::RsaPkcs1Sha512),
    SignatureAlgorithm::new("1.2.840.10045.4.3.2", false, Signing::EcdsaP256),
    SignatureAlgorithm::new("1.2.840.10045.4.3.3", false, Signing::EcdsaP384),
    SignatureAlgorithm::new("1.3.101.112", false, Signing::Ed25519),
];

impl SignatureAlgorithm {
    const fn new(oid: &str, has_null: bool, signing: Signing) -> Self {
        Self { oid: ObjectIdentifier::new_unwrap(oid), has_null, signing }
    }

    /// The algorithm of a way to sign; those of certificates are all there.
    pub(crate) fn of(signing: Signing) -> Self {
        let found = SIGNATURES.iter().find(|algorithm| algorithm.signing == signing);
        found.copied().unwrap_or(SIGNATURES[0])
    }

    /// The algorithm that a certificate names; none if it is one that is not taken, such as those with SHA-1.
    pub(crate) fn named(identifier: &AlgorithmIdentifierOwned) -> Option<Self> {
        SIGNATURES.iter().find(|algorithm| algorithm.oid == identifier.oid).copied()
    }

    pub(crate) fn identifier(self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned { oid: self.oid, parameters: self.has_null.then(Any::null) }
    }
}

/// A signature as certificates have it: ECDSA as a sequence of two numbers (RFC 3279 §2.2.3).
pub(crate) fn encode_signature(signing: Signing, signature: &[u8]) -> Result<Vec<u8>, x509_cert::der::Error> {
    match signing {
        Signing::EcdsaP256 | Signing::EcdsaP384 => {
            let (r, s) = signature.split_at(signature.len() / 2);
            vec![Uint::new(r)?, Uint::new(s)?].to_der()
        }
        _ => Ok(signature.to_vec()),
    }
}

/// The inverse of [`encode_signature`].
pub(crate) fn decode_signature(signing: Signing, signature: &[u8]) -> Option<Vec<u8>> {
    let half = match signing {
        Signing::EcdsaP256 => 32,
        Signing::EcdsaP384 => 48,
        _ => return Some(signature.to_vec()),
    };
    let numbers = Vec::<Uint>::from_der(signature).ok().filter(|numbers| numbers.len() == 2)?;
    let mut fixed = vec![0; half * 2];
    for (number, slot) in numbers.iter().zip(fixed.chunks_mut(half)) {
        let bytes = number.as_bytes();
        slot.get_mut(half.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
    }
    Some(fixed)
}

/// The bytes of a certificate or revocation list that its signature is over, as they came.
pub(crate) fn signed_part(der: &[u8]) -> Option<&[u8]> {
    let mut reader = SliceReader::new(der).ok()?;
    let header = Header::decode(&mut reader).ok()?;
    (header.tag() == Tag::Sequence).then(|| reader.tlv_bytes().ok()).flatten()
}

/// Whether a signature that names its algorithm is right.
pub(crate) fn is_signed(
    provider: &dyn Provider,
    issuer: &PublicKey,
    algorithm: &AlgorithmIdentifierOwned,
    signed: &[u8],
    signature: &[u8],
) -> bool {
    let Some(algorithm) = SignatureAlgorithm::named(algorithm) else { return false };
    let signature = decode_signature(algorithm.signing, signature);
    signature.is_some_and(|signature| provider.verify(algorithm.signing, issuer, signed, &signature))
}

/// One block of PEM.
pub(crate) fn to_pem(label: &str, der: &[u8]) -> Result<String, CertificateError> {
    pem::encode_string(label, pem::LineEnding::LF, der)
        .map_err(|error| CertificateError::Encoding(error.to_string()))
}
