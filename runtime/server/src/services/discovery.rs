//! Discovery service set (OPC 10000-4 §5.5): FindServers and GetEndpoints, before any session.

use uaforge_codec::{Array, ByteString, Ticks, UaString};
use uaforge_types::{
    ApplicationDescription, EndpointDescription, FindServersRequest, FindServersResponse,
    GetEndpointsRequest, GetEndpointsResponse, MessageSecurityMode, UserTokenPolicy, UserTokenType,
};

use crate::shared::Core;
use crate::url::EndpointUrl;

/// Transport profile of UA TCP with binary encoding (OPC 10000-7).
pub(crate) const TRANSPORT_PROFILE: &str =
    "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary";
/// Security policy None (OPC 10000-7).
pub(crate) const POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";
/// Id of the token policy for anonymous users in our endpoints.
pub(crate) const ANONYMOUS_POLICY: &str = "anonymous";

/// FindServers (OPC 10000-4 §5.5.2): this server, and a discovery server's registrations, unless the client
/// asked for others.
pub(crate) fn find_servers(
    core: &Core,
    request: &FindServersRequest,
    dialled: &str,
    now: Ticks,
) -> FindServersResponse {
    let mut servers = vec![application(core, reached(request.endpoint_url.as_str(), dialled))];
    if let Some(registry) = &core.registry {
        let ours = servers.first().map(|server| server.application_uri.clone());
        let others = registry.servers(&request.locale_ids, now);
        servers.extend(others.into_iter().filter(|server| Some(&server.application_uri) != ours.as_ref()));
    }
    if !request.server_uris.is_empty() {
        servers.retain(|server| request.server_uris.contains(&server.application_uri));
    }
    FindServersResponse { servers: Array::from(servers), ..Default::default() }
}

/// GetEndpoints (OPC 10000-4 §5.5.4), with the address the client dialled.
pub(crate) fn get_endpoints(
    core: &Core,
    request: &GetEndpointsRequest,
    dialled: &str,
) -> GetEndpointsResponse {
    let wanted = request.profile_uris.is_empty()
        || request.profile_uris.iter().any(|uri| uri.as_str() == Some(TRANSPORT_PROFILE));
    let endpoints =
        if wanted { endpoints(core, reached(request.endpoint_url.as_str(), dialled)) } else { Vec::new() };
    GetEndpointsResponse { endpoints: Array::from(endpoints), ..Default::default() }
}

/// The address in the request if it is one, else the one of the Hello message.
pub(crate) fn reached<'a>(in_request: Option<&'a str>, in_hello: &'a str) -> &'a str {
    in_request.filter(|url| EndpointUrl::parse(url).is_some()).unwrap_or(in_hello)
}

/// The endpoints of the server as seen from an address.
pub(crate) fn endpoints(core: &Core, dialled: &str) -> Vec<EndpointDescription> {
    let server = application(core, dialled);
    core.endpoints
        .iter()
        .filter_map(|url| EndpointUrl::parse(url))
        .map(|url| EndpointDescription {
            endpoint_url: UaString::from(url.as_dialled(dialled)),
            server: server.clone(),
            server_certificate: ByteString::default(),
            security_mode: MessageSecurityMode::NONE,
            security_policy_uri: UaString::from(POLICY_NONE),
            user_identity_tokens: Array::from(vec![UserTokenPolicy {
                policy_id: UaString::from(ANONYMOUS_POLICY),
                token_type: UserTokenType::ANONYMOUS,
                ..Default::default()
            }]),
            transport_profile_uri: UaString::from(TRANSPORT_PROFILE),
            security_level: 0,
        })
        .collect()
}

fn application(core: &Core, dialled: &str) -> ApplicationDescription {
    let urls = core.endpoints.iter().filter_map(|url| EndpointUrl::parse(url));
    let discovery: Vec<UaString> = urls.map(|url| UaString::from(url.as_dialled(dialled))).collect();
    ApplicationDescription { discovery_urls: Array::from(discovery), ..core.application.description() }
}
