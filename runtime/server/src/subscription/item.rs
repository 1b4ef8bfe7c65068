//! One monitored item (OPC 10000-4 §5.13).

use std::sync::Arc;

use uaforge_types::{MonitoringMode, TimestampsToReturn};

use super::arena::Key;
use super::filter::Filter;
use super::queue::Queue;
use super::sample::Sample;
use super::source::Target;

/// What a client may set of an item; revised and checked.
pub(crate) struct Settings {
    pub(crate) client_handle: u32,
    pub(crate) timestamps: TimestampsToReturn,
    pub(crate) filter: Filter,
    /// Nanoseconds; 0 reports every change.
    pub(crate) interval: u64,
    pub(crate) queue_size: u32,
    pub(crate) discard_oldest: bool,
}

/// An item that is to be made.
pub(crate) struct NewItem {
    pub(crate) target: Arc<Target>,
    pub(crate) mode: MonitoringMode,
    pub(crate) settings: Settings,
}

/// A monitored item.
pub(crate) struct Item {
    pub(crate) subscription: u32,
    pub(crate) client_handle: u32,
    pub(crate) mode: MonitoringMode,
    pub(crate) timestamps: TimestampsToReturn,
    pub(crate) filter: Filter,
    pub(crate) interval: u64,
    pub(crate) queue: Queue<Sample>,
    pub(crate) target: Arc<Target>,
    /// Where its values come from, and its place there; nothing while it is disabled.
    pub(crate) source: Option<(Key, usize)>,
    /// What it got first, if its source had not sampled that yet: it is not told again.
    pub(crate) first: Option<Box<Sample>>,
    /// What tells that events were lost, until it is sent: it has a place of its own beside the queue.
    pub(crate) overflow: Option<Box<Sample>>,
    /// It stands in its subscription's list of items with something to report.
    pub(crate) is_ready: bool,
    /// Its triggering item has triggered: what it has sampled is reported once.
    pub(crate) triggered: bool,
    /// Items that it triggers (SetTriggering, OPC 10000-4 §5.13.5); most items have none.
    links: Vec<u32>,
}

impl Item {
    pub(crate) fn new(subscription: u32, new: NewItem) -> Self {
        let settings = new.settings;
        Self {
            subscription,
            client_handle: settings.client_handle,
            mode: new.mode,
            timestamps: settings.timestamps,
            filter: settings.filter,
            interval: settings.interval,
            queue: Queue::new(settings.queue_size, settings.discard_oldest),
            target: new.target,
            source: None,
            first: None,
            overflow: None,
            is_ready: false,
            triggered: false,
            links: Vec::new(),
        }
    }

    /// Whether what it has queued is to be reported.
    pub(crate) fn reports(&self) -> bool {
        let may = self.mode == MonitoringMode::REPORTING
            || (self.mode == MonitoringMode::SAMPLING && self.triggered);
        may && (!self.queue.is_empty() || self.overflow.is_some())
    }

    /// Takes the next thing to report. That events were lost is told where they are missing: before all others, or
    /// behind them (OPC 10000-4 §5.13.1.5).
    pub(crate) fn pop(&mut self) -> Option<Sample> {
        if self.overflow.is_some() && (self.queue.discards_oldest() || self.queue.is_empty()) {
            return self.overflow.take().map(|told| *told);
        }
        self.queue.pop()
    }

    /// Items that it triggers.
    pub(crate) fn links(&self) -> &[u32] {
        &self.links
    }

    pub(crate) fn add_link(&mut self, item: u32) {
        if !self.links.contains(&item) {
            self.links.push(item);
        }
    }

    /// Takes a link away; whether it was there.
    pub(crate) fn remove_link(&mut self, item: u32) -> bool {
        let at = self.links.iter().position(|link| *link == item);
        at.map(|at| self.links.remove(at)).is_some()
    }
}
