//! An optional member of a type that is no supertype.

use uaforge::server::Server;
use uaforge_tests::brew_line::{MotorType, VesselType};

fn make(server: &Server) {
    let _ = server.instantiate::<MotorType>("Motor").with_optional(VesselType::LEVEL);
}

fn main() {}
