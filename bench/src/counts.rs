//! What can be counted instead of timed: allocations, system calls and instructions of the server for each request.
//!
//! Requests go in lockstep: a batch with one write, then nothing until all its responses are there. So the
//! same work gives the same counts, whatever else the machine does.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::load::{Load, Shape};
use crate::subject::{Running, Subject};
use crate::template::Request;

/// Counts of one kind of request.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Counts {
    /// Heap allocations and reallocations.
    pub allocations: f64,
    /// System calls; `None` where they cannot be traced.
    pub syscalls: Option<f64>,
    /// Instructions; `None` where they cannot be simulated.
    pub instructions: Option<f64>,
}

/// Counts by the name of the request.
pub type Table = BTreeMap<String, Counts>;

/// How much worse than the baseline a count may be.
const TOLERANCE: f64 = 0.03;
/// Below this a difference says nothing: one call in a hundred requests, one instruction in a request.
const GRAIN: f64 = 0.01;
const WARM_UP: usize = 20;
const BATCHES: usize = 200;
const TRACE_SETTLES: Duration = Duration::from_millis(500);

const REQUESTS: &[(&str, Request, usize)] = &[
    ("read 1 x 1", Request::Read(1), 1),
    ("read 1 x 100", Request::Read(1), 100),
    ("read 100 x 1", Request::Read(100), 1),
    ("write 100 x 1", Request::Write(100), 1),
    ("browse Server x 1", Request::Browse, 1),
];

/// Counts all requests on the project's own server.
///
/// # Errors
/// The server fails, or answers wrongly.
pub fn count(own: &Subject) -> Result<Table> {
    let mut table = Table::new();
    for &(name, request, outstanding) in REQUESTS {
        let shape = Shape { request, clients: 1, outstanding };
        let counts = Counts {
            allocations: allocations(own, shape)?,
            syscalls: has("strace").then(|| syscalls(own, shape)).transpose()?,
            instructions: has("valgrind").then(|| instructions(own, shape)).transpose()?,
        };
        table.insert(name.into(), counts);
    }
    Ok(table)
}

fn per_request(total: u64, shape: Shape) -> f64 {
    let each = total as f64 / (BATCHES * shape.outstanding) as f64;
    // As many digits as mean something, so that a committed baseline does not change with every run.
    (each * 1_000.0).round() / 1_000.0
}

fn allocations(own: &Subject, shape: Shape) -> Result<f64> {
    let mut running = own.start(&[])?;
    let mut load = Load::open(running.address, shape)?;
    load.lockstep(WARM_UP)?;
    let before: u64 = running.ask()?.parse()?;
    load.lockstep(BATCHES)?;
    let after: u64 = running.ask()?.parse()?;
    load.close()?;
    Ok(per_request(after - before, shape))
}

fn syscalls(own: &Subject, shape: Shape) -> Result<f64> {
    let running = own.start(&[])?;
    let mut load = Load::open(running.address, shape)?;
    load.lockstep(WARM_UP)?;
    let with = traced(&running, &mut load, BATCHES)?;
    // What the tracer itself and an idle server cause is in both.
    let without = traced(&running, &mut load, 0)?;
    load.close()?;
    Ok(per_request(with.saturating_sub(without), shape))
}

/// System calls of the server while so many batches are answered.
fn traced(running: &Running, load: &mut Load, batches: usize) -> Result<u64> {
    let process = running.process().to_string();
    let mut tracer = Command::new("strace")
        .args(["-f", "-c", "-U", "calls,name", "-p", &process])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    std::thread::sleep(TRACE_SETTLES);
    load.lockstep(batches)?;
    let stopped = Command::new("kill").args(["-INT", &tracer.id().to_string()]).status()?;
    ensure!(stopped.success(), "the tracer cannot be stopped");
    let output = tracer.stderr.take().map(std::io::read_to_string).context("no output")??;
    tracer.wait()?;
    let total = output.lines().rev().find(|line| line.trim_end().ends_with("total"));
    let Some(total) = total else { return Ok(0) };
    let number = total.split_whitespace().next().context("no number")?;
    Ok(number.parse()?)
}

/// The difference of a long and a short run, so that start and stop are not counted.
fn instructions(own: &Subject, shape: Shape) -> Result<f64> {
    let long = simulated(own, shape, WARM_UP + BATCHES)?;
    let short = simulated(own, shape, WARM_UP)?;
    Ok(per_request(long.saturating_sub(short), shape).round())
}

fn simulated(own: &Subject, shape: Shape, batches: usize) -> Result<u64> {
    let valgrind = Subject {
        program: "valgrind".into(),
        arguments: ["--tool=callgrind", "--callgrind-out-file=/dev/null", &own.program.to_string_lossy()]
            .map(String::from)
            .into_iter()
            .chain(own.arguments.iter().cloned())
            .collect(),
        ..own.clone()
    };
    let running = valgrind.start(&[])?;
    let mut load = Load::open(running.address, shape)?;
    load.lockstep(batches)?;
    load.close()?;
    let said = running.finish()?;
    let line =
        said.lines().find_map(|line| line.split("Collected :").nth(1)).context("no count of instructions")?;
    Ok(line.trim().parse()?)
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Compares with a baseline; the lines say what is worse, and what to do.
///
/// # Errors
/// Something is worse by more than the tolerance, or the baseline has other requests.
pub fn check(now: &Table, baseline: &Table) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut worse = Vec::new();
    for (name, counts) in now {
        let Some(before) = baseline.get(name) else { bail!("the baseline has no `{name}`: write it anew") };
        let pairs = [
            ("allocations", Some(counts.allocations), Some(before.allocations)),
            ("system calls", counts.syscalls, before.syscalls),
            ("instructions", counts.instructions, before.instructions),
        ];
        for (what, now, before) in pairs {
            let (Some(now), Some(before)) = (now, before) else { continue };
            lines.push(format!("{name:<18} {what:<13} {now:>10} (baseline {before})"));
            if now > before * (1.0 + TOLERANCE) + GRAIN {
                worse.push(format!("{name}: {now} {what} a request, {before} in the baseline"));
            }
        }
    }
    if worse.is_empty() {
        return Ok(lines);
    }
    bail!(
        "more than {} % worse:\n  {}\nfind what the change added, or, if it is worth it, \
         write the baseline anew with `cargo xtask bench --write-baseline` and say why in the commit",
        TOLERANCE * 100.0,
        worse.join("\n  ")
    )
}
