//! What is trusted, and the steps that decide about a certificate.

use uaforge_codec::DateTime;

use super::usage::{is_valid, may_be_used, may_issue};
use super::{Rejection, RevocationList};
use crate::certificate::SignatureAlgorithm;
use crate::{Certificate, KeyKind, Provider};

/// Longest chain, the application's certificate included.
const MAX_DEPTH: usize = 10;

/// Whose certificate it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A client's, seen by a server.
    Client,
    /// A server's, seen by a client.
    Server,
    /// A user's.
    User,
}

/// Errors that are let pass (OPC 10000-4 §6.1.3, "may be suppressed"); all others are fatal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suppress {
    /// Certificates that are not valid yet or no more.
    pub time: bool,
    /// Certificates that must not be used for this.
    pub usage: bool,
    /// Revocation lists that are missing or too old.
    pub revocation_unknown: bool,
}

/// Trusted certificates, issuers, and what was revoked (OPC 10000-12 §7.8.2.1 TrustList).
#[derive(Clone, Debug, Default)]
pub struct TrustList {
    /// Applications and authorities that are trusted.
    pub trusted: Vec<Certificate>,
    /// Authorities that only complete chains.
    pub issuers: Vec<Certificate>,
    /// Revocation lists of either.
    pub revoked: Vec<RevocationList>,
    /// Errors that are let pass.
    pub suppress: Suppress,
}

impl TrustList {
    /// Decides about a certificate whose issuers, as far as they were sent, stand behind it. The steps are those
    /// of OPC 10000-4 §6.1.3, in order; host names and URIs are up to whoever knows them.
    ///
    /// # Errors
    /// The step that failed.
    pub fn validate(
        &self,
        provider: &dyn Provider,
        sent: &[Certificate],
        purpose: Purpose,
        now: DateTime,
    ) -> Result<(), Rejection> {
        let leaf = sent.first().ok_or(Rejection::Structure)?;
        let chain = self.chain(provider, leaf, sent)?;
        if !chain.iter().any(|certificate| self.trusted.contains(certificate)) {
            return Err(Rejection::Untrusted);
        }
        self.check_time(&chain, now)?;
        self.check_usage(&chain, purpose)?;
        self.check_revocation(provider, &chain, now)
    }

    /// The certificate and its issuers up to one that has signed itself.
    fn chain<'c>(
        &'c self,
        provider: &dyn Provider,
        leaf: &'c Certificate,
        sent: &'c [Certificate],
    ) -> Result<Vec<&'c Certificate>, Rejection> {
        let mut chain = vec![leaf];
        loop {
            let last = *chain.last().ok_or(Rejection::Structure)?;
            let fields = last.parsed().tbs_certificate();
            // Nothing is verified with what is too weak to mean anything.
            if is_weak(last) {
                return Err(Rejection::Policy);
            }
            if fields.issuer() == fields.subject() && last.is_signed_by(provider, last.key()) {
                return Ok(chain);
            }
            let known = sent.iter().skip(1).chain(&self.trusted).chain(&self.issuers);
            let mut named = known.filter(|issuer| {
                issuer.parsed().tbs_certificate().subject() == fields.issuer() && !chain.contains(issuer)
            });
            let mut any = false;
            let signer = named.find(|issuer| {
                any = true;
                last.is_signed_by(provider, issuer.key())
            });
            match signer {
                Some(signer) if chain.len() < MAX_DEPTH => chain.push(signer),
                Some(_) => return Err(Rejection::ChainIncomplete),
                // It names itself, or somebody who has not signed it.
                None if any || fields.issuer() == fields.subject() => return Err(Rejection::Signature),
                None => return Err(Rejection::ChainIncomplete),
            }
        }
    }

    fn check_time(&self, chain: &[&Certificate], now: DateTime) -> Result<(), Rejection> {
        let expired = chain.iter().position(|certificate| !is_valid(certificate, now));
        match expired.filter(|_| !self.suppress.time) {
            None => Ok(()),
            Some(0) => Err(Rejection::Time),
            Some(_) => Err(Rejection::IssuerTime),
        }
    }

    fn check_usage(&self, chain: &[&Certificate], purpose: Purpose) -> Result<(), Rejection> {
        for (at, certificate) in chain.iter().enumerate() {
            let (allowed, rejection) = match at {
                0 => (may_be_used(certificate, purpose), Rejection::Use),
                _ => (may_issue(certificate, at - 1), Rejection::IssuerUse),
            };
            if !allowed.ok_or(Rejection::Structure)? && !self.suppress.usage {
                return Err(rejection);
            }
        }
        Ok(())
    }

    fn check_revocation(
        &self,
        provider: &dyn Provider,
        chain: &[&Certificate],
        now: DateTime,
    ) -> Result<(), Rejection> {
        for (at, pair) in chain.windows(2).enumerate() {
            let [certificate, issuer] = pair else { continue };
            let (unknown, revoked) = match at {
                0 => (Rejection::RevocationUnknown, Rejection::Revoked),
                _ => (Rejection::IssuerRevocationUnknown, Rejection::IssuerRevoked),
            };
            let mut lists = self.revoked.iter().filter(|list| list.is_of(provider, issuer)).peekable();
            let any_current =
                self.suppress.revocation_unknown || lists.clone().any(|list| list.is_current(now));
            // What was revoked stays so, however old the list is.
            if lists.any(|list| list.has(certificate)) {
                return Err(revoked);
            }
            if !any_current {
                return Err(unknown);
            }
        }
        Ok(())
    }
}

/// Whether a key is too short, or a certificate was signed with a hash function that is not taken, such as SHA-1.
fn is_weak(certificate: &Certificate) -> bool {
    SignatureAlgorithm::named(certificate.parsed().signature_algorithm()).is_none()
        || matches!(certificate.key().kind(), KeyKind::Rsa(bits) if bits < 2048)
}
