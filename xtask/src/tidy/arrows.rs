//! The crate graph: which crate may depend on which (ARCHITECTURE.md).

use super::Findings;
use super::metadata::{Metadata, Package};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Each crate with the crates of the workspace that it may depend on.
/// Crates under `models/` follow `MODEL`; xtask, tests and the command line may use anything.
const ARROWS: &[(&str, &[&str])] = &[
    ("uaforge-model", &[]),
    ("uaforge-emit", &[]),
    ("uaforge-publish", &[]),
    ("uaforge-codegen", &["uaforge-model", "uaforge-emit", "uaforge-publish"]),
    ("uaforge-macros", &["uaforge-emit"]),
    ("uaforge-codec", &[]),
    ("uaforge-types", &["uaforge-codec"]),
    ("uaforge-nodes", &["uaforge-codec", "uaforge-types"]),
    ("uaforge-channel", &["uaforge-codec", "uaforge-types"]),
    ("uaforge-crypto", &["uaforge-codec", "uaforge-types", "uaforge-channel"]),
    ("uaforge-net", &["uaforge-codec"]),
    (
        "uaforge-client",
        &[
            "uaforge-codec",
            "uaforge-types",
            "uaforge-nodes",
            "uaforge-channel",
            "uaforge-crypto",
            "uaforge-net",
        ],
    ),
    (
        "uaforge-server",
        &[
            "uaforge-codec",
            "uaforge-types",
            "uaforge-nodes",
            "uaforge-channel",
            "uaforge-crypto",
            "uaforge-net",
        ],
    ),
    (
        "uaforge",
        &[
            "uaforge-codec",
            "uaforge-types",
            "uaforge-nodes",
            "uaforge-channel",
            "uaforge-crypto",
            "uaforge-net",
            "uaforge-client",
            "uaforge-server",
            "uaforge-macros",
            "uaforge-ns0",
        ],
    ),
];

/// What a model may depend on, beside other models.
const MODEL: &[&str] =
    &["uaforge-types", "uaforge-nodes", "uaforge-client", "uaforge-server", "uaforge-publish"];

/// Crates that need a feature to be switched on: (from, to).
const ONLY_BEHIND_A_FEATURE: &[(&str, &str)] = &[
    ("uaforge", "uaforge-ns0"),
    ("uaforge", "uaforge-client"),
    ("uaforge", "uaforge-server"),
    ("uaforge", "uaforge-macros"),
];

/// Crates of others that a crate must not use.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("uaforge-model", &["syn", "quote", "prettyplease", "proc-macro2"]),
    ("uaforge-emit", &["roxmltree", "uaforge-model"]),
    ("uaforge-codec", &["tokio"]),
    ("uaforge-types", &["tokio"]),
    ("uaforge-nodes", &["tokio"]),
    ("uaforge-channel", &["tokio"]),
];

/// Crates that neither know std nor its time.
const NO_STD: &[&str] = &["uaforge-codec", "uaforge-types", "uaforge-nodes", "uaforge-channel"];

/// Words that open files; the emitter has no business with them.
const FILE_WORDS: &[&str] = &["std::fs", "File::open", "std::io"];

pub(super) fn check(root: &Path, metadata: &Metadata, findings: &mut Findings) -> Result<()> {
    for package in metadata.members() {
        check_dependencies(root, package, findings);
        check_lints(package, findings)?;
        if NO_STD.contains(&package.name.as_str()) {
            let library = root.join(package.folder(root)).join("src/lib.rs");
            let text =
                fs::read_to_string(&library).with_context(|| format!("cannot read {}", library.display()))?;
            if !text.contains("#![no_std]") {
                findings.general(format!("{}: must be no_std + alloc", package.name));
            }
        }
    }
    check_emitter(root, findings)
}

/// The crates of models, which are a workspace of their own.
pub(super) fn check_models(root: &Path, metadata: &Metadata, findings: &mut Findings) -> Result<()> {
    for package in metadata.members() {
        check_dependencies(root, package, findings);
        check_lints(package, findings)?;
    }
    Ok(())
}

fn check_dependencies(root: &Path, package: &Package, findings: &mut Findings) {
    let name = package.name.as_str();
    // Beside them stands a package that uses them, which goes nowhere.
    let is_model = package.folder(root).starts_with("models") && package.is_published();
    let row = ARROWS.iter().find(|(from, _)| *from == name).map(|(_, to)| *to);
    if row.is_none() && !is_model && package.is_published() && name != "uaforge-cli" {
        findings.general(format!("{name}: has no row in the table of crate arrows"));
    }
    let allowed = if is_model { Some(MODEL) } else { row };
    for dependency in package.dependencies.iter().filter(|dependency| dependency.is_built()) {
        let to = dependency.name.as_str();
        let to_model = is_model && is_model_crate(root, to);
        if to.starts_with("uaforge") && !to_model {
            if allowed.is_some_and(|allowed| !allowed.contains(&to)) {
                findings.general(format!("{name}: must not depend on {to}"));
            }
            if ONLY_BEHIND_A_FEATURE.contains(&(name, to)) && !dependency.optional {
                findings.general(format!("{name}: {to} must stand behind a feature"));
            }
        }
        let forbidden = FORBIDDEN.iter().find(|(from, _)| *from == name);
        if forbidden.is_some_and(|(_, to_others)| to_others.contains(&to)) {
            findings.general(format!("{name}: must not know {to}"));
        }
    }
}

fn is_model_crate(root: &Path, name: &str) -> bool {
    let short = name.strip_prefix("uaforge-").unwrap_or(name).replace('-', "_");
    root.join("models").join(short).join("Cargo.toml").is_file()
}

/// `forbid(unsafe_code)` and the other lints reach a crate through `[lints] workspace = true`.
fn check_lints(package: &Package, findings: &mut Findings) -> Result<()> {
    if !package.is_published() {
        return Ok(());
    }
    let manifest: toml::Table = toml::from_str(&fs::read_to_string(&package.manifest_path)?)
        .with_context(|| package.manifest_path.clone())?;
    let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace"));
    if inherits.and_then(toml::Value::as_bool) != Some(true) {
        findings.general(format!("{}: must take the lints of the workspace", package.name));
    }
    Ok(())
}

fn check_emitter(root: &Path, findings: &mut Findings) -> Result<()> {
    let folder = root.join("codegen/emit/src");
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path)?;
            let lines = text.lines().enumerate();
            for (number, line) in lines.filter(|(_, l)| FILE_WORDS.iter().any(|w| l.contains(w))) {
                let shown = path.strip_prefix(root).unwrap_or(&path);
                findings.at(shown, number + 1, format!("emit opens no file: {}", line.trim()));
            }
        }
    }
    Ok(())
}
