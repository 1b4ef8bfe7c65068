//! Memory of connections that hold unfinished messages (case 031, step 5).

use std::alloc::System;
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use uaforge_codec::SeededEntropy;
use uaforge_server::{Limits, Server};
use uaforge_tests::peer::start_time;
use uaforge_tests::raw::Raw;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn live() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

/// Memory held for one unfinished message never exceeds the largest message (OPC 10000-6 §7.1.2.4
/// MaxMessageSize), and is free again once the message has taken too long.
#[test]
fn unfinished_messages_hold_no_more_than_the_limit() {
    const LIMIT: usize = 1 << 20;
    const CONNECTIONS: usize = 40;
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(7))
        .limits(Limits { max_message_size: LIMIT as u32, max_chunk_count: 200, ..Limits::default() })
        .build()
        .expect("the server is built");
    let base = live();
    let mut silent = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut raw = Raw::connect(server.connection(start_time()), start_time());
        // The last chunk is just beyond a power of two of the first one.
        for _ in 0..LIMIT / 8000 {
            assert_eq!(raw.send("MSGC", 2, &[0; 8000]), []);
        }
        silent.push(raw);
    }
    let held = live() - base;
    assert!(held <= CONNECTIONS * LIMIT / 10 * 11, "{held} bytes are held");
    for raw in &mut silent {
        let answer = raw.pass(Duration::from_secs(60));
        raw.assert_refused(&answer, &[uaforge_types::status::BAD_TIMEOUT]);
    }
    drop(silent);
    let left = live().saturating_sub(base);
    assert!(left <= 64 << 10, "{left} bytes are left");
}
