//! A server in front of a slow device: `cargo run --example slow_device`. With `-- --hang` the device
//! never answers, and clients see how that ends.

#![expect(
    clippy::disallowed_methods,
    reason = "the ban on clocks is for protocol machines, not for applications"
)]

mod device;
mod manager;

use std::sync::Arc;
use std::time::Duration;

use device::Device;
use manager::{DeviceManager, ROOT};
use uaforge::NodeId;
use uaforge::server::Server;

const OBJECTS: NodeId = NodeId::numeric(0, 85);
const ORGANIZES: NodeId = NodeId::numeric(0, 35);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Arc::new(Device::new(100, Duration::from_millis(50)));
    device.set_hangs(std::env::args().any(|argument| argument == "--hang"));
    let server = Server::builder()
        .endpoint("opc.tcp://127.0.0.1:4840")
        .insecure() // on loopback; nothing is signed or encrypted
        .model(uaforge::ns0())
        .manager(DeviceManager::new(Arc::clone(&device), Duration::from_secs(1)))
        .build()?;
    let root = DeviceManager::id(&server, ROOT).ok_or("the namespace of the device is there")?;
    server.add_reference(&OBJECTS, &ORGANIZES, &root)?;
    println!("{} serves a device below Objects/Device", server.endpoints().join(", "));
    server.run_until(tokio::signal::ctrl_c()).await?;
    println!("{} requests, {} of them given up", device.requests(), device.abandoned());
    Ok(())
}
