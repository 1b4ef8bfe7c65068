//! A client that sends ten thousand requests and reads nothing, and others that go on beside it.

use std::io::Write as _;
use std::time::Duration;

use anyhow::Result;

use crate::load::{Load, Shape};
use crate::meter;
use crate::report::{Row, Value};
use crate::subject::Subject;
use crate::template::{Request, Template};
use crate::wire::{Connection, REQUEST_ID_AT, SEQUENCE_AT};

const TITLE: &str = "Slow reader";
const REQUESTS: u32 = 10_000;
const TIME: Duration = Duration::from_secs(2);

pub(super) fn run(subjects: &[Subject]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (at, subject) in subjects.iter().filter(|subject| !subject.is_echo).enumerate() {
        match one(subject) {
            Ok(values) => rows.push(Row::new(TITLE, &subject.name, values)),
            Err(error) if at == 0 => return Err(error.context(TITLE)),
            Err(error) => rows.push(Row::failed(TITLE, &subject.name, &error)),
        }
    }
    Ok(rows)
}

fn one(subject: &Subject) -> Result<Vec<Value>> {
    let running = subject.start(&[])?;
    let shape = Shape { request: Request::Read(1), clients: 4, outstanding: 10 };
    let mut load = Load::open(running.address, shape)?;
    let alone = load.run(TIME)?;
    let before = meter::memory(running.process())?;
    let slow = flood(&running.address)?;
    let beside = load.run(TIME)?;
    let after = meter::memory(running.process())?;
    drop(slow);
    load.close()?;
    let rate = |tally: &crate::load::Tally| tally.requests as f64 / tally.time.as_secs_f64();
    let ratio = rate(&beside) / rate(&alone);
    let grown = after.peak.saturating_sub(before.resident) as f64 / f64::from(1 << 20);
    let stall = beside.stall.as_secs_f64() * 1e3;
    Ok(vec![
        Value::of("others' rate", &[ratio]),
        Value::of("others' stall ms", &[stall]),
        Value::of("grown MiB", &[grown]),
    ])
}

/// Sends as many of the requests as the server takes, and reads no response.
fn flood(address: &std::net::SocketAddr) -> Result<Connection> {
    let mut connection = Connection::open(*address)?;
    let template = Template::prepare(&mut connection, Request::Read(100))?;
    connection.stream.set_write_timeout(Some(Duration::from_millis(300)))?;
    for id in 1..=REQUESTS {
        let mut frame = template.frame.clone();
        connection.sequence += 1;
        for (at, field) in [(SEQUENCE_AT, connection.sequence), (REQUEST_ID_AT, id), (template.handle_at, id)]
        {
            if let Some(place) = frame.get_mut(at..at + 4) {
                place.copy_from_slice(&field.to_le_bytes());
            }
        }
        // A server that stops reading is what is wanted.
        if connection.stream.write_all(&frame).is_err() {
            break;
        }
    }
    Ok(connection)
}
