//! Services with many operations: taken apart by what the server takes, put together again in order.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use futures_util::stream::{self, Stream, StreamExt};
use uaforge_codec::{Array, ByteString, DataValue, EncodeError, NodeId, StatusCode};
use uaforge_types::{
    BrowseDescription, BrowseNextRequest, BrowsePath, BrowsePathResult, BrowseRequest, BrowseResult,
    CallMethodRequest, CallMethodResult, CallRequest, ReadRequest, ReadValueId, RegisterNodesRequest,
    ServiceRequest, TranslateBrowsePathsToNodeIdsRequest, WriteRequest, WriteValue, status,
};

use crate::link::CallOptions;
use crate::{Error, Session};

/// Which limit of the server holds for a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Read,
    Write,
    Browse,
    Translate,
    Register,
    Call,
}

/// Limits that the server did not announce but answered with Bad_TooManyOperations; 0 is none.
#[derive(Debug, Default)]
pub(crate) struct Learned([AtomicU32; 6]);

impl Learned {
    fn slot(&self, limit: Limit) -> &AtomicU32 {
        let [read, write, browse, translate, register, call] = &self.0;
        match limit {
            Limit::Read => read,
            Limit::Write => write,
            Limit::Browse => browse,
            Limit::Translate => translate,
            Limit::Register => register,
            Limit::Call => call,
        }
    }

    fn get(&self, limit: Limit) -> u32 {
        self.slot(limit).load(Ordering::Relaxed)
    }

    /// So many operations may be few enough; a smaller limit that is known stays.
    fn learn(&self, limit: Limit, size: usize) {
        let size = u32::try_from(size).unwrap_or(u32::MAX).max(1);
        let slot = self.slot(limit);
        let smaller = |known: u32| (known == 0 || size < known).then_some(size);
        // The closure gives no value only where nothing is to be changed.
        let _ = slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, smaller);
    }

    /// What was learnt is no limit: not even one operation is taken now.
    fn forget(&self, limit: Limit) {
        self.slot(limit).store(0, Ordering::Relaxed);
    }
}

/// A request with one result for each of its operations.
pub(crate) trait Batch: ServiceRequest + Clone {
    type Operation: Send + 'static;
    type Outcome: Send + 'static;
    const LIMIT: Limit;
    /// Whether it may be sent again, in parts, when the server may have done it already.
    const REPEATABLE: bool;
    fn operations(&mut self) -> &mut Array<Self::Operation>;
    fn outcomes(response: Self::Response) -> Array<Self::Outcome>;
    /// The outcome of an operation whose call failed.
    fn failed(status: StatusCode) -> Self::Outcome;
}

macro_rules! batch {
    ($($request:ident: $operations:ident of $operation:ty, $results:ident of $outcome:ty, $limit:ident,
        repeatable $repeatable:literal, $failed:expr;)*) => {$(
        impl Batch for $request {
            type Operation = $operation;
            type Outcome = $outcome;
            const LIMIT: Limit = Limit::$limit;
            const REPEATABLE: bool = $repeatable;

            fn operations(&mut self) -> &mut Array<Self::Operation> {
                &mut self.$operations
            }

            fn outcomes(response: Self::Response) -> Array<Self::Outcome> {
                response.$results
            }

            fn failed(status_code: StatusCode) -> Self::Outcome {
                $failed(status_code)
            }
        }
    )*};
}

batch! {
    ReadRequest: nodes_to_read of ReadValueId, results of DataValue, Read,
        repeatable true, DataValue::from_status;
    WriteRequest: nodes_to_write of WriteValue, results of StatusCode, Write,
        repeatable false, core::convert::identity;
    CallRequest: methods_to_call of CallMethodRequest, results of CallMethodResult, Call,
        repeatable false, |status_code| CallMethodResult { status_code, ..Default::default() };
    BrowseRequest: nodes_to_browse of BrowseDescription, results of BrowseResult, Browse,
        repeatable true, |status_code| BrowseResult { status_code, ..Default::default() };
    BrowseNextRequest: continuation_points of ByteString, results of BrowseResult, Browse,
        repeatable false, |status_code| BrowseResult { status_code, ..Default::default() };
    TranslateBrowsePathsToNodeIdsRequest: browse_paths of BrowsePath, results of BrowsePathResult, Translate,
        repeatable true, |status_code| BrowsePathResult { status_code, ..Default::default() };
    RegisterNodesRequest: nodes_to_register of NodeId, registered_node_ids of NodeId, Register,
        repeatable true, |_| NodeId::NULL;
}

/// The operations of one call that was made, with what came of it.
pub(crate) struct Piece<T> {
    count: usize,
    pub(crate) outcome: Result<Vec<T>, Error>,
}

/// The outcomes of one piece, one for each operation.
struct Each<T> {
    done: std::vec::IntoIter<T>,
    failed: Option<(Error, usize)>,
}

impl<T> Iterator for Each<T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.failed {
            None => self.done.next().map(Ok),
            Some((_, 0)) => None,
            Some((error, left)) => {
                *left -= 1;
                Some(Err(error.clone()))
            }
        }
    }
}

impl<T> Piece<T> {
    fn each(self) -> Each<T> {
        let (done, failed) = match self.outcome {
            Ok(outcomes) => (outcomes, None),
            Err(error) => (Vec::new(), Some((error, self.count))),
        };
        Each { done: done.into_iter(), failed }
    }
}

/// Most operations of one call: what the server announced, or has shown, or what fits an array.
pub(crate) fn per_call(session: &Session, limit: Limit) -> usize {
    let limits = session.limits();
    let announced = match limit {
        Limit::Read => limits.max_nodes_per_read,
        Limit::Write => limits.max_nodes_per_write,
        Limit::Browse => limits.max_nodes_per_browse,
        Limit::Translate => limits.max_nodes_per_translate,
        Limit::Register => limits.max_nodes_per_register_nodes,
        Limit::Call => limits.max_nodes_per_method_call,
    };
    let known = [announced, limits.max_array_length, session.learned().get(limit)];
    let smallest = known.into_iter().filter(|limit| *limit != 0).min();
    smallest.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// Makes one call with all operations, or several if the server takes fewer in one; a bounded number of
/// them is on its way at once. The outcomes are in the order of the operations.
///
/// # Errors
/// No call succeeded. If some did, the operations of the others have the status of their call.
pub(crate) async fn run<Q: Batch>(
    session: &Session,
    template: Q,
    operations: Vec<Q::Operation>,
    timeout: Option<Duration>,
) -> Result<Vec<Q::Outcome>, Error> {
    let count = operations.len();
    assemble::<Q>(pieces(session, template, operations, timeout).await, count)
}

/// As [`run`], with what came of each call.
pub(crate) async fn pieces<Q: Batch>(
    session: &Session,
    template: Q,
    operations: Vec<Q::Operation>,
    timeout: Option<Duration>,
) -> Vec<Piece<Q::Outcome>> {
    if operations.len() <= per_call(session, Q::LIMIT) {
        return send(session.clone(), template, operations, timeout).await;
    }
    let parts = parts::<Q, _>(session.clone(), operations.into_iter(), usize::MAX);
    let calls = parts.map(|part| send(session.clone(), template.clone(), part, timeout));
    stream::iter(calls).buffered(session.link().parallel_parts).concat().await
}

fn assemble<Q: Batch>(pieces: Vec<Piece<Q::Outcome>>, count: usize) -> Result<Vec<Q::Outcome>, Error> {
    let any = pieces.iter().any(|piece| piece.outcome.is_ok());
    let mut out = Vec::new();
    for piece in pieces {
        match piece.outcome {
            Err(error) if !any => return Err(error),
            Err(error) => out.extend((0..piece.count).map(|_| Q::failed(error.status()))),
            // The usual case: one call was enough.
            Ok(outcomes) if outcomes.len() == count => return Ok(outcomes),
            Ok(outcomes) => out.extend(outcomes),
        }
    }
    Ok(out)
}

/// As [`run`], over any number of operations, which are taken from `operations` as results are asked for.
pub(crate) fn stream<'a, Q, I>(
    session: &Session,
    template: Q,
    operations: I,
    timeout: Option<Duration>,
    largest: usize,
) -> impl Stream<Item = Result<Q::Outcome, Error>> + Send + use<'a, Q, I>
where
    Q: Batch,
    I: Iterator<Item = Q::Operation> + Send + 'a,
{
    let session = session.clone();
    let at_once = session.link().parallel_parts;
    stream::iter(parts::<Q, I>(session.clone(), operations, largest))
        .map(move |part| send(session.clone(), template.clone(), part, timeout))
        .buffered(at_once)
        .flat_map(|pieces| stream::iter(pieces.into_iter().flat_map(Piece::each)))
}

/// Takes operations by what one call may hold, as it is known when the part is made.
fn parts<Q: Batch, I: Iterator<Item = Q::Operation>>(
    session: Session,
    mut operations: I,
    largest: usize,
) -> impl Iterator<Item = Vec<Q::Operation>> + use<Q, I> {
    core::iter::from_fn(move || {
        let size = per_call(&session, Q::LIMIT).min(largest);
        let part: Vec<_> = operations.by_ref().take(size).collect();
        (!part.is_empty()).then_some(part)
    })
}

/// Makes one call, and takes it further apart if that is what the server, or a limit of either side, asks
/// for: the parts one after the other.
async fn send<Q: Batch>(
    session: Session,
    template: Q,
    operations: Vec<Q::Operation>,
    timeout: Option<Duration>,
) -> Vec<Piece<Q::Outcome>> {
    let mut out = Vec::new();
    let mut waiting = vec![operations];
    while let Some(mut operations) = waiting.pop() {
        let count = operations.len();
        let size = per_call(&session, Q::LIMIT);
        if count > size && !out.is_empty() {
            // A limit has become known meanwhile.
            waiting.push(operations.split_off(size));
            waiting.push(operations);
            continue;
        }
        let mut request = template.clone();
        *request.operations() = operations.into();
        let options = CallOptions { timeout, handle: None };
        let (outcome, request) = match session.link().exchange(request, options).await {
            Ok((outcome, request)) => (outcome, Some(request)),
            Err(error) => (Err(error), None),
        };
        let outcome = outcome.and_then(|response| counted::<Q>(response, count));
        match (outcome, request) {
            (Err(error), Some(mut request)) if count > 1 && asks_for_less::<Q>(&error) => {
                let half = count.div_ceil(2);
                if error.status() == status::BAD_TOO_MANY_OPERATIONS {
                    session.learned().learn(Q::LIMIT, half);
                }
                let mut operations = core::mem::take(request.operations()).into_vec();
                waiting.push(operations.split_off(half));
                waiting.push(operations);
            }
            (Err(error), _) if error.status() == status::BAD_TOO_MANY_OPERATIONS => {
                // A server that takes not even one need not be asked for each of the others.
                session.learned().forget(Q::LIMIT);
                let rest = waiting.drain(..).map(|operations| operations.len()).sum::<usize>();
                out.push(Piece { count: count + rest, outcome: Err(error) });
            }
            (outcome, _) => out.push(Piece { count, outcome }),
        }
    }
    out
}

/// The outcomes of a response; a service gives one for each operation (OPC 10000-4 §7.34).
fn counted<Q: Batch>(response: Q::Response, asked: usize) -> Result<Vec<Q::Outcome>, Error> {
    let outcomes = Q::outcomes(response).into_vec();
    let found = outcomes.len();
    if asked == found {
        Ok(outcomes)
    } else {
        Err(Error::ResultCount { service: Q::DESCRIPTOR.name, asked, found })
    }
}

/// Whether fewer operations in one call may help. What the server may have done already is asked for
/// again only if that does no harm.
fn asks_for_less<Q: Batch>(error: &Error) -> bool {
    match error {
        Error::Encode { reason, .. } => *reason == EncodeError::TooLarge,
        Error::Service { status, .. } => {
            [status::BAD_TOO_MANY_OPERATIONS, status::BAD_REQUEST_TOO_LARGE].contains(status)
                || Q::REPEATABLE && is_size(*status)
        }
        Error::Decode(error) => Q::REPEATABLE && is_size(error.status()),
        _ => false,
    }
}

fn is_size(found: StatusCode) -> bool {
    [status::BAD_RESPONSE_TOO_LARGE, status::BAD_ENCODING_LIMITS_EXCEEDED, status::BAD_TCP_MESSAGE_TOO_LARGE]
        .contains(&found)
}
