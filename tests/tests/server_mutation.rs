//! Broken, truncated and mutated streams end at most their own connection: no panic, no endless loop, a
//! bounded answer. Seeded; `UAFORGE_MUTATION_SECONDS` says for how long (CI: 60).

use std::time::{Duration, Instant};

use uaforge_codec::{
    Array, DataValue, ExtensionObject, NodeId, QualifiedName, SeededEntropy, UaString, Variant, VariantArray,
};
use uaforge_net::Machine as _;
use uaforge_server::{Connection, Limits, Server};
use uaforge_tests::nodes::{array, scalar, variable};
use uaforge_tests::peer::{InProcess, Peer, start_time};
use uaforge_types::{
    ActivateSessionRequest, BrowseDescription, BrowseNextRequest, BrowsePath, BrowseRequest,
    CreateSessionRequest, FindServersRequest, GetEndpointsRequest, Range, ReadRequest, ReadValueId,
    RegisterNodesRequest, RelativePath, RelativePathElement, TranslateBrowsePathsToNodeIdsRequest,
    WriteRequest, WriteValue,
};

/// Bytes before the body of a chunk.
const CHUNK_HEADER: usize = 24;
const STACK: usize = 256 * 1024;

type InProcessPeer = Peer<InProcess<Connection>>;

/// A server with Variables that take a Double (1), Strings (2) and a Range (3).
fn server() -> Server {
    let server = plain_server();
    variable(&server, 1, scalar(11), 0.0);
    variable(&server, 2, array(12, -2, &[]), VariantArray::String(Array::from(vec!["x".into(); 3])));
    variable(&server, 3, scalar(884), Variant::Null);
    server
}

fn plain_server() -> Server {
    let limits = Limits { max_sessions: 100, max_continuation_points: 3, ..Limits::default() };
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(7))
        .limits(limits)
        .build()
        .expect("the server is built")
}

fn connect(server: &Server) -> InProcessPeer {
    let now = start_time();
    let mut peer = Peer::connect(InProcess(server.connection(now)), "opc.tcp://here:4840", now);
    // Without a free session the requests are refused one layer earlier, which is worth a test too.
    if let Ok(created) = peer.call(CreateSessionRequest::default()) {
        peer.token = created.authentication_token;
        peer.call(ActivateSessionRequest::default()).expect("the session is activated");
    }
    peer
}

/// Queues one request of each kind that the server looks into.
fn queue_all(peer: &mut InProcessPeer) {
    let node = |id| NodeId::numeric(0, id);
    let item = |id| ReadValueId {
        node_id: node(id),
        attribute_id: 13,
        index_range: "0:1".into(),
        ..Default::default()
    };
    let nodes_to_read = Array::from(vec![item(2255), item(2256), item(2258)]);
    peer.queue(ReadRequest { nodes_to_read, ..Default::default() });
    let named = ReadValueId { node_id: NodeId::string(1, "a name"), attribute_id: 1, ..Default::default() };
    peer.queue(ReadRequest { nodes_to_read: Array::from(vec![named]), ..Default::default() });
    let description = BrowseDescription { node_id: node(2253), result_mask: 63, ..Default::default() };
    peer.queue(BrowseRequest {
        requested_max_references_per_node: 2,
        nodes_to_browse: Array::from(vec![description; 2]),
        ..Default::default()
    });
    let points = Array::from(vec![vec![1; 16].into()]);
    peer.queue(BrowseNextRequest { continuation_points: points, ..Default::default() });
    let element = |name: &str| RelativePathElement {
        include_subtypes: true,
        target_name: QualifiedName::new(0, name),
        ..Default::default()
    };
    let elements = Array::from(vec![element("Server"), element("ServerStatus")]);
    let path = BrowsePath { starting_node: node(85), relative_path: RelativePath { elements } };
    peer.queue(TranslateBrowsePathsToNodeIdsRequest {
        browse_paths: Array::from(vec![path]),
        ..Default::default()
    });
    peer.queue(GetEndpointsRequest { endpoint_url: "opc.tcp://x:1/y".into(), ..Default::default() });
    peer.queue(FindServersRequest::default());
    peer.queue(ActivateSessionRequest::default());
    peer.queue(CreateSessionRequest { session_name: "mutant".into(), ..Default::default() });
    let values = [
        Variant::Double(1.5),
        Variant::from(VariantArray::String(Array::from(vec!["a".into(), "b".into()]))),
        Variant::from(ExtensionObject::new(Range { low: 0.0, high: 1.0 })),
    ];
    let write = |(number, value)| WriteValue {
        node_id: NodeId::numeric(1, number),
        attribute_id: 13,
        index_range: if number == 2 { "0:1".into() } else { UaString::NULL },
        value: DataValue::new(value),
    };
    let nodes_to_write: Vec<_> = (1..).zip(values).map(write).collect();
    peer.queue(WriteRequest { nodes_to_write: Array::from(nodes_to_write), ..Default::default() });
    let nodes_to_register = Array::from(vec![node(85), NodeId::string(1, "a name")]);
    peer.queue(RegisterNodesRequest { nodes_to_register, ..Default::default() });
}

struct Mutator(SeededEntropy);

impl Mutator {
    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound.max(1) as u64) as usize
    }

    /// Changes some bytes of each frame; seldom its header.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let mut at = 0;
        while let Some(size) = bytes.get(at + 4..at + 8) {
            let size = u32::from_le_bytes(size.try_into().unwrap()) as usize;
            let whole = self.below(20) == 0;
            let from = if whole { 0 } else { CHUNK_HEADER.min(size) };
            for _ in 0..self.below(4) {
                let position = at + from + self.below(size - from);
                if let Some(byte) = bytes.get_mut(position) {
                    *byte = match self.below(5) {
                        0 => 0,
                        1 => 0xff,
                        2 => byte.wrapping_add(1),
                        3 => *byte ^ (1 << self.below(8)),
                        _ => self.0.next_u64() as u8,
                    };
                }
            }
            at += size;
        }
        match self.below(50) {
            0 => bytes.truncate(self.below(bytes.len())),
            1 => {
                let tail = bytes.split_off(self.below(bytes.len()));
                bytes.extend((0..self.below(100)).map(|n| n as u8));
                bytes.extend(tail);
            }
            _ => {}
        }
    }
}

/// Feeds bytes in pieces of random length; how many bytes the machine answered with.
fn feed(machine: &mut Connection, bytes: &[u8], mutator: &mut Mutator) -> usize {
    let now = start_time();
    let (mut at, mut end, mut answered) = (0, 0, 0);
    let mut calls = 0;
    while end < bytes.len() && !machine.is_closed() {
        end = (end + 1 + mutator.below(2000)).min(bytes.len());
        loop {
            let taken = machine.receive(&bytes[at..end], now);
            at += taken;
            calls += 1;
            assert!(calls < 10_000, "the machine makes no progress");
            let output = machine.output();
            answered += output.len();
            output.advance(output.len());
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            let _ = machine.poll_work(&mut cx, &move || now);
            if taken == 0 || at >= end || machine.is_closed() {
                break;
            }
        }
    }
    answered
}

fn run(seconds: f64) {
    let server = server();
    let begin = Instant::now();
    let mut rounds = 0u64;
    while rounds < 50 || begin.elapsed() < Duration::from_secs_f64(seconds) {
        rounds += 1;
        let mut mutator = Mutator(SeededEntropy::new(rounds));
        let mut peer = connect(&server);
        for _ in 0..20 {
            queue_all(&mut peer);
            let mut bytes = peer.take_queued();
            mutator.mutate(&mut bytes);
            let answered = feed(&mut peer.wire.0, &bytes, &mut mutator);
            assert!(answered < 4 << 20, "round {rounds}: {answered} bytes for {}", bytes.len());
            if peer.wire.0.is_closed() {
                break;
            }
        }
    }
    // Whatever happened to others, a new client is served.
    let now = start_time();
    let mut peer = Peer::connect(InProcess(server.connection(now)), "opc.tcp://here:4840", now);
    assert!(peer.call(GetEndpointsRequest::default()).is_ok());
    println!("{rounds} connections mutated");
}

#[test]
fn mutated_streams_end_their_connection_only() {
    let seconds =
        std::env::var("UAFORGE_MUTATION_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || run(seconds)).unwrap();
    thread.join().expect("no panic");
}
