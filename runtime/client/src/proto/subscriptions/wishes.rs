//! What callers want of the subscriptions of their session.

use core::time::Duration;
use std::sync::Arc;

use tokio::sync::{oneshot, watch};
use uaforge_codec::{DataValue, ExtensionObject, StatusCode, Variant};
use uaforge_types::{MonitoredItemCreateRequest, MonitoredItemCreateResult, TimestampsToReturn};

use crate::Error;
use crate::subscription::Queue;

/// What a subscription is to be like (OPC 10000-4 §5.14.2.2).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameters {
    pub(crate) publishing_interval: Duration,
    /// Silence after which the server sends a keep-alive.
    pub(crate) keep_alive: Duration,
    /// Time that the server keeps a subscription without a Publish.
    pub(crate) lifetime: Duration,
    pub(crate) max_notifications_per_publish: u32,
    pub(crate) publishing_enabled: bool,
    pub(crate) priority: u8,
    pub(crate) timestamps: TimestampsToReturn,
}

impl Parameters {
    /// The interval in milliseconds, as the services have it.
    pub(crate) fn interval(&self) -> f64 {
        self.publishing_interval.as_secs_f64() * 1e3
    }

    /// RequestedMaxKeepAliveCount: intervals without a notification until one is sent all the same.
    pub(crate) fn keep_alive_count(&self) -> u32 {
        self.intervals(self.keep_alive).max(1)
    }

    /// RequestedLifetimeCount: at least three times the keep-alive count (OPC 10000-4 §5.14.2.2).
    pub(crate) fn lifetime_count(&self) -> u32 {
        self.intervals(self.lifetime).max(self.keep_alive_count().saturating_mul(3))
    }

    fn intervals(&self, time: Duration) -> u32 {
        let interval = self.publishing_interval.max(Duration::from_millis(1));
        let count = time.as_nanos().div_ceil(interval.as_nanos());
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

/// What a server has made of a subscription's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Revised {
    pub(crate) subscription_id: u32,
    pub(crate) publishing_interval: Duration,
    pub(crate) lifetime_count: u32,
    pub(crate) keep_alive_count: u32,
}

/// How a subscription is doing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SubscriptionStatus {
    /// The server sends notifications and keep-alives.
    Active,
    /// Not even a keep-alive has come in time (OPC 10000-4 §5.14.1.1); the server is asked whether it
    /// still has the subscription.
    Silent,
    /// The server has it no more, and it is made anew. Notifications are missing; the first of each item
    /// after that says so.
    Restoring,
    /// It has ended: by this client, with its session, or since it was transferred to another one.
    Ended(Error),
}

/// Where the notifications of an item go, and its place among the items there.
#[derive(Clone)]
pub(crate) enum Sink {
    Values(Arc<Queue<DataValue>>, usize),
    Events(Arc<Queue<Vec<Variant>>>, usize),
}

impl Sink {
    pub(crate) fn lost(&self) {
        match self {
            Self::Values(queue, _) => queue.lost(),
            Self::Events(queue, _) => queue.lost(),
        }
    }

    pub(crate) fn ended(&self, reason: &Error) {
        match self {
            Self::Values(queue, _) => queue.item_ended(reason),
            Self::Events(queue, _) => queue.item_ended(reason),
        }
    }
}

/// What a server has made of an item's parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RevisedItem {
    pub(crate) subscription_id: u32,
    pub(crate) monitored_item_id: u32,
    pub(crate) sampling_interval: Duration,
    pub(crate) queue_size: u32,
    pub(crate) filter_result: ExtensionObject,
}

impl RevisedItem {
    pub(crate) fn new(subscription_id: u32, result: &MonitoredItemCreateResult) -> Self {
        Self {
            subscription_id,
            monitored_item_id: result.monitored_item_id,
            sampling_interval: milliseconds(result.revised_sampling_interval),
            queue_size: result.revised_queue_size,
            filter_result: result.filter_result.clone(),
        }
    }
}

/// Why an item was not made.
#[derive(Clone, Debug)]
pub(crate) enum Refused {
    /// The server did not take this item.
    Item(StatusCode),
    /// The call failed.
    Call(Error),
}

/// An item that is to be made; its clientHandle is in the request.
pub(crate) struct NewItem {
    pub(crate) request: MonitoredItemCreateRequest,
    pub(crate) sink: Sink,
    pub(crate) reply: oneshot::Sender<Result<RevisedItem, Refused>>,
}

/// One wish; subscriptions go by keys that the callers chose.
pub(crate) enum Wish {
    Subscribe {
        key: u32,
        parameters: Parameters,
        reply: oneshot::Sender<Result<Revised, Error>>,
        status: watch::Sender<SubscriptionStatus>,
    },
    Modify {
        key: u32,
        parameters: Parameters,
        reply: oneshot::Sender<Result<Revised, Error>>,
    },
    Watch {
        key: u32,
        items: Vec<NewItem>,
    },
    /// The items of these client handles are of no interest any more.
    Unwatch(Vec<u32>),
    Unsubscribe(u32),
}

/// A duration of the services, which may be any number.
pub(crate) fn milliseconds(milliseconds: f64) -> Duration {
    Duration::try_from_secs_f64(milliseconds / 1e3).unwrap_or_default()
}
