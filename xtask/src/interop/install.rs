//! Puts packages of the registries into the ignored folder `.peers`, at pinned versions.

use crate::process::run_bounded;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(240);

/// A Python environment of its own with the packages of a requirements file; its interpreter.
pub(super) fn python(root: &Path, name: &str, requirements: &Path) -> Result<PathBuf> {
    let folder = root.join(".peers").join(name);
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    once(&folder, &[requirements], || {
        run_bounded(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder), PATIENCE)
            .context("cannot make a Python environment")?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r"]);
        run_bounded(pip.arg(requirements), PATIENCE).context("pip cannot install")
    })?;
    Ok(python)
}

/// The packages of a requirements file, in a folder that is not an environment.
pub(super) fn python_packages(root: &Path, name: &str, requirements: &Path) -> Result<PathBuf> {
    let folder = root.join(".peers").join(name);
    once(&folder, &[requirements], || {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        pip.args(["--root-user-action", "ignore", "--upgrade", "--target"]).arg(&folder);
        run_bounded(pip.arg("-r").arg(requirements), PATIENCE).context("pip cannot install")
    })?;
    Ok(folder)
}

/// The packages of a `package.json` with its lock; the folder that has `node_modules`.
pub(super) fn npm(root: &Path, name: &str, package: &Path) -> Result<PathBuf> {
    let folder = root.join(".peers").join(name);
    let files = ["package.json", "package-lock.json"].map(|file| package.join(file));
    once(&folder, &[&files[0], &files[1]], || {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        for file in &files {
            fs::copy(file, folder.join(file.file_name().unwrap_or_default()))?;
        }
        let mut npm = Command::new("npm");
        // No package runs a program while it is installed.
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]);
        run_bounded(npm.current_dir(&folder), PATIENCE).context("npm cannot install")
    })?;
    Ok(folder)
}

/// Runs `install` unless it was done from the same files.
fn once(folder: &Path, files: &[&Path], install: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut wanted = String::new();
    for file in files {
        wanted += &fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    let marker = folder.join("installed");
    if fs::read_to_string(&marker).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    println!("installing into {}", folder.display());
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    install()?;
    Ok(fs::write(marker, wanted)?)
}
