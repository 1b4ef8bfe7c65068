//! The numbers of one subscription's notification messages: order, gaps and repetitions
//! (OPC 10000-4 §5.14.1.1, §5.14.6).

use std::collections::VecDeque;

use uaforge_types::NotificationMessage;

/// Messages that wait for one before them. As many Publish responses can overtake each other as there are
/// Publish requests on their way.
const MAX_HELD: usize = 64;
/// Numbers that are asked for again after a gap; a server keeps no more for one subscription.
const MAX_MISSING: u32 = 1_000;
/// Sequence numbers: 1 to 4 294 967 295, then 1 again (OPC 10000-4 §7.8 Counter).
const RING: u32 = u32::MAX;

/// What to do with a message, now.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Ready {
    /// To be handed out, in order.
    pub(crate) messages: Vec<NotificationMessage>,
    /// Messages before the first of them are lost.
    pub(crate) lost: bool,
}

/// Puts messages in the order of their numbers, each once.
#[derive(Debug)]
pub(crate) struct Order {
    /// The number of the message that is to be handed out next.
    next: u32,
    /// Messages after a gap, in order.
    held: VecDeque<NotificationMessage>,
    /// The number that the server will use next, as far as it is known.
    end: u32,
    /// Messages may be there that nobody has told of: the connection was lost.
    catching_up: bool,
    /// Messages were lost since the last that was handed out.
    lost: bool,
}

impl Order {
    /// The first message of a subscription has the number 1.
    pub(crate) fn new() -> Self {
        Self { next: 1, held: VecDeque::new(), end: 1, catching_up: false, lost: false }
    }

    /// A message that a Publish or Republish brought.
    pub(crate) fn accept(&mut self, message: NotificationMessage) -> Ready {
        let number = message.sequence_number;
        let Some(ahead) = ahead(self.next, number) else {
            // It was handed out, or given up, before.
            return Ready::default();
        };
        self.reaches(after(number));
        let mut messages = Vec::new();
        if ahead > MAX_MISSING {
            self.skip_to(number, &mut messages);
        } else if ahead > 0
            && self.held.len() >= MAX_HELD
            && let Some(first) = self.held.front().map(|held| held.sequence_number)
        {
            self.skip_to(first, &mut messages);
            self.release(&mut messages);
        }
        if self.next == number {
            self.next = after(number);
            messages.push(message);
            self.release(&mut messages);
        } else {
            self.hold(message);
        }
        if messages.is_empty() { Ready::default() } else { self.ready(messages) }
    }

    fn hold(&mut self, message: NotificationMessage) {
        let place = |number| ahead_of(self.next, number);
        let number = message.sequence_number;
        let at = self.held.partition_point(|held| place(held.sequence_number) < place(number));
        if self.held.get(at).is_none_or(|held| held.sequence_number != number) {
            self.held.insert(at, message);
        }
    }

    /// A keep-alive carries the number that the next message will have.
    pub(crate) fn keep_alive(&mut self, number: u32) -> Ready {
        match ahead(self.next, number) {
            Some(missing) if missing > MAX_MISSING => {
                self.reaches(number);
                let mut messages = Vec::new();
                self.skip_to(number, &mut messages);
                self.ready(messages)
            }
            Some(_) => {
                self.reaches(number);
                Ready::default()
            }
            None => Ready::default(),
        }
    }

    /// The server does not have the message any more.
    pub(crate) fn unavailable(&mut self, number: u32) -> Ready {
        if number != self.next {
            return Ready::default();
        }
        if self.next == self.end {
            // There was none: the end of what is to be caught up with.
            self.catching_up = false;
            return Ready::default();
        }
        self.lost = true;
        self.next = after(self.next);
        let mut messages = Vec::new();
        self.release(&mut messages);
        self.ready(messages)
    }

    /// The connection was lost, and messages with it that no number tells of.
    pub(crate) fn catch_up(&mut self) {
        self.catching_up = true;
    }

    /// The number that is to be asked for with Republish.
    pub(crate) fn wanted(&self) -> Option<u32> {
        (self.catching_up || self.next != self.end).then_some(self.next)
    }

    fn reaches(&mut self, end: u32) {
        if ahead_of(self.next, end) > ahead_of(self.next, self.end) {
            self.end = end;
        }
    }

    /// Gives up what is missing before the number; what is held before it is handed out.
    fn skip_to(&mut self, number: u32, messages: &mut Vec<NotificationMessage>) {
        let next = self.next;
        let place = |number| ahead_of(next, number);
        let before = self.held.partition_point(|held| place(held.sequence_number) < place(number));
        messages.extend(self.held.drain(..before));
        self.next = number;
        self.lost = true;
    }

    /// Held messages whose turn it is.
    fn release(&mut self, messages: &mut Vec<NotificationMessage>) {
        while self.held.front().is_some_and(|held| held.sequence_number == self.next) {
            messages.extend(self.held.pop_front());
            self.next = after(self.next);
        }
    }

    fn ready(&mut self, messages: Vec<NotificationMessage>) -> Ready {
        let lost = core::mem::take(&mut self.lost);
        Ready { messages, lost }
    }
}

/// The number after one.
const fn after(number: u32) -> u32 {
    if number == RING { 1 } else { number + 1 }
}

/// How many numbers lie from one to another, around the ring.
const fn ahead_of(from: u32, to: u32) -> u32 {
    if to >= from { to - from } else { RING - from + to }
}

/// As [`ahead_of`]; `None` if the number lies before, which is the nearer way round, or is none.
const fn ahead(from: u32, to: u32) -> Option<u32> {
    let distance = ahead_of(from, to);
    if to == 0 || distance > RING / 2 { None } else { Some(distance) }
}

#[cfg(test)]
mod tests {
    use super::{MAX_HELD, MAX_MISSING, NotificationMessage, Order, Ready};

    fn message(sequence_number: u32) -> NotificationMessage {
        NotificationMessage { sequence_number, ..Default::default() }
    }

    fn numbers(ready: &Ready) -> Vec<u32> {
        ready.messages.iter().map(|message| message.sequence_number).collect()
    }

    #[test]
    fn in_order() {
        let mut order = Order::new();
        for number in 1..=3 {
            let ready = order.accept(message(number));
            assert_eq!((numbers(&ready), ready.lost, order.wanted()), (vec![number], false, None));
        }
        assert_eq!(order.keep_alive(4), Ready::default());
        assert_eq!(order.wanted(), None);
    }

    /// A message that comes early is held until the one before it is there; none is handed out twice.
    #[test]
    fn swapped_responses() {
        let mut order = Order::new();
        assert_eq!(order.accept(message(2)), Ready::default());
        assert_eq!(order.wanted(), Some(1));
        assert_eq!(numbers(&order.accept(message(1))), [1, 2]);
        assert_eq!(order.wanted(), None);
        assert_eq!(order.accept(message(1)), Ready::default());
        assert_eq!(order.accept(message(2)), Ready::default());
        assert_eq!(order.unavailable(1), Ready::default());
    }

    #[test]
    fn each_missing_number_is_asked_for() {
        let mut order = Order::new();
        order.accept(message(1));
        order.accept(message(5));
        order.accept(message(4));
        order.accept(message(5));
        assert_eq!(order.wanted(), Some(2));
        assert_eq!(numbers(&order.accept(message(2))), [2]);
        assert_eq!(order.wanted(), Some(3));
        let ready = order.unavailable(3);
        assert_eq!((numbers(&ready), ready.lost), (vec![4, 5], true));
        assert_eq!(order.wanted(), None);
        // The loss is told once.
        assert!(!order.accept(message(6)).lost);
    }

    #[test]
    fn a_keep_alive_tells_of_a_gap() {
        let mut order = Order::new();
        assert_eq!(order.keep_alive(3), Ready::default());
        assert_eq!(order.wanted(), Some(1));
        assert!(order.unavailable(1).lost);
        assert_eq!(numbers(&order.accept(message(2))), [2]);
        assert_eq!(order.wanted(), None);
        // An old one says nothing.
        assert_eq!(order.keep_alive(2), Ready::default());
        assert_eq!(order.wanted(), None);
    }

    /// After 4 294 967 295 comes 1 (OPC 10000-4 §7.8).
    #[test]
    fn numbers_go_round() {
        let mut order = Order { next: u32::MAX, end: u32::MAX, ..Order::new() };
        assert_eq!(order.accept(message(1)), Ready::default());
        assert_eq!(order.wanted(), Some(u32::MAX));
        assert_eq!(numbers(&order.accept(message(u32::MAX))), [u32::MAX, 1]);
        assert_eq!(order.accept(message(u32::MAX)), Ready::default());
        assert_eq!(numbers(&order.accept(message(2))), [2]);
        assert_eq!(order.accept(message(0)), Ready::default());
    }

    /// After a lost connection nobody knows what was sent: numbers are asked for until there is none.
    #[test]
    fn catching_up() {
        let mut order = Order::new();
        order.accept(message(1));
        order.catch_up();
        assert_eq!(order.wanted(), Some(2));
        assert_eq!(numbers(&order.accept(message(2))), [2]);
        assert_eq!(order.wanted(), Some(3));
        assert_eq!(order.unavailable(3), Ready::default());
        assert_eq!(order.wanted(), None);
        assert!(!order.accept(message(3)).lost);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut order = Order::new();
        let many = 2 * u32::try_from(MAX_HELD).unwrap();
        let mut handed_out = Vec::new();
        for number in 2..many {
            let ready = order.accept(message(number));
            assert!(order.held.len() <= MAX_HELD);
            handed_out.extend(numbers(&ready));
        }
        assert!(handed_out.is_sorted());
        let far = many + MAX_MISSING + 1;
        let ready = order.accept(message(far));
        assert_eq!((numbers(&ready), ready.lost, order.wanted()), (vec![far], true, None));
        assert!(order.keep_alive(far + MAX_MISSING + 2).lost);
        assert_eq!(order.wanted(), None);
    }
}
