//! `uaforge lint FILE…`: all diagnostics of some files.

use std::path::PathBuf;
use std::process::ExitCode;

use uaforge_model::{Loader, Severity};

use crate::{MessageFormat, print_diagnostics};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// NodeSet2 files, those of required models among them
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Documented repairs of published files; each that is applied is told
    #[arg(long, value_name = "FILE")]
    repair: Vec<PathBuf>,
    /// How diagnostics are printed
    #[arg(long, value_enum, default_value = "human")]
    message_format: MessageFormat,
    /// Go on where a required model is older than asked for
    #[arg(long)]
    allow_older_models: bool,
    /// Leave out references of an unknown type
    #[arg(long)]
    drop_unknown_references: bool,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let loader = Loader::new()
        .allow_older_models(arguments.allow_older_models)
        .drop_unknown_references(arguments.drop_unknown_references);
    let loader = arguments.repair.iter().fold(loader, |loader, file| loader.repair_file(file));
    let loaded = arguments.files.iter().fold(loader, |loader, file| loader.file(file)).load();
    print_diagnostics(&loaded, arguments.message_format);
    if arguments.message_format == MessageFormat::Human {
        let count = |severity| loaded.diagnostics.iter().filter(|found| found.severity == severity).count();
        eprintln!("{} errors, {} warnings", count(Severity::Error), count(Severity::Warning));
    }
    if loaded.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
