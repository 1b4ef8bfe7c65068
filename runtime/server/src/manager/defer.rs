//! Answers that come later: futures, and jobs on a bounded pool of threads.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use uaforge_codec::{DataValue, NodeId, NodeIdRef, StatusCode, StrRef};
use uaforge_types::status;

use super::browse::BrowseAnswer;
use super::call::CallAnswer;
use super::contain::contain;
use super::read::{ReadItem, ReadSettings, Wanted};
use crate::proto::continuation::{BrowseQuery, Continuation};
use crate::services::late_walk::LateWalk;

/// A late answer of any service.
pub(crate) enum Late {
    /// A status and nothing else.
    Status(StatusCode),
    /// Of Read, and what to cut the value by.
    Value(Box<(DataValue, LateTarget)>),
    /// Of Call.
    Call(Box<CallAnswer>),
    /// What is left to browse, and the number of its request: its turn has come.
    Browse(Box<(Continuation, u64)>),
    /// Of Browse.
    References(Box<(BrowseQuery, BrowseAnswer)>),
    /// Of a step of a browse path, and its status.
    Walk(Box<(LateWalk, StatusCode)>),
}

/// What a late value is the value of.
#[derive(Clone, Debug)]
pub(crate) struct LateTarget {
    pub(crate) attribute: u32,
    pub(crate) settings: ReadSettings,
    wanted: Wanted,
    range: Box<[u8]>,
}

impl LateTarget {
    pub(crate) fn new(item: &ReadItem<'_>, settings: ReadSettings) -> Self {
        let range = item.range.0.unwrap_or_default().into();
        Self { attribute: item.attribute, settings, wanted: item.wanted(), range }
    }

    /// Whether the value may be sent as the client wants it.
    pub(crate) fn check(&self, value: &DataValue) -> Result<(), StatusCode> {
        self.wanted.check(self.attribute, value.value())
    }

    pub(crate) fn range(&self) -> StrRef<'_> {
        StrRef(Some(&self.range))
    }
}

/// An item whose answer is on its way.
pub(crate) struct Deferred {
    pub(crate) index: usize,
    /// For the log.
    node: NodeId,
    /// The future is of Write or Call: it is not dropped while it works (D8).
    pub(crate) lasting: bool,
    future: Pin<Box<dyn Future<Output = Late> + Send>>,
}

impl Deferred {
    pub(crate) fn new(
        index: usize,
        node: NodeIdRef<'_>,
        lasting: bool,
        future: impl Future<Output = Late> + Send + 'static,
    ) -> Self {
        Self { index, node: node.to_owned(), lasting, future: Box::pin(future) }
    }

    /// A future that panics costs its item.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Late> {
        let (node, future) = (self.node.as_ref(), self.future.as_mut());
        let polled = contain("deferred", node, || future.poll(cx));
        polled.unwrap_or(Poll::Ready(Late::Status(status::BAD_INTERNAL_ERROR)))
    }
}
