//! Events from `Server::emit` to the streams of a client, over a socket.

use std::future::Future;
use std::time::Duration;

use uaforge_client::{Client, EventQuery, Events, Session};
use uaforge_codec::{NodeId, Variant};
use uaforge_server::{Event, Server};
use uaforge_types::{EventFilterResult, status};

const SERVER: NodeId = NodeId::numeric(0, 2253);
const DEVICE_FAILURE: NodeId = NodeId::numeric(0, 2131);
const PROGRESS: NodeId = NodeId::numeric(0, 11436);

fn with_server<F: Future<Output = ()>>(client: impl FnOnce(Server, Session) -> F) {
    let server = Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().model(uaforge_ns0::model());
    let server = server.build().expect("a server");
    let url = server.endpoints().first().cloned().expect("an endpoint");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    runtime.block_on(async {
        let running = tokio::spawn({
            let server = server.clone();
            async move { server.run_until(stopped).await }
        });
        let session = Client::builder().insecure().connect(&url).await.expect("connected");
        client(server, session.clone()).await;
        session.close().await;
        drop(stop);
        running.await.expect("the server does not panic").expect("the server runs");
    });
}

async fn next(events: &mut Events) -> Vec<Variant> {
    let event = tokio::time::timeout(Duration::from_secs(10), events.next()).await.expect("in time");
    event.expect("an event").expect("no end").fields
}

#[test]
fn a_client_hears_what_the_server_emits() {
    with_server(|server, session| async move {
        let subscription = session.subscribe().await.expect("a subscription");
        let query = EventQuery::new().field("Severity").field("Nonsense").of_type(&PROGRESS);
        let mut progress = subscription.events(&SERVER, query).await.expect("a stream");
        let query = EventQuery::new().field("EventId").field("EventType");
        let mut all = subscription.events(&SERVER, query).await.expect("a stream");
        let told = progress.info().filter_result.downcast_ref::<EventFilterResult>().cloned();
        assert_eq!(told.expect("a result").select_clause_results[1], status::BAD_NODE_ID_UNKNOWN);
        assert!(all.info().filter_result.is_null());

        let failure = server.emit(Event::new(DEVICE_FAILURE)).expect("it is emitted");
        let half = server.emit(Event::new(PROGRESS).severity(7)).expect("it is emitted");
        for (id, event_type) in [(failure, DEVICE_FAILURE), (half, PROGRESS)] {
            assert_eq!(next(&mut all).await, [Variant::ByteString(id), Variant::NodeId(event_type)]);
        }
        assert_eq!(next(&mut progress).await, [Variant::UInt16(7), Variant::Null]);
    });
}
