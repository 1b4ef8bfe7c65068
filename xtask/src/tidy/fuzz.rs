//! The fuzz targets: apart from the workspace, each a program of its manifest, each run on stable too.

use super::Findings;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder that cargo-fuzz works in.
const FOLDER: &str = "tests/fuzz";

/// The test that runs the functions of all targets without cargo-fuzz.
const STABLE: &str = "tests/tests/fuzz_targets.rs";

pub(super) fn check(root: &Path, files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    let workspace = read_table(&root.join("Cargo.toml"))?;
    let excluded = workspace.get("workspace").and_then(|table| table.get("exclude"));
    let is_excluded = |list: &toml::value::Array| list.iter().any(|path| path.as_str() == Some(FOLDER));
    if !excluded.and_then(toml::Value::as_array).is_some_and(is_excluded) {
        findings.general(format!("Cargo.toml: the workspace must exclude {FOLDER}"));
    }
    let manifest = read_table(&root.join(FOLDER).join("Cargo.toml"))?;
    let programs = programs(&manifest);
    let stable = fs::read_to_string(root.join(STABLE)).with_context(|| STABLE.to_owned())?;
    let targets = files.iter().filter(|path| path.starts_with(Path::new(FOLDER).join("fuzz_targets")));
    for path in targets.filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
        let inside = path.strip_prefix(FOLDER).unwrap_or(path);
        if !programs.iter().any(|program| Path::new(program) == inside) {
            findings.at(path, 1, format!("is no program of {FOLDER}/Cargo.toml"));
        }
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if !stable.contains(&format!("fn {name}()")) {
            findings.at(path, 1, format!("{STABLE} has no test {name}"));
        }
    }
    Ok(())
}

fn read_table(path: &Path) -> Result<toml::Table> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is no TOML", path.display()))
}

/// The paths of the programs.
fn programs(manifest: &toml::Table) -> Vec<&str> {
    let bins = manifest.get("bin").and_then(toml::Value::as_array);
    let paths = bins.into_iter().flatten().filter_map(|bin| bin.get("path"));
    paths.filter_map(toml::Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::programs;

    #[test]
    fn programs_by_path() {
        let manifest = "[[bin]]\npath = \"a.rs\"\n[[bin]]\nname = \"b\"\npath = \"b.rs\"\n";
        assert_eq!(programs(&manifest.parse().expect("TOML")), ["a.rs", "b.rs"]);
        assert!(programs(&toml::Table::new()).is_empty());
    }
}
