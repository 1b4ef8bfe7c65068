//! What the responses to the requests of subscriptions mean.

use uaforge_codec::{StatusCode, Ticks};
use uaforge_types::{
    CreateMonitoredItemsRequest, CreateMonitoredItemsResponse, CreateSubscriptionRequest,
    ModifySubscriptionRequest, MonitoredItemCreateResult, PublishRequest, RepublishRequest,
    SetPublishingModeRequest, status,
};

use super::shard::{Shard, Stage};
use super::wishes::{Refused, Revised, RevisedItem, SubscriptionStatus, milliseconds};
use super::{Ask, Subscriptions};
use crate::Error;
use crate::proto::call::Body;

impl Subscriptions {
    /// Takes a response. Gives back the status that the service failed with as a whole.
    pub(crate) fn answered(&mut self, ask: Ask, body: Body<'_>, now: Ticks) -> Option<StatusCode> {
        let outcome = match ask {
            Ask::Create(key) => body.response::<CreateSubscriptionRequest>().map(|created| {
                let revised = Revised {
                    subscription_id: created.subscription_id,
                    publishing_interval: milliseconds(created.revised_publishing_interval),
                    lifetime_count: created.revised_lifetime_count,
                    keep_alive_count: created.revised_max_keep_alive_count,
                };
                self.created(key, revised, now);
            }),
            Ask::Modify(key) => body.response::<ModifySubscriptionRequest>().map(|modified| {
                let revised = Revised {
                    subscription_id: 0,
                    publishing_interval: milliseconds(modified.revised_publishing_interval),
                    lifetime_count: modified.revised_lifetime_count,
                    keep_alive_count: modified.revised_max_keep_alive_count,
                };
                self.modified(key, revised);
            }),
            Ask::SetMode(_) => body.response::<SetPublishingModeRequest>().map(drop),
            Ask::Items(key) => body
                .response::<CreateMonitoredItemsRequest>()
                .and_then(|response| self.items_created(key, &response, now)),
            Ask::Delete => Ok(()),
            Ask::Publish(token) => body.response::<PublishRequest>().map(|response| {
                self.publisher.answered(token);
                self.published(response, now);
            }),
            Ask::Republish(key, number) => body
                .response::<RepublishRequest>()
                .map(|response| self.republished(key, number, response.notification_message, now)),
        };
        let error = outcome.err()?;
        self.failed(ask, &error, now);
        match error {
            Error::Service { status, .. } => Some(status),
            _ => None,
        }
    }

    /// A request has failed, or was not answered in time.
    pub(crate) fn failed(&mut self, ask: Ask, error: &Error, now: Ticks) {
        match ask {
            Ask::Create(key) => self.not_created(key, error, now),
            Ask::Modify(key) => {
                self.tell_modified(key, &Err(error.clone()));
                if error.status() == status::BAD_SUBSCRIPTION_ID_INVALID {
                    self.lost(key, now);
                }
            }
            Ask::Items(key) => self.items_failed(key, error, now),
            Ask::Publish(token) => self.publish_failed(token, error, now),
            Ask::Republish(key, number) => self.not_republished(key, number, error, now),
            Ask::SetMode(_) | Ask::Delete => {}
        }
    }

    fn created(&mut self, key: u32, revised: Revised, now: Ticks) {
        let Some(shard) = self.shards.get_mut(&key) else {
            // The caller has given it up meanwhile.
            self.deleted.push(revised.subscription_id);
            return;
        };
        shard.created(revised, now);
        self.quiet_until =
            self.quiet_until.min(shard.silent_at(self.request_timeout).unwrap_or(Ticks::NEVER));
        self.by_id.insert(revised.subscription_id, key);
        self.busy.insert(key);
        let Some(group) = self.groups.get_mut(&shard.group) else {
            return;
        };
        group.status.send_replace(SubscriptionStatus::Active);
        let unwanted = match group.reply.take() {
            Some(reply) => reply.send(Ok(revised)).is_err(),
            None => false,
        };
        if unwanted {
            let group = shard.group;
            self.remove_group(group, &Error::closed("by this client"));
        }
    }

    fn not_created(&mut self, key: u32, error: &Error, now: Ticks) {
        let Some(shard) = self.shards.get_mut(&key) else {
            return;
        };
        let Some(group) = self.groups.get_mut(&shard.group) else {
            return;
        };
        if group.reply.is_some() {
            let group = shard.group;
            self.remove_group(group, error);
        } else if group.shards.first() == Some(&key) || shard.revised.is_some() {
            shard.retry(now);
            self.on_retry(key);
        } else {
            // The items that no other subscription of the group has room for.
            group.shards.retain(|shard| *shard != key);
            let handles: Vec<u32> = shard.pending.drain(..).collect();
            self.shards.remove(&key);
            for handle in handles {
                self.refuse(handle, Refused::Call(error.clone()));
            }
        }
    }

    fn on_retry(&mut self, key: u32) {
        if let Some(Shard { stage: Stage::Wanted(Some(at)), .. }) = self.shards.get(&key) {
            self.quiet_until = self.quiet_until.min(*at);
        }
    }

    fn tell_modified(&mut self, key: u32, outcome: &Result<Revised, Error>) {
        let group = self.shards.get(&key).map(|shard| shard.group);
        let Some(group) = group.and_then(|group| self.groups.get_mut(&group)) else {
            return;
        };
        for reply in group.modified.drain(..) {
            // A caller that went away does not want to know.
            drop(reply.send(outcome.clone()));
        }
    }

    fn modified(&mut self, key: u32, revised: Revised) {
        let Some(shard) = self.shards.get_mut(&key) else {
            return;
        };
        let revised = Revised { subscription_id: shard.id().unwrap_or_default(), ..revised };
        shard.revised = Some(revised);
        self.quiet_until =
            self.quiet_until.min(shard.silent_at(self.request_timeout).unwrap_or(Ticks::NEVER));
        self.tell_modified(key, &Ok(revised));
    }

    fn items_created(
        &mut self,
        key: u32,
        response: &CreateMonitoredItemsResponse,
        now: Ticks,
    ) -> Result<(), Error> {
        let Some(shard) = self.shards.get_mut(&key) else {
            return Ok(());
        };
        let (asked, found) = (shard.creating.len(), response.results.len());
        if asked != found {
            return Err(Error::ResultCount { service: "CreateMonitoredItemsRequest", asked, found });
        }
        let handles = core::mem::take(&mut shard.creating);
        let Some(id) = shard.id() else {
            return Ok(());
        };
        self.busy.insert(key);
        for (handle, result) in handles.into_iter().zip(response.results.iter()) {
            if result.status_code.is_bad() {
                self.item_refused(key, handle, result, now);
            } else {
                self.item_created(key, handle, RevisedItem::new(id, result));
            }
        }
        Ok(())
    }

    fn item_created(&mut self, key: u32, handle: u32, revised: RevisedItem) {
        let (Some(item), Some(shard)) = (self.items.get_mut(&handle), self.shards.get_mut(&key)) else {
            return;
        };
        let id = revised.monitored_item_id;
        shard.live += 1;
        item.id = Some(id);
        let waits = match item.reply.take() {
            Some(reply) => reply.send(Ok(revised)).is_ok(),
            None => true,
        };
        if item.unwanted || !waits {
            self.unwatch(handle);
        }
    }

    /// A server that takes no more items in one subscription may take them in another one.
    fn item_refused(&mut self, key: u32, handle: u32, result: &MonitoredItemCreateResult, now: Ticks) {
        let status = result.status_code;
        let Some(shard) = self.shards.get_mut(&key) else {
            return;
        };
        if status != status::BAD_TOO_MANY_MONITORED_ITEMS || shard.live == 0 {
            self.refuse(handle, Refused::Item(status));
            return;
        }
        shard.full = true;
        let group = shard.group;
        let Some(other) = self.open_shard(group, now) else {
            return;
        };
        if let (Some(item), Some(shard)) = (self.items.get_mut(&handle), self.shards.get_mut(&other)) {
            item.shard = other;
            shard.pending.push_back(handle);
        }
    }

    pub(super) fn refuse(&mut self, handle: u32, reason: Refused) {
        let Some(item) = self.items.remove(&handle) else {
            return;
        };
        let error = match &reason {
            Refused::Item(status) => Error::operation(&item.request.item_to_monitor.node_id, *status)
                .of("CreateMonitoredItemsRequest"),
            Refused::Call(error) => error.clone(),
        };
        item.sink.ended(&error);
        if let Some(reply) = item.reply {
            // A caller that went away does not want to know.
            drop(reply.send(Err(reason)));
        }
    }

    fn items_failed(&mut self, key: u32, error: &Error, now: Ticks) {
        let Some(shard) = self.shards.get_mut(&key) else {
            return;
        };
        self.busy.insert(key);
        let handles = core::mem::take(&mut shard.creating);
        let fewer = [
            status::BAD_TOO_MANY_OPERATIONS,
            status::BAD_REQUEST_TOO_LARGE,
            status::BAD_RESPONSE_TOO_LARGE,
            status::BAD_ENCODING_LIMITS_EXCEEDED,
        ];
        if handles.len() > 1 && fewer.contains(&error.status()) {
            self.items_per_call = handles.len().div_ceil(2);
            handles.into_iter().rev().for_each(|handle| shard.pending.push_front(handle));
        } else if error.status() == status::BAD_SUBSCRIPTION_ID_INVALID {
            shard.pending.extend(handles);
            self.lost(key, now);
        } else {
            for handle in handles {
                self.refuse(handle, Refused::Call(error.clone()));
            }
        }
    }

    fn publish_failed(&mut self, token: u32, error: &Error, now: Ticks) {
        self.publisher.failed(token, error, now);
        if error.status() == status::BAD_NO_SUBSCRIPTION {
            // It may be from before the newest subscription: each is looked for.
            for (key, shard) in self.shards.iter_mut().filter(|(_, shard)| shard.id().is_some()) {
                shard.order.catch_up();
                self.busy.insert(*key);
            }
        }
    }

    /// The server has the subscription no more: it is made anew, with its items.
    pub(super) fn lost(&mut self, key: u32, now: Ticks) {
        let Some(shard) = self.shards.get_mut(&key) else {
            return;
        };
        let Some(id) = shard.id() else {
            return;
        };
        self.by_id.remove(&id);
        self.publisher.forget(id);
        shard.gone();
        shard.heard = now;
        for (handle, item) in self.items.iter_mut().filter(|(_, item)| item.shard == key) {
            if item.id.take().is_some() {
                item.sink.lost();
                shard.pending.push_back(*handle);
            }
        }
        self.busy.insert(key);
        if let Some(group) = self.groups.get(&shard.group) {
            group.status.send_replace(SubscriptionStatus::Restoring);
        }
    }
}
