//! A client that says exactly what a test wants, over a machine in this process or a socket.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use uaforge_channel::{ChannelError, ClientChannel, ClientConfig, ClientEvent, NonePolicy};
use uaforge_codec::{
    Decode as _, DecodeContext, Decoder, Encode as _, EncodeContext, NamespaceMap, NodeId, NodeIdRef, Now,
    SeededEntropy, StatusCode, Structure, Ticks, TypeRegistry,
};
use uaforge_net::Machine;
use uaforge_types::{
    ActivateSessionRequest, CreateSessionRequest, RequestHeader, ServiceFault, ServiceRequest, status,
};

/// Carries bytes to a server and back.
pub trait Wire {
    /// Sends what is in `out` and appends what came to `input`; `false` once the server has closed.
    fn exchange(&mut self, out: &mut Vec<u8>, input: &mut Vec<u8>, now: Now) -> bool;
}

/// A server's machine in this process.
pub struct InProcess<M>(pub M);

impl<M: Machine> Wire for InProcess<M> {
    fn exchange(&mut self, out: &mut Vec<u8>, input: &mut Vec<u8>, now: Now) -> bool {
        let taken = self.0.receive(out, now);
        out.drain(..taken);
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let _ = self.0.poll_work(&mut cx, &move || now);
        let output = self.0.output();
        input.extend_from_slice(output.unsent());
        output.advance(output.len());
        !self.0.is_closed()
    }
}

impl Wire for TcpStream {
    fn exchange(&mut self, out: &mut Vec<u8>, input: &mut Vec<u8>, _now: Now) -> bool {
        if self.write_all(out).is_err() {
            return false;
        }
        out.clear();
        let mut buffer = vec![0; 65_536];
        match self.read(&mut buffer) {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                input.extend_from_slice(&buffer[..count]);
                true
            }
        }
    }
}

/// A client of one channel, and of one session if it opens one.
pub struct Peer<W> {
    /// The way to the server.
    pub wire: W,
    /// The channel.
    pub channel: ClientChannel,
    /// The authentication token of the session.
    pub token: NodeId,
    /// The time, which only the test moves.
    pub now: Now,
    /// How long requests wait for their answers, in milliseconds.
    pub timeout_hint: u32,
    /// Why the server ended the channel.
    pub failure: Option<ChannelError>,
    handle: u32,
    out: Vec<u8>,
    input: Vec<u8>,
    types: TypeRegistry,
    /// Responses that nobody has waited for yet.
    early: Vec<(u32, Vec<u8>)>,
}

impl<W: Wire> Peer<W> {
    /// Opens a channel.
    pub fn connect(wire: W, url: &str, now: Now) -> Self {
        Self::connect_with(wire, ClientConfig::new(url), now)
    }

    /// Opens a channel with limits and lifetimes of the test's choice.
    pub fn connect_with(wire: W, config: ClientConfig, now: Now) -> Self {
        let mut types = TypeRegistry::new();
        uaforge_types::register_types(&mut types);
        let mut peer = Self {
            wire,
            channel: ClientChannel::new(config, NonePolicy, SeededEntropy::new(1)),
            token: NodeId::NULL,
            now,
            timeout_hint: 10_000,
            failure: None,
            handle: 0,
            out: Vec::new(),
            input: Vec::new(),
            types,
            early: Vec::new(),
        };
        peer.channel.start(&mut peer.out, now);
        while !peer.channel.is_open() && peer.failure.is_none() {
            peer.turn(&mut |_, _| {});
        }
        peer
    }

    /// Opens a channel, and a session of an anonymous user on it.
    pub fn with_session(wire: W, url: &str, now: Now) -> Self {
        Self::with_session_by(wire, ClientConfig::new(url), now)
    }

    /// As [`Self::with_session`], with limits and lifetimes of the test's choice.
    pub fn with_session_by(wire: W, config: ClientConfig, now: Now) -> Self {
        let mut peer = Self::connect_with(wire, config, now);
        let created =
            peer.call(CreateSessionRequest { requested_session_timeout: 60_000.0, ..Default::default() });
        peer.token = created.expect("a session is created").authentication_token;
        peer.call(ActivateSessionRequest::default()).expect("the session is activated");
        peer
    }

    fn turn(&mut self, took: &mut dyn FnMut(u32, &[u8])) {
        let alive = self.wire.exchange(&mut self.out, &mut self.input, self.now);
        let mut at = 0;
        loop {
            let (used, event) = self.channel.receive(&self.input[at..], self.now, &mut self.out);
            at += used;
            match event {
                ClientEvent::Incomplete => break,
                ClientEvent::Failed(error) => {
                    self.failure.get_or_insert(error);
                    break;
                }
                ClientEvent::Message { request_id, body } => took(request_id, body),
                _ => {}
            }
        }
        self.input.drain(..at);
        if !alive {
            self.failure.get_or_insert(ChannelError::new(status::BAD_CONNECTION_CLOSED, "closed"));
        }
    }

    /// A request header for the session.
    pub fn header(&mut self) -> RequestHeader {
        self.handle += 1;
        RequestHeader {
            authentication_token: self.token.clone(),
            timestamp: self.now.utc,
            request_handle: self.handle,
            timeout_hint: self.timeout_hint,
            ..Default::default()
        }
    }

    /// Writes a request without sending it; its id.
    pub fn queue<Q: ServiceRequest>(&mut self, mut request: Q) -> u32 {
        *request.header_mut() = self.header();
        let id = self.channel.send(&mut self.out, EncodeContext::default(), |e| {
            NodeIdRef::Numeric(0, Q::DESCRIPTOR.binary_id()).encode(e);
            request.encode(e);
        });
        id.expect("the request fits the limits")
    }

    /// The bytes that are queued, taken out.
    pub fn take_queued(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Sends a request of any body and gives the body of the response.
    pub fn call_raw(&mut self, body: &[u8]) -> Result<Vec<u8>, ChannelError> {
        let sent = self.channel.send(&mut self.out, EncodeContext::default(), |e| e.put(body));
        self.wait_for(sent.expect("the request fits the limits"))
    }

    /// The body of the response to a request that was queued.
    pub fn wait_for(&mut self, id: u32) -> Result<Vec<u8>, ChannelError> {
        loop {
            if let Some(body) = self.take_early(id) {
                return Ok(body);
            }
            if let Some(failure) = &self.failure {
                return Err(failure.clone());
            }
            self.exchange();
        }
    }

    /// The body of the response to a request, if it has come.
    pub fn take_early(&mut self, id: u32) -> Option<Vec<u8>> {
        let at = self.early.iter().position(|(early, _)| *early == id)?;
        Some(self.early.swap_remove(at).1)
    }

    /// Sends what is queued and takes what came; how many responses nobody has waited for yet.
    pub fn exchange(&mut self) -> usize {
        let mut early = std::mem::take(&mut self.early);
        self.turn(&mut |request_id, body| early.push((request_id, body.to_vec())));
        self.early = early;
        self.early.len()
    }

    /// Calls a service with the session's token; a ServiceFault is its status.
    pub fn call<Q: ServiceRequest>(&mut self, request: Q) -> Result<Q::Response, StatusCode> {
        let id = self.queue(request);
        let body = self.wait_for(id).map_err(|error| error.status)?;
        self.decode(&body)
    }

    /// Reads the body of a response.
    pub fn decode<R: Structure>(&self, body: &[u8]) -> Result<R, StatusCode> {
        let cx =
            DecodeContext { types: &self.types, namespaces: NamespaceMap::ns0_only(), ..Default::default() };
        let mut d = Decoder::new(body, cx);
        let id = NodeId::decode(&mut d).expect("a type id");
        if id == NodeId::numeric(0, ServiceFault::DESCRIPTOR.binary_id()) {
            let fault = ServiceFault::decode(&mut d).expect("a fault");
            return Err(fault.response_header.service_result);
        }
        assert_eq!(id, NodeId::numeric(0, R::DESCRIPTOR.binary_id()), "{}", R::DESCRIPTOR.name);
        let response = R::decode(&mut d).expect("a response");
        d.finish().expect("nothing behind the response");
        Ok(response)
    }

    /// Lets time pass.
    pub fn pass(&mut self, time: Duration) {
        self.now.ticks = self.now.ticks + time;
    }
}

/// A point in time to begin with.
pub fn start_time() -> Now {
    Now { ticks: Ticks(1_000_000_000), utc: uaforge_codec::DateTime::from_utc(2024, 1, 1, 0, 0) }
}
