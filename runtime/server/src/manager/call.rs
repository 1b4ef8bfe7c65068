//! The batch of a Call: items, and the context that takes their results.

use core::future::Future;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;

use uaforge_codec::{Encode as _, Encoder, NodeIdRef, Now, StatusCode, Ticks, Variant};
use uaforge_nodes::Snapshot;
use uaforge_types::{Argument, status};

use super::contain::contain;
use super::defer::{Deferred, Late};
use crate::access::Access;
use crate::blocking::BlockingPool;
use crate::cancellation::{Cancellation, Scope};
use crate::methods::{LateMethod, MethodError, MethodResult};
use crate::proto::results::Results;
use crate::space::signature::{Signature, check_inputs};

/// One Method to call (CallMethodRequest, OPC 10000-4 §5.12.2.2).
#[derive(Clone, Copy, Debug)]
pub struct CallItem<'a> {
    /// Position in the request.
    pub(crate) index: usize,
    /// The Object or ObjectType.
    pub object: NodeIdRef<'a>,
    /// The Method.
    pub method: NodeIdRef<'a>,
    /// The input arguments as they came.
    pub inputs: &'a [Variant],
}

/// Takes the results of a batch and encodes them into the response.
pub struct CallCx<'r, 'e> {
    pub(crate) results: Results<'r, 'e>,
    pub(crate) access: Access,
    pub(crate) now: Now,
    pub(crate) snapshot: &'r Snapshot,
    pub(crate) pool: &'r BlockingPool,
    pub(crate) scope: &'r Scope,
    pub(crate) deferred: &'r mut Vec<Deferred>,
}

/// A late result of Call, and what it has to fit.
#[derive(Debug)]
pub(crate) struct CallAnswer {
    pub(crate) result: MethodResult,
    /// Input arguments of the call.
    pub(crate) inputs: usize,
    pub(crate) signature: Option<Arc<Signature>>,
}

impl CallCx<'_, '_> {
    /// Who calls.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// The time of this batch.
    #[must_use]
    pub fn now(&self) -> Now {
        self.now
    }

    /// Until when the client waits for the answer.
    #[must_use]
    pub fn deadline(&self) -> Ticks {
        self.scope.deadline()
    }

    /// A token that is fired when the client does not wait any more; for futures and jobs.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.scope.token().clone()
    }

    /// Checks number, types and ranks of an item's inputs against a declaration, as the server does for
    /// Methods of its address space. Gives the inputs to work with: a null value has become one of the
    /// declared type.
    ///
    /// # Errors
    /// Bad_ArgumentsMissing, Bad_TooManyArguments, or Bad_InvalidArgument with a status for each argument.
    pub fn check(&self, item: &CallItem<'_>, declared: &[Argument]) -> Result<Vec<Variant>, MethodError> {
        check_inputs(self.snapshot, declared, declared.len(), item.inputs)
    }

    /// Answers with output arguments, or with an error.
    pub fn answer(&mut self, item: &CallItem<'_>, result: MethodResult) {
        self.put(item, &CallAnswer { result, inputs: item.inputs.len(), signature: None });
    }

    /// Answers with a status and no output argument.
    pub fn status(&mut self, item: &CallItem<'_>, status: StatusCode) {
        self.results.status(item.index, status);
    }

    /// Hands the result over to a future. It is polled at once, so that one which does not wait is
    /// answered in place; the response waits for any other, further requests do not. It is not dropped
    /// when the client disconnects.
    pub fn defer(
        &mut self,
        item: &CallItem<'_>,
        future: impl Future<Output = MethodResult> + Send + 'static,
    ) {
        self.defer_checked(item, Box::pin(future), None);
    }

    /// Hands the result over to a job that may block, on a bounded pool; Bad_ResourceUnavailable if the
    /// pool's queue is full, Bad_InternalError if the job panics.
    pub fn blocking(&mut self, item: &CallItem<'_>, job: impl FnOnce() -> MethodResult + Send + 'static) {
        self.blocking_checked(item, job, None);
    }

    pub(crate) fn put(&mut self, item: &CallItem<'_>, answer: &CallAnswer) {
        let snapshot = self.snapshot;
        self.results.put(item.index, |e| put_answer(e, answer, snapshot));
    }

    pub(crate) fn defer_checked(
        &mut self,
        item: &CallItem<'_>,
        mut future: LateMethod,
        signature: Option<Arc<Signature>>,
    ) {
        let inputs = item.inputs.len();
        // The task of the connection polls again with its own waker before it sleeps.
        let mut cx = Context::from_waker(Waker::noop());
        let polled = contain("Call", item.method, || future.as_mut().poll(&mut cx));
        match polled.unwrap_or(Poll::Ready(Err(MethodError::new(status::BAD_INTERNAL_ERROR)))) {
            Poll::Ready(result) => self.put(item, &CallAnswer { result, inputs, signature }),
            Poll::Pending => {
                if self.results.defer(item.index) {
                    let late = async move {
                        Late::Call(Box::new(CallAnswer { result: future.await, inputs, signature }))
                    };
                    self.deferred.push(Deferred::new(item.index, item.method, true, late));
                }
            }
        }
    }

    pub(crate) fn blocking_checked(
        &mut self,
        item: &CallItem<'_>,
        job: impl FnOnce() -> MethodResult + Send + 'static,
        signature: Option<Arc<Signature>>,
    ) {
        let run = self.pool.run(self.cancellation(), job);
        let result = async move { run.await.unwrap_or_else(|status| Err(MethodError::new(status))) };
        self.defer_checked(item, Box::pin(result), signature);
    }
}

/// Writes a CallMethodResult (OPC 10000-4 §5.12.2.2).
pub(crate) fn put_answer(e: &mut Encoder<'_>, answer: &CallAnswer, snapshot: &Snapshot) {
    let unfit = |outputs: &Vec<Variant>| {
        let declared = answer.signature.as_ref();
        declared.filter(|signature| !signature.takes_outputs(snapshot, outputs)).inspect(|s| log_unfit(s))
    };
    match &answer.result {
        // What the handler gives is not what its declaration says.
        Ok(outputs) if unfit(outputs).is_some() => put_call_status(e, status::BAD_INTERNAL_ERROR),
        Ok(outputs) => {
            e.put_u32(StatusCode::GOOD.0);
            e.put_array_len(None);
            e.put_array_len(None);
            e.put_array_len(Some(outputs.len()));
            outputs.iter().for_each(|output| output.encode(e));
        }
        Err(error) => put_error(e, error, answer.inputs),
    }
}

#[cold]
fn log_unfit(signature: &Signature) {
    tracing::error!(method = %signature.method(), "a handler gave other outputs than its Method declares");
}

/// Results of arguments are as many as there are arguments, and only beside Bad_InvalidArgument.
fn put_error(e: &mut Encoder<'_>, error: &MethodError, inputs: usize) {
    if error.status.is_good() {
        return put_call_status(e, status::BAD_INTERNAL_ERROR);
    }
    let results = &error.input_argument_results;
    if error.status != status::BAD_INVALID_ARGUMENT || results.is_empty() {
        return put_call_status(e, error.status);
    }
    e.put_u32(error.status.0);
    e.put_array_len(Some(inputs));
    for index in 0..inputs {
        e.put_u32(results.get(index).copied().unwrap_or(StatusCode::GOOD).0);
    }
    e.put_array_len(None);
    e.put_array_len(None);
}

/// Writes a CallMethodResult that is a status alone.
pub(crate) fn put_call_status(e: &mut Encoder<'_>, status: StatusCode) {
    e.put_u32(status.0);
    e.put_array_len(None);
    e.put_array_len(None);
    e.put_array_len(None);
}
