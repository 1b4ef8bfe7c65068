//! An object whose Methods nobody handles.

use uaforge::server::Server;
use uaforge_tests::brew_line::KettleType;

fn make(server: &Server) {
    let _ = server.instantiate::<KettleType>("Kettle").build();
}

fn main() {}
