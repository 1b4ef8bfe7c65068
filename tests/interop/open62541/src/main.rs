//! open62541 as a peer: `client URL PLAN RESULTS`, `server SPACE`, or `PORT` as a server of the bench.

mod c;
mod client;
#[path = "../../../src/interop/mod.rs"]
mod interop;
mod server;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["client", url, plan, results] => client::run(url, plan, results),
        ["server", space] => server::run(space),
        [port] => port.parse().map_err(|_| format!("{port} is no port")).and_then(server::bench),
        _ => Err("usage: client URL PLAN RESULTS | server SPACE | PORT".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
