//! A security policy with an application's certificate: what a channel is secured with.

use core::fmt;
use std::sync::Arc;

use uaforge_channel::{
    AsymmetricChunk, ChannelError, KeyExchange, Operation, Role, SealedChunk, SecurityProvider, SequenceRule,
};
use uaforge_codec::{Entropy, Now};
use uaforge_types::MessageSecurityMode;

use crate::asymmetric::Asymmetric;
use crate::exchange;
use crate::{Certificate, Identity, Policy, SharedProvider};

/// Decides whether a peer's certificate is trusted (OPC 10000-4 §6.1.3).
pub trait PeerCheck: fmt::Debug + Send + Sync {
    /// Checks a certificate whose owner has just proved to have its key; issuers stand behind it.
    ///
    /// # Errors
    /// Why it is refused.
    fn check(&self, certificates: &[Certificate], now: Now) -> Result<(), ChannelError>;

    /// Another number once it may decide otherwise: those who were trusted before are then checked again.
    fn version(&self) -> u64 {
        0
    }
}

/// Trusts every certificate that can be read, as tests do and clients that have pinned one.
#[derive(Clone, Copy, Debug, Default)]
pub struct AcceptAny;

impl PeerCheck for AcceptAny {
    fn check(&self, _certificates: &[Certificate], _now: Now) -> Result<(), ChannelError> {
        Ok(())
    }
}

/// A policy with one side's certificate and key, over a provider.
#[derive(Clone, Debug)]
pub struct PolicySecurity {
    policy: &'static Policy,
    provider: SharedProvider,
    modes: Vec<MessageSecurityMode>,
    asymmetric: Arc<Asymmetric>,
    full_lengths: bool,
}

impl PolicySecurity {
    /// A server's: clients bring their certificates with them, and `check` decides about those.
    ///
    /// # Errors
    /// Bad_CertificateInvalid if the policy does not allow the kind of the own key.
    pub fn server(
        policy: &'static Policy,
        provider: SharedProvider,
        identity: Identity,
        check: Arc<dyn PeerCheck>,
    ) -> Result<Self, ChannelError> {
        Self::new(policy, Asymmetric::new(policy, provider.clone(), identity, None, check)?, provider)
    }

    /// A client's: the server has to have the key of the first certificate in `server`.
    ///
    /// # Errors
    /// Bad_CertificateInvalid if a certificate cannot be read, or the policy does not allow its kind of key.
    pub fn client(
        policy: &'static Policy,
        provider: SharedProvider,
        identity: Identity,
        server: &[u8],
        check: Arc<dyn PeerCheck>,
    ) -> Result<Self, ChannelError> {
        Self::new(policy, Asymmetric::new(policy, provider.clone(), identity, Some(server), check)?, provider)
    }

    fn new(
        policy: &'static Policy,
        asymmetric: Asymmetric,
        provider: SharedProvider,
    ) -> Result<Self, ChannelError> {
        let modes = vec![MessageSecurityMode::SIGN, MessageSecurityMode::SIGN_AND_ENCRYPT];
        Ok(Self { policy, provider, modes, asymmetric: Arc::new(asymmetric), full_lengths: false })
    }

    /// Allows these modes only, of Sign and SignAndEncrypt.
    #[must_use]
    pub fn modes(mut self, modes: &[MessageSecurityMode]) -> Self {
        self.modes.retain(|mode| modes.contains(mode));
        self
    }

    /// Derives keys of elliptic curves as peers do that count the encrypting key although chunks are only
    /// signed, against OPC 10000-6 §6.8.1: open62541 up to 1.5.7.
    #[must_use]
    pub fn full_key_lengths(mut self) -> Self {
        self.full_lengths = true;
        self
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &'static Policy {
        self.policy
    }

    /// The own certificate and key.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        self.asymmetric.identity()
    }
}

impl SecurityProvider for PolicySecurity {
    fn policy_uri(&self) -> &'static str {
        self.policy.uri
    }

    fn allows(&self, mode: MessageSecurityMode) -> bool {
        self.modes.contains(&mode)
    }

    fn sequence_rule(&self) -> SequenceRule {
        self.policy.sequence_rule()
    }

    fn is_enhanced(&self) -> bool {
        self.policy.enhanced
    }

    fn open(&self, chunk: Vec<u8>, binding: Option<Arc<[u8]>>, now: Now) -> Operation<AsymmetricChunk> {
        Asymmetric::open(&self.asymmetric, chunk, binding, now)
    }

    fn seal(&self, chunk: AsymmetricChunk) -> Operation<SealedChunk> {
        Asymmetric::seal(&self.asymmetric, chunk)
    }

    fn exchange(
        &self,
        role: Role,
        mode: MessageSecurityMode,
        entropy: &mut dyn Entropy,
    ) -> Result<Box<dyn KeyExchange>, ChannelError> {
        let only_signing = mode == MessageSecurityMode::SIGN && !self.full_lengths;
        let encrypt = mode == MessageSecurityMode::SIGN_AND_ENCRYPT;
        exchange::begin(self.policy, &self.provider, role, encrypt, only_signing, entropy)
    }
}
