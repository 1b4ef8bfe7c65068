//! `interop`: other implementations against ours, in both directions.

mod dumps;
mod install;
mod matching;
mod peers;
mod plan;
mod statuses;
mod table;
mod whole;

pub(crate) use peers::build_open62541;

use crate::process::{Server, run_bounded};
use crate::workspace;
use anyhow::{Context, Result, bail};
use peers::{Ours, Peer};
use plan::{Check, Plan, Role};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use table::{Table, Verdict};

/// Time for all checks of one peer in one direction.
const CHECKS: Duration = Duration::from_secs(90);
const START: Duration = Duration::from_secs(60);
const STOP: Duration = Duration::from_secs(20);
const SPACE: &str = "tests/interop/space.json";

/// What to compare with.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Peers that must be there, or `all`; without this a missing one is skipped.
    #[arg(long, value_name = "PEER", value_delimiter = ',')]
    require: Vec<String>,
    /// Only these peers.
    #[arg(long, value_name = "PEER", value_delimiter = ',')]
    only: Vec<String>,
    /// Only checks whose name begins so.
    #[arg(long, value_name = "PREFIX", default_value = "")]
    check: String,
}

impl Options {
    fn requires(&self, peer: &str) -> bool {
        self.require.iter().any(|name| name == peer || name == "all")
    }

    fn wants(&self, peer: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == peer)
    }

    fn check(&self) -> Result<()> {
        let named = self
            .require
            .iter()
            .chain(&self.only)
            .find(|name| *name != "all" && !peers::NAMES.contains(&name.as_str()));
        match named {
            Some(name) => bail!("there is no peer {name}; there are {}", peers::NAMES.join(", ")),
            None => Ok(()),
        }
    }
}

/// Installs the peers and runs every comparison.
pub(crate) fn run(options: &Options) -> Result<()> {
    options.check()?;
    let root = workspace::root();
    let run = Run {
        plan: Plan::read(&root, &options.check)?,
        ours: Ours::build(&root)?,
        folder: root.join(".peers"),
        root,
    };
    fs::create_dir_all(&run.folder)?;
    let mut table = Table::default();
    for name in peers::NAMES.into_iter().filter(|name| options.wants(name)) {
        let begun = Instant::now();
        match Peer::install(&run.root, name) {
            Ok(peer) => run.peer(&peer, options.check.is_empty(), &mut table),
            Err(error) if options.requires(name) => {
                table.note(name, "install", Verdict::Failed(vec![format!("{error:#}")]));
            }
            Err(error) => table.note(name, "install", Verdict::Skipped(format!("{error:#}"))),
        }
        println!("── {name}: {:.1} s", begun.elapsed().as_secs_f32());
    }
    if table.print() { Ok(()) } else { bail!("not everything is as it should be") }
}

/// What all comparisons need.
struct Run {
    root: PathBuf,
    folder: PathBuf,
    plan: Plan,
    ours: Ours,
}

impl Run {
    /// Everything with one peer; what goes wrong is a verdict.
    fn peer(&self, peer: &Peer, whole: bool, table: &mut Table) {
        if whole && peer.name == "asyncua" {
            self.whole(peer, table);
        }
        if whole {
            self.structures(peer, table);
        }
        println!("── {} as client of our server", peer.name);
        self.direction(peer, Role::Client, self.ours.server(), peer.client(), table);
        println!("── our client at the server of {}", peer.name);
        self.direction(peer, Role::Server, peer.server(), self.ours.client(), table);
    }

    fn direction(&self, peer: &Peer, role: Role, server: Command, client: Command, table: &mut Table) {
        let word = if role == Role::Client { "client" } else { "server" };
        let column = format!("{} {word}", peer.name);
        let results = match self.conversation(peer, role, &column, server, client) {
            Ok(results) => results,
            Err((results, error)) => {
                table.note(&column, "runs to its end", Verdict::Failed(vec![format!("{error:#}")]));
                if results.is_empty() {
                    return;
                }
                results
            }
        };
        for check in &self.plan.checks {
            let verdict = self.verdict(peer, role, check, results.get(&check.name));
            table.note(&column, &check.name, verdict);
        }
    }

    /// Starts a server, lets a client carry out the plan, stops the server. What the client wrote
    /// before an error counts.
    fn conversation(
        &self,
        peer: &Peer,
        role: Role,
        column: &str,
        mut server: Command,
        mut client: Command,
    ) -> Result<HashMap<String, Outcome>, (HashMap<String, Outcome>, anyhow::Error)> {
        let file = self.folder.join(format!("{}.results", column.replace(' ', "-")));
        let plan = file.with_extension("plan");
        let mut talk = || -> Result<()> {
            if file.exists() {
                fs::remove_file(&file)?;
            }
            fs::write(&plan, self.plan.for_clients(peer.name, role)?.to_string())?;
            let server = Server::start(server.arg(self.root.join(SPACE)), START)?;
            client.arg(server.url()).arg(&plan).arg(&file);
            run_bounded(&mut client, CHECKS).context("the client")?;
            server.stop(STOP).context("the server").map(drop)
        };
        let ended = talk();
        let results = read_results(&file);
        match ended {
            Ok(()) => Ok(results),
            Err(error) => Err((results, error)),
        }
    }

    fn verdict(&self, peer: &Peer, role: Role, check: &Check, outcome: Option<&Outcome>) -> Verdict {
        let habit = self.plan.habit(peer.name, role, &check.name);
        if let Some(habit) = habit.filter(|habit| habit.spared) {
            return Verdict::Skipped(habit.why.clone());
        }
        let Some(outcome) = outcome else {
            return Verdict::Failed(vec!["the client wrote no result".to_owned()]);
        };
        if let Some(reason) = &outcome.skip {
            return Verdict::Skipped(reason.clone());
        }
        let mut found = self.plan.differences(check, &outcome.steps, &[]);
        if let Some(error) = &outcome.error {
            found.push(format!("the client gave up: {error}"));
        }
        if found.is_empty() {
            return Verdict::Passed;
        }
        let Some(habit) = habit else {
            found.push(format!("see {}", check.clause));
            return Verdict::Failed(found);
        };
        let as_known = match (&habit.error, &outcome.error) {
            (Some(known), Some(error)) => error.contains(known.as_str()),
            (None, None) => self.plan.differences(check, &outcome.steps, &habit.expect).is_empty(),
            _ => false,
        };
        if as_known {
            return Verdict::Habit;
        }
        found.push(format!("its habit is another one: {}", habit.why));
        Verdict::Failed(found)
    }
}

/// What a client wrote of one check.
#[derive(Deserialize)]
struct Outcome {
    name: String,
    #[serde(default)]
    steps: Vec<Value>,
    #[serde(default)]
    skip: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

fn read_results(file: &Path) -> HashMap<String, Outcome> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let outcomes = text.lines().filter_map(|line| serde_json::from_str::<Outcome>(line).ok());
    outcomes.map(|outcome| (outcome.name.clone(), outcome)).collect()
}
