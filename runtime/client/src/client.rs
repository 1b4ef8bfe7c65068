//! Connecting.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};
use uaforge_codec::{Array, Entropy, Now};
use uaforge_crypto::Identity;
use uaforge_net::OsEntropy;
use uaforge_nodes::typed::RegisterTypes;
use uaforge_types::EndpointDescription;

use crate::address::Address;
use crate::config::Config;
use crate::dial::{choose, dial, supervise};
use crate::link::Link;
use crate::proto::{Connection, Goal, Handles, Plan, Ties};
use crate::recovery::{ConnectionState, Reconnect};
use crate::security::{SecuredEndpoint, Security, UserIdentity};
use crate::tables::Tables;
use crate::{Discovery, Error, Session, SessionInfo};

/// Connects to the address as typed, whatever the server's endpoint list says, and activates a session
/// (OPC 10000-4 §5.7).
/// The connection is one task on the tokio runtime that this is called from.
///
/// A server whose endpoints are all without security is refused; see [`connect_insecure`].
///
/// # Errors
/// See [`Error`].
pub async fn connect(url: &str) -> Result<Session, Error> {
    Client::builder().connect(url).await
}

/// As [`connect`], over an endpoint without security: nothing is signed, encrypted or authenticated.
///
/// # Errors
/// See [`Error`].
pub async fn connect_insecure(url: &str) -> Result<Session, Error> {
    Client::builder().insecure().connect(url).await
}

/// Makes sessions.
#[derive(Debug)]
pub struct Client(());

impl Client {
    /// Begins a client.
    #[must_use]
    pub fn builder() -> ClientBuilder {
        ClientBuilder { config: Config::default(), tables: Tables::new() }
    }
}

/// What a session is to be like.
#[derive(Debug)]
pub struct ClientBuilder {
    config: Config,
    tables: Tables,
}

impl ClientBuilder {
    /// Takes the endpoint without security: nothing is signed, encrypted or authenticated (OPC 10000-4
    /// §7.20 MessageSecurityMode None).
    #[must_use]
    pub fn insecure(mut self) -> Self {
        self.config.insecure = true;
        self
    }

    /// Secures the channel, over the strongest endpoint that the server and `security` have in common
    /// (OPC 10000-4 §5.5.4, §6.1).
    #[must_use]
    pub fn security(mut self, security: Security) -> Self {
        self.config.security = Some(security);
        self
    }

    /// Logs a user in with name and password (OPC 10000-4 §7.40.4). Needs [`ClientBuilder::security`]; the
    /// password is encrypted, or sent over a channel that is.
    #[must_use]
    pub fn user_name(mut self, name: &str, password: &str) -> Self {
        self.config.user = UserIdentity::UserName { name: name.into(), password: password.to_owned().into() };
        self
    }

    /// Logs a user in with a certificate (OPC 10000-4 §7.40.5). Needs [`ClientBuilder::security`].
    #[must_use]
    pub fn user_certificate(mut self, user: Identity) -> Self {
        self.config.user = UserIdentity::Certificate(user);
        self
    }

    /// Logs a user in with a token of an authorisation service, such as a JSON Web Token (OPC 10000-4 §7.40.6).
    /// Needs [`ClientBuilder::security`].
    #[must_use]
    pub fn issued_token(mut self, token: impl Into<Vec<u8>>) -> Self {
        self.config.user = UserIdentity::Issued(token.into().into());
        self
    }

    /// ApplicationUri and ApplicationName of this client (OPC 10000-4 §7.2).
    #[must_use]
    pub fn application(mut self, uri: &str, name: &str) -> Self {
        self.config.application_uri = uri.into();
        self.config.application_name = name.into();
        self
    }

    /// SessionName, as the server's diagnostics show it (OPC 10000-4 §5.7.2).
    #[must_use]
    pub fn session_name(mut self, name: &str) -> Self {
        self.config.session_name = name.into();
        self
    }

    /// Makes the structures of a model known: its `register_types`. Typed objects do it by themselves.
    #[must_use]
    pub fn types(self, register: RegisterTypes) -> Self {
        self.tables.register(register);
        self
    }

    /// Time from dialling to the ready session; default 10 s.
    #[must_use]
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.config.connect_timeout = time;
        self
    }

    /// Time of a call, from the moment it is made to its response; default 10 s. The server is told it as
    /// timeoutHint (OPC 10000-4 §7.33). Each call may have its own.
    #[must_use]
    pub fn request_timeout(mut self, time: Duration) -> Self {
        self.config.request_timeout = time;
        self
    }

    /// How long the server keeps the session without hearing from it; default 60 s. The server may revise
    /// it (OPC 10000-4 §5.7.2 requestedSessionTimeout); the session is kept alive by what it says.
    #[must_use]
    pub fn session_timeout(mut self, time: Duration) -> Self {
        self.config.session_timeout = time;
        self
    }

    /// Silence after which ServerStatus.State is read (OPC 10000-5 §12.10); default 5 s. A server that does
    /// not answer it within the time of a call has ended the session.
    #[must_use]
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.config.keep_alive = time;
        self
    }

    /// Comes back by itself after the connection was lost: over a new one to the same session, or to a new session
    /// that takes over the subscriptions; those that the server has no more are made anew, with their items
    /// (OPC 10000-4 §6.7). Calls that wait when the connection is lost, and those that come until it is back, fail
    /// at once. [`Session::connection_state`] tells of it. Without this, a session ends with its connection.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uaforge_client::{Client, Reconnect};
    /// let builder = Client::builder().reconnect(Reconnect::default().longest_wait(Duration::from_secs(5)));
    /// ```
    #[must_use]
    pub fn reconnect(mut self, policy: Reconnect) -> Self {
        self.config.reconnect = Some(policy);
        self
    }

    /// Lifetime of a security token, which is renewed in time (OPC 10000-4 §5.6.2 requestedLifetime);
    /// default one hour.
    #[must_use]
    pub fn token_lifetime(mut self, time: Duration) -> Self {
        self.config.token_lifetime = time;
        self
    }

    /// Requests that may wait for their response at once; default 1000, at least 1. More calls wait,
    /// within their own time.
    #[must_use]
    pub fn max_outstanding(mut self, requests: usize) -> Self {
        self.config.max_outstanding = requests.max(1);
        self
    }

    /// Requests on their way at once for one call that was taken apart; default 4, at least 1.
    #[must_use]
    pub fn parallel_parts(mut self, requests: usize) -> Self {
        self.config.parallel_parts = requests.max(1);
        self
    }

    /// Publish requests that wait at the server at once (OPC 10000-4 §5.14.5); default 10, at least 1. One
    /// more than there are subscriptions are sent, and fewer than this if the server says that it takes
    /// fewer. On ways with much delay more of them carry more notifications.
    #[must_use]
    pub fn max_publish_requests(mut self, requests: usize) -> Self {
        self.config.max_publish_requests = requests.max(1);
        self
    }

    /// Longest response that is accepted, in bytes; default 64 MiB. The server is told (OPC 10000-6
    /// §7.1.2.3 MaxMessageSize, OPC 10000-4 §5.7.2 maxResponseMessageSize), and what it finds too large
    /// is asked for in parts. 0 is no limit.
    #[must_use]
    pub fn max_message_size(mut self, bytes: u32) -> Self {
        self.config.max_message_size = bytes;
        self
    }

    /// Connects to the address as typed and activates a session (OPC 10000-4 §5.5.4, §5.6.2, §5.7.2,
    /// §5.7.3). The connection is one task on the tokio runtime that this is called from.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn connect(self, url: &str) -> Result<Session, Error> {
        let endpoint = match self.config.security.as_ref().filter(|_| !self.config.insecure) {
            Some(security) => Some(choose(&self.config, security, url).await?),
            None => None,
        };
        let (stream, now) = dial(&self.config, url).await?;
        let (connection, session) = self.start_at(url, OsEntropy, now, endpoint)?;
        tokio::spawn(supervise(connection, stream));
        session.await
    }

    /// Opens a channel for the discovery services (OPC 10000-4 §5.5), without a session. They need no
    /// security (OPC 10000-4 §5.5.2, §5.5.4), so it is a plain channel; what is registered over it is
    /// up to the discovery server.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), uaforge_client::Error> {
    /// let discovery = uaforge_client::Client::builder().discovery("opc.tcp://plant:4840").await?;
    /// for server in discovery.find_servers().await? {
    ///     println!("{} {:?}", server.application_uri, server.discovery_urls);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn discovery(self, url: &str) -> Result<Discovery, Error> {
        let (stream, now) = dial(&self.config, url).await?;
        let (connection, discovery) = self.start_discovery(url, OsEntropy, now)?;
        tokio::spawn(uaforge_net::drive(stream, connection));
        discovery.await
    }

    /// As [`ClientBuilder::discovery`], over the strongest endpoint that fits [`ClientBuilder::security`]: for
    /// servers that register where that needs to be proved (OPC 10000-4 §5.5.5.1, OPC 10000-12 §4.2.3).
    ///
    /// # Errors
    /// See [`Error`]; there is no [`ClientBuilder::security`], or no endpoint fits.
    pub async fn secured_discovery(self, url: &str) -> Result<Discovery, Error> {
        let missing = || Error::NoSecurityProvider { url: url.into() };
        let security = self.config.security.as_ref().ok_or_else(missing)?;
        let endpoint = choose(&self.config, security, url).await?;
        let (stream, now) = dial(&self.config, url).await?;
        let (connection, ready) = self.prepare(url, OsEntropy, now, Goal::Channel, Some(endpoint))?;
        tokio::spawn(uaforge_net::drive(stream, connection));
        Ok(Discovery::new(ready.await?.0, url.into()))
    }

    /// A connection that the caller drives: any transport, any clock. Nothing is dialled and nothing is
    /// spawned; the session is ready when the connection was given enough of the server's bytes. It has no
    /// security: which endpoint to secure, [`ClientBuilder::start_secured`] is told.
    ///
    /// # Errors
    /// The address is none, see [`Error::Address`].
    pub fn start(
        self,
        url: &str,
        entropy: impl Entropy + Clone + Send + 'static,
        now: Now,
    ) -> Result<(Connection, Connecting<Session>), Error> {
        self.start_at(url, entropy, now, None)
    }

    /// As [`ClientBuilder::start`], over the strongest of these endpoints, which GetEndpoints of the server gave
    /// (OPC 10000-4 §5.5.4).
    ///
    /// # Errors
    /// The address is none, there is no [`ClientBuilder::security`], or no endpoint fits.
    pub fn start_secured(
        self,
        url: &str,
        endpoints: Vec<EndpointDescription>,
        entropy: impl Entropy + Clone + Send + 'static,
        now: Now,
    ) -> Result<(Connection, Connecting<Session>), Error> {
        let Address { url, host, .. } = Address::parse(url)?;
        let missing = || Error::NoSecurityProvider { url: Arc::clone(&url) };
        let security = self.config.security.as_ref().ok_or_else(missing)?;
        let chosen = security.choose(&endpoints, &self.config.user, &url, &host)?;
        self.start_at(&url, entropy, now, Some((chosen, Array::from(endpoints))))
    }

    fn start_at(
        self,
        url: &str,
        entropy: impl Entropy + Clone + Send + 'static,
        now: Now,
        secured: Option<(SecuredEndpoint, Array<EndpointDescription>)>,
    ) -> Result<(Connection, Connecting<Session>), Error> {
        let (connection, ready) = self.prepare(url, entropy, now, Goal::Session, secured)?;
        let outcome = Box::pin(async move {
            let (link, info) = ready.await?;
            info.map(|info| Session::new(link, info)).ok_or_else(|| Error::closed("while connecting"))
        });
        Ok((connection, Connecting { outcome }))
    }

    /// As [`ClientBuilder::start`], for the discovery services alone; see [`ClientBuilder::discovery`].
    ///
    /// # Errors
    /// The address is none, see [`Error::Address`].
    pub fn start_discovery(
        self,
        url: &str,
        entropy: impl Entropy + Clone + Send + 'static,
        now: Now,
    ) -> Result<(Connection, Connecting<Discovery>), Error> {
        let (connection, ready) = self.prepare(url, entropy, now, Goal::Channel, None)?;
        let url: Arc<str> = url.into();
        let outcome = Box::pin(async move { Ok(Discovery::new(ready.await?.0, url)) });
        Ok((connection, Connecting { outcome }))
    }

    fn prepare(
        self,
        url: &str,
        entropy: impl Entropy + Clone + Send + 'static,
        now: Now,
        goal: Goal,
        secured: Option<(SecuredEndpoint, Array<EndpointDescription>)>,
    ) -> Result<(Connection, Preparing), Error> {
        let Address { url, .. } = Address::parse(url)?;
        if secured.is_none() && !matches!(self.config.user, UserIdentity::Anonymous) {
            return Err(Error::UserInClear);
        }
        let config = Arc::new(self.config);
        let tables = Arc::new(self.tables);
        let handles = Arc::new(Handles::default());
        let (commands, receiver) = mpsc::unbounded_channel();
        let (ended, end) = watch::channel(None);
        let (state, states) = watch::channel(ConnectionState::Connected);
        let (report, ready) = oneshot::channel();
        let bounds = (config.request_timeout, config.max_outstanding, config.parallel_parts);
        let link = Link::new(Arc::clone(&tables), Arc::clone(&handles), commands, (end, states), bounds);
        // Whoever connects may have stopped waiting; then the link is gone and the machine ends.
        let report = Box::new(move |outcome| drop(report.send(outcome)));
        let ties = Ties { tables, handles, ended, state, report };
        let connection = Connection::new(Plan { url, config, goal, secured }, entropy, receiver, now, ties);
        let connection = connection.map_err(|error| Error::Channel {
            status: error.status,
            reason: error.reason.to_string().into(),
        })?;
        let ready = async move {
            let info = ready.await.map_err(|_| Error::closed("while connecting"))??;
            Ok((link, info))
        };
        Ok((connection, Box::pin(ready)))
    }
}

/// The callers' end of a ready connection.
type Ready = (Link, Option<SessionInfo>);
type Preparing = Pin<Box<dyn Future<Output = Result<Ready, Error>> + Send>>;

/// A [`Session`] or [`Discovery`] that is on its way; await it while the [`Connection`] is driven.
#[must_use = "the session comes out of it"]
pub struct Connecting<T> {
    outcome: Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>,
}

impl<T> Future for Connecting<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.outcome.as_mut().poll(cx)
    }
}

impl<T> core::fmt::Debug for Connecting<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Connecting")
    }
}
