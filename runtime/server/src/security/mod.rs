//! What secures the endpoints of a server: policies, certificates, users.

mod channel;
mod tokens;
mod users;

use std::sync::Arc;

use uaforge_channel::{ChannelError, NonePolicy, SecurityProvider};
use uaforge_crypto::{Identity, KeyPool, PeerCheck, Policy, PolicySecurity, SharedProvider};
use uaforge_types::MessageSecurityMode;

pub(crate) use channel::{ChannelSecurity, SessionSecurity};
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
}

impl Secured {
    /// What `security` offers, and policy None if the server was told to be insecure.
    pub(crate) fn new(security: Option<&Security>, plain: bool) -> Result<Self, ChannelError> {
        let mut policies: Vec<Box<dyn SecurityProvider>> = Vec::new();
        if plain {
            policies.push(Box::new(NonePolicy));
        }
        let mut offers = Vec::new();
        if let Some(security) = security {
            for &policy in &security.policies {
                let fits = |identity: &&Identity| policy.accepts(identity.certificate().key().kind());
                let Some(identity) = security.identities.iter().find(fits) else { continue };
                let identity = identity.clone().on(&security.pool);
                let (provider, check) = (security.provider.clone(), Arc::clone(&security.check));
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
        Ok(Self { provider, policies: policies.into(), offers, plain })
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
