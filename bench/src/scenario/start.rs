//! From exec to the first value, and the memory of a server that nobody talks to.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use uaforge_codec::{NodeId, StatusCode};
use uaforge_types::{ReadRequest, ReadValueId};

use super::Options;
use crate::meter;
use crate::report::{Row, Value};
use crate::subject::Subject;
use crate::wire::Connection;

const TITLE: &str = "Start";
const SETTLE: Duration = Duration::from_millis(200);

pub(super) fn run(subjects: &[Subject], options: &Options) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let servers: Vec<&Subject> = subjects.iter().filter(|subject| !subject.is_echo).collect();
    let mut seats: Vec<Result<Vec<(f64, f64)>>> = servers.iter().map(|_| Ok(Vec::new())).collect();
    for _ in 0..options.rounds {
        for (subject, seat) in servers.iter().zip(&mut seats) {
            let Ok(seen) = seat else { continue };
            match one(subject) {
                Ok(figures) => seen.push(figures),
                Err(error) => *seat = Err(error),
            }
        }
    }
    for (at, (subject, seat)) in servers.iter().zip(seats).enumerate() {
        match seat {
            Ok(seen) => {
                let (times, memory): (Vec<f64>, Vec<f64>) = seen.into_iter().unzip();
                let values = vec![Value::of("first Read ms", &times), Value::of("resident MiB", &memory)];
                rows.push(Row::new(TITLE, &subject.name, values));
            }
            Err(error) if at == 0 => return Err(error.context(TITLE)),
            Err(error) => rows.push(Row::failed(TITLE, &subject.name, &error)),
        }
    }
    Ok(rows)
}

/// Milliseconds to the first value, and MiB of resident memory.
fn one(subject: &Subject) -> Result<(f64, f64)> {
    let begun = Instant::now();
    let running = subject.start(&[])?;
    let mut connection = Connection::open(running.address)?;
    let state = ReadValueId { node_id: NodeId::numeric(0, 2259), attribute_id: 13, ..Default::default() };
    let response =
        connection.call(ReadRequest { nodes_to_read: vec![state].into(), ..Default::default() })?;
    let time = begun.elapsed();
    let is_good = response.results.first().is_some_and(|value| value.status_or_good() == StatusCode::GOOD);
    ensure!(is_good, "the state of the server is {:?}", response.results);
    connection.close()?;
    std::thread::sleep(SETTLE);
    let memory = meter::memory(running.process())?;
    Ok((time.as_secs_f64() * 1e3, memory.resident as f64 / f64::from(1 << 20)))
}
