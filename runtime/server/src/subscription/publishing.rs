//! Publish requests meet notifications (OPC 10000-4 §5.14.1.2, §5.14.5, §5.14.6).

use std::collections::VecDeque;

use uaforge_codec::{Now, StatusCode, Ticks};
use uaforge_types::{SubscriptionAcknowledgement, status};

use super::engine::Engine;
use super::machine::{Answer, Expiry};
use super::message;
use super::parked::{Parked, SessionQueue};
use super::retransmission::Message;
use super::timers::Timer;
use crate::proto::mailbox::Mailbox;
use crate::proto::session::Token;

/// Bytes of a response beside its notifications.
const OVERHEAD: usize = 1_024;
/// Bytes of notifications after which a message is full, whatever the peer would take.
const FULL: usize = 1 << 20;

impl Engine {
    /// Takes a Publish request. Its answer is posted to the connection, now or later.
    ///
    /// # Errors
    /// Bad_NoSubscription.
    pub(crate) fn publish(
        &mut self,
        session: Token,
        mut parked: Parked,
        acknowledged: &[SubscriptionAcknowledgement],
        now: Now,
    ) -> Result<(), StatusCode> {
        let Some(queue) = self.sessions.get(&session) else { return Err(status::BAD_NO_SUBSCRIPTION) };
        for id in queue.subscriptions.clone() {
            if let Some(subscription) = self.subscriptions.get_mut(&id) {
                subscription.machine.reset_lifetime();
            }
        }
        parked.results = acknowledged.iter().map(|known| self.acknowledge(session, known)).collect();
        let deadline = parked.deadline;
        let most = self.limits.max_publish_requests.max(1) as usize;
        let Some(queue) = self.sessions.get_mut(&session) else { return Ok(()) };
        queue.parked.push_back(parked);
        if deadline < queue.expires {
            queue.expires = deadline;
            self.timers.set(deadline, Timer::Session(session), 0);
            self.prune_timers();
        }
        self.serve(session, now);
        if let Some(queue) = self.sessions.get_mut(&session)
            && queue.parked.len() > most
            && let Some(oldest) = queue.parked.pop_front()
        {
            oldest.fail(status::BAD_TOO_MANY_PUBLISH_REQUESTS);
        }
        Ok(())
    }

    fn acknowledge(&mut self, session: Token, known: &SubscriptionAcknowledgement) -> StatusCode {
        let Ok(subscription) = self.of_session(session, known.subscription_id) else {
            return status::BAD_SUBSCRIPTION_ID_INVALID;
        };
        let before = subscription.sent.bytes();
        let was_there = subscription.sent.acknowledge(known.sequence_number);
        self.held -= before - subscription.sent.bytes();
        if was_there { StatusCode::GOOD } else { status::BAD_SEQUENCE_NUMBER_UNKNOWN }
    }

    /// Answers the requests of a session for which something waits: subscriptions that were lost, then late ones
    /// by priority and by how long ago they had their turn.
    pub(crate) fn serve(&mut self, session: Token, now: Now) {
        loop {
            if self.tell_lost(session) {
                continue;
            }
            let Some((id, answer)) = self.next_waiting(session) else { return };
            let Some(parked) = self.sessions.get_mut(&session).and_then(|queue| queue.take()) else { return };
            if let Some(subscription) = self.subscriptions.get_mut(&id) {
                subscription.machine.answered(answer);
            }
            self.answer(id, answer, parked, now);
        }
    }

    /// Tells of one subscription that the session has lost; whether there was one and a request to answer.
    fn tell_lost(&mut self, session: Token) -> bool {
        let Some(queue) = self.sessions.get_mut(&session).filter(|queue| !queue.lost.is_empty()) else {
            return false;
        };
        let Some(parked) = queue.take() else { return false };
        if let Some((id, message)) = queue.lost.pop_front() {
            parked.answer(id, message, false, Vec::new());
        }
        self.settle(session);
        true
    }

    /// The subscription of a session that a Publish request answers at once.
    fn next_waiting(&mut self, session: Token) -> Option<(u32, Answer)> {
        let queue = self.sessions.get(&session).filter(|queue| !queue.parked.is_empty())?;
        let mut best: Option<(u8, u64, u32, Answer)> = None;
        for id in queue.subscriptions.clone() {
            let available = self.has_news(id);
            let Some(subscription) = self.subscriptions.get(&id) else { continue };
            let Some(answer) = subscription.machine.waits_for_publish(available) else { continue };
            let (priority, served) = (subscription.priority, subscription.served);
            if best
                .is_none_or(|(p, s, ..)| (priority, core::cmp::Reverse(served)) > (p, core::cmp::Reverse(s)))
            {
                best = Some((priority, served, id, answer));
            }
        }
        best.map(|(_, _, id, answer)| (id, answer))
    }

    /// Whether an item of a subscription has something to report.
    fn has_news(&mut self, id: u32) -> bool {
        let Self { subscriptions, items, .. } = self;
        let Some(subscription) = subscriptions.get_mut(&id) else { return false };
        while let Some(key) = subscription.ready.front() {
            match items.get_mut(*key) {
                Some(item) if item.reports() => return true,
                Some(item) => item.is_ready = false,
                None => {}
            }
            subscription.ready.pop_front();
        }
        false
    }

    /// The publishing timer of a subscription has expired.
    pub(super) fn expire(&mut self, id: u32, at: Ticks, now: Now) {
        let available = self.has_news(id);
        let Some(subscription) = self.subscriptions.get_mut(&id).filter(|known| known.due == at) else {
            return;
        };
        let mut queue = subscription.owner.and_then(|owner| self.sessions.get_mut(&owner));
        let parked = queue.as_mut().and_then(|queue| queue.take());
        let expiry = subscription.machine.on_timer(parked.is_some(), available);
        subscription.restart_timer(now.ticks);
        let (due, priority, owner) = (subscription.due, subscription.priority, subscription.owner);
        match (expiry, parked) {
            (Expiry::Answer(answer), Some(parked)) => self.answer(id, answer, parked, now),
            (_, parked) => {
                if let (Some(parked), Some(queue)) = (parked, queue) {
                    queue.parked.push_front(parked);
                }
            }
        }
        if expiry == Expiry::Closed {
            self.lose(id, status::BAD_TIMEOUT, now);
            if let Some(owner) = owner {
                self.serve(owner, now);
                self.settle(owner);
            }
        } else {
            self.timers.set(due, Timer::Publish(id), priority);
        }
    }

    /// Deletes a subscription and has its session told why.
    fn lose(&mut self, id: u32, why: StatusCode, now: Now) {
        let Some(mut subscription) = self.remove(id) else { return };
        if let Some(owner) = subscription.owner {
            let number = subscription.sequence.take();
            self.note_lost(owner, id, message::status_change(number, now.utc, why));
        }
    }

    /// Has a session told that it has lost a subscription. If it never asks, it is told of the latest ones.
    pub(super) fn note_lost(&mut self, session: Token, id: u32, message: Message) {
        let most = self.limits.max_subscriptions_per_session.max(1) as usize;
        let Some(queue) = self.sessions.get_mut(&session) else { return };
        if queue.lost.len() >= most {
            queue.lost.pop_front();
        }
        queue.lost.push_back((id, message));
    }

    /// Answers a request for a subscription; as long as there is more to tell, it uses further requests up.
    fn answer(&mut self, id: u32, answer: Answer, mut parked: Parked, now: Now) {
        loop {
            self.served += 1;
            let (message, more) = match answer {
                Answer::KeepAlive => (self.keep_alive(id, now), false),
                Answer::Notifications => self.compose(id, parked.room, now),
            };
            let Some(subscription) = self.subscriptions.get_mut(&id) else { return };
            subscription.served = self.served;
            if answer == Answer::Notifications {
                subscription.machine.set_more(more);
            }
            let owner = subscription.owner;
            parked.answer(id, message, more, subscription.sent.available().collect());
            let queue = owner.filter(|_| more).and_then(|owner| self.sessions.get_mut(&owner));
            match queue.and_then(SessionQueue::take) {
                Some(next) => parked = next,
                None => return,
            }
        }
    }

    fn keep_alive(&self, id: u32, now: Now) -> Message {
        let number = self.subscriptions.get(&id).map_or(1, |subscription| subscription.sequence.get());
        message::keep_alive(number, now.utc)
    }

    /// Makes the next message of a subscription and keeps it for Republish; whether notifications are left.
    fn compose(&mut self, id: u32, room: usize, now: Now) -> (Message, bool) {
        let budget = (room.saturating_sub(OVERHEAD) / 2).clamp(1, FULL);
        self.notifications.clear();
        self.collect(id, budget);
        let more = self.has_news(id);
        let Some(subscription) = self.subscriptions.get_mut(&id) else {
            return (message::keep_alive(1, now.utc), false);
        };
        if !more {
            for key in subscription.triggered.drain(..) {
                if let Some(item) = self.items.get_mut(key) {
                    item.triggered = false;
                }
            }
        }
        let number = subscription.sequence.take();
        let message = self.notifications.message(number, now.utc);
        let before = subscription.sent.bytes();
        let most = self.limits.max_retransmission_messages.max(1) as usize;
        subscription.sent.push(number, Message::clone(&message), most);
        let others = self.held - before;
        while others + subscription.sent.bytes() > self.limits.notification_memory
            && subscription.sent.available().nth(1).is_some()
        {
            subscription.sent.pop();
        }
        self.held = others + subscription.sent.bytes();
        self.notifications.trim();
        (message, more)
    }

    /// Moves notifications out of the queues of items until the message is full.
    fn collect(&mut self, id: u32, budget: usize) {
        let Self { subscriptions, items, notifications, held, .. } = self;
        let Some(subscription) = subscriptions.get_mut(&id) else { return };
        while let Some(key) = subscription.ready.front() {
            let Some(item) = items.get_mut(*key) else {
                subscription.ready.pop_front();
                continue;
            };
            while item.reports() {
                let is_full =
                    notifications.count() >= subscription.max_notifications || notifications.len() >= budget;
                if is_full {
                    return;
                }
                let Some(sample) = item.pop() else { break };
                *held -= sample.weight();
                notifications.add(item, &sample, budget);
            }
            item.is_ready = false;
            subscription.ready.pop_front();
        }
    }

    /// Republish (OPC 10000-4 §5.14.6).
    ///
    /// # Errors
    /// Bad_SubscriptionIdInvalid, Bad_MessageNotAvailable.
    pub(crate) fn republish(&mut self, session: Token, id: u32, number: u32) -> Result<Message, StatusCode> {
        let subscription = self.of_session(session, id)?;
        subscription.sent.find(number).cloned().ok_or(status::BAD_MESSAGE_NOT_AVAILABLE)
    }

    /// Answers requests that have nothing to wait for any more (Bad_NoSubscription).
    pub(super) fn settle(&mut self, session: Token) {
        let Some(queue) = self.sessions.get_mut(&session) else { return };
        if !queue.subscriptions.is_empty() || !queue.lost.is_empty() {
            return;
        }
        for parked in queue.parked.drain(..) {
            parked.fail(status::BAD_NO_SUBSCRIPTION);
        }
        if queue.is_unused() {
            self.sessions.remove(&session);
        }
    }

    /// Answers requests whose client does not wait any more (timeoutHint).
    pub(super) fn expire_requests(&mut self, session: Token, at: Ticks, now: Ticks) {
        let Some(queue) = self.sessions.get_mut(&session).filter(|queue| queue.expires == at) else { return };
        let (over, parked): (VecDeque<Parked>, _) =
            core::mem::take(&mut queue.parked).into_iter().partition(|parked| parked.deadline <= now);
        queue.parked = parked;
        queue.expires = queue.parked.iter().map(|parked| parked.deadline).min().unwrap_or(Ticks::NEVER);
        if queue.expires != Ticks::NEVER {
            self.timers.set(queue.expires, Timer::Session(session), 0);
        }
        for parked in over {
            parked.fail(status::BAD_TIMEOUT);
        }
    }

    /// Answers the Publish requests of a session with a handle (Cancel, OPC 10000-4 §5.7.5); how many there were.
    pub(crate) fn cancel(&mut self, session: Token, handle: u32) -> u32 {
        let Some(queue) = self.sessions.get_mut(&session) else { return 0 };
        let (cancelled, parked): (VecDeque<Parked>, _) =
            core::mem::take(&mut queue.parked).into_iter().partition(|parked| parked.handle == handle);
        queue.parked = parked;
        let count = cancelled.len();
        for parked in cancelled {
            parked.fail(status::BAD_REQUEST_CANCELLED_BY_CLIENT);
        }
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The session is on another connection now, or its connection is gone: requests that came over others are not
    /// answered any more.
    pub(crate) fn keep_requests_of(&mut self, session: Token, mailbox: Option<&Mailbox>) {
        if let Some(queue) = self.sessions.get_mut(&session) {
            queue
                .parked
                .retain(|parked| mailbox.is_some_and(|mailbox| core::ptr::eq(&*parked.mailbox, mailbox)));
        }
    }
}
