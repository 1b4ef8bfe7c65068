//! This server among discovery servers: as one of them, and registered with others (OPC 10000-12 §4).

mod registry;

use core::time::Duration;

use uaforge_codec::{Array, UaString};
use uaforge_types::RegisteredServer;

use crate::Server;
use crate::url::EndpointUrl;

pub(crate) use registry::{Registrant, Registry};

/// How a server acts as local discovery server, which keeps the registrations of others.
///
/// A registration lies in memory: whoever is registered registers again at least every ten minutes
/// (OPC 10000-4 §5.5.5.1), also after this server was started anew.
///
/// Who may register: servers of this machine, as OPC 10000-12 §4.2.3 has it, and others with
/// [`remote`](Self::remote). Over a secured channel, the ServerUri has to be that of the certificate
/// (OPC 10000-4 §5.5.5.1); without security, anyone who may connect can register any ServerUri.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryServer {
    /// Servers that are kept; one more is answered with Bad_ResourceUnavailable.
    pub max_servers: usize,
    /// A server that does not register again for this long is forgotten.
    pub expiry: Duration,
    /// Whether servers of other machines may register too; without it they are answered with
    /// Bad_UserAccessDenied.
    pub remote: bool,
}

impl Default for DiscoveryServer {
    fn default() -> Self {
        // Two registrations in a row may get lost.
        Self { max_servers: 1_000, expiry: Duration::from_secs(30 * 60), remote: false }
    }
}

/// With which discovery servers a server is registered, and as what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Addresses of the discovery servers, such as `opc.tcp://localhost:4840`.
    pub servers: Vec<String>,
    /// How often the registration is renewed; at most every ten minutes (OPC 10000-4 §5.5.5.1).
    pub interval: Duration,
    /// The addresses that clients are told. Without any, those of the endpoints, where one of all
    /// interfaces (`0.0.0.0`, `[::]`) becomes `localhost`.
    pub discovery_urls: Vec<String>,
    /// What the server is good for (OPC 10000-12 Annex D), such as `DA` for current data.
    pub capabilities: Vec<String>,
}

impl Registration {
    /// With one discovery server, every ten minutes, as a server of current data.
    #[must_use]
    pub fn with(server: impl Into<String>) -> Self {
        Self { servers: vec![server.into()], ..Self::default() }
    }
}

impl Default for Registration {
    /// With no discovery server yet.
    fn default() -> Self {
        Self {
            servers: Vec::new(),
            interval: Duration::from_secs(600),
            discovery_urls: Vec::new(),
            capabilities: vec!["DA".to_owned()],
        }
    }
}

impl Server {
    /// With which discovery servers this one is to be registered.
    #[must_use]
    pub fn registration(&self) -> &Registration {
        &self.core().registration
    }

    /// What a discovery server is told (RegisteredServer, OPC 10000-4 §7.37); `is_online` is false when the
    /// server is about to stop.
    #[must_use]
    pub fn registered_server(&self, is_online: bool) -> RegisteredServer {
        let application = self.core().application.description();
        let told = &self.registration().discovery_urls;
        let urls = if told.is_empty() {
            self.endpoints().iter().map(|url| reachable(url)).collect()
        } else {
            told.clone()
        };
        RegisteredServer {
            server_uri: application.application_uri,
            product_uri: application.product_uri,
            server_names: Array::from(vec![application.application_name]),
            server_type: application.application_type,
            discovery_urls: urls.iter().map(|url| UaString::from(url.as_str())).collect::<Vec<_>>().into(),
            is_online,
            ..Default::default()
        }
    }
}

/// An endpoint as clients of this machine reach it.
fn reachable(url: &str) -> String {
    match EndpointUrl::parse(url) {
        Some(parsed) if matches!(parsed.host, "0.0.0.0" | "::") => {
            parsed.as_dialled(&format!("opc.tcp://localhost:{}", parsed.port))
        }
        _ => url.to_owned(),
    }
}
