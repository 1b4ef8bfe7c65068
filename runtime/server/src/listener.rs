//! Accepts connections and drives one machine per connection.

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

use crate::proto::connection::Connection;
use crate::proto::orphans::Home;
use crate::shared::Core;

/// Pause after a failed accept, such as one for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How often at least the session table is swept.
const SWEEP: Duration = Duration::from_secs(1);

type Accepted = (Listener, io::Result<(Stream, SocketAddr)>);

/// Serves until `stop` is ready, then closes everything within the stop deadline.
pub(crate) async fn run(
    core: &Arc<Core>,
    listeners: Vec<Listener>,
    stop: impl Future,
    stopping: impl FnOnce(),
) {
    let mut connections = JoinSet::new();
    let mut accepting = JoinSet::new();
    for listener in listeners {
        accepting.spawn(accept(listener));
    }
    let mut home = JoinSet::new();
    home.spawn(house(Arc::clone(core)));
    let mut polls = JoinSet::new();
    let polled = Arc::clone(core);
    polls.spawn(async move { polled.polls.run(&polled.blocking).await });
    let mut stop = pin!(stop);
    let mut next_sweep = uaforge_net::clock().ticks + SWEEP;
    loop {
        tokio::select! {
            _ = &mut stop => break,
            Some(Ok((listener, accepted))) = accepting.join_next() => {
                accepting.spawn(accept(listener));
                if let Ok((stream, _)) = accepted {
                    serve(core, &mut connections, stream);
                }
            }
            Some(_) = connections.join_next() => {}
            () = uaforge_net::sleep_until(next_sweep) => next_sweep = sweep(core),
        }
    }
    accepting.abort_all();
    polls.abort_all();
    stopping();
    close(core, connections, home).await;
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

/// Starts the task of a connection. One too many takes the place of the oldest that nobody uses
/// (OPC 10000-4 §5.6.2.1), or is closed at once.
fn serve(core: &Arc<Core>, connections: &mut JoinSet<()>, stream: Stream) {
    let (open, limit) = (connections.len(), core.limits.max_connections);
    // Those whose places were taken may be closing still.
    let ending = limit / 2 + 64;
    if open >= limit && !(open < limit.saturating_add(ending) && core.mailboxes.close_unused()) {
        return;
    }
    let machine = Connection::new(Arc::clone(core), uaforge_net::clock());
    connections.spawn(async move {
        // However a connection ends, it ends alone.
        let _ = uaforge_net::drive(stream, machine).await;
    });
}

/// Ends sessions whose time is over; when to look again.
fn sweep(core: &Core) -> Ticks {
    let now = uaforge_net::clock().ticks;
    core.sessions.sweep(now);
    now + SWEEP
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

/// Asks all connections to close and waits for them, then for the handlers that work on, but not for ever.
async fn close(core: &Core, mut connections: JoinSet<()>, mut home: JoinSet<()>) {
    let (now, limit) = (uaforge_net::clock().ticks, core.limits.stop_deadline);
    let deadline = now + limit;
    // The rest is for what the clients are told and for handlers that end.
    core.mailboxes.close_all(now + limit * 4 / 5);
    let mut timeout = pin!(uaforge_net::sleep_until(deadline));
    loop {
        tokio::select! {
            joined = connections.join_next() => {
                if joined.is_none() {
                    break;
                }
            }
            () = &mut timeout => break connections.shutdown().await,
        }
    }
    core.orphans.stop();
    tokio::select! {
        _ = home.join_next() => {}
        () = uaforge_net::sleep_until(deadline) => {}
    }
}
