//! What is to be monitored, and how.

use core::time::Duration;

use uaforge_codec::{ExtensionObject, NodeId, UaString};
use uaforge_nodes::AttributeId;
use uaforge_types::{
    DataChangeFilter, DataChangeTrigger, DeadbandType, MonitoredItemCreateRequest, MonitoringMode,
    MonitoringParameters, ReadValueId,
};

use crate::proto::RevisedItem;

/// One monitored item (MonitoredItemCreateRequest, OPC 10000-4 §5.13.2.2): by default the Value, sampled
/// as often as the subscription publishes, with a queue of 1 at the server.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchItem {
    pub(super) item: ReadValueId,
    mode: MonitoringMode,
    /// `None` is the publishing interval.
    sampling_interval: Option<Duration>,
    queue_size: u32,
    discard_oldest: bool,
    trigger: DataChangeTrigger,
    deadband: Deadband,
    /// Another filter than that of trigger and deadband.
    filter: ExtensionObject,
}

/// How much a number has to change to be told of (OPC 10000-4 §7.22.2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Deadband {
    /// Every change.
    #[default]
    None,
    /// By more than this.
    Absolute(f64),
    /// By more than these percent, 0 to 100, of the variable's EURange (OPC 10000-8 §6.2).
    Percent(f64),
}

impl WatchItem {
    /// The Value of a variable.
    #[must_use]
    pub fn value(node_id: &NodeId) -> Self {
        Self::attribute(node_id, AttributeId::Value)
    }

    /// Any attribute but EventNotifier; for events see
    /// [`Subscription::events`](crate::Subscription::events).
    #[must_use]
    pub fn attribute(node_id: &NodeId, attribute: AttributeId) -> Self {
        Self {
            item: ReadValueId {
                node_id: node_id.clone(),
                attribute_id: attribute as u32,
                ..Default::default()
            },
            mode: MonitoringMode::REPORTING,
            sampling_interval: None,
            queue_size: 1,
            discard_oldest: true,
            trigger: DataChangeTrigger::STATUS_VALUE,
            deadband: Deadband::None,
            filter: ExtensionObject::default(),
        }
    }

    /// Only a part of an array, string or byte string, such as `0:9` (NumericRange, OPC 10000-4 §7.27).
    #[must_use]
    pub fn range(mut self, range: impl Into<UaString>) -> Self {
        self.item.index_range = range.into();
        self
    }

    /// SamplingInterval; zero is as often as the server can, on change if it can do that. The server may
    /// revise it: see [`ItemInfo::sampling_interval`].
    #[must_use]
    pub fn sampling_interval(mut self, interval: Duration) -> Self {
        self.sampling_interval = Some(interval);
        self
    }

    /// QueueSize at the server: samples that it keeps between two notifications.
    #[must_use]
    pub fn queue_size(mut self, samples: u32) -> Self {
        self.queue_size = samples;
        self
    }

    /// What the server drops when its queue is full: the oldest sample, the default, or the newest. The
    /// sample beside the gap has the overflow bit in its status (OPC 10000-4 §5.13.1.5).
    #[must_use]
    pub fn discard_oldest(mut self, oldest: bool) -> Self {
        self.discard_oldest = oldest;
        self
    }

    /// MonitoringMode; the default is Reporting (OPC 10000-4 §5.13.1.3).
    #[must_use]
    pub fn mode(mut self, mode: MonitoringMode) -> Self {
        self.mode = mode;
        self
    }

    /// What counts as a change; the default is status and value (OPC 10000-4 §7.22.2).
    #[must_use]
    pub fn trigger(mut self, trigger: DataChangeTrigger) -> Self {
        self.trigger = trigger;
        self
    }

    /// How much a number has to change.
    #[must_use]
    pub fn deadband(mut self, deadband: Deadband) -> Self {
        self.deadband = deadband;
        self
    }

    pub(super) fn filter(mut self, filter: ExtensionObject) -> Self {
        self.filter = filter;
        self
    }

    /// The request, under the handle that notifications come with.
    pub(super) fn request(self, client_handle: u32) -> MonitoredItemCreateRequest {
        let filter = if self.filter.is_null() { self.data_change_filter() } else { self.filter };
        MonitoredItemCreateRequest {
            item_to_monitor: self.item,
            monitoring_mode: self.mode,
            requested_parameters: MonitoringParameters {
                client_handle,
                sampling_interval: self
                    .sampling_interval
                    .map_or(-1.0, |interval| interval.as_secs_f64() * 1e3),
                filter,
                queue_size: self.queue_size,
                discard_oldest: self.discard_oldest,
            },
        }
    }

    /// Null where it would only say what a server does anyway: not all servers know the filter.
    fn data_change_filter(&self) -> ExtensionObject {
        let (deadband_type, deadband_value) = match self.deadband {
            Deadband::None => (DeadbandType::NONE, 0.0),
            Deadband::Absolute(value) => (DeadbandType::ABSOLUTE, value),
            Deadband::Percent(value) => (DeadbandType::PERCENT, value),
        };
        if self.deadband == Deadband::None && self.trigger == DataChangeTrigger::STATUS_VALUE {
            return ExtensionObject::default();
        }
        let deadband_type = u32::try_from(deadband_type.0).unwrap_or_default();
        ExtensionObject::new(DataChangeFilter { trigger: self.trigger, deadband_type, deadband_value })
    }
}

impl From<&NodeId> for WatchItem {
    fn from(node_id: &NodeId) -> Self {
        Self::value(node_id)
    }
}

impl From<NodeId> for WatchItem {
    fn from(node_id: NodeId) -> Self {
        Self::value(&node_id)
    }
}

/// What the server has made of an item when it was made first (OPC 10000-4 §5.13.2.2).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ItemInfo {
    /// The server's subscription that has the item.
    pub subscription_id: u32,
    /// MonitoredItemId.
    pub monitored_item_id: u32,
    /// RevisedSamplingInterval; zero is on change.
    pub sampling_interval: Duration,
    /// RevisedQueueSize.
    pub queue_size: u32,
    /// FilterResult: for events which clauses the server did not take (OPC 10000-4 §7.22.3).
    pub filter_result: ExtensionObject,
}

impl From<RevisedItem> for ItemInfo {
    fn from(revised: RevisedItem) -> Self {
        let RevisedItem { subscription_id, monitored_item_id, sampling_interval, queue_size, filter_result } =
            revised;
        Self { subscription_id, monitored_item_id, sampling_interval, queue_size, filter_result }
    }
}
