//! Bringing files to a wanted state, or telling how far they are from it.

use anyhow::{Context, Result, bail};
use similar::TextDiff;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// How many stale files, and lines of difference of each, are shown.
const SHOWN_FILES: usize = 5;
const SHOWN_LINES: usize = 16;

/// What the generator wants in the repository.
#[derive(Default)]
pub(super) struct Wanted {
    files: BTreeMap<PathBuf, Vec<u8>>,
    folders: BTreeSet<PathBuf>,
}

impl Wanted {
    /// A file, relative to the root.
    pub(super) fn file(&mut self, path: PathBuf, bytes: Vec<u8>) {
        self.files.insert(path, bytes);
    }

    /// A folder that holds nothing but what the generator writes.
    pub(super) fn folder(&mut self, path: PathBuf) {
        self.folders.insert(path);
    }

    /// Writes what changed and removes what is no longer wanted.
    pub(super) fn write(&self, root: &Path) -> Result<()> {
        let stale = self.stale(root)?;
        for path in &stale {
            let target = root.join(path);
            match self.files.get(path) {
                Some(bytes) => {
                    if let Some(folder) = target.parent() {
                        fs::create_dir_all(folder)?;
                    }
                    fs::write(&target, bytes)
                        .with_context(|| format!("cannot write {}", target.display()))?;
                    println!("wrote      {}", path.display());
                }
                None => {
                    fs::remove_file(&target)
                        .with_context(|| format!("cannot remove {}", target.display()))?;
                    println!("removed    {}", path.display());
                }
            }
        }
        println!("{} files, {} changed", self.files.len(), stale.len());
        Ok(())
    }

    /// Fails, showing the differences, unless everything is as wanted.
    pub(super) fn check(&self, root: &Path) -> Result<()> {
        let stale = self.stale(root)?;
        if stale.is_empty() {
            println!("{} files are as generated", self.files.len());
            return Ok(());
        }
        for path in stale.iter().take(SHOWN_FILES) {
            let found = fs::read(root.join(path)).unwrap_or_default();
            let wanted = self.files.get(path).map(Vec::as_slice).unwrap_or_default();
            println!("{}", difference(path, &found, wanted));
        }
        bail!("{} files are stale; run `cargo xtask regen-models` and commit them", stale.len())
    }

    /// The files that differ from what is wanted.
    fn stale(&self, root: &Path) -> Result<Vec<PathBuf>> {
        let mut stale: Vec<PathBuf> = Vec::new();
        for (path, bytes) in &self.files {
            if fs::read(root.join(path)).ok().as_ref() != Some(bytes) {
                stale.push(path.clone());
            }
        }
        for folder in &self.folders {
            let Ok(entries) = fs::read_dir(root.join(folder)) else {
                continue;
            };
            for entry in entries {
                let path = folder.join(entry?.file_name());
                if !self.files.contains_key(&path) && root.join(&path).is_file() {
                    stale.push(path);
                }
            }
        }
        stale.sort();
        Ok(stale)
    }
}

/// The beginning of a unified diff.
fn difference(path: &Path, found: &[u8], wanted: &[u8]) -> String {
    let (Ok(found), Ok(wanted)) = (std::str::from_utf8(found), std::str::from_utf8(wanted)) else {
        return format!("{}: {} bytes, should be {}", path.display(), found.len(), wanted.len());
    };
    let name = path.display().to_string();
    let diff = TextDiff::from_lines(found, wanted);
    let unified = diff.unified_diff().context_radius(2).header(&name, "generated").to_string();
    let mut lines = unified.lines();
    let mut text: String = lines.by_ref().take(SHOWN_LINES).map(|l| format!("{l}\n")).collect();
    let more = lines.count();
    if more > 0 {
        text.push_str(&format!("… {more} more lines\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::difference;
    use std::path::Path;

    #[test]
    fn shows_a_beginning() {
        let wanted: String = (0..40).map(|n| format!("line {n}\n")).collect();
        let text = difference(Path::new("a.rs"), b"line 0\n", wanted.as_bytes());
        assert!(text.starts_with("--- a.rs\n+++ generated\n"), "{text}");
        assert!(text.contains("+line 1\n") && text.ends_with("more lines\n"), "{text}");
        assert_eq!(difference(Path::new("b"), b"\xff", b"\xfe\xff"), "b: 1 bytes, should be 2");
    }
}
