//! Our server at the discovery server of another implementation: `peer_register URL [--keeps]`. It registers, is
//! to be found there, and unregisters when it stops; a server that `--keeps` what has unregistered has to do so.

use std::error::Error;
use std::time::Duration;

use uaforge::client::{self, Client};
use uaforge::server::{Registration, Server};

const URI: &str = "urn:example:peer:registered";
const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: peer_register URL [--keeps]")?;
    let keeps = arguments.next().is_some_and(|argument| argument == "--keeps");
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .application_uri(URI)
        .registration(Registration::with(&url))
        .model(uaforge::ns0())
        .build()?;
    let own = server.endpoints().to_vec();
    let mut shown = Ok(None);
    let found = async {
        shown = tokio::time::timeout(PATIENCE, until_shown(&url)).await.map_err(|_| "it is not shown");
    };
    uaforge::run_registered(&server, found).await?;
    let urls = shown?.ok_or("it was not looked for")??;
    if urls != own {
        return Err(format!("it is shown at {urls:?}, not at {own:?}").into());
    }
    match (shown_at(&url).await?.is_some(), keeps) {
        (true, false) => Err("it is still shown after it has unregistered".into()),
        (false, true) => Err("it is not shown any more: a habit is gone".into()),
        _ => Ok(()),
    }
}

async fn until_shown(url: &str) -> Option<Result<Vec<String>, client::Error>> {
    loop {
        match shown_at(url).await.transpose() {
            None => tokio::time::sleep(Duration::from_millis(50)).await,
            shown => return shown,
        }
    }
}

/// The addresses that the discovery server tells of our server.
async fn shown_at(url: &str) -> Result<Option<Vec<String>>, client::Error> {
    let discovery = Client::builder().insecure().discovery(url).await?;
    let servers = discovery.find_servers().await?;
    discovery.close().await;
    let own = servers.iter().find(|server| server.application_uri == URI);
    let text = |url: &uaforge_codec::UaString| url.as_str().unwrap_or_default().to_owned();
    Ok(own.map(|server| server.discovery_urls.iter().map(text).collect()))
}
