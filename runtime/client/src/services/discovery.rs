//! Discovery over an open session (OPC 10000-4 §5.5).

use uaforge_types::{ApplicationDescription, EndpointDescription, FindServersRequest, GetEndpointsRequest};

use crate::{Error, Session};

impl Session {
    /// The endpoints of the server, as a client that dials `url` would see them.
    ///
    /// # Errors
    /// The service failed.
    pub async fn get_endpoints(&self, url: &str) -> Result<Vec<EndpointDescription>, Error> {
        let request = GetEndpointsRequest { endpoint_url: url.into(), ..Default::default() };
        Ok(self.call_service(request).await?.endpoints.into_vec())
    }

    /// The servers that this one knows, itself among them.
    ///
    /// # Errors
    /// The service failed.
    pub async fn find_servers(&self, url: &str) -> Result<Vec<ApplicationDescription>, Error> {
        let request = FindServersRequest { endpoint_url: url.into(), ..Default::default() };
        Ok(self.call_service(request).await?.servers.into_vec())
    }
}
