//! The `uaforge` command.

mod cert;
mod explain;
mod inspect;
mod lint;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use uaforge_model::Loaded;
use uaforge_model::diagnostic::json;

#[derive(Parser)]
#[command(name = "uaforge", version, about = "OPC UA models: inspect, check, explain")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show what a NodeSet2 file is: models, counts and hashes, or its canonical form
    Inspect(inspect::Arguments),
    /// Check NodeSet2 files and report everything that is wrong
    Lint(lint::Arguments),
    /// Show the page of a diagnostic's code
    Explain(explain::Arguments),
    /// Make, show and trust certificates of applications
    Cert(cert::Arguments),
}

/// How diagnostics are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MessageFormat {
    /// With excerpts
    Human,
    /// One JSON object a line
    Json,
}

/// Diagnostics go to standard error; with `Json` to standard output.
fn print_diagnostics(loaded: &Loaded, format: MessageFormat) {
    match format {
        MessageFormat::Human => {
            let color = std::io::IsTerminal::is_terminal(&std::io::stderr());
            eprint!("{}", loaded.report(color));
        }
        MessageFormat::Json => {
            for diagnostic in &loaded.diagnostics {
                println!("{}", json(diagnostic, &loaded.sources));
            }
        }
    }
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Cert(arguments) => cert::run(&arguments),
    }
}
