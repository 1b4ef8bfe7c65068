//! `demo`: the templates as a user builds them, the server on loopback, the typed client.

use crate::process::{self, Server};
use crate::workspace;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const START: Duration = Duration::from_secs(20);
const CLIENT: Duration = Duration::from_secs(60);
const STOP: Duration = Duration::from_secs(10);

/// What the demo is asked to do.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Leave the server running until ctrl-c, for a client of yours.
    #[arg(long)]
    serve: bool,
    /// The port on loopback; without it `--serve` takes 4840 and the demo any free one.
    #[arg(long, value_name = "N")]
    port: Option<u16>,
}

/// Builds, starts, runs, stops.
pub(crate) fn run(options: &Options) -> Result<()> {
    let root = workspace::root();
    let server = build(&root, "server", Profile::Debug)?;
    if options.serve {
        let server = start_server(&server, options.port.unwrap_or(4840))?;
        headline(&format!("the server listens on {} (ctrl-c ends it)", server.url()));
        return server.attend();
    }
    let client = build(&root, "client", Profile::Debug)?;
    let server = start_server(&server, options.port.unwrap_or(0))?;
    headline(&format!("the server listens on {}", server.url()));
    let begun = Instant::now();
    process::run_bounded(Command::new(client).arg(server.url()), CLIENT)?;
    let took = begun.elapsed();
    server.stop(STOP)?;
    headline(&format!("the client is done after {} ms; the server has stopped", took.as_millis()));
    Ok(())
}

/// Starts the server program on loopback.
pub(crate) fn start_server(program: &Path, port: u16) -> Result<Server> {
    let url = format!("opc.tcp://127.0.0.1:{port}");
    Server::start(Command::new(program).arg(url), START)
}

/// How a program is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Debug,
    Release,
}

/// Builds `templates/<name>`, a workspace of its own, and gives the path of its program.
pub(crate) fn build(root: &Path, name: &str, profile: Profile) -> Result<PathBuf> {
    let folder = root.join("templates").join(name);
    if !folder.join("Cargo.toml").is_file() {
        bail!("there is no template {}", folder.display());
    }
    headline(&format!("cargo build in templates/{name}"));
    let mut command = workspace::cargo(&folder);
    command.arg("build");
    // Both templates use one target folder, so that what they share is built once.
    command.env("CARGO_TARGET_DIR", root.join("target/templates"));
    program_of(&mut command, profile)
}

/// Builds a program of this workspace and gives its path.
pub(crate) fn build_package(root: &Path, package: &str, program: &str, profile: Profile) -> Result<PathBuf> {
    let mut command = workspace::cargo(root);
    command.args(["build", "--package", package, "--bin", program]);
    program_of(&mut command, profile)
}

/// Runs a build command; the program is what cargo says that it made last.
pub(crate) fn program_of(command: &mut Command, profile: Profile) -> Result<PathBuf> {
    if profile == Profile::Release {
        command.arg("--release");
    }
    command.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let output = command.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!("the build failed ({})", output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    messages.filter_map(|message| message.executable).next_back().context("the build made no program")
}

/// A line of cargo's output; only those with a program matter.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
}

fn headline(text: &str) {
    println!("── {text}");
}
