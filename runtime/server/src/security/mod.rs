//! What secures the endpoints of a server: policies, certificates, users.

mod channel;
mod guard;
mod password_file;
mod tokens;
mod users;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use uaforge_channel::{ChannelError, NonePolicy, SecurityProvider};
use uaforge_codec::Now;
use uaforge_crypto::{
    Draft, Identity, KeyKind, KeyPool, PeerCheck, Pki, PkiError, Policy, PolicySecurity, Purpose,
    SharedProvider, chain,
};
use uaforge_types::MessageSecurityMode;

use guard::Guard;

pub(crate) use channel::{ChannelSecurity, SessionSecurity};
pub use password_file::{PasswordFile, PasswordFileError};
pub(crate) use tokens::{Login, TokenPolicies};
pub(crate) use users::AnonymousOnly;
pub use users::{Authentication, Authenticator, Credentials, Offered, User};

/// Threads that work with RSA keys, and operations that may wait for them.
const KEY_THREADS: usize = 2;
const KEY_QUEUE: usize = 256;

/// What endpoints are secured with (OPC 10000-4 §6.1): certificates with their keys, who is trusted, and which
/// policies and modes are offered.
#[derive(Clone, Debug)]
pub struct Security {
    provider: SharedProvider,
    identities: Vec<Identity>,
    check: Arc<dyn PeerCheck>,
    policies: Vec<&'static Policy>,
    modes: Vec<MessageSecurityMode>,
    pool: KeyPool,
}

impl Security {
    /// Security over a provider of cryptography; `check` decides which clients are trusted. Every policy that a
    /// certificate fits is offered, in both modes.
    #[must_use]
    pub fn new(provider: SharedProvider, check: impl PeerCheck + 'static) -> Self {
        Self {
            provider,
            identities: Vec::new(),
            check: Arc::new(check),
            policies: Policy::ALL.to_vec(),
            modes: vec![MessageSecurityMode::SIGN, MessageSecurityMode::SIGN_AND_ENCRYPT],
            pool: KeyPool::new(KEY_THREADS, KEY_QUEUE),
        }
    }

    /// Security with the certificates of a folder: `own`, `trusted`, `issuer` and `rejected`. Own ones that are
    /// missing are made, for `application_uri`, which has to be that of the server, and for every name and address of
    /// this machine: one with RSA 2048, and one with NIST P-256. Clients that are refused are put into `rejected`;
    /// `uaforge cert trust` takes them from there.
    ///
    /// # Errors
    /// A file cannot be read, written or made.
    pub fn open(
        folder: impl Into<PathBuf>,
        provider: SharedProvider,
        application_uri: &str,
    ) -> Result<Self, PkiError> {
        let pki = Pki::open(folder, provider.clone(), Purpose::Client)?;
        let failed = |source| PkiError::Certificate { path: pki.folder().to_owned(), source };
        let now = uaforge_net::clock().utc;
        let name = application_uri.rsplit(':').next().unwrap_or(application_uri);
        let mut draft = Draft::application(application_uri, name, now).map_err(failed)?;
        for host in uaforge_net::host_names() {
            draft = draft.host(&host).map_err(failed)?;
        }
        for address in uaforge_net::addresses() {
            draft = draft.address(address).map_err(failed)?;
        }
        let mut security = Self::new(provider, pki.clone());
        for kind in [KeyKind::Rsa(2048), KeyKind::P256] {
            security = security.identity(pki.own(kind, &draft, &mut uaforge_net::OsEntropy)?);
        }
        Ok(security)
    }

    /// Adds a certificate with its key. A policy takes the first one whose kind of key it allows
    /// (OPC 10000-6 §6.8.1: applications that support elliptic curves need several).
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identities.push(identity);
        self
    }

    /// Offers these policies only.
    #[must_use]
    pub fn policies(mut self, policies: &[&'static Policy]) -> Self {
        self.policies.retain(|policy| policies.contains(policy));
        self
    }

    /// Offers these modes only, of Sign and SignAndEncrypt.
    #[must_use]
    pub fn modes(mut self, modes: &[MessageSecurityMode]) -> Self {
        self.modes.retain(|mode| modes.contains(mode));
        self
    }
}

/// One policy and mode that endpoints are offered with.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) policy: &'static Policy,
    pub(crate) mode: MessageSecurityMode,
    pub(crate) identity: Identity,
}

/// The security of a server as its connections use it.
#[derive(Debug)]
pub(crate) struct Secured {
    /// `None` if the server knows nothing of cryptography.
    pub(crate) provider: Option<SharedProvider>,
    /// What channels may be opened with.
    pub(crate) policies: Arc<[Box<dyn SecurityProvider>]>,
    /// What is offered, the weakest first.
    pub(crate) offers: Vec<Offer>,
    /// Endpoints are offered without security too.
    pub(crate) plain: bool,
    check: Option<Guard>,
    /// That of the check when those who are connected were checked last.
    version: AtomicU64,
}

impl Secured {
    /// What `security` offers, and policy None if the server was told to be insecure.
    pub(crate) fn new(security: Option<&Security>, plain: bool) -> Result<Self, ChannelError> {
        // Discovery needs no security; a session does, unless the server was told to be insecure.
        let mut policies: Vec<Box<dyn SecurityProvider>> = vec![Box::new(NonePolicy)];
        let guard = |security: &Security| Guard::new(security.provider.clone(), Arc::clone(&security.check));
        let check = security.map(guard);
        let mut offers = Vec::new();
        if let Some(security) = security {
            for &policy in &security.policies {
                let fits = |identity: &&Identity| policy.accepts(identity.certificate().key().kind());
                let Some(identity) = security.identities.iter().find(fits) else { continue };
                let identity = identity.clone().on(&security.pool);
                let (provider, check) = (security.provider.clone(), Arc::new(guard(security)));
                let secured = PolicySecurity::server(policy, provider, identity.clone(), check)?;
                policies.push(Box::new(secured.modes(&security.modes)));
                offers.extend(security.modes.iter().map(|mode| Offer {
                    policy,
                    mode: *mode,
                    identity: identity.clone(),
                }));
            }
        }
        let provider = security.map(|security| security.provider.clone());
        let version = AtomicU64::new(check.as_ref().map_or(0, PeerCheck::version));
        Ok(Self { provider, policies: policies.into(), offers, plain, check, version })
    }

    /// Whether a client that was trusted may not be any more. `Some` is what decides about each of them.
    pub(crate) fn recheck(&self) -> Option<impl Fn(&[u8], Now) -> bool> {
        let check = self.check.as_ref()?;
        let version = check.version();
        let changed = self.version.swap(version, Ordering::Relaxed) != version;
        changed.then_some(move |peer: &[u8], now| {
            chain(peer).is_ok_and(|certificates| check.check(&certificates, now).is_ok())
        })
    }

    /// Whether all certificates are for an application.
    pub(crate) fn is_of(&self, application_uri: &str) -> bool {
        let mut own = self.offers.iter().map(|offer| offer.identity.certificate().names().uris);
        own.all(|uris| uris.iter().any(|uri| uri == application_uri))
    }

    /// Whether nothing is offered.
    pub(crate) fn is_empty(&self) -> bool {
        self.offers.is_empty() && !self.plain
    }

    /// The identity that a policy is offered with.
    pub(crate) fn identity(&self, policy: &Policy) -> Option<&Identity> {
        self.offers.iter().find(|offer| offer.policy == policy).map(|offer| &offer.identity)
    }

    /// What secrets of users are encrypted with on a channel that does not encrypt: the strongest policy of
    /// RSA, whose format needs nothing but the certificate (OPC 10000-4 §7.40.2.2).
    pub(crate) fn for_secrets(&self) -> Option<&Offer> {
        self.offers.iter().rev().find(|offer| !offer.policy.encryption_uri.is_empty())
    }
}
