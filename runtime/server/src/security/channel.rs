//! What a secured channel proves of its two ends, and a session of its client.

use std::sync::Arc;

use uaforge_codec::StatusCode;
use uaforge_crypto::{Identity, Policy, SessionSignatures, SharedProvider, chain};
use uaforge_types::{ActivateSessionRequest, CreateSessionRequest, status};

/// Shortest nonce of a client (OPC 10000-4 §5.7.2.2).
const MIN_NONCE: usize = 32;

/// A secured channel.
#[derive(Clone, Debug)]
pub(crate) struct ChannelSecurity {
    pub(crate) provider: SharedProvider,
    pub(crate) policy: &'static Policy,
    /// The server's.
    pub(crate) identity: Identity,
    /// The client's certificate with its issuers.
    pub(crate) peer: Arc<[u8]>,
    /// Empty if the policy has none.
    pub(crate) thumbprint: Arc<[u8]>,
}

/// What a session keeps of the CreateSession request on a secured channel (OPC 10000-4 §5.7.2).
#[derive(Clone, Debug)]
pub(crate) struct SessionSecurity {
    policy: &'static Policy,
    client: Arc<[u8]>,
    client_nonce: Arc<[u8]>,
}

impl ChannelSecurity {
    /// Checks what CreateSession says of the client against what the channel has proved
    /// (OPC 10000-4 §5.7.2.1, §6.1.3).
    pub(crate) fn check_create(&self, request: &CreateSessionRequest) -> Result<SessionSecurity, StatusCode> {
        let client_nonce = request.client_nonce.bytes();
        if client_nonce.len() < MIN_NONCE {
            return Err(status::BAD_NONCE_INVALID);
        }
        let client = request.client_certificate.bytes();
        if !same_owner(client, &self.peer) {
            return Err(status::BAD_CERTIFICATE_INVALID);
        }
        let uri = request.client_description.application_uri.as_str().unwrap_or_default();
        if !is_named(client, uri) {
            return Err(status::BAD_CERTIFICATE_URI_INVALID);
        }
        Ok(SessionSecurity { policy: self.policy, client: client.into(), client_nonce: client_nonce.into() })
    }

    /// Whether the client's certificate is that of the application with this URI.
    pub(crate) fn is_of(&self, application_uri: &str) -> bool {
        is_named(&self.peer, application_uri)
    }

    /// What the signatures of a session are over.
    pub(crate) fn signatures<'s>(
        &'s self,
        session: &'s SessionSecurity,
        server_nonce: &'s [u8],
    ) -> SessionSignatures<'s> {
        SessionSignatures {
            thumbprint: &self.thumbprint,
            server_channel: self.identity.chain(),
            client_channel: &self.peer,
            server: self.identity.chain(),
            client: &session.client,
            server_nonce,
            client_nonce: &session.client_nonce,
        }
    }

    /// Checks that whoever activates a session is the client that it was created for
    /// (OPC 10000-4 §5.7.3.1): the same certificate on the same policy, and its signature.
    pub(crate) fn check_activate(
        &self,
        session: Option<&SessionSecurity>,
        server_nonce: &[u8],
        request: &ActivateSessionRequest,
    ) -> Result<(), StatusCode> {
        let session = session.filter(|session| session.policy == self.policy);
        let session = session.filter(|session| same_owner(&session.client, &self.peer));
        let session = session.ok_or(status::BAD_SECURITY_CHECKS_FAILED)?;
        let signatures = self.signatures(session, server_nonce);
        let checked = signatures.check_client(self.policy, &*self.provider, &request.client_signature);
        checked.map_err(|_| status::BAD_APPLICATION_SIGNATURE_INVALID)
    }
}

/// Whether two certificates with their issuers begin with the same one.
fn same_owner(one: &[u8], other: &[u8]) -> bool {
    let first = |bytes| chain(bytes).ok().and_then(|chain| chain.into_iter().next());
    first(one).is_some_and(|certificate| first(other) == Some(certificate))
}

/// Whether the first certificate names an application by this URI.
fn is_named(certificates: &[u8], application_uri: &str) -> bool {
    let first = chain(certificates).ok().and_then(|chain| chain.into_iter().next());
    first.is_some_and(|certificate| certificate.names().uris.iter().any(|own| own == application_uri))
}
