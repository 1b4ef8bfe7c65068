//! How long a server takes from exec to its first answered Read, and what it holds when idle:
//! `first_read SERVER_PROGRAM`. Fails above the budget.

use std::error::Error;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use uaforge_codec::NodeId;

/// The median of the runs counts: other work on the machine makes single ones slow.
const RUNS: usize = 9;
const START_BUDGET: Duration = Duration::from_millis(10);
const MEMORY_BUDGET_KIB: u64 = 10 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);
const NAMESPACE_ARRAY: NodeId = NodeId::numeric(0, 2255);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(program) = std::env::args().nth(1) else {
        eprintln!("usage: first_read SERVER_PROGRAM");
        return ExitCode::FAILURE;
    };
    match measure(&program).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(program: &str) -> Result<bool, Box<dyn Error>> {
    let mut times = Vec::new();
    let mut memory = None;
    for _ in 0..RUNS {
        let (time, resident) = one_run(program).await?;
        times.push(time);
        memory = memory.max(resident);
    }
    times.sort();
    let median = times[RUNS / 2];
    println!(
        "exec to first Read: median {:.1} ms of {RUNS} runs ({:.1} to {:.1}), budget {} ms",
        millis(median),
        millis(times[0]),
        millis(times[RUNS - 1]),
        START_BUDGET.as_millis()
    );
    let fits = match memory {
        Some(kib) => {
            println!("idle resident memory: {kib} KiB, budget {MEMORY_BUDGET_KIB} KiB");
            kib <= MEMORY_BUDGET_KIB
        }
        None => {
            println!("idle resident memory: not told by this system");
            true
        }
    };
    Ok(fits && median <= START_BUDGET)
}

async fn one_run(program: &str) -> Result<(Duration, Option<u64>), Box<dyn Error>> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let url = format!("opc.tcp://{address}");
    let begun = Instant::now();
    let server = Running(Command::new(program).arg(&url).stdin(Stdio::null()).stdout(Stdio::null()).spawn()?);
    while TcpStream::connect(address).is_err() {
        if begun.elapsed() > PATIENCE {
            return Err("the server does not listen".into());
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    let session = uaforge_client::connect_insecure(&url).await?;
    let value = session.read_value(&NAMESPACE_ARRAY).await?;
    let time = begun.elapsed();
    if !value.status_or_good().is_good() {
        return Err(format!("the Read gave {:?}", value.status_or_good()).into());
    }
    session.close().await;
    std::thread::sleep(Duration::from_millis(100));
    Ok((time, server.resident_kib()))
}

/// A server process that ends with this value.
struct Running(Child);

impl Running {
    /// VmRSS, where /proc tells it.
    fn resident_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.split_whitespace().next()?.parse().ok()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A process that has ended already is what is wanted.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
