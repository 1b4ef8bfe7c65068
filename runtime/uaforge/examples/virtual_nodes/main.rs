//! A server with a million meters that are never in memory: `cargo run --example virtual_nodes`.

mod manager;

use manager::{ROOT, VirtualMeters};
use uaforge::NodeId;
use uaforge::server::Server;

/// Objects, the entry point of the address space.
const OBJECTS: NodeId = NodeId::numeric(0, 85);
const ORGANIZES: NodeId = NodeId::numeric(0, 35);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:4840")
        .insecure() // on loopback; nothing is signed or encrypted
        .model(uaforge::ns0())
        .manager(VirtualMeters::new(1_000_000))
        .build()?;
    let root = VirtualMeters::id(&server, ROOT).ok_or("the namespace of the meters is there")?;
    server.add_reference(&OBJECTS, &ORGANIZES, &root)?;
    println!("{} serves a million meters below Objects/Meters", server.endpoints().join(", "));
    println!("the last one shows {}", VirtualMeters::reading(999_999));
    server.run_until(tokio::signal::ctrl_c()).await?;
    Ok(())
}
