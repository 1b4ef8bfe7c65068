//! One subscription (OPC 10000-4 §5.14).

use core::time::Duration;
use std::collections::VecDeque;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use uaforge_codec::Ticks;

use super::arena::Key;
use super::machine::Machine;
use super::retransmission::{Retransmission, SequenceNumber};
use super::revision::Revised;
use crate::access::Access;
use crate::proto::session::Token;

/// A subscription.
pub(crate) struct Subscription {
    /// The session it is assigned to; none when that has ended and nobody has taken the subscription over yet.
    pub(crate) owner: Option<Token>,
    /// Of the session that it was assigned to last.
    pub(crate) access: Access,
    pub(crate) machine: Machine,
    pub(crate) interval: Duration,
    pub(crate) max_notifications: u32,
    pub(crate) priority: u8,
    /// When the publishing timer expires; it goes on in whole intervals.
    pub(crate) due: Ticks,
    pub(crate) sequence: SequenceNumber,
    pub(crate) sent: Retransmission,
    pub(crate) items: HashMap<u32, Key, RandomState>,
    pub(crate) next_item: u32,
    /// Items with something to report, in the order in which that came.
    pub(crate) ready: VecDeque<Key>,
    /// Items that were triggered since the last message.
    pub(crate) triggered: Vec<Key>,
    /// When it was answered last, counted in answers of the server.
    pub(crate) served: u64,
}

impl Subscription {
    pub(crate) fn new(
        owner: Token,
        access: Access,
        revised: &Revised,
        publishing: bool,
        priority: u8,
        now: Ticks,
    ) -> Self {
        Self {
            owner: Some(owner),
            access,
            machine: Machine::new(publishing, revised.keep_alive, revised.lifetime),
            interval: revised.interval,
            max_notifications: revised.max_notifications,
            priority,
            due: now + revised.interval,
            sequence: SequenceNumber::FIRST,
            sent: Retransmission::default(),
            items: HashMap::with_hasher(RandomState::default()),
            next_item: 1,
            ready: VecDeque::new(),
            triggered: Vec::new(),
            served: 0,
        }
    }

    /// An id that no item of the subscription has.
    pub(crate) fn new_item_id(&mut self) -> u32 {
        loop {
            let id = self.next_item;
            self.next_item = id.checked_add(1).unwrap_or(1);
            if !self.items.contains_key(&id) {
                return id;
            }
        }
    }

    /// Sets the timer to its next time after `now`: a whole number of intervals after the last one.
    pub(crate) fn restart_timer(&mut self, now: Ticks) {
        let interval = u64::try_from(self.interval.as_nanos()).unwrap_or(u64::MAX).max(1);
        let late = now.0.saturating_sub(self.due.0) / interval;
        self.due = Ticks(self.due.0.saturating_add(interval.saturating_mul(late + 1)));
    }
}
