//! The documents of the corpus, each after those that it requires.

use crate::nodesets::{self, Catalogue, LockedModel};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use uaforge_model::NS0_URI;

/// One document and what it is loaded with.
pub(crate) struct Document {
    /// Its name in models.lock.
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) version: String,
    pub(crate) bytes: Arc<[u8]>,
    /// The documented repair of its file.
    pub(crate) repair: Option<PathBuf>,
    /// Documents of which it is given the interface: those of all models below it, by position.
    pub(crate) below: Vec<usize>,
    /// Documents that are loaded beside it.
    pub(crate) with: Vec<(String, Arc<[u8]>)>,
}

/// The wanted documents (all if none is named) and what they require, dependencies first.
pub(crate) fn plan(root: &Path, catalogue: &Catalogue, wanted: &[String]) -> Result<Vec<Document>> {
    let mut planner = Planner { root, catalogue, documents: Vec::new(), positions: BTreeMap::new() };
    let all: Vec<String> = catalogue.lock.model.iter().map(|model| model.name.clone()).collect();
    for name in if wanted.is_empty() { &all } else { wanted } {
        planner.add(catalogue.locked(name)?, &mut BTreeSet::new())?;
    }
    Ok(planner.documents)
}

struct Planner<'a> {
    root: &'a Path,
    catalogue: &'a Catalogue,
    documents: Vec<Document>,
    positions: BTreeMap<String, usize>,
}

impl Planner<'_> {
    fn add(&mut self, model: &LockedModel, open: &mut BTreeSet<String>) -> Result<usize> {
        if let Some(position) = self.positions.get(&model.name) {
            return Ok(*position);
        }
        if !open.insert(model.name.clone()) {
            bail!("{} requires itself", model.name);
        }
        let settings = self.catalogue.model(&model.name);
        let with: Vec<&LockedModel> =
            settings.with.iter().map(|name| self.catalogue.locked(name)).collect::<Result<_>>()?;
        let beside: BTreeSet<&str> = with.iter().map(|model| model.uri.as_str()).collect();
        let mut below = BTreeSet::new();
        let requires = model.requires.iter().chain(with.iter().flat_map(|model| &model.requires));
        for uri in requires.filter(|uri| *uri != NS0_URI && !beside.contains(uri.as_str())) {
            // A model that no document gives is the linter's to report.
            if let Some(required) = self.catalogue.newest(uri) {
                let position = self.add(required, open)?;
                below.insert(position);
                below.extend(&self.documents[position].below);
            }
        }
        let bytes = |model: &LockedModel| read(self.root, model);
        let document = Document {
            name: model.name.clone(),
            uri: model.uri.clone(),
            version: model.version.clone(),
            bytes: bytes(model)?,
            repair: nodesets::repair(self.root, &model.name),
            below: below.into_iter().collect(),
            with: with.iter().map(|model| Ok((model.name.clone(), bytes(model)?))).collect::<Result<_>>()?,
        };
        open.remove(&model.name);
        self.documents.push(document);
        self.positions.insert(model.name.clone(), self.documents.len() - 1);
        Ok(self.documents.len() - 1)
    }
}

fn read(root: &Path, model: &LockedModel) -> Result<Arc<[u8]>> {
    let path = nodesets::folder(root).join(format!("{}.xml", model.name));
    let bytes = fs::read(&path)
        .with_context(|| format!("cannot read {}; run `cargo xtask fetch-nodesets` first", path.display()))?;
    Ok(bytes.into())
}
