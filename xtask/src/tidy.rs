//! `tidy`: the rules of the house, checked.

mod arrows;
mod excerpts;
mod functions;
mod fuzz;
mod licences;
mod metadata;
mod sources;

use crate::workspace;
use anyhow::{Result, bail};
use metadata::Metadata;
use std::path::{Path, PathBuf};

/// What breaks a rule, and where.
#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn at(&mut self, path: &Path, line: usize, text: impl AsRef<str>) {
        self.0.push(format!("{}:{line}: {}", path.display(), text.as_ref()));
    }

    fn general(&mut self, text: impl Into<String>) {
        self.0.push(text.into());
    }
}

/// Checks everything and prints all findings.
pub(crate) fn run() -> Result<()> {
    let root = workspace::root();
    let mut findings = Findings::default();
    let metadata = Metadata::load(&root)?;
    arrows::check(&root, &metadata, &mut findings)?;
    let models = Metadata::load(&root.join("models"))?;
    arrows::check_models(&root, &models, &mut findings)?;
    licences::check(&root, &metadata, &mut findings)?;
    let files: Vec<PathBuf> = workspace::files(&root)?;
    sources::check(&root, &files, &mut findings)?;
    excerpts::check(&root, &files, &mut findings);
    fuzz::check(&root, &files, &mut findings)?;
    findings.0.sort();
    for finding in &findings.0 {
        println!("{finding}");
    }
    if !findings.0.is_empty() {
        bail!("tidy: {} findings", findings.0.len());
    }
    println!(
        "tidy: {} files, {} crates of the workspace, {} of models, {} of others",
        files.len(),
        metadata.members().count(),
        models.members().count(),
        metadata.foreign().count()
    );
    Ok(())
}
