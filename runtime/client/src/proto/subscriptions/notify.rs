//! Notification messages on their way to the streams (OPC 10000-4 §7.25, §7.26).

use uaforge_codec::{ExtensionObject, Ticks};
use uaforge_types::{
    DataChangeNotification, EventNotificationList, NotificationMessage, PublishResponse,
    StatusChangeNotification, status,
};

use super::Subscriptions;
use super::order::Ready;
use super::wishes::{Sink, SubscriptionStatus};
use crate::Error;

impl Subscriptions {
    /// A Publish response: a message, or a keep-alive, which has no notifications.
    pub(super) fn published(&mut self, response: PublishResponse, now: Ticks) {
        let id = response.subscription_id;
        // One that was deleted meanwhile, or whose CreateSubscription is not answered yet: then the gap in
        // its numbers brings the message again.
        let Some(key) = self.by_id.get(&id).copied() else {
            return;
        };
        let Some(shard) = self.shards.get_mut(&key) else {
            return;
        };
        shard.heard = now;
        if core::mem::take(&mut shard.silent) {
            self.quiet_until =
                self.quiet_until.min(shard.silent_at(self.request_timeout).unwrap_or(Ticks::NEVER));
            if let Some(group) = self.groups.get(&shard.group) {
                group.status.send_replace(SubscriptionStatus::Active);
            }
        }
        let message = response.notification_message;
        let number = message.sequence_number;
        let ready = if message.notification_data.is_empty() {
            shard.order.keep_alive(number)
        } else {
            self.publisher.acknowledge(id, number);
            shard.order.accept(message)
        };
        self.busy.insert(key);
        self.deliver(key, ready, now);
    }

    /// A message that was asked for again.
    pub(super) fn republished(&mut self, key: u32, asked: u32, message: NotificationMessage, now: Ticks) {
        let Some(shard) = self.shards.get_mut(&key) else {
            return;
        };
        shard.republishing = None;
        self.busy.insert(key);
        if message.sequence_number != asked {
            // A server that answers with another message would be asked for ever.
            let ready = shard.order.unavailable(asked);
            self.deliver(key, ready, now);
            return;
        }
        if let Some(id) = shard.id() {
            self.publisher.acknowledge(id, asked);
        }
        let ready = shard.order.accept(message);
        self.deliver(key, ready, now);
    }

    /// The server has the message no more, or the subscription, or Republish did not work.
    pub(super) fn not_republished(&mut self, key: u32, number: u32, error: &Error, now: Ticks) {
        let Some(shard) = self.shards.get_mut(&key) else {
            return;
        };
        shard.republishing = None;
        self.busy.insert(key);
        if error.status() == status::BAD_SUBSCRIPTION_ID_INVALID {
            self.lost(key, now);
            return;
        }
        let ready = shard.order.unavailable(number);
        self.deliver(key, ready, now);
    }

    fn deliver(&mut self, key: u32, ready: Ready, now: Ticks) {
        if ready.lost {
            self.items.values().filter(|item| item.shard == key).for_each(|item| item.sink.lost());
        }
        for message in ready.messages {
            for notification in message.notification_data.iter() {
                self.notify(key, notification, now);
            }
        }
    }

    fn notify(&mut self, key: u32, notification: &ExtensionObject, now: Ticks) {
        if let Some(changes) = notification.downcast_ref::<DataChangeNotification>() {
            for change in changes.monitored_items.iter() {
                if let Some(Sink::Values(queue, place)) = self.sink(key, change.client_handle) {
                    queue.push(*place, change.value.clone());
                }
            }
        } else if let Some(list) = notification.downcast_ref::<EventNotificationList>() {
            for event in list.events.iter() {
                if let Some(Sink::Events(queue, place)) = self.sink(key, event.client_handle) {
                    queue.push(*place, event.event_fields.iter().cloned().collect());
                }
            }
        } else if let Some(change) = notification.downcast_ref::<StatusChangeNotification>() {
            self.status_changed(key, change, now);
        }
    }

    /// Where the notifications of a client handle go; items of another subscription are none of this one.
    fn sink(&self, key: u32, handle: u32) -> Option<&Sink> {
        self.items.get(&handle).filter(|item| item.shard == key && !item.unwanted).map(|item| &item.sink)
    }

    /// OPC 10000-4 §7.26.4: a subscription that has timed out is made anew; one that another session took
    /// is not ours any more.
    fn status_changed(&mut self, key: u32, change: &StatusChangeNotification, now: Ticks) {
        let Some(group) = self.shards.get(&key).map(|shard| shard.group) else {
            return;
        };
        if change.status == status::GOOD_SUBSCRIPTION_TRANSFERRED {
            // It is the other session's now, which is not to lose it by our Delete.
            if let Some(shard) = self.shards.get_mut(&key)
                && let Some(id) = shard.id()
            {
                shard.gone();
                self.by_id.remove(&id);
                self.publisher.forget(id);
            }
            let reason =
                Error::operation("the subscription was transferred to another session", change.status);
            self.remove_group(group, &reason);
        } else if change.status.is_bad() {
            self.lost(key, now);
        }
    }
}
