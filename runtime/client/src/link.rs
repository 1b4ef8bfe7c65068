//! The callers' end of a connection: requests go in, responses come back.

use core::time::Duration;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use uaforge_types::ServiceRequest;

use crate::Error;
use crate::proto::{Call, Exchanged, Handles, ServiceCall, Wish};
use crate::recovery::ConnectionState;
use crate::tables::Tables;

/// What callers ask of the connection.
pub(crate) enum Command {
    Call(Box<dyn Call>),
    /// Nobody waits any more for the call of this handle.
    Abandon(u32),
    /// Something about subscriptions.
    Wish(Wish),
    Close(oneshot::Sender<()>),
}

/// Shared by all handles of a connection. Its end goes away with the last of them.
pub(crate) struct Link {
    pub(crate) tables: Arc<Tables>,
    pub(crate) handles: Arc<Handles>,
    /// Bounded by the permits: a call holds one until it is answered.
    commands: mpsc::UnboundedSender<Command>,
    permits: Arc<Semaphore>,
    ended: watch::Receiver<Option<Error>>,
    pub(crate) states: watch::Receiver<ConnectionState>,
    request_timeout: Duration,
    /// Requests on their way at once for one call that was taken apart.
    pub(crate) parallel_parts: usize,
}

/// One call's own wishes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallOptions {
    /// Another time than the usual one.
    pub(crate) timeout: Option<Duration>,
    /// A requestHandle that was taken before.
    pub(crate) handle: Option<u32>,
}

impl Link {
    pub(crate) fn new(
        tables: Arc<Tables>,
        handles: Arc<Handles>,
        commands: mpsc::UnboundedSender<Command>,
        (ended, states): (watch::Receiver<Option<Error>>, watch::Receiver<ConnectionState>),
        (request_timeout, max_outstanding, parallel_parts): (Duration, usize, usize),
    ) -> Self {
        let permits = Arc::new(Semaphore::new(max_outstanding.min(Semaphore::MAX_PERMITS)));
        Self { tables, handles, commands, permits, ended, states, request_timeout, parallel_parts }
    }

    /// Sends a request and waits for its response. Dropping the future abandons the call.
    pub(crate) async fn call<Q: ServiceRequest>(
        &self,
        request: Q,
        options: CallOptions,
    ) -> Result<Q::Response, Error> {
        match self.exchange(request, options).await {
            Ok((outcome, _)) => outcome,
            Err(error) => Err(error),
        }
    }

    /// As [`Link::call`], and gives the request back if the connection took it.
    pub(crate) async fn exchange<Q: ServiceRequest>(
        &self,
        request: Q,
        options: CallOptions,
    ) -> Result<Exchanged<Q>, Error> {
        let timeout = options.timeout.unwrap_or(self.request_timeout);
        let (permit, timeout) = self.permit(Q::DESCRIPTOR.name, timeout).await?;
        let handle = options.handle.unwrap_or_else(|| self.handles.next());
        let (reply, response) = oneshot::channel();
        let call = ServiceCall::new(request, handle, timeout, reply, permit);
        self.commands.send(Command::Call(Box::new(call))).map_err(|_| self.reason())?;
        let mut guard = Guard { link: self, handle, waits: true };
        let outcome = response.await;
        guard.waits = false;
        outcome.map_err(|_| self.reason())
    }

    /// Sends a request whose response nobody waits for, if there is room for it now.
    pub(crate) fn post<Q: ServiceRequest>(&self, request: Q) {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            let (reply, _) = oneshot::channel();
            let call = ServiceCall::new(request, self.handles.next(), self.request_timeout, reply, permit);
            // A connection that has ended has nothing to be told.
            drop(self.commands.send(Command::Call(Box::new(call))));
        }
    }

    /// Wants something of the session's subscriptions.
    pub(crate) fn wish(&self, wish: Wish) {
        // On a connection that has ended there is nothing to be wanted; the replies' ends go with the wish.
        drop(self.commands.send(Command::Wish(wish)));
    }

    /// Room for one more outstanding request, and what is left of its time.
    async fn permit(
        &self,
        service: &'static str,
        timeout: Duration,
    ) -> Result<(OwnedSemaphorePermit, Duration), Error> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok((permit, timeout));
        }
        let began = uaforge_net::clock().ticks;
        let wait = Arc::clone(&self.permits).acquire_owned();
        let permit = uaforge_net::timeout(timeout, wait).await.map_err(|_| Error::Timeout { service })?;
        let left = timeout.saturating_sub(uaforge_net::clock().ticks.since(began));
        Ok((permit.map_err(|_| self.reason())?, left))
    }

    /// Asks for the orderly end and waits for it.
    pub(crate) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.commands.send(Command::Close(done)).is_ok() {
            // The sender goes away with the connection.
            drop(closed.await);
        }
    }

    /// Waits until the connection has ended; why it did.
    pub(crate) async fn closed(&self) -> Error {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(error) => error.clone().unwrap_or_else(|| self.reason()),
            Err(_) => self.reason(),
        }
    }

    /// Why the connection has ended; `None` as long as it has not.
    pub(crate) fn ended(&self) -> Option<Error> {
        self.ended.borrow().clone()
    }

    pub(crate) fn reason(&self) -> Error {
        self.ended().unwrap_or_else(|| match &*self.states.borrow() {
            ConnectionState::Reconnecting { .. } => Error::closed("and is being made anew"),
            _ => Error::closed("its task has ended"),
        })
    }
}

/// Tells the connection when a caller goes away before its response has come.
struct Guard<'a> {
    link: &'a Link,
    handle: u32,
    waits: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if self.waits {
            // A connection that has ended has nothing to abandon.
            drop(self.link.commands.send(Command::Abandon(self.handle)));
        }
    }
}
