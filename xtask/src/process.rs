//! Child processes that do not outlive the task and are bounded in time.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// A server that this task started. Dropping it ends the process.
pub(crate) struct Server {
    child: Child,
    url: String,
    rest: Receiver<String>,
}

impl Server {
    /// Starts `command` and waits until it prints a line that ends with its address.
    pub(crate) fn start(command: &mut Command, patience: Duration) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let output = child.stdout.take().context("the server has no output")?;
        let (lines, rest) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
        let mut server = Self { child, url: String::new(), rest };
        server.url = server.wait_for_address(patience)?;
        Ok(server)
    }

    /// The address that the server printed.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    fn wait_for_address(&mut self, patience: Duration) -> Result<String> {
        let until = Instant::now() + patience;
        let mut seen = String::new();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.rest.recv_timeout(left) else {
                let ended = wait(&mut self.child, Duration::from_millis(100))?;
                let state = ended.map_or("it is silent".to_owned(), |status| status.to_string());
                bail!("the server printed no address ({state})\n{seen}");
            };
            let last = line.split_whitespace().last().unwrap_or_default();
            if last.starts_with("opc.tcp://") {
                return Ok(last.to_owned());
            }
            seen.push_str(&line);
            seen.push('\n');
        }
    }

    /// Asks the server to stop and waits for it; gives what it printed after its address.
    pub(crate) fn stop(mut self, patience: Duration) -> Result<String> {
        interrupt(&self.child)?;
        let Some(status) = wait(&mut self.child, patience)? else {
            bail!("the server did not stop within {patience:?}");
        };
        if !status.success() {
            bail!("the server ended with {status}");
        }
        Ok(self.rest.try_iter().map(|line| line + "\n").collect())
    }

    /// Waits until the server ends by itself, printing what it prints.
    pub(crate) fn attend(mut self) -> Result<()> {
        while let Ok(line) = self.rest.recv() {
            println!("{line}");
        }
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { bail!("the server ended with {status}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // Nobody is left to tell when ending the process fails as well.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Runs `command` to its end with its output passed through; ends it when it takes too long.
pub(crate) fn run_bounded(command: &mut Command, patience: Duration) -> Result<()> {
    let program = Path::new(command.get_program()).display().to_string();
    let mut child =
        command.stdin(Stdio::null()).spawn().with_context(|| format!("cannot start {program}"))?;
    match wait(&mut child, patience)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("{program} ended with {status}"),
        None => {
            child.kill()?;
            child.wait()?;
            bail!("{program} did not end within {patience:?}")
        }
    }
}

fn wait(child: &mut Child, patience: Duration) -> Result<Option<std::process::ExitStatus>> {
    let until = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What ctrl-c does, where the system has signals.
fn interrupt(child: &Child) -> Result<()> {
    let status =
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().context("cannot run `kill`")?;
    if status.success() { Ok(()) } else { bail!("`kill` failed ({status})") }
}

#[cfg(all(test, unix))]
mod tests {
    use super::{Server, run_bounded};
    use std::process::Command;
    use std::time::{Duration, Instant};

    const SHORT: Duration = Duration::from_secs(5);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_server_is_found_and_stopped() {
        let script = "trap 'echo bye; exit 0' INT; echo hello; echo at opc.tcp://127.0.0.1:1; \
                      while :; do sleep 0.05; done";
        let server = Server::start(&mut shell(script), SHORT).unwrap();
        assert_eq!(server.url(), "opc.tcp://127.0.0.1:1");
        assert_eq!(server.stop(SHORT).unwrap(), "bye\n");
    }

    #[test]
    fn a_server_that_ends_without_an_address_is_told_with_its_words() {
        let error = Server::start(&mut shell("echo no port; exit 3"), SHORT).err().unwrap().to_string();
        assert!(error.contains("no port") && error.contains('3'), "{error}");
    }

    #[test]
    fn what_takes_too_long_is_ended() {
        let begun = Instant::now();
        assert!(run_bounded(&mut shell("sleep 60"), Duration::from_millis(50)).is_err());
        assert!(begun.elapsed() < SHORT);
    }
}
