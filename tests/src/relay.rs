//! A relay between client and server that a test can cut, silence and turn to another server.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What the relay does with connections and their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Everything goes through.
    Open,
    /// Bytes are taken and dropped.
    Silent,
    /// Connections end at once.
    Closed,
}

/// Between clients and the server of the moment.
pub struct Relay {
    address: SocketAddr,
    target: Arc<Mutex<SocketAddr>>,
    way: watch::Sender<Way>,
    accepted: Arc<AtomicUsize>,
}

impl Relay {
    /// A relay to a server. It lives as long as the runtime.
    ///
    /// # Panics
    /// If there is no port for it.
    pub async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (way, ways) = watch::channel(Way::Open);
        let relay = Self { address, target: Arc::new(Mutex::new(server)), way, accepted: Arc::default() };
        let (target, accepted) = (Arc::clone(&relay.target), Arc::clone(&relay.accepted));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                accepted.fetch_add(1, Ordering::SeqCst);
                let target = *target.lock().expect("no panic");
                tokio::spawn(relay_one(client, target, ways.clone()));
            }
        });
        relay
    }

    /// Where clients find it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("opc.tcp://{}", self.address)
    }

    /// What happens from now on, also to connections there are.
    pub fn set(&self, way: Way) {
        self.way.send_replace(way);
    }

    /// New connections lead to another server.
    ///
    /// # Panics
    /// If a test has panicked meanwhile.
    pub fn lead_to(&self, server: SocketAddr) {
        *self.target.lock().expect("no panic") = server;
    }

    /// Connections that have come.
    #[must_use]
    pub fn count(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

async fn relay_one(mut client: TcpStream, target: SocketAddr, mut ways: watch::Receiver<Way>) {
    if *ways.borrow() == Way::Closed {
        return;
    }
    let Ok(mut server) = TcpStream::connect(target).await else { return };
    let (mut up, mut down) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        let is_open = *ways.borrow() == Way::Open;
        tokio::select! {
            read = client.read(&mut up) => match read {
                Ok(count) if count > 0 && !is_open => {}
                Ok(count) if count > 0 && server.write_all(&up[..count]).await.is_ok() => {}
                _ => return,
            },
            read = server.read(&mut down) => match read {
                Ok(count) if count > 0 && !is_open => {}
                Ok(count) if count > 0 && client.write_all(&down[..count]).await.is_ok() => {}
                _ => return,
            },
            changed = ways.changed() => {
                if changed.is_err() || *ways.borrow() == Way::Closed {
                    return;
                }
            }
        }
    }
}
