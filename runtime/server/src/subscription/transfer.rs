//! TransferSubscriptions (OPC 10000-4 §5.14.7).

use uaforge_codec::StatusCode;
use uaforge_types::{MonitoringMode, status};

use super::arena::Key;
use super::engine::Engine;
use super::items::Place;
use super::message;
use crate::access::Access;
use crate::proto::session::Token;

impl Engine {
    /// Assigns a subscription to a session; the numbers of the messages that are kept for Republish. The session
    /// that had it is told.
    ///
    /// # Errors
    /// Bad_SubscriptionIdInvalid; Bad_UserAccessDenied for that of another user; Bad_TooManySubscriptions;
    /// Bad_NothingToDo if the session has it already.
    pub(crate) fn transfer(
        &mut self,
        place: Place<'_>,
        session: Token,
        access: Access,
        id: u32,
        send_initial_values: bool,
    ) -> Result<Vec<u32>, StatusCode> {
        let most = self.limits.max_subscriptions_per_session as usize;
        let count = self.sessions.get(&session).map_or(0, |queue| queue.subscriptions.len());
        let subscription = self.subscriptions.get_mut(&id).ok_or(status::BAD_SUBSCRIPTION_ID_INVALID)?;
        if subscription.access.user != access.user {
            return Err(status::BAD_USER_ACCESS_DENIED);
        }
        if subscription.owner == Some(session) {
            subscription.machine.reset_lifetime();
            return Err(status::BAD_NOTHING_TO_DO);
        }
        if count >= most {
            return Err(status::BAD_TOO_MANY_SUBSCRIPTIONS);
        }
        let available = subscription.sent.available().collect();
        let before = subscription.owner.replace(session);
        let moves = subscription.access != access;
        subscription.access = access;
        subscription.machine.reset_lifetime();
        let told = before.map(|_| {
            let number = subscription.sequence.get();
            message::status_change(number, place.now.utc, status::GOOD_SUBSCRIPTION_TRANSFERRED)
        });
        let items: Vec<Key> = subscription.items.values().copied().collect();
        self.sessions.entry(session).or_default().subscriptions.push(id);
        if let Some((before, message)) = before.zip(told) {
            if let Some(queue) = self.sessions.get_mut(&before) {
                queue.subscriptions.retain(|known| *known != id);
            }
            self.note_lost(before, id, message);
            self.serve(before, place.now);
            self.settle(before);
        }
        for key in items {
            let is_active = self.items.get(key).is_some_and(|item| item.source.is_some());
            if moves && is_active {
                self.move_source(place, key);
            } else if send_initial_values && is_active {
                self.send_initial(key);
            }
        }
        self.serve(session, place.now);
        Ok(available)
    }

    /// A session has another user now: so have its subscriptions.
    pub(crate) fn set_access(&mut self, place: Place<'_>, session: Token, access: Access) {
        let ids = self.sessions.get(&session).map(|queue| queue.subscriptions.clone()).unwrap_or_default();
        for id in ids {
            let Some(subscription) = self.subscriptions.get_mut(&id) else { continue };
            if core::mem::replace(&mut subscription.access, access) == access {
                continue;
            }
            let items: Vec<Key> = subscription.items.values().copied().collect();
            for key in items {
                if self.items.get(key).is_some_and(|item| item.source.is_some()) {
                    self.move_source(place, key);
                }
            }
        }
    }

    /// Queues the present value of an item that reports and has none queued.
    fn send_initial(&mut self, key: Key) {
        let Some(item) = self.items.get(key) else { return };
        if item.mode != MonitoringMode::REPORTING || !item.queue.is_empty() {
            return;
        }
        let source = item.source.and_then(|(source, _)| self.sources.get(source));
        if let Some(last) = source.and_then(|source| source.last.clone()) {
            self.offer_again(key, &last);
        }
    }
}
