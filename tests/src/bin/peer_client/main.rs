//! Our client carries out the steps of a plan against a server: `peer_client URL PLAN RESULTS`.
//!
//! It judges nothing: each step's outcome is written down, and the task that called compares.

mod connection;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use connection::Connection;
use serde_json::{Value, json};
use uaforge_tests::interop::{Conversation, items, text};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, plan, results] = arguments.as_slice() else {
        eprintln!("usage: peer_client URL PLAN RESULTS");
        return ExitCode::FAILURE;
    };
    match run(url, plan, results).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(url: &str, plan: &str, results: &str) -> Result<(), Box<dyn Error>> {
    let plan: Value = serde_json::from_str(&std::fs::read_to_string(plan)?)?;
    let mut results = std::fs::File::create(results)?;
    let session = uaforge_client::connect_insecure(url).await?;
    let uri = text(&plan, "uri");
    let index = session.namespaces().index_of(uri).ok_or_else(|| format!("the server has no {uri}"))?;
    for check in items(&plan, "checks") {
        let connection = match text(check, "session") {
            "open" => Ok(Connection::Session(session.clone())),
            _ => Connection::alone(url),
        };
        let mut outcome = match connection {
            Ok(connection) => Conversation::new(connection, url, index).run(items(check, "steps")).await,
            Err(error) => json!({ "error": error }),
        };
        outcome["name"] = text(check, "name").into();
        writeln!(results, "{outcome}")?;
    }
    session.close().await;
    Ok(())
}
