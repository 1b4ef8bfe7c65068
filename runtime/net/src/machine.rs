//! What the driver drives: one side of one connection, without sockets and clocks.

use core::task::{Context, Poll};

use uaforge_codec::{Now, Ticks};

use crate::OutputBuffer;

/// One side of a connection. Bytes and time go in; bytes and the next deadline come out.
pub trait Machine {
    /// Handles arrived bytes and returns how many were consumed. Everything that is complete is
    /// handled and answered into the output, unless the turn's bound is reached.
    fn receive(&mut self, input: &[u8], now: Now) -> usize;

    /// The bytes to send; the driver writes and drains them.
    fn output(&mut self) -> &mut OutputBuffer;

    /// Whether more bytes are welcome; reading pauses otherwise (slow reader).
    fn wants_read(&self) -> bool;

    /// Whether the turn's bound was reached: `receive` is called again with what is left after other
    /// tasks had their turn.
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

    /// Nothing happened for a while: give buffers back.
    fn on_idle(&mut self) {}
}
