//! A secured server: `cargo run --example secured -- [URL] [FOLDER] [FILE]`.
//!
//! The certificates are in FOLDER, where missing own ones are made. Clients that are refused are in its `rejected`;
//! `uaforge cert --pki FOLDER trust THUMBPRINT` lets them in, without a restart. FILE has users, one
//! `name:hash` a line.

use std::error::Error;

use uaforge::server::{PasswordFile, Security, Server};

const URI: &str = "urn:example:secured";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "opc.tcp://127.0.0.1:4840".into());
    let folder = arguments.next().unwrap_or_else(|| "pki".into());
    let security = Security::open(folder, uaforge::crypto::default_provider(), URI)?;
    let mut server = Server::builder()
        .endpoint(url)
        .application_uri(URI) // as it stands in the certificates
        .security(security)
        .model(uaforge::ns0());
    if let Some(file) = arguments.next() {
        server = server.authenticator(PasswordFile::open(file)?.and_anonymous());
    }
    let server = server.build()?;
    println!("{}", server.endpoints().join(" "));
    server.run_until(tokio::signal::ctrl_c()).await?;
    Ok(())
}
