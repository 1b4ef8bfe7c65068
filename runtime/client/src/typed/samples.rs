//! Variables that are watched as their type.

use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use futures_util::Stream;
use uaforge_codec::FromVariant;

use super::var::{Sample, Var};
use crate::{Change, Error, ItemInfo, Samples, Subscription, WatchItem};

impl<T: FromVariant> Var<T> {
    /// Watches the value: a stream of samples, sent this often if there are any.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use uaforge_client::{Error, typed::Var};
    /// # async fn example(temperature: Var<f64>) -> Result<(), Error> {
    /// let mut samples = temperature.watch(Duration::from_millis(100)).await?;
    /// while let Some(sample) = samples.next().await {
    ///     println!("{}", sample?.value);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The variable is not there, the server did not take the item, or the service failed.
    pub async fn watch(&self, every: Duration) -> Result<TypedSamples<T>, Error> {
        let node_id = self.node_id().await?;
        Ok(self.typed(self.session().watch(&node_id).every(every).await?))
    }

    /// As [`Var::watch`], in a subscription of the caller's, and with other parameters than the usual ones.
    ///
    /// ```no_run
    /// # use uaforge_client::{Error, Subscription, typed::Var};
    /// # async fn example(level: Var<f64>, mode: Var<i32>, plant: Subscription) -> Result<(), Error> {
    /// let mut levels = level.watch_with(&plant, |item| item.queue_size(10)).await?;
    /// let mut modes = mode.watch_with(&plant, |item| item).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Var::watch`].
    pub async fn watch_with(
        &self,
        subscription: &Subscription,
        item: impl FnOnce(WatchItem) -> WatchItem,
    ) -> Result<TypedSamples<T>, Error> {
        let node_id = self.node_id().await?;
        Ok(self.typed(subscription.watch(item(WatchItem::value(&node_id))).await?))
    }

    fn typed(&self, samples: Samples) -> TypedSamples<T> {
        TypedSamples { samples, of: self.clone() }
    }
}

/// The samples of a variable as its type. A bad status, or a value of another type, is an error of that
/// sample alone. See [`Samples`].
#[derive(Debug)]
pub struct TypedSamples<T> {
    samples: Samples,
    of: Var<T>,
}

impl<T: FromVariant> TypedSamples<T> {
    /// The next sample; `None` after the end.
    ///
    /// # Errors
    /// The status of the sample is bad, its value is of another type than the model says, or the stream has
    /// ended.
    pub async fn next(&mut self) -> Option<Result<Sample<T>, Error>> {
        let change = self.samples.next().await?;
        Some(self.sample(change))
    }

    fn sample(&self, change: Result<Change, Error>) -> Result<Sample<T>, Error> {
        let Change { value, missed } = change?;
        Ok(Sample { missed, ..self.of.sample(&value)? })
    }

    /// What the server has made of the item.
    #[must_use]
    pub fn info(&self) -> &ItemInfo {
        self.samples.info()
    }
}

impl<T: FromVariant> Stream for TypedSamples<T> {
    type Item = Result<Sample<T>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let change = Pin::new(&mut self.samples).poll_next(cx);
        change.map(|change| change.map(|change| self.sample(change)))
    }
}
