//! One subscription of the server, and the items in it.

use core::time::Duration;
use std::collections::VecDeque;

use tokio::sync::{oneshot, watch};
use uaforge_codec::Ticks;
use uaforge_types::MonitoredItemCreateRequest;

use super::order::Order;
use super::wishes::{Parameters, Refused, Revised, RevisedItem, Sink, SubscriptionStatus};
use crate::Error;

/// First and longest wait between two attempts to make a subscription anew.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// A subscription as callers have it: one of the server's, or several if one does not take all items.
pub(super) struct Group {
    pub(super) parameters: Parameters,
    pub(super) shards: Vec<u32>,
    /// Who waits for the first of them.
    pub(super) reply: Option<oneshot::Sender<Result<Revised, Error>>>,
    /// Who waits for new parameters.
    pub(super) modified: Vec<oneshot::Sender<Result<Revised, Error>>>,
    pub(super) status: watch::Sender<SubscriptionStatus>,
}

/// How far a shard is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// CreateSubscription is to be sent, at this time.
    Wanted(Option<Ticks>),
    /// CreateSubscription was sent.
    Creating,
    /// The server has it.
    Live(u32),
}

/// A subscription of the server.
pub(super) struct Shard {
    pub(super) group: u32,
    pub(super) stage: Stage,
    pub(super) revised: Option<Revised>,
    pub(super) order: Order,
    /// Client handles of items that are to be made.
    pub(super) pending: VecDeque<u32>,
    /// Those that CreateMonitoredItems was sent for.
    pub(super) creating: Vec<u32>,
    /// Items that the server has.
    pub(super) live: usize,
    /// The server takes no more items here.
    pub(super) full: bool,
    /// MonitoredItemIds that are to be deleted.
    pub(super) removed: Vec<u32>,
    pub(super) modify: bool,
    pub(super) set_mode: bool,
    /// The number that Republish was sent for.
    pub(super) republishing: Option<u32>,
    /// When a notification or keep-alive came last.
    pub(super) heard: Ticks,
    pub(super) silent: bool,
    attempts: u32,
}

impl Shard {
    pub(super) fn new(group: u32, now: Ticks) -> Self {
        Self {
            group,
            stage: Stage::Wanted(None),
            revised: None,
            order: Order::new(),
            pending: VecDeque::new(),
            creating: Vec::new(),
            live: 0,
            full: false,
            removed: Vec::new(),
            modify: false,
            set_mode: false,
            republishing: None,
            heard: now,
            silent: false,
            attempts: 0,
        }
    }

    /// The server's SubscriptionId.
    pub(super) fn id(&self) -> Option<u32> {
        match self.stage {
            Stage::Live(id) => Some(id),
            Stage::Wanted(_) | Stage::Creating => None,
        }
    }

    pub(super) fn created(&mut self, revised: Revised, now: Ticks) {
        self.stage = Stage::Live(revised.subscription_id);
        self.revised = Some(revised);
        self.order = Order::new();
        (self.heard, self.silent, self.attempts) = (now, false, 0);
    }

    /// The server has it no more: it is made anew, and its items with it.
    pub(super) fn gone(&mut self) {
        self.stage = Stage::Wanted(None);
        (self.live, self.full, self.republishing) = (0, false, None);
        self.pending.extend(self.creating.drain(..));
        self.removed.clear();
    }

    /// The next attempt comes later, and the one after it later still.
    pub(super) fn retry(&mut self, now: Ticks) {
        let wait = RETRY.0.saturating_mul(1 << self.attempts.min(5)).min(RETRY.1);
        self.attempts = self.attempts.saturating_add(1);
        self.stage = Stage::Wanted(Some(now + wait));
    }

    /// Time within which the server sends a keep-alive if it has nothing else to send.
    pub(super) fn keep_alive(&self) -> Option<Duration> {
        let revised = self.revised?;
        Some(revised.publishing_interval.saturating_mul(revised.keep_alive_count.saturating_add(1)))
    }

    /// When silence is longer than any that the server may keep (OPC 10000-4 §5.14.1.1), with some time for
    /// the way.
    pub(super) fn silent_at(&self, grace: Duration) -> Option<Ticks> {
        self.id()?;
        Some(self.heard + self.keep_alive()?.saturating_add(grace))
    }
}

/// An item of a caller.
pub(super) struct Item {
    pub(super) shard: u32,
    pub(super) request: MonitoredItemCreateRequest,
    pub(super) sink: Sink,
    /// Who waits for it to be made for the first time.
    pub(super) reply: Option<oneshot::Sender<Result<RevisedItem, Refused>>>,
    /// The server's id, if it has the item.
    pub(super) id: Option<u32>,
    /// Nobody wants it any more, but CreateMonitoredItems was sent for it.
    pub(super) unwanted: bool,
}
