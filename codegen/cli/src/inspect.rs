//! `uaforge inspect FILE`: what a file is, or its canonical form.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use uaforge_model::canonical::{canonical, class_name};
use uaforge_model::resolved::{Model, ModelSet};
use uaforge_model::{Loaded, Loader};

use crate::{MessageFormat, print_diagnostics};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The NodeSet2 file
    file: PathBuf,
    /// Files of models that it requires; without one of the base model, the built-in interface is taken
    #[arg(long, num_args = 1..)]
    with: Vec<PathBuf>,
    /// Print the canonical form of the file's models, and nothing else
    #[arg(long)]
    canonical: bool,
    /// How diagnostics are printed
    #[arg(long, value_enum, default_value = "human")]
    message_format: MessageFormat,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let loader =
        arguments.with.iter().fold(Loader::new().file(&arguments.file), |loader, file| loader.file(file));
    let loaded = loader.load();
    print_diagnostics(&loaded, arguments.message_format);
    let mut out = std::io::stdout().lock();
    let models = models(&loaded);
    let written = models.into_iter().try_for_each(|model| match arguments.canonical {
        true => out.write_all(canonical(&loaded.set, model.ns).text().as_bytes()),
        false => summary(&mut out, &loaded.set, model),
    });
    // A reader that closes the pipe early has what it wants.
    if loaded.has_errors() || written.is_err_and(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The models of the first file.
fn models(loaded: &Loaded) -> Vec<&Model> {
    let first = loaded.documents.iter().find(|document| document.file == 0);
    let namespaces: BTreeSet<_> = first.iter().flat_map(|document| document.models.iter().copied()).collect();
    loaded.set.models.iter().filter(|model| namespaces.contains(&model.ns)).collect()
}

fn summary(out: &mut impl Write, set: &ModelSet, model: &Model) -> std::io::Result<()> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    writeln!(out, "model       {}", set.uri(model.ns))?;
    writeln!(out, "version     {} of {}", text(&model.version), text(&model.publication_date))?;
    for required in &model.required {
        writeln!(out, "requires    {} of {}", required.uri, text(&required.publication_date))?;
    }
    let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
    for node in model.nodes.values() {
        *classes.entry(class_name(node.class)).or_default() += 1;
    }
    let classes: Vec<String> = classes.into_iter().map(|(class, count)| format!("{count} {class}")).collect();
    writeln!(out, "nodes       {} ({})", model.nodes.len(), classes.join(", "))?;
    writeln!(out, "references  {}", model.references.len())?;
    let hashes = canonical(set, model.ns).hashes();
    writeln!(out, "hash        {}", hashes.model)
}
