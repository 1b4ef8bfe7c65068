//! Making subscriptions, and items in them.

use core::fmt;
use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{oneshot, watch};
use uaforge_codec::{NodeId, Structure as _};
use uaforge_nodes::AttributeId;
use uaforge_types::{CreateMonitoredItemsRequest, TimestampsToReturn};

use super::events::EventQuery;
use super::item::{ItemInfo, WatchItem};
use super::queue::Queue;
use super::streams::{Events, Reader, SampleGroup, Samples};
use crate::proto::{NewItem, Parameters, Refused, Revised, RevisedItem, Sink, SubscriptionStatus, Wish};
use crate::{Error, Session};

/// Samples or events that a stream holds for a reader that is late.
const STREAM_CAPACITY: usize = 1_000;

/// A subscription that is to be made; await it. From [`Session::subscribe`].
#[derive(Clone, Debug)]
#[must_use = "the subscription is made when it is awaited"]
pub struct Subscribe {
    session: Session,
    parameters: Parameters,
    stream_capacity: usize,
}

impl Subscribe {
    /// RequestedPublishingInterval: how often the server sends what has changed; default 1 s. The server may
    /// revise it.
    pub fn publishing_interval(mut self, interval: Duration) -> Self {
        self.parameters.publishing_interval = interval;
        self
    }

    /// Silence after which the server says that it is still there, in whole publishing intervals
    /// (RequestedMaxKeepAliveCount); default 10 s.
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.parameters.keep_alive = time;
        self
    }

    /// How long the server keeps the subscription when it hears nothing of this client, in whole publishing
    /// intervals and at least three times the keep-alive time (RequestedLifetimeCount); default 5 min.
    pub fn lifetime(mut self, time: Duration) -> Self {
        self.parameters.lifetime = time;
        self
    }

    /// MaxNotificationsPerPublish: samples and events of one notification message; 0, the default, is no
    /// limit.
    pub fn max_notifications_per_publish(mut self, notifications: u32) -> Self {
        self.parameters.max_notifications_per_publish = notifications;
        self
    }

    /// Priority among the subscriptions of the session, larger first; default 0.
    pub fn priority(mut self, priority: u8) -> Self {
        self.parameters.priority = priority;
        self
    }

    /// PublishingEnabled; default true. A subscription that does not publish still samples.
    pub fn publishing_enabled(mut self, enabled: bool) -> Self {
        self.parameters.publishing_enabled = enabled;
        self
    }

    /// Which timestamps samples come with; default both.
    pub fn timestamps(mut self, timestamps: TimestampsToReturn) -> Self {
        self.parameters.timestamps = timestamps;
        self
    }

    /// Samples or events that each stream holds for a reader that is late, at least 1; default 1000. Then
    /// the oldest are dropped.
    pub fn stream_capacity(mut self, elements: usize) -> Self {
        self.stream_capacity = elements;
        self
    }
}

impl IntoFuture for Subscribe {
    type Output = Result<Subscription, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(Subscription { inner: Arc::new(Inner::make(self).await?) }) })
    }
}

/// A subscription (OPC 10000-4 §5.14). A clone is another handle; streams of its items are handles too, and
/// with the last of them the subscription is deleted.
///
/// # What it sees to
///
/// Publish requests wait at the server all the time. Notification messages are handed out in the order of
/// their numbers, each once; a missing one is asked for again (Republish). A subscription that the server
/// has lost is made anew with all its items, and [`Subscription::status`] tells of it. Where the server
/// takes no more items in one subscription, another one is made behind the same handle.
#[derive(Clone)]
pub struct Subscription {
    inner: Arc<Inner>,
}

/// What all handles of a subscription share.
pub(super) struct Inner {
    session: Session,
    key: u32,
    stream_capacity: usize,
    current: Mutex<(Parameters, Revised)>,
    status: watch::Receiver<SubscriptionStatus>,
}

impl Inner {
    pub(super) async fn make(subscribe: Subscribe) -> Result<Self, Error> {
        let Subscribe { session, parameters, stream_capacity } = subscribe;
        let key = session.link().handles.next();
        let (reply, answer) = oneshot::channel();
        let (sender, status) = watch::channel(SubscriptionStatus::Active);
        let wish = Wish::Subscribe { key, parameters: parameters.clone(), reply, status: sender };
        session.link().wish(wish);
        let revised = answer.await.map_err(|_| session.link().reason())??;
        Ok(Self { session, key, stream_capacity, current: Mutex::new((parameters, revised)), status })
    }

    pub(super) fn wish(&self, wish: Wish) {
        self.session.link().wish(wish);
    }

    fn current(&self) -> (Parameters, Revised) {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(*self.status.borrow(), SubscriptionStatus::Ended(_))
    }

    fn ended(&self) -> Error {
        match &*self.status.borrow() {
            SubscriptionStatus::Ended(reason) => reason.clone(),
            _ => self.session.link().reason(),
        }
    }

    async fn modify(&self, change: impl FnOnce(&mut Parameters)) -> Result<Revised, Error> {
        let (mut parameters, _) = self.current();
        change(&mut parameters);
        let (reply, answer) = oneshot::channel();
        self.wish(Wish::Modify { key: self.key, parameters: parameters.clone(), reply });
        let revised = answer.await.map_err(|_| self.ended())??;
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = (parameters, revised);
        Ok(revised)
    }

    /// Makes items, each with a sink for what it brings; client handles and what came of each.
    async fn items(
        &self,
        items: Vec<WatchItem>,
        sink: impl Fn(usize) -> Sink,
    ) -> (Vec<u32>, Vec<Result<RevisedItem, Error>>) {
        let (mut handles, mut wanted, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for (place, item) in items.into_iter().enumerate() {
            let handle = self.session.link().handles.next();
            let (reply, answer) = oneshot::channel();
            handles.push(handle);
            answers.push((item.item.node_id.clone(), answer));
            wanted.push(NewItem { request: item.request(handle), sink: sink(place), reply });
        }
        self.wish(Wish::Watch { key: self.key, items: wanted });
        let mut results = Vec::with_capacity(answers.len());
        for (node, answer) in answers {
            results.push(match answer.await {
                Ok(Ok(revised)) => Ok(revised),
                Ok(Err(Refused::Item(status))) => {
                    Err(Error::operation(&node, status).of(CreateMonitoredItemsRequest::DESCRIPTOR.name))
                }
                Ok(Err(Refused::Call(error))) => Err(error),
                Err(_) => Err(self.ended()),
            });
        }
        (handles, results)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.wish(Wish::Unsubscribe(self.key));
    }
}

impl Subscription {
    pub(super) fn shared(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    /// The server's SubscriptionId, of the first one if there are several.
    #[must_use]
    pub fn subscription_id(&self) -> u32 {
        self.inner.current().1.subscription_id
    }

    /// RevisedPublishingInterval.
    #[must_use]
    pub fn publishing_interval(&self) -> Duration {
        self.inner.current().1.publishing_interval
    }

    /// RevisedMaxKeepAliveCount: publishing intervals without a notification until a keep-alive is sent.
    #[must_use]
    pub fn keep_alive_count(&self) -> u32 {
        self.inner.current().1.keep_alive_count
    }

    /// RevisedLifetimeCount: publishing intervals without a Publish until the server ends it.
    #[must_use]
    pub fn lifetime_count(&self) -> u32 {
        self.inner.current().1.lifetime_count
    }

    /// How the subscription is doing.
    #[must_use]
    pub fn status(&self) -> SubscriptionStatus {
        self.inner.status.borrow().clone()
    }

    /// Each change of the status, from now on. The last one is
    /// [`Ended`](SubscriptionStatus::Ended).
    #[must_use]
    pub fn status_changes(&self) -> watch::Receiver<SubscriptionStatus> {
        self.inner.status.clone()
    }

    /// Switches publishing on or off (SetPublishingMode, OPC 10000-4 §5.14.4).
    ///
    /// # Errors
    /// The service failed, or the subscription has ended.
    pub async fn set_publishing_enabled(&self, enabled: bool) -> Result<(), Error> {
        self.inner.modify(|parameters| parameters.publishing_enabled = enabled).await.map(drop)
    }

    /// Asks for another publishing interval (ModifySubscription, OPC 10000-4 §5.14.3); gives back the
    /// revised one.
    ///
    /// # Errors
    /// The service failed, or the subscription has ended.
    pub async fn set_publishing_interval(&self, interval: Duration) -> Result<Duration, Error> {
        let revised = self.inner.modify(|parameters| parameters.publishing_interval = interval).await?;
        Ok(revised.publishing_interval)
    }

    /// Monitors one item.
    ///
    /// # Errors
    /// The server did not take the item, the service failed, or the subscription has ended.
    pub async fn watch(&self, item: impl Into<WatchItem>) -> Result<Samples, Error> {
        let SampleGroup { reader, mut items } = self.watch_all([item]).await;
        let info = items.pop().unwrap_or_else(|| Err(self.inner.ended()))?;
        Ok(Samples { reader, info })
    }

    /// Monitors several items, with one stream for all of them.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use uaforge_client::{Error, Session, WatchItem};
    /// # use uaforge_codec::NodeId;
    /// # async fn example(session: Session, level: NodeId, mode: NodeId) -> Result<(), Error> {
    /// let subscription = session.subscribe().publishing_interval(Duration::from_millis(200)).await?;
    /// let mut samples = subscription
    ///     .watch_all([WatchItem::value(&level).queue_size(10), WatchItem::value(&mode)])
    ///     .await;
    /// while let Some(sample) = samples.next().await {
    ///     let (place, change) = sample?;
    ///     println!("{place}: {:?}", change.value.value());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// An item that the server refused is an error in [`SampleGroup::items`]; if it refused all, the stream
    /// has that error and ends.
    pub async fn watch_all<I: Into<WatchItem>>(&self, items: impl IntoIterator<Item = I>) -> SampleGroup {
        let items: Vec<WatchItem> = items.into_iter().map(Into::into).collect();
        let queue = Queue::new(self.inner.stream_capacity.max(items.len()), items.len());
        let sink = |place| Sink::Values(Arc::clone(&queue), place);
        // Made first: if this future is dropped, the items go.
        let mut reader = Reader::new(Arc::clone(&queue), Vec::new(), Arc::clone(&self.inner));
        let (handles, results) = self.inner.items(items, sink).await;
        reader.handles = handles;
        let items = results.into_iter().map(|result| result.map(ItemInfo::from)).collect();
        SampleGroup { reader, items }
    }

    /// Monitors the events of a notifier, such as the Server object (OPC 10000-3 §8.57 EventNotifier).
    ///
    /// ```no_run
    /// # use uaforge_client::{Error, EventQuery, Session};
    /// # use uaforge_codec::NodeId;
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// let server = NodeId::numeric(0, 2253);
    /// let query = EventQuery::new().field("Time").field("Severity").field("Message");
    /// let mut events = session.subscribe().await?.events(&server, query).await?;
    /// while let Some(event) = events.next().await {
    ///     println!("{:?}", event?.fields);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The server did not take the item or its filter, the service failed, or the subscription has ended.
    pub async fn events(&self, notifier: &NodeId, query: EventQuery) -> Result<Events, Error> {
        let queue = Queue::new(self.inner.stream_capacity, 1);
        let sink = |place| Sink::Events(Arc::clone(&queue), place);
        let mut reader = Reader::new(Arc::clone(&queue), Vec::new(), Arc::clone(&self.inner));
        // The server's queue for events is its own to size; sampling means nothing for them.
        let item = WatchItem::attribute(notifier, AttributeId::EventNotifier)
            .sampling_interval(Duration::ZERO)
            .queue_size(0)
            .filter(query.filter());
        let (handles, results) = self.inner.items(vec![item], sink).await;
        reader.handles = handles;
        let revised = results.into_iter().next().unwrap_or_else(|| Err(self.inner.ended()))?;
        Ok(Events { reader, info: revised.into() })
    }
}

impl Session {
    /// Begins a subscription.
    ///
    /// For single values without a thought of subscriptions see [`Session::watch`].
    pub fn subscribe(&self) -> Subscribe {
        let parameters = Parameters {
            publishing_interval: Duration::from_secs(1),
            keep_alive: Duration::from_secs(10),
            lifetime: Duration::from_secs(300),
            max_notifications_per_publish: 0,
            publishing_enabled: true,
            priority: 0,
            timestamps: TimestampsToReturn::BOTH,
        };
        Subscribe { session: self.clone(), parameters, stream_capacity: STREAM_CAPACITY }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, revised) = self.inner.current();
        f.debug_struct("Subscription").field("revised", &revised).field("status", &self.status()).finish()
    }
}
