//! What waits to be sent on all connections together, within a limit.
//!
//! A connection stops reading requests when enough waits for its client; what one large response adds
//! beyond that is counted here, so that very many clients that do not read cost no more than the limit.

use std::sync::atomic::{AtomicUsize, Ordering};

use uaforge_codec::Ticks;
use uaforge_net::OutputBuffer;

use super::mailbox::Mailbox;
use crate::shared::Core;

/// Bytes that wait on all connections, but for the first of each.
#[derive(Debug, Default)]
pub(crate) struct Unsent(AtomicUsize);

/// The part of one connection.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    noted: usize,
    /// When the client last took something.
    since: Ticks,
}

impl Backlog {
    /// Counts what waits now. If that is too much, connections are asked to end, this one perhaps.
    #[inline]
    pub(crate) fn note(
        &mut self,
        output: &OutputBuffer,
        core: &Core,
        mailbox: &Mailbox,
        now: impl FnOnce() -> Ticks,
    ) {
        let bytes = output.len().saturating_sub(OutputBuffer::HIGH_WATER);
        if bytes != self.noted {
            self.change(bytes, core, mailbox, now());
        }
    }

    #[inline(never)]
    fn change(&mut self, bytes: usize, core: &Core, mailbox: &Mailbox, now: Ticks) {
        if self.noted == 0 || bytes < self.noted {
            self.since = now;
        }
        mailbox.note_backlog(bytes, self.since);
        let total = &core.unsent.0;
        if bytes < self.noted {
            total.fetch_sub(self.noted - bytes, Ordering::Relaxed);
        } else {
            let added = bytes - self.noted;
            let limit = core.limits.output_memory;
            if total.fetch_add(added, Ordering::Relaxed).saturating_add(added) > limit {
                core.mailboxes.relieve(limit);
            }
        }
        self.noted = bytes;
    }

    /// Nothing waits any more, because the connection ends.
    pub(crate) fn clear(&mut self, core: &Core) {
        core.unsent.0.fetch_sub(core::mem::take(&mut self.noted), Ordering::Relaxed);
    }
}
