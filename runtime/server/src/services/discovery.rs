//! Discovery service set (OPC 10000-4 §5.5): FindServers and GetEndpoints, before any session.

use uaforge_channel::POLICY_NONE;
use uaforge_codec::{Array, ByteString, Ticks, UaString};
use uaforge_types::{
    ApplicationDescription, EndpointDescription, FindServersRequest, FindServersResponse,
    GetEndpointsRequest, GetEndpointsResponse, MessageSecurityMode,
};

use crate::security::{Offer, TokenPolicies};
use crate::shared::Core;
use crate::url::EndpointUrl;

/// Transport profile of UA TCP with binary encoding (OPC 10000-7).
pub(crate) const TRANSPORT_PROFILE: &str =
    "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary";

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
    let secured = core.secured();
    let offered = core.authenticator.offered();
    let plain = secured.plain.then_some(None);
    let offers = || plain.into_iter().chain(secured.offers.iter().map(Some));
    let urls = core.endpoints.iter().filter_map(|url| EndpointUrl::parse(url));
    urls.flat_map(|url| {
        let url = url.as_dialled(dialled);
        offers().map(move |offer| (url.clone(), offer))
    })
    .map(|(url, offer)| {
        let channel = offer.map(|offer| (offer.policy, offer.mode));
        let tokens = TokenPolicies { offered, secured: &secured, channel };
        let identity = offer.or_else(|| secured.for_secrets()).map(|offer| &offer.identity);
        EndpointDescription {
            endpoint_url: UaString::from(url),
            server: server.clone(),
            server_certificate: identity.map_or(ByteString::NULL, |own| ByteString::from(&own.chain()[..])),
            security_mode: offer.map_or(MessageSecurityMode::NONE, |offer| offer.mode),
            security_policy_uri: UaString::from(offer.map_or(POLICY_NONE, |offer| offer.policy.uri)),
            user_identity_tokens: tokens.describe(),
            transport_profile_uri: UaString::from(TRANSPORT_PROFILE),
            security_level: offer.map_or(0, level),
        }
    })
    .collect()
}

/// How strong an endpoint is: signed ones come after all encrypted ones (OPC 10000-4 §7.14).
fn level(offer: &Offer) -> u8 {
    let encrypted = offer.mode == MessageSecurityMode::SIGN_AND_ENCRYPT;
    offer.policy.level + if encrypted { 100 } else { 0 }
}

fn application(core: &Core, dialled: &str) -> ApplicationDescription {
    let urls = core.endpoints.iter().filter_map(|url| EndpointUrl::parse(url));
    let discovery: Vec<UaString> = urls.map(|url| UaString::from(url.as_dialled(dialled))).collect();
    ApplicationDescription { discovery_urls: Array::from(discovery), ..core.application.description() }
}
