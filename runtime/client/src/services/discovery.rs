//! Discovery services (OPC 10000-4 §5.5), with and without a session.

use std::sync::Arc;

use uaforge_codec::{Array, ExtensionObject, StatusCode, UaString};
use uaforge_types::{
    ApplicationDescription, EndpointDescription, FindServersOnNetworkRequest, FindServersOnNetworkResponse,
    FindServersRequest, GetEndpointsRequest, RegisterServer2Request, RegisterServerRequest, RegisteredServer,
};

use crate::link::{CallOptions, Link};
use crate::{Error, Session};

/// A channel for the discovery services, without a session: from
/// [`ClientBuilder::discovery`](crate::ClientBuilder::discovery). It is closed when it is dropped.
pub struct Discovery {
    link: Link,
    url: Arc<str>,
}

impl Discovery {
    pub(crate) fn new(link: Link, url: Arc<str>) -> Self {
        Self { link, url }
    }

    /// The endpoints of the server at the address that was dialled (OPC 10000-4 §5.5.4). Their own
    /// addresses may be others; a client goes on with the one that works for it.
    ///
    /// # Errors
    /// The service failed.
    pub async fn get_endpoints(&self) -> Result<Vec<EndpointDescription>, Error> {
        get_endpoints(&self.link, &self.url).await
    }

    /// The servers that this one knows, itself among them (OPC 10000-4 §5.5.2).
    ///
    /// # Errors
    /// The service failed.
    pub async fn find_servers(&self) -> Result<Vec<ApplicationDescription>, Error> {
        find_servers(&self.link, &self.url).await
    }

    /// The servers that a discovery server has seen on the network (OPC 10000-4 §5.5.3): records after
    /// `starting_record`, at most `max_records` of them (0 is all), of servers with all of these
    /// capabilities (OPC 10000-12 Annex D).
    ///
    /// # Errors
    /// The service failed; Bad_ServiceUnsupported where the server is no discovery server.
    pub async fn find_servers_on_network(
        &self,
        starting_record: u32,
        max_records: u32,
        capabilities: &[&str],
    ) -> Result<FindServersOnNetworkResponse, Error> {
        find_servers_on_network(&self.link, starting_record, max_records, capabilities).await
    }

    /// Registers a server with a discovery server (OPC 10000-4 §5.5.6). It has to be done again and again,
    /// at most every 10 minutes, as long as the server is there. The results are those of the
    /// configurations, such as an `MdnsDiscoveryConfiguration`, in their order.
    ///
    /// ```no_run
    /// # use uaforge_client::{Client, Error};
    /// # use uaforge_types::RegisteredServer;
    /// # async fn example(server: RegisteredServer) -> Result<(), Error> {
    /// let discovery = Client::builder().discovery("opc.tcp://localhost:4840").await?;
    /// discovery.register_server2(server, Vec::new()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The service failed. With Bad_ServiceUnsupported, [`Discovery::register_server`] may do.
    pub async fn register_server2(
        &self,
        server: RegisteredServer,
        configuration: Vec<ExtensionObject>,
    ) -> Result<Vec<StatusCode>, Error> {
        let discovery_configuration = Array::from(configuration);
        let request = RegisterServer2Request { server, discovery_configuration, ..Default::default() };
        Ok(call(&self.link, request).await?.configuration_results.into_vec())
    }

    /// Registers a server with a discovery server of the old kind (OPC 10000-4 §5.5.5).
    ///
    /// # Errors
    /// The service failed.
    pub async fn register_server(&self, server: RegisteredServer) -> Result<(), Error> {
        let request = RegisterServerRequest { server, ..Default::default() };
        call(&self.link, request).await.map(drop)
    }

    /// Closes the channel, and waits until that is done.
    pub async fn close(self) {
        self.link.close().await;
    }
}

impl core::fmt::Debug for Discovery {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Discovery").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Session {
    /// The endpoints of the server, as a client that dials `url` would see them (OPC 10000-4 §5.5.4).
    ///
    /// # Errors
    /// The service failed.
    pub async fn get_endpoints(&self, url: &str) -> Result<Vec<EndpointDescription>, Error> {
        get_endpoints(self.link(), url).await
    }

    /// The servers that this one knows, itself among them (OPC 10000-4 §5.5.2).
    ///
    /// # Errors
    /// The service failed.
    pub async fn find_servers(&self, url: &str) -> Result<Vec<ApplicationDescription>, Error> {
        find_servers(self.link(), url).await
    }

    /// The servers that a discovery server has seen on the network; see
    /// [`Discovery::find_servers_on_network`].
    ///
    /// # Errors
    /// The service failed; Bad_ServiceUnsupported where the server is no discovery server.
    pub async fn find_servers_on_network(
        &self,
        starting_record: u32,
        max_records: u32,
        capabilities: &[&str],
    ) -> Result<FindServersOnNetworkResponse, Error> {
        find_servers_on_network(self.link(), starting_record, max_records, capabilities).await
    }
}

async fn call<Q: uaforge_types::ServiceRequest>(link: &Link, request: Q) -> Result<Q::Response, Error> {
    link.call(request, CallOptions::default()).await
}

async fn get_endpoints(link: &Link, url: &str) -> Result<Vec<EndpointDescription>, Error> {
    let request = GetEndpointsRequest { endpoint_url: url.into(), ..Default::default() };
    Ok(call(link, request).await?.endpoints.into_vec())
}

async fn find_servers(link: &Link, url: &str) -> Result<Vec<ApplicationDescription>, Error> {
    let request = FindServersRequest { endpoint_url: url.into(), ..Default::default() };
    Ok(call(link, request).await?.servers.into_vec())
}

async fn find_servers_on_network(
    link: &Link,
    starting_record_id: u32,
    max_records_to_return: u32,
    capabilities: &[&str],
) -> Result<FindServersOnNetworkResponse, Error> {
    let filter: Vec<UaString> = capabilities.iter().map(|capability| UaString::from(*capability)).collect();
    let request = FindServersOnNetworkRequest {
        starting_record_id,
        max_records_to_return,
        server_capability_filter: filter.into(),
        ..Default::default()
    };
    call(link, request).await
}
