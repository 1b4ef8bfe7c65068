//! What `cargo metadata` tells about the crates.

use crate::workspace;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// The crates of the workspace and all they depend on.
#[derive(Deserialize)]
pub(super) struct Metadata {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
}

/// One crate.
#[derive(Deserialize)]
pub(super) struct Package {
    id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    pub(super) manifest_path: String,
    pub(super) dependencies: Vec<Dependency>,
    publish: Option<Vec<String>>,
}

/// One dependency as the manifest declares it.
#[derive(Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) kind: Option<String>,
    pub(super) optional: bool,
}

impl Dependency {
    /// Not only for tests.
    pub(super) fn is_built(&self) -> bool {
        self.kind.as_deref() != Some("dev")
    }
}

impl Package {
    /// Goes to the registry.
    pub(super) fn is_published(&self) -> bool {
        self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }

    /// The folder of the crate relative to `root`.
    pub(super) fn folder<'a>(&'a self, root: &Path) -> &'a Path {
        let manifest = Path::new(&self.manifest_path);
        let folder = manifest.parent().unwrap_or(manifest);
        folder.strip_prefix(root).unwrap_or(folder)
    }
}

impl Metadata {
    pub(super) fn load(root: &Path) -> Result<Self> {
        let json = workspace::output_of(workspace::cargo(root).args([
            "metadata",
            "--format-version",
            "1",
            "--all-features",
        ]))?;
        serde_json::from_str(&json).context("cargo metadata prints what this task cannot read")
    }

    /// The crates of this workspace.
    pub(super) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    /// The crates of others.
    pub(super) fn foreign(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| !self.workspace_members.contains(&package.id))
    }
}
