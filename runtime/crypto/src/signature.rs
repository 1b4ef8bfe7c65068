//! What the two sides of a session sign to prove that they have their keys (OPC 10000-4 §6.1.8).

use uaforge_channel::{ChannelError, Operation, security_checks_failed};
use uaforge_types::SignatureData;

use crate::{Certificate, CryptoError, Identity, Policy, Provider, chain};

/// What the signatures of a session are over.
#[derive(Clone, Copy, Debug)]
pub struct SessionSignatures<'s> {
    /// The ChannelThumbprint; empty if the policy has none.
    pub thumbprint: &'s [u8],
    /// The server's certificate of the channel, with its issuers.
    pub server_channel: &'s [u8],
    /// The client's certificate of the channel, with its issuers.
    pub client_channel: &'s [u8],
    /// The server's certificate in CreateSession.
    pub server: &'s [u8],
    /// The client's certificate in CreateSession.
    pub client: &'s [u8],
    /// The last nonce of the server.
    pub server_nonce: &'s [u8],
    /// The nonce of the client in CreateSession.
    pub client_nonce: &'s [u8],
}

impl SessionSignatures<'_> {
    /// What the server signs in CreateSession.
    #[must_use]
    pub fn of_server(&self, policy: &Policy, provider: &dyn Provider) -> Vec<u8> {
        if !policy.enhanced {
            return [leaf(self.client), self.client_nonce].concat();
        }
        let hash = |certificates| provider.digest(policy.hash(), leaf(certificates));
        [
            self.thumbprint,
            self.client_nonce,
            &hash(self.server_channel),
            &hash(self.client_channel),
            self.server_nonce,
        ]
        .concat()
    }

    /// What the client signs in ActivateSession.
    #[must_use]
    pub fn of_client(&self, policy: &Policy, provider: &dyn Provider) -> Vec<u8> {
        if !policy.enhanced {
            return [leaf(self.server), self.server_nonce].concat();
        }
        let hash = |certificates| provider.digest(policy.hash(), leaf(certificates));
        [
            self.thumbprint,
            self.server_nonce,
            &hash(self.server),
            &hash(self.server_channel),
            &hash(self.client_channel),
            self.client_nonce,
        ]
        .concat()
    }

    /// What the owner of a user's certificate signs in ActivateSession. `policy` is the one of the token.
    #[must_use]
    pub fn of_user(&self, policy: &Policy, provider: &dyn Provider) -> Vec<u8> {
        if !policy.enhanced {
            return [leaf(self.server), self.server_nonce].concat();
        }
        let hash = |certificates| provider.digest(policy.hash(), leaf(certificates));
        if self.thumbprint.is_empty() {
            return [self.server_nonce, &hash(self.server), self.client_nonce].concat();
        }
        [
            self.thumbprint,
            self.server_nonce,
            &hash(self.server),
            &hash(self.server_channel),
            &hash(self.client),
            &hash(self.client_channel),
            self.client_nonce,
        ]
        .concat()
    }

    /// What a client signs that takes the server's certificate with its issuers for the certificate alone.
    fn with_issuers(&self) -> Vec<u8> {
        [self.server, self.server_nonce].concat()
    }

    /// Whether the client's signature is right. Some clients sign the server's issuers too.
    ///
    /// # Errors
    /// Bad_SecurityChecksFailed.
    pub fn check_client(
        &self,
        policy: &Policy,
        provider: &dyn Provider,
        signature: &SignatureData,
    ) -> Result<(), ChannelError> {
        let signer = chain(self.client).ok().map(|mut chain| chain.swap_remove(0));
        let signer = signer.ok_or_else(security_checks_failed)?;
        let right = check(policy, provider, &signer, &self.of_client(policy, provider), signature)
            || (!policy.enhanced && check(policy, provider, &signer, &self.with_issuers(), signature));
        if right { Ok(()) } else { Err(security_checks_failed()) }
    }

    /// Whether the server's signature is right.
    ///
    /// # Errors
    /// Bad_SecurityChecksFailed.
    pub fn check_server(
        &self,
        policy: &Policy,
        provider: &dyn Provider,
        signature: &SignatureData,
    ) -> Result<(), ChannelError> {
        let signer = chain(self.server).ok().map(|mut chain| chain.swap_remove(0));
        let signer = signer.ok_or_else(security_checks_failed)?;
        let with_issuers = [self.client, self.client_nonce].concat();
        let right = check(policy, provider, &signer, &self.of_server(policy, provider), signature)
            || (!policy.enhanced && check(policy, provider, &signer, &with_issuers, signature));
        if right { Ok(()) } else { Err(security_checks_failed()) }
    }

    /// Whether the signature of a user with this certificate is right.
    ///
    /// # Errors
    /// Bad_SecurityChecksFailed.
    pub fn check_user(
        &self,
        policy: &Policy,
        provider: &dyn Provider,
        user: &Certificate,
        signature: &SignatureData,
    ) -> Result<(), ChannelError> {
        let right = check(policy, provider, user, &self.of_user(policy, provider), signature)
            || (!policy.enhanced && check(policy, provider, user, &self.with_issuers(), signature));
        if right { Ok(()) } else { Err(security_checks_failed()) }
    }
}

/// The first certificate of several.
fn leaf(certificates: &[u8]) -> &[u8] {
    crate::certificate::first(certificates).unwrap_or(certificates)
}

fn check(
    policy: &Policy,
    provider: &dyn Provider,
    signer: &Certificate,
    data: &[u8],
    signature: &SignatureData,
) -> bool {
    // Peers leave the algorithm out where the policy implies it, and some elsewhere.
    let named = signature.algorithm.as_str().unwrap_or_default();
    (named.is_empty() || named == policy.signature_uri)
        && policy.accepts(signer.key().kind())
        && provider.verify(policy.signing, signer.key(), data, signature.signature.bytes())
}

/// Signs `data` by the rules of a policy.
#[must_use]
pub fn session_signature(
    policy: &'static Policy,
    identity: &Identity,
    data: Vec<u8>,
) -> Operation<SignatureData> {
    if !policy.accepts(identity.certificate().key().kind()) {
        return Operation::failed(CryptoError.into());
    }
    identity.key().sign(policy.signing, data).map(|signature| SignatureData {
        algorithm: if policy.signature_uri.is_empty() {
            uaforge_codec::UaString::NULL
        } else {
            policy.signature_uri.into()
        },
        signature: signature[..].into(),
    })
}
