//! Requests in closed loops: the server's CPU time for each, and how long clients wait.

use std::time::Duration;

use anyhow::{Context as _, Result};

use super::Options;
use crate::load::{Load, Shape};
use crate::meter;
use crate::report::{Figures, Row, Series};
use crate::subject::{Running, Subject};
use crate::template::Template;

/// Time that a server gets to become warm.
const WARM_UP: Duration = Duration::from_millis(200);

/// A subject that was started, or why it was not.
struct Seat<'a> {
    subject: &'a Subject,
    running: Result<Running>,
    series: Series,
}

pub(super) fn run(name: &str, shapes: &[Shape], subjects: &[Subject], options: &Options) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for shape in shapes {
        rows.extend(one_shape(name, *shape, subjects, options)?);
    }
    Ok(rows)
}

fn one_shape(name: &str, shape: Shape, subjects: &[Subject], options: &Options) -> Result<Vec<Row>> {
    let title = format!("{name}, {}×{}", shape.clients, shape.outstanding);
    let (own, _) = subjects.split_first().context("no subject")?;
    let own_running = own.start(&[])?;
    // What is echoed has the sizes of the project's own messages.
    let template = {
        let one = Shape { clients: 1, outstanding: 1, ..shape };
        let load = Load::open(own_running.address, one)?;
        let template = load.template().cloned().context("no client")?;
        load.close()?;
        template
    };
    drop(own_running);
    let mut seats: Vec<Seat<'_>> = subjects
        .iter()
        .map(|subject| {
            let more: Vec<String> =
                if subject.is_echo { vec![template.expected.len().to_string()] } else { Vec::new() };
            Seat { subject, running: subject.start(&more), series: Series::new(&title, &subject.name) }
        })
        .collect();
    for _ in 0..options.rounds {
        for seat in &mut seats {
            let Ok(running) = &seat.running else { continue };
            match round(seat.subject, running, shape, &template, options) {
                Ok(figures) => seat.series.push(figures),
                Err(error) => seat.running = Err(error),
            }
        }
    }
    let mut rows = Vec::new();
    for (at, seat) in seats.into_iter().enumerate() {
        match seat.running {
            Ok(_) => rows.push(seat.series.row()),
            Err(error) if at == 0 => return Err(error.context(title)),
            Err(error) => rows.push(Row::failed(&title, &seat.subject.name, &error)),
        }
    }
    Ok(rows)
}

fn round(
    subject: &Subject,
    running: &Running,
    shape: Shape,
    template: &Template,
    options: &Options,
) -> Result<Figures> {
    let mut load = if subject.is_echo {
        Load::open_echo(running.address, shape, template)?
    } else {
        Load::open(running.address, shape)?
    };
    load.run(WARM_UP)?;
    let before = meter::cpu(running.process())?;
    let tally = load.run(Duration::from_secs_f64(options.seconds))?;
    let cpu = meter::cpu(running.process())?.saturating_sub(before);
    let memory = meter::memory(running.process())?;
    if subject.is_echo {
        load.abandon()
    } else {
        load.close()?
    }
    Ok(Figures::of(&tally, cpu, memory))
}
