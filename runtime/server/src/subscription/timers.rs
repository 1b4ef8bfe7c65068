//! The deadlines of all subscriptions: one heap, no timers per item.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use uaforge_codec::Ticks;

use crate::proto::session::Token;

/// What is due. Whoever set the timer knows whether it still counts: nothing is taken out of the heap early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// The samples of an interval in nanoseconds.
    Group(u64),
    /// The publishing timer of a subscription.
    Publish(u32),
    /// Publish requests whose time is over.
    Session(Token),
}

/// Sampling comes before publishing, and higher priorities before lower ones (OPC 10000-4 §5.14.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Ticks,
    rank: u16,
    timer: Timer,
}

/// The heap.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<Due>>,
}

impl Timers {
    /// Sets a timer; `priority` counts for publishing timers.
    pub(crate) fn set(&mut self, at: Ticks, timer: Timer, priority: u8) {
        let rank = match timer {
            Timer::Group(_) => 0,
            Timer::Publish(_) | Timer::Session(_) => 256 - u16::from(priority),
        };
        self.heap.push(Reverse(Due { at, rank, timer }));
    }

    /// When the next timer is due.
    pub(crate) fn next(&self) -> Option<Ticks> {
        self.heap.peek().map(|Reverse(due)| due.at)
    }

    /// Takes a timer that is due, and its time.
    pub(crate) fn pop(&mut self, now: Ticks) -> Option<(Ticks, Timer)> {
        let due = self.heap.peek().filter(|Reverse(due)| due.at <= now)?.0;
        self.heap.pop();
        Some((due.at, due.timer))
    }

    /// Takes the timer of a group that is due before anything else is, and its time.
    pub(crate) fn pop_group(&mut self, now: Ticks) -> Option<(Ticks, u64)> {
        match self.heap.peek()?.0 {
            Due { at, timer: Timer::Group(interval), .. } if at <= now => {
                self.heap.pop();
                Some((at, interval))
            }
            _ => None,
        }
    }

    /// Drops timers that do not count any more, or are set twice, if there are too many for `live` ones.
    pub(crate) fn prune(&mut self, live: usize, counts: impl Fn(Ticks, Timer) -> bool) {
        let most = 4 * live + 1_024;
        if self.heap.len() > most {
            let mut timers = core::mem::take(&mut self.heap).into_vec();
            timers.retain(|Reverse(due)| counts(due.at, due.timer));
            timers.sort_unstable();
            timers.dedup();
            timers.shrink_to(most);
            self.heap = timers.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_first_and_then_the_highest_priority() {
        let mut timers = Timers::default();
        timers.set(Ticks(5), Timer::Publish(1), 0);
        timers.set(Ticks(5), Timer::Publish(2), 255);
        timers.set(Ticks(5), Timer::Group(1_000), 0);
        timers.set(Ticks(4), Timer::Publish(3), 0);
        assert_eq!(timers.next(), Some(Ticks(4)));
        assert_eq!(timers.pop(Ticks(3)), None);
        let popped: Vec<Timer> = core::iter::from_fn(|| timers.pop(Ticks(5))).map(|due| due.1).collect();
        assert_eq!(popped, [Timer::Publish(3), Timer::Group(1_000), Timer::Publish(2), Timer::Publish(1)]);
    }

    #[test]
    fn stale_timers_do_not_pile_up() {
        let mut timers = Timers::default();
        for at in 0..10_000 {
            timers.set(Ticks(at), Timer::Publish(1), 0);
            timers.prune(1, |at, _| at == Ticks(9_999));
        }
        assert!(timers.heap.len() <= 1_030);
    }

    #[test]
    fn a_timer_that_is_set_again_and_again_is_kept_once() {
        let mut timers = Timers::default();
        for _ in 0..10_000 {
            timers.set(Ticks(7), Timer::Group(1_000), 0);
            timers.prune(1, |_, _| true);
        }
        assert!(timers.heap.len() <= 1_030 && timers.heap.capacity() <= 4_096);
    }
}
