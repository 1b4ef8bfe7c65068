//! `uaforge diff OLD NEW`: what a new version of a model breaks.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;
use uaforge_model::diagnostic::codes;
use uaforge_model::diff::{Bump, Comparison, compare};
use uaforge_model::{Diagnostic, Loaded, Loader, Severity};

use crate::{MessageFormat, print_diagnostics};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The released version: a NodeSet2 file or a model interface file
    old: PathBuf,
    /// The version to be released
    new: PathBuf,
    /// Files of models that both require
    #[arg(long, num_args = 1..)]
    with: Vec<PathBuf>,
    /// The largest bump that the release makes; a change that needs more ends with status 1
    #[arg(long, value_enum, default_value = "minor")]
    allow: Allow,
    /// How changes are printed
    #[arg(long, value_enum, default_value = "human")]
    message_format: MessageFormat,
}

/// What a release may be.
#[derive(Clone, Copy, ValueEnum)]
enum Allow {
    /// No change at all
    None,
    /// Behavioural changes
    Patch,
    /// Additive changes too
    Minor,
    /// Any change
    Major,
}

impl Allow {
    fn bump(self) -> Bump {
        match self {
            Allow::None => Bump::None,
            Allow::Patch => Bump::Patch,
            Allow::Minor => Bump::Minor,
            Allow::Major => Bump::Major,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let load = |file: &Path| arguments.with.iter().fold(Loader::new().file(file), Loader::file).load();
    let (old, new) = (load(&arguments.old), load(&arguments.new));
    let mut failed = false;
    for loaded in [&old, &new] {
        if loaded.diagnostics.iter().any(prevents) {
            print_diagnostics(loaded, arguments.message_format, false);
            failed = true;
        }
    }
    if failed {
        return ExitCode::from(2);
    }
    let comparison = compare(&old.set, &models(&old), &new.set, &models(&new));
    let mut out = std::io::stdout().lock();
    let written = match arguments.message_format {
        MessageFormat::Human => human(&mut out, &comparison),
        MessageFormat::Json => lines(&mut out, &comparison),
    };
    // A reader that closes the pipe early has what it wants.
    if written.is_err_and(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
        return ExitCode::from(2);
    }
    if comparison.bump() > arguments.allow.bump() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// An error after which a comparison would mislead. What required models say is not needed.
fn prevents(found: &Diagnostic) -> bool {
    let required = [codes::MISSING_MODEL, codes::MODEL_TOO_OLD, codes::UNKNOWN_ALIAS];
    found.severity == Severity::Error && !required.contains(&found.code)
}

/// The models of the compared file.
fn models(loaded: &Loaded) -> Vec<String> {
    let first = loaded.documents.iter().filter(|document| document.file == 0);
    first.flat_map(|document| &document.models).map(|ns| loaded.set.uri(*ns).to_owned()).collect()
}

fn human(out: &mut impl Write, comparison: &Comparison) -> std::io::Result<()> {
    for change in &comparison.changes {
        let classes: Vec<&str> = change.classes.iter().map(|class| class.as_str()).collect();
        writeln!(out, "{}: {} [{}]", classes.join(", "), change.message, change.kind)?;
    }
    writeln!(out, "{} changes; this needs {}", comparison.changes.len(), comparison.bump().describe())
}

fn lines(out: &mut impl Write, comparison: &Comparison) -> std::io::Result<()> {
    for change in &comparison.changes {
        let classes: Vec<&str> = change.classes.iter().map(|class| class.as_str()).collect();
        let line = json!({
            "type": "change", "kind": change.kind, "classes": classes, "model": change.model,
            "node": change.node, "name": change.name, "message": change.message,
        });
        writeln!(out, "{line}")?;
    }
    let line =
        json!({ "type": "summary", "changes": comparison.changes.len(), "bump": comparison.bump().as_str() });
    writeln!(out, "{line}")
}
