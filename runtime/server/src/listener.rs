//! Accepts connections, drives one machine per connection, and ends in order.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::task::JoinSet;
use uaforge_codec::Ticks;
use uaforge_net::{Listener, Stream};

use crate::life::Phase;
use crate::proto::connection::Connection;
use crate::proto::orphans::Home;
use crate::shared::Core;
use crate::subscription;

/// Pause after a failed accept, such as one for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How often at least the session table is swept, and clients are told how long it is till the stop.
const SWEEP: Duration = Duration::from_secs(1);

type Accepted = (Listener, io::Result<(Stream, SocketAddr)>);

/// The tasks of a running server.
struct Running<'r> {
    core: &'r Arc<Core>,
    connections: JoinSet<()>,
    /// The handlers whose request is over.
    home: JoinSet<()>,
    /// Who asks for values, and who publishes them.
    polls: JoinSet<()>,
    next_sweep: Ticks,
}

/// Serves until `stop` is ready, then ends in order: clients are told for a while, and then everything is
/// closed within the stop deadline. `announce` shows in how many seconds.
pub(crate) async fn run(
    core: &Arc<Core>,
    listeners: Vec<Listener>,
    stop: impl Future,
    announce: impl Fn(u32),
) {
    let mut home = JoinSet::new();
    home.spawn(house(Arc::clone(core)));
    let mut polls = JoinSet::new();
    let polled = Arc::clone(core);
    polls.spawn(async move { polled.polls.run(&polled.blocking).await });
    polls.spawn(subscription::drive(Arc::clone(core)));
    let next_sweep = uaforge_net::clock().ticks + SWEEP;
    let mut running = Running { core, connections: JoinSet::new(), home, polls, next_sweep };
    core.life.set(Phase::Serving);
    running.serve(listeners, stop).await;
    core.life.set(Phase::Stopping);
    running.tell(announce).await;
    running.close().await;
}

impl Running<'_> {
    async fn serve(&mut self, listeners: Vec<Listener>, stop: impl Future) {
        let mut accepting = JoinSet::new();
        for listener in listeners {
            accepting.spawn(accept(listener));
        }
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                _ = &mut stop => return,
                Some(Ok((listener, accepted))) = accepting.join_next() => {
                    accepting.spawn(accept(listener));
                    if let Ok((stream, address)) = accepted {
                        self.take(stream, address);
                    }
                }
                Some(_) = self.connections.join_next() => {}
                () = uaforge_net::sleep_until(self.next_sweep) => self.sweep(),
            }
        }
    }

    /// Starts the task of a connection. One too many takes the place of the oldest that nobody uses
    /// (OPC 10000-4 §5.6.2.1), or is told that there is no room.
    fn take(&mut self, stream: Stream, address: SocketAddr) {
        let limits = &self.core.limits;
        // Those whose places were taken, and those that are refused, take a while to close.
        let ending = limits.max_connections / 2 + 64;
        if self.connections.len() >= limits.max_connections.saturating_add(ending) {
            return;
        }
        let address = address.ip().to_canonical();
        let has_room = self.core.mailboxes.make_room(limits, address);
        let machine = Connection::new(Arc::clone(self.core), Some(address), uaforge_net::clock());
        if !has_room {
            machine.refuse();
        }
        // Boxed, as a task would hold it twice: as what it was given and as what it waits for.
        let driven = Box::pin(uaforge_net::drive(stream, machine));
        self.connections.spawn(async move {
            // However a connection ends, it ends alone.
            let _ = driven.await;
        });
    }

    /// Ends sessions whose time is over, and helps a pool that hangs.
    fn sweep(&mut self) {
        let now = uaforge_net::clock();
        self.core.sessions.sweep(now.ticks);
        self.core.blocking.relieve();
        if let Some(is_trusted) = self.core.secured().recheck() {
            self.core.mailboxes.close_untrusted(|peer| is_trusted(peer, now));
        }
        self.next_sweep = now.ticks + SWEEP;
    }

    /// Tells clients of the stop for the shutdown delay, or until there is no session left.
    async fn tell(&mut self, announce: impl Fn(u32)) {
        let limits = &self.core.limits;
        let end = uaforge_net::clock().ticks + limits.shutdown_delay;
        loop {
            let left = end.since(uaforge_net::clock().ticks);
            announce(whole_seconds(left + limits.stop_deadline));
            if left.is_zero() || self.core.sessions.len() == 0 {
                return;
            }
            let pause = left.min(SWEEP);
            let mut timer = pin!(uaforge_net::sleep_until(uaforge_net::clock().ticks + pause));
            loop {
                tokio::select! {
                    Some(_) = self.connections.join_next() => {}
                    () = &mut timer => break,
                }
            }
            self.sweep();
        }
    }

    /// Asks all connections to close and waits for them, then for the handlers that work on, but not for
    /// ever.
    async fn close(mut self) {
        let (now, limit) = (uaforge_net::clock().ticks, self.core.limits.stop_deadline);
        let deadline = now + limit;
        self.polls.abort_all();
        // The rest is for what the clients are told and for handlers that end.
        self.core.mailboxes.close_all(now + limit * 4 / 5);
        let mut timeout = pin!(uaforge_net::sleep_until(deadline));
        loop {
            tokio::select! {
                joined = self.connections.join_next() => {
                    if joined.is_none() {
                        break;
                    }
                }
                () = &mut timeout => break self.connections.shutdown().await,
            }
        }
        self.core.orphans.stop();
        tokio::select! {
            _ = self.home.join_next() => {}
            () = uaforge_net::sleep_until(deadline) => {}
        }
    }
}

fn whole_seconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX)
}

/// One accept; a failure waits a little, so that a lasting one does not spin.
async fn accept(mut listener: Listener) -> Accepted {
    let accepted = listener.accept().await;
    // A peer that is gone before it was served is no reason to keep others waiting.
    if accepted.as_ref().is_err_and(|error| !is_of_peer(error)) {
        uaforge_net::sleep_until(uaforge_net::clock().ticks + ACCEPT_PAUSE).await;
    }
    (listener, accepted)
}

/// Whether an accept failed because of one peer, not because of this machine.
fn is_of_peer(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}

/// Lets handlers end their work whose request is over.
async fn house(core: Arc<Core>) {
    let mut home = Home::new(&core.orphans, core.limits.handler_grace);
    while !home.is_over() {
        let due = home.deadline();
        let mut timer = pin!(uaforge_net::sleep_until(due));
        poll_fn(|cx| {
            let polled = home.poll(cx, uaforge_net::clock().ticks);
            if polled.is_ready() || home.deadline() != due {
                Poll::Ready(())
            } else {
                timer.as_mut().poll(cx)
            }
        })
        .await;
        tokio::task::yield_now().await;
    }
}
