//! Sessions that do nothing: what each costs in memory.

use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::meter;
use crate::report::{Row, Value};
use crate::subject::Subject;
use crate::wire::Connection;

const TITLE: &str = "Idle sessions";
/// Sessions before the first reading, so that what a server takes once is not counted.
const FIRST: usize = 100;
/// Sessions whose memory is counted.
const COUNTED: usize = 400;
/// Time after which a server may have given buffers back; longer than any peer's habit seen so far.
const SETTLE: Duration = Duration::from_secs(7);

pub(super) fn run(subjects: &[Subject]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (at, subject) in subjects.iter().filter(|subject| !subject.is_echo).enumerate() {
        match one(subject) {
            Ok(bytes) => {
                let value = Value::of("KiB per session", &[bytes / 1024.0]);
                rows.push(Row::new(TITLE, &subject.name, vec![value]));
            }
            Err(error) if at == 0 => return Err(error.context(TITLE)),
            Err(error) => rows.push(Row::failed(TITLE, &subject.name, &error)),
        }
    }
    Ok(rows)
}

fn one(subject: &Subject) -> Result<f64> {
    let running = subject.start(&[])?;
    let open = |count: usize| -> Result<Vec<Connection>> {
        (0..count)
            .map(|number| Connection::open(running.address).with_context(|| format!("session {number}")))
            .collect()
    };
    let _first = open(FIRST)?;
    std::thread::sleep(SETTLE);
    let before = meter::memory(running.process())?.resident;
    let _counted = open(COUNTED)?;
    std::thread::sleep(SETTLE);
    let after = meter::memory(running.process())?.resident;
    Ok(after.saturating_sub(before) as f64 / COUNTED as f64)
}
