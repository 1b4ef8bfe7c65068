//! A server that is registered with discovery servers while it runs (OPC 10000-12 §4.2.2).

use core::future::Future;
use core::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use uaforge_client::{Client, Error, Security};
use uaforge_codec::{ExtensionObject, UaString};
use uaforge_server::{Server, ServerError};
use uaforge_types::{MdnsDiscoveryConfiguration, status};

/// A registration is renewed at least this often (OPC 10000-4 §5.5.5.1).
const LONGEST_INTERVAL: Duration = Duration::from_secs(600);
/// How soon a registration that failed is tried again.
const RETRY: Duration = Duration::from_secs(30);
/// Time to connect, and for each call.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves as [`Server::run_until`] does, and keeps the server registered with the discovery servers of
/// [`Server::registration`]: with RegisterServer2, or RegisterServer where that is not known. When `stop` is
/// ready, the server is unregistered, then stopped. A discovery server that cannot be reached is tried again
/// and never holds the server up, but up to ten seconds when it stops.
///
/// Registering takes the discovery server's endpoint without security; [`run_registered_securely`] takes the
/// strongest one.
///
/// # Errors
/// See [`Server::run_until`].
pub async fn run_registered(server: &Server, stop: impl Future) -> Result<(), ServerError> {
    run(server, None, stop).await
}

/// As [`run_registered`], over channels that are secured with the server's certificate, as the specification
/// asks for (OPC 10000-4 §5.5.5.1, OPC 10000-12 §4.2.3): discovery servers may refuse all others, and compare
/// the ServerUri with that of the certificate.
///
/// # Errors
/// See [`Server::run_until`].
pub async fn run_registered_securely(
    server: &Server,
    security: Security,
    stop: impl Future,
) -> Result<(), ServerError> {
    run(server, Some(security), stop).await
}

async fn run(server: &Server, security: Option<Security>, stop: impl Future) -> Result<(), ServerError> {
    let (stopping, stopped) = watch::channel(false);
    // Whatever ends this future ends the tasks.
    let mut tasks = JoinSet::new();
    for url in &server.registration().servers {
        tasks.spawn(keep(server.clone(), security.clone(), url.clone(), stopped.clone()));
    }
    let stop = async {
        stop.await;
        stopping.send_replace(true);
        while tasks.join_next().await.is_some() {}
    };
    server.run_until(stop).await
}

/// Registers again and again until `stopped`, then unregisters.
async fn keep(server: Server, security: Option<Security>, url: String, mut stopped: watch::Receiver<bool>) {
    let interval = server.registration().interval.clamp(Duration::from_secs(1), LONGEST_INTERVAL);
    let mut failing = false;
    loop {
        let outcome = register(&server, security.as_ref(), &url, true).await;
        match &outcome {
            Err(error) if !failing => {
                tracing::warn!(url, %error, "cannot register with the discovery server")
            }
            Ok(()) if failing => tracing::info!(url, "registered with the discovery server again"),
            _ => {}
        }
        failing = outcome.is_err();
        let pause = if failing { interval.min(RETRY) } else { interval };
        let due = uaforge_net::clock().ticks + pause;
        tokio::select! {
            () = uaforge_net::sleep_until(due) => {}
            _ = stopped.wait_for(|stopped| *stopped) => break,
        }
    }
    if failing {
        return;
    }
    if let Err(error) = register(&server, security.as_ref(), &url, false).await {
        tracing::warn!(url, %error, "cannot unregister from the discovery server");
    }
}

async fn register(
    server: &Server,
    security: Option<&Security>,
    url: &str,
    is_online: bool,
) -> Result<(), Error> {
    let told = server.registered_server(is_online);
    let name = told.server_names.first().map(|name| name.text.clone()).unwrap_or_default();
    let capabilities = server.registration().capabilities.iter();
    let network = MdnsDiscoveryConfiguration {
        mdns_server_name: name,
        server_capabilities: capabilities.map(|one| UaString::from(one.as_str())).collect::<Vec<_>>().into(),
    };
    let client = Client::builder().connect_timeout(PATIENCE).request_timeout(PATIENCE);
    let discovery = match security {
        Some(security) => client.security(security.clone()).secured_discovery(url).await?,
        None => client.insecure().discovery(url).await?,
    };
    let outcome = discovery.register_server2(told.clone(), vec![ExtensionObject::new(network)]).await;
    let outcome = match outcome {
        // A discovery server from before version 1.04 of the specification.
        Err(Error::Service { status, .. })
            if [status::BAD_SERVICE_UNSUPPORTED, status::BAD_NOT_IMPLEMENTED].contains(&status) =>
        {
            discovery.register_server(told).await
        }
        outcome => outcome.map(drop),
    };
    discovery.close().await;
    outcome
}
