//! A brew line with two kettles: `brew-server [URL]`.

use std::error::Error;

use brew_line::server::{KettleTypeMethods, VesselTypeMethods};
use brew_line::{KettleState, KettleType, KettleTypePlanMashOutputs, MashStep, VesselType, ids};
use uaforge::server::typed::MethodContext;
use uaforge::server::{MethodError, Server};
use uaforge::{Array, status};

uaforge::include_model!(brew_line);

/// What the kettles do when their Methods are called. A Method without a handler does not compile.
struct KettleLogic {
    /// In degrees Celsius.
    hottest: f64,
}

impl VesselTypeMethods for KettleLogic {
    async fn drain(&self, call: MethodContext<VesselType>) -> Result<f64, MethodError> {
        let level = call.object().level().and_then(|level| level.get().ok());
        Ok(level.unwrap_or_default())
    }
}

impl KettleTypeMethods for KettleLogic {
    async fn start_mash(&self, call: MethodContext<KettleType>, temperature: f64) -> Result<(), MethodError> {
        if temperature > self.hottest {
            return Err(MethodError::argument(0, status::BAD_OUT_OF_RANGE));
        }
        let kettle = call.object();
        kettle.state().set(KettleState::HEATING);
        kettle.step().set(MashStep { name: "Heat up".into(), temperature, ..MashStep::default() });
        Ok(())
    }

    async fn plan_mash(
        &self,
        _call: MethodContext<KettleType>,
        steps: Array<MashStep>,
    ) -> Result<KettleTypePlanMashOutputs, MethodError> {
        let hottest = steps.iter().max_by(|a, b| a.temperature.total_cmp(&b.temperature));
        let hottest = hottest.ok_or(status::BAD_NOTHING_TO_DO)?.clone();
        Ok(KettleTypePlanMashOutputs { time: steps.iter().map(|step| step.rest).sum(), hottest })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "opc.tcp://127.0.0.1:4840".to_owned());
    let server = brew_server(url)?;
    for url in server.endpoints() {
        println!("listening on {url}");
    }
    server.run_until(stop()).await?;
    println!("stopped");
    Ok(())
}

/// The server with its objects; it listens, and serves once it runs.
pub(crate) fn brew_server(url: String) -> Result<Server, Box<dyn Error>> {
    let server = Server::builder()
        .endpoint(url)
        .insecure() // on loopback; nothing is signed or encrypted
        .application_uri("urn:example:brew-server")
        .application_name("Brew line")
        .model(uaforge::ns0())
        .model(uaforge_di::model())
        .model(brew_line::model())
        .types(brew_line::register_types)
        .build()?;
    fill(&server)?;
    Ok(server)
}

/// Two kettles: one measures its level and has two sensors, the other does neither.
fn fill(server: &Server) -> Result<(), Box<dyn Error>> {
    let line = ids::object::BREW_LINE;

    let kettle = server
        .instantiate::<KettleType>("Kettle1")
        .under(line)
        .with_optional(VesselType::LEVEL)
        .with_optional(VesselType::CLEAN)
        .handler(KettleLogic { hottest: 95.0 })
        .build()?;
    kettle.on_clean(|call, agent, _time| async move {
        call.object().temperature().set(20.0);
        println!("cleaning with {agent}");
        Ok(())
    })?;
    kettle.temperature().set(64.5);
    kettle.capacity().set(800_u32.into());
    kettle.serial_number().set("KT-0017".into());
    kettle.state().set(KettleState::MASHING);
    kettle.step().set(MashStep {
        name: "Saccharification".into(),
        temperature: 66.0,
        rest: 3_600_000.0,
        note: Some("stir every ten minutes".into()),
    });
    kettle.agitator().speed().set(12.0);
    if let Some(level) = kettle.level() {
        level.set(612.0);
    }
    for (name, reading) in [("Top", 64.1), ("Bottom", 64.9)] {
        let sensor = kettle.add_sensor(name)?;
        sensor.reading().set(reading);
        sensor.unit().set("°C".into());
    }

    let small = KettleLogic { hottest: 78.0 };
    let kettle = server.instantiate::<KettleType>("Kettle2").under(line).handler(small).build()?;
    kettle.temperature().set(18.0);
    kettle.capacity().set(1250.5.into());
    kettle.serial_number().set("KT-0018".into());
    kettle.state().set(KettleState::IDLE);
    kettle.step().set(MashStep::default());
    kettle.agitator().speed().set(0.0);
    Ok(())
}

/// Ready at ctrl-c, or when the system ends the process.
async fn stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
