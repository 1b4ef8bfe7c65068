//! Clients that do not read cost bounded memory, however many they are, and others read on.

use std::task::{Context, Waker};
use std::time::Duration;

use uaforge_codec::{ByteString, NodeId, Now, Variant};
use uaforge_net::{Machine as _, OutputBuffer};
use uaforge_server::{Connection, Limits, Server};
use uaforge_tests::nodes::{VALUE, item, read_request, scalar, value, variable};
use uaforge_tests::peer::{InProcess, Peer, start_time};

const URL: &str = "opc.tcp://here:4840";
/// Bytes of the value that all of them ask for.
const VALUE_SIZE: usize = 300_000;
/// What a response with it adds to what is counted.
const COUNTED: usize = VALUE_SIZE - OutputBuffer::HIGH_WATER;
/// Room for four of them.
const LIMIT: usize = COUNTED * 9 / 2;

type Client = Peer<InProcess<Connection>>;

struct Plant {
    server: Server,
    now: Now,
}

impl Plant {
    fn new() -> Self {
        let limits = Limits { output_memory: LIMIT, ..Limits::default() };
        let builder = Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().limits(limits);
        let server = builder.model(uaforge_ns0::model()).build().expect("the server is built");
        variable(&server, 1, scalar(15), ByteString::from(vec![7; VALUE_SIZE].as_slice()));
        Self { server, now: start_time() }
    }

    fn client(&self) -> Client {
        Peer::with_session(InProcess(self.server.connection(self.now)), URL, self.now)
    }

    /// Has a client ask for the value, and lets it wait.
    fn ask(&mut self, client: &mut Client) {
        self.now.ticks = self.now.ticks + Duration::from_millis(1);
        client.queue(read_request(vec![item(&NodeId::numeric(1, 1), VALUE)]));
        let request = client.take_queued();
        client.wire.0.receive(&request, self.now);
        self.run(client);
    }

    /// Has a client take some bytes.
    fn take(&mut self, client: &mut Client, bytes: usize) {
        self.now.ticks = self.now.ticks + Duration::from_millis(1);
        client.wire.0.output().advance(bytes);
        self.run(client);
    }

    fn run(&self, client: &mut Client) {
        let now = self.now;
        let _ = client.wire.0.poll_work(&mut Context::from_waker(Waker::noop()), &|| now);
    }
}

fn byte_count(value: &Variant) -> usize {
    match value {
        Variant::ByteString(bytes) => bytes.bytes().len(),
        other => panic!("{other:?}"),
    }
}

fn is_gone(client: &mut Client) -> bool {
    let machine = &mut client.wire.0;
    assert_eq!(machine.is_closed(), machine.output().is_empty(), "what is closed holds nothing");
    machine.is_closed()
}

#[test]
fn those_that_wait_longest_are_ended() {
    let mut plant = Plant::new();
    let mut slow: Vec<Client> = (0..50).map(|_| plant.client()).collect();
    let mut reader = plant.client();
    let id = NodeId::numeric(1, 1);
    for index in 0..slow.len() {
        plant.ask(&mut slow[index]);
        for client in &mut slow[..=index] {
            if !client.wire.0.is_closed() {
                plant.run(client);
            }
        }
        let held: usize = slow[..=index].iter_mut().map(|client| client.wire.0.output().len()).sum();
        assert!(held <= LIMIT + 5 * OutputBuffer::HIGH_WATER, "{held} bytes with {} clients", index + 1);
        // Whoever reads gets what it asks for.
        reader.now = plant.now;
        assert_eq!(byte_count(&value(&mut reader, &id, VALUE)), VALUE_SIZE);
    }
    let gone: Vec<bool> = slow.iter_mut().map(is_gone).collect();
    assert!(gone[..46].iter().all(|gone| *gone));
    assert!(gone[47..].iter().all(|gone| !gone), "{gone:?}");
}

#[test]
fn a_client_that_reads_slowly_is_not_the_first() {
    let mut plant = Plant::new();
    let (mut steady, mut stalled) = (plant.client(), plant.client());
    plant.ask(&mut steady);
    plant.ask(&mut stalled);
    // The older one takes a little.
    plant.take(&mut steady, 10_000);
    let mut others: Vec<Client> = (0..3).map(|_| plant.client()).collect();
    for other in &mut others {
        plant.ask(other);
    }
    plant.run(&mut steady);
    plant.run(&mut stalled);
    assert!(!is_gone(&mut steady));
    assert!(is_gone(&mut stalled));
    // What was taken, and who has gone, counts no more.
    drop(stalled);
    let all = steady.wire.0.output().len();
    plant.take(&mut steady, all);
    let mut more = plant.client();
    plant.ask(&mut more);
    plant.run(&mut others[0]);
    assert!(others.iter_mut().all(|other| !is_gone(other)) && !is_gone(&mut more));
    assert!(!steady.wire.0.is_closed());
}
