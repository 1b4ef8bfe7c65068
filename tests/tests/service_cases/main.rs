//! The acceptance cases of services, one test each, and what stands beside them.

mod browsing;
mod diagnostics;
mod locales;
mod option_sets;
mod ranges;
mod reads;
mod registers;
mod statuses;
mod write;

use uaforge_codec::SeededEntropy;
use uaforge_server::{Connection, Server, ServerBuilder};
use uaforge_tests::peer::{InProcess, Peer, start_time};

type InProcessPeer = Peer<InProcess<Connection>>;

fn builder() -> ServerBuilder {
    Server::builder()
        .endpoint("opc.tcp://127.0.0.1:0")
        .insecure()
        .model(uaforge_ns0::model())
        .entropy(SeededEntropy::new(3))
}

fn peer(server: &Server) -> InProcessPeer {
    let now = start_time();
    Peer::with_session(InProcess(server.connection(now)), "opc.tcp://here:4840", now)
}

/// The text of a file of a case.
fn file(case: &str, name: &str) -> String {
    let path = format!("{}/cases/{case}/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
