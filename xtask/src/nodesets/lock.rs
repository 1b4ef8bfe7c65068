//! models.toml says which models there are, models.lock which bytes were taken.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Both files, checked against each other.
pub(crate) struct Catalogue {
    pub(crate) models: BTreeMap<String, Model>,
    pub(crate) lock: Lock,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    packages: BTreeMap<String, Package>,
    models: BTreeMap<String, Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Package {
    registry: String,
    version: String,
}

/// One model of models.toml.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    pub(crate) uri: String,
    package: String,
    path: String,
    /// The folder of the crate that is generated from it.
    pub(crate) folder: Option<String>,
    /// The model whose file the static tables are made from, if it is not this one.
    pub(crate) nodes: Option<String>,
}

/// The pinned packages and files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    package: Vec<LockedPackage>,
    pub(crate) model: Vec<LockedModel>,
}

/// One package as it was taken from its registry.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockedPackage {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) sha256: String,
    #[serde(skip)]
    pub(crate) registry: String,
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
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockedModel {
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) version: String,
    pub(crate) publication_date: String,
    pub(crate) package: String,
    package_version: String,
    pub(crate) path: String,
    pub(crate) sha256: String,
}

impl Catalogue {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let manifest: Manifest = read_toml(&root.join("models/models.toml"))?;
        let mut lock: Lock = read_toml(&root.join("models/models.lock"))?;
        for package in &mut lock.package {
            let Some(wanted) = manifest.packages.get(&package.name) else {
                bail!("models.lock pins {}, which models.toml does not name", package.name);
            };
            if wanted.version != package.version {
                bail!(
                    "models.toml wants {} {}, but models.lock pins {}",
                    package.name,
                    wanted.version,
                    package.version
                );
            }
            if !matches!(wanted.registry.as_str(), "pypi" | "npm") {
                bail!("{}: unknown registry {:?}", package.name, wanted.registry);
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

    fn check_models(&self) -> Result<()> {
        for name in self.models.keys() {
            if !self.lock.model.iter().any(|locked| locked.name == *name) {
                bail!("models.lock pins no model {name}");
            }
        }
        for locked in &self.lock.model {
            let Some(model) = self.models.get(&locked.name) else {
                bail!("models.lock pins {}, which models.toml does not name", locked.name);
            };
            let package = self.package(&locked.package)?;
            if (&model.uri, &model.package, &model.path) != (&locked.uri, &locked.package, &locked.path)
                || package.version != locked.package_version
            {
                bail!("{}: models.toml and models.lock differ", locked.name);
            }
            if locked.publication_date.is_empty() {
                bail!("{}: models.lock has no publication date", locked.name);
            }
        }
        Ok(())
    }
}

fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not as expected", path.display()))
}
