//! A brew line with two kettles: `brew-server [URL]`.

use std::error::Error;

use brew_line::{KettleState, KettleType, MashStep, VesselType, ids};
use uaforge::server::Server;

uaforge::include_model!(brew_line);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "opc.tcp://127.0.0.1:4840".to_owned());
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

    for url in server.endpoints() {
        println!("listening on {url}");
    }
    server.run_until(stop()).await?;
    println!("stopped");
    Ok(())
}

/// Two kettles: one measures its level and has two sensors, the other does neither.
fn fill(server: &Server) -> Result<(), Box<dyn Error>> {
    let line = ids::object::BREW_LINE;

    let kettle =
        server.instantiate::<KettleType>("Kettle1").under(line).with_optional(VesselType::LEVEL).build()?;
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

    let kettle = server.instantiate::<KettleType>("Kettle2").under(line).build()?;
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
