//! A Method of the type without a handler.

use uaforge::server::MethodError;
use uaforge::server::typed::MethodContext;
use uaforge_tests::brew_line::server::{KettleTypeMethods, VesselTypeMethods};
use uaforge_tests::brew_line::{KettleType, VesselType};

struct Logic;

impl VesselTypeMethods for Logic {
    async fn drain(&self, _call: MethodContext<VesselType>) -> Result<f64, MethodError> {
        Ok(0.0)
    }
}

impl KettleTypeMethods for Logic {
    async fn start_mash(&self, _call: MethodContext<KettleType>, _temperature: f64) -> Result<(), MethodError> {
        Ok(())
    }
}

fn main() {}
