//! Sequence numbers (OPC 10000-6 §6.7.2.4).

use uaforge_types::status;

use crate::ChannelError;

/// From here on a legacy number may wrap, to one below [`WRAP_BELOW`].
const WRAP_FROM: u32 = u32::MAX - 1023;
const WRAP_BELOW: u32 = 1024;

/// How numbers wrap; the security policy says which rule holds (OPC 10000-6 §6.7.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceRule {
    /// Policies up to version 1.05, None too: begins with 1, wraps near the end to a small number.
    Legacy,
    /// Later policies: begins with 0, wraps from the largest number to 0.
    Full,
}

impl SequenceRule {
    /// Whether `next` may follow `last`.
    #[must_use]
    pub const fn follows(self, last: u32, next: u32) -> bool {
        if next == last.wrapping_add(1) {
            return true;
        }
        matches!(self, Self::Legacy) && last >= WRAP_FROM && next < WRAP_BELOW
    }
}

/// Checks the numbers of arriving chunks. They are not reset by a renewed token. Peers begin with numbers
/// of their own choice, so the first one may be any (OPC 10000-6 §6.7.2.4).
#[derive(Clone, Copy, Debug)]
pub struct SequenceCheck {
    rule: SequenceRule,
    last: Option<u32>,
}

impl SequenceCheck {
    /// Before the first chunk, whose number may be any.
    #[must_use]
    pub const fn new(rule: SequenceRule) -> Self {
        Self { rule, last: None }
    }

    /// The number of the last chunk; 0 before the first.
    #[must_use]
    pub fn last(&self) -> u32 {
        self.last.unwrap_or_default()
    }

    /// Takes the number of the next chunk.
    ///
    /// # Errors
    /// Bad_SequenceNumberInvalid
    pub fn take(&mut self, next: u32) -> Result<(), ChannelError> {
        if self.last.is_some_and(|last| !self.rule.follows(last, next)) {
            return Err(ChannelError::new(
                status::BAD_SEQUENCE_NUMBER_INVALID,
                "a chunk is missing, repeated or out of order",
            ));
        }
        self.last = Some(next);
        Ok(())
    }
}

/// Gives the numbers of chunks that are sent, from the first one on each new
/// connection (OPC 10000-6 §6.7.2.4).
#[derive(Clone, Copy, Debug)]
pub struct Sequencer {
    rule: SequenceRule,
    next: u32,
}

impl Sequencer {
    /// Before the first chunk.
    #[must_use]
    pub const fn new(rule: SequenceRule) -> Self {
        let next = match rule {
            SequenceRule::Legacy => 1,
            SequenceRule::Full => 0,
        };
        Self { rule, next }
    }

    /// Begins anew by another rule; the same one changes nothing.
    pub fn set_rule(&mut self, rule: SequenceRule) {
        if self.rule != rule {
            *self = Self::new(rule);
        }
    }

    /// Goes on with another number.
    pub const fn set(&mut self, next: u32) {
        self.next = next;
    }

    /// The number of the next chunk.
    pub fn take(&mut self) -> u32 {
        let number = self.next;
        self.next = match self.rule {
            SequenceRule::Legacy if number >= WRAP_FROM => 1,
            _ => number.wrapping_add(1),
        };
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_rules() {
        let legacy = [
            (1, 2, true),
            (1, 3, false),
            (2, 2, false),
            (4_294_966_271, 4_294_966_272, true),
            (4_294_966_272, 1, true),
            (4_294_966_272, 1023, true),
            (4_294_966_272, 1024, false),
            (4_294_966_271, 1, false),
            (4_294_967_295, 0, true),
            (100, 1, false),
        ];
        for (last, next, ok) in legacy {
            assert_eq!(SequenceRule::Legacy.follows(last, next), ok, "{last} {next}");
        }
        let full =
            [(4_294_966_300, 4_294_966_301, true), (4_294_967_295, 0, true), (4_294_966_300, 1, false)];
        for (last, next, ok) in full {
            assert_eq!(SequenceRule::Full.follows(last, next), ok, "{last} {next}");
        }
    }

    #[test]
    fn what_is_sent_is_accepted_for_ever() {
        for rule in [SequenceRule::Legacy, SequenceRule::Full] {
            let mut sequencer = Sequencer { rule, next: u32::MAX - 3000 };
            let mut check = SequenceCheck::new(rule);
            for _ in 0..6000 {
                check.take(sequencer.take()).unwrap();
            }
        }
    }
}
