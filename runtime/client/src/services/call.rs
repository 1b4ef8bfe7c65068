//! Call (OPC 10000-4 §5.12).

use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::time::Duration;

use uaforge_codec::{Array, StatusCode, Variant};
use uaforge_nodes::typed::NodeRef;
use uaforge_types::{CallMethodRequest, CallMethodResult, CallRequest, status};

use crate::error::ArgumentStatus;
use crate::{Error, Session, batch};

/// A call of one Method; await it, for its output arguments. From [`Session::call_method`].
#[derive(Debug)]
#[must_use = "the Method is called when it is awaited"]
pub struct CallMethod {
    session: Session,
    call: Result<CallMethodRequest, Error>,
    timeout: Option<Duration>,
}

/// Calls of Methods; await them, for a result of each in their order. From [`Session::call_methods`].
#[derive(Debug)]
#[must_use = "the Methods are called when it is awaited"]
pub struct CallMethods {
    session: Session,
    calls: Vec<CallMethodRequest>,
    timeout: Option<Duration>,
}

impl CallMethod {
    /// Another time than the session's usual one.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }
}

impl CallMethods {
    /// Another time than the session's usual one, for each request that is made.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }
}

impl IntoFuture for CallMethod {
    type Output = Result<Vec<Variant>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { session, call, timeout } = self;
        Box::pin(async move {
            let call = call?;
            let method = call.method_id.clone();
            outputs(session.call_once(call, timeout).await?, &method, &[])
        })
    }
}

impl IntoFuture for CallMethods {
    type Output = Result<Vec<CallMethodResult>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { session, calls, timeout } = self;
        Box::pin(async move { batch::run(&session, CallRequest::default(), calls, timeout).await })
    }
}

impl Session {
    /// Calls a Method of an object with these input arguments; gives its output arguments.
    ///
    /// # Errors
    /// The service or the Method failed, or the server lacks a model; [`Error::Method`] says what is wrong
    /// with which argument.
    pub fn call_method(
        &self,
        object: impl NodeRef,
        method: impl NodeRef,
        inputs: impl Into<Array<Variant>>,
    ) -> CallMethod {
        let namespaces = self.namespaces();
        let ids = object.node_id(&namespaces).and_then(|id| Ok((id, method.node_id(&namespaces)?)));
        let input_arguments = inputs.into();
        let call =
            ids.map(|(object_id, method_id)| CallMethodRequest { object_id, method_id, input_arguments });
        CallMethod { session: self.clone(), call: call.map_err(Error::from), timeout: None }
    }

    /// Calls Methods; the server runs those of one request in their order. Several requests are made, a
    /// bounded number at once, if the server takes fewer calls in one; what it may have run already is
    /// never sent again. Each result has a status of its own.
    ///
    /// # Errors
    /// The service failed as a whole. If only some of several requests failed, their calls have the status
    /// of the request; with Bad_Timeout or a lost connection it is not known whether they ran.
    pub fn call_methods(&self, calls: Vec<CallMethodRequest>) -> CallMethods {
        CallMethods { session: self.clone(), calls, timeout: None }
    }

    pub(crate) async fn call_once(
        &self,
        call: CallMethodRequest,
        timeout: Option<Duration>,
    ) -> Result<CallMethodResult, Error> {
        let results = batch::run(self, CallRequest::default(), vec![call], timeout).await?;
        Ok(results.into_iter().next().unwrap_or_default())
    }
}

/// The outputs of a call, or why there are none. `inputs` are names of the input arguments.
pub(crate) fn outputs(
    result: CallMethodResult,
    what: &dyn std::fmt::Display,
    inputs: &[&str],
) -> Result<Vec<Variant>, Error> {
    if !result.status_code.is_bad() {
        return Ok(result.output_arguments.into_vec());
    }
    let arguments = result.input_argument_results.iter().enumerate();
    let arguments = arguments.filter(|(_, status)| **status != StatusCode::GOOD).map(|(index, status)| {
        let name = inputs.get(index).map_or_else(|| format!("input {index}"), |name| (*name).to_owned());
        ArgumentStatus { index, name: name.into(), status: *status }
    });
    Err(Error::Method {
        what: what.to_string().into(),
        status: result.status_code,
        arguments: arguments.collect(),
    })
}

/// Whether a server says that it does not know the Method by this id, so that it did not run.
pub(crate) fn is_refused(status: StatusCode) -> bool {
    [status::BAD_METHOD_INVALID, status::BAD_NODE_ID_UNKNOWN, status::BAD_NODE_ID_INVALID].contains(&status)
}
