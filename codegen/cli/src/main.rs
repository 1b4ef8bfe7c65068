//! The `uaforge` command.

mod cert;
mod diff;
mod explain;
mod inspect;
mod lint;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use uaforge_model::diagnostic::{codes, json};
use uaforge_model::{Diagnostic, Loaded};

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
    /// Check files of models and report everything that is wrong
    Lint(lint::Arguments),
    /// Compare two versions of a model and say what the change breaks
    Diff(diff::Arguments),
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

/// Diagnostics go to standard error; with `Json` to standard output, all of them.
fn print_diagnostics(loaded: &Loaded, format: MessageFormat, all: bool) {
    match format {
        MessageFormat::Human => {
            let color = std::io::IsTerminal::is_terminal(&std::io::stderr());
            eprint!("{}", if all { loaded.report(color) } else { loaded.folded_report(color) });
        }
        MessageFormat::Json => {
            let mut out = std::io::stdout().lock();
            for diagnostic in &loaded.diagnostics {
                // A reader that closes the pipe early has what it wants.
                if writeln!(out, "{}", json(diagnostic, &loaded.sources)).is_err() {
                    return;
                }
            }
        }
    }
}

/// The exit status of a load: 0 without errors, 1 with errors, 2 when a file cannot be read.
fn status(loaded: &Loaded) -> ExitCode {
    let unread = |found: &Diagnostic| matches!(found.code, codes::UNREADABLE | codes::TOO_LARGE);
    if loaded.diagnostics.iter().any(unread) {
        return ExitCode::from(2);
    }
    if loaded.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Cert(arguments) => cert::run(&arguments),
    }
}
