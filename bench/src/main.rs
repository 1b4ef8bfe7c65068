//! `uaforge-bench`: what `cargo xtask bench` runs once everything is built.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Parser;
use uaforge_bench::counts;
use uaforge_bench::report;
use uaforge_bench::scenario::{Options, Scenario};
use uaforge_bench::subject::{Subject, pin_load};

/// Measures servers against each other.
#[derive(Parser)]
struct Arguments {
    /// The project's own server.
    #[arg(long)]
    own: PathBuf,
    /// The program that only echoes.
    #[arg(long)]
    echo: Option<PathBuf>,
    /// A peer: NAME=PROGRAM with arguments; the port is added.
    #[arg(long = "peer", value_name = "NAME=PROGRAM…")]
    peers: Vec<String>,
    /// Scenarios; all without this.
    #[arg(long = "scenario", value_enum)]
    scenarios: Vec<Scenario>,
    /// Rounds, each with every server once.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of load in one round.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Writes the figures as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Counts instead of measuring, and fails if a count is worse than in this file.
    #[arg(long, value_name = "BASELINE")]
    check: Option<PathBuf>,
    /// Counts instead of measuring, and writes this file.
    #[arg(long, value_name = "BASELINE", conflicts_with = "check")]
    write: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let subject = |name: &str, program: PathBuf, arguments: Vec<String>| Subject {
        name: name.into(),
        program,
        arguments,
        is_echo: false,
    };
    let own = subject("uaforge", arguments.own, Vec::new());
    if let Some(path) = arguments.write {
        let table = counts::count(&own)?;
        return Ok(std::fs::write(path, serde_json::to_string_pretty(&table)? + "\n")?);
    }
    if let Some(path) = arguments.check {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let baseline = serde_json::from_str(&text).context("the baseline")?;
        for line in counts::check(&counts::count(&own)?, &baseline)? {
            println!("{line}");
        }
        return Ok(());
    }
    let mut subjects = vec![own];
    for peer in &arguments.peers {
        let (name, command) = peer.split_once('=').context("a peer is NAME=PROGRAM")?;
        let mut words = command.split_whitespace().map(String::from);
        let program = words.next().context("a peer has a program")?.into();
        subjects.push(subject(name, program, words.collect()));
    }
    if let Some(program) = arguments.echo {
        subjects.push(Subject { is_echo: true, ..subject("echo", program, Vec::new()) });
    }
    let scenarios = if arguments.scenarios.is_empty() { Scenario::ALL } else { &arguments.scenarios };
    let options = Options { rounds: arguments.rounds, seconds: arguments.seconds };
    pin_load();
    let mut rows = Vec::new();
    for scenario in scenarios {
        eprintln!("── {scenario:?}");
        let new = scenario.run(&subjects, &options)?;
        print!("{}", report::markdown(&new));
        rows.extend(new);
    }
    if let Some(path) = arguments.json {
        std::fs::write(path, serde_json::to_string_pretty(&rows)?)?;
    }
    Ok(())
}
