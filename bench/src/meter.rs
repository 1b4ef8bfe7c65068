//! What a process costs, as Linux tells it.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// CPU time of all threads of a process, ended ones not included, in nanoseconds of the scheduler.
///
/// # Errors
/// The process is gone, or the system does not tell.
pub fn cpu(process: u32) -> Result<Duration> {
    let mut total = Duration::ZERO;
    for thread in fs::read_dir(format!("/proc/{process}/task")).context("the process has ended")? {
        total += schedstat(&thread?.path().join("schedstat").to_string_lossy())?;
    }
    Ok(total)
}

/// CPU time of the calling thread.
///
/// # Errors
/// The system does not tell.
pub fn own_thread() -> Result<Duration> {
    schedstat("/proc/thread-self/schedstat")
}

fn schedstat(path: &str) -> Result<Duration> {
    let text = fs::read_to_string(path)?;
    let nanoseconds = text.split_whitespace().next().context("an empty schedstat")?;
    Ok(Duration::from_nanos(nanoseconds.parse()?))
}

/// Resident memory now and at its peak, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// VmRSS.
    pub resident: u64,
    /// VmHWM.
    pub peak: u64,
}

/// Memory of a process.
///
/// # Errors
/// The process is gone.
pub fn memory(process: u32) -> Result<Memory> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).context("the process has ended")?;
    let line = |name: &str| -> Result<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such line")?;
        Ok(line.split_whitespace().next().context("an empty line")?.parse::<u64>()? * 1024)
    };
    Ok(Memory { resident: line("VmRSS:")?, peak: line("VmHWM:")? })
}
