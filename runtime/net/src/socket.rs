//! TCP sockets.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

/// A connected TCP socket.
#[derive(Debug)]
pub struct Stream(pub(crate) TcpStream);

impl Stream {
    /// Connects to a host, trying each of its addresses.
    ///
    /// # Errors
    /// The name is not known, or no address answers.
    pub async fn connect(host: &str, port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    /// The address of the other side.
    ///
    /// # Errors
    /// The socket is not connected any more.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.peer_addr()
    }
}

/// A listening TCP socket. It is bound at once, and handed to the runtime with the first accept.
#[derive(Debug)]
pub struct Listener(State);

#[derive(Debug)]
enum State {
    Bound(std::net::TcpListener),
    Registered(TcpListener),
}

impl Listener {
    /// Listens on an address; port 0 takes a free one.
    ///
    /// # Errors
    /// The address is in use or not one of this machine.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self(State::Bound(listener)))
    }

    /// The address listened on.
    ///
    /// # Errors
    /// The socket is gone.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            State::Bound(listener) => listener.local_addr(),
            State::Registered(listener) => listener.local_addr(),
        }
    }

    /// The next connection.
    ///
    /// # Errors
    /// Such as no file descriptor being left; the next call may succeed.
    pub async fn accept(&mut self) -> io::Result<(Stream, SocketAddr)> {
        if let State::Bound(listener) = &self.0 {
            self.0 = State::Registered(TcpListener::from_std(listener.try_clone()?)?);
        }
        let State::Registered(listener) = &self.0 else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let (stream, address) = listener.accept().await?;
        // Fails on some systems for a peer that is gone already; that is no trouble of the listener.
        let _ = stream.set_nodelay(true);
        Ok((Stream(stream), address))
    }
}
