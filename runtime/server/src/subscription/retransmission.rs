//! Notification messages that were sent and are not acknowledged (OPC 10000-4 §5.14.1.1, §5.14.6).

use std::collections::VecDeque;
use std::sync::Arc;

/// An encoded NotificationMessage, shared by whoever sends it and the queue.
pub(crate) type Message = Arc<[u8]>;

/// Sequence numbers (OPC 10000-4 §7.25): from 1, and from 1 again after the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SequenceNumber(u32);

impl SequenceNumber {
    /// The first one.
    pub(crate) const FIRST: Self = Self(1);

    pub(crate) fn get(self) -> u32 {
        self.0
    }

    /// Uses this one up.
    pub(crate) fn take(&mut self) -> u32 {
        let taken = self.0;
        self.0 = taken.checked_add(1).unwrap_or(1);
        taken
    }
}

/// The queue, oldest message first.
#[derive(Debug, Default)]
pub(crate) struct Retransmission {
    messages: VecDeque<(u32, Message)>,
    bytes: usize,
}

impl Retransmission {
    /// Keeps a message; the oldest ones go when there are more than `most`.
    pub(crate) fn push(&mut self, sequence_number: u32, message: Message, most: usize) {
        self.bytes += message.len();
        self.messages.push_back((sequence_number, message));
        while self.messages.len() > most {
            self.pop();
        }
    }

    /// Drops the oldest message; whether there was one.
    pub(crate) fn pop(&mut self) -> bool {
        let Some((_, message)) = self.messages.pop_front() else { return false };
        self.bytes -= message.len();
        true
    }

    /// Drops a message because the client has it; whether it was there.
    pub(crate) fn acknowledge(&mut self, sequence_number: u32) -> bool {
        let Some(at) = self.messages.iter().position(|(known, _)| *known == sequence_number) else {
            return false;
        };
        if let Some((_, message)) = self.messages.remove(at) {
            self.bytes -= message.len();
        }
        if self.messages.is_empty() {
            self.messages = VecDeque::new();
        }
        true
    }

    pub(crate) fn find(&self, sequence_number: u32) -> Option<&Message> {
        self.messages.iter().find(|(known, _)| *known == sequence_number).map(|(_, message)| message)
    }

    /// The numbers of the messages, oldest first.
    pub(crate) fn available(&self) -> impl Iterator<Item = u32> {
        self.messages.iter().map(|(sequence_number, _)| *sequence_number)
    }

    /// Bytes that the messages keep.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(messages: u32, most: usize) -> Retransmission {
        let mut queue = Retransmission::default();
        for number in 1..=messages {
            queue.push(number, vec![0; 10].into(), most);
        }
        queue
    }

    #[test]
    fn numbers_go_on_with_one() {
        let mut number = SequenceNumber(u32::MAX - 1);
        assert_eq!([number.take(), number.take(), number.take()], [u32::MAX - 1, u32::MAX, 1]);
        assert_eq!(number.get(), 2);
    }

    #[test]
    fn the_oldest_goes_first() {
        let mut queue = filled(5, 3);
        assert!(queue.available().eq([3, 4, 5]));
        assert_eq!(queue.bytes(), 30);
        assert!(queue.pop());
        assert!(queue.available().eq([4, 5]));
    }

    #[test]
    fn what_is_acknowledged_is_gone() {
        let mut queue = filled(3, 3);
        assert!(queue.acknowledge(2) && !queue.acknowledge(2) && !queue.acknowledge(999));
        assert!(queue.find(2).is_none() && queue.find(3).is_some());
        assert!(queue.acknowledge(1) && queue.acknowledge(3));
        assert_eq!((queue.bytes(), queue.pop()), (0, false));
    }
}
