//! Damaged recordings of other stacks' clients close their own connection at most: no panic, bounded
//! memory, others are served.
//!
//! `UAFORGE_MUTATION_SECONDS` sets how long it runs, `UAFORGE_MUTATION_SEED` with which seed it begins.

use std::alloc::System;
use std::time::{Duration, Instant};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use uaforge_codec::{NodeId, Now, SeededEntropy, Ticks};
use uaforge_net::Machine as _;
use uaforge_server::{Connection, Limits, Server, SubscriptionLimits};
use uaforge_tests::captures::captures;
use uaforge_tests::mutator::Mutator;
use uaforge_tests::peer::start_time;
use uaforge_tests::raw::{Raw, body};
use uaforge_types::{ActivateSessionRequest, CreateSessionRequest, GetEndpointsRequest, RequestHeader};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that are allocated now, and all that ever were.
fn memory() -> (usize, usize) {
    let stats = ALLOCATOR.stats();
    (stats.bytes_allocated.saturating_sub(stats.bytes_deallocated), stats.bytes_allocated)
}

/// Says with which seed it went wrong.
struct Case(u64);

impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("reproduce with UAFORGE_MUTATION_SEED={}", self.0);
        }
    }
}

fn number<T: std::str::FromStr>(variable: &str, default: T) -> T {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What recorded clients sent, and a session of ours.
struct Material {
    frames: Vec<Vec<u8>>,
}

impl Material {
    fn pick<'m>(&'m self, mutator: &mut Mutator) -> &'m [u8] {
        &self.frames[mutator.below(self.frames.len())]
    }
}

/// Opens a channel and, mostly, a session; its token.
fn prepare(raw: &mut Raw<Connection>, mutator: &mut Mutator) -> NodeId {
    raw.hello([65_536, 8192 << mutator.below(4), 0, 0], "opc.tcp://127.0.0.1:4840/");
    raw.open(Duration::from_secs(60));
    if mutator.below(4) == 0 {
        return NodeId::NULL;
    }
    let request = CreateSessionRequest { requested_session_timeout: 1e6, ..Default::default() };
    let token = raw.call(&request).expect("a session").authentication_token;
    let request_header = RequestHeader { authentication_token: token.clone(), ..Default::default() };
    raw.call(&ActivateSessionRequest { request_header, ..Default::default() }).expect("it is activated");
    token
}

/// Puts a live session's token into a recorded request, if it has the usual form.
fn with_token(bytes: &[u8], token: &NodeId) -> Vec<u8> {
    use uaforge_codec::{
        DecodeContext, DecodeRef as _, Decoder, Encode as _, EncodeContext, Encoder, NodeIdRef,
    };
    let mut d = Decoder::new(bytes, DecodeContext::default());
    let (Ok(service), Ok(_)) = (NodeIdRef::decode_ref(&mut d), NodeIdRef::decode_ref(&mut d)) else {
        return bytes.to_vec();
    };
    let mut out = Vec::new();
    let mut e = Encoder::new(&mut out, EncodeContext::default());
    service.encode(&mut e);
    token.encode(&mut e);
    e.put(d.rest());
    out
}

/// One damaged conversation.
fn run(server: &Server, material: &Material, seed: u64) {
    let _case = Case(seed);
    let mut mutator = Mutator::new(seed);
    let mut raw = Raw::new(server.connection(start_time()), start_time());
    let is_open = mutator.below(8) != 0;
    let token = if is_open { prepare(&mut raw, &mut mutator) } else { NodeId::NULL };
    for _ in 0..=mutator.below(6) {
        let (frame, other) = (material.pick(&mut mutator), material.pick(&mut mutator));
        let mut bytes = match mutator.below(8) {
            0 => {
                let len = mutator.below(600);
                mutator.random(len)
            }
            1 | 2 => {
                let mut bytes = frame.to_vec();
                if is_open && bytes.len() >= 20 {
                    bytes[8..12].copy_from_slice(&raw.channel.to_le_bytes());
                    bytes[12..16].copy_from_slice(&raw.token.to_le_bytes());
                    bytes[16..20].copy_from_slice(&(raw.sequence + 1).to_le_bytes());
                }
                mutator.mutate(&mut bytes, other);
                bytes
            }
            way => {
                // The chunk is whole, its content is not.
                let mut body = with_token(frame.get(24..).unwrap_or_default(), &token);
                if mutator.below(8) != 0 {
                    mutator.mutate(&mut body, other);
                }
                body.truncate(60_000);
                let kind = if way == 7 { ["MSGC", "MSGA", "CLOF"][mutator.below(3)] } else { "MSGF" };
                raw.chunk(kind, seed as u32, &body)
            }
        };
        while !bytes.is_empty() && !raw.machine.is_closed() {
            let count = if mutator.below(2) == 0 { bytes.len() } else { 1 + mutator.below(bytes.len()) };
            let part: Vec<u8> = bytes.drain(..count).collect();
            feed(&mut raw, &part);
        }
    }
    // Whatever it waits for, it does not wait for ever.
    if !raw.machine.is_closed() {
        raw.pass(Duration::from_secs(4_000));
        assert!(raw.machine.is_closed());
    }
}

/// Gives bytes to the server and watches what it allocates meanwhile.
fn feed(raw: &mut Raw<Connection>, part: &[u8]) {
    let (live, total) = memory();
    let answer = raw.give(part);
    let sent: usize = answer.iter().map(|chunk| chunk.0.len()).sum();
    let (live_after, total_after) = memory();
    assert!(total_after - total <= 64 * part.len() + 16 * sent + (1 << 20), "allocations of a turn");
    assert!(live_after.saturating_sub(live) <= 64 * part.len() + 4 * sent + (256 << 10), "memory held");
    let errors = answer.iter().filter(|chunk| chunk.error().is_some()).count();
    assert!(errors == 0 || (errors == 1 && raw.machine.is_closed()), "an ERR is the last word");
}

/// Lets time pass until the subscriptions of sessions that are gone have ended with their lifetime.
fn end_subscriptions(server: &Server, mut now: Now) {
    while now.ticks != Ticks::NEVER {
        now.ticks = server.publish_due(now);
    }
}

#[test]
fn damaged_conversations_harm_nobody_else() {
    // Few expiries to the end of a subscription's life.
    let subscriptions = SubscriptionLimits {
        min_publishing_interval: Duration::from_secs(1),
        min_sampling_interval: Duration::from_secs(1),
        max_lifetime: Duration::from_secs(10),
        ..SubscriptionLimits::default()
    };
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(11))
        .limits(Limits { max_token_lifetime: Duration::from_secs(3_000), subscriptions, ..Limits::default() })
        .build()
        .expect("the server is built");
    let frames = captures().into_iter().flat_map(|capture| capture.frames);
    let material =
        Material { frames: frames.filter(|frame| frame.to_server).map(|frame| frame.chunk.0).collect() };
    let mut bystander = Raw::connect(server.connection(start_time()), start_time());
    let later = Now { ticks: Ticks(u64::MAX / 2), ..start_time() };
    let seconds = number("UAFORGE_MUTATION_SECONDS", 2.0);
    let seed = number("UAFORGE_MUTATION_SEED", 1u64);
    let begin = Instant::now();
    let mut base = None;
    for (count, seed) in (seed..).enumerate() {
        run(&server, &material, seed);
        if count % 64 != 63 {
            continue;
        }
        let answer = bystander.send("MSGF", 1, &body(&GetEndpointsRequest::default()));
        assert_eq!((answer.len(), answer[0].kind()), (1, "MSGF"));
        drop(answer);
        server.sweep(later);
        end_subscriptions(&server, later);
        assert_eq!(server.session_count(), 0);
        let live = memory().0;
        let base = *base.get_or_insert(live);
        assert!(live.saturating_sub(base) <= 256 << 10, "{live} bytes are held, {base} before");
        if begin.elapsed() >= Duration::from_secs_f64(seconds) {
            println!("{} conversations", count + 1);
            break;
        }
    }
}
