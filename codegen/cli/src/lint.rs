//! `uaforge lint FILE…`: all diagnostics of some files, and advice.

use std::path::PathBuf;
use std::process::ExitCode;

use uaforge_model::{Loader, Severity};

use crate::{MessageFormat, print_diagnostics, status};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// NodeSet2 files, type dictionaries (BSD), identifier tables (CSV) and interface files that belong together,
    /// those of required models among them; the base model is known
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Documented repairs of published files; each that is applied is told
    #[arg(long, value_name = "FILE")]
    repair: Vec<PathBuf>,
    /// Tables of identifiers (CSV) that the files are held against
    #[arg(long, value_name = "FILE")]
    identifiers: Vec<PathBuf>,
    /// How diagnostics are printed
    #[arg(long, value_enum, default_value = "human")]
    message_format: MessageFormat,
    /// Go on where a required model is older than asked for
    #[arg(long)]
    allow_older_models: bool,
    /// Leave out references of an unknown type
    #[arg(long)]
    drop_unknown_references: bool,
    /// Leave out the advice, codes UAF05xx
    #[arg(long)]
    no_advice: bool,
    /// Show every diagnostic, not the first ten of each code in a file
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let loader = Loader::new()
        .allow_older_models(arguments.allow_older_models)
        .drop_unknown_references(arguments.drop_unknown_references)
        .lints(!arguments.no_advice);
    let loader = arguments.repair.iter().fold(loader, |loader, file| loader.repair_file(file));
    let loader =
        arguments.identifiers.iter().fold(loader, |loader, file| loader.identifiers_file(None, file));
    let loaded = arguments.files.iter().fold(loader, |loader, file| loader.file(file)).load();
    print_diagnostics(&loaded, arguments.message_format, arguments.all);
    if arguments.message_format == MessageFormat::Human {
        let count = |severity| loaded.diagnostics.iter().filter(|found| found.severity == severity).count();
        let [errors, warnings, notes] = [Severity::Error, Severity::Warning, Severity::Note].map(count);
        eprintln!("{errors} errors, {warnings} warnings, {notes} notes");
    }
    status(&loaded)
}
