//! Sequence numbers (OPC 10000-6 §6.7.2.4).

use uaforge_types::status;

use crate::ChannelError;

/// The last number after which the older policies may begin again.
const WRAP_AFTER: u32 = 4_294_966_271;
/// They begin again below this one.
const WRAP_BELOW: u32 = 1024;

/// How numbers begin again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SequenceRule {
    /// After 4,294,966,271 comes any number below 1024.
    #[default]
    Legacy,
    /// After 4,294,967,295 comes 0.
    Full,
}

/// Numbers of chunks that are sent. The first is 1: peers refuse 1024 and more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sender {
    next: u32,
}

impl Default for Sender {
    fn default() -> Self {
        Self { next: 1 }
    }
}

impl Sender {
    pub(crate) fn next(&mut self) -> u32 {
        let number = self.next;
        self.next = if number > WRAP_AFTER { 1 } else { number + 1 };
        number
    }
}

/// Numbers of chunks that are received. The first may be any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Receiver {
    last: Option<u32>,
    rule: SequenceRule,
}

impl Receiver {
    pub(crate) fn accept(&mut self, number: u32) -> Result<(), ChannelError> {
        if self.last.is_some_and(|last| !follows(self.rule, last, number)) {
            return Err(ChannelError::new(
                status::BAD_SEQUENCE_NUMBER_INVALID,
                "a chunk is missing, repeated or out of order",
            ));
        }
        self.last = Some(number);
        Ok(())
    }
}

fn follows(rule: SequenceRule, last: u32, next: u32) -> bool {
    let wraps = rule == SequenceRule::Legacy && last > WRAP_AFTER && next < WRAP_BELOW;
    last.wrapping_add(1) == next || wraps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case 033.
    #[test]
    fn pairs() {
        use SequenceRule::{Full, Legacy};
        for (rule, last, next, ok) in [
            (Legacy, 1, 2, true),
            (Legacy, 1, 3, false),
            (Legacy, 2, 2, false),
            (Legacy, 4_294_966_271, 4_294_966_272, true),
            (Legacy, 4_294_966_272, 1, true),
            (Legacy, 4_294_966_272, 1023, true),
            (Legacy, 4_294_966_272, 1024, false),
            (Legacy, 4_294_966_271, 1, false),
            (Legacy, 4_294_967_295, 0, true),
            (Legacy, 100, 1, false),
            (Full, 4_294_966_300, 4_294_966_301, true),
            (Full, 4_294_967_295, 0, true),
            (Full, 4_294_966_300, 1, false),
        ] {
            assert_eq!(follows(rule, last, next), ok, "{rule:?} {last} {next}");
        }
    }

    #[test]
    fn what_is_sent_is_accepted_over_the_wrap() {
        let mut sender = Sender { next: WRAP_AFTER - 2 };
        let mut receiver = Receiver::default();
        for _ in 0..8 {
            receiver.accept(sender.next()).unwrap();
        }
        assert_eq!(Sender::default().next(), 1);
    }
}
