//! The nonces or ephemeral keys of one token, and the keys that come out (OPC 10000-6 §6.7.6, §6.8.1).

use core::fmt;
use std::sync::Arc;

use uaforge_channel::{
    ChannelError, ChunkSecurity, KeyExchange, Role, TokenKeys, TokenSecret, security_checks_failed,
};
use uaforge_codec::Entropy;
use zeroize::Zeroizing;

use crate::aead::AeadChunks;
use crate::cbc::CbcChunks;
use crate::derive::{KeySet, channel_keys, hkdf_keys};
use crate::policy::{Exchange, Protection};
use crate::{Agreement, CryptoError, Curve, Hash, Policy, Provider, SharedProvider};

/// Length of a nonce of the policies with RSA (OPC 10000-7, SecureChannelNonceLength).
const NONCE: usize = 32;

/// Begins an exchange.
pub(crate) fn begin(
    policy: &'static Policy,
    provider: &SharedProvider,
    role: Role,
    encrypt: bool,
    only_signing: bool,
    entropy: &mut dyn Entropy,
) -> Result<Box<dyn KeyExchange>, ChannelError> {
    let token = Token { policy, provider: provider.clone(), role, encrypt, only_signing };
    Ok(match policy.exchange {
        Exchange::Nonces { .. } => {
            let mut nonce = Zeroizing::new([0; NONCE]);
            entropy.fill(&mut *nonce);
            Box::new(Nonces { token, nonce })
        }
        Exchange::Ephemeral { curve, hash } => {
            let own = provider.ephemeral(curve, entropy)?;
            Box::new(Ephemeral { token, curve, hash, own })
        }
    })
}

/// What both kinds have in common.
struct Token {
    policy: &'static Policy,
    provider: SharedProvider,
    role: Role,
    encrypt: bool,
    only_signing: bool,
}

impl Token {
    /// The keys of both directions.
    fn keys(
        &self,
        client: &KeySet,
        server: &KeySet,
        secret: Option<TokenSecret>,
    ) -> Result<TokenKeys, CryptoError> {
        let (own, other) = match self.role {
            Role::Client => (client, server),
            Role::Server => (server, client),
        };
        Ok(TokenKeys { send: self.direction(own)?, receive: self.direction(other)?, secret })
    }

    fn direction(&self, keys: &KeySet) -> Result<Box<dyn ChunkSecurity>, CryptoError> {
        chunk_security(self.policy, &*self.provider, keys, self.encrypt)
    }

    /// The nonces as (client's, server's).
    fn sides<'n>(&self, own: &'n [u8], peer: &'n [u8]) -> (&'n [u8], &'n [u8]) {
        match self.role {
            Role::Client => (own, peer),
            Role::Server => (peer, own),
        }
    }
}

/// What seals or opens the chunks of one direction of a token with these keys (OPC 10000-6 §6.7.2).
///
/// # Errors
/// The keys have other lengths than the policy says.
pub fn chunk_security(
    policy: &Policy,
    provider: &dyn Provider,
    keys: &KeySet,
    encrypt: bool,
) -> Result<Box<dyn ChunkSecurity>, CryptoError> {
    Ok(match policy.protection {
        Protection::Cbc { hash, .. } => Box::new(CbcChunks::new(provider, hash, keys, encrypt)?),
        Protection::Aead(aead) => Box::new(AeadChunks::new(provider, aead, keys, encrypt)?),
    })
}

struct Nonces {
    token: Token,
    nonce: Zeroizing<[u8; NONCE]>,
}

impl fmt::Debug for Nonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonces")
    }
}

impl KeyExchange for Nonces {
    fn nonce(&self) -> Option<&[u8]> {
        Some(&*self.nonce)
    }

    fn finish(
        self: Box<Self>,
        peer_nonce: &[u8],
        _before: Option<&TokenSecret>,
    ) -> Result<TokenKeys, ChannelError> {
        if peer_nonce.len() != NONCE || peer_nonce == &self.nonce[..] {
            return Err(security_checks_failed());
        }
        let (client, server) = self.token.sides(&*self.nonce, peer_nonce);
        let (provider, protection) = (&*self.token.provider, self.token.policy.protection);
        let client_keys = channel_keys(provider, protection, server, client);
        let server_keys = channel_keys(provider, protection, client, server);
        Ok(self.token.keys(&client_keys, &server_keys, None)?)
    }
}

struct Ephemeral {
    token: Token,
    curve: Curve,
    hash: Hash,
    own: Box<dyn Agreement>,
}

impl fmt::Debug for Ephemeral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ephemeral")
    }
}

impl KeyExchange for Ephemeral {
    fn nonce(&self) -> Option<&[u8]> {
        Some(self.own.public())
    }

    fn finish(
        self: Box<Self>,
        peer_nonce: &[u8],
        before: Option<&TokenSecret>,
    ) -> Result<TokenKeys, ChannelError> {
        let Self { token, curve, hash, own } = *self;
        let public = own.public().to_vec();
        if peer_nonce.len() != curve.public_len() || peer_nonce == public {
            return Err(security_checks_failed());
        }
        let mut secret = own.agree(peer_nonce).map_err(|_| security_checks_failed())?;
        if token.policy.enhanced {
            chain(&mut secret, before);
        }
        let (client, server) = token.sides(&public, peer_nonce);
        let derive = |label, nonces| {
            let provider = &*token.provider;
            let protection = token.policy.protection;
            hkdf_keys(provider, hash, protection, token.only_signing, &secret, label, nonces)
        };
        let client_keys = derive("opcua-client", [client, server])?;
        let server_keys = derive("opcua-server", [server, client])?;
        let next = token.policy.enhanced.then(|| TokenSecret(Arc::new(secret.clone())));
        Ok(token.keys(&client_keys, &server_keys, next)?)
    }
}

/// The keying material of a renewed token has that of all tokens before in it (OPC 10000-6 §6.8.1).
fn chain(secret: &mut [u8], before: Option<&TokenSecret>) {
    let before = before.and_then(|before| before.0.downcast_ref::<Zeroizing<Vec<u8>>>());
    for (byte, old) in secret.iter_mut().zip(before.into_iter().flat_map(|before| before.iter())) {
        *byte ^= old;
    }
}
