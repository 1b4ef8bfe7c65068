//! Streams of what monitored items bring.

use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use futures_util::Stream;
use uaforge_codec::{DataValue, Variant};

use super::handle::Inner;
use super::item::ItemInfo;
use super::queue::{Entry, Missed, Queue};
use crate::Error;
use crate::proto::Wish;

/// A sample of a monitored item.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// Value, status and timestamps.
    pub value: DataValue,
    /// What of this stream was not handed out before it.
    pub missed: Missed,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// A value for each field of the [`EventQuery`](crate::EventQuery), in its order; null where the event
    /// has no such field.
    pub fields: Vec<Variant>,
    /// What of this stream was not handed out before it.
    pub missed: Missed,
}

/// A reader of a queue, with the items that fill it. The items go away with it.
pub(super) struct Reader<T> {
    pub(super) queue: Arc<Queue<T>>,
    pub(super) handles: Vec<u32>,
    pub(super) subscription: Arc<Inner>,
    /// It was said why there is no more.
    over: bool,
}

impl<T> Reader<T> {
    pub(super) fn new(queue: Arc<Queue<T>>, handles: Vec<u32>, subscription: Arc<Inner>) -> Self {
        Self { queue, handles, subscription, over: false }
    }

    fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<Result<Entry<T>, Error>>> {
        if self.over {
            return Poll::Ready(None);
        }
        let next = self.queue.poll_next(cx);
        self.over = matches!(next, Poll::Ready(Err(_)));
        next.map(Some)
    }
}

impl<T> Drop for Reader<T> {
    fn drop(&mut self) {
        self.subscription.wish(Wish::Unwatch(core::mem::take(&mut self.handles)));
    }
}

/// The samples of one monitored item, in order; dropping it deletes the item.
///
/// It holds a bounded number of samples
/// ([`Subscribe::stream_capacity`](crate::Subscribe::stream_capacity)). If they are not taken in time, the
/// oldest are dropped, and the next one says how many ([`Missed::dropped`]); the connection does not wait.
/// When the item or its subscription has ended the last element is the reason.
pub struct Samples {
    pub(super) reader: Reader<DataValue>,
    pub(super) info: ItemInfo,
}

impl Samples {
    /// The next sample; `None` after the end.
    ///
    /// # Errors
    /// The item has ended, and with it the stream.
    pub async fn next(&mut self) -> Option<Result<Change, Error>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// What the server has made of the item.
    #[must_use]
    pub fn info(&self) -> &ItemInfo {
        &self.info
    }
}

impl Stream for Samples {
    type Item = Result<Change, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let entry = self.reader.poll_next(cx);
        entry.map(|entry| {
            entry.map(|entry| entry.map(|Entry { content, missed, .. }| Change { value: content, missed }))
        })
    }
}

/// The samples of several monitored items in one stream, each with the place of its item, in the order in
/// which they came. Otherwise as [`Samples`].
pub struct SampleGroup {
    pub(super) reader: Reader<DataValue>,
    pub(super) items: Vec<Result<ItemInfo, Error>>,
}

impl SampleGroup {
    /// The next sample with the place of its item among those of the call; `None` after the end.
    ///
    /// # Errors
    /// The last item has ended, and with it the stream.
    pub async fn next(&mut self) -> Option<Result<(usize, Change), Error>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// What the server has made of each item, or why it refused it.
    pub fn items(&self) -> &[Result<ItemInfo, Error>] {
        &self.items
    }
}

impl Stream for SampleGroup {
    type Item = Result<(usize, Change), Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let entry = self.reader.poll_next(cx);
        entry.map(|entry| {
            entry.map(|entry| {
                entry.map(|Entry { place, content, missed }| (place, Change { value: content, missed }))
            })
        })
    }
}

/// The events of one notifier, in order. Otherwise as [`Samples`].
pub struct Events {
    pub(super) reader: Reader<Vec<Variant>>,
    pub(super) info: ItemInfo,
}

impl Events {
    /// The next event; `None` after the end.
    ///
    /// # Errors
    /// The item has ended, and with it the stream.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// What the server has made of the item; its filter result says which fields it does not know.
    #[must_use]
    pub fn info(&self) -> &ItemInfo {
        &self.info
    }
}

impl Stream for Events {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let entry = self.reader.poll_next(cx);
        entry.map(|entry| {
            entry.map(|entry| entry.map(|Entry { content, missed, .. }| Event { fields: content, missed }))
        })
    }
}

impl fmt::Debug for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Samples").field("info", &self.info).finish_non_exhaustive()
    }
}

impl fmt::Debug for SampleGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SampleGroup").field("items", &self.items).finish_non_exhaustive()
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("info", &self.info).finish_non_exhaustive()
    }
}
