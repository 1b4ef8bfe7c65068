//! The session over its channel: the whole connection as one machine.

use core::task::{Context, Poll};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use uaforge_channel::{ChannelError, ClientChannel, ClientConfig, ClientEvent, Limits, NonePolicy};
use uaforge_codec::{Encoder, Entropy, Now, Ticks};
use uaforge_net::{Machine, OutputBuffer};
use uaforge_types::RequestHeader;

use super::call::Body;
use super::core::{Core, Queued};
use super::setup::Report;
use crate::Error;
use crate::config::Config;
use crate::session::Command;
use crate::tables::Tables;

/// A connection from Hello to CloseSecureChannel. It ends when all its sessions' handles are gone.
pub(crate) struct SessionMachine {
    channel: ClientChannel,
    output: OutputBuffer,
    core: Core,
    commands: mpsc::Receiver<Command>,
    /// Dropped with the machine, which tells those who wait for the end.
    closers: Vec<oneshot::Sender<()>>,
    /// CLO was sent, or there is no channel to say it on.
    finished: bool,
}

impl SessionMachine {
    pub(crate) fn new(
        url: Arc<str>,
        config: Arc<Config>,
        tables: Arc<Tables>,
        entropy: impl Entropy + Clone + Send + 'static,
        commands: mpsc::Receiver<Command>,
        now: Now,
        report: Report,
    ) -> Self {
        let limits = Limits {
            max_message: config.max_message_size,
            max_chunks: config.max_chunk_count,
            ..Limits::default()
        };
        let settings = ClientConfig {
            limits,
            requested_lifetime: config.token_lifetime,
            handshake_timeout: config.connect_timeout,
            ..ClientConfig::new(&*url)
        };
        let mut channel = ClientChannel::new(settings, NonePolicy, entropy.clone());
        let mut output = OutputBuffer::new();
        channel.start(output.vec(), now);
        let core = Core::new(url, config, tables, Box::new(entropy), now, report);
        Self { channel, output, core, commands, closers: Vec::new(), finished: false }
    }

    /// Sends what the session has to say.
    fn flush(&mut self, now: Now) {
        let Self { channel, output, core, .. } = self;
        let tables = core.tables.snapshot();
        while let Some(mut queued) = core.outbox.pop_front() {
            let (header, deadline) = core.header(&queued, now);
            let sent = channel.send(output.vec(), tables.encode_context(), |e| queued.encode(header, e));
            match sent {
                Ok(request_id) => core.sent(request_id, deadline, queued),
                Err(reason) => {
                    let error = Error::Encode { service: queued.service(), reason };
                    core.refused(queued, error);
                }
            }
        }
        if core.is_closed() && !self.finished {
            self.finished = true;
            channel.close(output.vec(), now);
        }
    }

    /// The connection is gone, or no longer worth having.
    fn abandon(&mut self) {
        self.finished = true;
        self.core.lost();
    }

    /// The channel has ended with an error.
    fn failed(&mut self, error: &ChannelError) {
        self.finished = true;
        self.core.fail(Error::Channel { status: error.status, reason: error.reason.to_string().into() });
    }

    fn command(&mut self, command: Option<Command>) {
        match command {
            Some(Command::Call(call)) => self.core.submit(call),
            Some(Command::Close(done)) => {
                self.closers.push(done);
                self.core.close();
            }
            // Every handle is gone.
            None => self.core.close(),
        }
    }
}

impl Queued {
    fn service(&self) -> &'static str {
        match self {
            Self::User(call) => call.service(),
            Self::Own(_, request) => request.service(),
        }
    }

    fn encode(&mut self, header: RequestHeader, e: &mut Encoder<'_>) {
        match self {
            Self::User(call) => call.encode(header, e),
            Self::Own(_, request) => request.encode(header, e),
        }
    }
}

impl Machine for SessionMachine {
    fn receive(&mut self, input: &[u8], now: Now) -> usize {
        self.core.heard(now);
        let tables = self.core.tables.snapshot();
        let config = Arc::clone(&self.core.config);
        let mut consumed = 0;
        while !self.finished {
            let rest = input.get(consumed..).unwrap_or_default();
            let Self { channel, output, core, .. } = self;
            let (count, event) = channel.receive(rest, now, output.vec());
            consumed += count;
            match event {
                ClientEvent::Incomplete => break,
                ClientEvent::Handled => {}
                ClientEvent::Opened => core.opened(),
                ClientEvent::Message { request_id, body } => {
                    let cx = tables.decode_context(&config.decode_limits);
                    core.response(request_id, Body { bytes: body, cx });
                }
                ClientEvent::Aborted { request_id, status, .. } => core.aborted(request_id, status),
                ClientEvent::Failed(error) => self.failed(&error),
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
        let mut worked = false;
        while !self.channel.wants_input() {
            let Poll::Ready(event) = self.channel.poll(cx, now(), self.output.vec()) else {
                break;
            };
            worked = true;
            match event {
                ClientEvent::Opened => self.core.opened(),
                ClientEvent::Failed(error) => self.failed(&error),
                _ => {}
            }
            self.flush(now());
        }
        while self.core.takes_calls() && !self.output.is_full() {
            let Poll::Ready(command) = self.commands.poll_recv(cx) else {
                break;
            };
            worked = true;
            self.command(command);
            self.flush(now());
        }
        if worked { Poll::Ready(()) } else { Poll::Pending }
    }

    fn on_eof(&mut self, _: Now) {
        self.abandon();
    }

    fn is_closed(&self) -> bool {
        self.finished
    }

    fn on_idle(&mut self) {
        self.channel.trim();
        self.output.release();
    }
}

impl Drop for SessionMachine {
    fn drop(&mut self) {
        self.core.lost();
    }
}
