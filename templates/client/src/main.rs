//! Reads the kettles of a brew line: `brew-client [URL]`.

use brew_line::client::KettleTypeProxy;
use brew_line::{KettleState, KettleType, MashStep, ids};
use uaforge::client::{Error, connect_insecure};
use uaforge::{UaString, Variant};

uaforge::include_model!(brew_line);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "opc.tcp://127.0.0.1:4840".to_owned());
    let session = connect_insecure(&url).await?;
    println!("connected to {url}");

    for name in ["Kettle1", "Kettle2"] {
        let kettle = session.object::<KettleType>(name).under(ids::object::BREW_LINE).await?;
        println!("\n{name}");
        show(&kettle).await?;
        mash(&kettle).await?;
    }

    session.close().await;
    Ok(())
}

/// Every value has the type that the model gives it; another one does not compile.
async fn show(kettle: &KettleTypeProxy) -> Result<(), Error> {
    let serial_number: UaString = kettle.serial_number().read().await?;
    let temperature: f64 = kettle.temperature().read().await?;
    let capacity: Variant = kettle.capacity().read().await?; // any Number
    let state: KettleState = kettle.state().read().await?;
    let step: MashStep = kettle.step().read().await?;
    let speed: f64 = kettle.agitator().speed().read().await?;
    println!("  serial number  {serial_number}");
    println!("  temperature    {temperature} °C");
    println!("  capacity       {capacity:?}");
    println!("  state          {state:?}");
    if step.name.is_empty() {
        println!("  step           none");
    } else {
        println!(
            "  step           {} at {} °C for {} min",
            step.name,
            step.temperature,
            step.rest / 60_000.0
        );
    }
    if let Some(note) = &step.note {
        println!("  note           {note}");
    }
    println!("  agitator       {speed} rpm");

    match kettle.level().await? {
        Some(level) => println!("  level          {} l", level.read().await?),
        None => println!("  level          not measured"),
    }
    for sensor in kettle.sensors().await? {
        let (reading, unit) = (sensor.reading().read().await?, sensor.unit().read().await?);
        println!("  sensor {:<8}{reading} {unit}", sensor.name());
    }
    Ok(())
}

/// Methods take and give the types of the model; errors say which argument is wrong.
async fn mash(kettle: &KettleTypeProxy) -> Result<(), Error> {
    let rest = |temperature, minutes: f64| MashStep {
        name: "Rest".into(),
        temperature,
        rest: minutes * 60_000.0,
        note: None,
    };
    let plan = kettle.plan_mash(vec![rest(62.0, 40.0), rest(72.0, 20.0)].into()).await?;
    println!("  plan           {} min, at most {} °C", plan.time / 60_000.0, plan.hottest.temperature);
    match kettle.start_mash(90.0).await {
        Ok(()) => println!("  started        {:?}", kettle.state().read().await?),
        Err(error) => println!("  not started    {error}"),
    }
    println!("  drained        {} l", kettle.drain().await?);
    match kettle.clean("caustic soda".into(), 600_000.0).await {
        Ok(()) => println!("  cleaned"),
        Err(error) => println!("  not cleaned    {error}"),
    }
    Ok(())
}
