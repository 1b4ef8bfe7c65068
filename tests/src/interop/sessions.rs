//! Discovery, sessions and Cancel (OPC 10000-4 §5.5, §5.7).

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use super::{items, number, text};
use serde_json::{Value, json};
use uaforge_codec::{ByteString, ExtensionObject, NodeId, UaString};
use uaforge_types::{
    ActivateSessionRequest, AnonymousIdentityToken, ApplicationDescription, ApplicationType, CancelRequest,
    CloseSessionRequest, CreateSessionRequest, EndpointDescription, FindServersRequest, GetEndpointsRequest,
    MessageSecurityMode, UserNameIdentityToken, UserTokenType,
};

use super::{Caller, Conversation, Outcome};

impl<C: Caller> Conversation<C> {
    pub(super) async fn get_endpoints(&mut self, step: &Value) -> Outcome {
        let request = GetEndpointsRequest {
            endpoint_url: self.url.as_str().into(),
            profile_uris: texts(step, "profiles").into(),
            ..Default::default()
        };
        let response = match self.connection.call(request).await? {
            Ok(response) => response,
            Err(status) => return Ok(json!({ "status": status.0 })),
        };
        let endpoints: Vec<Value> =
            response.endpoints.iter().map(|endpoint| self.endpoint(endpoint)).collect();
        Ok(json!({ "status": response.response_header.service_result.0, "endpoints": endpoints }))
    }

    fn endpoint(&self, endpoint: &EndpointDescription) -> Value {
        let string = |text: &UaString| text.as_str().unwrap_or_default().to_owned();
        let tokens: Vec<i32> =
            endpoint.user_identity_tokens.iter().map(|policy| policy.token_type.0).collect();
        json!({
            "url": string(&endpoint.endpoint_url).trim_end_matches('/') == self.url.trim_end_matches('/'),
            "mode": endpoint.security_mode.0,
            "policy": string(&endpoint.security_policy_uri),
            "profile": string(&endpoint.transport_profile_uri),
            "tokens": tokens,
        })
    }

    pub(super) async fn find_servers(&mut self, step: &Value) -> Outcome {
        let request = FindServersRequest {
            endpoint_url: self.url.as_str().into(),
            server_uris: texts(step, "uris").into(),
            ..Default::default()
        };
        Ok(match self.connection.call(request).await? {
            Ok(response) => {
                let types: Vec<i32> =
                    response.servers.iter().map(|server| server.application_type.0).collect();
                json!({ "status": response.response_header.service_result.0, "types": types })
            }
            Err(status) => json!({ "status": status.0 }),
        })
    }

    pub(super) async fn create_session(&mut self, step: &Value) -> Outcome {
        let request = CreateSessionRequest {
            client_description: ApplicationDescription {
                application_uri: "urn:example:peer:client".into(),
                application_type: ApplicationType::CLIENT,
                ..Default::default()
            },
            endpoint_url: self.url.as_str().into(),
            session_name: "peer".into(),
            client_nonce: nonce(),
            requested_session_timeout: step.get("timeout").and_then(Value::as_f64).unwrap_or(60_000.0),
            ..Default::default()
        };
        let response = match self.connection.call(request).await? {
            Ok(response) => response,
            Err(status) => return Ok(json!({ "status": status.0 })),
        };
        self.connection.set_token(response.authentication_token)?;
        Ok(json!({
            "status": response.response_header.service_result.0,
            "timeout": response.revised_session_timeout,
        }))
    }

    pub(super) async fn activate(&mut self, step: &Value) -> Outcome {
        let token = match text(step, "identity") {
            "null" => ExtensionObject::default(),
            "user" => ExtensionObject::new(UserNameIdentityToken {
                policy_id: "no such policy".into(),
                user_name: "nobody".into(),
                password: ByteString::from(b"wrong".to_vec()),
                ..Default::default()
            }),
            _ => ExtensionObject::new(AnonymousIdentityToken { policy_id: self.anonymous().await? }),
        };
        let request = ActivateSessionRequest { user_identity_token: token, ..Default::default() };
        Ok(match self.connection.call(request).await? {
            Ok(response) => json!({ "status": response.response_header.service_result.0 }),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    /// The id of the policy for anonymous users, which each server names as it likes.
    async fn anonymous(&mut self) -> Result<UaString, String> {
        let request = GetEndpointsRequest { endpoint_url: self.url.as_str().into(), ..Default::default() };
        let response =
            self.connection.call(request).await?.map_err(|status| format!("GetEndpoints: {status}"))?;
        let open = response.endpoints.iter().filter(|e| e.security_mode == MessageSecurityMode::NONE);
        let mut policies = open.flat_map(|endpoint| endpoint.user_identity_tokens.iter());
        let found = policies.find(|policy| policy.token_type == UserTokenType::ANONYMOUS);
        Ok(found.map(|policy| policy.policy_id.clone()).unwrap_or_default())
    }

    pub(super) async fn close_session(&mut self) -> Outcome {
        let request = CloseSessionRequest { delete_subscriptions: true, ..Default::default() };
        Ok(match self.connection.call(request).await? {
            Ok(response) => json!({ "status": response.response_header.service_result.0 }),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    pub(super) async fn cancel(&mut self, step: &Value) -> Outcome {
        let request = CancelRequest { request_handle: number(step, "handle", 0), ..Default::default() };
        Ok(match self.connection.call(request).await? {
            Ok(response) => json!({
                "status": response.response_header.service_result.0,
                "cancelled": response.cancel_count,
            }),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    /// Takes another authentication token from here on.
    pub(super) fn take_token(&mut self, step: &Value) -> Outcome {
        self.connection.set_token(match text(step, "use") {
            "random" => NodeId::opaque(0, *b"no such session!"),
            _ => NodeId::NULL,
        })?;
        Ok(json!({}))
    }
}

fn texts(step: &Value, field: &str) -> Vec<UaString> {
    items(step, field).iter().filter_map(Value::as_str).map(Into::into).collect()
}

/// A nonce that no server has seen (OPC 10000-4 §5.7.2); here it need not be a secret.
fn nonce() -> ByteString {
    let words = (0..4).flat_map(|_| RandomState::new().build_hasher().finish().to_le_bytes());
    ByteString::from(words.collect::<Vec<u8>>())
}
