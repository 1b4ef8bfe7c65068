//! The subscriptions of a session (OPC 10000-4 §5.13, §5.14): what callers want, and what is to be asked of
//! the server until it has it. No socket, no clock, no task.
//!
//! Callers' wishes come in, requests go out one by one, and their responses come back. A subscription that
//! the server has lost is made anew with all its items by the same way that made it first.

mod answers;
mod notify;
mod order;
mod publisher;
mod shard;
mod survive;
mod wishes;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use uaforge_codec::Ticks;
use uaforge_types::{
    CreateMonitoredItemsRequest, CreateSubscriptionRequest, DeleteMonitoredItemsRequest,
    DeleteSubscriptionsRequest, ModifySubscriptionRequest, PublishRequest, RepublishRequest, ServiceRequest,
    SetPublishingModeRequest,
};

use super::call::{Outgoing, Request};
use crate::Error;
use publisher::Publisher;
use shard::{Group, Item, Shard, Stage};
pub use wishes::SubscriptionStatus;
pub(crate) use wishes::{NewItem, Parameters, Refused, Revised, RevisedItem, Sink, Wish};

/// Items of one call where the server names no limit.
const MAX_ITEMS_PER_CALL: usize = 1_000;

/// A request of the subscriptions, by which its response is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// CreateSubscription for a shard.
    Create(u32),
    /// ModifySubscription.
    Modify(u32),
    /// SetPublishingMode.
    SetMode(u32),
    /// CreateMonitoredItems.
    Items(u32),
    /// DeleteMonitoredItems or DeleteSubscriptions; nothing is done with the response.
    Delete,
    /// Publish, by its token.
    Publish(u32),
    /// Republish of a number for a shard.
    Republish(u32, u32),
}

/// What is to be sent.
pub(crate) struct Asked {
    pub(crate) ask: Ask,
    pub(crate) request: Box<dyn Outgoing>,
    /// Time for it, if it is not the usual one.
    pub(crate) time: Option<Duration>,
}

impl Asked {
    fn new<Q: ServiceRequest>(ask: Ask, request: Q) -> Self {
        Self { ask, request: Box::new(Request(request)), time: None }
    }
}

/// All subscriptions of a session.
pub(crate) struct Subscriptions {
    groups: HashMap<u32, Group>,
    shards: BTreeMap<u32, Shard>,
    /// Shards by the server's SubscriptionId.
    by_id: HashMap<u32, u32>,
    /// Items by clientHandle.
    items: HashMap<u32, Item>,
    publisher: Publisher,
    /// Shards that may have something to ask.
    busy: BTreeSet<u32>,
    /// SubscriptionIds that are to be deleted.
    deleted: Vec<u32>,
    last_shard: u32,
    items_per_call: usize,
    /// No shard is silent for too long before, and none is to be tried again.
    quiet_until: Ticks,
    request_timeout: Duration,
}

impl Subscriptions {
    pub(crate) fn new(max_publish_requests: usize, request_timeout: Duration) -> Self {
        Self {
            groups: HashMap::new(),
            shards: BTreeMap::new(),
            by_id: HashMap::new(),
            items: HashMap::new(),
            publisher: Publisher::new(max_publish_requests),
            busy: BTreeSet::new(),
            deleted: Vec::new(),
            last_shard: 0,
            items_per_call: MAX_ITEMS_PER_CALL,
            quiet_until: Ticks::NEVER,
            request_timeout,
        }
    }

    /// MaxMonitoredItemsPerCall of the server; 0 is none that it tells.
    pub(crate) fn limit_items_per_call(&mut self, limit: u32) {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        self.items_per_call = if limit == 0 { MAX_ITEMS_PER_CALL } else { limit.min(MAX_ITEMS_PER_CALL) };
    }

    /// Takes what a caller wants.
    pub(crate) fn wish(&mut self, wish: Wish, now: Ticks) {
        match wish {
            Wish::Subscribe { key, parameters, reply, status } => {
                let shards = vec![self.add_shard(key, now)];
                let group = Group { parameters, shards, reply: Some(reply), modified: Vec::new(), status };
                self.groups.insert(key, group);
            }
            Wish::Modify { key, parameters, reply } => self.modify(key, parameters, reply),
            Wish::Watch { key, items } => self.watch(key, items, now),
            Wish::Unwatch(handles) => handles.into_iter().for_each(|handle| self.unwatch(handle)),
            Wish::Unsubscribe(key) => self.remove_group(key, &Error::closed("by this client")),
        }
    }

    fn add_shard(&mut self, group: u32, now: Ticks) -> u32 {
        self.last_shard = self.last_shard.wrapping_add(1);
        self.shards.insert(self.last_shard, Shard::new(group, now));
        self.busy.insert(self.last_shard);
        self.last_shard
    }

    fn modify(
        &mut self,
        key: u32,
        parameters: Parameters,
        reply: tokio::sync::oneshot::Sender<Result<Revised, Error>>,
    ) {
        let Some(group) = self.groups.get_mut(&key) else {
            return;
        };
        let set_mode = group.parameters.publishing_enabled != parameters.publishing_enabled;
        group.parameters = parameters;
        group.modified.push(reply);
        for key in &group.shards {
            if let Some(shard) = self.shards.get_mut(key) {
                shard.modify = true;
                shard.set_mode |= set_mode;
                self.busy.insert(*key);
            }
        }
    }

    fn watch(&mut self, group: u32, items: Vec<NewItem>, now: Ticks) {
        let Some(shard) = self.open_shard(group, now) else {
            let reason = Error::closed("the subscription has ended");
            items.iter().for_each(|item| item.sink.ended(&reason));
            return;
        };
        for NewItem { request, sink, reply } in items {
            let handle = request.requested_parameters.client_handle;
            let item = Item { shard, request, sink, reply: Some(reply), id: None, unwanted: false };
            self.items.insert(handle, item);
            if let Some(shard) = self.shards.get_mut(&shard) {
                shard.pending.push_back(handle);
            }
        }
    }

    /// A shard of the group that takes more items.
    fn open_shard(&mut self, group: u32, now: Ticks) -> Option<u32> {
        let shards = &self.groups.get(&group)?.shards;
        let open = |key: &&u32| self.shards.get(key).is_some_and(|shard| !shard.full);
        if let Some(key) = shards.iter().find(open).copied() {
            self.busy.insert(key);
            return Some(key);
        }
        let key = self.add_shard(group, now);
        self.groups.get_mut(&group)?.shards.push(key);
        Some(key)
    }

    fn unwatch(&mut self, handle: u32) {
        let Some(item) = self.items.get_mut(&handle) else {
            return;
        };
        let Some(shard) = self.shards.get_mut(&item.shard) else {
            self.items.remove(&handle);
            return;
        };
        self.busy.insert(item.shard);
        if shard.creating.contains(&handle) {
            item.unwanted = true;
            return;
        }
        match item.id {
            Some(id) => {
                shard.removed.push(id);
                shard.live = shard.live.saturating_sub(1);
                shard.full = false;
            }
            None => shard.pending.retain(|pending| *pending != handle),
        }
        self.items.remove(&handle);
    }

    /// The subscription is not wanted, or is over.
    fn remove_group(&mut self, key: u32, reason: &Error) {
        let Some(group) = self.groups.remove(&key) else {
            return;
        };
        for key in &group.shards {
            if let Some(id) = self.shards.remove(key).and_then(|shard| shard.id()) {
                self.by_id.remove(&id);
                self.publisher.forget(id);
                self.deleted.push(id);
            }
            self.busy.remove(key);
        }
        self.items.retain(|_, item| {
            let stays = !group.shards.contains(&item.shard);
            if !stays {
                item.sink.ended(reason);
            }
            stays
        });
        group.status.send_replace(SubscriptionStatus::Ended(reason.clone()));
        for reply in group.reply.into_iter().chain(group.modified) {
            // A caller that went away does not want to know.
            drop(reply.send(Err(reason.clone())));
        }
    }

    /// Everything is over, with the session.
    pub(crate) fn end(&mut self, reason: &Error) {
        let keys: Vec<u32> = self.groups.keys().copied().collect();
        keys.into_iter().for_each(|key| self.remove_group(key, reason));
        self.deleted.clear();
    }

    /// The next request to send; `None` if there is none now.
    pub(crate) fn next_request(&mut self, now: Ticks) -> Option<Asked> {
        if !self.deleted.is_empty() {
            let subscription_ids = core::mem::take(&mut self.deleted).into();
            let request = DeleteSubscriptionsRequest { subscription_ids, ..Default::default() };
            return Some(Asked::new(Ask::Delete, request));
        }
        while let Some(key) = self.busy.first().copied() {
            if let Some(asked) = self.ask_for_shard(key, now) {
                return Some(asked);
            }
            self.busy.remove(&key);
        }
        self.publish(now)
    }

    fn publish(&mut self, now: Ticks) -> Option<Asked> {
        let (token, acknowledgements) = self.publisher.next(self.by_id.len(), now)?;
        // One waits for a keep-alive behind all others.
        let waits = u32::try_from(self.publisher.outstanding() + 1).unwrap_or(u32::MAX);
        let keep_alive = self.shards.values().filter_map(Shard::keep_alive).max().unwrap_or_default();
        let time = keep_alive.saturating_mul(waits).saturating_add(self.request_timeout);
        let request =
            PublishRequest { subscription_acknowledgements: acknowledgements.into(), ..Default::default() };
        Some(Asked { time: Some(time), ..Asked::new(Ask::Publish(token), request) })
    }

    fn ask_for_shard(&mut self, key: u32, now: Ticks) -> Option<Asked> {
        let shard = self.shards.get_mut(&key)?;
        let parameters = &self.groups.get(&shard.group)?.parameters;
        let id = match shard.stage {
            Stage::Wanted(at) if at.is_none_or(|at| at <= now) => {
                shard.stage = Stage::Creating;
                return Some(Asked::new(Ask::Create(key), create(parameters)));
            }
            Stage::Wanted(_) | Stage::Creating => return None,
            Stage::Live(id) => id,
        };
        if core::mem::take(&mut shard.set_mode) {
            let request = SetPublishingModeRequest {
                publishing_enabled: parameters.publishing_enabled,
                subscription_ids: vec![id].into(),
                ..Default::default()
            };
            return Some(Asked::new(Ask::SetMode(key), request));
        }
        if core::mem::take(&mut shard.modify) {
            return Some(Asked::new(Ask::Modify(key), modify(id, parameters)));
        }
        if !shard.removed.is_empty() {
            let count = shard.removed.len().min(self.items_per_call);
            let ids: Vec<u32> = shard.removed.drain(..count).collect();
            let request = DeleteMonitoredItemsRequest {
                subscription_id: id,
                monitored_item_ids: ids.into(),
                ..Default::default()
            };
            return Some(Asked::new(Ask::Delete, request));
        }
        if shard.creating.is_empty() && !shard.pending.is_empty() {
            let count = shard.pending.len().min(self.items_per_call);
            shard.creating = shard.pending.drain(..count).collect();
            let items = shard.creating.iter().filter_map(|handle| self.items.get(handle));
            let request = CreateMonitoredItemsRequest {
                subscription_id: id,
                timestamps_to_return: parameters.timestamps,
                items_to_create: items.map(|item| item.request.clone()).collect(),
                ..Default::default()
            };
            return Some(Asked::new(Ask::Items(key), request));
        }
        let number = shard.order.wanted().filter(|_| shard.republishing.is_none())?;
        shard.republishing = Some(number);
        let request = RepublishRequest {
            subscription_id: id,
            retransmit_sequence_number: number,
            ..Default::default()
        };
        Some(Asked::new(Ask::Republish(key, number), request))
    }

    /// When [`Subscriptions::on_deadline`] is to be called.
    pub(crate) fn deadline(&self) -> Option<Ticks> {
        let quiet_until = (!self.shards.is_empty()).then_some(self.quiet_until);
        [quiet_until, self.publisher.deadline()].into_iter().flatten().min()
    }

    /// Looks for subscriptions that are silent for too long, and for those that are to be tried again.
    pub(crate) fn on_deadline(&mut self, now: Ticks) {
        if now < self.quiet_until {
            return;
        }
        self.quiet_until = Ticks::NEVER;
        let mut silent = false;
        for (key, shard) in &mut self.shards {
            let due = match shard.stage {
                Stage::Wanted(at) => at.unwrap_or(Ticks::NEVER),
                _ if shard.silent => Ticks::NEVER,
                _ => shard.silent_at(self.request_timeout).unwrap_or(Ticks::NEVER),
            };
            if now < due {
                self.quiet_until = self.quiet_until.min(due);
                continue;
            }
            self.busy.insert(*key);
            if shard.id().is_some() {
                silent = true;
                shard.silent = true;
                shard.order.catch_up();
                if let Some(group) = self.groups.get(&shard.group) {
                    group.status.send_replace(SubscriptionStatus::Silent);
                }
            }
        }
        if silent {
            self.publisher.restart();
        }
    }
}

fn create(parameters: &Parameters) -> CreateSubscriptionRequest {
    CreateSubscriptionRequest {
        requested_publishing_interval: parameters.interval(),
        requested_lifetime_count: parameters.lifetime_count(),
        requested_max_keep_alive_count: parameters.keep_alive_count(),
        max_notifications_per_publish: parameters.max_notifications_per_publish,
        publishing_enabled: parameters.publishing_enabled,
        priority: parameters.priority,
        ..Default::default()
    }
}

fn modify(subscription_id: u32, parameters: &Parameters) -> ModifySubscriptionRequest {
    ModifySubscriptionRequest {
        subscription_id,
        requested_publishing_interval: parameters.interval(),
        requested_lifetime_count: parameters.lifetime_count(),
        requested_max_keep_alive_count: parameters.keep_alive_count(),
        max_notifications_per_publish: parameters.max_notifications_per_publish,
        priority: parameters.priority,
        ..Default::default()
    }
}
