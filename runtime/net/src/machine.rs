//! What the driver drives: one side of one connection, without sockets and clocks.

use core::task::{Context, Poll};
use core::time::Duration;

use uaforge_codec::{Now, Ticks};

use crate::OutputBuffer;

/// How long a driver waits for its peer; then the connection is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// A peer that takes nothing of what waits for it.
    pub write: Duration,
    /// The last bytes of a closed connection.
    pub flush: Duration,
    /// A closed connection waits for the peer to close too. A socket that is dropped with unread bytes is
    /// reset, and the peer may then never see the last message, such as an ERR.
    pub linger: Duration,
    /// Without traffic for this long a connection gives its buffers back.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            write: Duration::from_secs(30),
            flush: Duration::from_secs(5),
            linger: Duration::from_millis(500),
            idle: Duration::from_secs(5),
        }
    }
}

/// One side of a connection. Bytes and time go in; bytes and the next deadline come out.
pub trait Machine {
    /// Handles arrived bytes and returns how many were consumed. Everything that is complete is
    /// handled and answered into the output, unless the turn's bound is reached.
    fn receive(&mut self, input: &[u8], now: Now) -> usize;

    /// The bytes to send; the driver writes and drains them.
    fn output(&mut self) -> &mut OutputBuffer;

    /// Whether more bytes are welcome; reading pauses otherwise (slow reader).
    fn wants_read(&self) -> bool;

    /// Whether the turn's bound was reached: `receive` and `poll_work` are called again after other tasks had
    /// their turn. Not while nothing can go on because the output is full: then the peer is waited for.
    fn has_more(&self) -> bool;

    /// When [`Machine::on_deadline`] is due.
    fn deadline(&self) -> Option<Ticks>;

    /// The deadline has come.
    fn on_deadline(&mut self, now: Now);

    /// Late responses and commands; ready if something was done.
    fn poll_work(&mut self, cx: &mut Context<'_>, now: &dyn Fn() -> Now) -> Poll<()>;

    /// The peer sends no more.
    fn on_eof(&mut self, now: Now);

    /// Whether to close once the output is flushed.
    fn is_closed(&self) -> bool;

    /// How long the driver waits for the peer.
    fn timeouts(&self) -> Timeouts {
        Timeouts::default()
    }

    /// Nothing happened for a while: give buffers back.
    fn on_idle(&mut self) {}
}

/// A machine that its owner keeps when the connection is over.
impl<M: Machine> Machine for &mut M {
    fn receive(&mut self, input: &[u8], now: Now) -> usize {
        M::receive(self, input, now)
    }

    fn output(&mut self) -> &mut OutputBuffer {
        M::output(self)
    }

    fn wants_read(&self) -> bool {
        M::wants_read(self)
    }

    fn has_more(&self) -> bool {
        M::has_more(self)
    }

    fn deadline(&self) -> Option<Ticks> {
        M::deadline(self)
    }

    fn on_deadline(&mut self, now: Now) {
        M::on_deadline(self, now);
    }

    fn poll_work(&mut self, cx: &mut Context<'_>, now: &dyn Fn() -> Now) -> Poll<()> {
        M::poll_work(self, cx, now)
    }

    fn on_eof(&mut self, now: Now) {
        M::on_eof(self, now);
    }

    fn is_closed(&self) -> bool {
        M::is_closed(self)
    }

    fn timeouts(&self) -> Timeouts {
        M::timeouts(self)
    }

    fn on_idle(&mut self) {
        M::on_idle(self);
    }
}
