//! `uaforge inspect FILE`: what a file is, its types, the members of one type, or its canonical form.

mod summary;
mod types;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use uaforge_model::canonical::canonical;
use uaforge_model::resolved::Model;
use uaforge_model::{Loaded, Loader};

use crate::{MessageFormat, print_diagnostics, status};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A NodeSet2 file or a model interface file
    file: PathBuf,
    /// Files of models that it requires; without one of the base model, the built-in interface is taken
    #[arg(long, num_args = 1..)]
    with: Vec<PathBuf>,
    /// Print the canonical form of the file's models, and nothing else
    #[arg(long, conflicts_with_all = ["types", "type_name"])]
    canonical: bool,
    /// Print the tree of the models' types
    #[arg(long, conflicts_with = "type_name")]
    types: bool,
    /// Print the members of the type with this browse name, inherited ones too, or the fields of a data type
    #[arg(long = "type", value_name = "NAME")]
    type_name: Option<String>,
    /// How everything is printed
    #[arg(long, value_enum, default_value = "human")]
    message_format: MessageFormat,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let loader = arguments.with.iter().fold(Loader::new().file(&arguments.file), Loader::file);
    let loaded = loader.load();
    print_diagnostics(&loaded, arguments.message_format, false);
    let models = models(&loaded);
    let mut out = std::io::stdout().lock();
    let json = arguments.message_format == MessageFormat::Json;
    let set = &loaded.set;
    let mut found = arguments.type_name.is_none();
    let written = models.into_iter().try_for_each(|model| match &arguments.type_name {
        Some(name) => types::find(set, model, name).into_iter().try_for_each(|node| {
            found = true;
            if json { types::members_json(&mut out, set, node) } else { types::members(&mut out, set, node) }
        }),
        None if arguments.canonical => out.write_all(canonical(set, model.ns).text().as_bytes()),
        None if arguments.types && json => types::list_json(&mut out, set, model),
        None if arguments.types => types::tree(&mut out, set, model),
        None if json => summary::json(&mut out, set, model),
        None => summary::human(&mut out, set, model),
    });
    // A reader that closes the pipe early has what it wants.
    if written.is_err_and(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
        return ExitCode::FAILURE;
    }
    if !found && !loaded.has_errors() {
        eprintln!("the file's models have no type {}", arguments.type_name.as_deref().unwrap_or_default());
        return ExitCode::FAILURE;
    }
    status(&loaded)
}

/// The models of the first file.
fn models(loaded: &Loaded) -> Vec<&Model> {
    let first = loaded.documents.iter().find(|document| document.file == 0);
    let namespaces: BTreeSet<_> = first.iter().flat_map(|document| document.models.iter().copied()).collect();
    loaded.set.models.iter().filter(|model| namespaces.contains(&model.ns)).collect()
}
