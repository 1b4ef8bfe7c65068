//! User identity tokens: the policies that endpoints offer, and what is in a token (OPC 10000-4 §7.40, §7.41).

use uaforge_channel::Operation;
use uaforge_codec::{Array, StatusCode, UaString};
use uaforge_crypto::{Certificate, Identity, Policy, Zeroizing, open_password};
use uaforge_types::{
    ActivateSessionRequest, AnonymousIdentityToken, IssuedIdentityToken, MessageSecurityMode,
    UserNameIdentityToken, UserTokenPolicy, UserTokenType, X509IdentityToken, status,
};

use super::{ChannelSecurity, Credentials, Offered, Secured, SessionSecurity};

const ANONYMOUS: &str = "anonymous";
const USER_NAME: &str = "username";
const CERTIFICATE: &str = "certificate";
const ISSUED: &str = "jwt";
/// IssuedTokenType of JSON Web Tokens (OPC 10000-6 §6.5.3).
const JWT: &str = "http://opcfoundation.org/UA/UserToken#JWT";

/// The token policies of one endpoint.
#[derive(Clone, Copy)]
pub(crate) struct TokenPolicies<'p> {
    pub(crate) offered: Offered,
    pub(crate) secured: &'p Secured,
    /// Policy and mode of the endpoint or channel; `None` is no security.
    pub(crate) channel: Option<(&'static Policy, MessageSecurityMode)>,
}

/// What a token asks for, before it is decided on.
pub(crate) enum Login {
    /// Nothing is to be proved.
    Now(Credentials),
    /// A secret is being decrypted.
    Secret {
        /// `None` is a token of a service.
        name: Option<String>,
        secret: Operation<Zeroizing<Vec<u8>>>,
    },
}

impl TokenPolicies<'_> {
    /// What secrets are encrypted with: the policy of the channel, or on a channel without security another
    /// one. `None`: they are not encrypted themselves, as the channel does that (OPC 10000-4 §7.41), or there
    /// is no way to.
    fn for_secrets(&self) -> Option<(&'static Policy, &Identity)> {
        match self.channel {
            Some((policy, _)) if !policy.encryption_uri.is_empty() => {
                self.secured.identity(policy).map(|identity| (policy, identity))
            }
            // An endpoint with elliptic curves has no certificate with RSA (OPC 10000-6 §6.8.1), which the
            // legacy format needs; what the channel encrypts is secret without it.
            Some(_) => None,
            None => self.secured.for_secrets().map(|offer| (offer.policy, &offer.identity)),
        }
    }

    /// Whether secrets may come over the channel at all.
    fn takes_secrets(&self) -> bool {
        let is_secret = matches!(self.channel, Some((_, MessageSecurityMode::SIGN_AND_ENCRYPT)));
        is_secret || self.for_secrets().is_some()
    }

    /// The policies as they stand in an EndpointDescription.
    pub(crate) fn describe(&self) -> Array<UserTokenPolicy> {
        let mut policies = Vec::new();
        let mut add = |id: &str, kind, uri: &str, issued: &str| {
            let text = |text: &str| if text.is_empty() { UaString::NULL } else { text.into() };
            policies.push(UserTokenPolicy {
                policy_id: id.into(),
                token_type: kind,
                issued_token_type: text(issued),
                security_policy_uri: text(uri),
                ..Default::default()
            });
        };
        if self.offered.anonymous {
            add(ANONYMOUS, UserTokenType::ANONYMOUS, "", "");
        }
        let secrets = self.for_secrets().map_or(uaforge_channel::POLICY_NONE, |(policy, _)| policy.uri);
        if self.offered.user_name && self.takes_secrets() {
            add(USER_NAME, UserTokenType::USER_NAME, secrets, "");
        }
        if self.offered.certificate && (self.channel.is_some() || self.secured.provider.is_some()) {
            add(CERTIFICATE, UserTokenType::CERTIFICATE, self.for_signatures().map_or("", |p| p.uri), "");
        }
        if self.offered.issued && self.takes_secrets() {
            add(ISSUED, UserTokenType::ISSUED_TOKEN, secrets, JWT);
        }
        Array::from(policies)
    }

    /// What users with certificates sign by.
    fn for_signatures(&self) -> Option<&'static Policy> {
        match self.channel {
            Some((policy, _)) => Some(policy),
            None => self.secured.for_secrets().map(|offer| offer.policy),
        }
    }

    /// Reads the token of a request; what it says is to be decided on.
    pub(crate) fn read(
        &self,
        request: &ActivateSessionRequest,
        server_nonce: &[u8],
        channel: Option<(&ChannelSecurity, &SessionSecurity)>,
    ) -> Result<Login, StatusCode> {
        let token = &request.user_identity_token;
        if token.is_null() {
            return self.anonymous(None);
        }
        if let Some(token) = token.downcast_ref::<AnonymousIdentityToken>() {
            return self.anonymous(token.policy_id.as_str());
        }
        if let Some(token) = token.downcast_ref::<UserNameIdentityToken>() {
            self.check_id(&token.policy_id, USER_NAME, self.offered.user_name && self.takes_secrets())?;
            let name = Some(token.user_name.text().to_owned());
            let secret = (token.password.bytes(), token.encryption_algorithm.as_str());
            return self.secret(name, secret, server_nonce);
        }
        if let Some(token) = token.downcast_ref::<IssuedIdentityToken>() {
            self.check_id(&token.policy_id, ISSUED, self.offered.issued && self.takes_secrets())?;
            let secret = (token.token_data.bytes(), token.encryption_algorithm.as_str());
            return self.secret(None, secret, server_nonce);
        }
        if let Some(token) = token.downcast_ref::<X509IdentityToken>() {
            self.check_id(&token.policy_id, CERTIFICATE, self.offered.certificate)?;
            return self.certificate(token, request, server_nonce, channel);
        }
        Err(status::BAD_IDENTITY_TOKEN_INVALID)
    }

    fn anonymous(&self, id: Option<&str>) -> Result<Login, StatusCode> {
        if !matches!(id, None | Some("" | ANONYMOUS)) {
            return Err(status::BAD_IDENTITY_TOKEN_INVALID);
        }
        if !self.offered.anonymous {
            return Err(status::BAD_IDENTITY_TOKEN_REJECTED);
        }
        Ok(Login::Now(Credentials::Anonymous))
    }

    fn check_id(&self, id: &UaString, expected: &str, offered: bool) -> Result<(), StatusCode> {
        if !offered {
            return Err(status::BAD_IDENTITY_TOKEN_REJECTED);
        }
        if id.as_str() == Some(expected) { Ok(()) } else { Err(status::BAD_IDENTITY_TOKEN_INVALID) }
    }

    /// A secret, encrypted in the legacy format or, if the channel encrypts, not by itself.
    fn secret(
        &self,
        name: Option<String>,
        (bytes, algorithm): (&[u8], Option<&str>),
        server_nonce: &[u8],
    ) -> Result<Login, StatusCode> {
        let algorithm = algorithm.unwrap_or_default();
        let secret = match self.for_secrets() {
            Some((policy, identity)) if algorithm == policy.encryption_uri => {
                open_password(policy, identity, bytes, server_nonce)
            }
            // Peers leave it in clear where the channel encrypts, whatever the policy of the token says.
            _ if algorithm.is_empty() && self.encrypts() => {
                Operation::Ready(Ok(Zeroizing::new(bytes.to_vec())))
            }
            _ => return Err(status::BAD_IDENTITY_TOKEN_INVALID),
        };
        Ok(Login::Secret { name, secret })
    }

    fn encrypts(&self) -> bool {
        matches!(self.channel, Some((_, MessageSecurityMode::SIGN_AND_ENCRYPT)))
    }

    /// A certificate, with the signature that proves its key (OPC 10000-4 §6.1.8).
    fn certificate(
        &self,
        token: &X509IdentityToken,
        request: &ActivateSessionRequest,
        server_nonce: &[u8],
        channel: Option<(&ChannelSecurity, &SessionSecurity)>,
    ) -> Result<Login, StatusCode> {
        let user = Certificate::from_der(token.certificate_data.bytes());
        let user = user.map_err(|_| status::BAD_IDENTITY_TOKEN_INVALID)?;
        let signature = &request.user_token_signature;
        let checked = match (channel, self.secured.for_secrets()) {
            (Some((channel, session)), _) => {
                let signatures = channel.signatures(session, server_nonce);
                signatures.check_user(channel.policy, &*channel.provider, &user, signature)
            }
            (None, Some(offer)) => {
                let provider = self.secured.provider.as_ref().ok_or(status::BAD_IDENTITY_TOKEN_REJECTED)?;
                let signatures = plain_signatures(&offer.identity, server_nonce);
                signatures.check_user(offer.policy, &**provider, &user, signature)
            }
            (None, None) => return Err(status::BAD_IDENTITY_TOKEN_REJECTED),
        };
        checked.map_err(|_| status::BAD_USER_SIGNATURE_INVALID)?;
        Ok(Login::Now(Credentials::Certificate(user)))
    }
}

/// What a user signs over a channel without security: the server's certificate and nonce.
fn plain_signatures<'s>(
    server: &'s Identity,
    server_nonce: &'s [u8],
) -> uaforge_crypto::SessionSignatures<'s> {
    uaforge_crypto::SessionSignatures {
        thumbprint: &[],
        server_channel: &[],
        client_channel: &[],
        server: server.chain(),
        client: &[],
        server_nonce,
        client_nonce: &[],
    }
}
