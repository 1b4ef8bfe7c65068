//! `new-model`: an entry of models.toml for a public NodeSet and for those that it requires, then their crates.

use crate::nodesets::{Catalogue, LockedModel};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;

/// The model that gets a crate.
#[derive(clap::Args)]
pub(crate) struct NewModel {
    /// Its name in models.lock, and that of the folder: `models/<NAME>`.
    name: String,
    /// What the specification is called, such as "OPC UA for Robotics (OPC 40010-1)".
    #[arg(long)]
    title: Option<String>,
}

/// Adds the entries and generates.
pub(crate) fn run(options: &NewModel) -> Result<()> {
    let root = workspace::root();
    let catalogue = Catalogue::read(&root)?;
    let model = catalogue.locked(&options.name)?;
    if catalogue.model(&options.name).title.is_some() {
        bail!("{} has a crate already; `cargo xtask regen-models` generates it anew", options.name);
    }
    let mut entries = BTreeMap::new();
    missing(&catalogue, model, &mut entries)?;
    if let Some(title) = &options.title {
        entries.insert(options.name.clone(), title.clone());
    }
    if entries.keys().any(|name| catalogue.models.contains_key(name)) {
        bail!("models.toml has an entry without a title for one of {:?}: give it one", entries.keys());
    }
    let path = root.join("models/models.toml");
    let mut file = OpenOptions::new().append(true).open(&path).context("models/models.toml")?;
    for (name, title) in &entries {
        write!(file, "\n[models.{name}]\ntitle = {}\n", toml::Value::from(title.as_str()))?;
        println!("models.toml: {name}, {title:?}");
    }
    drop(file);
    super::run(false)
}

/// The model and those below it that have no crate yet, each with a title of its URI.
fn missing(catalogue: &Catalogue, model: &LockedModel, entries: &mut BTreeMap<String, String>) -> Result<()> {
    if catalogue.model(&model.name).title.is_some() || entries.contains_key(&model.name) {
        return Ok(());
    }
    let path = model.uri.split_once("/UA/").map_or(model.uri.as_str(), |(_, path)| path);
    entries.insert(model.name.clone(), format!("OPC UA for {}", path.trim_matches('/').replace('/', " ")));
    for uri in &model.requires {
        let required = catalogue.newest(uri).with_context(|| format!("models.lock pins no {uri}"))?;
        missing(catalogue, required, entries)?;
    }
    Ok(())
}
