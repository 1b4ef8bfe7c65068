//! Making certificates: an application's own, and those of a small authority (OPC 10000-6 §6.2.2).

use core::str::FromStr as _;
use core::time::Duration;
use std::net::IpAddr;
use std::sync::Arc;

use uaforge_channel::Operation;
use uaforge_codec::{DateTime, Entropy};
use x509_cert::Version;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{Builder as _, CertificateBuilder};
use x509_cert::crl::{CertificateList, RevokedCert, TbsCertList};
use x509_cert::der::asn1::{BitString, GeneralizedTime, Ia5String, ObjectIdentifier, OctetString, UtcTime};
use x509_cert::der::{Decode as _, Encode as _};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages, SubjectAltName,
    SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, ToExtension as _};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{
    AlgorithmIdentifierOwned, Document, DynSignatureAlgorithmIdentifier, EncodePublicKey,
    SubjectPublicKeyInfoOwned, SubjectPublicKeyInfoRef,
};
use x509_cert::time::{Time, Validity};

use crate::certificate::{EPOCH, SignatureAlgorithm, encode_signature};
use crate::{
    Certificate, CertificateError, Hash, Identity, KeyKind, PrivateKey, PublicKey, SharedProvider, Signing,
    Zeroizing,
};

const SERVER_AUTH: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.1");
const CLIENT_AUTH: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.2");
const SERIAL: usize = 16;
const DAY: u64 = 24 * 3600;

/// What a certificate is to say.
#[derive(Clone, Debug)]
pub struct Draft {
    name: String,
    names: Vec<GeneralName>,
    is_authority: bool,
    valid: (Duration, Duration),
    usage: Option<KeyUsage>,
    /// The signer; `None` is its own key.
    issuer: Option<Identity>,
}

impl Draft {
    /// A certificate of an application: its URI, and a name for people (OPC 10000-6 §6.2.2). It is valid from a day
    /// ago on, for five years.
    ///
    /// # Errors
    /// The URI has characters other than ASCII.
    pub fn application(uri: &str, name: &str, now: DateTime) -> Result<Self, CertificateError> {
        let uri = GeneralName::UniformResourceIdentifier(Ia5String::new(uri)?);
        Ok(Self { names: vec![uri], is_authority: false, ..Self::authority(name, now) })
    }

    /// A certificate of an authority that issues others.
    #[must_use]
    pub fn authority(name: &str, now: DateTime) -> Self {
        let now = unix(now);
        let day = Duration::from_secs(DAY);
        Self {
            name: name.into(),
            names: Vec::new(),
            is_authority: true,
            valid: (now.saturating_sub(day), now + day * 365 * 5),
            usage: None,
            issuer: None,
        }
    }

    /// Adds a host name.
    ///
    /// # Errors
    /// It has characters other than ASCII.
    pub fn host(mut self, host: &str) -> Result<Self, CertificateError> {
        self.names.push(GeneralName::DnsName(Ia5String::new(host)?));
        Ok(self)
    }

    /// Adds an address of the host.
    ///
    /// # Errors
    /// None that an address has.
    pub fn address(mut self, address: IpAddr) -> Result<Self, CertificateError> {
        let bytes = match address {
            IpAddr::V4(address) => OctetString::new(address.octets())?,
            IpAddr::V6(address) => OctetString::new(address.octets())?,
        };
        self.names.push(GeneralName::IpAddress(bytes));
        Ok(self)
    }

    /// Sets when the certificate is valid.
    #[must_use]
    pub fn valid(mut self, from: DateTime, to: DateTime) -> Self {
        self.valid = (unix(from), unix(to));
        self
    }

    /// Lets the key sign data and nothing else.
    #[must_use]
    pub fn only_signing(mut self) -> Self {
        self.usage = Some(KeyUsage(KeyUsages::DigitalSignature.into()));
        self
    }

    /// Has the certificate signed by an authority, whose certificate is put behind it.
    #[must_use]
    pub fn issued_by(mut self, issuer: &Identity) -> Self {
        self.issuer = Some(issuer.clone());
        self
    }

    /// Makes a key and its certificate; gives them, and the key as PKCS#8.
    ///
    /// # Errors
    /// The kind of key is not one that keys are made of, or a key that signs is not in this process.
    pub fn make(
        &self,
        provider: &SharedProvider,
        kind: KeyKind,
        entropy: &mut dyn Entropy,
    ) -> Result<(Identity, Zeroizing<Vec<u8>>), CertificateError> {
        let pkcs8 = provider.generate(kind).map_err(|_| CertificateError::KeyKind)?;
        Ok((self.make_for(provider, &pkcs8, entropy)?, pkcs8))
    }

    /// Makes a certificate for a key that there is.
    ///
    /// # Errors
    /// See [`Draft::make`].
    pub fn make_for(
        &self,
        provider: &SharedProvider,
        pkcs8: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Identity, CertificateError> {
        let key = provider.private_key(pkcs8).map_err(|_| CertificateError::KeyKind)?;
        let signer =
            Signer(self.issuer.as_ref().map_or_else(|| Arc::clone(&key), |own| Arc::clone(own.key())));
        let info = SubjectPublicKeyInfoOwned::from_der(key.public().info())?;
        let mut serial = [0; SERIAL];
        entropy.fill(&mut serial);
        serial[0] &= 0x7f;
        let validity = Validity::new(time(self.valid.0)?, time(self.valid.1)?);
        let profile =
            Profile { draft: self, provider, subject: distinguished(&self.name)?, key: key.public() };
        let failed = |error: x509_cert::builder::Error| CertificateError::Encoding(error.to_string());
        let mut builder =
            CertificateBuilder::new(profile, SerialNumber::new(&serial)?, validity, info).map_err(failed)?;
        let data = builder.finalize(&signer).map_err(failed)?;
        let signature = BitString::from_bytes(&signer.sign(data)?)?;
        let made = builder.assemble(signature, &signer).map_err(failed)?.to_der()?;
        let issuers = self.issuer.as_ref().map(|issuer| issuer.chain().to_vec()).unwrap_or_default();
        Identity::new(&**provider, &[made, issuers].concat(), key)
    }
}

/// What a certificate of ours has beside its key.
struct Profile<'d> {
    draft: &'d Draft,
    provider: &'d SharedProvider,
    subject: Name,
    key: &'d PublicKey,
}

impl Profile<'_> {
    fn key_id(&self, key: &PublicKey) -> Result<OctetString, x509_cert::der::Error> {
        OctetString::new(self.provider.digest(Hash::Sha1, key.raw()))
    }

    fn usage(&self) -> KeyUsage {
        let both = KeyUsages::DigitalSignature | KeyUsages::NonRepudiation;
        let exchange = if self.key.kind().is_rsa() {
            KeyUsages::KeyEncipherment | KeyUsages::DataEncipherment
        } else {
            KeyUsages::KeyAgreement.into()
        };
        KeyUsage(match (self.draft.is_authority, &self.draft.issuer) {
            (true, _) => both | KeyUsages::KeyCertSign | KeyUsages::CRLSign,
            // Strict peers want to see that a self-signed certificate may sign certificates: itself.
            (false, None) => both | exchange | KeyUsages::KeyCertSign,
            (false, Some(_)) => both | exchange,
        })
    }
}

impl BuilderProfile for Profile<'_> {
    fn get_issuer(&self, subject: &Name) -> Name {
        let issuer = self.draft.issuer.as_ref();
        issuer.map_or_else(
            || subject.clone(),
            |issuer| issuer.certificate().parsed().tbs_certificate().subject().clone(),
        )
    }

    fn get_subject(&self) -> Name {
        self.subject.clone()
    }

    fn build_extensions(
        &self,
        _key: SubjectPublicKeyInfoRef<'_>,
        _issuer: SubjectPublicKeyInfoRef<'_>,
        tbs: &x509_cert::TbsCertificate,
    ) -> x509_cert::builder::Result<Vec<Extension>> {
        let issuer = self.draft.issuer.as_ref().map_or(self.key, |issuer| issuer.certificate().key());
        let constraints = BasicConstraints { ca: self.draft.is_authority, path_len_constraint: None };
        let usage = self.draft.usage.unwrap_or_else(|| self.usage());
        let issuer =
            AuthorityKeyIdentifier { key_identifier: Some(self.key_id(issuer)?), ..Default::default() };
        let subject = tbs.subject();
        let mut extensions = vec![
            SubjectKeyIdentifier(self.key_id(self.key)?).to_extension(subject, &[])?,
            issuer.to_extension(subject, &[])?,
            constraints.to_extension(subject, &[])?,
            usage.to_extension(subject, &[])?,
        ];
        if !self.draft.is_authority {
            let purposes = ExtendedKeyUsage(vec![SERVER_AUTH, CLIENT_AUTH]);
            extensions.push(purposes.to_extension(subject, &[])?);
            extensions.push(SubjectAltName(self.draft.names.clone()).to_extension(subject, &[])?);
        }
        Ok(extensions)
    }
}

/// A revocation list of an authority, as DER (RFC 5280 §5.1): the certificates that it has revoked at `from`, and when
/// the next list will be there.
///
/// # Errors
/// The authority's key is not in this process.
pub fn revoke(
    issuer: &Identity,
    revoked: &[&Certificate],
    from: DateTime,
    next: DateTime,
) -> Result<Vec<u8>, CertificateError> {
    let signer = Signer(Arc::clone(issuer.key()));
    let algorithm = SignatureAlgorithm::of(signing_of(issuer.key().public().kind())).identifier();
    let this_update = time(unix(from))?;
    let entry = |certificate: &&Certificate| RevokedCert {
        serial_number: certificate.parsed().tbs_certificate().serial_number().clone(),
        revocation_date: this_update,
        crl_entry_extensions: None,
    };
    let tbs_cert_list = TbsCertList {
        version: Version::V2,
        signature: algorithm.clone(),
        issuer: issuer.certificate().parsed().tbs_certificate().subject().clone(),
        this_update,
        next_update: Some(time(unix(next))?),
        revoked_certificates: (!revoked.is_empty()).then(|| revoked.iter().map(entry).collect()),
        crl_extensions: None,
    };
    let signature = BitString::from_bytes(&signer.sign(tbs_cert_list.to_der()?)?)?;
    Ok(CertificateList { tbs_cert_list, signature_algorithm: algorithm, signature }.to_der()?)
}

/// The key that signs a certificate.
struct Signer(Arc<dyn PrivateKey>);

impl Signer {
    fn sign(&self, data: Vec<u8>) -> Result<Vec<u8>, CertificateError> {
        let signing = signing_of(self.0.public().kind());
        match self.0.sign(signing, data) {
            Operation::Ready(Ok(signature)) => Ok(encode_signature(signing, &signature)?),
            Operation::Ready(Err(_)) | Operation::Pending(_) => Err(CertificateError::KeyKind),
        }
    }
}

/// How a key signs certificates.
fn signing_of(kind: KeyKind) -> Signing {
    match kind {
        KeyKind::Rsa(_) => Signing::RsaPkcs1Sha256,
        KeyKind::P256 => Signing::EcdsaP256,
        KeyKind::P384 => Signing::EcdsaP384,
        KeyKind::Ed25519 => Signing::Ed25519,
    }
}

impl signature::Keypair for Signer {
    type VerifyingKey = SignerKey;

    fn verifying_key(&self) -> SignerKey {
        SignerKey(self.0.public().info().to_vec())
    }
}

impl DynSignatureAlgorithmIdentifier for Signer {
    fn signature_algorithm_identifier(&self) -> x509_cert::spki::Result<AlgorithmIdentifierOwned> {
        Ok(SignatureAlgorithm::of(signing_of(self.0.public().kind())).identifier())
    }
}

/// The SubjectPublicKeyInfo of a key.
#[derive(Clone)]
struct SignerKey(Vec<u8>);

impl EncodePublicKey for SignerKey {
    fn to_public_key_der(&self) -> x509_cert::spki::Result<Document> {
        Ok(Document::try_from(self.0.as_slice())?)
    }
}

/// A name for people as a common name; what would have a meaning in one is escaped.
fn distinguished(name: &str) -> Result<Name, CertificateError> {
    let escaped: String = name
        .chars()
        .filter(|character| !character.is_control())
        .flat_map(|character| {
            let special = ",+\"\\<>;=#".contains(character);
            special.then_some('\\').into_iter().chain([character])
        })
        .collect();
    Ok(Name::from_str(&format!("CN={}", escaped.trim()))?)
}

/// Time since 1970.
fn unix(time: DateTime) -> Duration {
    let ticks = u64::try_from(time.0).unwrap_or_default();
    Duration::from_nanos((ticks % 10_000_000) * 100)
        + Duration::from_secs((ticks / 10_000_000).saturating_sub(EPOCH))
}

/// Up to 2049 certificates have two digits for the year (RFC 5280 §4.1.2.5).
fn time(since_1970: Duration) -> Result<Time, CertificateError> {
    let whole = Duration::from_secs(since_1970.as_secs());
    Ok(match UtcTime::from_unix_duration(whole) {
        Ok(time) => Time::UtcTime(time),
        Err(_) => Time::GeneralTime(GeneralizedTime::from_unix_duration(whole)?),
    })
}
