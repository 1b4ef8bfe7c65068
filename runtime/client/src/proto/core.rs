//! The states of a connection, without the channel below it: what a response means and what is to be sent
//! next. The way to a ready session is in `connecting`.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;
use uaforge_codec::{Array, Entropy, NodeId, Now, StatusCode, Ticks};
use uaforge_types::{
    CancelRequest, CloseSessionRequest, EndpointDescription, GetEndpointsRequest, ReadRequest, RequestHeader,
    ServiceRequest, status,
};

use super::call::{Body, Call, Outgoing, Request};
use super::endpoints::Chosen;
use super::handles::Handles;
use super::liveness::Liveness;
use super::pending::{Pending, Step, Waiting};
use super::recovery::Recovery;
use super::secured::Secured;
use super::setup::{self, Report, Setup};
use super::subscriptions::Subscriptions;
use crate::Error;
use crate::config::Config;
use crate::recovery::ConnectionState;
use crate::security::SecuredEndpoint;
use crate::tables::Tables;

/// What the connection is waiting for.
pub(super) enum State {
    /// Until it can be used.
    Connecting(Box<Setup>),
    Ready,
    /// The connection is gone, and another one is wanted.
    Lost,
    /// CloseSession was sent.
    Closing,
    Closed,
}

/// What a connection is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// A channel is enough: discovery services.
    Channel,
    /// An activated session.
    Session,
}

/// The parts of a core that others share.
pub(crate) struct Ties {
    pub(crate) tables: Arc<Tables>,
    pub(crate) handles: Arc<Handles>,
    /// Told once: why the connection has ended.
    pub(crate) ended: watch::Sender<Option<Error>>,
    pub(crate) state: watch::Sender<ConnectionState>,
    pub(crate) report: Report,
}

/// The session's side of the machine.
pub(crate) struct Core {
    pub(crate) url: Arc<str>,
    pub(crate) config: Arc<Config>,
    pub(crate) tables: Arc<Tables>,
    /// Handles of requests that the channel is to send.
    pub(crate) outbox: VecDeque<u32>,
    pub(super) goal: Goal,
    pub(super) state: State,
    pub(super) entropy: Box<dyn Entropy + Send>,
    pub(super) authentication_token: NodeId,
    pub(super) liveness: Liveness,
    pub(super) subscriptions: Subscriptions,
    pub(super) recovery: Recovery,
    pending: Pending,
    handles: Arc<Handles>,
    ended: watch::Sender<Option<Error>>,
    /// Cancels that are not answered yet.
    cancels: usize,
    /// The server has the Cancel service, as far as is known.
    can_cancel: bool,
}

impl Core {
    pub(crate) fn new(
        url: Arc<str>,
        config: Arc<Config>,
        goal: Goal,
        entropy: Box<dyn Entropy + Send>,
        now: Now,
        ties: Ties,
    ) -> Self {
        let setup = Setup::new(ties.report, now.ticks + config.connect_timeout);
        Self {
            url,
            liveness: Liveness::new(config.keep_alive, now.ticks),
            subscriptions: Subscriptions::new(config.max_publish_requests, config.request_timeout),
            recovery: Recovery::new(config.reconnect.clone(), ties.state),
            config,
            tables: ties.tables,
            outbox: VecDeque::new(),
            goal,
            state: State::Connecting(Box::new(setup)),
            entropy,
            authentication_token: NodeId::NULL,
            pending: Pending::default(),
            handles: ties.handles,
            ended: ties.ended,
            cancels: 0,
            can_cancel: true,
        }
    }

    /// The channel will be secured; these are the endpoints that the server named before.
    pub(crate) fn secure(&mut self, endpoint: SecuredEndpoint, endpoints: Array<EndpointDescription>) {
        let mut client_nonce = [0; 32];
        self.entropy.fill(&mut client_nonce);
        if let State::Connecting(setup) = &mut self.state {
            setup.chosen = Some(Chosen {
                anonymous: endpoint.token.policy_id.clone(),
                server_uri: endpoint.server_uri.clone(),
            });
            setup.endpoints = endpoints;
            let secured = Secured { endpoint, client_nonce, thumbprint: Arc::new([]) };
            setup.secured = Some(Box::new(secured));
        }
    }

    /// The channel is open.
    pub(crate) fn opened(&mut self, thumbprint: Option<&Arc<[u8]>>, now: Now) {
        if let State::Connecting(setup) = &mut self.state
            && let Some(secured) = &mut setup.secured
            && let Some(thumbprint) = thumbprint
        {
            secured.thumbprint = Arc::clone(thumbprint);
        }
        if !self.resume(now) {
            self.begin(now);
        }
    }

    /// Begins what the connection is for.
    pub(super) fn begin(&mut self, now: Now) {
        if matches!(&self.state, State::Connecting(setup) if setup.secured.is_some()) {
            self.create_secured(now);
            return;
        }
        match self.goal {
            Goal::Session => {
                let request = setup::get_endpoints(&self.url);
                self.send::<GetEndpointsRequest>(Step::Endpoints, request, now);
            }
            Goal::Channel => self.become_ready(None, now),
        }
    }

    pub(super) fn send<Q: ServiceRequest>(&mut self, step: Step, request: Q, now: Now) {
        let deadline = match &self.state {
            State::Connecting(setup) => setup.deadline,
            _ => now.ticks + self.config.request_timeout,
        };
        self.send_until(deadline, step, Box::new(Request(request)));
    }

    pub(super) fn send_until(&mut self, deadline: Ticks, step: Step, request: Box<dyn Outgoing>) {
        self.enqueue(self.handles.next(), deadline, Waiting::Own(step, request));
    }

    fn enqueue(&mut self, handle: u32, deadline: Ticks, waiting: Waiting) {
        self.pending.insert(handle, deadline, waiting);
        self.outbox.push_back(handle);
    }

    /// Takes a call of a user. Its time runs from now on.
    pub(crate) fn submit(&mut self, call: Box<dyn Call>, now: Now) {
        match self.state {
            State::Lost | State::Closing | State::Closed => {
                call.complete(Err(self.reason()));
            }
            State::Connecting(_) | State::Ready => {
                self.enqueue(call.handle(), now.ticks + call.timeout(), Waiting::User(call));
            }
        }
    }

    /// Nobody waits for a call any more. If the server may be at work on it, it is told (OPC 10000-4
    /// §5.7.5). A call that ran out of time needs no Cancel: the server knows its timeoutHint.
    pub(crate) fn abandon(&mut self, handle: u32, now: Now) {
        let Some((Waiting::User(_), true)) = self.pending.take(handle) else {
            return;
        };
        let worth_it = matches!(self.state, State::Ready) && self.goal == Goal::Session && self.can_cancel;
        if worth_it && self.cancels < self.config.max_outstanding {
            self.cancels += 1;
            let request = CancelRequest { request_handle: handle, ..Default::default() };
            self.send::<CancelRequest>(Step::Cancel, request, now);
        }
    }

    /// The next request to send with its header (OPC 10000-4 §7.33); `None` if nobody waits for it now.
    pub(crate) fn prepare(&mut self, handle: u32, now: Now) -> Option<(RequestHeader, &mut Waiting)> {
        let (deadline, waiting) = self.pending.get_mut(handle)?;
        self.liveness.said(now.ticks);
        let hint = deadline.since(now.ticks).as_millis();
        let header = RequestHeader {
            authentication_token: self.authentication_token.clone(),
            timestamp: now.utc,
            request_handle: handle,
            timeout_hint: u32::try_from(hint).unwrap_or(u32::MAX).max(1),
            ..Default::default()
        };
        Some((header, waiting))
    }

    /// A request went out.
    pub(crate) fn sent(&mut self, handle: u32, request_id: u32) {
        self.pending.sent(handle, request_id);
    }

    /// A request could not be encoded.
    pub(crate) fn refused(&mut self, handle: u32, error: Error, now: Now) {
        match self.pending.take(handle) {
            Some((Waiting::User(call), _)) => {
                call.complete(Err(error));
            }
            Some((Waiting::Own(Step::Subscriptions(ask), _), _)) => {
                self.subscriptions_failed(ask, &error, now)
            }
            Some((Waiting::Own(..), _)) => self.end(error),
            None => {}
        }
    }

    /// Bytes arrived.
    pub(crate) fn heard(&mut self, now: Now) {
        self.liveness.heard(now.ticks);
    }

    /// A response arrived. Late ones and second ones have nobody waiting and are dropped.
    pub(crate) fn response(&mut self, request_id: u32, body: Body<'_>, now: Now) {
        match self.pending.answered(request_id) {
            None => {}
            Some(Waiting::User(call)) => {
                let failed = call.complete(Ok(body));
                if let Some(status) = failed.filter(|status| self.is_over(*status)) {
                    self.end(session_over(status));
                }
            }
            Some(Waiting::Own(step, _)) => {
                if let Err(error) = self.advance(step, body, now) {
                    self.end(error);
                }
            }
        }
    }

    /// Whether the service result says that the session or its channel is no more.
    pub(super) fn is_over(&self, found: StatusCode) -> bool {
        self.goal == Goal::Session
            && [
                status::BAD_SESSION_ID_INVALID,
                status::BAD_SESSION_CLOSED,
                status::BAD_SESSION_NOT_ACTIVATED,
                status::BAD_SECURE_CHANNEL_ID_INVALID,
                status::BAD_SECURE_CHANNEL_CLOSED,
            ]
            .contains(&found)
    }

    /// The peer gave up one response (abort chunk).
    pub(crate) fn aborted(&mut self, request_id: u32, status: StatusCode, now: Now) {
        match self.pending.answered(request_id) {
            None => {}
            Some(Waiting::User(call)) => {
                let service = call.service();
                call.complete(Err(Error::Service { service, status }));
            }
            Some(Waiting::Own(Step::KeepAlive, _)) => self.liveness.answered(),
            Some(Waiting::Own(Step::Cancel, _)) => self.cancels = self.cancels.saturating_sub(1),
            Some(Waiting::Own(Step::Subscriptions(ask), request)) => {
                let error = Error::Service { service: request.service(), status };
                self.subscriptions_failed(ask, &error, now);
            }
            Some(Waiting::Own(_, request)) => {
                self.end(Error::Service { service: request.service(), status });
            }
        }
    }

    fn advance(&mut self, step: Step, body: Body<'_>, now: Now) -> Result<(), Error> {
        match step {
            Step::Endpoints => self.endpoints(body, now),
            Step::Create => self.created(body, now),
            Step::Activate => self.activated(body, now),
            Step::Tables => self.tables(body, now),
            Step::Namespaces => self.namespaces(body, now),
            Step::KeepAlive => {
                self.liveness.answered();
                // A server that answers is there, whatever it says of its state.
                match body.response::<ReadRequest>() {
                    Err(Error::Service { status, .. }) if self.is_over(status) => Err(session_over(status)),
                    _ => Ok(()),
                }
            }
            Step::Cancel => {
                self.cancels = self.cancels.saturating_sub(1);
                if let Err(Error::Service { status, .. }) = body.response::<CancelRequest>() {
                    self.can_cancel &= status != status::BAD_SERVICE_UNSUPPORTED;
                }
                Ok(())
            }
            Step::Subscriptions(ask) => self.subscriptions_answered(ask, body, now),
            Step::Transfer => self.taken_over(body, now),
            Step::Close => {
                self.end(Error::closed("by this client"));
                Ok(())
            }
        }
    }

    /// Everybody who waits; nobody does any more.
    pub(super) fn drain_pending(&mut self) -> Vec<Waiting> {
        self.cancels = 0;
        self.pending.drain().collect()
    }

    /// What the clock asks for.
    pub(crate) fn deadline(&self) -> Option<Ticks> {
        let own = match &self.state {
            State::Connecting(setup) => Some(setup.deadline),
            State::Ready if self.goal == Goal::Session => {
                [self.liveness.due(), self.subscriptions.deadline()].into_iter().flatten().min()
            }
            _ => None,
        };
        [own, self.pending.next_deadline()].into_iter().flatten().min()
    }

    pub(crate) fn on_deadline(&mut self, now: Now) {
        while let Some(waiting) = self.pending.expired(now.ticks) {
            match waiting {
                Waiting::User(call) => {
                    let service = call.service();
                    call.complete(Err(Error::Timeout { service }));
                }
                Waiting::Own(Step::Cancel, _) => self.cancels = self.cancels.saturating_sub(1),
                Waiting::Own(Step::Close, _) => self.end(Error::closed("by this client")),
                Waiting::Own(Step::Subscriptions(ask), request) => {
                    self.subscriptions_failed(ask, &Error::Timeout { service: request.service() }, now);
                }
                Waiting::Own(Step::KeepAlive, _) => {
                    self.end(Error::closed("the server does not answer the keep-alive in time"));
                }
                Waiting::Own(_, request) => self.end(Error::Timeout { service: request.service() }),
            }
        }
        self.subscriptions_due(now);
        match &self.state {
            State::Connecting(setup) if setup.deadline <= now.ticks => {
                self.end(Error::Timeout { service: "connecting" });
            }
            State::Ready
                if self.goal == Goal::Session && self.liveness.due().is_some_and(|at| at <= now.ticks) =>
            {
                self.liveness.asked();
                self.send::<ReadRequest>(Step::KeepAlive, setup::read_state(), now);
            }
            _ => {}
        }
    }

    /// Starts the orderly end; what was sent still gets its response until CloseSession is answered.
    pub(crate) fn close(&mut self, now: Now) {
        match (&self.state, self.goal) {
            (State::Ready, Goal::Session) => {
                self.state = State::Closing;
                self.send::<CloseSessionRequest>(Step::Close, setup::close_session(), now);
            }
            (State::Ready, Goal::Channel) | (State::Connecting(_) | State::Lost, _) => {
                self.recovery.leave();
                self.end(Error::closed("by this client"));
            }
            (State::Closing | State::Closed, _) => {}
        }
    }

    /// Ends everything with an error, which all who wait get now and all who come later; unless the session is to
    /// come back over another connection.
    pub(crate) fn end(&mut self, error: Error) {
        if self.is_closed() {
            return;
        }
        if self.comes_back() {
            self.suspend(error);
            return;
        }
        self.recovery.ended(&error);
        self.ended.send_replace(Some(error.clone()));
        if let State::Connecting(setup) = core::mem::replace(&mut self.state, State::Closed) {
            (setup.report)(Err(error.clone()));
        }
        self.outbox.clear();
        self.subscriptions.end(&error);
        for waiting in self.pending.drain() {
            if let Waiting::User(call) = waiting {
                call.complete(Err(error.clone()));
            }
        }
    }

    /// Why a call is not taken any more.
    pub(crate) fn reason(&self) -> Error {
        let unless = if self.is_lost() { "and is being made anew" } else { "by this client" };
        self.ended.borrow().clone().unwrap_or_else(|| Error::closed(unless))
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// Whether there is no connection to say anything on.
    pub(crate) fn is_offline(&self) -> bool {
        self.is_closed() || self.is_lost()
    }

    /// Nobody drives the connection any more, and nobody will.
    pub(crate) fn abandoned(&mut self) {
        self.recovery.leave();
        if self.is_lost() {
            self.end(Error::closed("while it was being made anew"));
        } else {
            self.lost();
        }
    }

    /// The connection is gone.
    pub(crate) fn lost(&mut self) {
        if self.is_lost() {
            return;
        }
        let waits_for_close = matches!(self.state, State::Closing);
        self.end(if waits_for_close {
            Error::closed("by this client")
        } else {
            Error::closed("the server or the network closed it")
        });
    }
}

pub(super) fn session_over(status: StatusCode) -> Error {
    Error::SessionOver { status }
}
