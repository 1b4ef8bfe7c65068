//! An instance of an abstract type.

use uaforge::server::Server;
use uaforge_tests::brew_line::VesselType;

fn make(server: &Server) {
    let _ = server.instantiate::<VesselType>("Vessel");
}

fn main() {}
