//! Case 038: a client over the loss of its connection (OPC 10000-4 §6.7), through a relay that the test holds in its
//! hands.

use std::future::Future;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use uaforge_client::{
    Client, ClientBuilder, ConnectionState, Reconnect, Samples, Session, SubscriptionStatus, WatchItem,
};
use uaforge_codec::{NodeId, StatusCode, Variant};
use uaforge_nodes::{ClassAttributes, NewNode, VariableAttributes};
use uaforge_server::{Server, VariableHandle};
use uaforge_tests::relay::{Relay, Way};
use uaforge_types::status;

const SECOND: Duration = Duration::from_secs(1);

/// A server that runs; its variables are of the second of these namespaces.
struct Running {
    server: Server,
    value: VariableHandle,
    stop: oneshot::Sender<()>,
    ended: tokio::task::JoinHandle<()>,
}

const PLANT: &str = "urn:test:plant";

impl Running {
    fn start(namespaces: &[&str]) -> Self {
        let builder =
            Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().model(uaforge_ns0::model());
        let builder = namespaces.iter().fold(builder, |builder, uri| builder.namespace(*uri));
        let server = builder.build().expect("a server");
        let index = server.space().namespaces().index_of(PLANT).expect("the namespace");
        let id = NodeId::string(index, "value");
        let attributes = VariableAttributes {
            data_type: NodeId::numeric(0, 6),
            access_level: 3,
            ..VariableAttributes::default()
        };
        let name = uaforge_codec::QualifiedName::new(index, "value");
        let added: Result<(), StatusCode> = server.space().edit(|edit| {
            edit.add_node(NewNode::new(id.clone(), name, ClassAttributes::Variable(attributes)))?;
            edit.add_reference(&NodeId::numeric(0, 85), &NodeId::numeric(0, 35), &id)
        });
        added.expect("a Variable");
        let value = server.variable(&id).expect("a Variable");
        value.set(0_i32);
        let (stop, stopped) = oneshot::channel::<()>();
        let ended = tokio::spawn({
            let server = server.clone();
            async move { server.run_until(stopped).await.expect("it runs") }
        });
        Self { server, value, stop, ended }
    }

    fn address(&self) -> SocketAddr {
        self.server.local_addr().expect("an address")
    }

    async fn stop(self) {
        drop(self.stop);
        self.ended.await.expect("no panic");
    }
}

fn client() -> ClientBuilder {
    let policy =
        Reconnect::default().first_wait(Duration::from_millis(20)).longest_wait(Duration::from_millis(200));
    Client::builder().insecure().reconnect(policy).connect_timeout(SECOND)
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(60), test).await.expect("it ends in time");
    });
}

async fn until(session: &Session, wanted: impl Fn(&ConnectionState) -> bool) {
    let mut changes = session.connection_changes();
    let found = tokio::time::timeout(20 * SECOND, changes.wait_for(|state| wanted(state))).await;
    assert!(matches!(found, Ok(Ok(_))), "{:?}", session.connection_state());
}

async fn until_connected(session: &Session) {
    until(session, |state| matches!(state, ConnectionState::Connected)).await;
}

async fn until_lost(session: &Session) {
    until(session, |state| matches!(state, ConnectionState::Reconnecting { .. })).await;
}

/// The values that come, up to this one.
async fn values_until(samples: &mut Samples, last: i32) -> Vec<i32> {
    let mut values = Vec::new();
    while values.last() != Some(&last) {
        let change = tokio::time::timeout(20 * SECOND, samples.next()).await.expect("in time");
        match change.expect("no end").expect("a value").value.into_value() {
            Variant::Int32(value) => values.push(value),
            other => panic!("{other:?}"),
        }
    }
    values
}

/// What a client has in the cases: a subscription with one item.
struct Watching {
    session: Session,
    subscription: uaforge_client::Subscription,
    samples: Samples,
}

impl Watching {
    async fn over(relay: &Relay, running: &Running, client: ClientBuilder) -> Self {
        let session = client.connect(&relay.url()).await.expect("connected");
        let interval = Duration::from_millis(50);
        let subscription = session.subscribe().publishing_interval(interval).await.expect("a subscription");
        let item = WatchItem::value(running.value.id()).sampling_interval(Duration::ZERO).queue_size(100);
        let mut samples = subscription.watch(item).await.expect("an item");
        assert_eq!(values_until(&mut samples, 0).await, [0]);
        Self { session, subscription, samples }
    }

    fn is_active(&self) -> bool {
        matches!(self.subscription.status(), SubscriptionStatus::Active)
    }
}

/// Step 1: the same session and the same subscription, and no value is lost.
#[test]
fn a_cut_connection_is_made_anew() {
    run(async {
        let running = Running::start(&[PLANT]);
        let relay = Relay::to(running.address()).await;
        let mut watching = Watching::over(&relay, &running, client()).await;
        for round in 1..=3 {
            relay.set(Way::Closed);
            until_lost(&watching.session).await;
            running.value.set(2 * round - 1);
            let failed =
                watching.session.read(vec![running.value.id().clone()]).await.expect_err("no connection");
            assert_eq!(failed.status(), status::BAD_CONNECTION_CLOSED);
            running.value.set(2 * round);
            relay.set(Way::Open);
            until_connected(&watching.session).await;
            assert_eq!(values_until(&mut watching.samples, 2 * round).await, [2 * round - 1, 2 * round]);
        }
        assert_eq!(running.server.session_count(), 1);
        let read = watching.session.read(vec![running.value.id().clone()]).await.expect("a value");
        assert_eq!((read.len(), watching.is_active()), (1, true));
        watching.session.close().await;
        running.stop().await;
    });
}

/// Step 2: silence is noticed by the keep-alive.
#[test]
fn a_silent_network_is_noticed() {
    run(async {
        let running = Running::start(&[PLANT]);
        let relay = Relay::to(running.address()).await;
        let quick = client().keep_alive(SECOND / 2).request_timeout(SECOND / 2);
        let mut watching = Watching::over(&relay, &running, quick).await;
        relay.set(Way::Silent);
        running.value.set(1);
        until_lost(&watching.session).await;
        running.value.set(2);
        relay.set(Way::Open);
        until_connected(&watching.session).await;
        assert_eq!(values_until(&mut watching.samples, 2).await, [1, 2]);
        watching.session.close().await;
        running.stop().await;
    });
}

/// Steps 3, 4 and 6: a server that knows nothing of before, with other namespace indexes.
#[test]
fn a_restarted_server_gets_everything_again() {
    run(async {
        let before = Running::start(&["urn:test:first", PLANT]);
        let relay = Relay::to(before.address()).await;
        let mut watching = Watching::over(&relay, &before, client()).await;
        let old_id = before.value.id().clone();
        relay.set(Way::Closed);
        until_lost(&watching.session).await;
        before.stop().await;
        let after = Running::start(&[PLANT, "urn:test:first"]);
        assert_ne!(*after.value.id(), old_id);
        after.value.set(7);
        relay.lead_to(after.address());
        relay.set(Way::Open);
        until_connected(&watching.session).await;
        assert_eq!(after.server.session_count(), 1);
        let change = tokio::time::timeout(20 * SECOND, watching.samples.next()).await.expect("in time");
        let change = change.expect("no end").expect("a value");
        assert_eq!(change.value.into_value(), Variant::Int32(7));
        assert!(change.missed.lost, "the user is told that values may be missing");
        after.value.set(8);
        assert_eq!(values_until(&mut watching.samples, 8).await, [8]);
        assert!(watching.is_active());
        watching.session.close().await;
        after.stop().await;
    });
}

/// Steps 7 and 8: attempts that lead nowhere get rarer, and the user can end them at any moment (step 10).
#[test]
fn waits_grow_and_close_ends_them() {
    run(async {
        for way in [Way::Closed, Way::Silent] {
            let running = Running::start(&[PLANT]);
            let relay = Relay::to(running.address()).await;
            let watching =
                Watching::over(&relay, &running, client().keep_alive(SECOND / 5).request_timeout(SECOND / 5))
                    .await;
            relay.set(way);
            until_lost(&watching.session).await;
            let before = relay.count();
            tokio::time::sleep(2 * SECOND).await;
            let attempts = relay.count() - before;
            // 20, 40, 80, 160 and then 200 ms, each shortened by up to a half.
            let most = if way == Way::Closed { 24 } else { 3 };
            assert!((1..=most).contains(&attempts), "{attempts} attempts");
            let state = watching.session.connection_state();
            assert!(matches!(state, ConnectionState::Reconnecting { failed: 1.., .. }), "{state:?}");
            let began = Instant::now();
            let mut changes = watching.session.connection_changes();
            watching.session.close().await;
            assert!(began.elapsed() < SECOND);
            let ended = changes.wait_for(|state| matches!(state, ConnectionState::Ended(_))).await;
            assert!(ended.is_ok());
            running.stop().await;
        }
    });
}

/// Dropping the last handle while there is no connection ends the attempts.
#[test]
fn nobody_comes_back_for_nobody() {
    run(async {
        let running = Running::start(&[PLANT]);
        let relay = Relay::to(running.address()).await;
        let session = client().connect(&relay.url()).await.expect("connected");
        relay.set(Way::Closed);
        until_lost(&session).await;
        let mut changes = session.connection_changes();
        drop(session);
        let ended = changes.wait_for(|state| matches!(state, ConnectionState::Ended(_)));
        assert!(tokio::time::timeout(SECOND, ended).await.expect("in time").is_ok());
        let count = relay.count();
        tokio::time::sleep(SECOND / 2).await;
        assert_eq!(relay.count(), count);
        running.stop().await;
    });
}

/// Without a policy a session ends with its connection.
#[test]
fn without_a_policy_the_session_ends() {
    run(async {
        let running = Running::start(&[PLANT]);
        let relay = Relay::to(running.address()).await;
        let session = Client::builder().insecure().connect(&relay.url()).await.expect("connected");
        relay.set(Way::Closed);
        let reason = tokio::time::timeout(5 * SECOND, session.closed()).await.expect("in time");
        assert_eq!(reason.status(), status::BAD_CONNECTION_CLOSED);
        assert!(matches!(session.connection_state(), ConnectionState::Ended(_)));
        running.stop().await;
    });
}
