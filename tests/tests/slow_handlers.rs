//! Handlers that hold up their connection for more than a millisecond are logged with their node.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use uaforge_codec::{Array, DataValue, NodeId, NodeIdRef, SeededEntropy, Variant};
use uaforge_server::{
    BrowseCx, BrowseItem, Claim, Description, FollowCx, FollowItem, NodeManager, ReadCx, ReadItem, Server,
};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{ReadRequest, ReadValueId};

const SLOW: Duration = Duration::from_millis(3);

/// What was logged: level, service and node.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<BTreeSet<(Level, String, String)>>>);

#[derive(Default)]
struct Fields {
    service: String,
    node: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "service" => self.service = format!("{value:?}").trim_matches('"').to_owned(),
            "node" => self.node = format!("{value:?}"),
            _ => {}
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.0.lock().unwrap().insert((*event.metadata().level(), fields.service, fields.node));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Node 1 is answered slowly, node 2 by a future that is slow to poll, node 3 with a panic.
struct Slow;

impl NodeManager for Slow {
    fn namespaces(&self) -> Vec<Claim> {
        vec!["urn:test:slow".into()]
    }

    fn read(&self, cx: &mut ReadCx<'_, '_>, items: &[ReadItem<'_>]) {
        for item in items {
            match item.node.as_numeric() {
                Some(1) => {
                    sleep(SLOW);
                    cx.value(item, &Variant::Byte(1), cx.now().utc);
                }
                Some(2) => cx.defer(item, async {
                    sleep(SLOW);
                    DataValue::new(Variant::Byte(2))
                }),
                Some(3) => panic!("a handler fails"),
                _ => cx.value(item, &Variant::Byte(9), cx.now().utc),
            }
        }
    }

    fn browse(&self, _: &mut BrowseCx<'_, '_>, _: &[BrowseItem<'_>]) {}

    fn follow(&self, _: &mut FollowCx<'_>, _: &[FollowItem<'_>]) {}

    fn describe(&self, _: NodeIdRef<'_>, _: &mut dyn FnMut(&Description<'_>)) -> bool {
        false
    }
}

#[test]
fn a_handler_above_a_millisecond_is_logged_with_its_node() {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .manager(Slow)
        .entropy(SeededEntropy::new(1))
        .build()
        .expect("the server is built");
    let level = NodeId::numeric(0, 2267);
    server
        .on_read(&level, || {
            sleep(SLOW);
            Variant::Byte(200)
        })
        .expect("the variable is bound");
    let now = start_time();
    let mut peer = Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now);
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), || {
        let slow = |id| NodeId::numeric(2, id);
        for node in [slow(1), slow(2), slow(3), level] {
            let item = ReadValueId { node_id: node, attribute_id: 13, ..Default::default() };
            let request = ReadRequest { nodes_to_read: Array::from(vec![item]), ..Default::default() };
            peer.call(request).expect("a response");
        }
    });
    let logged = log.0.lock().unwrap().clone();
    let line = |level, service: &str, node: &str| (level, service.to_owned(), node.to_owned());
    for expected in [
        line(Level::WARN, "Read", "ns=2;i=1"),
        line(Level::WARN, "deferred", "ns=2;i=2"),
        line(Level::ERROR, "Read", "ns=2;i=3"),
        line(Level::WARN, "on_read", "i=2267"),
    ] {
        assert!(logged.contains(&expected), "{expected:?} is not in {logged:?}");
    }
}
