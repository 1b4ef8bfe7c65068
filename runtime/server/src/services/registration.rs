//! What only discovery servers answer (OPC 10000-4 §5.5.3, §5.5.5, §5.5.6); all others say
//! Bad_ServiceUnsupported.

use uaforge_codec::{Array, StatusCode, Ticks};
use uaforge_types::{
    FindServersOnNetworkRequest, FindServersOnNetworkResponse, MdnsDiscoveryConfiguration,
    RegisterServer2Request, RegisterServer2Response, RegisterServerRequest, RegisterServerResponse, status,
};

use crate::discovery::{Registrant, Registry};
use crate::shared::Core;

fn registry(core: &Core) -> Result<&Registry, StatusCode> {
    core.registry.as_ref().ok_or(status::BAD_SERVICE_UNSUPPORTED)
}

/// FindServersOnNetwork (OPC 10000-4 §5.5.3): those who registered to be found there.
pub(crate) fn find_servers_on_network(
    core: &Core,
    request: &FindServersOnNetworkRequest,
    now: Ticks,
) -> Result<FindServersOnNetworkResponse, StatusCode> {
    let registry = registry(core)?;
    let mut servers = registry.on_network(request.starting_record_id, &request.server_capability_filter, now);
    if request.max_records_to_return > 0 {
        servers.truncate(usize::try_from(request.max_records_to_return).unwrap_or(usize::MAX));
    }
    Ok(FindServersOnNetworkResponse {
        last_counter_reset_time: registry.started,
        servers: Array::from(servers),
        ..Default::default()
    })
}

/// RegisterServer (OPC 10000-4 §5.5.5).
pub(crate) fn register_server(
    core: &Core,
    by: &Registrant<'_>,
    request: RegisterServerRequest,
    now: Ticks,
) -> Result<RegisterServerResponse, StatusCode> {
    registry(core)?.register(by, request.server, None, now)?;
    Ok(RegisterServerResponse::default())
}

/// RegisterServer2 (OPC 10000-4 §5.5.6): an MdnsDiscoveryConfiguration is all that can be configured.
pub(crate) fn register_server2(
    core: &Core,
    by: &Registrant<'_>,
    request: RegisterServer2Request,
    now: Ticks,
) -> Result<RegisterServer2Response, StatusCode> {
    let mut network = None;
    let mut results = Vec::with_capacity(request.discovery_configuration.len());
    for configuration in request.discovery_configuration.iter() {
        results.push(match configuration.downcast_ref::<MdnsDiscoveryConfiguration>() {
            Some(_) if network.is_some() => status::BAD_INVALID_ARGUMENT,
            Some(mdns) if mdns.mdns_server_name.as_str().unwrap_or_default().is_empty() => {
                status::BAD_INVALID_ARGUMENT
            }
            Some(mdns) => {
                network = Some(mdns.clone());
                StatusCode::GOOD
            }
            None => status::BAD_NOT_SUPPORTED,
        });
    }
    registry(core)?.register(by, request.server, network, now)?;
    Ok(RegisterServer2Response { configuration_results: Array::from(results), ..Default::default() })
}
