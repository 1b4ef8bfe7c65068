//! Single values, in subscriptions that are shared by all who ask for the same interval.

use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::time::Duration;
use std::sync::{Arc, Weak};

use tokio::sync::Mutex;

use super::handle::{Inner, Subscription};
use super::item::WatchItem;
use super::streams::Samples;
use crate::{Error, Session};

/// The shared subscriptions of a session by their publishing interval; they live as long as their streams.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Vec<(Duration, Weak<Inner>)>>);

impl Pool {
    /// The subscription with the interval. One that is being made is waited for.
    async fn subscription(&self, session: &Session, interval: Duration) -> Result<Subscription, Error> {
        let mut pool = self.0.lock().await;
        pool.retain(|(_, inner)| inner.upgrade().is_some_and(|inner| !inner.is_over()));
        let found = pool.iter().find(|(of, _)| *of == interval);
        if let Some(inner) = found.and_then(|(_, inner)| inner.upgrade()) {
            return Ok(Subscription::shared(inner));
        }
        let inner = Arc::new(Inner::make(session.subscribe().publishing_interval(interval)).await?);
        pool.push((interval, Arc::downgrade(&inner)));
        Ok(Subscription::shared(inner))
    }
}

/// A value that is to be watched; await it for its stream. From [`Session::watch`].
#[derive(Clone, Debug)]
#[must_use = "the item is made when it is awaited"]
pub struct Watch {
    session: Session,
    item: WatchItem,
    interval: Duration,
}

impl Watch {
    /// How often samples are sent, if there are any; default 1 s. All that is watched with one interval
    /// shares a subscription.
    pub fn every(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }
}

impl IntoFuture for Watch {
    type Output = Result<Samples, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { session, item, interval } = self;
            session.subscriptions().subscription(&session, interval).await?.watch(item).await
        })
    }
}

impl Session {
    /// Watches the value of a variable, or what the [`WatchItem`] says.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use uaforge_client::{Error, Session};
    /// # use uaforge_codec::NodeId;
    /// # async fn example(session: Session, level: NodeId) -> Result<(), Error> {
    /// let mut samples = session.watch(&level).every(Duration::from_millis(100)).await?;
    /// while let Some(change) = samples.next().await {
    ///     println!("{:?}", change?.value.value());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The server did not take the item, or the service failed.
    pub fn watch(&self, item: impl Into<WatchItem>) -> Watch {
        Watch { session: self.clone(), item: item.into(), interval: Duration::from_secs(1) }
    }
}
