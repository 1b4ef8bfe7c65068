//! Making a server: endpoints, application, models, limits.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;

use uaforge_codec::{DateTime, Entropy, Structure, StructureDescriptor, TypeRegistry};
use uaforge_net::{Listener, OsEntropy};
use uaforge_nodes::{AddressSpace, StaticModel};
use uaforge_types::ApplicationType;

use crate::access::{AccessControl, Rights};
use crate::application::Application;
use crate::config::Limits;
use crate::discovery::{DiscoveryServer, Registration};
use crate::manager::{Claim, NodeManager, Routes};
use crate::security::{AnonymousOnly, Authenticator, Secured, Security};
use crate::server::{Parts, Server};
use crate::shared::SharedEntropy;
use crate::structures;
use crate::url::EndpointUrl;

/// Why a server cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No endpoint was named.
    #[error("the server has no endpoint: name one with .endpoint(\"opc.tcp://0.0.0.0:4840\")")]
    NoEndpoint,
    /// The endpoint URL is not of the form `opc.tcp://host[:port][/path]`.
    #[error("`{url}` is no endpoint URL: write opc.tcp://host[:port][/path]")]
    InvalidEndpoint {
        /// As it was given.
        url: String,
    },
    /// Endpoints are secured unless the builder says otherwise, and nothing was said to secure them with.
    #[error(
        "`{url}` would be a secured endpoint, but there is no certificate for it; add .security(…), \
         or .insecure() to offer it with security policy None: no signature, no encryption, no user"
    )]
    NotSecured {
        /// The first endpoint.
        url: String,
    },
    /// A certificate cannot be used.
    #[error("cannot secure the endpoints: {0}")]
    Security(uaforge_channel::ChannelError),
    /// A certificate is for another application than the server (OPC 10000-6 §6.2.2).
    #[error(
        "a certificate of the server is not for its application URI `{uri}`: say .application_uri(…) as it stands there"
    )]
    ApplicationUri {
        /// That of the server.
        uri: String,
    },
    /// The address of an endpoint cannot be listened on.
    #[error("cannot listen on `{url}`: {source}")]
    Bind {
        /// The endpoint.
        url: String,
        /// The reason.
        source: io::Error,
    },
    /// The models do not make an address space.
    #[error(transparent)]
    Models(#[from] uaforge_nodes::BuildError),
    /// A node manager claims a namespace that others have nodes in.
    #[error(
        "a node manager claims the namespace `{uri}`, which is not free: that of a model or of the \
         application, or one that another manager has, can be claimed in part only"
    )]
    NamespaceTaken {
        /// The namespace.
        uri: String,
    },
    /// A structure that was made known cannot be added to the address space.
    #[error(
        "cannot add the DataType of `{name}`: {status}; are the models of its supertype and fields given?"
    )]
    Structure {
        /// The structure.
        name: &'static str,
        /// The reason.
        status: uaforge_codec::StatusCode,
    },
    /// A node that every server has is missing.
    #[error(
        "cannot set up the Server object: {0}; is the base model (uaforge_ns0::model()) among the models?"
    )]
    ServerObject(uaforge_codec::StatusCode),
}

/// Builds a [`Server`]; from [`Server::builder`].
pub struct ServerBuilder {
    pub(crate) endpoints: Vec<String>,
    pub(crate) insecure: bool,
    security: Option<Security>,
    authenticator: Arc<dyn Authenticator>,
    pub(crate) application: Application,
    models: Vec<&'static StaticModel>,
    pub(crate) namespaces: Vec<String>,
    types: TypeRegistry,
    structures: Vec<&'static StructureDescriptor>,
    managers: Vec<Arc<dyn NodeManager>>,
    pub(crate) limits: Limits,
    entropy: SharedEntropy,
    rights: Rights,
    pub(crate) discovery_server: Option<DiscoveryServer>,
    pub(crate) registration: Registration,
}

impl ServerBuilder {
    pub(crate) fn new() -> Self {
        let mut types = TypeRegistry::new();
        uaforge_types::register_types(&mut types);
        Self {
            endpoints: Vec::new(),
            insecure: false,
            security: None,
            authenticator: Arc::new(AnonymousOnly),
            application: Application {
                uri: "urn:uaforge:server".into(),
                product_uri: "https://github.com/uaforge/uaforge".into(),
                name: "uaforge server".into(),
                manufacturer: "uaforge".into(),
                software_version: env!("CARGO_PKG_VERSION").into(),
                build_number: env!("CARGO_PKG_VERSION").into(),
                build_date: DateTime::NULL,
                kind: ApplicationType::SERVER,
            },
            models: Vec::new(),
            namespaces: Vec::new(),
            types,
            structures: Vec::new(),
            managers: Vec::new(),
            limits: Limits::default(),
            entropy: Box::new(OsEntropy),
            rights: Rights::default(),
            discovery_server: None,
            registration: Registration::default(),
        }
    }

    /// Adds an endpoint, such as `opc.tcp://0.0.0.0:4840`. Port 0 takes a free one.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoints.push(url.into());
        self
    }

    /// Offers the endpoints with security policy None: messages can be read and changed on the way, and
    /// every user is anonymous. For tests, for commissioning, and behind other protection.
    #[must_use]
    pub fn insecure(mut self) -> Self {
        self.insecure = true;
        self
    }

    /// Secures the endpoints: each is offered with every policy and mode of `security` (OPC 10000-7). Beside
    /// [`ServerBuilder::insecure`], they are offered without security too.
    #[must_use]
    pub fn security(mut self, security: Security) -> Self {
        self.security = Some(security);
        self
    }

    /// Says who knows the users; without it, everybody is anonymous (OPC 10000-4 §7.41).
    #[must_use]
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.authenticator = Arc::new(authenticator);
        self
    }

    /// The globally unique URI of this application instance; also the namespace with index 1
    /// (OPC 10000-3 §8.2.2).
    #[must_use]
    pub fn application_uri(mut self, uri: impl Into<String>) -> Self {
        self.application.uri = uri.into();
        self
    }

    /// The name that clients show.
    #[must_use]
    pub fn application_name(mut self, name: impl Into<String>) -> Self {
        self.application.name = name.into();
        self
    }

    /// The URI of the product that this application is an instance of.
    #[must_use]
    pub fn product_uri(mut self, uri: impl Into<String>) -> Self {
        self.application.product_uri = uri.into();
        self
    }

    /// Manufacturer, software version and build number of BuildInfo (OPC 10000-5 §12.4).
    #[must_use]
    pub fn build_info(
        mut self,
        manufacturer: impl Into<String>,
        software_version: impl Into<String>,
        build_number: impl Into<String>,
    ) -> Self {
        self.application.manufacturer = manufacturer.into();
        self.application.software_version = software_version.into();
        self.application.build_number = build_number.into();
        self
    }

    /// Adds the nodes of a model, such as `uaforge_di::model()`. In any order.
    #[must_use]
    pub fn model(mut self, model: &'static StaticModel) -> Self {
        self.models.push(model);
        self
    }

    /// Adds a namespace for nodes that are made at run time.
    #[must_use]
    pub fn namespace(mut self, uri: impl Into<String>) -> Self {
        self.namespaces.push(uri.into());
        self
    }

    /// Makes structures known, such as with `uaforge_di::register_types`; values of others stay opaque.
    #[must_use]
    pub fn types(mut self, register: fn(&mut TypeRegistry)) -> Self {
        register(&mut self.types);
        self
    }

    /// Makes a structure of the application known, and gives it and the types of its fields DataType
    /// nodes with their definitions and encodings, so that other clients can read its values
    /// (OPC 10000-3 §5.8.3, §5.8.4). Types that a model has are in its tables already.
    ///
    /// The names of fields in structures that were made known by a derive are those of the wire.
    #[must_use]
    pub fn structure<T: Structure>(mut self) -> Self {
        self.types.register::<T>();
        self.structures.push(T::DESCRIPTOR);
        self
    }

    /// Adds a node manager, which answers for the nodes that it claims.
    #[must_use]
    pub fn manager(mut self, manager: impl NodeManager) -> Self {
        self.managers.push(Arc::new(manager));
        self
    }

    /// Replaces the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Narrows what users may do below what the nodes offer; without it, everybody may do all of it.
    #[must_use]
    pub fn access_control(mut self, control: impl AccessControl) -> Self {
        self.rights = Rights(Some(Arc::new(control)));
        self
    }

    /// Makes this a local discovery server too: others register with it, and FindServers and
    /// FindServersOnNetwork tell of them. Without this, RegisterServer, RegisterServer2 and
    /// FindServersOnNetwork are answered with Bad_ServiceUnsupported (OPC 10000-4 §5.5).
    #[must_use]
    pub fn discovery_server(mut self, settings: DiscoveryServer) -> Self {
        self.application.kind = ApplicationType::DISCOVERY_SERVER;
        self.discovery_server = Some(settings);
        self
    }

    /// Says with which discovery servers the server is registered while it runs. Whoever runs it does
    /// the registering: `uaforge::run_registered` in place of [`Server::run_until`].
    #[must_use]
    pub fn registration(mut self, registration: Registration) -> Self {
        self.registration = registration;
        self
    }

    /// Replaces the operating system's randomness, for reproducible tests only.
    #[must_use]
    pub fn entropy(mut self, entropy: impl Entropy + Send + 'static) -> Self {
        self.entropy = Box::new(entropy);
        self
    }

    /// Builds the address space and begins to listen; connections are served by [`Server::run_until`].
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn build(mut self) -> Result<Server, BuildError> {
        let Some(first) = self.endpoints.first() else {
            return Err(BuildError::NoEndpoint);
        };
        let registration = self.registration.servers.iter().chain(&self.registration.discovery_urls);
        let mut urls = self.endpoints.iter().chain(registration);
        if let Some(url) = urls.find(|url| EndpointUrl::parse(url).is_none()) {
            return Err(BuildError::InvalidEndpoint { url: url.clone() });
        }
        let secured = Secured::new(self.security.as_ref(), self.insecure).map_err(BuildError::Security)?;
        if secured.is_empty() {
            return Err(BuildError::NotSecured { url: first.clone() });
        }
        if !secured.is_of(&self.application.uri) {
            return Err(BuildError::ApplicationUri { uri: self.application.uri });
        }
        let (space, routes) = self.address_space()?;
        let mut listeners = Vec::with_capacity(self.endpoints.len());
        for url in &mut self.endpoints {
            let listener = listen(url).map_err(|source| BuildError::Bind { url: url.clone(), source })?;
            if let Ok(address) = listener.local_addr() {
                with_port(url, address.port());
            }
            listeners.push(listener);
        }
        Server::new(Parts {
            application: self.application,
            endpoints: self.endpoints,
            limits: self.limits,
            types: self.types,
            managers: self.managers,
            entropy: self.entropy,
            rights: self.rights,
            space,
            routes,
            listeners,
            discovery_server: self.discovery_server,
            registration: self.registration,
            secured,
            authenticator: self.authenticator,
        })
    }

    /// The address space, and the managers of each namespace.
    fn address_space(&mut self) -> Result<(AddressSpace, Routes), BuildError> {
        let mut seed = [0; 8];
        self.entropy.fill(&mut seed);
        let mut builder = AddressSpace::builder(&self.application.uri).seed(u64::from_le_bytes(seed));
        for model in &self.models {
            builder = builder.model(model);
        }
        for uri in &self.namespaces {
            builder = builder.namespace(uri);
        }
        for uri in self.structures.iter().flat_map(|descriptor| structures::namespaces(descriptor)) {
            builder = builder.namespace(uri);
        }
        let taken = builder.namespaces().len();
        let mut routes = Routes::default();
        for (manager, number) in self.managers.iter().zip(1..=u16::MAX) {
            for Claim { uri, whole } in manager.namespaces() {
                builder = builder.namespace(&uri);
                let index = builder.namespaces().index_of(&uri).unwrap_or_default();
                if whole && usize::from(index) < taken || !routes.claim(index, number, whole) {
                    return Err(BuildError::NamespaceTaken { uri });
                }
            }
        }
        let space = builder.build()?;
        for descriptor in &self.structures {
            let added = space.edit(|edit| structures::add(edit, descriptor));
            added.map_err(|status| BuildError::Structure { name: descriptor.name, status })?;
        }
        Ok((space, routes))
    }
}

/// Listens on the host and port of an endpoint URL.
fn listen(url: &str) -> io::Result<Listener> {
    let Some(parsed) = EndpointUrl::parse(url) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let addresses: Vec<SocketAddr> = (parsed.host, parsed.port).to_socket_addrs()?.collect();
    for address in addresses {
        match Listener::bind(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Replaces port 0 by the one the system gave.
fn with_port(url: &mut String, port: u16) {
    let Some(parsed) = EndpointUrl::parse(url).filter(|parsed| parsed.port == 0) else { return };
    let host = if parsed.host.contains(':') { format!("[{}]", parsed.host) } else { parsed.host.to_string() };
    *url = format!("opc.tcp://{host}:{port}{}", parsed.path);
}
