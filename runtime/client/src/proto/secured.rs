//! CreateSession and ActivateSession over a secured channel: what each side has to prove
//! (OPC 10000-4 §5.7.2, §5.7.3, §6.1.8).

use std::sync::Arc;

use uaforge_channel::{ChannelError, Operation};
use uaforge_codec::{ByteString, ExtensionObject, UaString};
use uaforge_crypto::{CryptoError, Policy, SessionSignatures, Zeroizing, seal_password, session_signature};
use uaforge_types::{
    ActivateSessionRequest, AnonymousIdentityToken, CreateSessionResponse, IssuedIdentityToken,
    MessageSecurityMode, SignatureData, UserNameIdentityToken, X509IdentityToken, status,
};

use crate::Error;
use crate::security::{SecuredEndpoint, UserIdentity};

/// What the session is secured with.
#[derive(Debug)]
pub(super) struct Secured {
    pub(super) endpoint: SecuredEndpoint,
    pub(super) client_nonce: [u8; 32],
    /// Empty if the policy has none.
    pub(super) thumbprint: Arc<[u8]>,
}

impl Secured {
    fn signatures<'s>(&'s self, server_nonce: &'s [u8]) -> SessionSignatures<'s> {
        let endpoint = &self.endpoint;
        SessionSignatures {
            thumbprint: &self.thumbprint,
            server_channel: &endpoint.server,
            client_channel: endpoint.identity.chain(),
            server: &endpoint.server,
            client: endpoint.identity.chain(),
            server_nonce,
            client_nonce: &self.client_nonce,
        }
    }

    /// Checks that whoever made the session is the server of the channel (OPC 10000-4 §5.7.2.1).
    pub(super) fn check(&self, created: &CreateSessionResponse) -> Result<(), Error> {
        let endpoint = &self.endpoint;
        let same = uaforge_crypto::chain(created.server_certificate.bytes())
            .is_ok_and(|chain| chain.first() == endpoint.server_certificate().as_ref());
        if !same || created.server_nonce.bytes().len() < 32 {
            return Err(Error::NotProved);
        }
        let signatures = self.signatures(created.server_nonce.bytes());
        let checked =
            signatures.check_server(endpoint.policy, &*endpoint.provider, &created.server_signature);
        checked.map_err(|_| Error::NotProved)
    }

    /// The request that activates the session for a user, once it is signed.
    pub(super) fn activate(
        &self,
        user: &UserIdentity,
        server_nonce: &[u8],
    ) -> Operation<ActivateSessionRequest> {
        let endpoint = &self.endpoint;
        let token = match self.token(user, server_nonce) {
            Ok(token) => token,
            Err(error) => return Operation::failed(error),
        };
        let signatures = self.signatures(server_nonce);
        let data = signatures.of_client(endpoint.policy, &*endpoint.provider);
        let client = session_signature(endpoint.policy, &endpoint.identity, data);
        let user = match user {
            UserIdentity::Certificate(user) => {
                let policy = self.token_policy();
                session_signature(policy, user, signatures.of_user(policy, &*endpoint.provider))
            }
            _ => Operation::Ready(Ok(SignatureData::default())),
        };
        client.then(move |client_signature| match client_signature {
            Err(error) => Operation::failed(error),
            Ok(client_signature) => user.map(move |user_token_signature| ActivateSessionRequest {
                client_signature,
                user_identity_token: token,
                user_token_signature,
                ..Default::default()
            }),
        })
    }

    /// The policy of the token: its own, or that of the channel (OPC 10000-4 §7.41).
    fn token_policy(&self) -> &'static Policy {
        let own = self.endpoint.token.security_policy_uri.as_str().and_then(Policy::by_uri);
        own.unwrap_or(self.endpoint.policy)
    }

    fn token(&self, user: &UserIdentity, server_nonce: &[u8]) -> Result<ExtensionObject, ChannelError> {
        let policy_id = self.endpoint.token.policy_id.clone();
        Ok(match user {
            UserIdentity::Anonymous => ExtensionObject::new(AnonymousIdentityToken { policy_id }),
            UserIdentity::Certificate(user) => ExtensionObject::new(X509IdentityToken {
                policy_id,
                certificate_data: ByteString::from(&user.certificate().der()[..]),
            }),
            UserIdentity::UserName { name, password } => {
                let (password, encryption_algorithm) = self.secret(password.as_bytes(), server_nonce)?;
                let user_name = name.as_str().into();
                let token = UserNameIdentityToken { policy_id, user_name, password, encryption_algorithm };
                ExtensionObject::new(token)
            }
            UserIdentity::Issued(token) => {
                let (token_data, encryption_algorithm) = self.secret(token, server_nonce)?;
                ExtensionObject::new(IssuedIdentityToken { policy_id, token_data, encryption_algorithm })
            }
        })
    }

    /// A secret as it is sent: encrypted by the token's policy, or as it is where the channel encrypts and the
    /// token has no policy of its own that would.
    fn secret(&self, secret: &[u8], server_nonce: &[u8]) -> Result<(ByteString, UaString), ChannelError> {
        let endpoint = &self.endpoint;
        let policy = self.token_policy();
        let is_none = endpoint.token.security_policy_uri == uaforge_channel::POLICY_NONE;
        if is_none || policy.encryption_uri.is_empty() {
            if endpoint.mode != MessageSecurityMode::SIGN_AND_ENCRYPT {
                let reason = "the server wants the secret in clear over a channel that does not encrypt";
                return Err(ChannelError::new(status::BAD_SECURITY_POLICY_REJECTED, reason));
            }
            return Ok((ByteString::from(secret), UaString::NULL));
        }
        let server = endpoint.server_certificate().ok_or(CryptoError)?;
        let secret = Zeroizing::new(secret.to_vec());
        let sealed = seal_password(policy, &*endpoint.provider, &server, &secret, server_nonce)?;
        Ok((ByteString::from(&sealed[..]), policy.encryption_uri.into()))
    }
}
