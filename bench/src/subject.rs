//! Servers under test: processes of their own, on a core of their own.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// A server program and what is known of it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its name in the table.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments before the port.
    pub arguments: Vec<String>,
    /// It answers frames with frames and knows no protocol.
    pub is_echo: bool,
}

/// The core that servers run on; the load has the other.
const SERVER_CORE: &str = "0";
const START: Duration = Duration::from_secs(60);
const ANSWER: Duration = Duration::from_secs(10);

/// A running server. Dropping it ends the process.
pub struct Running {
    child: Child,
    printed: mpsc::Receiver<String>,
    /// Where it listens.
    pub address: SocketAddr,
    /// Time from exec to the open port.
    pub started_in: Duration,
}

impl Subject {
    /// The command that starts it, under the tool that binds it to its core where that exists.
    fn command(&self, port: u16) -> Command {
        let mut command = if pins() {
            let mut command = Command::new("taskset");
            command.args(["-c", SERVER_CORE]).arg(&self.program);
            command
        } else {
            Command::new(&self.program)
        };
        command.args(&self.arguments).arg(port.to_string());
        command
    }

    /// Starts the server on a free port, with more arguments behind the port, and waits until it listens.
    ///
    /// # Errors
    /// It ends, or does not listen in time.
    pub fn start(&self, more: &[String]) -> Result<Running> {
        let port = free_port()?;
        let mut command = self.command(port);
        command.args(more).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let begun = Instant::now();
        let mut child =
            command.spawn().with_context(|| format!("cannot start {}", self.program.display()))?;
        let (lines, printed) = mpsc::channel();
        forward(child.stdout.take(), lines.clone());
        forward(child.stderr.take(), lines);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut running = Running { child, printed, address, started_in: Duration::ZERO };
        while std::net::TcpStream::connect(address).is_err() {
            if let Some(status) = running.child.try_wait()? {
                let said: Vec<String> = running.printed.iter().collect();
                bail!("{} ended: {status}\n{}", self.name, said.join("\n"));
            }
            if begun.elapsed() > START {
                bail!("{} does not listen", self.name);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        running.started_in = begun.elapsed();
        Ok(running)
    }
}

impl Running {
    /// The process id.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line to the server's input, and gives the line that it answers with.
    ///
    /// # Errors
    /// It does not answer.
    pub fn ask(&mut self) -> Result<String> {
        let input = self.child.stdin.as_mut().context("the server has no input")?;
        while self.printed.try_recv().is_ok() {}
        input.write_all(b"\n")?;
        self.printed.recv_timeout(ANSWER).context("the server does not answer on its output")
    }

    /// Ends the server's input, which stops it, and gives what it printed.
    ///
    /// # Errors
    /// It does not end by itself.
    pub fn finish(mut self) -> Result<String> {
        drop(self.child.stdin.take());
        let until = Instant::now() + START;
        while self.child.try_wait()?.is_none() {
            ensure!(Instant::now() < until, "the server does not stop");
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(self.printed.iter().collect::<Vec<_>>().join("\n"))
    }
}

/// Sends each line of a process's output on, until there is nobody who takes it.
fn forward(output: Option<impl Read + Send + 'static>, lines: mpsc::Sender<String>) {
    let Some(output) = output else { return };
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // What nobody waits for is read all the same, so that the process is never blocked by a full pipe.
            let _ = lines.send(line);
        }
    });
}

impl Drop for Running {
    fn drop(&mut self) {
        // A process that has ended already is what is wanted.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Whether processes can be bound to a core: the tool is there, and there is more than one.
#[must_use]
pub fn pins() -> bool {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores > 1 && Command::new("taskset").arg("--version").stdout(Stdio::null()).status().is_ok()
}

/// Binds this process, the load, to the last core.
pub fn pin_load() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if pins() {
        let process = std::process::id().to_string();
        // Without it the figures are noisier, not wrong.
        let _ = Command::new("taskset")
            .args(["-cp", &(cores - 1).to_string(), &process])
            .stdout(Stdio::null())
            .status();
    }
}

fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
