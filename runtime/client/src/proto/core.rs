//! The states of a session, without the channel below it: what a response means and what is to be sent next.

use std::collections::VecDeque;
use std::sync::Arc;

use uaforge_codec::{Entropy, NodeId, Now, StatusCode, Ticks};
use uaforge_types::{
    ActivateSessionRequest, CloseSessionRequest, CreateSessionRequest, EndpointDescription,
    GetEndpointsRequest, ReadRequest, RequestHeader, ServiceRequest, status,
};

use super::call::{Body, Call, Outgoing, Request};
use super::endpoints::{self, Chosen};
use super::pending::{Pending, Step, Waiting};
use super::setup::{self, Report, SessionInfo};
use crate::Error;
use crate::config::Config;
use crate::tables::Tables;

/// A request that the channel is to send.
pub(crate) enum Queued {
    User(Box<dyn Call>),
    Own(Step, Box<dyn Outgoing>),
}

/// What the session is waiting for.
enum State {
    /// Until the session can be used.
    Connecting(Setup),
    Ready,
    /// CloseSession was sent.
    Closing,
    Closed,
}

struct Setup {
    report: Report,
    deadline: Ticks,
    endpoints: uaforge_codec::Array<EndpointDescription>,
    chosen: Option<Chosen>,
    info: Option<SessionInfo>,
}

/// The session's side of the machine.
pub(crate) struct Core {
    pub(crate) url: Arc<str>,
    pub(crate) config: Arc<Config>,
    pub(crate) tables: Arc<Tables>,
    pub(crate) outbox: VecDeque<Queued>,
    state: State,
    pending: Pending,
    entropy: Box<dyn Entropy + Send>,
    authentication_token: NodeId,
    next_handle: u32,
    /// When the peer was heard last.
    heard: Ticks,
    keep_alive_sent: bool,
}

impl Core {
    pub(crate) fn new(
        url: Arc<str>,
        config: Arc<Config>,
        tables: Arc<Tables>,
        entropy: Box<dyn Entropy + Send>,
        now: Now,
        report: Report,
    ) -> Self {
        let deadline = now.ticks + config.connect_timeout;
        let setup = Setup { report, deadline, endpoints: Default::default(), chosen: None, info: None };
        Self {
            url,
            config,
            tables,
            outbox: VecDeque::new(),
            state: State::Connecting(setup),
            pending: Pending::default(),
            entropy,
            authentication_token: NodeId::NULL,
            next_handle: 0,
            heard: now.ticks,
            keep_alive_sent: false,
        }
    }

    /// The channel is open.
    pub(crate) fn opened(&mut self) {
        let request = setup::get_endpoints(&self.url);
        self.send::<GetEndpointsRequest>(Step::Endpoints, request);
    }

    fn send<Q: ServiceRequest>(&mut self, step: Step, request: Q) {
        self.outbox.push_back(Queued::Own(step, Box::new(Request(request))));
    }

    /// Takes a call of a user.
    pub(crate) fn submit(&mut self, call: Box<dyn Call>) {
        match self.state {
            State::Closing | State::Closed => call.complete(Err(Error::closed("by this client"))),
            State::Connecting(_) | State::Ready => self.outbox.push_back(Queued::User(call)),
        }
    }

    /// Whether another command may be taken now. Before the session is ready there are none but its end.
    pub(crate) fn takes_calls(&self) -> bool {
        match self.state {
            State::Connecting(_) | State::Ready => self.pending.len() < self.config.max_outstanding,
            State::Closing | State::Closed => false,
        }
    }

    /// The header of the next request and its deadline (OPC 10000-4 §7.33).
    pub(crate) fn header(&mut self, queued: &Queued, now: Now) -> (RequestHeader, Ticks) {
        self.next_handle = self.next_handle.wrapping_add(1).max(1);
        let timeout = match queued {
            Queued::User(call) => call.timeout().unwrap_or(self.config.request_timeout),
            Queued::Own(..) => self.config.request_timeout,
        };
        let deadline = match &self.state {
            State::Connecting(setup) => setup.deadline,
            _ => now.ticks + timeout,
        };
        let hint = deadline.since(now.ticks).as_millis();
        let header = RequestHeader {
            authentication_token: self.authentication_token.clone(),
            timestamp: now.utc,
            request_handle: self.next_handle,
            timeout_hint: u32::try_from(hint).unwrap_or(u32::MAX),
            ..Default::default()
        };
        (header, deadline)
    }

    /// A request went out.
    pub(crate) fn sent(&mut self, request_id: u32, deadline: Ticks, queued: Queued) {
        let waiting = match queued {
            Queued::User(call) => Waiting::User(call),
            Queued::Own(step, request) => Waiting::Own(step, request.service()),
        };
        self.pending.insert(request_id, deadline, waiting);
    }

    /// A request could not be encoded.
    pub(crate) fn refused(&mut self, queued: Queued, error: Error) {
        match queued {
            Queued::User(call) => call.complete(Err(error)),
            Queued::Own(..) => self.fail(error),
        }
    }

    /// Bytes arrived.
    pub(crate) fn heard(&mut self, now: Now) {
        self.heard = now.ticks;
    }

    /// A response arrived. Late ones have nobody waiting and are dropped.
    pub(crate) fn response(&mut self, request_id: u32, body: Body<'_>) {
        match self.pending.take(request_id) {
            None => {}
            Some(Waiting::User(call)) => call.complete(Ok(body)),
            Some(Waiting::Own(step, _)) => {
                if let Err(error) = self.advance(step, body) {
                    self.fail(error);
                }
            }
        }
    }

    /// The peer gave up one response (abort chunk).
    pub(crate) fn aborted(&mut self, request_id: u32, status: StatusCode) {
        match self.pending.take(request_id) {
            None => {}
            Some(Waiting::User(call)) => {
                let service = call.service();
                call.complete(Err(Error::Service { service, status }));
            }
            Some(Waiting::Own(_, service)) => self.fail(Error::Service { service, status }),
        }
    }

    fn advance(&mut self, step: Step, body: Body<'_>) -> Result<(), Error> {
        match step {
            Step::Endpoints => {
                let endpoints = body.response::<GetEndpointsRequest>()?.endpoints;
                let chosen = endpoints::choose(&endpoints, self.config.insecure, &self.url)?;
                let request = setup::create_session(&self.url, &self.config, &chosen, &mut *self.entropy);
                self.send(Step::Create, request);
                self.update(|setup| {
                    setup.endpoints = endpoints;
                    setup.chosen = Some(chosen);
                });
                Ok(())
            }
            Step::Create => self.created(body),
            Step::Activate => {
                body.response::<ActivateSessionRequest>()?;
                self.send(Step::Tables, setup::read_tables());
                Ok(())
            }
            Step::Tables => self.ready(body),
            Step::KeepAlive => {
                self.keep_alive_sent = false;
                body.response::<ReadRequest>().map(drop)
            }
            Step::Close => {
                self.end(Error::closed("by this client"));
                Ok(())
            }
        }
    }

    fn update(&mut self, change: impl FnOnce(&mut Setup)) {
        if let State::Connecting(setup) = &mut self.state {
            change(setup);
        }
    }

    fn created(&mut self, body: Body<'_>) -> Result<(), Error> {
        let created = body.response::<CreateSessionRequest>()?;
        let State::Connecting(setup) = &mut self.state else {
            return Ok(());
        };
        if !endpoints::agree(&setup.endpoints, &created.server_endpoints) {
            return Err(Error::EndpointsDiffer);
        }
        let Some(chosen) = &setup.chosen else {
            return Ok(());
        };
        self.authentication_token = created.authentication_token.clone();
        let request = setup::activate_session(chosen);
        setup.info = Some(setup::info(created, chosen));
        self.send(Step::Activate, request);
        Ok(())
    }

    fn ready(&mut self, body: Body<'_>) -> Result<(), Error> {
        let read = body.response::<ReadRequest>()?;
        let (namespaces, limits) = setup::tables(&read.results)?;
        self.tables.set_namespaces(namespaces);
        if let State::Connecting(setup) = core::mem::replace(&mut self.state, State::Ready)
            && let Some(mut info) = setup.info
        {
            info.limits = limits;
            (setup.report)(Ok(info));
        }
        Ok(())
    }

    /// What the clock asks for.
    pub(crate) fn deadline(&self) -> Option<Ticks> {
        let connecting = match &self.state {
            State::Connecting(setup) => Some(setup.deadline),
            State::Ready if !self.keep_alive_sent => Some(self.heard + self.config.keep_alive),
            _ => None,
        };
        [connecting, self.pending.next_deadline()].into_iter().flatten().min()
    }

    pub(crate) fn on_deadline(&mut self, now: Now) {
        while let Some(waiting) = self.pending.expired(now.ticks) {
            let timeout = Error::Timeout { service: waiting.service() };
            match waiting {
                Waiting::User(call) => call.complete(Err(timeout)),
                Waiting::Own(_, _) => self.fail(timeout),
            }
        }
        match &self.state {
            State::Connecting(setup) if setup.deadline <= now.ticks => {
                self.fail(Error::Timeout { service: "connecting" });
            }
            State::Ready if !self.keep_alive_sent && self.heard + self.config.keep_alive <= now.ticks => {
                self.keep_alive_sent = true;
                self.send(Step::KeepAlive, setup::read_state());
            }
            _ => {}
        }
    }

    /// Starts the orderly end; what waits still gets its responses until CloseSession is answered.
    pub(crate) fn close(&mut self) {
        match self.state {
            State::Ready => {
                self.state = State::Closing;
                self.send::<CloseSessionRequest>(Step::Close, setup::close_session());
            }
            State::Connecting(_) => self.end(Error::closed("by this client")),
            State::Closing | State::Closed => {}
        }
    }

    /// Ends everything with an error.
    pub(crate) fn fail(&mut self, error: Error) {
        self.end(error);
    }

    fn end(&mut self, error: Error) {
        if let State::Connecting(setup) = core::mem::replace(&mut self.state, State::Closed) {
            (setup.report)(Err(error.clone()));
        }
        for queued in self.outbox.drain(..) {
            if let Queued::User(call) = queued {
                call.complete(Err(error.clone()));
            }
        }
        for waiting in self.pending.drain() {
            if let Waiting::User(call) = waiting {
                call.complete(Err(error.clone()));
            }
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// The connection is gone.
    pub(crate) fn lost(&mut self) {
        let waits_for_close = matches!(self.state, State::Closing);
        self.end(if waits_for_close {
            Error::closed("by this client")
        } else {
            Error::Channel { status: status::BAD_CONNECTION_CLOSED, reason: "the server closed it".into() }
        });
    }
}
