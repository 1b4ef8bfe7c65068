//! Answers that come later: futures, and jobs on a bounded pool of threads.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use uaforge_codec::{DataValue, StrRef};

use super::browse::BrowseAnswer;
use super::call::CallAnswer;
use crate::proto::continuation::BrowseQuery;

/// A late answer of any service.
#[derive(Debug)]
pub(crate) enum Late {
    /// Of Read, and what to cut the value by.
    Value(Box<(DataValue, LateTarget)>),
    /// Of Call.
    Call(Box<CallAnswer>),
    /// Of Browse.
    References(Box<(BrowseQuery, BrowseAnswer)>),
}

/// What a late value is the value of.
#[derive(Clone, Debug)]
pub(crate) struct LateTarget {
    pub(crate) attribute: u32,
    range: Box<[u8]>,
}

impl LateTarget {
    pub(crate) fn new(attribute: u32, range: StrRef<'_>) -> Self {
        Self { attribute, range: range.0.unwrap_or_default().into() }
    }

    pub(crate) fn range(&self) -> StrRef<'_> {
        StrRef(Some(&self.range))
    }
}

/// An item whose answer is on its way.
pub(crate) struct Deferred {
    pub(crate) index: usize,
    future: Pin<Box<dyn Future<Output = Late> + Send>>,
}

impl Deferred {
    pub(crate) fn new(index: usize, future: impl Future<Output = Late> + Send + 'static) -> Self {
        Self { index, future: Box::pin(future) }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Late> {
        self.future.as_mut().poll(cx)
    }
}
