//! One late answer for several items, such as one request to a device.

use core::future::Future;

use tokio::sync::oneshot;
use uaforge_codec::DataValue;
use uaforge_types::status;

use super::read::{ReadCx, ReadItem};

impl ReadCx<'_, '_> {
    /// Hands the answers of several items over to one future: the values in the order of the items. An
    /// item without a value gets Bad_InternalError.
    pub fn defer_batch(
        &mut self,
        items: &[ReadItem<'_>],
        future: impl Future<Output = Vec<DataValue>> + Send + 'static,
    ) {
        // The future of the first item does the work and tells the others.
        let Some((first, others)) = items.split_first() else { return };
        let mut tell = Vec::with_capacity(others.len());
        for item in others {
            let (sender, told) = oneshot::channel();
            tell.push(sender);
            self.defer(item, async move { told.await.unwrap_or_else(|_| missing()) });
        }
        self.defer(first, async move {
            let mut values = future.await.into_iter();
            let own = values.next();
            for (sender, value) in tell.into_iter().zip(values) {
                // Whoever is not there any more needs no answer.
                let _ = sender.send(value);
            }
            own.unwrap_or_else(missing)
        });
    }

    /// As [`ReadCx::defer_batch`], with a job that may block, on a bounded pool. All items get
    /// Bad_ResourceUnavailable if the pool's queue is full, Bad_InternalError if the job panics.
    pub fn blocking_batch(
        &mut self,
        items: &[ReadItem<'_>],
        job: impl FnOnce() -> Vec<DataValue> + Send + 'static,
    ) {
        let result = self.pool.run(self.cancellation(), job);
        let count = items.len();
        self.defer_batch(items, async move {
            result.await.unwrap_or_else(|status| vec![DataValue::from_status(status); count])
        });
    }
}

fn missing() -> DataValue {
    DataValue::from_status(status::BAD_INTERNAL_ERROR)
}
