//! Choosing an endpoint. Its address is the one the user typed, whatever the list says.

use uaforge_codec::{Array, UaString};
use uaforge_types::{EndpointDescription, MessageSecurityMode, UserTokenType};

use crate::Error;

/// The policy without security (OPC 10000-7 §6.6).
const POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";

/// What of an endpoint the session needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// PolicyId of its anonymous identity token.
    pub(crate) anonymous: UaString,
    /// ServerUri for CreateSession.
    pub(crate) server_uri: UaString,
}

/// Picks the endpoint without security, if the word was said (OPC 10000-4 §5.5.4).
pub(crate) fn choose(endpoints: &[EndpointDescription], insecure: bool, url: &str) -> Result<Chosen, Error> {
    let plain = endpoints.iter().find(|endpoint| is_plain(endpoint));
    if !insecure {
        return Err(if endpoints.iter().all(is_plain) {
            Error::PlainOnly { url: url.into() }
        } else {
            Error::NoSecurityProvider { url: url.into() }
        });
    }
    let endpoint = plain.ok_or_else(|| Error::NoPlainEndpoint { url: url.into() })?;
    let mut tokens = endpoint.user_identity_tokens.iter();
    let anonymous = tokens
        .find(|token| token.token_type == UserTokenType::ANONYMOUS)
        .ok_or_else(|| Error::AnonymousRefused { url: url.into() })?;
    Ok(Chosen { anonymous: anonymous.policy_id.clone(), server_uri: endpoint.server.application_uri.clone() })
}

fn is_plain(endpoint: &EndpointDescription) -> bool {
    endpoint.security_mode == MessageSecurityMode::NONE && endpoint.security_policy_uri == POLICY_NONE
}

/// Whether both lists say the same but for hosts (OPC 10000-4 §5.7.2: a difference is an attack).
pub(crate) fn agree(discovered: &Array<EndpointDescription>, session: &Array<EndpointDescription>) -> bool {
    summary(discovered) == summary(session)
}

/// Policy, mode and accepted tokens of an endpoint.
type Summary<'a> = (&'a str, i32, Vec<(i32, &'a str)>);

fn summary(endpoints: &[EndpointDescription]) -> Vec<Summary<'_>> {
    let mut out: Vec<_> = endpoints
        .iter()
        .filter(|endpoint| is_tcp(endpoint))
        .map(|endpoint| {
            let tokens = endpoint.user_identity_tokens.iter();
            let mut tokens: Vec<_> =
                tokens.map(|token| (token.token_type.0, token.security_policy_uri.text())).collect();
            tokens.sort_unstable();
            (endpoint.security_policy_uri.text(), endpoint.security_mode.0, tokens)
        })
        .collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// UA TCP with binary encoding; other transports may be missing in one of the lists.
fn is_tcp(endpoint: &EndpointDescription) -> bool {
    const TCP: &str = "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary";
    endpoint.transport_profile_uri == TCP || endpoint.transport_profile_uri.is_empty()
}

#[cfg(test)]
mod tests {
    use uaforge_types::UserTokenPolicy;

    use super::*;

    fn endpoint(host: &str, policy: &str, mode: MessageSecurityMode) -> EndpointDescription {
        EndpointDescription {
            endpoint_url: format!("opc.tcp://{host}:4840/srv").into(),
            security_policy_uri: policy.into(),
            security_mode: mode,
            user_identity_tokens: vec![UserTokenPolicy {
                policy_id: "anon".into(),
                token_type: UserTokenType::ANONYMOUS,
                ..Default::default()
            }]
            .into(),
            ..Default::default()
        }
    }

    const SECURE: &str = "http://opcfoundation.org/UA/SecurityPolicy#Basic256Sha256";

    #[test]
    fn a_plain_endpoint_needs_the_word() {
        let plain = [endpoint("plant", POLICY_NONE, MessageSecurityMode::NONE)];
        assert!(matches!(choose(&plain, false, "u"), Err(Error::PlainOnly { .. })));
        assert_eq!(choose(&plain, true, "u").unwrap().anonymous, "anon");
        let secure = [endpoint("plant", SECURE, MessageSecurityMode::SIGN)];
        assert!(matches!(choose(&secure, false, "u"), Err(Error::NoSecurityProvider { .. })));
        assert!(matches!(choose(&secure, true, "u"), Err(Error::NoPlainEndpoint { .. })));
    }

    /// Case 037, steps 8 and 9.
    #[test]
    fn lists_may_differ_in_hosts_only() {
        let typed: Array<_> = vec![endpoint("127.0.0.1", POLICY_NONE, MessageSecurityMode::NONE)].into();
        let named: Array<_> = vec![endpoint("plant", POLICY_NONE, MessageSecurityMode::NONE)].into();
        assert!(agree(&typed, &named));
        let other: Array<_> = vec![endpoint("127.0.0.1", SECURE, MessageSecurityMode::SIGN)].into();
        assert!(!agree(&typed, &other));
    }
}
