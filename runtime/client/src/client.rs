//! Connecting.

use core::time::Duration;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use uaforge_net::{OsEntropy, Stream};
use uaforge_nodes::typed::RegisterTypes;

use crate::address::Address;
use crate::config::Config;
use crate::proto::SessionMachine;
use crate::tables::Tables;
use crate::{Error, Session};

/// Calls that wait to be taken by the connection's task; a further caller waits itself.
const QUEUE: usize = 256;

/// Connects to the address as typed, whatever the server's endpoint list says, and activates a session.
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
    /// Takes the endpoint without security: nothing is signed, encrypted or authenticated.
    #[must_use]
    pub fn insecure(mut self) -> Self {
        self.config.insecure = true;
        self
    }

    /// ApplicationUri and ApplicationName of this client.
    #[must_use]
    pub fn application(mut self, uri: &str, name: &str) -> Self {
        self.config.application_uri = uri.into();
        self.config.application_name = name.into();
        self
    }

    /// SessionName, as the server's diagnostics show it.
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

    /// Time of a call; default 10 s.
    #[must_use]
    pub fn request_timeout(mut self, time: Duration) -> Self {
        self.config.request_timeout = time;
        self
    }

    /// How long the server keeps the session without hearing from it; default 60 s.
    #[must_use]
    pub fn session_timeout(mut self, time: Duration) -> Self {
        self.config.session_timeout = time;
        self
    }

    /// Silence after which the server's state is read; default 5 s.
    #[must_use]
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.config.keep_alive = time;
        self
    }

    /// Lifetime of a security token, which is renewed in time; default one hour.
    #[must_use]
    pub fn token_lifetime(mut self, time: Duration) -> Self {
        self.config.token_lifetime = time;
        self
    }

    /// Requests that may wait for their response at once; default 1000. More wait to be sent.
    #[must_use]
    pub fn max_outstanding(mut self, requests: usize) -> Self {
        self.config.max_outstanding = requests.max(1);
        self
    }

    /// Connects to the address as typed and activates a session. The connection is one task on the tokio
    /// runtime that this is called from.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn connect(self, url: &str) -> Result<Session, Error> {
        let address = Address::parse(url)?;
        let config = Arc::new(self.config);
        let tables = Arc::new(self.tables);
        let failed =
            |reason| Error::Connect { address: address.authority().into(), reason: Arc::new(reason) };
        let dial = Stream::connect(&address.host, address.port);
        let stream = match uaforge_net::timeout(config.connect_timeout, dial).await {
            Ok(stream) => stream.map_err(failed)?,
            Err(_) => return Err(failed(std::io::ErrorKind::TimedOut.into())),
        };
        let (commands, receiver) = mpsc::channel(QUEUE);
        let (report, ready) = oneshot::channel();
        let machine = SessionMachine::new(
            Arc::clone(&address.url),
            config,
            Arc::clone(&tables),
            OsEntropy,
            receiver,
            uaforge_net::clock(),
            // Whoever connects may have stopped waiting; then the handle is gone and the machine ends.
            Box::new(move |outcome| drop(report.send(outcome))),
        );
        tokio::spawn(uaforge_net::drive(stream, machine));
        let info = ready.await.map_err(|_| Error::closed("while connecting"))??;
        Ok(Session::new(commands, tables, info))
    }
}
