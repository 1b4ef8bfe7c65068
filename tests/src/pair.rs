//! Two channels and a wire between them, in virtual time. The wire takes time, delivers in pieces of any
//! size, and can be cut. Everything depends on one seed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use uaforge_channel::{
    ChannelError, ClientChannel, ClientConfig, ClientEvent, Limits, NonePolicy, SecurityProvider,
    ServerChannel, ServerConfig, ServerEvent,
};
use uaforge_codec::{EncodeContext, EncodeError, Now, SeededEntropy, StatusCode, Ticks};

use uaforge_types::MessageSecurityMode;

use crate::peer::start_time;

/// What a pair is made of.
pub struct PairConfig<C = NonePolicy> {
    /// The client's limits.
    pub client_limits: Limits,
    /// The server's limits.
    pub server_limits: Limits,
    /// Security mode.
    pub mode: MessageSecurityMode,
    /// The lifetime of tokens.
    pub lifetime: Duration,
    /// How long bytes travel.
    pub latency: Duration,
    /// Bytes that arrive at once, at most.
    pub piece: usize,
    /// Decides about the pieces.
    pub seed: u64,
    /// The client's policy.
    pub client_policy: C,
    /// The server's policy.
    pub server_policy: Box<dyn SecurityProvider>,
}

impl Default for PairConfig {
    fn default() -> Self {
        Self::with_policies(NonePolicy, NonePolicy)
    }
}

impl<C> PairConfig<C> {
    /// Usual limits, a fast wire, and these policies.
    pub fn with_policies(client_policy: C, server_policy: impl SecurityProvider + 'static) -> Self {
        Self {
            client_limits: Limits::default(),
            server_limits: Limits::default(),
            mode: MessageSecurityMode::NONE,
            lifetime: Duration::from_secs(3_600),
            latency: Duration::ZERO,
            piece: usize::MAX,
            seed: 1,
            client_policy,
            server_policy: Box::new(server_policy),
        }
    }
}

/// One direction of the wire.
#[derive(Default)]
struct Pipe {
    /// What a channel wrote and the wire has not taken.
    out: Vec<u8>,
    flying: VecDeque<(Ticks, Vec<u8>)>,
    /// What has arrived and is not handled.
    arrived: Vec<u8>,
}

impl Pipe {
    /// Puts what was written on the wire.
    fn depart(&mut self, arrival: Ticks, is_cut: bool) {
        let bytes = std::mem::take(&mut self.out);
        if !bytes.is_empty() && !is_cut {
            self.flying.push_back((arrival, bytes));
        }
    }

    /// The next piece of what is due.
    fn arrive(&mut self, now: Ticks, piece: usize) -> bool {
        let Some((due, bytes)) = self.flying.front_mut() else { return false };
        if *due > now {
            return false;
        }
        self.arrived.extend(bytes.drain(..piece.min(bytes.len())));
        if bytes.is_empty() {
            self.flying.pop_front();
        }
        true
    }

    fn next(&self) -> Option<Ticks> {
        self.flying.front().map(|(due, _)| *due)
    }
}

/// A client's and a server's channel. The server gives every request back as its response, unless it is
/// told to keep them.
pub struct Pair {
    /// The client's side.
    pub client: ClientChannel,
    /// The server's side.
    pub server: ServerChannel,
    /// The time; [`Pair::pass`] moves it.
    pub now: Now,
    /// Requests that arrived.
    pub requests: Vec<(u32, Vec<u8>)>,
    /// Responses that arrived.
    pub responses: Vec<(u32, Vec<u8>)>,
    /// Responses that the server gave up.
    pub aborted: Vec<(u32, StatusCode)>,
    /// Why the client's channel ended.
    pub failure: Option<ChannelError>,
    /// Whether requests are answered at once.
    pub echo: bool,
    /// From the client to the server.
    up: Pipe,
    down: Pipe,
    latency: Duration,
    piece: usize,
    dice: SeededEntropy,
    is_cut: bool,
}

impl Pair {
    /// Connects; what the client says first is on the wire.
    pub fn new<C: SecurityProvider + 'static>(config: PairConfig<C>) -> Self {
        let now = start_time();
        let mut settings = ClientConfig::new("opc.tcp://plant:4840/srv");
        settings.limits = config.client_limits;
        settings.mode = config.mode;
        settings.requested_lifetime = config.lifetime;
        let mut client = ClientChannel::new(settings, config.client_policy, SeededEntropy::new(config.seed));
        let settings = ServerConfig {
            channel_id: 7,
            limits: config.server_limits,
            policies: Arc::new([config.server_policy]),
            lifetime: (Duration::from_secs(1), Duration::from_secs(3_600)),
            handshake_timeout: Duration::from_secs(5),
            message_timeout: Duration::from_secs(30),
        };
        let server = ServerChannel::new(settings, SeededEntropy::new(!config.seed), now);
        let mut up = Pipe::default();
        client.start(&mut up.out, now);
        Self {
            client,
            server,
            now,
            requests: Vec::new(),
            responses: Vec::new(),
            aborted: Vec::new(),
            failure: None,
            echo: true,
            up,
            down: Pipe::default(),
            latency: config.latency,
            piece: config.piece,
            dice: SeededEntropy::new(config.seed),
            is_cut: false,
        }
    }

    /// A pair with an open channel.
    pub fn open<C: SecurityProvider + 'static>(config: PairConfig<C>) -> Self {
        let mut pair = Self::new(config);
        pair.settle();
        assert!(pair.client.is_open() && pair.server.is_open(), "{:?}", pair.failure);
        pair
    }

    /// Writes a request.
    ///
    /// # Errors
    /// It does not fit the server's limits.
    pub fn send(&mut self, body: &[u8]) -> Result<u32, EncodeError> {
        self.client.send(&mut self.up.out, EncodeContext::default(), |e| e.put(body))
    }

    /// Writes a response.
    ///
    /// # Errors
    /// It does not fit the client's limits.
    pub fn respond(&mut self, request_id: u32, body: &[u8]) -> Result<(), EncodeError> {
        self.server.writer().send(&mut self.down.out, EncodeContext::default(), request_id, |e| e.put(body))
    }

    /// The client says good-bye.
    pub fn close(&mut self) {
        self.client.close(&mut self.up.out, self.now);
    }

    /// Takes what the client has said, before it is on the wire.
    pub fn take_up(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.up.out)
    }

    /// Lets the Hello arrive, and its Acknowledge; what the client says then is not on the wire.
    pub fn deliver_hello(&mut self) {
        let hello = self.take_up();
        let mut acknowledge = Vec::new();
        self.server.receive(&hello, self.now, &mut acknowledge);
        let _ = self.client.receive(&acknowledge, self.now, &mut self.up.out);
        while self.client.poll(&mut Context::from_waker(Waker::noop()), self.now, &mut self.up.out).is_ready()
        {
        }
    }

    /// Puts bytes of the test's choice on the wire to the server.
    pub fn inject(&mut self, bytes: &[u8]) {
        self.up.out.extend_from_slice(bytes);
    }

    /// Bytes that arrived on either side and begin a chunk that is not complete.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let waiting = |pipe: &Pipe, closed: bool| if closed { 0 } else { pipe.arrived.len() };
        waiting(&self.up, self.server.is_closed()) + waiting(&self.down, self.client.is_closed())
    }

    /// Puts bytes of the test's choice on the wire to the client.
    pub fn inject_down(&mut self, bytes: &[u8]) {
        self.down.out.extend_from_slice(bytes);
    }

    /// Loses what the client has said and the wire has not taken.
    pub fn mute_client(&mut self) {
        self.up.out.clear();
    }

    /// Loses what is on the wire, and all that comes later.
    pub fn cut(&mut self) {
        self.is_cut = true;
        self.up.flying.clear();
        self.down.flying.clear();
    }

    /// Lets time pass until nothing is on the wire.
    pub fn settle(&mut self) {
        self.work();
        while let Some(next) = [self.up.next(), self.down.next()].into_iter().flatten().min() {
            self.go_on(next);
        }
    }

    /// Lets time pass; what is due on the way happens when it is due.
    pub fn pass(&mut self, time: Duration) {
        let end = self.now.ticks + time;
        self.work();
        loop {
            let deadlines = [self.client.deadline(), self.server.deadline()];
            let wire = [self.up.next(), self.down.next()];
            let next = deadlines.into_iter().chain(wire).flatten().min();
            match next.filter(|next| *next <= end) {
                Some(next) => self.go_on(next),
                None => break,
            }
        }
        self.move_to(end);
    }

    fn move_to(&mut self, time: Ticks) {
        let passed = time.since(self.now.ticks);
        self.now.ticks = self.now.ticks + passed;
        self.now.utc.0 += i64::try_from(passed.as_nanos() / 100).expect("a short test");
    }

    fn go_on(&mut self, time: Ticks) {
        self.move_to(time);
        if self.client.deadline().is_some_and(|due| due <= self.now.ticks) {
            let failure = self.client.on_deadline(self.now, &mut self.up.out);
            self.failure = self.failure.take().or(failure);
        }
        if self.server.deadline().is_some_and(|due| due <= self.now.ticks) {
            self.server.on_deadline(self.now, &mut self.down.out);
        }
        self.work();
    }

    /// Does everything that can be done now.
    pub fn work(&mut self) {
        loop {
            self.poll();
            self.up.depart(self.now.ticks + self.latency, self.is_cut);
            self.down.depart(self.now.ticks + self.latency, self.is_cut);
            let piece = 1 + usize::try_from(self.dice.next_u64() % self.piece as u64).expect("a size");
            let mut progress = self.up.arrive(self.now.ticks, piece);
            progress |= self.down.arrive(self.now.ticks, piece);
            progress |= self.serve() | self.hear();
            if !progress && self.up.out.is_empty() && self.down.out.is_empty() {
                return;
            }
        }
    }

    fn poll(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        while self.server.poll(&mut cx, self.now, &mut self.down.out).is_ready() {}
        while let Poll::Ready(event) = self.client.poll(&mut cx, self.now, &mut self.up.out) {
            if let ClientEvent::Failed(error) = event {
                self.failure.get_or_insert(error);
            }
        }
    }

    /// Gives the server what has arrived; whether it took something.
    fn serve(&mut self) -> bool {
        let mut at = 0;
        loop {
            let arrived = self.up.arrived.get(at..).unwrap_or_default();
            let (used, event) = self.server.receive(arrived, self.now, &mut self.down.out);
            at += used;
            match event {
                ServerEvent::Message { request_id, body, writer } => {
                    self.requests.push((request_id, body.to_vec()));
                    if self.echo {
                        let cx = EncodeContext::default();
                        // What does not fit is not answered.
                        let _ = writer.send(&mut self.down.out, cx, request_id, |e| e.put(body));
                    }
                }
                ServerEvent::Handled => {}
                ServerEvent::Incomplete | ServerEvent::Closed => break,
            }
        }
        self.up.arrived.drain(..at);
        at > 0
    }

    /// Gives the client what has arrived; whether it took something.
    fn hear(&mut self) -> bool {
        let mut at = 0;
        loop {
            let arrived = self.down.arrived.get(at..).unwrap_or_default();
            let (used, event) = self.client.receive(arrived, self.now, &mut self.up.out);
            at += used;
            match event {
                ClientEvent::Message { request_id, body } => self.responses.push((request_id, body.to_vec())),
                ClientEvent::Aborted { request_id, status, .. } => self.aborted.push((request_id, status)),
                ClientEvent::Handled | ClientEvent::Opened => {}
                ClientEvent::Incomplete => break,
                ClientEvent::Failed(error) => {
                    self.failure.get_or_insert(error);
                    break;
                }
            }
        }
        self.down.arrived.drain(..at);
        at > 0
    }
}
