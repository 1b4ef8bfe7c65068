//! models.toml says which packages are taken and what is made of their models, models.lock which bytes they were.

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Both files, checked against each other.
pub(crate) struct Catalogue {
    pub(crate) models: BTreeMap<String, Model>,
    pub(crate) lock: Lock,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) packages: BTreeMap<String, Package>,
    pub(super) models: BTreeMap<String, Model>,
}

/// A package of models.toml.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Package {
    pub(super) registry: String,
    pub(super) version: String,
    /// The folder of its NodeSets.
    pub(super) documents: String,
    /// Its files are the models' names; else models.toml names what is taken of it.
    #[serde(default)]
    pub(super) names_models: bool,
}

/// One model of models.toml: what is special about it.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    pub(super) package: Option<String>,
    pub(super) path: Option<String>,
    /// The name of the specification: a crate `models/<name>` is made of the model.
    pub(crate) title: Option<String>,
    /// The model whose file the static tables are made from, if it is not this one.
    pub(crate) nodes: Option<String>,
    /// Documents that are loaded beside it, in place of the newest of their URIs.
    #[serde(default)]
    pub(crate) with: Vec<String>,
}

/// The pinned packages and files.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    pub(super) package: Vec<LockedPackage>,
    pub(crate) model: Vec<LockedModel>,
}

/// One package as it was taken from its registry.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockedPackage {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) sha256: String,
    #[serde(skip)]
    pub(super) registry: String,
}

impl LockedPackage {
    /// The program that fetches it.
    pub(crate) fn client(&self) -> &'static str {
        if self.registry == "pypi" { "pip" } else { "npm" }
    }

    /// Name and version as its client wants them.
    pub(crate) fn specifier(&self) -> String {
        let equals = if self.registry == "pypi" { "==" } else { "@" };
        format!("{}{equals}{}", self.name, self.version)
    }
}

/// One NodeSet file, unpacked.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockedModel {
    pub(crate) name: String,
    /// The URI of its first model.
    pub(crate) uri: String,
    /// Empty where the file states none.
    pub(crate) version: String,
    /// Empty where the file states none.
    pub(crate) publication_date: String,
    pub(crate) package: String,
    pub(super) package_version: String,
    pub(crate) path: String,
    pub(crate) sha256: String,
    /// URIs of the models that it requires, but the base model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) requires: Vec<String>,
}

impl Catalogue {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let manifest = read_manifest(root)?;
        let mut lock: Lock = read_toml(&root.join(LOCK))?;
        for package in &mut lock.package {
            let Some(wanted) = manifest.packages.get(&package.name) else {
                bail!("models.lock pins {}, which models.toml does not name", package.name);
            };
            if wanted.version != package.version {
                bail!(
                    "models.toml wants {} {}, but models.lock pins {}; \
                     `cargo xtask fetch-nodesets --update-lock` pins anew",
                    package.name,
                    wanted.version,
                    package.version
                );
            }
            package.registry.clone_from(&wanted.registry);
        }
        let catalogue = Self { models: manifest.models, lock };
        catalogue.check_models()?;
        Ok(catalogue)
    }

    /// The locked package of that name.
    pub(crate) fn package(&self, name: &str) -> Result<&LockedPackage> {
        let found = self.lock.package.iter().find(|package| package.name == name);
        found.with_context(|| format!("models.lock pins no package {name}"))
    }

    /// The locked model of that name.
    pub(crate) fn locked(&self, name: &str) -> Result<&LockedModel> {
        let found = self.lock.model.iter().find(|model| model.name == name);
        found.with_context(|| format!("models.lock pins no model {name}"))
    }

    /// What models.toml says of a model.
    pub(crate) fn model(&self, name: &str) -> Model {
        self.models.get(name).cloned().unwrap_or_default()
    }

    /// The newest document of a URI; of equally new ones the first by name.
    pub(crate) fn newest(&self, uri: &str) -> Option<&LockedModel> {
        let of_uri = self.lock.model.iter().filter(|model| model.uri == uri);
        of_uri.rev().max_by(|a, b| a.publication_date.cmp(&b.publication_date))
    }

    fn check_models(&self) -> Result<()> {
        let locked: BTreeSet<&str> = self.lock.model.iter().map(|model| model.name.as_str()).collect();
        for (name, model) in &self.models {
            let others = model.nodes.iter().chain(&model.with);
            for wanted in std::iter::once(name).chain(others) {
                if !locked.contains(wanted.as_str()) {
                    bail!("models.lock pins no model {wanted}");
                }
            }
        }
        for model in &self.lock.model {
            let package = self.package(&model.package)?;
            if package.version != model.package_version {
                bail!("{}: models.toml and models.lock differ", model.name);
            }
        }
        Ok(())
    }
}

/// The file with the pinned packages and models.
pub(super) const LOCK: &str = "models/models.lock";

pub(super) fn read_manifest(root: &Path) -> Result<Manifest> {
    let manifest: Manifest = read_toml(&root.join("models/models.toml"))?;
    for (name, package) in &manifest.packages {
        if !matches!(package.registry.as_str(), "pypi" | "npm") {
            bail!("{name}: unknown registry {:?}", package.registry);
        }
    }
    Ok(manifest)
}

fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not as expected", path.display()))
}
