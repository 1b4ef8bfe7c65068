//! Monitored items of the engine (OPC 10000-4 §5.13): made, changed, linked, deleted.

use std::sync::Arc;

use uaforge_codec::{Now, StatusCode};
use uaforge_nodes::Snapshot;
use uaforge_types::{MonitoringMode, status};

use super::arena::Key;
use super::engine::Engine;
use super::item::{Item, NewItem, Settings};
use super::queue::Queue;
use super::source::Target;
use crate::proto::session::Token;
use crate::shared::Core;

/// What sources are looked up with.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    pub(crate) core: &'p Core,
    pub(crate) snapshot: &'p Snapshot,
    pub(crate) now: Now,
}

/// The results of SetTriggering: of the links to add and to remove.
pub(crate) type Linked = (Vec<StatusCode>, Vec<StatusCode>);

impl Engine {
    /// The item of a subscription.
    fn item_key(&self, subscription: u32, item: u32) -> Result<Key, StatusCode> {
        let subscription = self.subscriptions.get(&subscription);
        let key = subscription.and_then(|subscription| subscription.items.get(&item));
        key.copied().ok_or(status::BAD_MONITORED_ITEM_ID_INVALID)
    }

    /// What an item monitors, for a check of what is asked of it.
    ///
    /// # Errors
    /// Bad_SubscriptionIdInvalid, Bad_MonitoredItemIdInvalid.
    pub(crate) fn target(
        &mut self,
        session: Token,
        subscription: u32,
        item: u32,
    ) -> Result<Arc<Target>, StatusCode> {
        self.of_session(session, subscription)?;
        let item = self.items.get(self.item_key(subscription, item)?);
        item.map(|item| Arc::clone(&item.target)).ok_or(status::BAD_MONITORED_ITEM_ID_INVALID)
    }

    /// Makes an item; its id.
    ///
    /// # Errors
    /// Bad_SubscriptionIdInvalid, Bad_TooManyMonitoredItems.
    pub(crate) fn create_item(
        &mut self,
        place: Place<'_>,
        session: Token,
        subscription: u32,
        new: NewItem,
    ) -> Result<u32, StatusCode> {
        let most = self.limits.max_monitored_items_per_subscription as usize;
        let is_full = self.items.len() >= self.limits.max_monitored_items as usize;
        let owner = self.of_session(session, subscription)?;
        if is_full || owner.items.len() >= most {
            return Err(status::BAD_TOO_MANY_MONITORED_ITEMS);
        }
        let id = owner.new_item_id();
        let is_active = new.mode != MonitoringMode::DISABLED;
        let key = self.items.insert(Item::new(subscription, new));
        if let Some(owner) = self.subscriptions.get_mut(&subscription) {
            owner.items.insert(id, key);
        }
        if is_active {
            self.attach(place, key);
        }
        Ok(id)
    }

    /// ModifyMonitoredItems (OPC 10000-4 §5.13.3).
    ///
    /// # Errors
    /// Bad_MonitoredItemIdInvalid.
    pub(crate) fn modify_item(
        &mut self,
        place: Place<'_>,
        subscription: u32,
        id: u32,
        settings: Settings,
    ) -> Result<(), StatusCode> {
        let key = self.item_key(subscription, id)?;
        let Self { items, held, .. } = self;
        let item = items.get_mut(key).ok_or(status::BAD_MONITORED_ITEM_ID_INVALID)?;
        item.client_handle = settings.client_handle;
        item.timestamps = settings.timestamps;
        item.filter = settings.filter;
        item.queue.resize(settings.queue_size, settings.discard_oldest, |dropped| *held -= dropped.weight());
        let moves = item.interval != settings.interval;
        item.interval = settings.interval;
        if item.source.is_some() {
            if moves {
                self.move_source(place, key);
            } else {
                self.reserve(key);
            }
        }
        Ok(())
    }

    /// SetMonitoringMode (OPC 10000-4 §5.13.4).
    ///
    /// # Errors
    /// Bad_MonitoredItemIdInvalid.
    pub(crate) fn set_mode(
        &mut self,
        place: Place<'_>,
        subscription: u32,
        id: u32,
        mode: MonitoringMode,
    ) -> Result<(), StatusCode> {
        let key = self.item_key(subscription, id)?;
        let item = self.items.get_mut(key).ok_or(status::BAD_MONITORED_ITEM_ID_INVALID)?;
        let before = core::mem::replace(&mut item.mode, mode);
        if before == mode {
            return Ok(());
        }
        if mode == MonitoringMode::DISABLED {
            self.detach(key);
            self.empty_queue(key);
        } else if before == MonitoringMode::DISABLED {
            self.attach(place, key);
        } else {
            self.note_ready(key);
        }
        Ok(())
    }

    /// DeleteMonitoredItems (OPC 10000-4 §5.13.6). Links to it stay and lead nowhere: ids do not come back.
    ///
    /// # Errors
    /// Bad_MonitoredItemIdInvalid.
    pub(crate) fn delete_item(&mut self, subscription: u32, id: u32) -> Result<(), StatusCode> {
        let key = self.item_key(subscription, id)?;
        self.discard_item(key);
        if let Some(subscription) = self.subscriptions.get_mut(&subscription) {
            subscription.items.remove(&id);
        }
        Ok(())
    }

    /// Drops an item and what it has queued; its subscription forgets it.
    pub(super) fn discard_item(&mut self, key: Key) {
        self.detach(key);
        self.empty_queue(key);
        self.items.remove(key);
    }

    fn empty_queue(&mut self, key: Key) {
        let Self { items, held, .. } = self;
        if let Some(item) = items.get_mut(key) {
            item.queue.clear(|dropped| *held -= dropped.weight());
            *held -= item.overflow.take().map_or(0, |told| told.weight());
        }
    }

    /// SetTriggering (OPC 10000-4 §5.13.5): links are removed first.
    ///
    /// # Errors
    /// Bad_MonitoredItemIdInvalid for the triggering item.
    pub(crate) fn set_triggering(
        &mut self,
        subscription: u32,
        triggering: u32,
        add: &[u32],
        remove: &[u32],
    ) -> Result<Linked, StatusCode> {
        let key = self.item_key(subscription, triggering)?;
        let most = self.limits.max_triggering_links as usize;
        let removed = remove.iter().map(|link| {
            let known = self.items.get_mut(key).is_some_and(|item| item.remove_link(*link));
            if known { StatusCode::GOOD } else { status::BAD_MONITORED_ITEM_ID_INVALID }
        });
        let removed = removed.collect();
        let added = add.iter().map(|link| {
            if let Err(status) = self.item_key(subscription, *link) {
                return status;
            }
            let Some(item) = self.items.get_mut(key) else { return status::BAD_MONITORED_ITEM_ID_INVALID };
            if item.links().len() >= most {
                return status::BAD_TOO_MANY_OPERATIONS;
            }
            item.add_link(*link);
            StatusCode::GOOD
        });
        Ok((added.collect(), removed))
    }

    /// Makes a new queue's length known to whoever keeps samples for it.
    pub(super) fn reserve(&mut self, key: Key) {
        let Some(item) = self.items.get(key) else { return };
        let size = Queue::size(&item.queue);
        if let Some(source) = item.source.and_then(|(source, _)| self.sources.get(source)) {
            source.reserve(size);
        }
    }
}
