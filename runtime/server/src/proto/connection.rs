//! One connection: the machine that the driver feeds with bytes and time.

use core::task::{Context, Poll};
use std::net::IpAddr;
use std::sync::{Arc, Weak};

use uaforge_channel::{ServerChannel, ServerConfig, ServerEvent};
use uaforge_codec::{Encoder, Mark, Now, Ticks};
use uaforge_crypto::Policy;
use uaforge_net::{Machine, OutputBuffer, Timeouts};
use uaforge_nodes::Snapshot;
use uaforge_types::{MessageSecurityMode, ResponseHeader, status};

use super::backlog::Backlog;
use super::buffers::Buffers;
use super::diagnose;
use super::envelope::{put_fault, put_header, put_response};
use super::in_flight::InFlight;
use super::late_session::{self, Answer, LateSession};
use super::mailbox::{Closing, Mailbox};
use super::pending::{LateCx, Pending};
use super::session::Session;
use super::turn::Turn;
use crate::access::Protection;
use crate::cancellation::{CancelReason, Scope};
use crate::security::{ChannelSecurity, Secured};
use crate::services::session::ChannelInfo;
use crate::shared::{ChannelEntropy, Core};
use crate::subscription::items::Place;
use crate::subscription::parked::{Body, Posted};

/// A client's connection, sans-IO. Requests are answered in order, but for those whose handlers deferred
/// an answer; everything that one call of `receive` brought is answered into one output.
pub struct Connection {
    core: Arc<Core>,
    channel: ServerChannel,
    output: OutputBuffer,
    backlog: Backlog,
    buffers: Buffers,
    /// Sessions that requests of this channel used lately.
    known: Vec<Arc<Session>>,
    snapshot: Snapshot,
    in_flight: InFlight,
    late_sessions: Vec<LateSession>,
    mailbox: Arc<Mailbox>,
    /// What the channel may be opened with.
    secured: Arc<Secured>,
    /// What the channel has proved, once it is open with security.
    security: Option<ChannelSecurity>,
    /// The address in the client's Hello.
    dialled: String,
    protection: Protection,
    /// The turn's bound was reached with input left.
    more: bool,
    /// The turn's bound was reached with late answers left.
    exhausted: bool,
    /// The connection is to end, such as when the server stops: no more requests.
    closing: Option<Closing>,
    eof: bool,
}

impl Connection {
    pub(crate) fn new(core: Arc<Core>, address: Option<IpAddr>, now: Now) -> Self {
        let secured = core.secured();
        let config = ServerConfig {
            channel_id: core.new_channel_id(),
            limits: core.channel_limits(),
            policies: Arc::clone(&secured.policies),
            lifetime: (core.limits.min_token_lifetime, core.limits.max_token_lifetime),
            handshake_timeout: core.limits.handshake_timeout,
            message_timeout: core.limits.message_timeout,
        };
        let mut channel = ServerChannel::new(config, ChannelEntropy(Arc::clone(&core)), now);
        let early = core.limits.max_early_message_size as usize;
        channel.limit_messages(early, Arc::clone(&core.early_memory));
        Self {
            channel,
            output: OutputBuffer::new(),
            backlog: Backlog::default(),
            buffers: Buffers::default(),
            known: Vec::new(),
            snapshot: core.space.snapshot(),
            in_flight: InFlight::default(),
            late_sessions: Vec::new(),
            secured,
            security: None,
            mailbox: core.mailboxes.add(address),
            dialled: String::new(),
            protection: Protection::default(),
            more: false,
            exhausted: false,
            closing: None,
            eof: false,
            core,
        }
    }

    /// Closes the connection before anything is said, because there is no room for it.
    pub(crate) fn refuse(&self) {
        self.mailbox.close(Closing::now("there are as many connections as there may be"));
    }

    /// Whether one more request may begin.
    fn has_room(&self) -> bool {
        self.closing.is_none()
            && !self.output.is_full()
            && self.in_flight.len() + self.late_sessions.len() < self.core.limits.max_pending_requests
            && self.in_flight.operations() < self.core.limits.max_pending_operations
    }

    /// Takes the first message of `input`; bytes taken and operations done. `None` if there is no whole one.
    fn step(&mut self, input: &[u8], now: Now) -> Option<(usize, u32)> {
        let core = &*self.core;
        // What one request adds, the next one sees.
        self.snapshot.refresh(&core.space);
        let out = self.output.vec();
        let (used, event) = self.channel.receive(input, now, out);
        match event {
            ServerEvent::Incomplete => None,
            ServerEvent::Closed => Some((input.len(), 0)),
            ServerEvent::Handled => {
                self.note_channel();
                Some((used, 0))
            }
            ServerEvent::Message { request_id, body, writer } => {
                let channel = ChannelInfo {
                    id: writer.channel_id(),
                    protection: self.protection,
                    dialled: &self.dialled,
                    security: self.security.as_ref(),
                };
                let mut turn = Turn {
                    core,
                    snapshot: &self.snapshot,
                    buffers: &mut self.buffers,
                    known: &mut self.known,
                    mailbox: &self.mailbox,
                    late_sessions: &mut self.late_sessions,
                    channel,
                    now,
                    request_id,
                    activated: false,
                    handle: 0,
                    diagnostics: 0,
                    reason: None,
                    scope: Scope::new(Ticks::NEVER),
                    operations: 0,
                };
                let answered = writer.send(out, core.encode_context(), request_id, |e| turn.handle(body, e));
                let (operations, activated) = (turn.operations, turn.activated);
                if let Ok(Some(pending)) = answered {
                    self.in_flight.insert(pending);
                }
                if activated {
                    self.channel.lift_message_limit(Arc::clone(&self.core.memory));
                }
                Some((used, operations))
            }
        }
    }

    /// Takes over what the handshake settled.
    fn note_channel(&mut self) {
        if self.dialled.is_empty() {
            self.dialled.push_str(self.channel.endpoint_url());
        }
        let mode = self.channel.security_mode();
        self.protection = Protection {
            signed: mode == MessageSecurityMode::SIGN || mode == MessageSecurityMode::SIGN_AND_ENCRYPT,
            encrypted: mode == MessageSecurityMode::SIGN_AND_ENCRYPT,
        };
        if self.security.is_none() && self.channel.wants_input() {
            self.security = self.channel_security();
            if let Some(security) = &self.security {
                self.mailbox.note_peer(&security.peer);
            }
        }
    }

    /// What an open channel has proved; `None` if it has no security.
    fn channel_security(&self) -> Option<ChannelSecurity> {
        let policy = Policy::by_uri(self.channel.security_policy()?.policy_uri())?;
        Some(ChannelSecurity {
            provider: self.secured.provider.clone()?,
            policy,
            identity: self.secured.identity(policy)?.clone(),
            peer: Arc::clone(self.channel.peer_certificate()?),
            thumbprint: self.channel.thumbprint().map_or_else(|| Arc::new([]) as Arc<[u8]>, Arc::clone),
        })
    }

    /// Answers requests for sessions that have waited long enough; whether there were any.
    fn answer_sessions(&mut self, cx: &mut Context<'_>, now: &dyn Fn() -> Now) -> bool {
        let mut progress = false;
        while let Some((request_id, handle, answer)) =
            late_session::poll_next(&mut self.late_sessions, cx, &self.core, now)
        {
            progress = true;
            let now = now();
            if let Answer::Activated { session, .. } = &answer {
                self.mailbox.note_session(self.channel.channel_id(), session);
                let place = Place { core: &self.core, snapshot: &self.snapshot, now };
                self.core.subscriptions.session_activated(place, session, &self.mailbox);
                self.channel.lift_message_limit(Arc::clone(&self.core.memory));
            }
            let (encode, out) = (self.core.encode_context(), self.output.vec());
            let header = ResponseHeader { timestamp: now.utc, request_handle: handle, ..Default::default() };
            let sent = self.channel.writer().send(out, encode, request_id, |e| match answer {
                Answer::Created(mut response) => {
                    response.response_header = header;
                    put_response(e, &*response);
                }
                Answer::Activated { mut response, .. } => {
                    response.response_header = header;
                    put_response(e, &*response);
                }
                Answer::Fault(status) => put_fault(e, now, handle, status),
            });
            if let Err(error) = sent {
                // A ServiceFault fits the limits of every peer.
                let fault = |e: &mut Encoder<'_>| put_fault(e, now, handle, error.status());
                let _ = self.channel.writer().send(out, encode, request_id, fault);
            }
        }
        progress
    }

    /// Writes the responses whose last answer is there; whether there were any. A slow reader does not make
    /// them pile up: what it does not take is not asked for.
    fn send_done(&mut self, cx: &mut Context<'_>, now: &dyn Fn() -> Now) -> bool {
        self.snapshot.refresh(&self.core.space);
        let mut progress = false;
        let mut budget = self.core.limits.operations_per_turn as usize;
        let at = now();
        while !self.output.is_full() {
            let mut late =
                LateCx { core: &self.core, snapshot: &self.snapshot, buffers: &mut self.buffers, now: at };
            let Some(done) = self.in_flight.poll_done(cx, &mut budget, &mut late) else { break };
            self.send_late(&done, at);
            progress = true;
        }
        self.exhausted = budget == 0;
        progress
    }

    /// Writes answers of Publish requests, as many as the output takes; whether there were any.
    fn send_posted(&mut self, now: Now) -> bool {
        let was_full = !self.mailbox.has_room();
        let mut progress = false;
        while !self.output.is_full()
            && let Some(answer) = self.mailbox.take_answer()
        {
            self.send_answer(&answer, now);
            progress = true;
        }
        if was_full && self.mailbox.has_room() {
            for session in self.mailbox.sessions() {
                self.core.subscriptions.using(now).serve(session.token, now);
            }
        }
        progress
    }

    fn send_answer(&mut self, answer: &Posted, now: Now) {
        let (encode, decode) = (self.core.encode_context(), self.core.decode_context());
        let out = self.output.vec();
        let mut fault = status::BAD_RESPONSE_TOO_LARGE;
        match &answer.body {
            Body::Fault(status) => fault = *status,
            Body::Publish(published) => {
                let sent = self.channel.writer().send(out, encode, answer.request_id, |e| {
                    let start = e.mark();
                    published.write(e, now, answer.handle);
                    e.put_array_len(None);
                    if answer.diagnostics != 0 && e.error().is_none() {
                        diagnose::add(e, start, answer.diagnostics, None, decode);
                    }
                });
                if sent.is_ok() {
                    return;
                }
            }
        }
        // A ServiceFault fits the limits of every peer.
        let _ = self.channel.writer().send(out, encode, answer.request_id, |e| {
            let start = e.mark();
            put_fault(e, now, answer.handle, fault);
            if answer.diagnostics != 0 {
                diagnose::add(e, start, answer.diagnostics, None, decode);
            }
        });
    }

    fn send_late(&mut self, pending: &Pending, now: Now) {
        let encode = self.core.encode_context();
        let out = self.output.vec();
        let decode = self.core.decode_context();
        let diagnose = |e: &mut Encoder<'_>, start: Mark| {
            if pending.diagnostics != 0 && e.error().is_none() {
                diagnose::add(e, start, pending.diagnostics, None, decode);
            }
        };
        let sent = match pending.fault() {
            Some(status) => Err(status),
            None => self
                .channel
                .writer()
                .send(out, encode, pending.request_id, |e| {
                    let start = e.mark();
                    put_header(e, pending.response, now, pending.handle);
                    pending.write(e);
                    e.put_array_len(None);
                    diagnose(e, start);
                })
                .map_err(|error| error.status()),
        };
        if let Err(status) = sent {
            // A ServiceFault fits the limits of every peer.
            let _ = self.channel.writer().send(out, encode, pending.request_id, |e| {
                let start = e.mark();
                put_fault(e, now, pending.handle, status);
                diagnose(e, start);
            });
        }
    }

    /// Counts what waits to be sent.
    fn note_output(&mut self, now: impl FnOnce() -> Ticks) {
        self.backlog.note(&self.output, &self.core, &self.mailbox, now);
    }

    /// Begins to end, or ends, as others ask for it; whether there was something to do.
    fn end_if_asked(&mut self) -> bool {
        let is_silent = |closing: &mut Closing| closing.error.is_none();
        if self.closing.take_if(is_silent).is_some() {
            self.output = OutputBuffer::new();
            self.backlog.clear(&self.core);
            self.eof = true;
            return true;
        }
        let Some(Closing { error: Some(error), .. }) = self.closing.take_if(|_| self.in_flight.is_empty())
        else {
            return false;
        };
        self.channel.close(error, self.output.vec());
        true
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.in_flight.abandon(&self.core);
        self.backlog.clear(&self.core);
        for session in self.mailbox.end().iter().filter_map(Weak::upgrade) {
            // Of a session that is on another connection by now, no request is dropped.
            if session.is_on(self.channel.channel_id()) {
                self.core.subscriptions.session_disconnected(session.token);
            }
        }
    }
}

impl Machine for Connection {
    fn receive(&mut self, input: &[u8], now: Now) -> usize {
        self.more = false;
        self.note_output(|| now.ticks);
        let (mut taken, mut operations) = (0, 0);
        while self.has_room() {
            if operations >= self.core.limits.operations_per_turn {
                self.more = taken < input.len();
                break;
            }
            let Some((used, done)) = self.step(input.get(taken..).unwrap_or_default(), now) else { break };
            taken += used;
            operations += done;
            if self.channel.is_closed() {
                taken = input.len();
                break;
            }
        }
        self.note_output(|| now.ticks);
        taken
    }

    fn output(&mut self) -> &mut OutputBuffer {
        &mut self.output
    }

    fn wants_read(&self) -> bool {
        self.has_room() && self.channel.wants_input() && !self.is_closed()
    }

    fn has_more(&self) -> bool {
        let goes_on = (self.more && self.wants_read()) || (self.exhausted && !self.output.is_full());
        goes_on && !self.is_closed()
    }

    fn deadline(&self) -> Option<Ticks> {
        let closing = self.closing.as_ref().filter(|_| self.in_flight.waits()).map(|closing| closing.until);
        [self.channel.deadline(), self.in_flight.deadline(), closing].into_iter().flatten().min()
    }

    fn on_deadline(&mut self, now: Now) {
        self.in_flight.expire(now.ticks, &self.core);
        if self.closing.as_ref().is_some_and(|closing| closing.until <= now.ticks) {
            self.in_flight.end_all(CancelReason::Shutdown, &self.core);
        }
        self.channel.on_deadline(now, self.output.vec());
    }

    fn poll_work(&mut self, cx: &mut Context<'_>, now: &dyn Fn() -> Now) -> Poll<()> {
        if self.is_closed() {
            return Poll::Pending;
        }
        self.exhausted = false;
        let mut progress = !self.in_flight.is_empty() && self.send_done(cx, now);
        if !self.late_sessions.is_empty() {
            progress |= self.answer_sessions(cx, now);
        }
        if !self.channel.wants_input() && self.channel.poll(cx, now(), self.output.vec()).is_ready() {
            self.note_channel();
            progress = true;
        }
        let mail = self.mailbox.poll(cx);
        if mail.has_answers {
            progress |= self.send_posted(now());
        }
        if self.closing.is_none() {
            self.closing = mail.closing;
        }
        self.note_output(|| now().ticks);
        progress |= self.end_if_asked();
        if progress { Poll::Ready(()) } else { Poll::Pending }
    }

    fn on_eof(&mut self, _now: Now) {
        self.eof = true;
    }

    fn is_closed(&self) -> bool {
        self.eof || self.channel.is_closed()
    }

    fn timeouts(&self) -> Timeouts {
        let limits = &self.core.limits;
        Timeouts {
            write: limits.write_timeout,
            flush: limits.flush_timeout,
            linger: limits.linger_timeout,
            idle: limits.idle_timeout,
        }
    }

    fn on_idle(&mut self) {
        self.buffers.trim();
        self.channel.trim();
        self.in_flight.trim();
    }
}
