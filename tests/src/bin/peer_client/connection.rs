//! A session of our client, or a channel whose sessions the steps make.

use std::net::TcpStream;
use std::time::Duration;

use uaforge_client::{Error, Session};
use uaforge_codec::{NodeId, StatusCode};
use uaforge_tests::interop::Caller;
use uaforge_tests::peer::Peer;
use uaforge_types::{ServiceRequest, ServiceResponse};

/// How long a response may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// Where requests go.
pub(crate) enum Connection {
    /// A session that the client keeps.
    Session(Session),
    /// A channel without a session.
    Alone(Box<Peer<TcpStream>>),
}

impl Connection {
    /// Opens a channel.
    pub(crate) fn alone(url: &str) -> Result<Self, String> {
        let address = url.trim_start_matches("opc.tcp://").split('/').next().unwrap_or_default();
        let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
        let peer = Peer::connect(stream, url, uaforge_net::clock());
        match &peer.failure {
            Some(failure) => Err(failure.to_string()),
            None => Ok(Self::Alone(Box::new(peer))),
        }
    }
}

impl Caller for Connection {
    async fn call<Q: ServiceRequest>(
        &mut self,
        request: Q,
    ) -> Result<Result<Q::Response, StatusCode>, String> {
        match self {
            Self::Session(session) => match session.call_service(request).await {
                Ok(response) => Ok(Ok(response)),
                Err(Error::Service { status, .. }) => Ok(Err(status)),
                Err(error) => Err(error.to_string()),
            },
            Self::Alone(peer) => match peer.call(request) {
                Ok(response) if response.header().service_result.is_bad() => {
                    Ok(Err(response.header().service_result))
                }
                _ if peer.failure.is_some() => {
                    Err(peer.failure.as_ref().map(ToString::to_string).unwrap_or_default())
                }
                outcome => Ok(outcome),
            },
        }
    }

    fn set_token(&mut self, token: NodeId) -> Result<(), String> {
        match self {
            Self::Alone(peer) => {
                peer.token = token;
                Ok(())
            }
            Self::Session(_) => Err("the client keeps the token of its session".to_owned()),
        }
    }
}
