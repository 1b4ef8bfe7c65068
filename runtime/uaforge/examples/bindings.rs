//! Variables bound to closures and to state of the application: `cargo run --example bindings [PORT]`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use uaforge::nodes::{ClassAttributes, NewNode, VariableAttributes};
use uaforge::server::simulation::Sine;
use uaforge::server::{Server, Variable, field};
use uaforge::types::status;
use uaforge::{NodeId, QualifiedName, StatusCode, UaStructure};

const OBJECTS: NodeId = NodeId::numeric(0, 85);
const ORGANIZES: NodeId = NodeId::numeric(0, 35);
const HAS_TYPE_DEFINITION: NodeId = NodeId::numeric(0, 40);
const BASE_DATA_VARIABLE_TYPE: NodeId = NodeId::numeric(0, 63);
const DOUBLE: NodeId = NodeId::numeric(0, 11);
const BOOLEAN: NodeId = NodeId::numeric(0, 1);

/// A step of a recipe.
#[derive(Clone, Debug, Default, PartialEq, UaStructure)]
#[ua(namespace = "http://example.org/recipes/", id = 3002, binary_id = 5002)]
struct Step {
    temperature: f64,
    minutes: u32,
}

/// A structure of the application, which other clients learn to read from the server.
#[derive(Clone, Debug, Default, PartialEq, UaStructure)]
#[ua(namespace = "http://example.org/recipes/", id = 3001, binary_id = 5001)]
struct Recipe {
    name: String,
    steps: Vec<Step>,
    #[ua(optional)]
    note: Option<String>,
}

/// What the application holds of its kettle.
struct Kettle {
    lit: bool,
    target: f64,
}

/// Adds a Variable below Objects.
fn add<T>(server: &Server, name: &str, data_type: NodeId) -> Result<Variable<T>, StatusCode> {
    let id = NodeId::string(server.application_namespace(), name);
    let attributes = VariableAttributes { data_type, access_level: 3, ..Default::default() };
    let browse_name = QualifiedName::new(server.application_namespace(), name);
    server.space().edit(|edit| {
        edit.add_node(NewNode::new(id.clone(), browse_name, ClassAttributes::Variable(attributes)))?;
        edit.add_reference(&id, &HAS_TYPE_DEFINITION, &BASE_DATA_VARIABLE_TYPE)?;
        edit.add_reference(&OBJECTS, &ORGANIZES, &id)
    })?;
    server.typed_variable(&id)
}

fn bind_all(server: &Server) -> Result<(), StatusCode> {
    let kettle = Arc::new(Mutex::new(Kettle { lit: false, target: 20.0 }));

    // Asked on each read.
    let pressure = add::<f64>(server, "Pressure", DOUBLE)?;
    server.on_read(&pressure, || 1.013)?;

    // Asked every second; a failure becomes the status and keeps the value.
    let temperature = add::<f64>(server, "Temperature", DOUBLE)?;
    let sensor = Arc::clone(&kettle);
    server.poll_every(&temperature, Duration::from_secs(1), move || {
        let kettle = sensor.lock().map_err(|_| status::BAD_SENSOR_FAILURE)?;
        Ok::<_, StatusCode>(if kettle.lit { kettle.target } else { 20.0 })
    })?;

    // A field that clients read and write.
    let lit = add::<bool>(server, "Lit", BOOLEAN)?;
    server.bind(&lit, field(&kettle, |kettle| &mut kettle.lit))?;

    // Looked at before it is stored; `on_write_async` may ask a device.
    let target = add::<f64>(server, "Target", DOUBLE)?;
    server.on_write(&target, move |degrees| {
        if !(0.0..=100.0).contains(&degrees) {
            return Err(status::BAD_OUT_OF_RANGE);
        }
        kettle.lock().map_err(|_| status::BAD_DEVICE_FAILURE)?.target = degrees;
        Ok(degrees)
    })?;

    // A function of time, for demonstrations.
    let level = add::<f64>(server, "Level", DOUBLE)?;
    let wave = Sine { mean: 50.0, amplitude: 10.0, period: Duration::from_secs(60) };
    server.simulate(&level, Duration::from_millis(100), wave)?;
    Ok(())
}

fn add_recipe(server: &Server) -> Result<(), Box<dyn std::error::Error>> {
    let namespaces = server.space().namespaces();
    let namespace = namespaces.index_of("http://example.org/recipes/").ok_or("it came with the structure")?;
    let recipe = add::<Recipe>(server, "Recipe", NodeId::numeric(namespace, 3001))?;
    let steps = vec![Step { temperature: 52.0, minutes: 20 }, Step { temperature: 66.0, minutes: 60 }];
    recipe.set(Recipe { name: "Pils".into(), steps, note: Some("stir".into()) });
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).unwrap_or_else(|| "4840".into());
    let server = Server::builder()
        .endpoint(format!("opc.tcp://127.0.0.1:{port}"))
        .insecure() // on loopback; nothing is signed or encrypted
        .model(uaforge::ns0())
        .structure::<Recipe>()
        .build()?;
    bind_all(&server)?;
    add_recipe(&server)?;
    println!("bound variables below Objects are served on {}", server.endpoints().join(", "));
    server.run_until(tokio::signal::ctrl_c()).await?;
    Ok(())
}
