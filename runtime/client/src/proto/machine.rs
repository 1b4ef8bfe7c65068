//! The session over its channel: the whole connection as one machine.

use core::fmt;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use uaforge_channel::{ChannelError, ClientChannel, ClientConfig, ClientEvent, Limits, NonePolicy};
use uaforge_codec::{Array, Entropy, Now, Ticks};
use uaforge_net::{Machine, OutputBuffer};
use uaforge_types::{EndpointDescription, MessageSecurityMode};

use super::call::Body;
use super::core::{Core, Goal, Ties};
use crate::Error;
use crate::config::Config;
use crate::link::Command;
use crate::security::SecuredEndpoint;

/// A connection from Hello to CloseSecureChannel, without socket and clock: whoever drives it gives it
/// bytes, the time, and sends what is in its output. It ends when all handles of its session are gone.
///
/// [`ClientBuilder::connect`](crate::ClientBuilder::connect) drives it with a TCP socket;
/// [`ClientBuilder::start`](crate::ClientBuilder::start) gives it to the caller.
pub struct Connection {
    channel: ClientChannel,
    output: OutputBuffer,
    core: Core,
    commands: mpsc::UnboundedReceiver<Command>,
    /// Every handle is gone, which is noticed once.
    orphaned: bool,
    /// Dropped with the machine, which tells those who wait for the end.
    closers: Vec<oneshot::Sender<()>>,
    /// CLO was sent, or there is no channel to say it on.
    finished: bool,
}

/// What a connection is to be.
pub(crate) struct Plan {
    pub(crate) url: Arc<str>,
    pub(crate) config: Arc<Config>,
    pub(crate) goal: Goal,
    /// The endpoint, and those that the server named; `None` is a channel without security.
    pub(crate) secured: Option<(SecuredEndpoint, Array<EndpointDescription>)>,
}

impl Connection {
    pub(crate) fn new(
        plan: Plan,
        entropy: impl Entropy + Clone + Send + 'static,
        commands: mpsc::UnboundedReceiver<Command>,
        now: Now,
        ties: Ties,
    ) -> Result<Self, ChannelError> {
        let Plan { url, config, goal, secured } = plan;
        let endpoint = secured.as_ref().map(|(endpoint, _)| endpoint);
        let mut channel = open(&url, &config, endpoint, entropy.clone())?;
        let mut output = OutputBuffer::new();
        channel.start(output.vec(), now);
        let mut core = Core::new(url, config, goal, Box::new(entropy), now, ties);
        if let Some((endpoint, endpoints)) = secured {
            core.secure(endpoint, endpoints);
        }
        Ok(Self { channel, output, core, commands, orphaned: false, closers: Vec::new(), finished: false })
    }

    /// The connection is gone, whatever it still had to say.
    pub(crate) fn disconnected(&mut self) {
        self.finished = true;
        self.core.lost();
        self.settle();
    }

    /// How long to wait before the next attempt to connect again; `None` if nobody wants to
    /// ([`ClientBuilder::reconnect`](crate::ClientBuilder::reconnect)).
    #[must_use]
    pub fn wait_to_reconnect(&self) -> Option<Duration> {
        self.core.wait()
    }

    /// An attempt to connect again has failed before there was a connection.
    pub fn reconnect_failed(&mut self, error: Error) {
        self.core.attempt_failed(error);
        self.settle();
    }

    /// There is a new connection to the same address without security: what is sent on it from now on makes the
    /// session ready again. Only after [`Connection::wait_to_reconnect`] has asked for it.
    pub fn reconnect(&mut self, entropy: impl Entropy + Clone + Send + 'static, now: Now) {
        self.restart(None, entropy, now);
    }

    pub(crate) fn restart(
        &mut self,
        secured: Option<(SecuredEndpoint, Array<EndpointDescription>)>,
        entropy: impl Entropy + Clone + Send + 'static,
        now: Now,
    ) {
        let endpoint = secured.as_ref().map(|(endpoint, _)| endpoint);
        match open(&self.core.url, &self.core.config, endpoint, entropy) {
            Err(error) => {
                let reason = error.reason.to_string().into();
                self.reconnect_failed(Error::Channel { status: error.status, reason });
            }
            Ok(mut channel) => {
                self.output = OutputBuffer::new();
                channel.start(self.output.vec(), now);
                self.channel = channel;
                self.finished = false;
                self.core.restart(secured, now);
            }
        }
    }

    pub(crate) fn config(&self) -> &Arc<Config> {
        &self.core.config
    }

    pub(crate) fn url(&self) -> &Arc<str> {
        &self.core.url
    }

    /// Serves commands while there is no connection; whether the session has ended.
    pub(crate) fn serve_offline(&mut self, cx: &mut Context<'_>, now: &dyn Fn() -> Now) -> bool {
        self.poll_commands(cx, now);
        self.settle();
        self.core.is_closed()
    }

    /// Sends what the session has to say, as far as the output has room.
    fn flush(&mut self, now: Now) {
        let Self { channel, output, core, .. } = self;
        let tables = core.tables.snapshot();
        while !output.is_full()
            && let Some(handle) = core.outbox.pop_front()
        {
            let Some((header, waiting)) = core.prepare(handle, now) else {
                continue;
            };
            let service = waiting.service();
            let sent = channel.send(output.vec(), tables.encode_context(), |e| waiting.encode(header, e));
            match sent {
                Ok(request_id) => core.sent(handle, request_id),
                Err(reason) => core.refused(handle, Error::Encode { service, reason }, now),
            }
        }
        if core.is_offline() && !self.finished {
            self.finished = true;
            channel.close(output.vec(), now);
        }
        self.settle();
    }

    /// Once the connection has ended, whoever has just asked for something gets an answer at once.
    fn settle(&mut self) {
        if !self.core.is_closed() {
            return;
        }
        self.commands.close();
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Call(call) => {
                    call.complete(Err(self.core.reason()));
                }
                // Whoever waits for a wish learns by its end of the way that it is not fulfilled.
                Command::Abandon(_) | Command::Wish(_) => {}
                Command::Close(done) => self.closers.push(done),
            }
        }
    }

    /// The channel has ended with an error.
    fn failed(&mut self, error: &ChannelError) {
        self.finished = true;
        self.core.end(Error::Channel { status: error.status, reason: error.reason.to_string().into() });
    }

    fn command(&mut self, command: Command, now: Now) {
        match command {
            Command::Call(call) => self.core.submit(call, now),
            Command::Abandon(handle) => self.core.abandon(handle, now),
            Command::Wish(wish) => self.core.wish(wish, now),
            Command::Close(done) => {
                self.closers.push(done);
                self.core.close(now);
            }
        }
    }

    /// Goes on with what a private key is needed for.
    fn poll_channel(&mut self, cx: &mut Context<'_>, now: &dyn Fn() -> Now) -> bool {
        let mut worked = false;
        while !self.channel.wants_input() {
            let Poll::Ready(event) = self.channel.poll(cx, now(), self.output.vec()) else {
                break;
            };
            worked = true;
            match event {
                ClientEvent::Opened => self.core.opened(self.channel.thumbprint(), now()),
                ClientEvent::Failed(error) => self.failed(&error),
                _ => {}
            }
        }
        worked
    }

    /// Takes what callers want; their times begin now.
    fn poll_commands(&mut self, cx: &mut Context<'_>, now: &dyn Fn() -> Now) -> bool {
        let mut time = None;
        while !self.orphaned {
            let Poll::Ready(command) = self.commands.poll_recv(cx) else {
                break;
            };
            let now = *time.get_or_insert_with(now);
            match command {
                Some(command) => self.command(command, now),
                None => {
                    self.orphaned = true;
                    self.core.close(now);
                }
            }
        }
        time.is_some()
    }
}

/// A channel that is about to say hello.
fn open(
    url: &Arc<str>,
    config: &Config,
    endpoint: Option<&SecuredEndpoint>,
    entropy: impl Entropy + Send + 'static,
) -> Result<ClientChannel, ChannelError> {
    let limits = Limits {
        max_message: config.max_message_size,
        max_chunks: config.max_chunk_count,
        ..Limits::default()
    };
    let settings = ClientConfig {
        limits,
        requested_lifetime: config.token_lifetime,
        handshake_timeout: config.connect_timeout,
        mode: endpoint.map_or(MessageSecurityMode::NONE, |endpoint| endpoint.mode),
        ..ClientConfig::new(&**url)
    };
    match endpoint {
        Some(endpoint) => Ok(ClientChannel::new(settings, endpoint.security()?, entropy)),
        None => Ok(ClientChannel::new(settings, NonePolicy, entropy)),
    }
}

impl Machine for Connection {
    fn receive(&mut self, input: &[u8], now: Now) -> usize {
        self.core.heard(now);
        let tables = self.core.tables.snapshot();
        let config = Arc::clone(&self.core.config);
        let mut consumed = 0;
        while !self.finished && !self.core.is_offline() {
            let rest = input.get(consumed..).unwrap_or_default();
            let mut opened = false;
            let Self { channel, output, core, .. } = self;
            let (count, event) = channel.receive(rest, now, output.vec());
            consumed += count;
            match event {
                ClientEvent::Incomplete => break,
                ClientEvent::Handled => {}
                ClientEvent::Opened => opened = true,
                ClientEvent::Message { request_id, body } => {
                    let cx = tables.decode_context(&config.decode_limits);
                    core.response(request_id, Body { bytes: body, cx }, now);
                }
                ClientEvent::Aborted { request_id, status, .. } => core.aborted(request_id, status, now),
                ClientEvent::Failed(error) => self.failed(&error),
            }
            if opened {
                self.core.opened(self.channel.thumbprint(), now);
            }
        }
        self.flush(now);
        if self.finished { input.len() } else { consumed }
    }

    fn output(&mut self) -> &mut OutputBuffer {
        &mut self.output
    }

    fn wants_read(&self) -> bool {
        self.channel.wants_input()
    }

    fn has_more(&self) -> bool {
        false
    }

    fn deadline(&self) -> Option<Ticks> {
        [self.core.deadline(), self.channel.deadline()].into_iter().flatten().min()
    }

    fn on_deadline(&mut self, now: Now) {
        if let Some(error) = self.channel.on_deadline(now, self.output.vec()) {
            self.failed(&error);
        }
        self.core.on_deadline(now);
        self.flush(now);
    }

    fn poll_work(&mut self, cx: &mut Context<'_>, now: &dyn Fn() -> Now) -> Poll<()> {
        let mut worked = self.poll_channel(cx, now);
        worked |= self.core.poll_activation(cx, now);
        worked |= self.poll_commands(cx, now);
        // What waited for room in the output goes on once the driver has written some of it.
        let waits = !self.core.outbox.is_empty() && !self.output.is_full();
        if worked || waits {
            self.flush(now());
            return Poll::Ready(());
        }
        Poll::Pending
    }

    fn on_eof(&mut self, _: Now) {
        self.finished = true;
        self.core.lost();
        self.settle();
    }

    fn is_closed(&self) -> bool {
        self.finished
    }

    fn on_idle(&mut self) {
        self.channel.trim();
        self.output.release();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.core.abandoned();
        self.settle();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("url", &self.core.url)
            .field("channel", &self.channel.channel_id())
            .field("closed", &self.finished)
            .finish_non_exhaustive()
    }
}
