//! All subscriptions of a server behind one lock: who has which, and their life.

use core::time::Duration;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use uaforge_codec::{NodeId, StatusCode, Ticks};
use uaforge_types::status;

use super::arena::{Arena, Key};
use super::item::Item;
use super::message::Notifications;
use super::parked::SessionQueue;
use super::revision::Revised;
use super::source::{Dirty, Source, SourceKey};
use super::state::Subscription;
use super::timers::{Timer, Timers};
use crate::access::Access;
use crate::config::SubscriptionLimits;
use crate::proto::session::Token;

/// Sources that are sampled at the same times.
pub(super) struct Group {
    pub(super) due: Ticks,
    pub(super) sources: Vec<Key>,
}

/// Subscriptions, items and sources. Handlers of the application are never called while it is locked.
pub(crate) struct Engine {
    pub(super) limits: SubscriptionLimits,
    pub(super) subscriptions: HashMap<u32, Subscription, RandomState>,
    pub(super) sessions: HashMap<Token, SessionQueue, RandomState>,
    pub(super) items: Arena<Item>,
    pub(super) sources: Arena<Source>,
    pub(super) source_keys: HashMap<SourceKey, Key, RandomState>,
    pub(super) groups: HashMap<u64, Group, RandomState>,
    /// The sources that hand on the events of a notifier.
    pub(super) event_sources: HashMap<NodeId, Vec<Key>, RandomState>,
    pub(super) timers: Timers,
    /// Sources that wait for a read.
    pub(super) unread: Vec<Key>,
    /// Bytes of queued notifications and messages kept for Republish.
    pub(super) held: usize,
    /// Answers that were given.
    pub(super) served: u64,
    /// Room for the message that is being made.
    pub(super) notifications: Notifications,
    pub(super) dirty: Arc<Dirty>,
    /// What the times of samples count from.
    pub(super) start: Ticks,
    next_subscription: u32,
    /// Until when whoever drives the engine sleeps.
    pub(super) sleeps_until: Ticks,
}

impl Engine {
    pub(crate) fn new(limits: SubscriptionLimits, dirty: Arc<Dirty>, first_id: u32, start: Ticks) -> Self {
        Self {
            limits,
            subscriptions: HashMap::with_hasher(RandomState::default()),
            sessions: HashMap::with_hasher(RandomState::default()),
            items: Arena::default(),
            sources: Arena::default(),
            source_keys: HashMap::with_hasher(RandomState::default()),
            groups: HashMap::with_hasher(RandomState::default()),
            event_sources: HashMap::with_hasher(RandomState::default()),
            timers: Timers::default(),
            unread: Vec::new(),
            held: 0,
            served: 0,
            notifications: Notifications::default(),
            dirty,
            start,
            next_subscription: first_id,
            sleeps_until: Ticks::NEVER,
        }
    }

    /// Whether there is something to do before the driver wakes by itself.
    pub(super) fn needs_driver(&self) -> bool {
        !self.unread.is_empty() || self.timers.next().is_some_and(|next| next < self.sleeps_until)
    }

    /// A subscription of a session; that it is used keeps it alive.
    ///
    /// # Errors
    /// Bad_SubscriptionIdInvalid.
    pub(super) fn of_session(&mut self, session: Token, id: u32) -> Result<&mut Subscription, StatusCode> {
        let subscription = self.subscriptions.get_mut(&id).filter(|found| found.owner == Some(session));
        let subscription = subscription.ok_or(status::BAD_SUBSCRIPTION_ID_INVALID)?;
        subscription.machine.reset_lifetime();
        Ok(subscription)
    }

    /// Publishing interval of a subscription, and whose rights its items have.
    ///
    /// # Errors
    /// Bad_SubscriptionIdInvalid.
    pub(crate) fn interval(&mut self, session: Token, id: u32) -> Result<Duration, StatusCode> {
        self.of_session(session, id).map(|subscription| subscription.interval)
    }

    /// Makes a subscription; its id.
    ///
    /// # Errors
    /// Bad_TooManySubscriptions.
    pub(crate) fn create(
        &mut self,
        session: Token,
        access: Access,
        revised: &Revised,
        publishing: bool,
        priority: u8,
        now: Ticks,
    ) -> Result<u32, StatusCode> {
        let of_session = self.sessions.get(&session).map_or(0, |queue| queue.subscriptions.len());
        if self.subscriptions.len() >= self.limits.max_subscriptions as usize
            || of_session >= self.limits.max_subscriptions_per_session as usize
        {
            return Err(status::BAD_TOO_MANY_SUBSCRIPTIONS);
        }
        let id = self.new_id();
        let subscription = Subscription::new(session, access, revised, publishing, priority, now);
        self.timers.set(subscription.due, Timer::Publish(id), priority);
        self.subscriptions.insert(id, subscription);
        self.sessions.entry(session).or_default().subscriptions.push(id);
        self.prune_timers();
        Ok(id)
    }

    fn new_id(&mut self) -> u32 {
        loop {
            let id = self.next_subscription;
            self.next_subscription = id.wrapping_add(1);
            if id != 0 && !self.subscriptions.contains_key(&id) {
                return id;
            }
        }
    }

    /// ModifySubscription (OPC 10000-4 §5.14.3).
    ///
    /// # Errors
    /// Bad_SubscriptionIdInvalid.
    pub(crate) fn modify(
        &mut self,
        session: Token,
        id: u32,
        revised: &Revised,
        priority: u8,
        now: Ticks,
    ) -> Result<(), StatusCode> {
        let subscription = self.of_session(session, id)?;
        subscription.machine.modify(revised.keep_alive, revised.lifetime);
        subscription.max_notifications = revised.max_notifications;
        subscription.priority = priority;
        if subscription.interval != revised.interval {
            subscription.interval = revised.interval;
            subscription.due = now + revised.interval;
            let due = subscription.due;
            self.timers.set(due, Timer::Publish(id), priority);
            self.prune_timers();
        }
        Ok(())
    }

    /// Drops timers that do not count any more when they are many: whoever lets a client set one calls it.
    pub(super) fn prune_timers(&mut self) {
        let Self { timers, subscriptions, groups, sessions, .. } = self;
        timers.prune(subscriptions.len() + groups.len() + sessions.len(), |at, timer| match timer {
            Timer::Group(interval) => groups.get(&interval).is_some_and(|group| group.due == at),
            Timer::Publish(id) => subscriptions.get(&id).is_some_and(|known| known.due == at),
            Timer::Session(session) => sessions.get(&session).is_some_and(|queue| queue.expires == at),
        });
    }

    /// SetPublishingMode (OPC 10000-4 §5.14.4).
    ///
    /// # Errors
    /// Bad_SubscriptionIdInvalid.
    pub(crate) fn set_publishing(
        &mut self,
        session: Token,
        id: u32,
        enabled: bool,
    ) -> Result<(), StatusCode> {
        self.of_session(session, id).map(|subscription| subscription.machine.set_publishing(enabled))
    }

    /// DeleteSubscriptions (OPC 10000-4 §5.14.8).
    ///
    /// # Errors
    /// Bad_SubscriptionIdInvalid.
    pub(crate) fn delete(&mut self, session: Token, id: u32) -> Result<(), StatusCode> {
        self.of_session(session, id)?;
        self.remove(id);
        self.settle(session);
        Ok(())
    }

    /// Takes a subscription out, with its items.
    pub(super) fn remove(&mut self, id: u32) -> Option<Subscription> {
        let subscription = self.subscriptions.remove(&id)?;
        self.held -= subscription.sent.bytes();
        for key in subscription.items.values() {
            self.discard_item(*key);
        }
        if let Some(queue) = subscription.owner.and_then(|owner| self.sessions.get_mut(&owner)) {
            queue.subscriptions.retain(|known| *known != id);
        }
        Some(subscription)
    }

    /// A session has ended: its requests have no answer any more, and its subscriptions go or wait for another
    /// session to take them over (CloseSession, OPC 10000-4 §5.7.4).
    pub(crate) fn end_session(&mut self, session: Token, delete: bool) {
        let Some(queue) = self.sessions.remove(&session) else { return };
        for id in queue.subscriptions {
            if delete {
                self.remove(id);
            } else if let Some(subscription) = self.subscriptions.get_mut(&id) {
                subscription.owner = None;
            }
        }
        for parked in queue.parked {
            parked.fail(status::BAD_SESSION_CLOSED);
        }
    }
}
