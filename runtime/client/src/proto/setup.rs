//! The requests that lead to a ready session, and what their responses mean
//! (OPC 10000-4 §5.5.4, §5.7.2, §5.7.3).

use core::time::Duration;
use std::sync::Arc;

use uaforge_codec::{
    Array, ByteString, ConstIdentifier, DataValue, Entropy, ExtensionObject, FromVariant, LocalizedText,
    NamespaceMap, NodeId, UaString,
};
use uaforge_types::{
    ActivateSessionRequest, AnonymousIdentityToken, ApplicationDescription, ApplicationType,
    CloseSessionRequest, CreateSessionRequest, CreateSessionResponse, GetEndpointsRequest, ReadRequest,
    ReadValueId, TimestampsToReturn, ids,
};

use super::endpoints::Chosen;
use crate::Error;
use crate::config::Config;
use uaforge_nodes::AttributeId;

/// How many operations the server takes in one call; 0 is no limit (OPC 10000-5 §6.3.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationLimits {
    /// MaxNodesPerRead.
    pub max_nodes_per_read: u32,
    /// MaxNodesPerBrowse.
    pub max_nodes_per_browse: u32,
    /// MaxNodesPerTranslateBrowsePathsToNodeIds.
    pub max_nodes_per_translate: u32,
}

/// What is known once the session is ready.
#[derive(Clone, Debug)]
pub struct SessionInfo {
    /// The SessionId.
    pub session_id: NodeId,
    /// RevisedSessionTimeout.
    pub timeout: Duration,
    /// ApplicationUri of the server.
    pub server_uri: UaString,
    /// What the server takes in one call.
    pub limits: OperationLimits,
}

/// Told once: the session is ready, or why it is not.
pub(crate) type Report = Box<dyn FnOnce(Result<SessionInfo, Error>) + Send>;

pub(crate) fn get_endpoints(url: &str) -> GetEndpointsRequest {
    GetEndpointsRequest { endpoint_url: url.into(), ..Default::default() }
}

pub(crate) fn create_session(
    url: &str,
    config: &Config,
    chosen: &Chosen,
    entropy: &mut dyn Entropy,
) -> CreateSessionRequest {
    let mut nonce = [0; 32];
    entropy.fill(&mut nonce);
    CreateSessionRequest {
        client_description: ApplicationDescription {
            application_uri: (&*config.application_uri).into(),
            application_name: LocalizedText::from(&*config.application_name),
            application_type: ApplicationType::CLIENT,
            ..Default::default()
        },
        server_uri: chosen.server_uri.clone(),
        endpoint_url: url.into(),
        session_name: (&*config.session_name).into(),
        client_nonce: ByteString::from(nonce),
        requested_session_timeout: config.session_timeout.as_secs_f64() * 1000.0,
        max_response_message_size: config.max_message_size,
        ..Default::default()
    }
}

pub(crate) fn activate_session(chosen: &Chosen) -> ActivateSessionRequest {
    let token = AnonymousIdentityToken { policy_id: chosen.anonymous.clone() };
    ActivateSessionRequest { user_identity_token: ExtensionObject::new(token), ..Default::default() }
}

pub(crate) fn close_session() -> CloseSessionRequest {
    CloseSessionRequest { delete_subscriptions: true, ..Default::default() }
}

/// Namespace table and limits, in this order.
pub(crate) fn read_tables() -> ReadRequest {
    read_values([
        ids::variable::SERVER_NAMESPACE_ARRAY.identifier(),
        ids::variable::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_READ.identifier(),
        ids::variable::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_BROWSE.identifier(),
        ids::variable::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_TRANSLATE_BROWSE_PATHS_TO_NODE_IDS
            .identifier(),
    ])
}

pub(crate) fn read_state() -> ReadRequest {
    read_values([ids::variable::SERVER_SERVER_STATUS_STATE.identifier()])
}

fn read_values<const N: usize>(nodes: [ConstIdentifier; N]) -> ReadRequest {
    let nodes = nodes.map(|id| ReadValueId {
        node_id: id.in_namespace(0).to_owned(),
        attribute_id: AttributeId::Value as u32,
        ..Default::default()
    });
    ReadRequest {
        timestamps_to_return: TimestampsToReturn::NEITHER,
        nodes_to_read: Array::from(nodes),
        ..Default::default()
    }
}

/// Namespace table and limits out of the results of [`read_tables`]. Limits that a server lacks are none.
pub(crate) fn tables(results: &[DataValue]) -> Result<(NamespaceMap, OperationLimits), Error> {
    let value = |index: usize| results.get(index).and_then(DataValue::value);
    let uris = value(0).and_then(|value| Array::<UaString>::from_variant(value).ok()).ok_or_else(|| {
        let status = results.first().map(DataValue::status_or_good).unwrap_or_default();
        Error::operation("NamespaceArray", status)
    })?;
    let limit = |index| value(index).and_then(|value| u32::from_variant(value).ok()).unwrap_or_default();
    let limits = OperationLimits {
        max_nodes_per_read: limit(1),
        max_nodes_per_browse: limit(2),
        max_nodes_per_translate: limit(3),
    };
    let uris = uris.iter().map(|uri| Arc::<str>::from(uri.text()));
    Ok((NamespaceMap::from_uris(uris), limits))
}

pub(crate) fn info(created: CreateSessionResponse, chosen: &Chosen) -> SessionInfo {
    let millis = created.revised_session_timeout;
    let timeout = if millis.is_finite() && millis > 0.0 { millis.min(1e12) } else { 0.0 };
    SessionInfo {
        session_id: created.session_id,
        timeout: Duration::from_secs_f64(timeout / 1000.0),
        server_uri: chosen.server_uri.clone(),
        limits: OperationLimits::default(),
    }
}
