//! Our client carries out the steps of a plan against a server: `peer_client URL PLAN RESULTS`.
//!
//! It judges nothing: each step's outcome is written down, and the task that called compares.

mod attributes;
mod connection;
mod sessions;
mod views;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use connection::Connection;
use serde_json::{Value, json};
use uaforge_tests::interop::{Namespace, items, text};

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

/// What the steps of one check share.
struct Conversation {
    connection: Connection,
    url: String,
    namespace: Namespace,
    /// Continuation points that the server gave, in their order.
    points: Vec<uaforge_codec::ByteString>,
}

/// The outcome of a step, or why there is none.
type Outcome = Result<Value, String>;

impl Conversation {
    fn new(connection: Connection, url: &str, index: u16) -> Self {
        Self { connection, url: url.to_owned(), namespace: Namespace(index), points: Vec::new() }
    }

    async fn run(mut self, steps: &[Value]) -> Value {
        let mut outcomes = Vec::new();
        for step in steps {
            match self.step(step).await {
                Ok(outcome) => outcomes.push(outcome),
                Err(error) => return json!({ "steps": outcomes, "error": error }),
            }
        }
        json!({ "steps": outcomes })
    }

    async fn step(&mut self, step: &Value) -> Outcome {
        match text(step, "do") {
            "read" => self.read(step).await,
            "write" => self.write(step).await,
            "call" => self.call(step).await,
            "browse" => self.browse(step).await,
            "browse_next" => self.browse_next(step).await,
            "translate" => self.translate(step).await,
            "register" => self.register(step).await,
            "unregister" => self.unregister(step).await,
            "cancel" => self.cancel(step).await,
            "get_endpoints" => self.get_endpoints(step).await,
            "find_servers" => self.find_servers(step).await,
            "create_session" => self.create_session(step).await,
            "activate" => self.activate(step).await,
            "close_session" => self.close_session().await,
            "token" => self.take_token(step),
            other => Err(format!("there is no step `{other}`")),
        }
    }
}
