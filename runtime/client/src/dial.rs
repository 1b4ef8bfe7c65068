//! The way to a server: dialling, the choice of an endpoint, and coming back after a loss.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use std::sync::Arc;

use uaforge_codec::{Array, Now};
use uaforge_net::{OsEntropy, Stream, clock};
use uaforge_types::EndpointDescription;

use crate::address::Address;
use crate::config::Config;
use crate::proto::Connection;
use crate::security::{SecuredEndpoint, Security};
use crate::{Client, Error};

/// An endpoint to secure, and those that the server named.
type Endpoint = (SecuredEndpoint, Array<EndpointDescription>);

/// Asks the server for its endpoints, and takes the strongest that fits.
pub(crate) async fn choose(config: &Config, security: &Security, url: &str) -> Result<Endpoint, Error> {
    let Address { url, host, .. } = Address::parse(url)?;
    let asking = Client::builder().connect_timeout(config.connect_timeout);
    let discovery = asking.request_timeout(config.request_timeout).discovery(&url).await?;
    let endpoints = discovery.get_endpoints().await?;
    discovery.close().await;
    let chosen = security.choose(&endpoints, &config.user, &url, &host)?;
    Ok((chosen, Array::from(endpoints)))
}

pub(crate) async fn dial(config: &Config, url: &str) -> Result<(Stream, Now), Error> {
    let address = Address::parse(url)?;
    let failed = |reason| Error::Connect { address: address.authority().into(), reason: Arc::new(reason) };
    let dial = Stream::connect(&address.host, address.port);
    match uaforge_net::timeout(config.connect_timeout, dial).await {
        Ok(stream) => Ok((stream.map_err(failed)?, clock())),
        Err(_) => Err(failed(std::io::ErrorKind::TimedOut.into())),
    }
}

/// Drives a connection, and the ones after it as long as its session is to come back.
pub(crate) async fn supervise(mut connection: Connection, mut stream: Stream) {
    loop {
        // How the socket has failed is of no interest: that it is gone is.
        drop(uaforge_net::drive(stream, &mut connection).await);
        connection.disconnected();
        let Some(next) = reconnect(&mut connection).await else { return };
        stream = next;
    }
}

/// Tries again until there is a connection; `None` if nobody wants one any more.
async fn reconnect(connection: &mut Connection) -> Option<Stream> {
    loop {
        let wait = clock().ticks + connection.wait_to_reconnect()?;
        meanwhile(connection, uaforge_net::sleep_until(wait)).await?;
        let (config, url) = (Arc::clone(connection.config()), Arc::clone(connection.url()));
        let attempt = async {
            let endpoint = match config.security.as_ref().filter(|_| !config.insecure) {
                Some(security) => Some(choose(&config, security, &url).await?),
                None => None,
            };
            Ok((endpoint, dial(&config, &url).await?))
        };
        match meanwhile(connection, attempt).await? {
            Ok((endpoint, (stream, now))) => {
                connection.restart(endpoint, OsEntropy, now);
                return Some(stream);
            }
            Err(error) => connection.reconnect_failed(error),
        }
    }
}

/// Waits for something while there is no connection; `None` if the session has ended meanwhile.
async fn meanwhile<F: Future>(connection: &mut Connection, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        if connection.serve_offline(cx, &clock) {
            return Poll::Ready(None);
        }
        future.as_mut().poll(cx).map(Some)
    })
    .await
}
