//! The server of the project as the bench measures it: ns0, DI and a thousand Double variables.
//!
//! `bench_server PORT`. Each line on standard input is answered with the allocations made so far; the end of
//! the input stops the server.

use std::alloc::System;
use std::error::Error;
use std::io::BufRead as _;
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::sync::oneshot;
use uaforge_codec::{NodeId, QualifiedName, StatusCode};
use uaforge_nodes::{ClassAttributes, NewNode, VariableAttributes};
use uaforge_server::{Limits, Server};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const VARIABLES: u32 = 1_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).ok_or("usage: bench_server PORT")?;
    let limits = Limits {
        max_connections: 20_000,
        max_sessions: 20_000,
        max_session_timeout: Duration::from_secs(3_600),
        ..Limits::default()
    };
    let server = Server::builder()
        .endpoint(format!("opc.tcp://127.0.0.1:{port}"))
        .insecure()
        .limits(limits)
        .model(uaforge_ns0::model())
        .model(uaforge_di::model())
        .build()?;
    add_variables(&server).map_err(|status| status.to_string())?;
    let (stop, stopped) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        for _ in std::io::stdin().lock().lines().map_while(Result::ok) {
            let counted = ALLOCATOR.stats();
            println!("{}", counted.allocations + counted.reallocations);
        }
        drop(stop);
    });
    server.run_until(stopped).await?;
    Ok(())
}

/// `v0` to `v999` below Objects/Bench; the value of `vN` is N.
fn add_variables(server: &Server) -> Result<(), StatusCode> {
    let ns0 = |id| NodeId::numeric(0, id);
    let (objects, organizes, has_type, has_component) = (ns0(85), ns0(35), ns0(40), ns0(47));
    let (folder_type, variable_type, double) = (ns0(61), ns0(63), ns0(11));
    let folder = NodeId::string(1, "bench");
    let id = |number: u32| NodeId::string(1, format!("v{number}"));
    server.space().edit(|edit| -> Result<(), StatusCode> {
        let object = ClassAttributes::Object { event_notifier: 0 };
        edit.add_node(NewNode::new(folder.clone(), QualifiedName::new(1, "Bench"), object))?;
        edit.add_reference(&objects, &organizes, &folder)?;
        edit.add_reference(&folder, &has_type, &folder_type)?;
        for number in 0..VARIABLES {
            let attributes =
                VariableAttributes { data_type: double.clone(), access_level: 3, ..Default::default() };
            let name = QualifiedName::new(1, format!("v{number}").as_str());
            edit.add_node(NewNode::new(id(number), name, ClassAttributes::Variable(attributes)))?;
            edit.add_reference(&folder, &has_component, &id(number))?;
            edit.add_reference(&id(number), &has_type, &variable_type)?;
        }
        Ok::<(), StatusCode>(())
    })?;
    for number in 0..VARIABLES {
        server.variable(&id(number))?.set(f64::from(number));
    }
    Ok(())
}
