//! `bench`: builds the load generator, the project's server and the peers' for release, then measures them in turn.

use crate::interop::build_open62541;
use crate::{demo, workspace};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is to be measured.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Measure beside these peers: async-opcua, open62541; all without this.
    #[arg(long = "peer", value_name = "NAME")]
    peers: Vec<String>,
    /// Measure the project's own server only.
    #[arg(long, conflicts_with = "peers")]
    alone: bool,
    /// Count allocations, system calls and instructions of requests instead, and fail if one is more than 3 % above
    /// the committed baseline.
    #[arg(long, conflicts_with = "peers")]
    check: bool,
    /// Count, and write the baseline anew.
    #[arg(long, conflicts_with_all = ["check", "peers"])]
    write_baseline: bool,
    /// Passed on: --scenario NAME, --rounds N, --seconds S, --json FILE.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// A peer whose server is a package outside the workspace.
struct Peer {
    name: &'static str,
    build: fn(&Path) -> Result<PathBuf>,
}

/// Counts that no change may make much worse.
const BASELINE: &str = "bench/baseline.json";

const PEERS: &[Peer] = &[
    Peer { name: "async-opcua", build: |root| build_peer(root, "bench/peers/async-opcua") },
    Peer { name: "open62541", build: build_open62541 },
];

/// Builds everything, runs the bench, passes its tables through.
pub(crate) fn run(options: &Options) -> Result<()> {
    let root = workspace::root();
    let build = |program| demo::build_package(&root, "uaforge-bench", program, demo::Profile::Release);
    let mut command = Command::new(build("uaforge-bench")?);
    command.arg("--own").arg(build("bench_server")?).arg("--echo").arg(build("bench_echo")?);
    if options.check || options.write_baseline {
        command.arg(if options.check { "--check" } else { "--write" }).arg(root.join(BASELINE));
        return finish(command);
    }
    for name in &options.peers {
        if !PEERS.iter().any(|peer| peer.name == name) {
            bail!(
                "there is no peer `{name}`; peers: {}",
                PEERS.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")
            );
        }
    }
    let wanted =
        |peer: &&Peer| options.peers.is_empty() || options.peers.iter().any(|name| name == peer.name);
    for peer in PEERS.iter().filter(wanted).filter(|_| !options.alone) {
        let program = (peer.build)(&root).with_context(|| format!("the peer {}", peer.name))?;
        command.arg("--peer").arg(format!("{}={}", peer.name, program.display()));
    }
    command.args(&options.rest);
    finish(command)
}

fn finish(mut command: Command) -> Result<()> {
    let status = command.status().context("cannot run the bench")?;
    if status.success() { Ok(()) } else { bail!("the bench ended with {status}") }
}

fn build_peer(root: &Path, folder: &str) -> Result<PathBuf> {
    let mut command = workspace::cargo(&root.join(folder));
    command.arg("build").env("CARGO_TARGET_DIR", root.join("target/peers"));
    demo::program_of(&mut command, demo::Profile::Release)
}
