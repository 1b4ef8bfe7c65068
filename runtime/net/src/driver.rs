//! Drives one machine with one socket: read, handle everything, write once.

use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::io;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;
use uaforge_codec::{Now, Ticks};

use crate::clock::{clock, instant};
use crate::{Machine, Stream, Timeouts};

/// Size of the read buffer of a busy connection; the largest chunk a machine may accept.
const READ_BUFFER: usize = 64 * 1024;
/// Size of the first read buffer. A connection that only says hello and keeps itself alive needs no more: memory that
/// was taken once between that of other connections seldom goes back to the system.
const SMALL_READ_BUFFER: usize = 4 * 1024;
/// Rounds of work, write and read before other tasks have their turn.
const ROUNDS: usize = 64;

/// Runs a machine until it is closed and its output is flushed, or the socket fails.
///
/// The future is one task's work: it never waits for anything but its socket, its deadline and the
/// machine's own work, and yields when the machine's turn is over.
///
/// # Errors
/// The socket failed, or the machine does not take what is a full buffer.
pub fn drive<M: Machine>(stream: Stream, machine: M) -> impl Future<Output = io::Result<()>> {
    run(stream.0, machine)
}

/// [`drive`] over any kind of stream.
///
/// No `async fn`: the machine would stand in its future as argument and as part of the driver.
pub(crate) fn run<S: Socket, M: Machine>(stream: S, machine: M) -> impl Future<Output = io::Result<()>> {
    let mut driver = Driver {
        stream,
        timeouts: machine.timeouts(),
        machine,
        input: Box::default(),
        start: 0,
        end: 0,
        eof: false,
        idle_at: None,
        stalled: None,
        closing: None,
        armed: None,
        sleep: Box::pin(tokio::time::sleep(Duration::ZERO)),
    };
    poll_fn(move |cx| driver.poll(cx))
}

/// What a driver needs of a stream.
pub(crate) trait Socket: AsyncRead + AsyncWrite + Unpin {
    /// Whether a read would not wait, known without a buffer to read into.
    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

impl Socket for TcpStream {
    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_read_ready(cx)
    }
}

/// How far a closed connection has come; each step has its time.
#[derive(Clone, Copy)]
enum Closing {
    Flush { until: Ticks },
    Linger { until: Ticks },
}

struct Driver<S, M> {
    stream: S,
    machine: M,
    timeouts: Timeouts,
    /// The read buffer, empty while the connection is idle.
    input: Box<[u8]>,
    /// Bytes before this are consumed.
    start: usize,
    /// Bytes before this have arrived.
    end: usize,
    eof: bool,
    idle_at: Option<Ticks>,
    /// Since when the peer takes nothing of the output.
    stalled: Option<Ticks>,
    closing: Option<Closing>,
    /// What `sleep` is set to.
    armed: Option<Ticks>,
    sleep: Pin<Box<Sleep>>,
}

impl<S: Socket, M: Machine> Driver<S, M> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.machine.has_more() {
            self.handle(clock());
        }
        for _ in 0..ROUNDS {
            let mut progress = self.closing.is_none() && self.machine.poll_work(cx, &clock).is_ready();
            if self.machine.is_closed() {
                return self.close(cx);
            }
            progress |= self.write(cx)?;
            if self.machine.has_more() {
                // Others first; the rest waits.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            progress |= self.read(cx)?;
            progress |= self.time(cx)?;
            if !progress {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Reads once and handles everything that came.
    fn read(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        if self.eof || self.machine.is_closed() || !self.machine.wants_read() {
            return Ok(false);
        }
        // Input may have waited for the machine to want it.
        if self.start < self.end && self.handle(clock()) {
            return Ok(true);
        }
        if self.input.is_empty() {
            match self.stream.poll_readable(cx) {
                Poll::Pending => return Ok(false),
                Poll::Ready(ready) => ready?,
            }
            self.input = vec![0; SMALL_READ_BUFFER].into_boxed_slice();
        }
        let mut arrived = 0;
        loop {
            self.make_room();
            let mut buffer = ReadBuf::new(self.input.get_mut(self.end..).unwrap_or_default());
            if buffer.capacity() == 0 {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "a chunk is larger than the read buffer",
                ));
            }
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Pending if arrived == 0 => return Ok(false),
                Poll::Pending => break,
                Poll::Ready(result) => result?,
            }
            let count = buffer.filled().len();
            self.end += count;
            arrived += count;
            self.eof = count == 0;
            // A small buffer that is full may not hold all that came; it is handled as one.
            if self.eof || self.end < self.input.len() || self.input.len() == READ_BUFFER {
                break;
            }
        }
        let now = clock();
        self.idle_at = Some(now.ticks + self.timeouts.idle);
        if arrived > 0 {
            self.handle(now);
        }
        if self.eof {
            self.machine.on_eof(now);
        }
        Ok(true)
    }

    /// Moves what waits to the front. A small buffer that is full then becomes a large one.
    fn make_room(&mut self) {
        self.input.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.input.len() && self.end < READ_BUFFER {
            let mut larger = vec![0; READ_BUFFER].into_boxed_slice();
            if let Some(front) = larger.get_mut(..self.end) {
                front.copy_from_slice(&self.input);
            }
            self.input = larger;
        }
    }

    /// Gives the machine what has arrived; whether it took something.
    fn handle(&mut self, now: Now) -> bool {
        let input = self.input.get(self.start..self.end).unwrap_or_default();
        let taken = self.machine.receive(input, now).min(input.len());
        self.start += taken;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
        taken > 0
    }

    /// Writes what there is; whether something was written.
    fn write(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        let mut progress = false;
        while !self.machine.output().is_empty() {
            let unsent = self.machine.output().unsent();
            match Pin::new(&mut self.stream).poll_write(cx, unsent) {
                Poll::Pending => {
                    self.stalled.get_or_insert_with(|| clock().ticks);
                    return Ok(progress);
                }
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(count) => self.machine.output().advance(count?),
            }
            self.stalled = None;
            progress = true;
        }
        Ok(progress)
    }

    /// When a peer that does not read is given up.
    fn give_up_at(&self) -> Option<Ticks> {
        self.stalled.map(|since| since + self.timeouts.write)
    }

    /// Looks at the deadlines and the idle time; whether one of them came.
    fn time(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        let due = [self.machine.deadline(), self.idle_at, self.give_up_at()].into_iter().flatten().min();
        let Some(instant) = due.and_then(instant) else {
            return Ok(false);
        };
        // A deadline that moved away is looked at again when the old one comes: no timer is set per read.
        if self.armed.is_none_or(|armed| Some(armed) > due) {
            self.sleep.as_mut().reset(instant);
            self.armed = due;
        }
        if self.sleep.as_mut().poll(cx).is_pending() {
            return Ok(false);
        }
        self.armed = None;
        let now = clock();
        if self.give_up_at().is_some_and(|at| at <= now.ticks) {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read"));
        }
        if self.idle_at.is_some_and(|idle| idle <= now.ticks) {
            self.idle_at = None;
            self.give_back();
        }
        if self.machine.deadline().is_some_and(|deadline| deadline <= now.ticks) {
            self.machine.on_deadline(now);
        }
        Ok(true)
    }

    fn give_back(&mut self) {
        if self.start == self.end {
            self.input = Box::default();
        }
        self.machine.output().release();
        self.machine.on_idle();
    }

    /// Flushes, says that nothing more will come, and waits a little for the peer to say the same.
    fn close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            match self.closing {
                None => self.closing = Some(Closing::Flush { until: clock().ticks + self.timeouts.flush }),
                Some(Closing::Flush { until }) => {
                    self.write(cx)?;
                    if !self.machine.output().is_empty() {
                        return self.wait(until, cx);
                    }
                    // The peer may be gone already; the connection ends either way.
                    let ended = ready!(Pin::new(&mut self.stream).poll_shutdown(cx));
                    if ended.is_err() || self.eof {
                        return Poll::Ready(Ok(()));
                    }
                    self.closing = Some(Closing::Linger { until: clock().ticks + self.timeouts.linger });
                }
                Some(Closing::Linger { until }) => match self.discard(cx) {
                    Poll::Ready(()) => return Poll::Ready(Ok(())),
                    Poll::Pending => return self.wait(until, cx),
                },
            }
        }
    }

    /// Reads until the peer's end.
    fn discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; 1024];
        loop {
            let mut buffer = ReadBuf::new(&mut bytes);
            match ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                _ => return Poll::Ready(()),
            }
        }
    }

    /// Ready when a closed connection has taken too long.
    fn wait(&mut self, until: Ticks, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.armed != Some(until)
            && let Some(instant) = instant(until)
        {
            self.sleep.as_mut().reset(instant);
            self.armed = Some(until);
        }
        self.sleep.as_mut().poll(cx).map(Ok)
    }
}

#[cfg(test)]
mod tests;
