//! Whole lives of sessions: connect, Hello, OpenSecureChannel, CreateSession, ActivateSession, CloseSession.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::Options;
use crate::meter;
use crate::report::{Row, Value};
use crate::subject::{Running, Subject};
use crate::wire::Connection;

const TITLE: &str = "Connect, activate, close";

pub(super) fn run(subjects: &[Subject], options: &Options) -> Result<Vec<Row>> {
    let servers: Vec<&Subject> = subjects.iter().filter(|subject| !subject.is_echo).collect();
    let mut seats: Vec<(&Subject, Result<Running>, Vec<f64>)> =
        servers.iter().map(|&subject| (subject, subject.start(&[]), Vec::new())).collect();
    for _ in 0..options.rounds {
        for (_, running, times) in &mut seats {
            let Ok(server) = running else { continue };
            match round(server, Duration::from_secs_f64(options.seconds)) {
                Ok(time) => times.push(time),
                Err(error) => *running = Err(error),
            }
        }
    }
    let mut rows = Vec::new();
    for (at, (subject, running, times)) in seats.into_iter().enumerate() {
        match running {
            Ok(_) => rows.push(Row::new(TITLE, &subject.name, vec![Value::of("cpu µs", &times)])),
            Err(error) if at == 0 => return Err(error.context(TITLE)),
            Err(error) => rows.push(Row::failed(TITLE, &subject.name, &error)),
        }
    }
    Ok(rows)
}

/// Microseconds of the server's CPU for one life.
fn round(server: &Running, time: Duration) -> Result<f64> {
    Connection::open(server.address)?.close()?;
    let before = meter::cpu(server.process())?;
    let begun = Instant::now();
    let mut lives = 0_u32;
    while begun.elapsed() < time {
        Connection::open(server.address)?.close()?;
        lives += 1;
    }
    let cpu = meter::cpu(server.process())?.saturating_sub(before);
    Ok(cpu.as_secs_f64() * 1e6 / f64::from(lives))
}
