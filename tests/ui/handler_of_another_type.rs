//! A handler that does not handle the Methods of the type.

use uaforge::server::Server;
use uaforge_tests::brew_line::KettleType;

struct Logic;

fn make(server: &Server) {
    let _ = server.instantiate::<KettleType>("Kettle").handler(Logic);
}

fn main() {}
