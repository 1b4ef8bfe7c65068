//! `fetch-nodesets --update-lock`: pins the packages of models.toml as they are now, and every document in them.

use super::archive::Archive;
use super::lock::{self, Lock, LockedModel, LockedPackage, Manifest, Package};
use super::{Source, download, sha256};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use uaforge_model::{Loader, NS0_URI};

const HEAD: &str = "# What `cargo xtask fetch-nodesets` takes and verifies: one entry a package, one a document.\n\
                    # `cargo xtask fetch-nodesets --update-lock` writes this file.\n\n";

/// Writes models.lock: every document of the packages, each content once but for names that the packages give twice.
pub(crate) fn update(from: Option<&Path>) -> Result<()> {
    let root = workspace::root();
    let manifest = lock::read_manifest(&root)?;
    let folder = super::folder(&root);
    let mut lock = Lock { package: Vec::new(), model: Vec::new() };
    let mut packages: Vec<(&String, &Package)> = manifest.packages.iter().collect();
    // Where two packages have the same file, the one that names its models well is taken.
    packages.sort_by_key(|(name, package)| (!package.names_models, *name));
    for (name, package) in packages {
        let mut locked = LockedPackage {
            name: name.clone(),
            version: package.version.clone(),
            sha256: String::new(),
            registry: package.registry.clone(),
        };
        let source = Source { folder: &folder, from, archives: BTreeMap::new() };
        let path = match source.packed_file(name) {
            Some(path) => path,
            None => download(&locked, &folder)?,
        };
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        locked.sha256 = sha256(&bytes);
        let archive = Archive::open(&path, bytes)?;
        pin(&archive, package, &locked, &manifest, &mut lock.model)?;
        lock.package.push(locked);
    }
    lock.model.sort_by(|a, b| a.name.cmp(&b.name));
    let text = HEAD.to_owned() + &toml::to_string(&lock)?;
    fs::write(root.join(lock::LOCK), text).context(lock::LOCK)?;
    println!("pinned {} documents of {} packages", lock.model.len(), lock.package.len());
    Ok(())
}

/// Adds the documents of one package.
fn pin(
    archive: &Archive,
    package: &Package,
    locked: &LockedPackage,
    manifest: &Manifest,
    models: &mut Vec<LockedModel>,
) -> Result<()> {
    let known: BTreeSet<String> = models.iter().map(|model| model.sha256.clone()).collect();
    for path in archive.documents(&package.documents)? {
        let bytes = archive.read(&path)?;
        let sha256 = sha256(&bytes);
        let named = manifest.models.iter().find(|(_, model)| {
            model.package.as_ref() == Some(&locked.name) && model.path.as_ref() == Some(&path)
        });
        let file = path.rsplit('/').next().unwrap_or(&path).to_owned();
        let name = match named {
            Some((name, _)) => name.clone(),
            None if package.names_models => file.split('.').next().unwrap_or(&file).to_owned(),
            None if known.contains(&sha256) => continue,
            None => bail!("{path} of {} is no file of another package: name it in models.toml", locked.name),
        };
        let mut model = LockedModel { name, path, sha256, ..described(&file, bytes)? };
        model.package.clone_from(&locked.name);
        model.package_version.clone_from(&locked.version);
        models.push(model);
    }
    Ok(())
}

/// What a document says of its models.
fn described(name: &str, bytes: Vec<u8>) -> Result<LockedModel> {
    let loaded = Loader::new().text(name, bytes).load();
    let document = loaded.documents.first().with_context(|| format!("{name} cannot be read"))?;
    let models = || document.models.iter().filter_map(|ns| loaded.set.model(*ns));
    let first = models().next().with_context(|| format!("{name} has no model"))?;
    let own: BTreeSet<&str> = models().map(|model| loaded.set.uri(model.ns)).collect();
    let mut requires: Vec<String> = Vec::new();
    for required in models().flat_map(|model| &model.required) {
        let uri = required.uri.to_string();
        if uri != NS0_URI && !own.contains(uri.as_str()) && !requires.contains(&uri) {
            requires.push(uri);
        }
    }
    Ok(LockedModel {
        name: String::new(),
        uri: loaded.set.uri(first.ns).to_owned(),
        version: first.version.clone().unwrap_or_default(),
        publication_date: first.publication_date.clone().unwrap_or_default(),
        package: String::new(),
        package_version: String::new(),
        path: String::new(),
        sha256: String::new(),
        requires,
    })
}
