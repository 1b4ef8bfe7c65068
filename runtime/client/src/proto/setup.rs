//! The requests that lead to a ready session, and what their responses mean
//! (OPC 10000-4 §5.5.4, §5.7.2, §5.7.3).

use core::time::Duration;
use std::sync::Arc;

use uaforge_channel::Operation;
use uaforge_codec::{
    Array, ByteString, ConstIdentifier, DataValue, Entropy, ExtensionObject, FromVariant, LocalizedText,
    NamespaceMap, NodeId, Structure as _, Ticks, UaString,
};
use uaforge_types::{
    ActivateSessionRequest, AnonymousIdentityToken, ApplicationDescription, ApplicationType,
    CloseSessionRequest, CreateSessionRequest, CreateSessionResponse, EndpointDescription,
    GetEndpointsRequest, ReadRequest, ReadValueId, TimestampsToReturn, ids, status,
};

use super::endpoints::Chosen;
use super::secured::Secured;
use crate::Error;
use crate::config::Config;
use uaforge_nodes::AttributeId;

/// How much the server takes at once, as it announces it; 0 is no limit, or none that it tells
/// (OPC 10000-5 §6.3.2 ServerCapabilitiesType, §6.3.11 OperationLimitsType).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationLimits {
    /// MaxNodesPerRead: nodes of one Read.
    pub max_nodes_per_read: u32,
    /// MaxNodesPerWrite: nodes of one Write.
    pub max_nodes_per_write: u32,
    /// MaxNodesPerMethodCall: Methods of one Call.
    pub max_nodes_per_method_call: u32,
    /// MaxNodesPerBrowse: nodes of one Browse, continuation points of one BrowseNext.
    pub max_nodes_per_browse: u32,
    /// MaxNodesPerRegisterNodes: nodes of one RegisterNodes.
    pub max_nodes_per_register_nodes: u32,
    /// MaxNodesPerTranslateBrowsePathsToNodeIds: paths of one call.
    pub max_nodes_per_translate: u32,
    /// MaxMonitoredItemsPerCall: items of one call.
    pub max_monitored_items_per_call: u32,
    /// MaxArrayLength: elements of an array in a message or a value.
    pub max_array_length: u32,
    /// MaxBrowseContinuationPoints: continuation points that one session may hold.
    pub max_browse_continuation_points: u16,
}

/// What is known once the session is ready (OPC 10000-4 §5.7.2).
#[derive(Clone, Debug)]
pub struct SessionInfo {
    /// The SessionId.
    pub session_id: NodeId,
    /// RevisedSessionTimeout; zero if the server gave no number that makes sense.
    pub timeout: Duration,
    /// ApplicationUri of the server.
    pub server_uri: UaString,
    /// What the server takes in one call.
    pub limits: OperationLimits,
}

/// Told once: the connection is ready, with a session if one was wanted, or why it is not.
pub(crate) type Report = Box<dyn FnOnce(Result<Option<SessionInfo>, Error>) + Send>;

/// What is gathered until the connection is ready.
pub(super) struct Setup {
    pub(super) report: Report,
    pub(super) deadline: Ticks,
    pub(super) endpoints: Array<EndpointDescription>,
    pub(super) chosen: Option<Chosen>,
    /// The security of the channel, if it has any.
    pub(super) secured: Option<Box<Secured>>,
    /// An ActivateSession request that waits for its signatures.
    pub(super) activation: Option<Operation<ActivateSessionRequest>>,
    pub(super) info: Option<SessionInfo>,
    /// There was a connection before.
    pub(super) is_again: bool,
    /// ActivateSession is for the session of before.
    pub(super) resumes: bool,
}

impl Setup {
    pub(super) fn new(report: Report, deadline: Ticks) -> Self {
        Self {
            report,
            deadline,
            endpoints: Array::default(),
            chosen: None,
            secured: None,
            activation: None,
            info: None,
            is_again: false,
            resumes: false,
        }
    }
}

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

/// Namespace table and limits, in the order that [`limits`] reads them.
pub(crate) fn read_tables() -> ReadRequest {
    use ids::variable as v;
    read_values([
        v::SERVER_NAMESPACE_ARRAY.identifier(),
        v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_READ.identifier(),
        v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_WRITE.identifier(),
        v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_METHOD_CALL.identifier(),
        v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_BROWSE.identifier(),
        v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_REGISTER_NODES.identifier(),
        v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_TRANSLATE_BROWSE_PATHS_TO_NODE_IDS
            .identifier(),
        v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_MONITORED_ITEMS_PER_CALL.identifier(),
        v::SERVER_SERVER_CAPABILITIES_MAX_ARRAY_LENGTH.identifier(),
        v::SERVER_SERVER_CAPABILITIES_MAX_BROWSE_CONTINUATION_POINTS.identifier(),
    ])
}

/// The namespace table alone.
pub(crate) fn read_namespaces() -> ReadRequest {
    read_values([ids::variable::SERVER_NAMESPACE_ARRAY.identifier()])
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

/// The namespace table out of the results of [`read_tables`] or [`read_namespaces`].
pub(crate) fn namespaces(results: &[DataValue]) -> Result<NamespaceMap, Error> {
    let value = results.first().and_then(DataValue::value);
    let uris = value.and_then(|value| Array::<UaString>::from_variant(value).ok()).ok_or_else(|| {
        let found = results.first().map(DataValue::status_or_good).unwrap_or_default();
        let status = if found.is_bad() { found } else { status::BAD_TYPE_MISMATCH };
        Error::operation("NamespaceArray", status).of(ReadRequest::DESCRIPTOR.name)
    })?;
    Ok(NamespaceMap::from_uris(uris.iter().map(|uri| Arc::<str>::from(uri.text()))))
}

/// The limits out of the results of [`read_tables`]. Those that a server lacks are none.
pub(crate) fn limits(results: &[DataValue]) -> OperationLimits {
    let value = |index: usize| results.get(index).and_then(DataValue::value);
    let limit = |index| value(index).and_then(|value| u32::from_variant(value).ok()).unwrap_or_default();
    OperationLimits {
        max_nodes_per_read: limit(1),
        max_nodes_per_write: limit(2),
        max_nodes_per_method_call: limit(3),
        max_nodes_per_browse: limit(4),
        max_nodes_per_register_nodes: limit(5),
        max_nodes_per_translate: limit(6),
        max_monitored_items_per_call: limit(7),
        max_array_length: limit(8),
        max_browse_continuation_points: value(9)
            .and_then(|value| u16::from_variant(value).ok())
            .unwrap_or_default(),
    }
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
