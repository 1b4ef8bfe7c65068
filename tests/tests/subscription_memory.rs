//! What sessions, subscriptions and monitored items hold, and how fast they go.

use std::alloc::System;
use std::time::{Duration, Instant};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use uaforge_codec::{Array, NodeId, SeededEntropy};
use uaforge_net::Machine as _;
use uaforge_server::{Connection, Limits, Server};
use uaforge_tests::nodes::{item, scalar, variable};
use uaforge_tests::peer::start_time;
use uaforge_tests::raw::Raw;
use uaforge_types::{
    ActivateSessionRequest, CloseSessionRequest, CreateMonitoredItemsRequest, CreateSessionRequest,
    CreateSubscriptionRequest, MonitoredItemCreateRequest, MonitoringMode, MonitoringParameters,
    RequestHeader,
};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn live() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

const SESSIONS: usize = 1_000;
const ITEMS: usize = 100;

/// A session with a subscription: its connection, header and the subscription's id.
fn begin(server: &Server) -> (Raw<Connection>, RequestHeader, u32) {
    let mut raw = Raw::connect(server.connection(start_time()), start_time());
    let created = raw.call(&CreateSessionRequest::default()).expect("a session");
    let header = RequestHeader { authentication_token: created.authentication_token, ..Default::default() };
    let request = ActivateSessionRequest { request_header: header.clone(), ..Default::default() };
    raw.call(&request).expect("it is activated");
    let request = CreateSubscriptionRequest {
        request_header: header.clone(),
        requested_publishing_interval: 1_000.0,
        requested_lifetime_count: 1_000,
        requested_max_keep_alive_count: 10,
        publishing_enabled: true,
        ..Default::default()
    };
    let id = raw.call(&request).expect("a subscription").subscription_id;
    (raw, header, id)
}

#[test]
fn a_thousand_sessions_with_a_hundred_items() {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(7))
        .limits(Limits { max_sessions: 2_000, ..Limits::default() })
        .build()
        .expect("the server is built");
    let nodes: Vec<NodeId> = (1..=ITEMS as u32)
        .map(|number| variable(&server, number, scalar(11), f64::from(number)).id().clone())
        .collect();
    let base = live();
    let mut clients: Vec<_> = (0..SESSIONS).map(|_| begin(&server)).collect();
    let per_session = (live() - base) / SESSIONS;
    println!("{per_session} bytes per session with a subscription");
    assert!(per_session <= 40 * 1024, "{per_session} bytes per session");
    let base = live();
    for (raw, header, id) in &mut clients {
        let items: Vec<_> = nodes
            .iter()
            .map(|node| MonitoredItemCreateRequest {
                item_to_monitor: item(node, 13),
                monitoring_mode: MonitoringMode::REPORTING,
                requested_parameters: MonitoringParameters {
                    sampling_interval: 1_000.0,
                    queue_size: 1,
                    ..Default::default()
                },
            })
            .collect();
        let request = CreateMonitoredItemsRequest {
            request_header: header.clone(),
            subscription_id: *id,
            items_to_create: Array::from(items),
            ..Default::default()
        };
        raw.call(&request).expect("items");
        raw.machine.on_idle();
    }
    let per_item = (live() - base) / (SESSIONS * ITEMS);
    println!("{per_item} bytes per item");
    assert!(per_item <= 600, "{per_item} bytes per item");
    // All of them close at once.
    let begun = Instant::now();
    for (raw, header, _) in &mut clients {
        let request = CloseSessionRequest { request_header: header.clone(), delete_subscriptions: true };
        raw.call(&request).expect("it is closed");
    }
    let took = begun.elapsed();
    println!("{took:?} for closing {SESSIONS} sessions");
    assert!(took < Duration::from_secs(1), "{took:?}");
    drop(clients);
    let left = live().saturating_sub(base);
    assert!(left < 4 << 20, "{left} bytes are left");
    assert_eq!(server.session_count(), 0);
}
