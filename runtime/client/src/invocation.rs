//! One call of one service, before it is made.

use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::time::Duration;

use uaforge_types::ServiceRequest;

use crate::link::CallOptions;
use crate::{Error, Session};

/// A call of any service; await it. From [`Session::call_service`].
#[derive(Debug)]
#[must_use = "the call is made when it is awaited"]
pub struct Invocation<Q> {
    session: Session,
    request: Q,
    handle: u32,
    timeout: Option<Duration>,
}

impl<Q: ServiceRequest> Invocation<Q> {
    pub(crate) fn new(session: Session, request: Q) -> Self {
        let handle = session.link().handles.next();
        Self { session, request, handle, timeout: None }
    }

    /// Another time than the session's usual one.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }

    /// The requestHandle that the call will have, for [`Session::cancel`] (OPC 10000-4 §7.33).
    #[must_use]
    pub fn request_handle(&self) -> u32 {
        self.handle
    }
}

impl<Q: ServiceRequest> IntoFuture for Invocation<Q> {
    type Output = Result<Q::Response, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { session, request, handle, timeout } = self;
        let options = CallOptions { timeout, handle: Some(handle) };
        Box::pin(async move { session.call(request, options).await })
    }
}
