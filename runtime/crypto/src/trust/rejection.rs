//! Why a certificate is refused.

use core::fmt;

use uaforge_channel::ChannelError;
use uaforge_codec::StatusCode;
use uaforge_types::status;

/// The step that a certificate fails at (OPC 10000-4 §6.1.3, Table 100).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rejection {
    /// It cannot be read, or says things twice.
    Structure,
    /// An issuer is missing.
    ChainIncomplete,
    /// A signature in the chain is wrong.
    Signature,
    /// A key is too short, or a hash function too weak.
    Policy,
    /// Nothing in the chain is trusted.
    Untrusted,
    /// It is not valid yet, or no more.
    Time,
    /// That of an issuer is not valid yet, or no more.
    IssuerTime,
    /// It is for another application.
    Uri,
    /// It must not be used for this.
    Use,
    /// An issuer must not issue.
    IssuerUse,
    /// There is no list that says whether it was revoked.
    RevocationUnknown,
    /// There is no list that says whether an issuer was revoked.
    IssuerRevocationUnknown,
    /// It was revoked.
    Revoked,
    /// An issuer was revoked.
    IssuerRevoked,
}

impl Rejection {
    /// The status of the step.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::Structure | Self::Signature => status::BAD_CERTIFICATE_INVALID,
            Self::ChainIncomplete => status::BAD_CERTIFICATE_CHAIN_INCOMPLETE,
            Self::Policy => status::BAD_CERTIFICATE_POLICY_CHECK_FAILED,
            Self::Untrusted => status::BAD_CERTIFICATE_UNTRUSTED,
            Self::Time => status::BAD_CERTIFICATE_TIME_INVALID,
            Self::IssuerTime => status::BAD_CERTIFICATE_ISSUER_TIME_INVALID,
            Self::Uri => status::BAD_CERTIFICATE_URI_INVALID,
            Self::Use => status::BAD_CERTIFICATE_USE_NOT_ALLOWED,
            Self::IssuerUse => status::BAD_CERTIFICATE_ISSUER_USE_NOT_ALLOWED,
            Self::RevocationUnknown => status::BAD_CERTIFICATE_REVOCATION_UNKNOWN,
            Self::IssuerRevocationUnknown => status::BAD_CERTIFICATE_ISSUER_REVOCATION_UNKNOWN,
            Self::Revoked => status::BAD_CERTIFICATE_REVOKED,
            Self::IssuerRevoked => status::BAD_CERTIFICATE_ISSUER_REVOKED,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Structure | Self::Signature => "ask its owner for a proper certificate",
            Self::ChainIncomplete => {
                "put the certificate of its issuer into issuer/certs, or into trusted/certs"
            }
            Self::Policy => "ask its owner for one with at least RSA 2048 and SHA-256",
            Self::Untrusted => "trust it with `uaforge cert trust`, or its issuer",
            Self::Time => "ask its owner for a new one, and look at the clocks of both",
            Self::IssuerTime => "ask its issuer for a new one, and look at the clock",
            Self::Uri => "make one with the URI of the application",
            Self::Use => "ask its owner for one that may sign data and encipher keys",
            Self::IssuerUse => "its issuer is no authority: use one that is",
            Self::RevocationUnknown | Self::IssuerRevocationUnknown => {
                "put a current revocation list of the issuer into issuer/crl or trusted/crl"
            }
            Self::Revoked | Self::IssuerRevoked => "ask the issuer for a new certificate",
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Structure => "it is malformed",
            Self::ChainIncomplete => "an issuer is missing",
            Self::Signature => "a signature is wrong",
            Self::Policy => "its key or hash function is too weak",
            Self::Untrusted => "it is not trusted",
            Self::Time => "it is not valid now",
            Self::IssuerTime => "its issuer's is not valid now",
            Self::Uri => "it is for another application",
            Self::Use => "it must not be used for this",
            Self::IssuerUse => "its issuer must not issue",
            Self::RevocationUnknown => "nothing says whether it was revoked",
            Self::IssuerRevocationUnknown => "nothing says whether its issuer was revoked",
            Self::Revoked => "it was revoked",
            Self::IssuerRevoked => "its issuer was revoked",
        })
    }
}

impl From<Rejection> for ChannelError {
    fn from(rejection: Rejection) -> Self {
        let reason = format!("the certificate is refused: {rejection}; {}", rejection.advice());
        Self { status: rejection.status(), reason: reason.into() }
    }
}
