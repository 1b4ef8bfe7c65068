//! Case 038: ten thousand lost connections leave nothing behind, in virtual time and without a socket.

use std::alloc::System;
use std::future::{Future, IntoFuture as _};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use uaforge_client::{Client, Connection, ConnectionState, Reconnect, Session, WatchItem};
use uaforge_codec::{NodeId, Now, SeededEntropy};
use uaforge_net::Machine;
use uaforge_server::{Server, VariableHandle};
use uaforge_tests::nodes::{scalar, variable};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const URL: &str = "opc.tcp://127.0.0.1:14840/srv";

fn live() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

/// Both ends of a connection, and the time.
struct Ends {
    server: Server,
    near: Connection,
    far: uaforge_server::Connection,
    now: Now,
}

/// Whether bytes went from one end to the other.
fn carry(from: &mut impl Machine, to: &mut impl Machine, now: Now) -> bool {
    let bytes = std::mem::take(from.output().vec());
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let count = to.receive(rest, now);
        assert!(count > 0 || to.is_closed(), "the rest is taken");
        at += count.max(1);
    }
    !bytes.is_empty()
}

impl Ends {
    /// Lets everything happen that happens at once.
    fn settle(&mut self) {
        let now = self.now;
        let mut cx = Context::from_waker(Waker::noop());
        let mut is_busy = true;
        while is_busy {
            is_busy = self.near.poll_work(&mut cx, &|| now).is_ready();
            is_busy |= self.far.poll_work(&mut cx, &|| now).is_ready();
            is_busy |= carry(&mut self.near, &mut self.far, now);
            is_busy |= carry(&mut self.far, &mut self.near, now);
        }
    }

    /// Waits for something that both ends have to do with.
    fn wait<F: Future>(&mut self, future: F) -> F::Output {
        let mut future: Pin<_> = pin!(future);
        for _ in 0..1_000 {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return output;
            }
            self.settle();
            self.now.ticks = self.now.ticks + Duration::from_millis(10);
            self.server.publish_due(self.now);
        }
        panic!("it never ends");
    }

    /// Loses the connection and comes back.
    fn come_back(&mut self, session: &Session, entropy: u64) {
        self.near.on_eof(self.now);
        self.far.on_eof(self.now);
        assert!(matches!(session.connection_state(), ConnectionState::Reconnecting { .. }));
        let wait = self.near.wait_to_reconnect().expect("it comes back");
        self.now.ticks = self.now.ticks + wait;
        self.far = self.server.connection(self.now);
        self.near.reconnect(SeededEntropy::new(entropy), self.now);
        self.settle();
        assert!(matches!(session.connection_state(), ConnectionState::Connected));
    }
}

fn value(server: &Server) -> VariableHandle {
    variable(server, 1, scalar(6), 0_i32)
}

#[test]
fn ten_thousand_lost_connections_leave_nothing_behind() {
    let server = Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().model(uaforge_ns0::model());
    let server = server.entropy(SeededEntropy::new(1)).build().expect("a server");
    let value = value(&server);
    let now = Now { ticks: server.start_time().ticks, ..uaforge_tests::peer::start_time() };
    let client = Client::builder().insecure().reconnect(Reconnect::default());
    let (near, connecting) = client.start(URL, SeededEntropy::new(2), now).expect("an address");
    let far = server.connection(now);
    let mut ends = Ends { server, near, far, now };
    let session = ends.wait(connecting).expect("a session");
    let subscription = ends.wait(session.subscribe().into_future()).expect("a subscription");
    let node: NodeId = value.id().clone();
    let mut samples = ends.wait(subscription.watch(WatchItem::value(&node))).expect("an item");
    ends.wait(samples.next()).expect("no end").expect("a value");
    let mut base = 0;
    for round in 1..=10_000 {
        ends.come_back(&session, round);
        if round == 1_000 {
            base = live();
        }
    }
    let grown = live().saturating_sub(base);
    assert!(grown <= 16 << 10, "{grown} bytes more than after a tenth of the losses");
    assert_eq!(ends.server.session_count(), 1);
    value.set(5_i32);
    let change = ends.wait(samples.next()).expect("no end").expect("a value");
    assert!(!change.missed.lost, "the subscription is the same");
}
