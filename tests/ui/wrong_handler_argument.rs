//! A handler that takes another type than the model says.

use uaforge::UaString;
use uaforge::server::MethodError;
use uaforge::server::typed::MethodContext;
use uaforge_tests::brew_line::server::KettleTypeHandle;
use uaforge_tests::brew_line::VesselType;

async fn clean(_call: MethodContext<VesselType>, _agent: UaString, _time: i32) -> Result<(), MethodError> {
    Ok(())
}

fn bind(kettle: &KettleTypeHandle) {
    let _ = kettle.on_clean(clean);
}

fn main() {}
