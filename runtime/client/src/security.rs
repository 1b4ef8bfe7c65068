//! What a client secures its channels with, and whom it says its user is.

use core::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use uaforge_channel::ChannelError;
use uaforge_codec::Now;
use uaforge_crypto::{
    Certificate, Draft, Identity, KeyKind, KeyPool, PeerCheck, Pki, PkiError, Policy, PolicySecurity,
    Purpose, SharedProvider, Zeroizing, chain,
};
use uaforge_types::{EndpointDescription, MessageSecurityMode, UserTokenPolicy, UserTokenType, status};

use crate::Error;

/// Certificates and keys of a client, whom it trusts, and what it takes (OPC 10000-4 §6.1).
#[derive(Clone, Debug)]
pub struct Security {
    pub(crate) provider: SharedProvider,
    identities: Vec<Identity>,
    check: Arc<dyn PeerCheck>,
    policies: Vec<&'static Policy>,
    modes: Vec<MessageSecurityMode>,
    any_host: bool,
}

impl Security {
    /// Security over a provider of cryptography; `check` decides which servers are trusted. The strongest
    /// policy and mode that the server has too is taken.
    #[must_use]
    pub fn new(provider: SharedProvider, check: impl PeerCheck + 'static) -> Self {
        Self {
            provider,
            identities: Vec::new(),
            check: Arc::new(check),
            policies: Policy::ALL.to_vec(),
            modes: vec![MessageSecurityMode::SIGN, MessageSecurityMode::SIGN_AND_ENCRYPT],
            any_host: false,
        }
    }

    /// Security with the certificates of a folder: `own`, `trusted`, `issuer` and `rejected`. Own ones that are
    /// missing are made for `application_uri`: one with RSA 2048, and one with NIST P-256. Servers that are refused
    /// are put into `rejected`; `uaforge cert trust` takes them from there.
    ///
    /// # Errors
    /// A file cannot be read, written or made.
    pub fn open(
        folder: impl Into<PathBuf>,
        provider: SharedProvider,
        application_uri: &str,
    ) -> Result<Self, PkiError> {
        let pki = Pki::open(folder, provider.clone(), Purpose::Server)?;
        let failed = |source| PkiError::Certificate { path: pki.folder().to_owned(), source };
        let now = uaforge_net::clock().utc;
        let name = application_uri.rsplit(':').next().unwrap_or(application_uri);
        let mut draft = Draft::application(application_uri, name, now).map_err(failed)?;
        for host in uaforge_net::host_names() {
            draft = draft.host(&host).map_err(failed)?;
        }
        let mut security = Self::new(provider, pki.clone());
        for kind in [KeyKind::Rsa(2048), KeyKind::P256] {
            security = security.identity(pki.own(kind, &draft, &mut uaforge_net::OsEntropy)?);
        }
        Ok(security)
    }

    /// Security that trusts one certificate and no other, whoever has issued it.
    #[must_use]
    pub fn pinned(provider: SharedProvider, server: &Certificate) -> Self {
        Self::new(provider, Pinned(server.clone())).any_host()
    }

    /// Adds a certificate with its key; a policy takes the first one whose kind of key it allows.
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identities.push(identity.on(&KeyPool::new(1, 16)));
        self
    }

    /// Takes these policies only.
    #[must_use]
    pub fn policies(mut self, policies: &[&'static Policy]) -> Self {
        self.policies.retain(|policy| policies.contains(policy));
        self
    }

    /// Takes these modes only, of Sign and SignAndEncrypt.
    #[must_use]
    pub fn modes(mut self, modes: &[MessageSecurityMode]) -> Self {
        self.modes.retain(|mode| modes.contains(mode));
        self
    }

    /// Does not compare the host in the address with those in the server's certificate (OPC 10000-4 §6.1.3,
    /// HostName): for servers behind address translation.
    #[must_use]
    pub fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// The identity that a policy takes.
    fn identity_for(&self, policy: &Policy) -> Option<&Identity> {
        self.identities.iter().find(|identity| policy.accepts(identity.certificate().key().kind()))
    }

    /// The strongest endpoint that both sides have, for this user.
    pub(crate) fn choose(
        &self,
        endpoints: &[EndpointDescription],
        user: &UserIdentity,
        url: &str,
        host: &str,
    ) -> Result<SecuredEndpoint, Error> {
        let candidates = endpoints.iter().filter_map(|endpoint| self.candidate(endpoint, user));
        let strength = |endpoint: &SecuredEndpoint| {
            (endpoint.mode == MessageSecurityMode::SIGN_AND_ENCRYPT, endpoint.policy.level)
        };
        let Some(chosen) = candidates.max_by_key(strength) else {
            return Err(Error::NoCommonEndpoint {
                url: url.into(),
                offered: describe(endpoints).into(),
                supported: self.describe().into(),
            });
        };
        let names = first(&chosen.server).map(|certificate| certificate.names()).unwrap_or_default();
        if !self.any_host && !names.has_host(host) {
            let named = names.hosts.iter().cloned().chain(names.addresses.iter().map(ToString::to_string));
            let named: Vec<String> = named.collect();
            return Err(Error::HostName { host: host.into(), named: named.join(", ").into() });
        }
        Ok(chosen)
    }

    fn candidate(&self, endpoint: &EndpointDescription, user: &UserIdentity) -> Option<SecuredEndpoint> {
        let policy = Policy::by_uri(endpoint.security_policy_uri.as_str()?)?;
        let mode = endpoint.security_mode;
        if !self.policies.contains(&policy) || !self.modes.contains(&mode) {
            return None;
        }
        let server: Arc<[u8]> = endpoint.server_certificate.bytes().into();
        if !policy.accepts(first(&server)?.key().kind()) {
            return None;
        }
        Some(SecuredEndpoint {
            identity: self.identity_for(policy)?.clone(),
            token: user.token_policy(&endpoint.user_identity_tokens)?.clone(),
            server_uri: endpoint.server.application_uri.clone(),
            provider: self.provider.clone(),
            check: Arc::clone(&self.check),
            policy,
            mode,
            server,
        })
    }

    /// Policies that a key fits, for people.
    fn describe(&self) -> String {
        let fits = self.policies.iter().filter(|policy| self.identity_for(policy).is_some());
        let names: Vec<&str> = fits.map(|policy| policy.name()).collect();
        if names.is_empty() { "none: add a certificate with .identity(…)".into() } else { names.join(", ") }
    }
}

/// The endpoints of a server, for people.
fn describe(endpoints: &[EndpointDescription]) -> String {
    let mut names: Vec<String> = endpoints
        .iter()
        .map(|endpoint| {
            let uri = endpoint.security_policy_uri.text();
            let policy = uri.rsplit_once('#').map_or(uri, |(_, name)| name);
            let users = endpoint.user_identity_tokens.iter().map(|token| match token.token_type {
                UserTokenType::ANONYMOUS => "anonymous",
                UserTokenType::USER_NAME => "user name",
                UserTokenType::CERTIFICATE => "user certificate",
                _ => "issued token",
            });
            let users: Vec<&str> = users.collect();
            let mode = match endpoint.security_mode {
                MessageSecurityMode::SIGN => "Sign",
                MessageSecurityMode::SIGN_AND_ENCRYPT => "SignAndEncrypt",
                _ => "None",
            };
            format!("{policy} {mode} ({})", users.join(", "))
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names.join("; ")
}

fn first(certificates: &[u8]) -> Option<Certificate> {
    chain(certificates).ok()?.into_iter().next()
}

/// Trusts one certificate.
#[derive(Debug)]
struct Pinned(Certificate);

impl PeerCheck for Pinned {
    fn check(&self, certificates: &[Certificate], _now: Now) -> Result<(), ChannelError> {
        if certificates.first() == Some(&self.0) {
            return Ok(());
        }
        Err(ChannelError::new(
            status::BAD_CERTIFICATE_UNTRUSTED,
            "the server has another certificate than pinned",
        ))
    }
}

/// An endpoint that was chosen, and all that is needed to use it.
#[derive(Clone, Debug)]
pub(crate) struct SecuredEndpoint {
    pub(crate) provider: SharedProvider,
    pub(crate) policy: &'static Policy,
    pub(crate) mode: MessageSecurityMode,
    pub(crate) identity: Identity,
    /// The server's certificate with its issuers.
    pub(crate) server: Arc<[u8]>,
    pub(crate) token: UserTokenPolicy,
    pub(crate) server_uri: uaforge_codec::UaString,
    check: Arc<dyn PeerCheck>,
}

impl SecuredEndpoint {
    /// What a channel to it is secured with.
    pub(crate) fn security(&self) -> Result<PolicySecurity, ChannelError> {
        let (provider, identity) = (self.provider.clone(), self.identity.clone());
        PolicySecurity::client(self.policy, provider, identity, &self.server, Arc::clone(&self.check))
    }

    /// The server's certificate.
    pub(crate) fn server_certificate(&self) -> Option<Certificate> {
        first(&self.server)
    }
}

/// Whom a session is for (OPC 10000-4 §7.40). Secrets are wiped when they are dropped, and not shown.
#[derive(Clone, Default)]
pub(crate) enum UserIdentity {
    #[default]
    Anonymous,
    UserName {
        name: String,
        password: Zeroizing<String>,
    },
    Certificate(Identity),
    Issued(Zeroizing<Vec<u8>>),
}

impl UserIdentity {
    fn kind(&self) -> UserTokenType {
        match self {
            Self::Anonymous => UserTokenType::ANONYMOUS,
            Self::UserName { .. } => UserTokenType::USER_NAME,
            Self::Certificate(_) => UserTokenType::CERTIFICATE,
            Self::Issued(_) => UserTokenType::ISSUED_TOKEN,
        }
    }

    /// The policy that a token of this kind has at an endpoint.
    pub(crate) fn token_policy<'p>(&self, policies: &'p [UserTokenPolicy]) -> Option<&'p UserTokenPolicy> {
        policies.iter().find(|policy| policy.token_type == self.kind())
    }
}

impl fmt::Debug for UserIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => f.write_str("Anonymous"),
            Self::UserName { name, .. } => {
                f.debug_struct("UserName").field("name", name).finish_non_exhaustive()
            }
            Self::Certificate(identity) => identity.certificate().fmt(f),
            Self::Issued(_) => f.write_str("Issued"),
        }
    }
}
